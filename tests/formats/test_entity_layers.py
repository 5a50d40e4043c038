"""Layers of entities: they go wherever entities go, and no digest without them changes."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from corefeval.model import DEIXIS, IDENTITY, NON_REFERRING, CorpusBuilder, DocumentId, join
from corefeval.model.identity import digest
from corefeval.model.joining import merge_documents


def layered(prefix="d"):
    """Two documents; the name `a` is an entity of each layer, on the same tokens."""
    builder = CorpusBuilder(name=prefix)
    for index in range(2):
        document = builder.document(f"{prefix}{index}", words=list("uvwxyz"))
        document.mention("a", 0, 2)
        document.mention("a", 0, 2, layer=DEIXIS)
        document.mention("b", 3, 4, layer=NON_REFERRING)
        one = document.mention("a", 4, 5)
        document.mention("a", 5, 6, layer=DEIXIS)
        document.relation("bridging", one, [("a", DEIXIS)], "poss")
    return builder.build()


def drawn(corpus):
    """Mentions by document, layer, name of the entity and span, and relations by these."""
    layers = corpus.mention_layer.tolist()
    rows = [(str(d.id), layers[m.row], m.entity.name, m.span) for d in corpus for m in d.mentions]
    kinds = [0] * corpus.n_entities if corpus.entity_layer is None else corpus.entity_layer.tolist()
    relations = [
        (r.kind, rows[r.anaphor[1]], [(kinds[e], corpus.names[e]) for e, _ in r.antecedents])
        for r in corpus.relations
    ]
    return sorted(rows), sorted(relations)


def test_a_name_is_an_entity_of_each_layer():
    corpus = layered()
    assert corpus.entity_layer.tolist() == [IDENTITY, DEIXIS, NON_REFERRING] * 2
    assert corpus.entity_sizes.tolist() == [2, 2, 1] * 2
    assert [(r.anaphor[0], r.antecedents) for r in corpus.relations] == [
        (0, ((1, -1),)),
        (3, ((4, -1),)),
    ]


@pytest.mark.parametrize("move", ["pickle", "select", "join", "take"])
def test_layers_go_with_their_entities(move):
    corpus = layered()
    want = drawn(corpus)
    if move == "pickle":
        corpus = pickle.loads(pickle.dumps(corpus))
    elif move == "select":
        corpus = corpus.select_documents(np.array([1, 0]))
    elif move == "join":
        plain = layered("p").keep_layer(IDENTITY)
        assert plain.entity_layer is None
        corpus = join([plain, corpus]).select_documents(np.array([2, 3]))
    else:
        corpus = corpus.keep_mentions(np.ones(corpus.n_mentions, dtype=np.bool_))
    assert drawn(corpus) == want


def test_merged_documents_keep_layers_apart():
    corpus = replace(layered(), names_hold=True)
    merged = merge_documents(corpus, np.array([0, 0]), [DocumentId("m")], np.array([6, 6]))
    sizes = dict(zip(zip(merged.entity_layer.tolist(), merged.names, strict=True),
                     merged.entity_sizes.tolist(), strict=True))  # fmt: skip
    assert sizes == {(IDENTITY, "a"): 4, (DEIXIS, "a"): 4, (NON_REFERRING, "b"): 2}


def test_one_layer_alone_looks_like_identity():
    corpus = layered()
    for layer, spans in {IDENTITY: [(0, 2), (4, 5)], DEIXIS: [(0, 2), (5, 6)]}.items():
        alone = corpus.keep_layer(layer)
        assert alone.entity_layer is None
        assert [m.span for m in alone[0].mentions] == spans


def test_digests_know_layers_and_stay_without_them():
    corpus = layered()
    flat = replace(corpus, entity_layer=None)
    assert digest(corpus) != digest(flat)
    assert digest(replace(corpus, entity_layer=np.zeros(6, dtype=np.int64))) == digest(flat)

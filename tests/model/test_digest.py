"""The digest of a key: the same for the same entities, and a sum over documents."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval import Result, corpus_from_arrays
from corefeval.model import CorpusBuilder
from corefeval.model.identity import digest

# For each of some documents, the entity of each of its mentions, which are token after token.
DOCUMENTS = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6), min_size=1, max_size=5)


def built(documents, *, order=None):
    rows = [(d, p, e) for d, entities in enumerate(documents) for p, e in enumerate(entities)]
    rows = rows if order is None else [rows[index] for index in order]
    document, start, entity = zip(*rows, strict=True)
    names = [f"d{index}" for index in range(len(documents))]
    return corpus_from_arrays(entity=entity, start=start, document=document, document_ids=names)


def partitions(documents):
    """Which mentions are in one entity, whatever it is called."""
    return [{frozenset(p for p, e in enumerate(d) if e == name) for name in d} for d in documents]


@given(DOCUMENTS, st.data())
def test_the_digest_sees_entities(documents, data):
    others = [
        data.draw(st.lists(st.integers(0, 3), min_size=len(d), max_size=len(d)) | st.just(d))
        for d in documents
    ]
    same = partitions(documents) == partitions(others)
    assert (digest(built(documents)) == digest(built(others))) == same


@given(DOCUMENTS, st.data())
def test_names_and_order_do_not_matter(documents, data):
    corpus = built(documents)
    mentions = data.draw(st.permutations(range(corpus.n_mentions)))
    renamed = [[7 - entity for entity in entities] for entities in documents]
    assert digest(built(renamed, order=mentions)) == digest(corpus)
    order = np.array(data.draw(st.permutations(range(len(corpus)))))
    assert digest(corpus.select_documents(order)) == digest(corpus)


@settings(max_examples=60)
@given(DOCUMENTS, st.data())
def test_pieces_add_up_to_the_whole_in_any_order(documents, data):
    corpus = built(documents)
    order = data.draw(st.permutations(range(len(corpus))))
    cuts = data.draw(st.sets(st.integers(1, len(corpus))).map(sorted))
    pieces = [
        corpus.select_documents(rows) for rows in np.split(np.array(order), cuts) if rows.size
    ]
    results = [corefeval.score(piece, piece, metrics="mentions") for piece in pieces]
    assert Result.total(results).key_digest == digest(corpus)


def test_the_digest_sees_gaps_documents_and_repetitions():
    seen = set()
    for name, positions, times in (
        ("d", [0, 2], 1), ("d", [0, 1, 2], 1), ("d", [0, 2], 2), ("other", [0, 2], 1),
    ):  # fmt: skip
        builder = CorpusBuilder()
        document = builder.document(name, words=list("abc"))
        for _ in range(times):
            document.mention_at("e", positions)
        seen.add(digest(builder.build()))
    assert len(seen) == 4


def test_entities_that_begin_with_the_same_tokens_are_told_apart():
    one = corpus_from_arrays(entity=[0, 0, 1, 1], start=[0, 1, 0, 2])
    other = corpus_from_arrays(entity=[0, 0, 0, 1], start=[0, 1, 2, 0])
    assert digest(one) != digest(other)


def test_half_characters_in_names_have_digests_too():
    """As `os.fsdecode` makes them of file names in another encoding."""
    one, other = ({name: [["a", "b"], ["c"]]} for name in ("x\udcff", "x\udcfe"))
    assert corefeval.score(one, one)["muc"].f1 == 1
    assert corefeval.score(one, one).key_digest != corefeval.score(other, other).key_digest

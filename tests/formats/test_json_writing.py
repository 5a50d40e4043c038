"""JSON of every kind: what is written reads back as the same corpus."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corefeval
import json_records
from corefeval import DocumentId, InputError
from corefeval.model import CorpusBuilder
from corefeval.model.text_tokens import text_of
from corefeval.protocol import Protocol
from json_records import (
    ADA,
    IN_TOKENS,
    KINDS,
    changed,
    entities,
    in_characters,
    kinds_of,
    names,
    written,
)
from strategies import spans

file = json_records.file


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["key", "cautious", "eager"])
def test_the_example_scores_the_same_in_every_kind(kind, name, tmp_path):
    corpus = corefeval.read(corefeval.example(name))
    again, notices = written(corpus, kind, tmp_path / "file.json")
    assert set(kinds_of(notices)) <= {"token-columns", "sentence-boundaries"}
    result = corefeval.score(corefeval.example(name), str(tmp_path / "file.json"))
    assert result["conll"].f1 == 1.0
    assert set(kinds_of(result.notices)) <= {"repeated-mentions"}
    expected = corefeval.score(corefeval.example("key"), corefeval.example(name), metrics="all")
    found = corefeval.score(corefeval.example("key"), again, metrics="all")
    assert found.scores == expected.scores


NAMES = st.text(st.characters(codec="utf-8", exclude_characters=";"), max_size=4)
EVERY_WORD = st.text(max_size=5) | st.sampled_from(
    ["\n", " ", "a b", "\u2028", "##", "\ud83d", "é"]
)
VISIBLE = st.sampled_from(["Ada", "she", "a b", "it's", "é", "𝔸", "##x", "\u2028.", '"'])


@st.composite
def corpora(draw, words=EVERY_WORD, across=True):
    """Documents with parts, sentences, and spans of all sorts."""
    builder = CorpusBuilder()
    identifiers = st.lists(
        st.tuples(NAMES, st.none() | st.integers(0, 12)), min_size=1, max_size=3, unique=True
    )
    for identifier in draw(identifiers):
        sentences = draw(st.lists(st.lists(words, min_size=1, max_size=5), max_size=4))
        starts = np.cumsum([0, *map(len, sentences)]).tolist()
        document = builder.document(
            DocumentId(*identifier),
            words=[word for sentence in sentences for word in sentence],
            sentence_starts=starts[:-1],
        )
        if not sentences:
            continue
        mentions = st.tuples(st.integers(0, 3), spans(starts[-1]))
        for entity, (start, end) in draw(st.lists(mentions, max_size=8)):
            if across or not any(start < bound < end for bound in starts):
                document.mention(str(entity), start, end)
    return builder.build()


def contents(corpus):
    return [
        (
            document.n_tokens and document.words,
            sorted(sorted(m.span for m in e.mentions) for e in document.entities),
        )
        for document in corpus
    ]


def told(corpus):
    """Ids with parts spelt as names: what two corpora that pair have in common."""
    return [d.name if d.part is None else f"{d.name}_{d.part}" for d in corpus.documents]


@pytest.mark.parametrize("kind", IN_TOKENS)
@given(data=st.data())
def test_written_then_read_is_the_same(kind, tmp_path_factory, data):
    corpus = data.draw(corpora(across=kind != "preco"))
    again, notices = written(corpus, kind, tmp_path_factory.getbasetemp() / "written.json")
    assert told(again) == told(corpus)
    assert contents(again) == contents(corpus)
    if "sentence-boundaries" not in kinds_of(notices):
        pairs = zip(again, corpus, strict=True)
        assert all(a.sentences == b.sentences for a, b in pairs if b.n_tokens)
    assert set(kinds_of(notices)) <= {"sentence-boundaries", "repeated-mentions", "false-zeros"}
    score = corefeval.score(corpus, again)["mentions"]
    assert score.f1 == pytest.approx(1.0) or not corpus.n_mentions


@given(corpus=corpora(VISIBLE))
def test_texts_come_back_on_the_tokens_of_the_key(corpus, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "written.json"
    again, notices = written(corpus, "fastcoref", path)
    assert set(kinds_of(notices)) <= {"repeated-mentions"}
    pairing = corefeval.pairing.pair(corpus, again, Protocol())
    assert contents(pairing.response) == contents(corpus)
    assert set(kinds_of(pairing.notices)) <= {"no-mentions"}


@given(corpus=corpora())
def test_texts_of_any_words_survive_or_say_what_they_lose(corpus, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "written.json"
    again, notices = written(corpus, "fastcoref", path)
    pairing = corefeval.pairing.pair(corpus, again, Protocol())
    if set(kinds_of(notices)) <= {"repeated-mentions"}:
        assert contents(pairing.response) == contents(corpus)
    twice, _ = written(again, "fastcoref", path)
    assert [text_of(twice.tokens, n) for n in range(len(twice))] == [
        text_of(again.tokens, n) for n in range(len(again))
    ]
    assert [m.span for d in twice for m in d.mentions] == [
        m.span for d in again for m in d.mentions
    ]


@given(corpus=corpora(st.sampled_from(["Ada", "she", "é", "𝔸"])), kind=st.sampled_from(IN_TOKENS))
def test_a_text_becomes_tokens(corpus, kind, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "written.json"
    text, _ = written(corpus, "fastcoref", path)
    again, notices = written(text, kind, path)
    if "cross-sentence-mentions" not in kinds_of(notices):
        assert contents(again) == contents(corpus)


def test_a_text_with_punctuation_becomes_tokens(file, tmp_path):
    corpus = corefeval.read(file(in_characters("Ada, she said. 'Ada'", (0, 3), (5, 8))))
    again, notices = written(corpus, "e2e", tmp_path / "x.json")
    assert kinds_of(notices) == ["made-up-tokens"]
    assert [m.text for m in again[0].mentions] == ["Ada", "she"]


def test_mentions_across_sentences_are_left_out_of_preco(file, tmp_path):
    corpus = corefeval.read(file(changed("e2e", clusters=[[[0, 0], [3, 4]], [[0, 5]]])))
    again, notices = written(corpus, "preco", tmp_path / "x.json")
    assert [(n.kind, n.count) for n in notices] == [("cross-sentence-mentions", 2)]
    assert entities(again) == {frozenset({ADA})}


def test_the_order_of_repeated_mentions_is_told_where_it_is_lost(tmp_path):
    for entity, count in (([0, 1, 0], 0), ([0, 1, 1, 0], 1)):
        start = [0, 5, 5, 5][: len(entity)] if count else [0, 5, 6]
        corpus = corefeval.corpus_from_arrays(entity=entity, start=start)
        notices = corefeval.write(corpus, tmp_path / "x.json", format="e2e")
        assert [n.count for n in notices if n.kind == "repeated-mentions"] == [count] * count


def test_parts_that_would_be_called_the_same(tmp_path):
    identifiers = [DocumentId("a", 1), DocumentId("a_1"), DocumentId("a")]
    corpus = corefeval.corpus_from_arrays(
        entity=[0, 0, 0], start=[1, 2, 3], document=[0, 1, 2], document_ids=identifiers
    )
    again, _ = written(corpus, "e2e", tmp_path / "x.json")
    assert again.documents == tuple(identifiers)


def test_what_json_cannot_carry_is_told(file, tmp_path):
    builder = CorpusBuilder()
    document = builder.document(
        "d",
        words=["a", "b", "c"],
        columns={"tag": ["X", "-", "-"], "lemma": ["-", "-", "-"]},
        metadata={"genre": "news"},
    )
    document.mention("Byron", 0, 3, gaps=[(1, 2)], head=0, features={"class": "person"})
    document.mention("e1", 1, 2)
    document.relation("bridging", "e1", ["Byron"])
    corpus = builder.build()
    notices = corefeval.write(corpus, tmp_path / "x.json", format="json")
    assert {(n.kind, n.count, n.items) for n in notices} == {
        ("discontinuous-mentions", 1, ()),
        ("token-columns", 2, ("tag", "lemma")),
        ("mention-features", 2, ("class", "head")),
        ("relations", 1, ("bridging",)),
        ("metadata", 1, ()),
        ("entity-names", 1, ()),
    }
    again, notices = written(corpus, "bookcoref", tmp_path / "x.json")
    assert "entity-names" not in kinds_of(notices)
    assert names(again) == ["Byron", "e1"]


@pytest.mark.parametrize("kind", KINDS)
def test_corpora_without_words(kind, tmp_path):
    corpus = corefeval.corpus_from_arrays(entity=[0, 0], start=[0, 4], end=[2, 5])
    again, notices = written(corpus, kind, tmp_path / "x.json")
    assert kinds_of(notices) == ["no-words"]
    if kind != "fastcoref":
        assert corefeval.score(corpus, again)["muc"].f1 == 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_be_written(kind):
    for plain in ([["a"]], {}):
        with pytest.raises(InputError, match="cannot be written as JSON"):
            corpus = corefeval.corpus_from_entities(plain)
            corefeval.write(corpus, io.BytesIO(), format=kind)


@pytest.mark.slow
def test_whole_books_are_read_and_written(file):
    n_tokens = 200_000
    words = ["word"] * n_tokens
    book = {"doc_id": "b", "sentences": [words], "characters": []}
    book["clusters"] = [[[n, n] for n in range(m, n_tokens, 1000)] for m in range(1000)]
    text = {"id": "b", "text": " ".join(words)}
    text["clusters"] = [[[5 * s, 5 * s + 4] for s, _ in c] for c in book["clusters"]]
    many = [changed("preco", id=number) for number in range(3000)]
    key, response, folder = file(book), file(text, name="r.json"), file(*many, name="many.json")
    assert corefeval.score(key, response, metrics="muc")["muc"].f1 == 1.0
    corpus = corefeval.read(folder)
    corefeval.write(corpus, io.BytesIO(), format="e2e")

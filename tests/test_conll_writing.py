"""What is written reads back as the same corpus."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corefeval
from corefeval import InputError, corpus_from_arrays, corpus_from_entities
from strategies import spans


def contents(corpus):
    """Documents with their entities as sets of spans, and their tokens."""
    return [
        (
            document.id,
            {frozenset((m.start, m.end) for m in entity.mentions) for entity in document.entities},
        )
        for document in corpus
    ]


def written_and_read(corpus, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "written.conll"
    notices = corefeval.write(corpus, path)
    return corefeval.read(path), notices


@st.composite
def random_corpora(draw):
    """Spans of any kind: nested, crossing, repeated; up to three documents."""
    rows = draw(
        st.lists(
            st.tuples(st.integers(0, 2), st.integers(0, 3), spans(12)), min_size=1, max_size=14
        )
    )
    return corpus_from_arrays(
        document=[row[0] for row in rows],
        entity=[row[1] for row in rows],
        start=[row[2][0] for row in rows],
        end=[row[2][1] for row in rows],
        document_ids=["a", "b/c d", "(e)"],
    )


@given(corpus=random_corpora())
def test_written_then_read_is_the_same(corpus, tmp_path_factory):
    again, notices = written_and_read(corpus, tmp_path_factory)
    left_out = sum(notice.count for notice in notices)
    assert again.documents == corpus.documents
    assert again.n_mentions == corpus.n_mentions - left_out
    if not left_out:
        assert contents(again) == contents(corpus)
    kept = {(str(d), span) for d, entities in contents(again) for e in entities for span in e}
    assert kept <= {
        (str(d), span) for d, entities in contents(corpus) for e in entities for span in e
    }


def test_crossing_mentions_of_one_entity_are_reported():
    corpus = corpus_from_arrays(entity=[0, 0], start=[0, 1], end=[3, 5], document_ids=["d"])
    notices = corefeval.write(corpus, io.BytesIO())
    assert [(notice.kind, notice.count) for notice in notices] == [("crossing-mentions", 1)]


@pytest.mark.parametrize("name", ["key", "cautious", "eager"])
def test_the_example_survives_with_all_columns(name, tmp_path_factory):
    corpus = corefeval.read(corefeval.example(name))
    again, notices = written_and_read(corpus, tmp_path_factory)
    assert notices == ()
    assert contents(again) == contents(corpus)
    for one, other in zip(corpus, again, strict=True):
        assert one.sentences == other.sentences
        assert one.tags == other.tags
        assert one.named_entities == other.named_entities
        assert [e.name for e in one.entities] == [e.name for e in other.entities]
    assert corefeval.score(corpus, again)["conll"].f1 == 1.0


def test_gaps_are_filled_and_reported():
    corpus = corpus_from_arrays(entity=[0], start=[0], end=[4], document_ids=["d"])
    gapped = corefeval.Corpus(**{**vars(corpus), "gaps": np.array([[0, 1, 2]])})
    notices = corefeval.write(gapped, io.BytesIO())
    assert [notice.kind for notice in notices] == ["discontinuous-mentions"]


def test_labels_cannot_be_written():
    with pytest.raises(InputError, match="no token positions"):
        corefeval.write(corpus_from_entities([["a"]]), io.BytesIO())


def test_where_nothing_can_be_written(tmp_path):
    corpus = corefeval.read(corefeval.example())
    with pytest.raises(InputError, match="cannot be written"):
        corefeval.write(corpus, tmp_path / "no" / "such" / "folder.conll")


def test_names_that_conll_cannot_carry_are_reported(tmp_path):
    ids = [" blanks ", "two\nlines", "", corefeval.DocumentId("x", -1)]
    for identifier in ids:
        corpus = corpus_from_arrays(entity=[0], start=[0], document_ids=[identifier])
        notices = corefeval.write(corpus, tmp_path / "file.conll")
        assert [notice.kind for notice in notices] == ["document-names"]
        assert corefeval.read(tmp_path / "file.conll").n_mentions == 1


def test_names_that_begin_with_a_hash(tmp_path):
    corpus = corpus_from_arrays(entity=[0], start=[2], document_ids=["#x"])
    assert corefeval.write(corpus, tmp_path / "file.conll") == ()
    assert contents(corefeval.read(tmp_path / "file.conll")) == contents(corpus)


def test_columns_of_different_widths_survive(tmp_path):
    text = (
        "#begin document (a);\na 0 0 x N p q (1)\n\na 0 0 y N p (1)\na 0 1 z N p -\n#end document\n"
    )
    (tmp_path / "one.conll").write_text(text)
    corefeval.write(corefeval.read(tmp_path / "one.conll"), tmp_path / "two.conll")
    rows = [line.split() for line in (tmp_path / "two.conll").read_text().splitlines()]
    assert [row for row in rows if row and row[0] == "a"] == [
        row.split() for row in text.splitlines() if row.startswith("a ")
    ]


@pytest.mark.parametrize("corpus", [[["a"]], None, corpus_from_entities({})])
def test_what_cannot_be_written(corpus, tmp_path):
    with pytest.raises(corefeval.CorefEvalError):
        corefeval.write(corpus, tmp_path / "file.conll")


def test_where_a_corpus_cannot_be_written():
    with pytest.raises(corefeval.UsageError, match="to a path or a binary stream"):
        corefeval.write(corefeval.read(corefeval.example()), None)

"""What is written reads back as the same corpus."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corefeval
from corefeval import DocumentId, InputError, corpus_from_arrays, corpus_from_entities
from corefeval.model import CorpusBuilder
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


def entities_of(corpus):
    return [entities for _, entities in contents(corpus)]


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
    left_out = sum(notice.count for notice in notices if notice.kind == "crossing-mentions")
    assert again.documents == tuple(DocumentId(d.name, 0) for d in corpus.documents)
    assert again.n_mentions == corpus.n_mentions - left_out
    if not left_out:
        assert entities_of(again) == entities_of(corpus)
    kept = {(d.name, span) for d, entities in contents(again) for e in entities for span in e}
    assert kept <= {
        (d.name, span) for d, entities in contents(corpus) for e in entities for span in e
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
    assert entities_of(corefeval.read(tmp_path / "file.conll")) == entities_of(corpus)


def test_entities_are_numbers_as_the_official_scorer_reads_them(tmp_path):
    """Names are numbered, document by document, and that is told; numbers stay."""
    builder = CorpusBuilder()
    for document, names in (("a", ["e7", "king", "e7"]), ("b", ["7", "12", "7"])):
        made = builder.document(document, words=["x", "y", "z"])
        for position, name in enumerate(names):
            made.mention(name, position, position + 1)
    notices = corefeval.write(builder.build(), tmp_path / "file.conll")
    assert [(notice.kind, notice.count) for notice in notices] == [("entity-names", 2)]
    cells = [row.split()[-1] for row in (tmp_path / "file.conll").read_text().split("\n") if row]
    assert [cell for cell in cells if "(" in cell] == ["(0)", "(1)", "(0)", "(7)", "(12)", "(7)"]


def test_documents_without_a_part_are_part_000(tmp_path, conll):
    """As other tools insist on it; CoNLL files stay as they are, and no two ids become one."""
    ids = ["a", DocumentId("b", 3), DocumentId("c"), DocumentId("c", 0)]
    corpus = corpus_from_arrays(
        document=[0, 1, 2, 3], entity=[0, 1, 2, 3], start=[0] * 4, document_ids=ids
    )
    assert corefeval.write(corpus, tmp_path / "file.conll") == ()
    again = corefeval.read(tmp_path / "file.conll")
    assert again.documents == (("a", 0), ("b", 3), ("c", None), ("c", 0))
    assert corefeval.score(corpus, again)["b3"].f1 == 1.0
    plain = corefeval.read(conll("#begin document (x);\na (1)\n#end document\n"))
    corefeval.write(plain, tmp_path / "plain.conll")
    assert corefeval.read(tmp_path / "plain.conll").documents == plain.documents


def test_documents_that_would_be_called_the_same_are_refused(tmp_path):
    corpus = corpus_from_arrays(
        document=[0, 1], entity=[0, 1], start=[0, 0], document_ids=["a\nb", "a b"]
    )
    for format in ("conll", "corefud", "crac-text"):
        with pytest.raises(InputError, match="would both be called"):
            corefeval.write(corpus, tmp_path / "file", format=format)


def test_mentions_that_meet_on_a_token_are_told(tmp_path):
    """They are read again as they were, but v8.01 reads others."""
    corpus = corpus_from_arrays(entity=[0, 0], start=[0, 1], end=[2, 3], document_ids=["d"])
    notices = corefeval.write(corpus, tmp_path / "file.conll")
    assert [(notice.kind, notice.count) for notice in notices] == [("overlapping-mentions", 1)]
    assert entities_of(corefeval.read(tmp_path / "file.conll")) == entities_of(corpus)


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


def test_names_with_controls_are_read_again(tmp_path):
    builder = CorpusBuilder(name="controls")
    builder.document("a\x00b\x07", words=["Ada"]).mention("1", 0, 1)
    notices = corefeval.write(builder.build(), tmp_path / "x.conll")
    assert "document-names" in {notice.kind for notice in notices}
    corpus = corefeval.read(tmp_path / "x.conll")
    assert ([document.name for document in corpus.documents], corpus.n_mentions) == (["a_b_"], 1)

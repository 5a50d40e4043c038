"""What files in public corpora and system outputs do; each seen in one, each in a file of ours."""

from __future__ import annotations

import json

import numpy as np
import pytest

import corefeval


def conll_text(*rows: str, header: str = "#begin document (d); part 000") -> str:
    lines = [f"d\t0\t{n}\t{row}" if row else "" for n, row in enumerate(rows)]
    return "\n".join((header, *lines, "#end document", ""))


def spans(corpus, document=0):
    return {
        entity.name: [mention.span for mention in entity.mentions]
        for entity in corpus[document].entities
    }


def test_entity_ids_that_are_no_numbers(conll):
    corpus = corefeval.read(
        conll(conll_text("Byron\tN\t(person-3-Lord_Byron)", "he\tP\t(person-3-Lord_Byron)"))
    )
    assert spans(corpus) == {"person-3-Lord_Byron": [(0, 1), (1, 2)]}


def test_a_document_line_without_a_blank(conll):
    """The official scorer reads nothing here, and scores 0."""
    key = conll(conll_text("Ada\tN\t(1)", "she\tP\t(1)"))
    response = conll(
        conll_text("Ada\tN\t(1)", "she\tP\t(1)", header="#begin document(d); part 000")
    )
    assert corefeval.score(key, response)["conll"].f1 == 1.0


def test_a_document_line_without_a_name(conll):
    path = conll(conll_text("Ada\tN\t(1)", header="#begin document"), "ada.conll")
    assert [str(d) for d in corefeval.read(path).documents] == ["ada"]


def test_an_empty_cell_behind_a_trailing_tab(conll):
    corpus = corefeval.read(conll(conll_text("Ada\tN\t(1)", "Paris\t(GPE)\t", "she\tP\t(1)")))
    assert spans(corpus) == {"1": [(0, 1), (2, 3)]}


def test_brackets_without_bars(conll):
    corpus = corefeval.read(conll(conll_text("the\tD\t(1(2", "old\tJ\t2)(3)", "man\tN\t1)")))
    assert spans(corpus) == {"1": [(0, 3)], "2": [(0, 2)], "3": [(1, 2)]}


def test_more_than_a_thousand_spans_in_several_entities(conll):
    rows = [f"w{n}\tN\t({n % 7})|({n % 5 + 10})" for n in range(1200)]
    path = conll(conll_text(*rows))
    result = corefeval.score(path, path)
    assert result["conll"].f1 == 1.0
    assert {notice.count for notice in result.notices} == {1200}


@pytest.fixture
def crossing(conll):
    record = {
        "doc_key": "d",
        "sentences": [list("abcdef")],
        "clusters": [[[0, 3], [2, 5]], [[1, 1]]],
    }
    return conll(json.dumps(record), "crossing.jsonl")


def test_crossing_mentions_of_one_entity_are_read_and_scored(crossing):
    corpus = corefeval.read(crossing)
    assert corpus.n_mentions == 3
    assert corefeval.score(corpus, corpus)["lea"].f1 == 1.0


def test_what_brackets_cannot_carry_is_said_when_converting(crossing, tmp_path, run):
    status, _, err = run("convert", crossing, tmp_path / "out.conll", "--to", "conll")
    assert status == 0
    assert "1 mention left out: crossing another one of the same entity" in err
    assert corefeval.read(tmp_path / "out.conll").n_mentions == 2


def test_repeated_and_cross_sentence_spans_are_found(conll, run):
    rows = ["Ada\tN\t(1)|(1)", "met\tV\t-", "Bob\tN\t(2", "", "There\tR\t2)"]
    status, out, _ = run("check", conll(conll_text(*rows)))
    assert status == 0
    assert "repeated-mention" in out
    assert "sentence" in out


def test_sentences_missing_at_the_end_of_a_response(conll, run):
    rows = ["Ada\tN\t(1)", "came\tV\t-", "", "She\tP\t(1)"]
    key, response = conll(conll_text(*rows)), conll(conll_text(*rows[:2]))
    with pytest.raises(corefeval.PairingError, match="cut short"):
        corefeval.score(key, response)
    status, out, _ = run("check", response, "--against", key)
    assert status == 1
    assert "truncated-document" in out


def test_blank_tokens_of_book_corpora_are_tokens(conll, run, tmp_path):
    sentences = [["\n", "Ada", "came", "\n"], ["She", "sat"]]
    record = {
        "doc_id": "b",
        "sentences": sentences,
        "clusters": [[[1, 1], [4, 4]]],
        "characters": [],
    }
    path = conll(json.dumps(record), "book.jsonl")
    corpus = corefeval.read(path)
    assert corpus[0].n_tokens == 6
    assert [mention.text for mention in corpus[0].mentions] == ["Ada", "She"]
    status, _, err = run("convert", path, tmp_path / "out.conll", "--to", "conll")
    assert status == 0
    assert corefeval.score(path, tmp_path / "out.conll", ignore_tokens=True)["lea"].f1 == 1.0
    assert "blank" in err


def test_folders_and_patterns_make_one_corpus(tmp_path, run):
    corpus = corefeval.read(corefeval.example("key"))
    (tmp_path / "key").mkdir()
    for index in range(len(corpus)):
        one = corpus.select_documents(np.array([index]))
        corefeval.write(one, tmp_path / "key" / f"{index}.conll")
    (tmp_path / "key" / "notes.md").write_text("# not a corpus\n")
    folder = corefeval.score(corefeval.example("key"), tmp_path / "key")
    assert folder["lea"].f1 == 1.0
    assert [notice.kind for notice in folder.notices] == ["skipped-files"]
    pattern = corefeval.score(tmp_path / "key" / "*.conll", corefeval.example("key"))
    assert pattern["lea"].f1 == 1.0
    assert run("score", corefeval.example("key"), str(tmp_path / "key" / "[0-8].conll"))[0] == 0


def test_one_document_in_two_files_is_refused(tmp_path):
    corpus = corefeval.read(corefeval.example("key"))
    for name in ("a", "b"):
        corefeval.write(corpus, tmp_path / f"{name}.conll")
    with pytest.raises(corefeval.InputError, match="twice") as caught:
        corefeval.read(tmp_path)
    assert "a.conll" in str(caught.value)
    assert "b.conll" in str(caught.value)

"""Reading CoNLL: everything that files do, and what each mistake is answered with."""

from __future__ import annotations

import gzip
import io
import re
import sys

import numpy as np
import pytest

import corefeval
from conll_texts import PLAIN, body, entities
from corefeval import InputError

ADA, CAPTAIN, SHE = (0, 1), (2, 4), (4, 5)


EXPECTED = {frozenset({ADA, SHE}), frozenset({CAPTAIN})}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(PLAIN, id="plain"),
        pytest.param(PLAIN.replace(" ", "\t").replace("\tdocument\t", " document "), id="tabs"),
        pytest.param(PLAIN.replace(" 0 ", "   0     "), id="aligned with blanks"),
        pytest.param(PLAIN.replace(" -\n", " _\n"), id="underscore"),
        pytest.param(PLAIN.replace(" -\n", " \n"), id="nothing behind a blank"),
        pytest.param(PLAIN.replace(" -\n", "\n"), id="nothing at all"),
        pytest.param(PLAIN.replace("\n", " \t \n"), id="trailing blanks"),
        pytest.param(PLAIN.replace("\n", " " * 40 + "\n"), id="many trailing blanks"),
        pytest.param(PLAIN.replace("\n", "\r\n"), id="CRLF"),
        pytest.param(PLAIN.replace("\n", "\r"), id="CR"),
        pytest.param("\ufeff" + PLAIN, id="BOM"),
        pytest.param(PLAIN.rstrip("\n"), id="no final newline"),
        pytest.param(PLAIN.replace("#end document\n", ""), id="no end of document"),
        pytest.param(PLAIN.replace("#", "# "), id="blank after the hash"),
        pytest.param(PLAIN.replace("; part 000", ";"), id="no part"),
        pytest.param(PLAIN.replace("; part 000", ""), id="no semicolon"),
        pytest.param(PLAIN.replace("document (", "document("), id="no blank before the name"),
        pytest.param("# a comment\n" + PLAIN.replace("\n\n", "\n\n# s2\n"), id="comments"),
        pytest.param(re.sub(r"story 0 \d ", "", PLAIN), id="other columns"),
    ],
)
def test_variants_of_one_file(conll, text):
    corpus = corefeval.read(conll(text))
    assert entities(corpus) == EXPECTED
    assert corpus.documents[0].name == "story"
    assert corpus[0].n_tokens == 6
    unfinished = ["unfinished-file"] if "#end" not in text.replace("# ", "#") else []
    assert [notice.kind for notice in corpus.notices] == unfinished


def test_two_columns(conll):
    corpus = corefeval.read(conll(body("Ada (1)", "slept -", "She (1)")))
    assert entities(corpus) == {frozenset({(0, 1), (2, 3)})}
    assert corpus[0].words == ["Ada", "slept", "She"]


def test_gzip(conll):
    assert entities(corefeval.read(conll(gzip.compress(PLAIN.encode()), "a.conll.gz"))) == EXPECTED


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252"])
def test_encodings(conll, encoding):
    text = PLAIN.replace("captain", "capitán")
    corpus = corefeval.read(conll(text.encode(encoding)), encoding=encoding)
    assert entities(corpus) == EXPECTED
    assert corpus[0].words[3] == "capitán"


def test_a_wide_byte_order_mark_speaks_for_itself(conll):
    assert entities(corefeval.read(conll(PLAIN.encode("utf-16")))) == EXPECTED


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PLAIN.encode())))
    assert entities(corefeval.read("-")) == EXPECTED


def test_columns_when_asked_for(conll):
    row = "d\t0\t{}\t{}\t{}\t{}\t-\t-\t-\tMia\t{}\t{}"
    text = body(
        row.format(0, "New", "NNP", "(TOP(NP*", "(GPE*", "(7"),
        row.format(1, "York", "NNP", "*)", "*)", "7)"),
        row.format(2, "shone", "VBD", "(VP*))", "*", "-"),
    )
    document = corefeval.read(conll(text))[0]
    assert document.words == ["New", "York", "shone"]
    assert document.tags == ["NNP", "NNP", "VBD"]
    assert document.parse == ["(TOP(NP*", "*)", "(VP*))"]
    assert document.speakers == ["Mia"] * 3
    assert document.named_entities == [(0, 2, "GPE")]
    assert document.sentences == [["New", "York", "shone"]]
    assert document.column(12) == ["(7", "7)", "-"]
    assert document.mentions[0].text == "New York"
    assert document.entities[0].name == "7"
    with pytest.raises(InputError, match="no column 'genre'"):
        document.column("genre")


def test_words_with_odd_blanks_stay_whole(conll):
    document = corefeval.read(conll(body("d 0 0 10\u00a0km NN (1)", "d 0 1 x\u2003y NN -")))[0]
    assert document.words == ["10\u00a0km", "x\u2003y"]


def test_a_hash_can_be_a_word(conll):
    corpus = corefeval.read(conll(body("one -", "# (1)", "# a comment", "two (1)")))
    assert corpus[0].n_tokens == 3
    assert entities(corpus) == {frozenset({(1, 2), (2, 3)})}


@pytest.mark.parametrize("cell", ["(1|(2", "(1(2", "|(1|(2", "(1||(2|"])
def test_brackets_with_and_without_bars(conll, cell):
    corpus = corefeval.read(conll(body(f"a {cell}", "b 2)", "c 1)")))
    assert entities(corpus) == {frozenset({(0, 3)}), frozenset({(0, 2)})}


def test_what_was_opened_last_closes_first(conll):
    corpus = corefeval.read(conll(body("a (1", "b (1", "c 1)", "d 1)")))
    assert entities(corpus) == {frozenset({(0, 4), (1, 3)})}


def test_close_and_open_on_one_token(conll):
    corpus = corefeval.read(conll(body("a (1", "b 1)(1", "c 1)")))
    assert entities(corpus) == {frozenset({(0, 2), (1, 3)})}


def test_entities_may_cross(conll):
    corpus = corefeval.read(conll(body("a (1", "b (2", "c 1)", "d 2)")))
    assert entities(corpus) == {frozenset({(0, 3)}), frozenset({(1, 4)})}


@pytest.mark.parametrize(
    "ids",
    [
        ("e1", "e2"),
        ("1", "01"),
        ("x-person-Lord_Byron-and-his-very-long-name-of-more-than-32", "x-person-Lord_Byron"),
        ("12345678", "123456789"),
        ("1234567890123456", "12345678"),
        ("é", "è"),
        ("0", "00000000"),
    ],
)
def test_entity_ids_are_text(conll, ids):
    one, two = ids
    corpus = corefeval.read(conll(body(f"a ({one})", f"b ({two})", f"c ({one})", f"d ({two})")))
    assert entities(corpus) == {frozenset({(0, 1), (2, 3)}), frozenset({(1, 2), (3, 4)})}
    assert {entity.name for entity in corpus[0].entities} == set(ids)


def test_ids_are_a_documents_own(conll):
    text = body("a (1)", name="(d); part 000") + body("b (1)", name="(d); part 001")
    corpus = corefeval.read(conll(text))
    assert list(map(str, corpus.documents)) == ["d; part 000", "d; part 001"]
    assert corpus.n_entities == 2
    assert corpus["d; part 001"].mentions[0].start == 0
    with pytest.raises(InputError, match="2 documents are called 'd'"):
        corpus["d"]


def test_mentions_come_in_textual_order(conll):
    corpus = corefeval.read(conll(body("a (1)|(2", "b (3)", "c 2)")))
    assert [(m.start, m.end) for m in corpus[0].mentions] == [(0, 3), (0, 1), (1, 2)]


def test_a_document_without_a_name_is_called_after_its_file(conll):
    corpus = corefeval.read(conll("# begin document\na (1)\n", "GUM_bio_byron.conll"))
    assert corpus.documents[0].name == "GUM_bio_byron"


def test_names_with_parentheses(conll):
    corpus = corefeval.read(conll(body("a -", name="(a (b)); part 003")))
    assert corpus.documents[0] == ("a (b)", 3)


def test_an_unfinished_document_is_reported(conll):
    text = "#begin document (a);\nx (1)\n#begin document (b);\ny (1)\n#end document\n"
    corpus = corefeval.read(conll(text))
    assert len(corpus) == 2
    assert corpus.notices[0].kind == "unfinished-documents"
    assert "1 document without" in str(corpus.notices[0])


def test_documents_without_tokens_or_mentions(conll):
    corpus = corefeval.read(conll(body(name="(empty);") + body("a -", name="(plain);")))
    assert [document.n_tokens for document in corpus] == [0, 1]
    assert corpus.n_mentions == 0


def test_the_last_column_may_be_empty_where_others_look_like_brackets(conll):
    """Five columns; a line with four has no coreference, whatever its last word looks like."""
    text = body("d 0 0 word (1)", "d 0 1 :)", "d 0 2 (9)", "d 0 3 -", "d 0 4 end (1)")
    assert entities(corefeval.read(conll(text))) == {frozenset({(0, 1), (4, 5)})}


@pytest.mark.parametrize(
    ("rows", "line", "problem", "found"),
    [
        (["a (1", "b -"], 2, "never closes", "‘(1’"),
        (["a -", "b 1)"], 3, "never opens", "‘1)’"),
        (["a (1", "b 2)", "c 1)"], 3, "never opens", "‘2)’"),
        (["a (1", "b (1", "c 1)"], 2, "never closes", "‘(1’"),
        (["a (1)", "b word"], 3, "not a coreference column", "‘word’"),
        (["a (1)", "b ()"], 3, "not a coreference column", "‘()’"),
        (["a (1)", "b (1))"], 3, "not a coreference column", "‘(1))’"),
        (["a (1)", "b 7"], 3, "not a coreference column", "‘7’"),
        (["a (1)", "b |"], 3, "not a coreference column", "‘|’"),
    ],
)
def test_mistakes_name_file_and_line(conll, rows, line, problem, found):
    path = conll(body(*rows))
    with pytest.raises(InputError) as caught:
        corefeval.read(path)
    error = caught.value
    assert (error.file, error.line) == (path, line)
    assert problem in str(error)
    assert found in str(error)
    assert error.expected
    assert error.fix


def test_a_document_that_appears_twice(conll):
    path = conll(body("a -") + body("b -"))
    with pytest.raises(InputError, match="twice") as caught:
        corefeval.read(path)
    assert caught.value.line == 4
    assert "line 1" in str(caught.value)


def test_a_mention_cannot_go_from_one_document_to_the_next(conll):
    path = conll(body("a (1", name="(a);") + body("b 1)", name="(b);"))
    with pytest.raises(InputError, match="never closes"):
        corefeval.read(path)


@pytest.mark.parametrize("text", ["a (1)\nb -\n", body("a -") + "b (1)\n" + body(name="(c);")])
def test_tokens_outside_of_documents(conll, text):
    with pytest.raises(InputError, match="outside any document") as caught:
        corefeval.read(conll(text))
    assert caught.value.line == (1 if text.startswith("a") else 4)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "empty"),
        (b"\n\n", "only white space"),
        (b"hello", "not in a format"),
        (b"\x00\xff\xfe", "not in a format"),
        (b"\x1f\x8bbroken", "gzip data is damaged"),
        (gzip.compress(PLAIN.encode())[:-9], "gzip data is damaged"),
        (b"#begin document (\xff\xfe);\na -\n", "not utf-8"),
    ],
)
def test_what_is_no_corpus(conll, data, problem):
    path = conll(data)
    with pytest.raises(InputError, match=problem) as caught:
        corefeval.read(path)
    assert caught.value.file == path


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        corefeval.read(tmp_path / "nowhere.conll")
    with pytest.raises(InputError, match="no files in the folder"):
        corefeval.read(tmp_path)
    with pytest.raises(InputError, match="no file can have this name"):
        corefeval.read("nul\0.conll")


def test_unknown_formats_and_encodings(conll):
    with pytest.raises(corefeval.UsageError, match="no format 'xml'"):
        corefeval.read(conll(PLAIN), format="xml")
    with pytest.raises(corefeval.UsageError, match="no encoding 'klingon'"):
        corefeval.read(conll(PLAIN), encoding="klingon")
    with pytest.raises(corefeval.UsageError, match="no encoding 'rot13'"):
        corefeval.read(conll(PLAIN), encoding="rot13")


def test_words_that_cannot_be_decoded_are_an_error_only_when_asked_for(conll):
    corpus = corefeval.read(
        conll(body("d 0 0 ok NN (1)", "d 0 1 b\udcffd NN -").encode("utf-8", "surrogateescape"))
    )
    assert corpus.n_mentions == 1
    with pytest.raises(InputError, match="not utf-8") as caught:
        corpus[0].words
    assert caught.value.line == 3


@pytest.mark.parametrize("padding", [0, 1, 7, 8, 9, 31, 63])
def test_large_files_are_read_in_pieces_without_seams(conll, padding):
    """More than a million bytes, with blank lines, so that every piece boundary is crossed."""
    rows = []
    for number in range(30_000):
        cell = {0: "(1", 3: "1)", 5: f"({number})"}.get(number % 7, "-")
        rows.append(f"d 0 {number} w{'x' * ((number + padding) % 41)} NN {cell}")
        rows += [""] * (number % 11 == 0)
    closed = len(rows)
    text = body(
        *rows[:closed], "d 0 0 last NN 1)" if 29_999 % 7 in (0, 1, 2) else "d 0 0 last NN -"
    )
    corpus = corefeval.read(conll(text))
    expected = {0: set()}
    opened = None
    for number in range(30_000):
        if number % 7 == 0:
            opened = number
        elif number % 7 == 3:
            expected[0].add((opened, number + 1))
        elif number % 7 == 5:
            expected[number] = {(number, number + 1)}
    if 29_999 % 7 in (0, 1, 2):
        expected[0].add((opened, 30_001))
    assert entities(corpus) == {frozenset(spans) for spans in expected.values()}
    assert corpus[0].n_tokens == 30_001
    assert corpus.tokens.line(0, 30_000) == text.count("\n") - 1
    assert np.array_equal(np.diff(corpus.mention_start) > 0, np.ones(corpus.n_mentions - 1, bool))

"""Which column of a CoNLL file is the words: told by the content, or said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corefeval
from conll_texts import document
from corefeval import InputError, UsageError
from corefeval.cli import main

# Number, form, lemma, tags, features, head, relation and so on; coreference comes last.
SENTENCES = [
    [
        ("Le", "le", "DET"),
        ("chat", "chat", "NOUN"),
        ("dort", "dormir", "VERB"),
        (".", ".", "PUNCT"),
    ],
    [("Il", "il", "PRON"), ("ne", "ne", "ADV"), ("mange", "manger", "VERB"), ("pas", "pas", "ADV")],
]
CELLS = ["(1", "1)", "-", "-", "(1)", "-", "-", "-"]
WORDS = [[word for word, _, _ in sentence] for sentence in SENTENCES]


def like_conllu(first: int = 1, before: tuple[str, ...] = (), width: int = 15) -> str:
    """Columns as in CoNLL-U, with others before them, filled up with `_`."""
    lines, cells = ["#begin document (d); part 000"], iter(CELLS)
    for sentence in SENTENCES:
        for number, (word, lemma, tag) in enumerate(sentence, first):
            row = [*before, str(number), word, lemma, tag, tag[:1], "A=b", "0", "dep"]
            lines.append("\t".join((*row, *["_"] * (width - len(row) - 1), next(cells))))
        lines.append("")
    return "\n".join((*lines, "#end document", ""))


def kinds(corpus) -> list[str]:
    return [notice.kind for notice in corpus.notices]


@pytest.mark.parametrize("first", [0, 1, 17])
@pytest.mark.parametrize("before", [(), ("d",), ("d", "0", "x", "y")])
def test_the_words_stand_behind_the_numbers_of_tokens(conll, first, before):
    corpus = corefeval.read(conll(like_conllu(first, before)))
    assert corpus[0].sentences == WORDS
    assert [m.text for m in corpus[0].mentions] == ["Le chat", "Il"]
    assert kinds(corpus) == ["word-column"]
    assert f"column {2 + len(before)}" in str(corpus.notices[0])


def test_tags_of_such_files_are_known(conll):
    corpus = corefeval.read(conll(like_conllu()))
    assert corpus[0].column("tag")[:2] == ["DET", "NOUN"]
    assert corpus[0].column("lemma")[:3] == ["le", "chat", "dormir"]
    result = corefeval.score(corpus, corpus, by="kind", metrics="b3")
    assert {"nominal", "pronoun"} <= set(result.slices["kind"])


def test_conll_2012_stays(conll):
    """Two columns before the number, as there, and nothing is said about it."""
    corpus = corefeval.read(conll(like_conllu(0, ("d", "0"))))
    assert corpus[0].sentences == WORDS
    assert corpus.notices == ()
    assert corefeval.read(corefeval.example()).notices == ()


@given(
    cells=st.lists(st.sampled_from(["(1)", "-", "(1)|(2)"]), min_size=2, max_size=40),
    words=st.lists(st.sampled_from(["NOUN", "DT", "X", "7", "8", "_", "a", "."]), min_size=40),
)
def test_numbers_in_the_third_column_decide(cells, words, tmp_path_factory):
    """Whatever the words are."""
    text = document(*cells)
    for number, word in enumerate(words[:40]):
        text = text.replace(f" word{number} ", f" {word} ")
    path = tmp_path_factory.getbasetemp() / "numbers.conll"
    path.write_text(text)
    assert corefeval.read(path).tokens.lines.layout.numbers["word"] == 4


def test_words_where_nothing_is_numbered(conll):
    """The fourth column is tags, so the words are the column with the most different texts."""
    rows = [row.split("\t")[1:] for row in like_conllu().splitlines() if row and row[0] != "#"]
    lines = ["\t".join(("d", "0", "x", row[2], row[0], row[1], "_", row[-1])) for row in rows]
    text = "\n".join(("#begin document (d);", *lines, "#end document", ""))
    corpus = corefeval.read(conll(text))
    assert corpus[0].words == [word for sentence in WORDS for word in sentence]
    assert kinds(corpus) == ["word-column"]


@pytest.mark.parametrize("word", ["NOUN", "NN"])
def test_words_that_look_like_tags_are_noticed(conll, word):
    text = document(*["-"] * 9, "(1)")
    for number in range(10):
        text = text.replace(f" word{number} ", f" {word if number % 3 else 'DET'} ")
        text = text.replace(" DET ", " DT ") if word == "NN" else text
    corpus = corefeval.read(conll(text.replace(" NN ", f" {word} ")))
    assert kinds(corpus) == ["word-column"]
    assert "look like tags" in str(corpus.notices[0])
    assert corpus.tokens.lines.layout.numbers["word"] == 4


def test_a_text_of_tag_names_stays_where_it_is(conll):
    """Two documents: their names are no words, though there are more of them than of the words."""
    cells = ["(1)", "-", "(1)", "-", "-", "-"]
    text = document(*cells, name="a") + document(*cells, name="b")
    for number in range(6):
        text = text.replace(f" word{number} ", " X ")
    corpus = corefeval.read(conll(text))
    assert corpus[0].words == ["X"] * 6
    assert kinds(corpus) == ["word-column"]


def test_the_word_column_can_be_said(conll):
    path = conll(like_conllu())
    assert corefeval.read(path, word_column=3)[0].words[:3] == ["le", "chat", "dormir"]
    assert corefeval.read(path, word_column=2).notices == ()
    doubtful = corefeval.read(path, word_column=4)
    assert doubtful[0].words[:2] == ["DET", "NOUN"]
    assert "look like tags" in str(doubtful.notices[0])


@pytest.mark.parametrize("word_column", [0, -1, True, "2", 1.0])
def test_what_is_no_column(conll, word_column):
    with pytest.raises(UsageError, match="word column must be 1 or more"):
        corefeval.read(conll(like_conllu()), word_column=word_column)


@pytest.mark.parametrize("word_column", [15, 99])
def test_columns_that_cannot_be_the_words(conll, word_column):
    with pytest.raises(InputError, match=f"no column {word_column}") as error:
        corefeval.read(conll(like_conllu()), word_column=word_column)
    assert error.value.file
    assert "from 1 to 14" in str(error.value)


def test_texts_are_compared_by_these_columns(conll):
    key, other = like_conllu(), like_conllu().replace("chat\t", "chien\t", 1)
    assert corefeval.score(conll(key), conll(key.replace("VERB", "AUX")))["conll"].f1 == 1.0
    with pytest.raises(InputError, match="another text") as error:
        corefeval.score(conll(key), conll(other))
    assert "‘chien’" in str(error.value)
    # A response with other columns around the same words is the same text.
    assert corefeval.score(conll(key), conll(like_conllu(0, ("d", "0"))))["conll"].f1 == 1.0
    with pytest.raises(InputError, match="‘chien’"):
        corefeval.score(conll(like_conllu(0, ("d", "0"))), conll(other))


def test_the_sample_survives_bytes_that_are_no_text(conll):
    corpus = corefeval.read(conll(like_conllu().encode().replace(b"chat", b"ch\xe9t")))
    with pytest.raises(InputError, match="not utf-8"):
        corpus[0].words


@pytest.mark.parametrize(
    "command",
    [
        ["score", "KEY", "KEY"],
        ["compare", "KEY", "a=KEY", "b=OTHER"],
        ["errors", "KEY", "KEY"],
        ["agree", "KEY", "OTHER"],
        ["stats", "KEY"],
        ["check", "KEY", "--against", "OTHER"],
        ["convert", "KEY", "-", "--to", "e2e"],
        ["report", "KEY", "OTHER", "-o", "OUT"],
        ["lab", "splits", "KEY"],
    ],
    ids=lambda command: command[0],
)
@pytest.mark.parametrize("options", [[], ["--word-column", "3"], ["--word-column", "15"]])
def test_every_command_that_reads(conll, tmp_path, command, options, capfd):
    files = {"KEY": conll(like_conllu()), "OTHER": conll(like_conllu())}
    files["OUT"] = str(tmp_path / "out.html")
    arguments = command
    for name, path in files.items():
        arguments = [part.replace(name, path) for part in arguments]
    status = main([*arguments, *options])
    out, told = capfd.readouterr()
    said = out + told
    if options[-1:] == ["15"]:
        assert "no column 15 that could be the words" in said
        assert status != 0
        return
    assert status == 0, said
    assert ("the words seem to be in column 2" in said) == (not options)
    if command[0] == "convert":
        first = json.loads(out)["sentences"][0]
        assert first == (["le", "chat", "dormir", "."] if options else WORDS[0])


def test_the_file_is_written_with_all_of_its_columns(conll, tmp_path):
    path = conll(like_conllu())
    corefeval.write(corefeval.read(path), tmp_path / "again.conll")
    again = (tmp_path / "again.conll").read_text().split("\n")
    assert [row for row in again if row] == [
        row for row in Path(path).read_text().split("\n") if row
    ]


def of_columns(*columns: str) -> str:
    """A file whose columns, behind each other in a line, end in coreference."""
    rows = zip(*(column.split() for column in columns), strict=True)
    lines = ("\t".join(row) for row in rows)
    return "\n".join(("#begin document (d);", *lines, "#end document", ""))


PAIR = "(1 1) - (1) - -"


def test_the_first_of_two_columns_is_the_words(conll):
    path = conll(of_columns("Le chat dort , chat !", PAIR))
    corpus = corefeval.read(path)
    assert corpus[0].mentions[0].text == "Le chat"
    assert corpus.notices == ()
    with pytest.raises(InputError, match="‘chien’"):
        corefeval.score(path, conll(of_columns("Le chien dort , chat !", PAIR)))
    assert corefeval.score(path, conll(of_columns("Le chat dort , chat !", PAIR)))["conll"].f1 == 1


@pytest.mark.parametrize(
    "columns", [("1 2 3 4 5 6",), ("d d d d d d",), ("d d d d d d", "1 2 3 4 5 6")]
)
def test_a_file_without_known_words_is_told_of(conll, run, columns):
    """Whatever the text of such a file is, its score says that nobody looked."""
    path = conll(of_columns(*columns, PAIR))
    assert kinds(corefeval.read(path)) == ["word-column"]
    status, _, err = run("score", path, path)
    assert (status, "texts cannot be compared" in err, "--word-column" in err) == (0, True, True)
    assert "texts cannot be compared" in run("check", path)[1]


def test_a_file_without_tokens_has_no_words_to_look_for(conll):
    assert corefeval.read(conll("#begin document (d);\n#end document\n")).notices == ()

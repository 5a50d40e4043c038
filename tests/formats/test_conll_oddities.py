"""Reading CoNLL where it is hard: empty cells, hashes, long runs, odd encodings."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import corefeval
from conll_texts import END, PLAIN, body, document, entities
from corefeval import InputError
from corefeval.cli import main
from corefeval.linting import repair_file

WIDE_AND_NARROW = [
    "A 0 0 The NN * * (1", "A 0 1 cat NN * * 1)", "A 0 2 sat VB * * -", "",
    "A 0 0 It NN * (1)", "A 0 1 x NN * -", "A 0 2 y NN * (2)",
]  # fmt: skip


def test_sentences_may_have_different_numbers_of_columns(conll):
    """CoNLL-2012 has a column for each predicate of a sentence."""
    assert entities(corefeval.read(conll(body(*WIDE_AND_NARROW)))) == {
        frozenset({(0, 2), (3, 4)}),
        frozenset({(5, 6)}),
    }


@pytest.mark.parametrize("mistake", ["(3", "3)", "3", "(3))"])
def test_a_mistake_in_a_narrow_sentence_is_still_one(conll, mistake):
    rows = [row.replace("x NN * -", f"x NN * {mistake}") for row in WIDE_AND_NARROW]
    with pytest.raises(InputError) as caught:
        corefeval.read(conll(body(*rows)))
    assert caught.value.line == 7


def test_an_empty_cell_in_a_wide_sentence_takes_nothing_else_along(conll):
    rows = [row.replace("sat VB * * -", "sat VB * *") for row in WIDE_AND_NARROW]
    assert entities(corefeval.read(conll(body(*rows)))) == {
        frozenset({(0, 2), (3, 4)}),
        frozenset({(5, 6)}),
    }


def test_behind_a_trailing_tab_there_is_an_empty_cell(conll):
    rows = [
        "A\t0\t0\tThe\tNN\t(1",
        "A\t0\t1\tcat\tNN\t1)",
        "A\t0\t2\tParis\t(GPE)\t",
        "A\t0\t3\tx\tN\t-",
    ]
    assert entities(corefeval.read(conll(body(*rows)))) == {frozenset({(0, 2)})}
    empty = corefeval.read(conll(body("d\t0\t0\tThe\tDT\t", "d\t0\t1\tcat\tNN\t")))
    assert (empty[0].n_tokens, empty.n_mentions) == (2, 0)


def test_a_trailing_tab_behind_a_mention_is_just_a_blank(conll):
    rows = ["A\t0\t0\tThe\tNN\t(1)\t", "A\t0\t1\tcat\tNN\t-", "A\t0\t2\tx\tNN\t(1)"]
    assert entities(corefeval.read(conll(body(*rows)))) == {frozenset({(0, 1), (2, 3)})}


def test_words_are_found_behind_many_empty_cells(conll):
    text = body(*["A\t0\t0\tThe\t"] * 30, "A\t0\t0\tThe\t(1)")
    assert corefeval.read(conll(text))[0].words == ["The"] * 31
    with pytest.raises(corefeval.PairingError, match="another text"):
        corefeval.score(conll(text), conll(text.replace("The\t\n", "An\t\n", 1)))


@pytest.mark.parametrize("end", ["\n", "\r\n", " \n"])
@pytest.mark.parametrize(
    ("rows", "n_tokens", "n_mentions"),
    [
        (["#tag (1)", "b (2)"], 2, 2),
        (["a (1", "# 1)"], 2, 1),
        (["a -", "", "#tag (1", "c 1)"], 3, 1),
        (["#x 0 0 a NN (1)", "#x 0 1 b NN -"], 2, 1),
        (["# a comment", "a (1)", "# another comment -"], 1, 1),
    ],
)
def test_words_that_begin_with_a_hash(conll, rows, n_tokens, n_mentions, end):
    corpus = corefeval.read(conll(body(*rows).replace("\n", end)))
    assert (corpus[0].n_tokens, corpus.n_mentions) == (n_tokens, n_mentions)


def test_coreference_needs_a_token(conll):
    with pytest.raises(InputError, match="coreference, but no token") as caught:
        corefeval.read(conll(body("(1)", "-", "(1)")))
    assert caught.value.line == 2


def test_sentences_of_a_document_without_tokens(conll):
    corpus = corefeval.read(conll(body(name="(a);") + body("d 0 0 w NN -", name="(b);")))
    assert [document.sentences for document in corpus] == [[], [["w"]]]


@pytest.mark.parametrize("text", ["\n", "#", "\n\n", "#begin document"])
def test_next_to_nothing(conll, text):
    path = conll(text)
    try:
        corefeval.read(path, format="conll")
    except InputError as error:
        assert error.file == path


@pytest.mark.parametrize(
    "text",
    [
        "#begin document a" + " " * 100_000 + "b\nw -\n",
        "#begin document (a)" + " " * 100_000 + "b\nw -\n",
        body("a -", "# " + "(aa)" * 10_000 + "("),
        "a " + "(" * 100_000 + "!\n",
        body("a " + "(1" * 100_000),
        body("a (1)" + " " * 100_000, "b" + "x" * 100_000 + " (1)"),
    ],
)
def test_long_runs_do_not_take_long(conll, text):
    """Each of these takes minutes where a pattern tries again and again; here it ends at once."""
    path = conll(text)
    try:
        corefeval.score(path, path)
    except InputError as error:
        assert error.file == path


@pytest.mark.parametrize("encoding", ["undefined", "punycode", None, 5])
def test_encodings_that_are_none(conll, encoding):
    with pytest.raises(corefeval.CorefEvalError):
        corefeval.read(conll(PLAIN), encoding=encoding)


def test_stateful_encodings(conll):
    text = body("d 0 0 日本 NN (1)", "d 0 1 語 NN -")
    corpus = corefeval.read(conll(text.encode("iso2022_jp")), encoding="iso2022_jp")
    assert corpus[0].words == ["日本", "語"]


@pytest.mark.parametrize("path", [None, 5, [], {}])
def test_what_is_no_path(path):
    with pytest.raises(corefeval.UsageError, match="named by its path"):
        corefeval.read(path)


def test_three_columns_of_number_word_and_coreference(conll):
    """GUM's own CoNLL files; the document may have no name, and is called after its file."""
    text = "# begin document\n1\tAda\t(1)\n2\tmet\t_\n\n1\tShe\t(1)\n# end document\n"
    corpus = corefeval.read(conll(text, "GUM_bio_ada.conll"))
    assert str(corpus.documents[0]) == "GUM_bio_ada"
    assert corpus[0].sentences == [["Ada", "met"], ["She"]]
    wide = PLAIN.replace("story", "GUM_bio_ada")
    with pytest.raises(corefeval.PairingError, match="another text"):
        corefeval.score(conll(wide), corpus)
    letters = corefeval.read(conll(body("a x (1)", "b y -")))
    assert (letters[0].words, letters.notices[0].kind) == (["a", "b"], "word-column")


MEETING = document("(0", "0)|(0", "0)")


def test_brackets_of_one_entity_that_meet_on_a_token_are_read_as_written(conll):
    """v8.01 opens before it closes: there the key is one word inside of the whole, MUC 100."""
    key = corefeval.read(conll(MEETING))
    assert [(m.start, m.end) for m in key[0].mentions] == [(0, 2), (1, 3)]
    result = corefeval.score(key, conll(document("(0", "(0)", "0)")), metrics="muc")
    assert result["muc"].f1 == 0
    (notice,) = [notice for notice in result.notices if notice.kind == "overlapping-mentions"]
    assert notice.count == 1
    assert "line 3" in str(notice)
    assert "v8.01" in str(notice)


def test_brackets_that_are_read_as_the_official_scorer_does_are_not_told_to_differ(conll):
    sides = conll(MEETING), conll(document("(0", "(0)", "0)"))
    result = corefeval.score(*sides, metrics="muc", brackets="opening-first")
    assert result["muc"].f1 == 1
    assert not result.notices


def opened_first(cells: list[str]) -> set[tuple[int, int]]:
    """The mentions of entity 0 for whoever opens all brackets of a cell before closing any."""
    found, open_starts = set(), []
    for position, cell in enumerate(cells):
        open_starts += [position] * cell.count("(")
        for _ in range(cell.count(")")):
            found.add((open_starts.pop(), position + 1))
    return found


@example(cells=["(0", "0)|(0|0)|(0", "0)"])  # with a mention of the one token in between
@given(
    cells=st.lists(
        st.lists(st.sampled_from(["(0", "0)", "(0)"]), max_size=4).map("|".join),
        min_size=2,
        max_size=6,
    )
)
def test_the_notice_is_there_just_where_the_order_matters(cells, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "meeting.conll"
    path.write_text(document(*(cell or "-" for cell in cells)))
    try:
        corpus = corefeval.read(path)
    except InputError:
        return
    ours = {(mention.start, mention.end) for mention in corpus[0].mentions}
    noticed = any(notice.kind == "overlapping-mentions" for notice in corpus.notices)
    assert noticed == (ours != opened_first(cells))


def test_other_cells_are_not_noticed(conll):
    for cells in (("(0", "0)|(1", "1)"), ("(0", "0)|(0)"), ("(0)|(0", "0)"), ("(0|0)", "(0)")):
        assert corefeval.read(conll(document(*cells))).notices == ()


@pytest.mark.parametrize("byte", [b"\x00", b"\x01", b"\x08"])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_a_control_character_is_an_error_with_its_line(conll, byte, line_end):
    """Taken for a blank it would make two columns of one."""
    text = document("(0)", "-", "(0)").encode().replace(b"word1", b"wo" + byte + b"rd1")
    with pytest.raises(InputError, match="control character") as error:
        corefeval.read(conll(text.replace(b"\n", line_end)))
    assert error.value.line == 3
    assert repr(byte)[2:-1] in error.value.found


def test_a_control_character_can_be_repaired(conll, tmp_path):
    path = conll(document("(0)", "-", "(0)").replace("word1", "wo\x00rd1"))
    repair = repair_file(path, tmp_path / "out.conll")
    assert [change.kind for change in repair.changes] == ["wrong-encoding"]
    assert corefeval.read(tmp_path / "out.conll")[0].words[1] == "wo�rd1"


def test_utf_16_without_a_mark_is_told_from_text(conll):
    path = conll(document("(0)", "-").encode("utf-16-le"))
    with pytest.raises(InputError, match="encoding"):
        corefeval.read(path, format="conll")
    assert corefeval.read(path, encoding="utf-16-le").n_mentions == 1


@pytest.mark.parametrize(
    "command",
    [
        ["score", "CUT", "WHOLE"],
        ["score", "WHOLE", "CUT"],
        ["compare", "WHOLE", "a=CUT", "b=WHOLE"],
        ["errors", "WHOLE", "CUT"],
        ["agree", "CUT", "WHOLE"],
        ["stats", "CUT"],
        ["check", "CUT"],
        ["check", "WHOLE", "--against", "CUT"],
        ["convert", "CUT", "-", "--to", "e2e"],
        ["report", "CUT", "WHOLE", "-o", "OUT"],
        ["lab", "splits", "CUT"],
    ],
    ids=" ".join,
)
def test_every_command_notices_a_file_that_ends_inside_a_document(conll, tmp_path, command, capfd):
    whole = document("(0)", "(1)", "(0)")
    files = {"WHOLE": conll(whole), "CUT": conll(whole.replace(END, ""))}
    files["OUT"] = str(tmp_path / "out.html")
    for name, path in files.items():
        command = [part.replace(name, path) for part in command]
    main(command)
    said = "".join(capfd.readouterr())
    assert "ends inside document ‘d; part 000’" in said or "no ‘#end document’" in said


def test_words_like_those_of_other_formats(tmp_path):
    """A file that begins like CoNLL is CoNLL, though a word looks like a mention of SACR."""
    path = tmp_path / "key.conll"
    rows = ['a 0 0 {x:y=" NN (1)', "a 0 1 b NN (1)"]
    path.write_text("\n".join(("#begin document (a); part 000", *rows, "", "#end document", "")))
    assert corefeval.read(path).n_mentions == 2

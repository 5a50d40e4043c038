"""Documents pair by id and part; texts must be the same; repeated mentions never stop a run."""

from __future__ import annotations

import pytest

import corefeval
from corefeval import InputError, PairingError


def document(name: str, *rows: str) -> str:
    lines = [f"d 0 {n} {row.split()[0]} NN {row.split()[1]}" for n, row in enumerate(rows)]
    return "\n".join((f"#begin document ({name}); part 000", *lines, "#end document", ""))


A = document("a", "Ada (1)", "and -", "she (1)")
B = document("b", "Bob (1)", "and -", "he (1)")


def test_documents_pair_by_id_not_by_position(conll):
    result = corefeval.score(conll(A + B), conll(B + A))
    assert result["conll"].f1 == 1.0
    assert result.document_ids == ("a; part 000", "b; part 000")
    assert result.notices == ()


def test_a_missing_document_counts_as_empty(conll):
    result = corefeval.score(conll(A + B), conll(B))
    assert result["mentions"].recall == 0.5
    assert result["mentions"].precision == 1.0
    assert result.document("a")["mentions"].recall == 0.0
    assert [notice.kind for notice in result.notices] == ["missing-documents"]


def test_an_extra_document_is_left_out_and_the_closest_id_suggested(conll):
    typo = A.replace("(a)", "(aa)")
    result = corefeval.score(conll(A.replace("(a)", "(aaa)") + B), conll(typo + B))
    messages = {notice.kind: notice.message for notice in result.notices}
    assert set(messages) == {"missing-documents", "extra-documents"}
    assert (
        "‘aaa; part 000’ (closest to ‘aaa; part 000’: ‘aa; part 000’)"
        in messages["missing-documents"]
    )
    assert (
        "‘aa; part 000’ (closest to ‘aa; part 000’: ‘aaa; part 000’)" in messages["extra-documents"]
    )
    assert result["mentions"].recall == 0.5


def test_nothing_pairs(conll):
    with pytest.raises(PairingError, match="no document of the response is in the key") as caught:
        corefeval.score(conll(A), conll(B))
    assert "‘b; part 000’" in str(caught.value)
    assert "‘a; part 000’" in str(caught.value)
    assert "--pairing position" in caught.value.command_text
    with pytest.raises(PairingError) as caught:
        corefeval.score(conll(A + B), conll(B.replace("(b)", "(c)")))
    assert caught.value.command_text.endswith("use the same ids on both sides")


def test_documents_can_be_chosen(conll):
    key, response = conll(A + B), conll(A.replace("she (1)", "she -") + B)
    assert corefeval.score(key, response, documents="b*")["conll"].f1 == 1.0
    assert corefeval.score(key, response, documents="?; part 000").document_ids == (
        "a; part 000",
        "b; part 000",
    )
    with pytest.raises(PairingError, match=r"no document of .* matches 'z\*'"):
        corefeval.score(key, response, documents="z*")


def test_another_number_of_tokens(conll):
    key, response = conll(A), conll(document("a", "Ada (1)", "and -"))
    with pytest.raises(PairingError, match="another text") as caught:
        corefeval.score(key, response)
    assert "2 tokens" in str(caught.value)
    assert "3 tokens as in the key" in str(caught.value)
    assert "cut short" in str(caught.value)
    assert caught.value.line == 3
    assert corefeval.score(key, response, ignore_tokens=True)["mentions"].recall == 0.5


def test_other_words(conll):
    key, response = conll(B + A), conll(A.replace("and", "und") + B)
    with pytest.raises(PairingError, match="‘a; part 000’ has another text") as caught:
        corefeval.score(key, response)
    error = caught.value
    assert (error.file, error.line) == (response, 3)
    assert "token 1 is ‘und’" in str(error)
    assert "‘and’ as on line 8 of" in str(error)
    assert 'tokens="align"' in str(error) and "--tokens align" in error.command_text
    ignored = corefeval.score(key, response, ignore_tokens=True)
    assert ignored["conll"].f1 == 1.0
    assert [(notice.kind, notice.items) for notice in ignored.notices] == [
        ("other-tokens", ("a; part 000",))
    ]
    assert "tokens:ignore" in ignored.signature


def test_other_tags_are_no_difference(conll):
    assert corefeval.score(conll(A), conll(A.replace("NN", "XX")))["conll"].f1 == 1.0


def test_files_without_words_are_not_compared(conll):
    key = "#begin document (a);\n1 (1)\n2 (1)\n#end document\n"
    result = corefeval.score(conll(key), conll(key.replace("1 ", "3 ")))
    assert result["muc"].f1 == 1.0
    assert {notice.kind for notice in result.notices} == {"word-column"}


@pytest.mark.parametrize("length", [1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 200])
@pytest.mark.parametrize("name_length", [1, 30, 70, 300])
@pytest.mark.parametrize("columns", ["same", "other"])
def test_words_of_any_length_are_compared(conll, length, name_length, columns):
    """Windows of bytes are compared at once: no length of a word or name may fall through."""
    name = "n" * name_length
    rows = ["x" * length, "word", "y" * length]

    def text(words: list[str], separator: str = "\t", extra: str = "\tNN\t*") -> str:
        lines = [
            separator.join((name, "0", str(i), word)) + extra + separator + "(1)"
            for i, word in enumerate(words)
        ]
        return "\n".join(("#begin document (d);", *lines, "#end document", ""))

    key = conll(text(rows))
    other = {} if columns == "same" else {"separator": "  ", "extra": ""}
    assert corefeval.score(key, conll(text(rows, **other)))["muc"].f1 == 1.0
    for index in range(3):
        for changed in (rows[index][:-1] + "z", rows[index] + "z"):
            words = [*rows[:index], changed, *rows[index + 1 :]]
            with pytest.raises(PairingError, match=f"token {index} is"):
                corefeval.score(key, conll(text(words, **other)))


REPEATED = document("a", "Ada (1)|(2)", "and -", "she (1)", "him (2)")


@pytest.mark.parametrize(("policy", "kept"), [("first", {(0, 2), (3,)}), ("last", {(2,), (0, 3)})])
def test_repeated_mentions(conll, policy, kept):
    key = document("a", "Ada (1)", "and -", "she (1)", "him (2)")
    result = corefeval.score(conll(key), conll(REPEATED), duplicates=policy)
    assert [notice.kind for notice in result.notices] == ["repeated-mentions"]
    assert result.notices[0].count == 1
    perfect = kept == {(0, 2), (3,)}
    assert (result["lea"].f1 == 1.0) is perfect
    assert result.settings["duplicates"] == policy


def test_repeated_mentions_as_an_error(conll):
    path = conll(REPEATED)
    with pytest.raises(InputError, match="a mention is repeated") as caught:
        corefeval.score(conll(REPEATED), path, duplicates="error")
    assert "‘1’ and in ‘2’" in str(caught.value)
    assert caught.value.line == 2


def test_the_first_opened_entity_keeps_the_mention(conll):
    """Opened first counts, not closed first: as in the official scorer."""
    text = "#begin document (a);\nx (2|(1\ny 2)|1)\nz (1)\nw (2)\n#end document\n"
    key = "#begin document (a);\nx (2\ny 2)\nz (1)\nw (2)\n#end document\n"
    assert corefeval.score(conll(key), conll(text))["lea"].f1 == 1.0


def test_repeated_mentions_in_plain_python():
    result = corefeval.score([["a", "b"]], [["a", "b", "b"], ["a"]])
    assert result["conll"].f1 == 1.0
    assert result.notices[0].count == 2


def test_repeated_mentions_in_the_key_never_pass_100_percent(conll):
    """v8.01 counts a repeated key mention twice, so that its precision can pass 100 %.

    Here each mention counts once on each side: the key is cleaned like the response, which keeps
    all rates at or below 1 and a key against itself at 1. This is our choice where the official
    scorer leaves its own definition.
    """
    key = document("a", "Ada (1)|(1)", "and -", "she (1)", "him (2)|(1)")
    result = corefeval.score(conll(key), conll(key))
    assert all(result[metric].f1 == 1.0 for metric in result.metrics)
    assert result["mentions"].counts["precision_denominator"] == 3


def test_singletons(conll):
    key = document("a", "Ada (1)", "and -", "she (1)", "him (2)")
    response = document("a", "Ada (1)", "and (3)", "she (1)", "him -")
    kept = corefeval.score(conll(key), conll(response))
    assert kept["mentions"].recall == pytest.approx(2 / 3)
    dropped = corefeval.score(conll(key), conll(response), singletons="drop")
    assert dropped["mentions"].f1 == 1.0
    assert [notice.count for notice in dropped.notices] == [1, 1]
    assert "singletons:drop" in dropped.signature


@pytest.mark.parametrize(
    "option", [{"singletons": "no"}, {"duplicates": "all"}, {"aggregate": "mean"}]
)
def test_options_that_do_not_exist(option):
    with pytest.raises(corefeval.UsageError, match="is one of"):
        corefeval.score([["a"]], [["a"]], **option)


def test_nothing_to_score():
    assert corefeval.score([], [])["conll"].f1 == 0.0
    with pytest.raises(InputError):
        corefeval.score({}, {})


def test_a_document_without_tokens_is_another_text(conll):
    empty = "#begin document (b); part 000\n#end document\n"
    with pytest.raises(PairingError, match="‘b; part 000’ has another text"):
        corefeval.score(conll(A + B), conll(A + empty))


def test_a_dash_is_a_word_where_coreference_is_empty(conll):
    name = "n" * 40

    def text(word: str) -> str:
        rows = [f"{name} 0 0 x -", f"{name} 0 1 {word}", f"{name} 0 2 y (1)"]
        return "\n".join(("#begin document (d);", *rows, "#end document", ""))

    with pytest.raises(PairingError, match="token 1 is ‘_’"):
        corefeval.score(conll(text("-")), conll(text("_")))


def test_the_glob_is_text():
    with pytest.raises(corefeval.UsageError, match="documents is a text, not 5"):
        corefeval.score([["a"]], [["a"]], documents=5)


@pytest.mark.parametrize(
    ("key", "response", "paired"),
    [
        (["x; part 000"], ["x_0"], True),
        (["x_0"], ["x; part 000"], True),
        (["x; part 000"], ["x"], True),
        (["x"], ["x; part 007"], True),
        (["x; part 000", "x; part 001"], ["x_1", "x_0"], True),
        (["x; part 000", "x; part 001"], ["x"], False),
        (["x; part 000"], ["x_0; part 000"], True),
        (["x_1; part 000"], ["x; part 001"], True),
        (["x"], ["x_0"], True),
        (["two\nlines"], ["two lines"], True),
        (["x; part 000"], ["x; part 001"], False),
        (["x_0"], ["x_1"], False),
    ],
)
def test_ids_pair_across_spellings(key, response, paired):
    corpora = [{name: [["a", "b"]] for name in names} for names in (key, response)]
    if paired:
        assert corefeval.score(*corpora)["muc"].f1 == 1.0
    else:
        with pytest.raises(PairingError):
            corefeval.score(*corpora)


def test_a_response_without_mentions_is_noticed():
    result = corefeval.score([["a", "b"]], [])
    assert [notice.kind for notice in result.notices] == ["no-mentions"]


def test_a_list_of_documents_is_no_document():
    with pytest.raises(InputError, match="mapping from document ids"):
        corefeval.score([[["a", "b"], ["c"]], [["d"]]], [["a"]])


def test_documents_can_be_scored_alone(conll):
    key, response = corefeval.read(conll(A + B)), corefeval.read(conll(B + A))
    assert corefeval.score(key["a"], response["a"])["conll"].f1 == 1.0
    assert "a" in key
    assert "z" not in key
    with pytest.raises(InputError, match="did you mean"):
        key["a; part 00"]


def zeros_text(*rows: tuple[str, str, str]) -> str:
    lines = ["# newdoc id = d", "# global.Entity = eid-head"]
    lines += ["\t".join((number, word, *"______", "_", misc)) for number, word, misc in rows]
    return "\n".join((*lines, "", ""))


WITH_ZEROS = zeros_text(
    ("1", "Ada", "Entity=(e1-1)"), ("1.1", "_", "Entity=(e1-1)"), ("2", "came", "_"),
    ("3", "She", "Entity=(e1-1)"),
)  # fmt: skip


def test_empty_nodes_that_only_one_side_knows_are_told(conll):
    plain = document("d", "Ada (1)", "came -", "She (1)").replace("; part 000", "")
    without = "".join(line for line in WITH_ZEROS.splitlines(True) if not line.startswith("1.1"))
    for key, response in ((plain, WITH_ZEROS), (WITH_ZEROS, plain), (WITH_ZEROS, without)):
        result = corefeval.score(conll(key), conll(response))
        assert result["mentions"].f1 == pytest.approx(0.8)
        assert [notice.kind for notice in result.notices] == ["empty-nodes"]
        assert "1 empty node where the other side has none" in result.notices[0].message
        assert corefeval.score(conll(key), conll(response), zeros="drop")["lea"].f1 == 1.0


def test_empty_nodes_may_be_called_otherwise(conll):
    other = WITH_ZEROS.replace("1.1\t_\t", "1.1\t##she\t")
    result = corefeval.score(conll(WITH_ZEROS), conll(other))
    assert result["mentions"].counts["recall_denominator"] == 3
    assert result["lea"].f1 == 1.0


def test_a_repeated_mention_of_a_folder_names_the_folder(tmp_path):
    cells = ["(0)|(1)", "(1)"]
    for name in "ab":
        rows = [f"{name}\t0\t{n}\tw\tT\t{cell}" for n, cell in enumerate(cells)]
        lines = (f"#begin document ({name}); part 000", *rows, "", "#end document", "")
        (tmp_path / f"{name}.conll").write_text("\n".join(lines))
    with pytest.raises(corefeval.InputError, match=f"^{tmp_path}: a mention is repeated"):
        corefeval.score(tmp_path, tmp_path, duplicates="error")


def nameless(*documents: str, mark: str = "# newdoc") -> str:
    """CoNLL-U documents without names; the first and last of their words are one entity."""
    lines = ["# global.Entity = eid"]
    for words in documents:
        lines.append(mark)
        rows = list(enumerate(words.split(), 1))
        for number, word in rows:
            entity = "Entity=(e1)" if number in (1, len(rows)) else "_"
            lines.append("\t".join((str(number), word, *"_" * 7, entity)))
        lines.append("")
    return "\n".join((*lines, ""))


STORIES = ("Ada met her", "Bo saw him", "Cy hurt himself")


@pytest.fixture
def unnamed(tmp_path):
    """Write files of other names and the same documents, to which nobody gave any."""

    def write(*texts: str) -> list[str]:
        paths = [tmp_path / f"file{number}.conllu" for number in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        return list(map(str, paths))

    return write


@pytest.mark.parametrize("mark", ["# newdoc", "#"])
def test_documents_that_neither_side_names_pair_in_order(unnamed, run, mark):
    key, response, other = unnamed(*[nameless(*STORIES, mark=mark)] * 3)
    result = corefeval.score(key, response)
    assert (result["conll"].f1, result.notices) == (1.0, ())
    commands = (
        ("score", key, response),
        ("score", key, response, "--piece-size", "10"),
        ("compare", key, response, other),
        ("agree", key, response, other),
        ("check", response, "--against", key),
    )
    for command in commands:
        status, out, _ = run(*command)
        assert (status, "100.00" in out or "passes" in out) == (0, True), command


def test_a_suite_pairs_nameless_documents_in_order(unnamed, run, tmp_path):
    unnamed(*[nameless(*STORIES)] * 2)
    suite = "[[corpora]]\nname = '1'\nkey = 'file0.conllu'\n\n"
    suite += "[[systems]]\nname = 's'\nresponses = 'file{corpus}.conllu'\n"
    (tmp_path / "suite.toml").write_text(suite)
    status, out, err = run("suite", "run", tmp_path / "suite.toml", "--no-cache")
    assert (status, "100.00" in out) == (0, True), err


def test_nameless_documents_of_another_text_are_refused(unnamed):
    with pytest.raises(PairingError, match="has another text"):
        corefeval.score(*unnamed(nameless(*STORIES), nameless(*reversed(STORIES))))


def test_another_number_of_nameless_documents_is_told(unnamed):
    shorter = corefeval.score(*unnamed(nameless(*STORIES), nameless(*STORIES[:2])))
    assert [(notice.kind, notice.count) for notice in shorter.notices] == [("missing-documents", 1)]
    assert shorter["mentions"].recall == 2 / 3
    longer = corefeval.score(*unnamed(nameless(*STORIES[:2]), nameless(*STORIES)))
    assert [(notice.kind, notice.count) for notice in longer.notices] == [("extra-documents", 1)]


def test_a_named_document_does_not_pair_with_one_that_happens_to_stand_there(unnamed):
    text = nameless(*STORIES[:1])
    named = text.replace("# newdoc", "# newdoc id = a")
    with pytest.raises(PairingError, match="no document of the response"):
        corefeval.score(*unnamed(named, text))


@pytest.mark.parametrize("format", ["conllua", "e2e", "crac-text", "conll"])
def test_nameless_documents_of_other_formats(unnamed, tmp_path, format):
    texts = {
        "conllua": "# global.columns = ID FORM IDENTITY\n"
        + "# newdoc\n1\tAda\t(EntityID=1|MarkableID=m1)\n\n" * 2,
        "e2e": '{"sentences": [["Ada"]], "clusters": [[[0, 0]]]}\n' * 2,
        "crac-text": "Ada|[e1] met Bo\n" * 2,
        "conll": "# begin document\n1\tAda\t(1)\n# end document\n",
    }
    paths = [tmp_path / "key", tmp_path / "response"]
    for path in paths:
        path.write_text(texts[format])
    result = corefeval.score(*paths, key_format=format, response_format=format)
    assert result["mentions"].f1 == 1.0

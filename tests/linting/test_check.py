"""The linter: what it finds, how it says so, and that repaired files are whole."""

from __future__ import annotations

import json
import re
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corefeval
from conftest import ROOT
from conll_texts import BROKEN, END, HEADER, document, rows
from corefeval import corpus_from_arrays, corpus_from_entities
from corefeval.linting import KINDS, check_corpus, inspect, repair_file
from corefeval.linting.rendering import render_text
from strategies import spans

KEY, EAGER = corefeval.example("key"), corefeval.example("eager")


@pytest.fixture
def found(conll):
    """Check text; gives what was found of each kind."""

    def found(text: str | bytes, **options: object):
        (inspection,) = inspect(conll(text), **options)
        kinds: dict[str, list] = {}
        for finding in inspection.findings:
            kinds.setdefault(finding.kind, []).append(finding)
        return kinds

    return found


def test_nothing_is_found_where_nothing_is_odd(found):
    assert found(document("(1)", "-", "(2", "2)", "(1)", "(2)")) == {}


def test_repeated_mentions_of_one_entity(found):
    kinds = found(document("(1|(1|(1", "-", "1)|1)|1)"))
    (finding,) = kinds["repeated-mention"]
    assert (finding.severity, finding.line, finding.document) == ("warning", 2, "d; part 000")
    assert (finding.span, finding.text) == ((0, 3), "word0 word1 word2")
    assert finding.message == "3 times in entity ‘1’"
    assert set(kinds) == {"repeated-mention"}


def test_one_span_in_two_entities(found):
    (finding,) = found(document("(1)|(2)", "(1)", "(2)"))["span-in-two-entities"]
    assert finding.message == "in the entities ‘1’ and ‘2’"


def test_crossing_mentions_of_different_entities_are_noted(found):
    (finding,) = found(document("(1", "(2", "1)", "2)", "(1)", "(2)"))["crossing-entities"]
    assert (finding.severity, finding.span) == ("note", (1, 4))
    assert "‘word0 word1 word2’ (tokens 0 to 2), of entities ‘2’ and ‘1’" in finding.message


def test_crossing_mentions_of_one_entity():
    corpus = corpus_from_arrays(entity=[0, 0], start=[0, 1], end=[3, 5], document_ids=["d"])
    assert [finding.kind for finding in check_corpus(corpus)] == ["crossing-mentions"]


def test_self_nested_mentions(found):
    (finding,) = found(document("(1", "(1)", "1)"))["self-nested-mention"]
    assert (finding.severity, finding.span) == ("note", (1, 2))
    assert "inside ‘word0 word1 word2’" in finding.message


def test_mentions_across_sentences(found):
    (finding,) = found(document("(1", "", "-", "1)", "(1)"))["cross-sentence-mention"]
    assert finding.message == "from sentence 1 into sentence 2"


def test_all_unbalanced_brackets_are_found(found):
    kinds = found(document("(1", "(2|(2", "2)|3)", "4)|4)"))
    assert [(f.line, f.severity) for f in kinds["unbalanced-bracket"]] == [
        (2, "error"), (3, "error"), (4, "error"), (5, "error"), (5, "error"),
    ]  # fmt: skip
    assert "never closes" in kinds["unbalanced-bracket"][0].message


def test_a_mention_across_documents_is_two_brackets(found):
    text = document("(1", "-") + document("-", "1)", name="e")
    assert [f.document for f in found(text)["unbalanced-bracket"]] == ["d; part 000", "e; part 000"]


def test_unreadable_cells_and_brackets_are_found_together(found):
    kinds = found(document("(1", "((", "-", "-", "-", "2)"))
    assert [f.line for f in kinds["unreadable-cell"]] == [3]
    assert [f.line for f in kinds["unbalanced-bracket"]] == [2, 7]


def test_repeated_documents_and_stray_tokens(found):
    text = rows("(1)") + document("(1)", "(1)") + rows("(2)", "(2)") + document("-", "-")
    kinds = found(text)
    assert [f.line for f in kinds["repeated-document"]] == [8]
    assert [f.line for f in kinds["stray-tokens"]] == [1, 6]


def test_documents_that_are_hardly_there(found):
    text = document() + document("(1)", name="e") + document("(1)", "(1)", name="f")
    kinds = found(text)
    assert [f.document for f in kinds["empty-document"]] == ["d; part 000"]
    assert [f.document for f in kinds["one-token-document"]] == ["e; part 000"]
    assert set(found(document("-"))) == {"one-token-file", "no-mentions"}


def test_singletons_are_one_note(found):
    (finding,) = found(document("(1)", "(2)", "(3)", "(3)"))["singletons"]
    assert finding.message == "2 of 3 entities have one mention"


def test_document_lines_that_the_official_scorer_does_not_see(found):
    text = "#begin document(d);\n" + rows("(1)", "(1)") + END
    text += "# begin document e\n" + rows("(1)", "(1)") + END
    (finding,) = found(text)["document-line"]
    assert finding.line == 1


def test_what_a_reader_noticed_is_found(found):
    text = HEADER + rows("(1)", "(1)") + document("(1)", "(1)", name="e")
    (finding,) = found(text)["reading-notice"]
    assert "without ‘#end document’" in finding.message


def test_offsets_out_of_range_and_blank_tokens():
    builder = corefeval.model.CorpusBuilder()
    words = ["The", "\n", "captain", "", " "]
    built = builder.document("d", words=words, columns={"empty": ["", "", "", "1", ""]})
    for start, end in ((0, 2), (1, 2), (0, 3), (3, 4), (2, 5)):
        built.mention("1", start, end)
    findings = [f for f in check_corpus(builder.build()) if f.kind == "blank-tokens"]
    assert [(f.span, f.message) for f in findings] == [
        ((0, 2), "ends on a blank token"),
        ((1, 2), "begins and ends on a blank token"),
        ((2, 5), "ends on a blank token"),
    ]
    tokens = builder.build().tokens
    beyond = corpus_from_arrays(entity=[0], start=[3], end=[9], document_ids=["d"], tokens=tokens)
    assert "out-of-range" in {finding.kind for finding in check_corpus(beyond)}


def test_gaps_keep_mentions_apart():
    corpus = corpus_from_arrays(entity=[0, 1], start=[0, 1], end=[4, 6], document_ids=["d"])
    assert "crossing-entities" in {f.kind for f in check_corpus(corpus)}
    apart = corpus.with_details(gaps=np.array([[0, 1, 3], [1, 3, 4]]))
    assert "crossing-entities" not in {f.kind for f in check_corpus(apart)}


def test_plain_python_is_checked_for_repetition():
    corpus = corpus_from_entities([["a", "a", "b"], ["b", "c"]])
    kinds = [(finding.kind, finding.text) for finding in check_corpus(corpus)]
    assert kinds == [("repeated-mention", "a"), ("span-in-two-entities", "b")]


def test_bytes_that_are_no_text(found):
    text = document("(1)", "(1)").replace("word0", "caf\xe9").encode("latin-1")
    assert [f.line for f in found(text)["wrong-encoding"]] == [2]
    assert found(text, encoding="latin-1") == {}


@pytest.mark.parametrize("text", [b"", b"#begin nothing\n", b"nonsense", b'{"clusters": 3}'])
def test_files_that_cannot_be_read_are_one_error(found, text):
    kinds = found(text)
    assert [f.severity for f in kinds["unreadable-file"]] == ["error"]
    assert set(kinds) == {"unreadable-file"}


def test_columns_that_are_no_coreference_stay_where_most_lines_have_one(conll, tmp_path):
    path = conll(HEADER + "d 0 0 Ada NNP\nd 0 1 met VBD\nd 0 2 her PRP\n" + END)
    repair_file(path, tmp_path / "out.conll")
    assert corefeval.read(tmp_path / "out.conll")["d"].tags == ["NNP", "VBD", "PRP"]


def against(conll, response: str, key: str):
    (inspection,) = inspect(conll(response), against=corefeval.read(conll(key)))
    names = ("missing-document", "extra-document", "nothing-pairs", "differing-tokens")
    wanted = (*names, "truncated-document")
    return [(f.kind, f.document, f.line, f.message) for f in inspection.findings
            if f.kind in wanted]  # fmt: skip


def test_documents_that_do_not_pair_get_suggestions(conll):
    key = document("(1)", "(1)") + document("(1)", "(1)", name="bc/harbour")
    response = document("(1)", "(1)") + document("(1)", "(1)", name="bc/harbor")
    missing, extra = against(conll, response, key)
    assert missing[:3] == ("missing-document", "bc/harbour; part 000", None)
    assert missing[3].endswith("did you mean ‘bc/harbor; part 000’?")
    assert extra[:3] == ("extra-document", "bc/harbor; part 000", 6)
    ((kind, *_),) = against(conll, document("-", name="x"), document("-", name="y"))
    assert kind == "nothing-pairs"


def test_texts_that_differ_and_texts_that_are_cut(conll):
    names = ("a", "b", "c", "e")
    key = "".join(document("(1)", "-", "-", "(1)", name=name) for name in names)
    response = (
        document("(1)", "-", "-", "(1)", name="a").replace("word1", "other").replace("word3", "too")
    )
    response += document("(1)", "-", name="b") + document("(1)", "-", "-", "(1)", "-", name="c")
    response += document("(1)", "-", "-", "(1)", name="e").replace("word1", "x")
    first, second, third, cut = against(conll, response, key)
    assert first[:3] == ("differing-tokens", "a; part 000", 3)
    assert first[3].startswith("token 1 is ‘other’, not ‘word1’ as on line 3 of ")
    assert second[:2] == ("differing-tokens", "c; part 000")
    assert second[3] == "5 tokens of the key's 4"
    assert third[:2] == ("differing-tokens", "e; part 000")
    assert cut == ("truncated-document", "b; part 000", 9, "2 tokens of the key's 4, then it ends")


def test_formats_may_be_mixed(conll):
    text = '{"doc_key": "d_0", "sentences": [["word0", "word1"]], "clusters": [[[0, 0], [1, 1]]]}\n'
    assert against(conll, text, document("(1)", "(1)")) == []
    ((kind, *_),) = against(conll, text.replace("word1", "x"), document("(1)", "(1)"))
    assert kind == "differing-tokens"


def test_a_folder_is_checked_file_by_file_and_as_a_whole(tmp_path):
    (tmp_path / "one.conll").write_text(document("(1", "-"))
    (tmp_path / "two.conll").write_text(document("(1)", "(1)"))
    one, two = inspect(tmp_path)
    assert [f.kind for f in one.findings] == ["unbalanced-bracket", "no-mentions"]
    assert [f.kind for f in two.findings] == ["repeated-document"]
    (tmp_path / "two.conll").write_text(document("(1)", "(1)", name="e").replace("word1", "x"))
    key = tmp_path.parent / "key.conll"
    key.write_text(document("-", "-") + document("-", "-", name="e") + document("-", name="f"))
    *_, two, whole = inspect(tmp_path, against=corefeval.read(key))
    assert [(f.kind, f.line) for f in two.findings] == [("differing-tokens", 3)]
    assert [(f.kind, f.document) for f in whole.findings] == [("missing-document", "f; part 000")]


def test_a_stray_text_in_a_folder_or_zip_is_left_out_as_in_scoring(run, tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "notes.txt").write_text("These are notes.\n")
    assert run("check", folder)[0] == 1  # there is nothing else
    (folder / "key.conll").write_text(document("(1)", "(1)"))
    with zipfile.ZipFile(tmp_path / "files.zip", "w") as archive:
        for file in sorted(folder.iterdir()):
            archive.write(file, file.name)
    for path in (folder, tmp_path / "files.zip"):
        assert run("score", path, path)[0] == 0
        status, out, _ = run("check", path)
        assert status == 0
        assert "notes.txt passes: 1 warning" in out
        assert "this is not in a format that corefeval knows: ‘These are notes.’" in out
        assert run("check", path, "--strict")[0] == 1


@st.composite
def overlapping(draw):
    """Mentions of a few entities over a dozen tokens."""
    mentions = draw(st.lists(st.tuples(st.integers(0, 2), spans(10)), min_size=1, max_size=12))
    return sorted(mentions, key=lambda mention: (mention[1][0], -mention[1][1]))


@given(mentions=overlapping())
def test_crossing_and_nesting_is_what_comparing_all_pairs_finds(mentions):
    corpus = corpus_from_arrays(
        entity=[entity for entity, _ in mentions],
        start=[start for _, (start, _) in mentions],
        end=[end for _, (_, end) in mentions],
        document_ids=["d"],
    )
    expected = set()
    for one, (a, b) in set(mentions):
        for other, (c, d) in set(mentions):
            if a < c < b < d:
                expected.add(("crossing-mentions" if one == other else "crossing-entities", (c, d)))
            if one == other and a <= c and d <= b and (a, b) != (c, d):
                expected.add(("self-nested-mention", (c, d)))
    kinds = ("crossing-mentions", "crossing-entities", "self-nested-mention")
    assert expected == {(f.kind, f.span) for f in check_corpus(corpus) if f.kind in kinds}
    copies = {m for m in mentions if mentions.count(m) > 1}
    repeated = [f for f in check_corpus(corpus) if f.kind == "repeated-mention"]
    assert len(repeated) == len(copies)


def test_very_long_mentions_are_shown_by_their_first_words(found):
    kinds = found(document("(1", "(1", *["-"] * 200, "1)", "1)"))
    (finding,) = kinds["self-nested-mention"]
    assert finding.span == (1, 203)
    assert finding.text.split() == [*(f"word{n}" for n in range(1, 101)), "…"]


def test_many_entities_on_one_span_are_not_all_named(found):
    names = [f"{number}" for number in range(30)]
    kinds = found(document("|".join(f"({name})" for name in names)))
    (finding,) = kinds["span-in-two-entities"]
    assert finding.message.startswith("in the entities ‘0’ and ‘1’ and ")
    assert finding.message.endswith("‘9’ and 20 more")


def test_many_unbalanced_brackets_of_one_cell_are_one_finding(found):
    cell = "|".join(f"({number}" for number in range(1000))
    first, other = found(document(cell, "-", "7)", "x)"))["unbalanced-bracket"]
    assert (first.line, other.line) == (2, 5)
    assert "never closes, and 998 other brackets of its cell have no partner" in first.message


def test_real_files(shared):
    (raw,) = inspect(shared / "gum" / "xrenner-raw.conll")
    (key,) = inspect(shared / "gum" / "key.conll")
    kinds = [finding.kind for finding in raw.findings]
    assert kinds.count("span-in-two-entities") == 6
    assert not raw.fails()
    assert {finding.severity for finding in key.findings} == {"note"}


# The command line


def test_text_shows_five_of_a_kind_unless_all_are_asked_for(run, conll):
    path = conll(document(*["(1"] * 8), "many.conll")
    status, out, _ = run("check", path)
    assert status == 1
    assert out.count("never closes: found") == 5
    assert "  … and 3 more (--all shows them)\n" in out
    assert out.endswith(
        "\n8 errors (scoring stops, or mentions are lost): unbalanced-bracket 8\n"
        "1 warning (scores may not mean what you think): no-mentions 1\n"
        "0 notes (good to know)\n\n"
        f"{path} fails: 8 errors, 1 warning\n"
    )
    status, out, _ = run("check", path, "--all")
    assert out.count("never closes: found") == 8


def test_json_has_everything(run, conll):
    path = conll(document(*["(1"] * 8))
    report = json.loads(run("check", path, "-f", "json")[1])
    assert report["summary"] == {"errors": 8, "warnings": 1, "notes": 0}
    (file,) = report["files"]
    assert (file["format"], file["documents"], file["tokens"]) == ("conll", 1, 8)
    fields = {"severity", "kind", "file", "line", "document", "span", "text", "message",
              "effect", "fix"}  # fmt: skip
    assert all(set(finding) == fields for finding in file["findings"])
    assert len(file["findings"]) == 9


def test_exit_status(run, conll):
    assert run("check", KEY)[0] == 0
    assert run("check", EAGER, "--against", KEY)[0] == 0
    assert run("check", "nowhere.conll")[0] == 1
    assert run("check", KEY, conll(document("(1")))[0] == 1
    assert run("check")[0] == 2
    assert run("check", KEY, "--agianst", KEY)[0] == 2
    assert run("check", KEY, "--input-format", "xml")[0] == 2
    assert run("check", KEY, "--against", "nowhere.conll")[0] == 1


def test_color_only_on_request(conll):
    inspections = inspect(conll(BROKEN))
    plain, colored = render_text(inspections), render_text(inspections, color=True)
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == plain


def test_every_kind_is_documented():
    page = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([\w-]+)` \| (\w+) \| (.*) \|$", page, re.MULTILINE)
    assert listed == [(kind.name, kind.severity, kind.summary) for kind in KINDS.values()]

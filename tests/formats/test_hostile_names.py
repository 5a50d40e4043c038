"""Ids, names, words and file names that would act instead of being seen: harmless everywhere."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corefeval
from conllu_texts import row
from corefeval.display import csv_cell, csv_text, json_text, shorten, visible
from corefeval.output.forms import escape_latex as in_latex

ACTS = "\x1b[2J\x00\x9b31m\x07\x7f\u202e\u2066\u200f"
WORDS = ["Ada\u202e", "saw", "\x1b[31mher", ".", "@She", "=left", "\u2067x\x9b2J", "she"]
KEY_CLUSTERS = [[[0, 0], [2, 2], [4, 4]], [[1, 1], [7, 7]]]
RESPONSE_CLUSTERS = [[[0, 0], [4, 4]], [[2, 2], [7, 7]], [[6, 6]]]

# What a screen must never be sent: controls but for the end of a line, and marks of direction.
DANGER = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def files(tmp_path):
    """A key and a response of three documents; the response's file name is as bad as its ids."""
    paths = []
    for name, clusters in (("key", KEY_CLUSTERS), ("mine\x1b[2J\u202e\x9b", RESPONSE_CLUSTERS)):
        documents = [
            {
                "doc_key": f"=doc{number}{ACTS}",
                "sentences": [WORDS[:4], WORDS[4:]],
                "clusters": clusters,
                "speakers": [["\x1b]0;x\x07"] * 4] * 2,
            }
            for number in range(3)
        ]
        paths.append(tmp_path / f"{name}.jsonl")
        paths[-1].write_text("\n".join(map(json.dumps, documents)) + "\n")
    return paths


COMMANDS = [
    ("score", "-m", "muc,b3", "--by-document"),
    ("score", "-m", "muc", "--by", "size", "--ci"),
    ("score", "-m", "papers"),  # what it lacks is in the notices
    ("errors",),
    ("errors", "--list", "all"),
    ("agree", "--by-document"),
    ("compare", "-m", "muc", "--pairs", "--differences", "--agreement", "--power"),
    ("stats",),
    ("check", "--all"),
    ("lab", "boundary"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("format", ["text", "json", "csv", "markdown", "latex", "conll"])
def test_nothing_acts_on_a_screen(files, run, command, format):
    key, response = files
    arguments = [*command, "-f", format]
    paths = {
        "compare": [key, response, f"other\x1b[2J={key}"],
        "stats": [response, key],
        "check": [response, "--against", key],
    }.get(command[0], [key, response])
    place = 2 if command[0] == "lab" else 1
    status, out, err = run(*arguments[:place], *paths, *arguments[place:])
    if status and format not in ("text", "json"):  # no such form, or what it needs is not there
        assert not DANGER.search(err)
        return
    assert status == 0, err
    shown = out.replace("\tPrecision", "").replace("\tF1", "") if format == "conll" else out
    assert not DANGER.search(shown) and not DANGER.search(err)
    if format == "text" and command[0] in ("score", "errors", "stats", "check"):
        assert "\\x1b[2J" in out and "\\u202e" in out
    if format == "json":
        json.loads(out)


@pytest.mark.parametrize("color", [True, False])
def test_our_own_colours_are_the_only_codes(files, color):
    from corefeval.output import render

    key, response = files
    result = corefeval.score(key, response, metrics="muc")
    text = render([result], by_document=True, color=color)
    assert not DANGER.search(re.sub(r"\x1b\[[0-9;]*m", "", text) if color else text)
    assert ("\x1b[1m" in text) == color


def test_errors_are_one_message(files, run):
    missing = "none\x1b[2J\u202e\nerror: all is well"
    status, _, err = run("score", files[0], missing)
    assert status == 1 and "\\x1b[2J\\u202e" in err
    assert not DANGER.search(err)
    assert [line for line in err.splitlines() if line.startswith("error:")] == err.splitlines()[:1]


def test_json_keeps_the_truth(files, run):
    out = run("score", *files, "-m", "muc", "-f", "json")[1]
    response = json.loads(out)["responses"][0]
    assert response["documents"][0]["id"] == f"=doc0{ACTS}"
    assert response["name"] == files[1].name


@given(st.text())
def test_visible_text_does_nothing(text):
    shown = visible(text)
    assert not any(unicodedata.category(one) in ("Cc", "Cs", "Zl", "Zp") for one in shown)
    assert not any(unicodedata.bidirectional(one) in _EMBEDDINGS for one in shown)
    assert visible(shown) == shown
    assert json.loads(json_text(text)) == text
    assert not DANGER.search(json_text(text))


_EMBEDDINGS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def test_scripts_keep_what_they_need():
    for text in ("می‌خواهم", "क्‍ष", "👩‍👩‍👧", "שלום", "naïve – ‘so’"):
        assert visible(text) == text


@given(st.text(min_size=1), st.integers(5, 80))
def test_shortened_text_keeps_both_ends(text, limit):
    short = shorten(text, limit)
    assert len(short) <= limit
    assert short == text or (short[0] == text[0] and short[-1] == text[-1] and "…" in short)


@given(st.lists(st.text(), min_size=1), st.floats(allow_nan=False))
def test_no_cell_of_csv_is_a_formula(texts, number):
    [header, row] = csv.reader(io.StringIO(csv_text(["x"], [[*texts, number]])))
    assert header == ["x"] and float(row.pop()) == number
    for text, cell in zip(texts, row, strict=True):
        assert not DANGER.search(cell)
        if cell[:1] in ("=", "+", "-", "@"):
            float(cell)
        if text[:1].isalnum():
            assert cell == visible(" ".join(text.splitlines()))


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+1 555", "'+1 555"),
        ("-x", "'-x"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\\t=1"),
        ("\r=1", "' =1"),
        ("-0.5", "-0.5"),
        ("a=1", "a=1"),
        ("'", "'"),
        (-0.5, -0.5),
    ],
)
def test_what_begins_like_a_formula_gets_an_apostrophe(text, cell):
    assert csv_cell(text) == cell


@pytest.mark.parametrize("command", [c for c in COMMANDS if c[0] not in ("stats", "check")],
                         ids=" ".join)  # fmt: skip
def test_csv_of_every_command_is_safe_to_open(files, run, command):
    key, response = files
    place = 2 if command[0] == "lab" else 1
    paths = [key, f"+mine()={response}"]
    paths += [f"@other={key}"] if command[0] == "compare" else []
    status, out, err = run(*command[:place], *paths, *command[place:], "-f", "csv")
    assert status == 0, err
    for record in csv.reader(io.StringIO(out)):
        for cell in record:
            assert not cell.startswith(("=", "+", "@", "\t", "\r"))
            assert not cell.startswith("-") or float(cell) <= 0


@given(st.text())
def test_latex_has_no_command_but_ours(text):
    """After our own commands, nothing is left that LaTeX would take for one."""
    plain = in_latex(text)
    commands = r"\\text(backslash|asciitilde|asciicircum|dagger|daggerdbl|bar|less|greater)\{\}"
    commands += r"|\\ldots\{\}|\$\\?[a-z]+\$|\$-\$|\\textsuperscript\{3\}|\\textsubscript\{[em]\}"
    rest = re.sub(rf"{commands}|\\[&%$#_{{}}]", "", plain)
    assert not re.search(r"[\\{}$&#^_%~<>|]", rest)
    assert not DANGER.search(plain)


@pytest.mark.parametrize("format", ["text", "markdown", "latex"])
@pytest.mark.parametrize("command", ["score", "compare", "errors", "agree", "stats"])
def test_names_of_5000_characters_fit(tmp_path, run, command, format):
    name = "x" * 2500 + "_" + "y" * 2500
    rows = {"key": ["(0", "0)", "(0)", "(1)", "(1)"], "mine": ["(0", "0)", "(1)", "(1)", "(0)"]}
    paths = []
    for side, cells in rows.items():
        lines = [f"{name} 0 {n} word {cell}" for n, cell in enumerate(cells)]
        path = tmp_path / f"{side}.conll"
        path.write_text(
            "\n".join((f"#begin document ({name}); part 000", *lines, "#end document", ""))
        )
        paths.append(path)
    mine = f"{name}={paths[1]}"
    arguments = {
        "score": [paths[0], mine, "-m", "muc", "--by-document"],
        "compare": [paths[0], mine, f"b{name}={paths[0]}", "-m", "muc", "--segments", "2"],
        "errors": [paths[0], mine],
        "agree": [paths[0], mine, f"b{name}={paths[1]}", "--by-document"],
        "stats": paths,
    }[command]
    status, out, err = run(command, *arguments, "-f", format)
    if status == 2 and format != "text":
        return
    if command == "compare" and status:  # so short a text cannot be cut
        assert "segments" in err or "document" in err
        return
    assert status == 0, err
    widest = max(len(line) for line in out.splitlines() if "match:" not in line)
    assert widest <= {"text": 120, "markdown": 400, "latex": 900}[format]
    assert "…" in out or "ldots" in out or command == "stats"


def test_the_report_shows_controls_and_isolates_names(files):
    made = corefeval.report(files[0], {f"mine{ACTS}": files[1]}, metrics="muc, b3")
    data = json.loads(re.search(r'id="data">(.*?)</script>', made.html, re.S)[1])
    assert not DANGER.search(json.dumps(data, ensure_ascii=False).replace("\n", ""))
    assert not re.search(r"\\u00[01]|\\u202e\"", json.dumps(data).replace("\\\\u", ""))
    assert data["documents"][0].startswith("=doc0\\x1b[2J\\x00")
    assert data["texts"][0][0]["words"].split(" ")[0] == "Ada\\u202e"
    assert len(data["texts"][0][0]["words"].split(" ")) == len(WORDS)
    assert not DANGER.search(re.sub(r"<script.*?</script>", "", made.html, flags=re.S))


def test_notebooks_show_controls_and_isolate_names(files):
    result = corefeval.score(*files, metrics="muc")
    corpus = corefeval.read(files[0])
    for html in (result._repr_html_(), corpus[0]._repr_html_()):
        assert not DANGER.search(html)
        assert "<bdi>" in html


def test_a_token_does_not_turn_the_line_round(visit, report_folder):
    """With U+202E in a word the words behind it still stand to its right."""
    path = report_folder / "turned.html"
    documents = {"doc_key": "d\u202ex", "sentences": [["Ada\u202e", "saw", "her", "again"]],
                 "clusters": [[[0, 0], [2, 2]]]}  # fmt: skip
    source = report_folder / "turned.jsonl"
    source.write_text(json.dumps(documents) + "\n")
    corefeval.report(source, {"mine\u202e": source}, metrics="muc").save(path)
    page = visit(path.as_uri() + "#view=text")
    text = page.inner_text("#reading")
    assert "\u202e" not in text and "\\u202e" in text
    places = page.evaluate(
        """() => {
        const walker = document.createTreeWalker(document.getElementById("reading"), 4);
        const found = {};
        while (walker.nextNode()) {
            for (const word of ["Ada", "saw", "again"]) {
                const at = walker.currentNode.textContent.indexOf(word);
                if (at < 0) continue;
                const range = document.createRange();
                range.setStart(walker.currentNode, at);
                range.setEnd(walker.currentNode, at + word.length);
                found[word] = range.getBoundingClientRect().left;
            }
        }
        return found;
    }"""
    )
    assert places["Ada"] < places["saw"] < places["again"]


CONLLUA = "1\ta" + "\t_" * 13 + "\n\n"
CRAC = "Ada|[e1] ran\n"


@pytest.mark.parametrize(
    ("format", "content"),
    [
        ("corefud", f"# newdoc id = col_2\n{row(1, 'a')}\n\n# newdoc\n{row(1, 'b')}\n\n"),
        ("corefud", f"# newdoc\n{row(1, 'a')}\n\n# newdoc id = col\n{row(1, 'b')}\n\n"),
        ("conllua", f"# newdoc id = col_2\n{CONLLUA}# newdoc\n{CONLLUA}"),
        ("crac-text", f"# newdoc id = col_2\n{CRAC}{CRAC}"),
        ("json", '{"doc_key": "col_1", "sentences": [], "clusters": []}\n'
                 '{"sentences": [], "clusters": []}\n'),
    ],
)  # fmt: skip
def test_a_nameless_document_gets_a_name_that_no_other_has(tmp_path, format, content):
    path = tmp_path / "col.txt"
    path.write_text(content)
    names = [str(document) for document in corefeval.read(path, format=format).documents]
    assert len(set(names)) == 2
    assert all(name.startswith("col") for name in names)

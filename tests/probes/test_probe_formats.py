"""Probes in their formats, and mistakes in them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import corefeval
from conftest import ROOT
from corefeval.cli import main
from corefeval.diagnostics import InputError

DATA = ROOT / "tests" / "data" / "probes"


def load(name):
    return json.loads((DATA / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", load("bad.json"), ids=lambda case: case["name"])
def test_bad_input(case, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in case["files"].items():
        Path(name).write_text(text, encoding="utf-8")
    assert main(["probe", *case["arguments"]]) == case["exit"]
    told = capsys.readouterr().err
    assert told.count("error:") == 1
    assert all(words in told for words in case["says"]), told


MORE_BAD = [
    ('{"id": "x", "text": "Ann left.", "target": [0, 3]}', "not an item"),
    (
        '{"id": "x", "text": "Ann left.", "target": [3, 4], "candidates": [[0, 3]]}',
        "a span has no words",
    ),
    ('{"id": "x", "text": "Ann left.", "target": [0, 3], "candidates": []}', "26 candidates"),
    ('{"id": "x", "text": ["[* she]"], "gold": "A"}', "a list of tokens"),
    ('{"id": "x", "tokens": [1, 2], "target": [0, 1], "candidates": [[1, 2]]}', "not an item"),
    ('{"id": "", "text": "[A Ann] [* she]"}', "must have an id"),
    (
        '{"id": "x", "text": "[A Ann] [* she]", "human": {"A": -1}}',
        "a number of people: -1 is not between 0",
    ),
    ('{"id": "x", "text": "[A Ann] [* she]", "gold": [["A"]]}', "not an item"),
]


@pytest.mark.parametrize(("line", "problem"), MORE_BAD)
def test_bad_items(line, problem, tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=problem) as raised:
        corefeval.read_probe(path, format="probe")
    assert raised.value.line == 1


@pytest.mark.parametrize("name", ["baker.guest.male", "baker.x.guest.0.male", "baker.guest.2.male"])
def test_an_id_of_winogender_has_four_parts(name, tmp_path):
    (tmp_path / "p.tsv").write_text(
        f"sentid\tsentence\n{name}.txt\tThe baker told the guest that he left.\n"
    )
    with pytest.raises(InputError, match=r"p\.tsv, line 2"):
        corefeval.read_probe(tmp_path / "p.tsv")


@pytest.mark.parametrize("name", ["gap.tsv", "all_sentences.tsv", "winopron.tsv", "own.tsv"])
def test_blank_lines_and_other_line_ends(name, tmp_path):
    path = DATA / "probes" / name
    text = "\ufeff\n\n" + path.read_text(encoding="utf-8").rstrip("\n").replace("\n", "\r\n\r\n")
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    assert corefeval.read_probe(tmp_path / name).items == corefeval.read_probe(path).items


def test_an_id_in_two_files_names_both(tmp_path):
    for name in ("one.tsv", "two.tsv"):
        (tmp_path / name).write_text("id\ttext\nx\t[A Ann] saw [* her]\n")
    with pytest.raises(InputError, match=r"two\.tsv, line 2: .*one\.tsv, line 2"):
        corefeval.read_probe([tmp_path / "one.tsv", tmp_path / "two.tsv"])


def test_a_plain_key_is_not_a_probe(tmp_path, capsys):
    assert main(["example", os.fspath(tmp_path)]) == 0
    capsys.readouterr()
    key = tmp_path / "key.conll"
    parts = tmp_path / "parts.conll"
    parts.write_text(
        "".join(
            f"#begin document (d); part {part:03d}\nd {part} 0 It - - - - - - - (0)\n"
            f"d {part} 1 is - - - - - - - -\nd {part} 2 Ann - - - - - - - (1)\n\n#end document\n"
            for part in (0, 1)
        )
    )
    for path in (key, parts):
        assert main(["probe", os.fspath(path), os.fspath(path)]) == 1
        message = capsys.readouterr().err
        assert "not a probe" in message
        assert "gap, winogender" in message
        assert message.count("error:") == 1


BAD_TABLES = [
    ("g-1\tTrue\tFalse\ng-2\tTrue\n", 2),
    ("g-1\tTrue\tFalse\ng-2\tTrue\tFalse\tTrue\n", 2),
    ("generation\tx\nA\tB\n", 2),
    ("id\tanswer\ng-1\n", 2),
]


@pytest.mark.parametrize(("text", "line"), BAD_TABLES)
def test_bad_tables(text, line, tmp_path):
    (tmp_path / "r.tsv").write_text(text)
    with pytest.raises(InputError) as raised:
        corefeval.probe(DATA / "probes" / "gap.tsv", tmp_path / "r.tsv")
    assert raised.value.line == line


READ = {
    "gap.tsv": (
        "gap",
        4,
        {"id": "g-1", "gold": ("A",), "groups": {"gender": "feminine", "gold": "A"}},
    ),
    "pro_stereotyped_type1.txt.dev": (
        "winobias",
        3,
        {
            "id": "type1.dev.pro.1",
            "gold": ("A",),
            "pair": "type1.dev.1",
            "groups": {"stereotype": "pro", "type": "type1", "part": "dev", "gender": "masculine"},
        },
    ),
    "dev_type1.conll": (
        "winobias-conll",
        2,
        {"id": "nw/dev_type1/stereotype//0", "gold": ("A",), "pair": "type1.dev.1"},
    ),
    "all_sentences.tsv": (
        "winogender",
        6,
        {"id": "baker.guest.0.male", "gold": ("A",), "pair": "baker.guest.0"},
    ),
    "winopron.tsv": (
        "winopron",
        8,
        {"id": "baker.guest.accusative.him.0", "gold": ("A",), "pair": "baker.guest.accusative.0"},
    ),
    "IC_ambiguous.txt": ("ambicoref", 2, {"id": "IC.ambiguous.1", "gold": None, "pair": "IC.1"}),
    "knowref.json": ("knowref", 40, {"id": "knowref.1", "gold": ("A",), "pair": None}),
    "own.jsonl": ("probe", 3, {"id": "x1", "gold": ("A",), "human": {"A": 7.0, "unsure": 2.0}}),
    "own.tsv": ("probe-tsv", 60, {"id": "t0", "gold": ("A", "C"), "pair": "p0"}),
}


@pytest.mark.parametrize("name", READ)
def test_formats(name, tmp_path):
    format, number, expected = READ[name]
    probe = corefeval.read_probe(DATA / "probes" / name)
    assert (probe.format, len(probe.items)) == (format, number)
    assert {field: getattr(probe.items[0], field) for field in expected} == expected
    probe.write(tmp_path / "items.jsonl")
    assert corefeval.read_probe(tmp_path / "items.jsonl").items == probe.items


def words_of(item):
    return [candidate.text for candidate in item.candidates]


def test_what_public_files_need():
    bias = corefeval.read_probe(str(DATA / "probes" / "*_stereotyped_*"))
    assert words_of(bias.items[0]) == ["The carpenter", "the nurse"]
    third = next(item for item in bias.items if item.id == "type1.dev.pro.3")
    assert words_of(third) == ["The janitor", "an editor"]
    assert third.text[slice(*third.target)] == "he"
    single = corefeval.read_probe(DATA / "probes" / "winopron.tsv").items[-1]
    assert single.candidates[0] == ("A", "baker", ())
    top = corefeval.read_probe(DATA / "probes" / "TOP_ambiguous.txt").items
    assert [words_of(item) for item in top] == [["Jude", "the king"], ["The monk", "Karl"]]
    (lady,) = corefeval.read_probe(DATA / "probes" / "ECS-1_ambiguous.txt").items
    assert (words_of(lady), lady.text[slice(*lady.target)]) == (["The queen", "Nora"], "her")


def test_a_folder_leaves_out_what_is_no_probe(tmp_path):
    (tmp_path / "a.tsv").write_text("id\ttext\nx\t[A Ann] saw [* her]\n")
    (tmp_path / "README").write_text("Words.\n")
    probe = corefeval.read_probe(tmp_path)
    assert [notice.kind for notice in probe.notices] == ["skipped-files"]


def test_labels_are_single_letters():
    item = {"id": "1", "text": "Ann saw Bea she", "target": [12, 15], "gold": ["A"]}
    for labels in (["AB", ""], ["AA"], ["A", "A"]):
        spans = [[0, 3], [8, 11]]
        candidates = [{"label": n, "span": s} for n, s in zip(labels, spans, strict=False)]
        with pytest.raises(InputError, match="each with its own letter"):
            corefeval.read_probe([{**item, "candidates": candidates}])


@pytest.mark.parametrize("source", [None, 5, [5], [{"id": "1", "text": "[A Ann] [* she]"}, 5]])
def test_what_is_no_probe_is_refused(source):
    with pytest.raises(corefeval.UsageError, match="a probe is a path"):
        corefeval.read_probe(source)


def test_errors_of_items_show_no_internals():
    item = {"id": "1", "text": "Ann saw her", "target": [8, 11], "candidates": None}
    with pytest.raises(InputError, match="a value is missing or of a wrong kind"):
        corefeval.read_probe([item])

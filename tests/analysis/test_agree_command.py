"""The command `agree`: its tables, its formats, and what goes wrong."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import corefeval
from corefeval.analysis.agreement import agree

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))


def test_the_command(run):
    status, out, err = run("agree", KEY, CAUTIOUS, EAGER)
    assert status == 0
    assert "repeated mention dropped" in err
    agreement = agree([KEY, CAUTIOUS, EAGER])
    assert f"{agreement.alpha['masi']:.3f}" in out
    assert f"{100 * agreement.means['conll']:.2f}" in out
    assert agreement.signature in out
    assert max(map(len, out.splitlines())) <= 100
    assert run("agree", KEY, EAGER, "--quiet")[2] == ""


def test_json_and_csv(run, tmp_path):
    target = tmp_path / "agreement.json"
    status, out, _ = run("agree", f"ann={KEY}", f"bob={EAGER}", "-f", "json", "-o", target)
    assert (status, out) == (0, "")
    report = json.loads(target.read_text())
    agreement = agree({"ann": KEY, "bob": EAGER})
    assert report["annotators"] == ["ann", "bob"]
    assert report["alpha"]["dice"]["alpha"] == agreement.alpha["dice"]
    assert report["f1"]["lea"]["pairs"][0]["f1"] == agreement.pairwise["lea"]["ann", "bob"]
    assert len(report["documents"]) == 9
    rows = list(csv.DictReader(io.StringIO(run("agree", KEY, EAGER, "-f", "csv")[1])))
    assert len(rows) == 4 + 2 * 8
    assert {row["measure"] for row in rows} == {"alpha", "f1"}
    rows = run("agree", KEY, EAGER, "-f", "csv", "--by-document")[1].splitlines()
    assert len(rows) == 1 + 10 * (4 + 2 * 8)


@pytest.mark.parametrize("format", ["text", "markdown", "latex"])
@pytest.mark.parametrize("n", [2, 3])
def test_tables(run, format, n):
    paths = [KEY, CAUTIOUS, EAGER][:n]
    status, out, _ = run("agree", *paths, "-f", format, "-m", "muc", "--by-document")
    assert status == 0
    agreement = agree(paths, metrics="muc")
    for value in agreement.alpha.values():
        assert f"{value:.3f}" in out
    for document in agreement.documents:
        assert f"{document.alpha['masi']:.3f}" in out
        assert f"{100 * document.means['muc']:.2f}" in out


def test_tables_say_where_the_key_matters(run, conll):
    text = "#begin document (d); part 000\nd\t0\t0\ta\t(1)\nd\t0\t1\tb\t(1)\nd\t0\t2\tc\t({})\n\n"
    one, two = conll(text.format(1)), conll(text.format(2))
    assert "BLANC depends on who is the key: the mean of both ways" in run("agree", one, two)[1]
    three = run("agree", f"a={one}", f"b={two}", f"c={two}")[1]
    assert "BLANC depends on who is the key: keys are in rows" in three
    assert "depends" not in run("agree", one, two, "-m", "conll")[1]


def test_long_names_get_numbers(run):
    names = [f"somebody with a long name {letter}" for letter in "xyz"]
    sources = [f"{name}={path}" for name, path in zip(names, (KEY, CAUTIOUS, EAGER), strict=True)]
    out = run("agree", *sources, "-m", "lea")[1]
    assert "2 somebody with a long name y" in out
    (headings,) = [line.split() for line in out.splitlines() if line.startswith("Metric")]
    assert headings == ["Metric", "Annotator", "1", "2", "3", "Mean"]


def test_only_what_was_asked_for(run):
    out = run("agree", KEY, EAGER, "--distances", "masi", "-m", "lea", "--unmarked", "missing")[1]
    assert "MASI" in out
    assert "Jaccard" not in out
    assert "CoNLL" not in out
    assert "unmarked:missing" in out


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("agree", KEY), 2, "OTHER"),
        (("agree", KEY, "nowhere"), 1, "cannot be read"),
        (("agree", KEY, EAGER, "--distance", "masi"), 2, "did you mean --distances?"),
        (("agree", KEY, EAGER, "--distances", "far"), 2, "there is no distance 'far'"),
        (("agree", KEY, EAGER, "--unmarked", "maybe"), 2, "maybe"),
        (("agree", KEY, EAGER, "-m", "mucc"), 2, "did you mean 'muc'?"),
        (("agree", f"a={KEY}", f"a={EAGER}"), 2, "two annotators are called 'a'"),
        (("agree", "-", "-"), 2, "only once"),
        (("agree", KEY, EAGER, "--file-format", "xml"), 2, "there is no format 'xml'"),
        (("agree", KEY, EAGER, "-o", "/no/such/folder/x"), 1, "cannot be written"),
    ],
)
def test_what_goes_wrong(run, arguments, status, message):
    done, out, err = run(*arguments)
    assert done == status
    assert message in err
    assert "Traceback" not in out + err


def test_an_input_is_never_overwritten(run, tmp_path):
    path = tmp_path / "copy.conll"
    path.write_bytes(Path(KEY).read_bytes())
    assert run("agree", KEY, path, "-o", path)[0] == 2
    assert corefeval.score(KEY, path)["lea"].f1 == 1.0

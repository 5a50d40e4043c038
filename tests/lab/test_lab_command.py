"""`corefeval lab`: experiments from the command line."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import pytest

import corefeval
from corefeval.figures import can_draw
from corefeval.lab import EXPERIMENTS
from corefeval.output import render

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))
NEEDS_CHARTS = pytest.mark.skipif(not can_draw(), reason="the extra `charts` is not installed")


def test_the_list(run):
    status, out, err = run("lab", "list")
    assert (status, err) == (0, "")
    for name, experiment in EXPERIMENTS.items():
        assert name in out
        assert experiment.summary in out
        assert experiment.reference in out
    assert run("lab")[1] == out
    assert [row["name"] for row in json.loads(run("lab", "list", "-f", "json")[1])] == list(
        EXPERIMENTS
    )
    rows = list(csv.DictReader(io.StringIO(run("lab", "list", "-f", "csv")[1])))
    assert [row["name"] for row in rows] == list(EXPERIMENTS)


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name != "trust"])
def test_tables_and_statements(run, name):
    status, out, err = run("lab", name)
    assert (status, err) == (0, "")
    result = EXPERIMENTS[name].run()
    assert all(chart.title in out for chart in result.charts)
    assert "\nHolds\n" in out
    failing = [one for one in result.statements if not one.holds]
    assert ("\nDoes not hold\n" in out) == bool(failing)
    assert out.rstrip().endswith("seed 0")


def test_the_scorecard(run):
    status, out, err = run("lab", "trust", "--metrics", "muc,lea")
    assert (status, err) == (0, "")
    line = next(line for line in out.splitlines() if line.startswith("0 where nothing"))
    assert line.split()[-2:] == ["✓", "✓"]
    assert "key {a}: {a} scores 0.00" in out


def test_data_formats(run):
    status, out, _ = run("lab", "splits", "-m", "muc,lea", "-f", "json")
    assert status == 0
    data = json.loads(out)
    assert data["experiment"] == "splits"
    assert {row["metric"] for row in data["rows"]} == {"muc", "lea"}
    rows = list(csv.DictReader(io.StringIO(run("lab", "splits", "-m", "muc,lea", "-f", "csv")[1])))
    assert len(rows) == len(data["rows"])


def test_files_of_yours(run):
    status, out, err = run("lab", "mention-identification", KEY, f"mine={EAGER}", "-m", "b3,lea")
    assert status == 0, err
    assert "key key.conll, response mine, seed 0" in out
    assert "LEA: recall stays the same" in out.partition("Does not hold")[0]
    assert "B³: recall stays the same" in out.partition("Does not hold")[2]


def test_what_was_skipped_is_told_once(run, conll):
    """Without tags no kinds are known: one line, however many metrics need them."""
    text = "#begin document (d); part 000\nd 0 0 A (0)\nd 0 1 b (0)\n\n#end document\n"
    path = conll(text)
    status, _, err = run("lab", "mention-tagger", path, path)
    assert status == 0
    assert err.count("note:") == 1
    assert "lmuc" in err
    assert run("lab", "mention-tagger", path, path, "-q")[2] == ""


def test_seeds(run):
    first, again = (run("lab", "boundary", "--seed", "3")[1] for _ in range(2))
    assert first == again != run("lab", "boundary")[1]


# Files that are written ---------------------------------------------------------------------------


@NEEDS_CHARTS
def test_everything_is_written(run, tmp_path):
    folder = tmp_path / "new" / "folder"
    status, out, err = run("lab", "boundary", "-m", "muc,lea", "-o", folder)
    assert status == 0
    assert "Holds" in out
    names = {f"boundary.{ending}" for ending in ("csv", "json", "txt", "svg", "png", "html")}
    assert {path.name for path in folder.iterdir()} == names
    assert err.startswith("note: 6 files in ")
    result = EXPERIMENTS["boundary"].run(metrics="muc,lea")
    assert (folder / "boundary.csv").read_text(encoding="utf-8") == render(result, format="csv")
    assert json.loads((folder / "boundary.json").read_text(encoding="utf-8"))["rows"]
    assert (folder / "boundary.png").read_bytes().startswith(b"\x89PNG")


@NEEDS_CHARTS
def test_figures_are_chosen(run, tmp_path):
    run("lab", "boundary", "-m", "muc", "-o", tmp_path, "--figures", "svg", "-q")
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".csv", ".json", ".svg", ".txt"]
    run("lab", "splits", "-m", "muc", "-o", tmp_path / "none", "--figures", "none", "-q")
    assert len(list((tmp_path / "none").iterdir())) == 3


def test_without_the_extra_there_are_data(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    status, out, err = run("lab", "boundary", "-m", "muc,lea", "-o", tmp_path)
    assert status == 0
    assert "Holds" in out
    assert err.count("pip install vl-convert-python") == 1
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".csv", ".json", ".txt"]


# Mistakes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("lab", "split"), "did you mean 'splits'?"),
        (("lab", "nothing-like-it"), "there is no experiment"),
        (("lab", "list", KEY), "takes no files"),
        (("lab", "trust", KEY), "makes its own data"),
        (("lab", "splits", KEY, EAGER), "give only a key"),
        (("lab", "splits", "--seeds"), "--seed"),
        (("lab", "boundary", "-", "-"), "only once"),
        (("lab", "boundary", "--figures", "gif"), "svg, png, html, or none"),
        (("lab", "boundary", "--metrics", "mucc"), "muc"),
    ],
)
def test_bad_usage(run, arguments, message):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert message in err


def test_a_folder_that_cannot_be(run, tmp_path):
    (tmp_path / "file").write_text("")
    status, _, err = run("lab", "splits", "-m", "muc", "-o", tmp_path / "file", "--figures", "none")
    assert status == 1
    assert "cannot be written" in err


def test_no_input_is_overwritten(run, tmp_path):
    path = tmp_path / "splits.txt"
    content = Path(KEY).read_text(encoding="utf-8")
    path.write_text(content, encoding="utf-8")
    status, _, err = run("lab", "splits", path, "-o", tmp_path, "--figures", "none")
    assert status == 2
    assert "overwrite" in err
    assert path.read_text(encoding="utf-8") == content


# What the page says of real data ------------------------------------------------------------------


def test_three_statements_do_not_hold_on_gum(run, shared):
    key, response = (shared / "gum" / f"{name}.conll" for name in ("key", "cort-pair"))
    status, out, _ = run("lab", "mention-tagger", key, response, "-q")
    assert status == 0
    failing = out.partition("Does not hold\n")[2].split("\n\n")[0].splitlines()
    for line, numbers in zip(failing, ("59.82", "5.84 points against 4.16", "6.35"), strict=True):
        assert numbers in line


@pytest.mark.parametrize(
    ("change", "advice"),
    [
        (("\tb\t", "\tx\t"), "use the same tokenisation"),
        (("(d);", "(e);"), "use the same ids on both sides"),
    ],
)
def test_errors_advise_only_what_the_command_understands(run, conll, change, advice):
    text = "#begin document (d); part 000\nd\t0\t0\ta\t(0)\nd\t0\t1\tb\t(0)\n\n#end document\n"
    response = text.replace(*change)
    files = conll(text, "key.conll"), conll(response, "response.conll")
    status, _, err = run("lab", "mention-identification", *files)
    assert status == 1
    assert err.splitlines()[-1].endswith(advice)
    assert "--" in run("score", *files)[2]

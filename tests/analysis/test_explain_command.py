"""The command `explain`, and how explanations look: texts, other formats, the report."""

from __future__ import annotations

import json

import pytest

import corefeval
from corefeval import explain, explain_results, render, score

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))


@pytest.fixture(scope="module")
def things():
    """One of each kind of explanation."""
    results = [score(KEY, EAGER, protocol=name, metrics="conll") for name in ("default", "e2e")]
    return (
        explain(KEY, EAGER, from_="conll-8.01", to="allennlp"),
        explain(KEY, EAGER, CAUTIOUS),
        explain(KEY, EAGER, to=70.2),
        explain_results(*results, KEY, EAGER),
    )


@pytest.mark.parametrize("width", [80, 120])
def test_texts_fit(monkeypatch, things, width):
    monkeypatch.setenv("COLUMNS", str(width))
    for thing in things:
        lines = render(thing).splitlines()
        # Signatures are quoted, and stay whole.
        assert all(len(line) <= width for line in lines if "match:" not in line)


def test_the_command(run, tmp_path):
    key, eager, cautious = map(str, (KEY, EAGER, CAUTIOUS))
    status, out, _ = run("explain", key, eager, "--from", "conll-8.01", "--to", "e2e")
    assert status == 0
    assert "ceafe-singletons: count → skip-response" in out
    status, out, _ = run("explain", key, "one=" + eager, "two=" + cautious, "--format", "csv")
    assert status == 0
    assert "singletons,drop,one,conll" in out
    status, out, _ = run("explain", key, eager, "--to", "70.2", "--metric", "conll")
    assert status == 0
    assert "fast-coref" in out
    files = [str(tmp_path / f"{name}.json") for name in ("a", "b")]
    for file, protocol in zip(files, ("conll-8.01", "e2e"), strict=True):
        run("score", key, eager, "--protocol", protocol, "--save", file)
    status, out, _ = run("explain", "--results", *files)
    assert status == 0
    assert "b3-singletons" in out
    status, out, _ = run("explain", key, eager, "--results", *files, "--format", "markdown")
    assert status == 0
    assert "Points of F1" in out


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("KEY",),
        ("KEY", "EAGER", "--to", "nonsense"),
        ("KEY", "EAGER", "CAUTIOUS", "--to", "e2e"),
        ("KEY", "EAGER", "--from", "e2e", "--protocol", "coval"),
        ("KEY", "EAGER", "--features", "x.tsv"),
        ("KEY", "--results", "a.json", "b.json"),
        ("--results", "a.json", "b.json", "--to", "e2e"),
        ("--results", "", "b.json"),
    ],
    ids=" ".join,
)
def test_usage_that_makes_no_sense(run, arguments):
    files = {"KEY": str(KEY), "EAGER": str(EAGER), "CAUTIOUS": str(CAUTIOUS)}
    status, _, error = run("explain", *(files.get(word, word) for word in arguments))
    assert status == 2
    assert error.startswith("error:")


def test_the_report_shows_it():
    pytest.importorskip("vl_convert", reason="charts need vl-convert-python")
    systems = {"eager": EAGER, "cautious": CAUTIOUS}
    page = corefeval.report(KEY, systems, metrics="conll", ci=None, by=(), explain=True).payload
    effects = {one["name"]: one["points"] for one in page["choices"]["effects"]}
    found = explain(KEY, EAGER)
    expected = next(one for one in found.effects if one.name == "match head").points[0]["conll"]
    assert effects["match head"]["eager"]["conll"] == pytest.approx(expected, abs=1e-7)
    assert "choices" not in corefeval.report(KEY, systems, metrics="b3", ci=None, by=()).payload


def test_results_are_two(run):
    status, _, err = run("explain", "--empty-results", KEY, EAGER)
    assert status == 2 and "results" in err


def test_saved_results_are_not_taken_for_answers(run, tmp_path):
    saved = tmp_path / "saved.json"
    run("score", KEY, EAGER, "--save", saved)
    for command in (("explain", saved, saved), ("errors", saved, saved), ("stats", saved)):
        status, _, err = run(*command)
        assert status == 1 and "language model" not in err
        assert f"{saved}: these are saved results" in err and "explain --results" in err
    status, out, _ = run("check", saved)
    assert status == 1 and "these are saved results" in out


@pytest.mark.parametrize("line", ["#  begin  document (x); part 000", "#Begin document (x)"])
def test_the_official_scorer_gave_no_number_where_it_sees_no_document(run, conll, line):
    text = "{}\na\t(1)\nb\t(1)\nc\t(2)\nd\t(2)\n\n#end document\n"
    seen = conll(text.format("#begin document (x); part 000"))
    odd = conll(text.format(line))
    status, out, _ = run("explain", seen, seen, "--to", "100.0")
    assert status == 0 and {"conll-8.01", "e2e-official"} <= {*out.split()}
    status, out, err = run("explain", odd, odd, "--to", "100.0", "-f", "json")
    assert status == 0, err
    candidates = {one["protocol"]: one for one in json.loads(out)["candidates"]}
    assert candidates["e2e"]["hit"] == "rounded"
    for name in ("conll-8.01", "conll-lea", "e2e-official"):
        if name in candidates:
            assert candidates[name]["hit"] is None
            assert "the official scorer does not see every document" in candidates[name]["refusal"]

"""The leaderboard: what is in the page, and that nothing in it acts; no browser is needed."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import pytest

import corefeval
from corefeval import Notice, UsageError
from corefeval.reports.leaderboard import make_leaderboard
from corefeval.results import Slices
from corefeval.suites.outcome import SuiteCell, load_suite
from corefeval.suites.statistics import compare_suite
from html_pages import HOSTILE, Page, shape
from leaderboards import make_outcome

TRIALS = {"trials": 500}


@pytest.fixture(scope="module")
def outcome():
    return make_outcome(["ours", "theirs", "base"], ["gum", "litbank", "preco", "onto"])


@pytest.fixture(scope="module")
def made(outcome):
    return make_leaderboard(outcome, **TRIALS)


def test_numbers_are_those_of_the_outcome_and_of_the_statistics(outcome, made):
    page = json.loads(Page(made.html).text_of("data"))
    assert page == json.loads(json.dumps(made.payload))
    metric = outcome.metrics.index("conll")
    scores = outcome.scores("conll")[:, :, 0]
    for system, row in enumerate(page["scores"][metric]):
        assert [cell[0] for cell in row] == pytest.approx(scores[system], abs=1e-6)
    compared = compare_suite(outcome, **TRIALS)
    standing = compared.standing("conll", "de")
    shown = page["standings"][metric][[one["name"] for one in page["groups"]].index("de")]
    names = [one["name"] for one in page["systems"]]
    assert dict(zip(names, shown["ranks"], strict=True)) == standing.ranks
    assert dict(zip(names, shown["scores"], strict=True)) == pytest.approx(
        dict(standing.scores), abs=1e-6
    )
    for name, ends in zip(names, shown["intervals"], strict=True):
        assert ends == pytest.approx(list(standing.intervals[name]), abs=1e-6)
    assert len(shown["pairs"]) == 3


def test_profiles_average_slices_over_corpora(outcome, made):
    metric = outcome.metrics.index("muc")
    [kind] = [one for one in made.payload["slices"] if one["feature"] == "kind"]
    ours = [
        outcome.cells[corpus.name, "ours", None].result.slices["kind"]["pronoun"]["muc"].f1
        for corpus in outcome.corpora
    ]
    weights = [corpus.weight for corpus in outcome.corpora]
    mean = sum(w * v for w, v in zip(weights, ours, strict=True)) / sum(weights)
    place = kind["values"].index("pronoun")
    assert kind["scores"][metric][0][0][place] == pytest.approx(mean, abs=1e-6)


def test_saved_results_are_enough(outcome, made, tmp_path):
    outcome.save(tmp_path / "suite.json.gz")
    again = make_leaderboard(load_suite(tmp_path / "suite.json.gz"), **TRIALS)
    assert again.payload["standings"] == made.payload["standings"]
    assert again.payload["slices"] == made.payload["slices"]


def test_statistics_that_are_there_are_not_made_again(outcome, monkeypatch):
    from corefeval.suites import statistics

    known = compare_suite(outcome, outcome.metrics, **TRIALS)
    monkeypatch.setattr(statistics, "compare_suite", None)
    page = make_leaderboard(replace(outcome, statistics=known)).payload
    assert page["trials"] == 500


def test_other_metrics_are_compared_like_the_headline(outcome):
    known = compare_suite(outcome, **TRIALS, alpha=0.2)
    page = make_leaderboard(replace(outcome, statistics=known)).payload
    assert page["alpha"] == 0.2 and all(one[0]["pairs"] for one in page["standings"])


def hostile_board(texts, **changes):
    names = [f"{text}{n}" for n, text in enumerate(texts)]
    outcome = make_outcome(
        names, [f"{texts[-1]} {n}" for n in range(3)], documents=3, groups=texts, **changes
    )
    cells = dict(outcome.cells)
    cells[next(iter(cells))] = SuiteCell(None, "".join(texts), "response")
    outcome = replace(outcome, cells=cells, title="".join(texts))
    return make_leaderboard(outcome, trials=20)


def test_hostile_names_stay_names():
    made = hostile_board(HOSTILE)
    harmless = hostile_board(tuple(f"w{n}" for n in range(len(HOSTILE))))
    page = Page(made.html)
    assert shape(page) == shape(Page(harmless.html))
    assert json.loads(page.text_of("data")) == json.loads(json.dumps(made.payload))
    data = re.search(r'id="data">(.*?)</script>\n', made.html, re.DOTALL)[1]
    assert not re.search("[<>&\u2028\u202e]", data)


def test_what_acts_is_seen():
    made = hostile_board(("a\u202eb", "\x1b[2J", "__proto__", "constructor"))
    assert "\u202e" not in made.html and "\x1b" not in made.html
    assert made.payload["systems"][0]["name"] == "a\\u202eb0"


def test_no_words_of_the_text_are_inside(outcome):
    secret = "Xylophonist"
    cells = dict(outcome.cells)
    result = cells["gum", "ours", None].result
    words = Slices("head", "mention", result, {secret: result})
    ids = tuple(f"{secret} {n}" for n in range(len(result.document_ids)))
    mine = replace(result, slices={**result.slices, "head": words}, document_ids=ids)
    theirs = replace(cells["gum", "theirs", None].result, document_ids=ids)
    cells["gum", "ours", None], cells["gum", "theirs", None] = SuiteCell(mine), SuiteCell(theirs)
    broken = f"x.conll, line 3: a bracket is open (found '{secret}')"
    cells["gum", "base", None] = SuiteCell(None, broken, "response")
    made = make_leaderboard(replace(outcome, cells=cells), **TRIALS)
    assert secret not in made.html
    assert made.payload["problems"] == [[2, 0, None, "x.conll, line 3: a bracket is open"]]


@pytest.mark.parametrize(
    ("problem", "shown"),
    [
        ("x, line 1: no format: ‘It’s Xylo’; fix: name one of Xylo", "x, line 1: no format: ‘…’"),
        ("x: mention 'Xylo' is no span", "x: mention '…' is no span"),
        ("the key's text is not the response's", "the key's text is not the response's"),
        ("x: ‘Xylo’ where ‘Xylo’ should be (found ‘Xylo’)", "x: ‘…’ should be"),
    ],
)
def test_what_files_have_is_in_no_reason(outcome, problem, shown):
    cells = {**outcome.cells, ("gum", "base", None): SuiteCell(None, problem, "response")}
    made = make_leaderboard(replace(outcome, cells=cells), **TRIALS)
    assert made.payload["problems"] == [[2, 0, None, shown]]
    broken = {
        place: SuiteCell(None, problem, "key") if place[0] == "gum" else cell
        for place, cell in outcome.cells.items()
    }
    told = Notice("broken-key", f"gum: left out for all systems because of its key: {problem}")
    made = make_leaderboard(replace(outcome, cells=broken, notices=(told,)), **TRIALS)
    assert "Xylo" not in made.html and f"because of its key: {shown}" in made.payload["notices"][0]


def report_of(*systems: str) -> str:
    data = json.dumps({"systems": [{"name": name} for name in systems]})
    return f'<script type="application/json" id="data">{data}</script>'


def test_reports_are_linked_where_they_are(outcome, tmp_path):
    reports = tmp_path / "some reports"
    (reports / "gum").mkdir(parents=True)
    (reports / "gum" / "ours.html").touch()
    (reports / "preco.html").write_text(report_of("ours", "base"))
    (reports / "onto.html").write_text("<h1>another page</h1>")
    page = make_leaderboard(outcome, reports=reports, beside=tmp_path / "b.html", **TRIALS).payload
    assert page["links"][0] == [
        "some%20reports/gum/ours.html", None, "some%20reports/preco.html#system=ours", None
    ]  # fmt: skip
    assert page["links"][1] == [None] * 4  # which the report does not have
    pattern = f"{reports}/{{corpus}}/{{system}}.html"
    page = make_leaderboard(outcome, reports=pattern, beside=reports / "x", **TRIALS).payload
    assert page["links"][0][0] == "gum/ours.html" and not any(page["links"][1])
    with pytest.raises(UsageError, match="there are no reports"):
        make_leaderboard(outcome, reports=tmp_path / "nowhere", **TRIALS)


def test_cells_without_a_result_have_no_report(outcome, tmp_path):
    (tmp_path / "gum.html").write_text(report_of("ours", "theirs", "base"))
    gone = {("gum", "ours", None): SuiteCell(None, "there is no such file", "response")}
    without = replace(outcome, cells={**outcome.cells, **gone})
    page = make_leaderboard(without, reports=tmp_path, beside=tmp_path / "b.html", **TRIALS).payload
    assert [row[0] for row in page["links"]] == [
        None, "gum.html#system=theirs", "gum.html#system=base"
    ]  # fmt: skip


def test_a_report_that_corefeval_wrote_is_linked(outcome, tmp_path):
    pytest.importorskip("vl_convert", reason="charts need vl-convert-python")
    key = {"a": [["x", "y"]]}
    report = corefeval.report(key, {"ours": key, "a <b>": key}, metrics="muc", ci=None, by=())
    report.save(tmp_path / "gum.html")
    page = make_leaderboard(outcome, reports=tmp_path, beside=tmp_path / "b.html", **TRIALS).payload
    assert [row[0] for row in page["links"]] == ["gum.html#system=ours", None, None]


def test_one_system_has_a_page_without_comparisons():
    made = make_leaderboard(make_outcome(["ours"], ["gum"], slices=False))
    assert made.payload["standings"][0][0]["ranks"] == [1]
    assert made.payload["level"] is None and repr(made) == "<Leaderboard of 1 system on 1 corpus>"


def test_no_results_have_a_page():
    outcome = make_outcome(["ours", "theirs"], ["gum", "preco"])
    cells = {place: SuiteCell(None, "no file", "response") for place in outcome.cells}
    made = make_leaderboard(replace(outcome, cells=cells))
    assert len(made.payload["problems"]) == 4
    key = {place: SuiteCell(None, "no key", "key") for place in outcome.cells}
    made = make_leaderboard(replace(outcome, cells=key))
    assert "–" in made.html


def test_a_broken_key_leaves_its_corpus_out():
    outcome = make_outcome(["ours", "theirs"], ["gum", "preco", "onto"])
    cells = {
        place: SuiteCell(None, "no key", "key") if place[0] == "gum" else cell
        for place, cell in outcome.cells.items()
    }
    made = make_leaderboard(replace(outcome, cells=cells), **TRIALS)
    assert [row[0] for row in made.payload["scores"][0]] == [None, None]
    assert not made.payload["problems"]


def test_twenty_by_twenty_is_small():
    names = [f"a system with a long name {n}" for n in range(20)]
    corpora = [f"a corpus with a long name {n}" for n in range(20)]
    outcome = make_outcome(names, corpora, documents=2, groups=["g1", "g2", "g3"])
    made = make_leaderboard(replace(outcome, metrics=("muc", "conll")), trials=20)
    assert len(made.html.encode()) < 1_000_000  # and with five metrics, far below 3 MB


def test_without_scripts_there_is_a_table(made):
    text = made.html.partition("<noscript>")[2].partition("</noscript>")[0]
    assert text.index("ours") < text.index("theirs") < text.index("base")


@pytest.fixture(scope="module")
def saved(outcome, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "results.json.gz"
    statistics = compare_suite(outcome, **TRIALS)
    replace(outcome, statistics=statistics).save(path)
    return path


@pytest.mark.parametrize("format", ["text", "markdown", "latex", "csv", "json"])
def test_the_command_compares(run, saved, outcome, format):
    status, out, err = run("suite", "compare", saved, "-q", "-f", format)
    assert (status, err) == (0, "")
    assert "trials:500" in out.replace("\\allowbreak{}", "") or '"trials": 500' in out
    if format == "csv":
        rows = list(csv.DictReader(io.StringIO(out)))
        assert len(rows) == 3 and {row["metric"] for row in rows} == {"conll"}
    elif format == "json":
        assert json.loads(out)["standings"][0]["metric"] == "conll"
    else:
        assert "0/4" in out and "ours" in out
    if format == "latex":
        assert out.count(r"\begin{table*}") == out.count(r"\begin{tabular}") == 2


def test_the_command_compares_otherwise(run, saved):
    command = ("suite", "compare", saved, "-q", "-f", "json", "--metric", "MUC")
    found = json.loads(run(*command, "--combination", "fisher", "--resample", "documents")[1])
    assert found["options"]["resample"] == ["documents"] and found["options"]["trials"] == 500
    assert {one["metric"] for one in found["standings"]} == {"muc"}
    both = json.loads(run(*command)[1])  # beside what was saved, in the same way
    assert [one["metric"] for one in both["standings"]][::3] == ["conll", "muc"]
    text = run("suite", "compare", saved, "-q", "--group", "de")[1]
    assert text.startswith("conll, de") and "0/2" in text


def test_comparisons_are_set_as_tables_are(run, saved):
    """What `suite table` takes for papers, `suite compare` does, but rates: it has one."""
    _, out, _ = run("suite", "compare", saved, "-q", "--digits", 1, "--caption", "On all corpora")
    assert out.startswith("On all corpora – conll") and not re.search(r"\d\d\.\d\d", out)
    style = ("-f", "latex", "--label", "main", "--width", "column")
    status, out, err = run("suite", "compare", saved, "-q", *style)
    assert (status, err) == (0, "") and r"\label{tab:main}" in out and r"\begin{table}" in out
    for option, value in (("--digits", 1), ("--caption", "x"), ("--width", "page")):
        status, out, err = run("suite", "compare", saved, "-f", "json", option, value)
        assert status == 2 and not out and f"{option[2:]} is for tables" in err
    assert run("suite", "compare", saved, "--rates", "f1")[0] == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--group", "fr"), "there is no group 'fr' here: there are en, de"),
        (("--resample", "words"), "resample is one of corpora, documents, seeds, not 'words'"),
        (("--metric", "lea"), "'lea' was not scored"),
        (("--trials", "0"), "whole number from 1"),
    ],
)
def test_mistakes_have_one_line(run, saved, options, message):
    status, out, err = run("suite", "compare", saved, *options)
    assert status == 2 and not out and message in err and err.count("\n") == 1


def test_the_command_makes_a_page(run, saved, tmp_path):
    target = tmp_path / "board.html"
    status, out, _ = run("suite", "page", saved, "-o", target, "--title", "Shared", "-q")
    assert status == 0 and out.startswith(f"{target}: 3 systems on 4 corpora, ")
    page = json.loads(Page(target.read_text(encoding="utf-8")).text_of("data"))
    assert page["title"] == "Shared" and page["trials"] == 500
    before = saved.read_bytes()
    assert run("suite", "page", saved, "-o", saved)[0] == 2 and saved.read_bytes() == before
    assert run("suite", "page", target, "-o", tmp_path / "x.html")[0] == 1


@pytest.mark.parametrize("command", ["run", "table", "compare", "page", "check", "init"])
def test_a_command_without_its_file_says_what_it_takes(run, command):
    status, out, err = run("suite", command)
    assert status == 2 and not out and f"corefeval suite {command} " in err

"""Tables of suites: averages against brute force, ranks, every format; and the commands."""

from __future__ import annotations

import csv
import io
import json
import math
import statistics
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval import UsageError, render
from corefeval.results import Result
from corefeval.suites.definition import read_suite
from corefeval.suites.outcome import CorpusFacts, SuiteCell, SuiteResult, SystemFacts
from corefeval.suites.running import run_suite
from corefeval.suites.statistics import compare_suite, macro, make_table
from leaderboards import make_outcome


@pytest.fixture(scope="module")
def outcome():
    return run_suite(read_suite(corefeval.example("suite")), trials=199)


SCORES = st.one_of(st.just(math.nan), st.integers(0, 10).map(lambda n: n / 10))


@settings(max_examples=60)
@given(
    st.integers(1, 3).flatmap(
        lambda n: st.tuples(
            st.lists(st.lists(SCORES, min_size=3, max_size=3), min_size=n, max_size=n),
            st.lists(st.sampled_from((0.5, 1.0, 2.0)), min_size=n, max_size=n),
        )
    )
)
def test_macro_against_brute_force(drawn):
    rows, weights = drawn
    mean, deviation = macro(np.array([rows]), np.array(weights))
    there = [
        ([value for value in row if not math.isnan(value)], weight)
        for row, weight in zip(rows, weights, strict=True)
    ]
    means = [(statistics.mean(values), weight) for values, weight in there if values]
    if not means:
        assert np.isnan(mean[0])
        return
    total = sum(weight for _, weight in means)
    assert mean[0] == pytest.approx(sum(m * w for m, w in means) / total)
    counting = [(row, w) for row, w in zip(rows, weights, strict=True) if not np.isnan(row).all()]
    by_seed = [
        sum(row[seed] * w for row, w in counting) / total
        for seed in range(3)
        if not any(math.isnan(row[seed]) for row, _ in counting)
    ]
    if len(by_seed) > 1:
        assert deviation[0] == pytest.approx(statistics.stdev(by_seed))
    else:
        assert np.isnan(deviation[0])


def test_averages_by_hand(outcome):
    table = make_table(outcome, "lea", averages="macro, micro, groups", sort="file")
    lines = {line.title: line for line in table.lines}
    corpora = [outcome.cells[name, "eager", None].result for name in ("news", "fiction", "talk")]
    scores = [one["lea"].f1 for one in corpora]
    assert lines["Macro"].means["f1"][1] == pytest.approx(sum(scores) / 3)
    assert lines["written"].means["f1"][1] == pytest.approx(sum(scores[:2]) / 2)
    assert lines["spoken"].means["f1"][1] == pytest.approx(scores[2])
    pooled = Result.total(replace(one, slices={}) for one in corpora)
    assert lines["Micro"].means["f1"][1] == pytest.approx(pooled["lea"].f1)
    seeds = [outcome.cells["news", "steady", seed].result["lea"].f1 for seed in "12"]
    assert lines["news"].means["f1"][2] == pytest.approx(statistics.mean(seeds))
    assert lines["news"].deviations["f1"][2] == pytest.approx(statistics.stdev(seeds))
    assert np.isnan(lines["news"].deviations["f1"][1])


def test_micro_does_not_mix_protocols(outcome):
    cells = dict(outcome.cells)
    cells = {
        (corpus, *rest): SuiteCell(
            replace(cell.result, protocol=cell.result.protocol.but(singletons="drop"))
            if corpus == "news"
            else cell.result
        )
        for (corpus, *rest), cell in cells.items()
    }
    table = make_table(replace(outcome, cells=cells), averages="macro, micro")
    assert "Micro" not in [line.title for line in table.lines]
    assert table.remarks[0].startswith("No micro-average: results that were scored differently")


def test_micro_needs_all_corpora(outcome):
    cells = {**outcome.cells, ("talk", "eager", None): SuiteCell(None, "gone", "response")}
    left_out = replace(outcome, cells=cells, missing="leave-out")
    table = make_table(left_out, averages="micro", sort="file")
    assert np.isnan(table.lines[0].means["f1"]).tolist() == [False, True, False]
    assert (
        table.remarks[0]
        == "Micro-averages use only runs that have every corpus: eager has 0 of 1 run."
    )


@pytest.mark.parametrize("protocol", ["", "aggregate:macro", "singletons:drop"])
def test_a_missing_response_counts_in_micro_like_an_empty_one(protocol):
    """What the key has is known from others; the empty response itself is the judge."""
    metrics = "mentions, muc, b3, ceafm, ceafe, blanc, lea, conll, links, b3-sys, split, mor"
    keys = {"one": {"d": [["a", "b"], ["c", "e", "f"]]}, "two": {"d": [["a", "b", "c"], ["e"]]}}
    found = {"d": [["a", "b"], ["c", "x"]]}
    results = {
        (corpus, system, None): corefeval.score(
            key, response, protocol=protocol or None, metrics=metrics
        )
        for corpus, key in keys.items()
        for system, response in {
            "full": key,
            "some": found,
            "gone": found if corpus == "one" else {"d": []},
        }.items()
    }
    some = next(iter(results.values()))
    facts = tuple(map(CorpusFacts, keys)), tuple(map(SystemFacts, ("full", "some", "gone")))
    cells = {place: SuiteCell(result) for place, result in results.items()}
    empty = SuiteResult(*facts, some.metrics, "conll", cells)
    missing = SuiteCell(None, "no such file", "response")
    outcome = replace(empty, cells={**cells, ("two", "gone", None): missing})
    for metric in some.metrics:
        rates = ",".join(some[metric].rates)
        table = make_table(outcome, metric, rates=rates, averages="micro", sort="file")
        if metric in ("b3(twinless=sys)", "split", "mor"):  # the key's side is not the key's alone
            assert (
                "Micro-averages use only runs that have every corpus: gone has 0 of 1 run."
                in table.remarks
            )
            continue
        expected = make_table(empty, metric, rates=rates, averages="micro", sort="file")
        for rate, means in expected.lines[0].means.items():
            assert table.lines[0].means[rate] == pytest.approx(means) and means.all()
        assert not table.remarks


def test_a_run_without_any_other_result_is_left_out_of_micro():
    outcome = small({"a": None, "b": None})
    table = make_table(outcome, averages="micro")
    expected = "only runs that have every corpus: a has 0 of 1 run, b has 0 of 1 run."
    assert table.remarks[0].endswith(expected)


def test_rates_that_a_metric_does_not_have_are_told(outcome):
    table = make_table(outcome, "conll", rates="r,p,f1")
    assert table.rates == ("f1",)
    assert table.remarks == ("CoNLL has no recall and no precision.",)
    assert all(row["recall"] is None and row["precision"] is None for row in table.rows())
    assert list(table.rows()[0])[7:9] == ["recall", "precision"]
    assert "CoNLL has no recall and no precision." in " ".join(
        render(outcome, metric="conll", rates="r,p,f1").split()
    )
    assert not make_table(outcome, "muc", rates="r,p,f1").remarks


def small(scores: dict[str, float], missing: str = "zero") -> SuiteResult:
    """An outcome of one corpus, with systems whose MUC is so many tenths; None for no result."""
    cells = {}
    for name, tenths in scores.items():
        response = [[f"m{n}" for n in range((tenths or 0) + 1)]]
        result = corefeval.score([[f"m{n}" for n in range(11)]], response, metrics="muc")
        cells["c", name, None] = (
            SuiteCell(result) if tenths is not None else SuiteCell(None, "x", "response")
        )
    systems = tuple(map(SystemFacts, scores))
    return SuiteResult((CorpusFacts("c"),), systems, ("muc",), "muc", cells, missing=missing)


def test_equal_averages_share_a_rank():
    outcome = small({"a": 5, "b": 9, "c": 5, "d": 2})
    assert outcome.ranks() == {"b": 1, "a": 2, "c": 2, "d": 4}


def test_a_system_without_scores_is_last_or_has_no_rank():
    scores = {"a": None, "b": 3}
    assert small(scores).ranks() == {"b": 1, "a": 2}
    assert small(scores, "leave-out").ranks() == {"b": 1}
    left_out = " ".join(render(small(scores, "leave-out")).split())
    assert "Some averages are over fewer corpora: a over 0 of 1." in left_out
    assert "which counts as 0" in render(small(scores))


def test_ranks_and_letters_are_those_of_the_tests(outcome):
    assert outcome.ranks() == outcome.statistics.ranks("conll")
    assert outcome.ranks("lea") != {}  # which was not tested
    text = " ".join(render(outcome).split())
    beaten = outcome.statistics.better_than("conll", "steady")
    assert beaten == ("cautious",)
    assert "80.68 ±0.68ᶜ" in text
    assert "199 trials, p ≤ 0.05 after Holm's correction" in text
    assert "ᶜ" not in render(outcome, metric="lea")


def test_a_group_of_one_corpus_has_the_superscripts_of_that_corpus():
    outcome = make_outcome(["a", "b", "c"], ["news", "talk"], groups=("written", "spoken"))
    cells = {**outcome.cells, ("talk", "c", None): SuiteCell(None, "gone", "response")}
    for missing, rule in (
        ("zero", "– means no result, which counts as 0 and is not tested."),
        ("leave-out", "– means no result, which is left out of averages and is not tested."),
    ):
        tested = replace(outcome, cells=cells, missing=missing)
        tested = replace(tested, statistics=compare_suite(tested, trials=999))
        by_title = {line.title: line.better_than for line in make_table(tested).lines}
        assert by_title["spoken"] == by_title["talk"] and by_title["written"] == by_title["news"]
        assert "c" in by_title["news"]["a"] and "c" not in by_title["talk"]["a"]
        assert rule in " ".join(render(tested).split())
    whole = replace(outcome, statistics=compare_suite(outcome, trials=99))
    assert "not tested" not in " ".join(render(whole).split())


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("rows_of", ["systems", "corpora"])
def test_tables_fit_into_the_terminal(outcome, width, rows_of, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    options = {"rates": "r, p, f1", "metric": "lea", "averages": "macro, micro, groups"}
    text = render(outcome, rows_of=rows_of, **options)
    lines = [line for line in text.splitlines() if "|" not in line]
    assert max(map(len, lines)) <= width
    assert all(name in text for name in ("steady", "eager", "cautious", "news", "Micro", "Macro"))


def test_markdown(outcome):
    text = render(outcome, format="markdown", averages="macro", digits=1)
    assert "|    | System   |  # |" in text
    assert "**80.7 ±0.7**<sup>c</sup>" in text


def test_latex_has_what_papers_want(outcome):
    options = {"caption": "Test sets", "label": "main", "width": "column", "digits": 1}
    text = render(
        outcome, format="latex", rates="p,r,f1", metric="lea", averages="macro", **options
    )
    assert r"\begin{table}[t]" in text
    assert r"\caption{Test sets. LEA P, R, F1" in text
    assert r"\label{tab:main}" in text
    assert r"System & \# & P & R & F1" in text
    assert r"\toprule" in text
    assert r"$\pm$" in text
    assert r"\begin{table*}[t]" in render(outcome, format="latex")


def test_csv_and_json_and_frames(outcome):
    rows = list(
        csv.DictReader(io.StringIO(render(outcome, format="csv", rates="r,p,f1", metric="lea")))
    )
    assert len(rows) == 3 * (1 + 2 + 3)
    assert [row["system"] for row in rows[:3]] == ["steady", "eager", "cautious"]
    assert {row["average"] for row in rows} == {"macro", "group", ""}
    record = json.loads(render(outcome, format="json"))
    assert len(record["cells"]) == 12 * 5
    assert record["table"][0]["rank"] == 1
    assert record["statistics"]["systems"] == ["cautious", "eager", "steady"]
    assert len(outcome.to_frame()) == 60
    assert list(make_table(outcome).to_frame()["system"][:3]) == ["steady", "eager", "cautious"]


def test_codabench_has_a_number_for_everything(outcome):
    scores = json.loads(render(outcome, format="codabench"))
    assert scores["steady_macro"] == pytest.approx(80.68, abs=0.01)
    one = {place: cell for place, cell in outcome.cells.items() if place[1] == "eager"}
    alone = replace(outcome, systems=(SystemFacts("eager"),), cells=one, statistics=None)
    scores = json.loads(render(alone, format="codabench", rates="r,f1", metric="lea"))
    assert {"macro_recall", "macro_f1", "news_f1", "written_f1"} <= set(scores)


def test_codabench_loses_no_number_to_another_of_its_name(outcome):
    """Groups may be called like corpora, and corpora like averages."""
    plain = json.loads(render(outcome, format="codabench"))
    groups = {"news": "news", "fiction": "news", "talk": "Macro"}
    corpora = tuple(replace(one, group=groups[one.name]) for one in outcome.corpora)
    scores = json.loads(
        render(replace(outcome, corpora=corpora, statistics=None), format="codabench")
    )
    assert len(scores) == len(plain)
    for name in ("macro", "news", "fiction", "talk"):
        assert scores[f"steady_{name}"] == plain[f"steady_{name}"]
    assert scores["steady_group_news"] == plain["steady_written"]
    assert scores["steady_group_macro"] == plain["steady_spoken"]


def test_results_of_a_group_are_its_own(outcome):
    rows = {
        (one["average"], one["group"], one["system"]): one for one in make_table(outcome).rows()
    }
    steady = [
        rows[kind, group, "steady"]["results"]
        for kind, group in (
            ("macro", ""),
            ("group", "written"),
            ("group", "spoken"),
            ("", "spoken"),
        )
    ]
    assert steady == [6, 4, 2, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rates": "q"}, "there is no rate 'q'"),
        ({"averages": "median"}, "an average is one of"),
        ({"metric": "lmuc"}, "'lmuc' was not scored"),
        ({"metric": "conll", "rates": "r"}, "conll has no recall"),
        ({"digits": 19}, "digits must be from 0 to 10"),
        ({"width": "3", "format": "latex"}, "width is one of column, page"),
        ({"label": "a}b", "format": "latex"}, "a label has letters"),
        ({"sort": "x"}, "sort is one of"),
        ({"rows_of": "x"}, "rows_of is one of"),
    ],
)
def test_what_cannot_be_drawn(outcome, options, message):
    with pytest.raises(UsageError, match=message):
        render(outcome, **options)

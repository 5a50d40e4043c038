"""The experiments: what they all have in common, and the scorecard of metrics."""

from __future__ import annotations

import csv
import io
import json
import math
import re

import pytest

import corefeval
from corefeval import CorefEvalError, UsageError
from corefeval.lab import EXPERIMENTS, Statement, experiment
from corefeval.lab.measurement import moosavi_strube_key
from corefeval.lab.perturbations import merge_entities, split_entities
from corefeval.output import render

SIX = ("muc", "b3", "ceafm", "ceafe", "blanc", "lea")


@pytest.fixture(scope="module")
def results():
    """Every experiment on the papers' own data."""
    return {name: one.run() for name, one in EXPERIMENTS.items()}


# What every experiment is ------------------------------------------------------------------------


def test_there_are_these_experiments():
    assert list(EXPERIMENTS) == [
        "mention-identification",
        "correct-links",
        "correct-entities",
        "splits",
        "extra-mentions",
        "boundary",
        "mention-tagger",
        "weights",
        "trust",
    ]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_results_are_tidy(results, name):
    result = results[name]
    assert result.name == name
    assert result.title
    assert result.data
    for row in result.data:
        assert set(row) <= set(result.columns)
        for value in row.values():
            assert value is None or isinstance(value, str | int | float)
            assert not isinstance(value, float) or math.isfinite(value)
    for chart in result.charts:
        drawn = result.select(chart)
        assert drawn
        for field in (chart.x.field, chart.y.field, chart.series, *filter(None, [chart.facet])):
            assert field in result.columns
            assert any(row[field] is not None for row in drawn)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_results_can_be_written(results, name):
    result = results[name]
    rows = list(csv.DictReader(io.StringIO(render(result, format="csv"))))
    assert len(rows) == len(result.data)
    assert tuple(rows[0]) == result.columns
    data = json.loads(render(result, format="json"))
    assert data["rows"] == [dict(row) for row in result.data]
    assert [one["holds"] for one in data["statements"]] == [s.holds for s in result.statements]


@pytest.mark.parametrize("name", ["mention-identification", "mention-tagger", "splits"])
def test_the_same_seed_gives_the_same_result(results, name):
    assert EXPERIMENTS[name].run().as_dict() == results[name].as_dict()
    assert EXPERIMENTS[name].run(seed=1).settings["seed"] == 1


def test_progress_is_reported():
    said = []
    EXPERIMENTS["splits"].run(metrics="muc", progress=lambda *args: said.append(args))
    assert all(done <= total and text for text, done, total in said)
    assert said


def test_metrics_are_those_of_the_registry(results):
    for name in ("correct-links", "splits"):
        measured = {row["metric"] for row in results[name].data}
        assert {*SIX, "conll", "links", "b3(twinless=sys)"} <= measured
        told = [str(notice) for notice in results[name].notices]
        assert len(told) == 2  # kinds are not known, nor are nouns
        assert "lmuc" in told[0] and "anchors" in told[1]
    assert {row["metric"] for row in results["trust"].data} >= {*SIX, "lmuc", "p-link", "anchors"}


def test_metrics_can_be_chosen():
    result = EXPERIMENTS["splits"].run(metrics=["lea", "b3"])
    assert {row["metric"] for row in result.data} == {"lea", "b3"}
    assert {one.text.split()[0] for one in result.statements} == {"B³", "LEA"}


def test_what_makes_no_sense_is_refused():
    with pytest.raises(UsageError, match="did you mean 'weights'"):
        experiment("weight")
    assert experiment("trust") is EXPERIMENTS["trust"]
    with pytest.raises(UsageError, match="own data"):
        EXPERIMENTS["trust"].run([["a", "b"]])
    with pytest.raises(UsageError, match="own responses"):
        EXPERIMENTS["splits"].run([["a", "b"]], [["a", "b"]])
    with pytest.raises(UsageError, match="needs its key"):
        EXPERIMENTS["boundary"].run(response=[["a", "b"]])
    for perturbation in (split_entities, merge_entities):
        with pytest.raises(UsageError, match="which is one of any"):
            perturbation(moosavi_strube_key(), moosavi_strube_key(), which="some")


@pytest.mark.parametrize("name", [name for name, one in EXPERIMENTS.items() if one.key != "none"])
def test_a_key_without_entities_is_still_the_users(name):
    with pytest.raises(CorefEvalError, match="no documents"):
        EXPERIMENTS[name].run({})
    if name != "weights":  # which needs kinds
        for row in EXPERIMENTS[name].run([], metrics="muc, lea").data:
            assert row["f1"] == 0


def test_a_key_of_uncommon_sizes():
    """Three mentions are none of the paper's sizes: those errors are left out."""
    result = EXPERIMENTS["extra-mentions"].run([["a", "b", "c"]])
    assert {row["error"] for row in result.data} == {"2-0", "3-0"}
    assert EXPERIMENTS["splits"].run([["a", "b", "c"]]).statements == ()


def test_numbers_are_looked_up(results):
    result = results["splits"]
    assert result.value("f1", metric="muc", split="18-2") == pytest.approx(0.9919, abs=1e-4)
    with pytest.raises(UsageError, match="no rows have metric=nothing"):
        result.value("f1", metric="nothing")


def test_a_statement_says_whether_it_holds():
    assert str(Statement("yes", True, detail="1")) == "holds: yes (1)"
    assert str(Statement("no", False)) == "does not hold: no"


def test_own_data_in_plain_python():
    key = {"one": [["a", "b", "c"], ["d", "e"]], "two": [["f", "g"], ["h", "i", "j", "k"]]}
    response = {"one": [["a", "b"], ["c", "d", "x"]], "two": [["f", "h"], ["i", "j", "k"], ["y"]]}
    for name, one in EXPERIMENTS.items():
        if one.key == "none" or name == "weights":
            continue
        result = one.run(key, response) if one.response == "optional" else one.run(key)
        assert result.data, name
        if one.response == "optional":
            assert one.run(key).data, name


# The scorecard -----------------------------------------------------------------------------------

# What the papers say of metrics. Everything else in the scorecard is news.
KNOWN = {
    "nothing": {"muc": True, "lea": True, "b3": False, "ceafm": False, "ceafe": False,
                "blanc": False},
    "perfect": {"b3": True, "lea": True, "ceafe": True, "muc": False},  # MUC has no singletons
    "recall-removal": {"muc": True, "lea": True, "b3": False, "ceafe": False, "blanc": False},
    "recall-pairs": {"muc": True, "lea": True, "b3": False, "ceafe": False, "blanc": False},
    "recall-large": {"muc": True, "lea": True, "b3": False, "ceafe": False, "blanc": False},
    "worse-pairs": {"muc": True, "lea": True, "b3": False, "ceafe": False, "blanc": False},
    "better-removal": {"muc": True, "lea": True, "ceafe": False, "blanc": False},
    "unlinked": {"b3(twinless=sys)": True, "ceafm(twinless=sys)": True, "b3": False},
    "large-and-small": {"ceafe": False, "lea": True, "b3": True},
    "two-and-one": {"lea": True, "muc": False, "b3": False, "ceafm": False, "ceafe": False,
                    "blanc": False},
    "split-and-lost": {"ceafm": False, "ceafe": False, "lea": True, "muc": True, "b3": True},
    "order": dict.fromkeys((*SIX, "conll", "lmuc", "anchors"), True),
}  # fmt: skip


def test_the_scorecard_has_a_cell_for_every_metric_and_property(results):
    rows = results["trust"].data
    metrics = {row["metric"] for row in rows}
    properties = {row["property"] for row in rows}
    assert len(rows) == len(metrics) * len(properties) and set(KNOWN) <= properties
    assert all(row["cases"] >= 100 for row in rows if row["holds"] is not None)
    assert {row["metric"] for row in rows if row["holds"] is None} == {"conll", "anchors"}


@pytest.mark.parametrize("name", KNOWN)
def test_the_scorecard_knows_what_the_papers_say(results, name):
    for metric, holds in KNOWN[name].items():
        (row,) = results["trust"].where(property=name, metric=metric)
        assert row["holds"] is holds, (metric, row)


def entities(text):
    return [group.split() for group in re.findall(r"\{([^}]+)\}", text)]


RATES = {
    **dict.fromkeys(("recall-removal", "recall-pairs", "recall-large"), ("recall", "recall")),
    "swap": ("recall", "precision"),
}


def test_counterexamples_are_what_they_say(results):
    """Each is scored again, from what is printed."""
    for row in results["trust"].data:
        if row["holds"] is not False:
            continue
        kinds = dict(pair.split() for pair in row["kinds"].split(", "))
        rates = RATES.get(row["property"], ("f1", "f1"))
        key, outputs = entities(row["key"]), [row["first"], row["second"]]
        values = [row["first_value"], row["second_value"]]
        for output, value, rate in zip(outputs, values, rates, strict=True):
            if output is None:
                continue
            pair = (key, entities(output))
            if rate == "precision":  # the sides are exchanged
                pair = (entities(row["first"]), key)
            pair = [[sorted(entity) for entity in side] for side in pair]
            scored = corefeval.score(*pair, metrics=[row["metric"]], features={"kind": kinds})
            assert getattr(scored[row["metric"]], rate) == pytest.approx(value), row


def test_counterexamples_are_small(results):
    for row in results["trust"].data:
        if row["holds"] is False and row["metric"] in SIX:
            assert sum(map(len, entities(row["key"]))) <= 6, row
    (row,) = results["trust"].where(property="nothing", metric="b3")
    assert (row["key"], row["first"]) in (("{a b}", "{a}"), ("{a b}", "{b}"))


def test_a_metric_of_ones_own_is_measured_too():
    result = EXPERIMENTS["trust"].run(metrics="lea(importance=one)")
    assert {row["metric"] for row in result.data} == {"lea(importance=one)"}
    (row,) = result.where(property="large-and-small")
    assert row["holds"] is False  # with the same importance all entities are alike

"""Comparison of many systems: corrected p-values, ranks, tables."""

from __future__ import annotations

import itertools
import json
import math
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corefeval import UsageError, score
from corefeval.stats import adjust, compare, concordance, with_intervals
from corefeval.stats.significance import measure_effect
from corefeval.stats.standings import rank_systems
from count_tables import compare_two, systems_of, twin_of


@pytest.fixture(scope="module")
def systems():
    systems = systems_of()
    return {**systems, "twin": twin_of(systems["good"])}


@pytest.fixture(scope="module")
def compared(systems):
    return compare(systems, trials=1000)


# Correction


P_VALUES = st.lists(st.floats(0, 1), max_size=12)


@given(P_VALUES)
def test_corrected_p_values(values):
    p = np.array(values)
    holm, bonferroni, none = (adjust(p, name) for name in ("holm", "bonferroni", "none"))
    assert none.tolist() == values
    for found in (holm, bonferroni):
        assert np.all(found >= p)
        assert np.all(found <= 1)
        assert np.all(np.diff(found[np.argsort(p, kind="stable")]) >= 0)
    assert np.all(holm <= bonferroni)


@given(P_VALUES, st.floats(0.001, 0.2))
def test_holm_rejects_step_by_step(values, alpha):
    """The definition: from the smallest on, until one is above alpha / (what is left)."""
    rejected = set()
    for step, index in enumerate(np.argsort(values, kind="stable").tolist()):
        if values[index] * (len(values) - step) > alpha:
            break
        rejected.add(index)
    assert set(np.flatnonzero(adjust(values) <= alpha).tolist()) == rejected


def test_an_unknown_correction():
    with pytest.raises(UsageError, match="holm, bonferroni, none"):
        adjust([0.1], "hope")  # type: ignore[arg-type]


# Ranks


def test_ranks_of_table_5():
    """Moosavi & Strube (2016), Table 5, LEA: systems within 0.9 share a rank, but chen and xu."""
    lea = {
        "fernandes": 53.28, "martschat": 49.99, "bjorkelund": 49.98, "chang": 48.50, "chen": 46.24,
        "chunyuang": 45.84, "shou": 43.97, "yuan": 44.76, "xu": 46.83, "uryupina": 41.15,
        "songyang": 41.25, "zhekova": 29.98, "xinxin": 29.22, "li": 27.32,
    }  # fmt: skip
    published = {
        "fernandes": 1, "martschat": 2, "bjorkelund": 2, "chang": 4, "chen": 6, "chunyuang": 6,
        "shou": 8, "yuan": 8, "xu": 5, "uryupina": 10, "songyang": 10, "zhekova": 12, "xinxin": 12,
        "li": 14,
    }  # fmt: skip
    found = rank_systems(lea, lambda one, other: lea[one] - lea[other] > 0.9 or one == "xu")
    assert found == published


@given(
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 5), min_size=1),
    st.sets(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh"))),
)
def test_ranks_follow_the_scores(scores, significant):
    found = rank_systems(scores, lambda one, other: (one, other) in significant)
    assert set(found) == set(scores)
    for one, other in itertools.product(scores, repeat=2):
        if scores[one] > scores[other]:
            assert found[one] <= found[other]
            assert found[one] < found[other] or (one, other) not in significant
    for rank in found.values():
        assert rank == 1 + sum(other < rank for other in found.values())


def test_no_rank_contradicts_a_test():
    """The second is better than the third, though the first, further up, is not."""
    scores = {"first": 3, "second": 2, "third": 1}
    found = rank_systems(scores, lambda *pair: pair == ("second", "third"))
    assert found == {"first": 1, "second": 1, "third": 3}


# Comparison


@pytest.mark.parametrize("aggregate", ["micro", "macro"])
@pytest.mark.parametrize("test", ["randomization", "bootstrap"])
def test_every_pair_as_if_alone(test, aggregate):
    systems = systems_of(aggregate=aggregate)
    options = {"test": test, "trials": 300, "seed": 2}
    compared = compare(systems, **options, correction="none")
    assert len(compared.pairs) == 6 * 5
    for pair in compared.pairs:
        first, second = systems[pair.first], systems[pair.second]
        alone = compare_two(first, second, **options, metrics=[pair.metric])[pair.metric]
        assert (pair.p, pair.difference) == (alone.p, pytest.approx(alone.difference, abs=1e-12))
        assert pair.adjusted_p == pair.p
        expected = first[pair.metric].f1 - second[pair.metric].f1
        assert pair.difference == pytest.approx(expected, abs=1e-12)
        if test == "bootstrap":
            assert pair.interval == pytest.approx(alone.interval)


def test_the_exact_test():
    systems = systems_of(size=8)
    compared = compare(systems, test="exact", correction="none")
    for pair in compared.pairs:
        alone = compare_two(systems[pair.first], systems[pair.second], test="exact")
        assert pair.p == alone[pair.metric].p
    assert "trials" not in compared.signature
    with pytest.raises(UsageError, match="20 documents at most"):
        compare(systems_of(size=21), test="exact")


def test_scores_and_intervals_are_those_of_each_system(systems, compared):
    for name, result in systems.items():
        alone = with_intervals(result).intervals
        for metric in compared.metrics:
            assert compared.scores[metric][name] == pytest.approx(result[metric].f1, abs=1e-12)
            assert compared.intervals[metric][name] == pytest.approx(alone[metric]["f1"])


def test_who_is_better(compared):
    assert compared.systems == ("good", "twin", "fair", "poor")
    for metric in ("muc", "conll"):
        assert compared.better_than(metric, "good") == ("fair", "poor")
        assert compared.better_than(metric, "poor") == ()
        assert compared.ranks(metric) == {"good": 1, "twin": 1, "fair": 3, "poor": 4}
        assert set(compared.best(metric)) < {"good", "twin"}


def test_a_pair_from_both_sides(compared):
    there = compared.difference("muc", "good", "poor")
    back = compared.difference("muc", "poor", "good")
    assert back.difference == -there.difference
    assert back.interval == (-there.interval.high, -there.interval.low)
    assert back.effect == (-there.effect.d, 1 - there.effect.win_rate, -there.effect.mean)
    assert (back.p, back.adjusted_p, back.significant) == (
        there.p, there.adjusted_p, there.significant,
    )  # fmt: skip
    assert there.difference in there.interval
    with pytest.raises(UsageError, match="were not compared"):
        compared.difference("muc", "good", "best")


def test_correction_is_over_the_pairs_of_a_metric(compared):
    for metric in compared.metrics:
        pairs = [pair for pair in compared.pairs if pair.metric == metric]
        expected = adjust([pair.p for pair in pairs], "holm")
        assert [pair.adjusted_p for pair in pairs] == expected.tolist()


def test_signatures(systems, compared):
    assert compared.signatures == {name: result.signature for name, result in systems.items()}
    assert compared.signature == (
        "test:randomization|trials:1000|samples:1000|seed:0|correction:holm|alpha:0.05"
    )


def test_rows(compared):
    rows = compared.rows()
    assert len(rows) == 4 * 5
    assert rows[0]["system"] == "good"
    assert rows[0]["better_than"] == ["fair", "poor"]
    assert rows[0]["signature"].startswith("muc|match:exact")
    assert len(compared.rows("differences")) == 6 * 5
    assert json.loads(json.dumps(compared.as_dict(), allow_nan=False))["documents"] == 40


def test_data_frames(compared, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match=r"pip install pandas"):
        compared.to_frame()
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=list))
    assert compared.to_frame() == compared.rows()
    assert compared.to_frame("differences") == compared.rows("differences")
    with pytest.raises(UsageError, match="scores, differences"):
        compared.to_frame("all")


def test_real_data_frames(compared):
    pytest.importorskip("pandas")
    frame = compared.to_frame()
    assert frame.shape == (4 * 5, len(compared.rows()[0]))
    assert frame.set_index(["system", "metric"]).loc[("poor", "muc"), "rank"] == 4
    pairs = compared.to_frame("differences")
    assert pairs.p.tolist() == [pair.p for pair in compared.pairs]


def test_names_that_come_again(systems):
    result = systems["good"]
    compared = compare([result, result, replace(result, response="")], trials=20)
    assert compared.systems == ("good", "good (2)", "response")
    assert {pair.adjusted_p for pair in compared.pairs} == {1.0}
    assert {pair.effect for pair in compared.pairs} == {(0.0, 0.5, 0.0)}
    assert set(compared.ranks("muc").values()) == {1}
    assert compared.best("muc") == compared.systems


def test_metrics_that_all_have(systems):
    first, second = systems["good"], systems["fair"]
    without = {name: table for name, table in second.tables.items() if name != "blanc"}
    compared = compare([first, replace(second, tables=without)], trials=20)
    assert compared.metrics == ("muc", "b3", "ceafe", "conll")
    with pytest.raises(UsageError, match="'blanc' was not scored"):
        compare([first, replace(second, tables=without)], metrics=["blanc"])


@pytest.mark.parametrize(
    "options",
    [{"test": "t"}, {"correction": "x"}, {"alpha": 5}, {"level": 0}, {"samples": 0}, {"seed": 0.5}],
)
def test_senseless_arguments(systems, options):
    with pytest.raises(UsageError):
        compare(systems, **options)
    with pytest.raises(UsageError, match="at least two responses"):
        compare([systems["good"]])


def test_tests_that_cannot_succeed_say_so(systems):
    assert not compare(systems, trials=1000).notices
    few = compare(systems_of(size=4), trials=100)
    assert [notice.kind for notice in few.notices] == ["few-documents", "hopeless-test"]
    assert "4 documents no p-value is much below 0.12" in str(few.notices[1])
    hasty = compare(systems, trials=19, correction="bonferroni")
    assert "19 trials" in str(hasty.notices[0])


def test_effect_sizes(systems, compared):
    first, second = systems["good"], systems["fair"]
    counted = [i for i, row in enumerate(first.tables["muc"].values) if row.any()]
    gaps = [first.document(i)["muc"].f1 - second.document(i)["muc"].f1 for i in counted]
    found = compared.difference("muc", "good", "fair").effect
    assert found.d == pytest.approx(np.mean(gaps) / np.std(gaps, ddof=1))
    wins = sum(1.0 if gap > 0 else 0.5 if gap == 0 else 0 for gap in gaps)
    assert found.win_rate == pytest.approx(wins / len(gaps))
    assert found.mean == pytest.approx(np.mean(gaps))
    assert measure_effect(np.array([])) == (0.0, 0.5, 0.0)
    assert measure_effect(np.full(3, -0.25)) == (-math.inf, 0.0, -0.25)


def test_real_systems(shared):
    """Five resolvers on 36 documents of GUM: one is clearly best, three are alike, one is last."""
    gum = shared / "gum"
    systems = ("cort-latent", "cort-pair", "corefgraph", "baseline", "xrenner")
    results = {name: score(gum / "key.conll", gum / f"{name}.conll") for name in systems}
    compared = compare(results)
    assert compared.best("conll") == ("cort-latent",)
    assert compared.ranks("conll") == dict(zip(systems, (1, 2, 2, 2, 5), strict=True))
    for metric in compared.metrics:
        standing = compared.ranks(metric)
        for system in systems:
            for other in compared.better_than(metric, system):
                assert standing[system] < standing[other]


@pytest.mark.filterwarnings("error")
def test_scores_that_are_no_numbers_have_no_order():
    key, one, two = ({"a": a, "b": b} for a, b in (
        ([], [["x", "y"]]), ([["z", "w"]], [["x", "y"]]), ([], [["x"], ["y"]]),
    ))  # fmt: skip
    options = {"undefined": "nan-ceafe", "aggregate": "macro-rates"}
    results = {
        name: score(key, response, metrics="muc, ceafe", **options)
        for name, response in (("one", one), ("two", two))
    }
    assert math.isnan(concordance(results).tau("muc", "ceafe"))


@pytest.mark.parametrize(
    ("choice", "values"),
    [
        ("tagset", ("penn", "ud")),
        ("heads", ("file", "tags")),
        ("minimum", ("stated", "parse")),
    ],
)
def test_what_mentions_told_differs_only_where_it_was_asked_for(systems, choice, values):
    """A result with heads, say, compares with one without any, but not with one of other heads."""

    def compared(*chosen):
        results = {}
        for name, value in zip(("good", "poor"), chosen, strict=True):
            protocol = systems[name].protocol.but(**{choice: value} if value else {})
            results[name] = replace(systems[name], protocol=protocol)
        return compare(results, trials=9)

    plain = compared("", "").pairs
    assert compared(values[0], "").pairs == compared("", values[1]).pairs == plain
    with pytest.raises(UsageError, match=f"scored alike can be compared: {choice} is {values[0]}"):
        compared(*values)

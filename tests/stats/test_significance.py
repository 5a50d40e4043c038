"""Significance: paired randomization and bootstrap against loops, enumeration and the null."""

from __future__ import annotations

import itertools
import tracemalloc
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corefeval import UsageError
from corefeval.results import CountTable
from corefeval.results.rates import Aggregation
from corefeval.stats import resampling
from count_tables import RATIO, compare_two, drawn, rates_of, result_of, simulated

randomization, bootstrap_test, exact = (
    partial(compare_two, test=test) for test in ("randomization", "bootstrap", "exact")
)


def pair_of(seed, size, *, better=0.0, **options):
    generator = np.random.default_rng(seed)
    sizes = generator.integers(0, 40, size)
    first = simulated(generator, sizes, quality=0.6 + better, response="one", **options)
    return first, simulated(generator, sizes, quality=0.6, response="other", **options)


def swapped(first, second, flags):
    """Both results with the flagged documents exchanged, one document after the other."""
    tables = ({}, {})
    for name, table in first.tables.items():
        if table.values is None:
            tables[0][name] = tables[1][name] = table
            continue
        one, other = table.values.copy(), second.tables[name].values.copy()
        for index, flag in enumerate(flags):
            if flag:
                one[index], other[index] = other[index].copy(), one[index].copy()
        tables[0][name], tables[1][name] = replace(table, values=one), replace(table, values=other)
    return replace(first, tables=tables[0]), replace(second, tables=tables[1])


def gaps(first, second):
    one, other = rates_of(first), rates_of(second)
    return {metric: one[metric, rate] - other[metric, rate] for metric, rate in one if rate == "f1"}


def looped(first, second, all_flags):
    """How many of the swaps are at least as far apart as observed."""
    seen = gaps(first, second)
    found = dict.fromkeys(seen, 0)
    for flags in all_flags:
        for metric, gap in gaps(*swapped(first, second, flags)).items():
            found[metric] += abs(gap) >= abs(seen[metric]) - 1e-10
    return found


@given(st.integers(0, 10_000), st.integers(2, 6), st.sampled_from(["micro", "macro"]))
@settings(max_examples=25)
def test_exact_as_a_loop_would_have_it(seed, size, aggregate):
    first, second = pair_of(seed, size, aggregate=aggregate)
    found = exact(first, second)
    counted = looped(first, second, itertools.product((0, 1), repeat=size))
    assert {metric: test.p for metric, test in found.items()} == pytest.approx(
        {metric: count / 2**size for metric, count in counted.items()}
    )
    for metric, gap in gaps(first, second).items():
        assert found[metric].difference == pytest.approx(gap, abs=1e-12)


@pytest.mark.parametrize("aggregate", ["micro", "macro"])
def test_randomization_as_a_loop_would_have_it(aggregate):
    first, second = pair_of(1, 9, better=0.05, aggregate=aggregate)
    (flags,) = resampling.swaps(9, 80, 6)
    assert flags.shape == (80, 9)
    counted = looped(first, second, flags.tolist())
    found = randomization(first, second, trials=80, seed=6)
    for metric, test in found.items():
        assert test.p == (counted[metric] + 1) / 81


@pytest.mark.parametrize("aggregate", ["micro", "macro"])
def test_bootstrap_as_a_loop_would_have_it(aggregate):
    first, second = pair_of(2, 12, better=0.03, aggregate=aggregate)
    samples = np.random.default_rng(9).integers(0, 12, size=(70, 12))
    moved = [gaps(drawn(first, sample), drawn(second, sample)) for sample in samples]
    found = bootstrap_test(first, second, trials=70, seed=9)
    for metric, gap in gaps(first, second).items():
        turned = sum(one[metric] * np.sign(gap) <= 1e-12 for one in moved)
        assert found[metric].p == min(1, 2 * (turned + 1) / 71)
        low, high = np.quantile([one[metric] for one in moved], (0.025, 0.975))
        assert found[metric].interval == pytest.approx((low, high), abs=1e-10)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_the_bootstrap_is_no_surer_than_all_swaps(size):
    """Of documents that all say the same, draws say nothing else either, however few they are."""
    generator = np.random.default_rng(0)
    first, second = (simulated(generator, [10] * size, quality=q, noise=0) for q in (0.9, 0.3))
    enumerated = exact(first, second, metrics=["muc"])["muc"]
    assert (
        bootstrap_test(first, second, metrics=["muc"])["muc"].p == enumerated.p == 2 ** (1 - size)
    )


@given(st.integers(0, 10_000), st.integers(2, 12), st.sampled_from(["micro", "macro"]))
@settings(max_examples=40)
def test_randomization_is_exact_within_monte_carlo_error(seed, size, aggregate):
    first, second = pair_of(seed, size, better=0.1, aggregate=aggregate)
    enumerated = exact(first, second)
    for metric, test in randomization(first, second, trials=4000, seed=seed).items():
        p = enumerated[metric].p
        # Six standard errors: hypothesis looks for the worst.
        assert abs(test.p - p) <= 6 * (p * (1 - p) / 4000) ** 0.5 + 1 / 4000


def test_worked_by_hand():
    """Two documents, one system better by the same in both: of four swaps two are as far apart."""
    names = ("recall_numerator", "recall_denominator", "precision_numerator",
             "precision_denominator")  # fmt: skip
    better, worse = (
        result_of({"muc": CountTable("ratio", names, np.array([[n, 4.0, n, 4.0]] * 2))})
        for n in (3.0, 1.0)
    )
    assert exact(better, worse)["muc"].p == 0.5
    assert exact(better, worse)["muc"].difference == 0.5
    assert exact(worse, better)["muc"].difference == -0.5


def p_values(test, corpora, size, **options):
    """Of systems that are equally good, by each metric: corpora × metrics."""
    rows = []
    for seed in range(corpora):
        first, second = pair_of(seed + 100, size)
        rows.append([found.p for found in test(first, second, seed=seed, **options).values()])
    return np.array(rows)


def kolmogorov_smirnov(values):
    ordered = np.sort(values)
    steps = np.arange(1, ordered.size + 1) / ordered.size
    return np.maximum(np.abs(steps - ordered), np.abs(steps - 1 / ordered.size - ordered)).max()


def test_uniform_under_the_null():
    """400 pairs of equally good systems: the 0.1 % bound of Kolmogorov and Smirnov."""
    found = p_values(randomization, 400, 40, trials=400)
    for column in found.T:
        assert kolmogorov_smirnov(column) < 1.95 / 400**0.5


@pytest.mark.slow
def test_the_bootstrap_is_nearly_uniform_under_the_null():
    """It is known to be a little bold."""
    found = p_values(bootstrap_test, 400, 40, trials=400)
    shares = (found <= 0.05).mean(axis=0)
    assert np.all(shares > 0.02)
    assert np.all(shares < 0.1)


@pytest.mark.parametrize("test", [randomization, exact, bootstrap_test])
@pytest.mark.parametrize("aggregate", ["micro", "macro"])
def test_identical_systems(test, aggregate):
    first, _ = pair_of(5, 12, aggregate=aggregate)
    for found in test(first, first).values():
        assert (found.p, found.difference) == (1.0, 0.0)


@pytest.mark.parametrize("test", [randomization, bootstrap_test])
def test_seeds_and_blocks(test, monkeypatch):
    first, second = pair_of(6, 70)
    one, same, other = (test(first, second, trials=300, seed=seed) for seed in (0, 0, 1))
    assert one == same
    assert one != other
    monkeypatch.setattr(resampling, "_BLOCK_TRIALS", 11)
    assert test(first, second, trials=300, seed=0) == one


@pytest.mark.parametrize("test", [randomization, exact, bootstrap_test])
def test_turned_round_is_the_same(test):
    first, second = pair_of(7, 10, better=0.05)
    forward, backward = test(first, second), test(second, first)
    for metric, found in forward.items():
        assert backward[metric].p == found.p
        assert backward[metric].difference == -found.difference


def test_metrics_share_their_swaps():
    first, second = pair_of(8, 30)
    alone = randomization(first, second, metrics=["conll"], trials=200)
    assert alone == {"conll": randomization(first, second, trials=200)["conll"]}


def test_other_rates():
    first, second = pair_of(8, 30)
    found = randomization(first, second, rate="recall", trials=100)
    assert "conll" not in found
    assert found["muc"].difference == pytest.approx(first["muc"].recall - second["muc"].recall)
    with pytest.raises(UsageError, match="conll has no recall, only f1"):
        randomization(first, second, metrics=["conll"], rate="recall")
    with pytest.raises(UsageError, match="no metric with the rate 'glory'"):
        randomization(first, second, rate="glory")


def test_systems_that_say_nothing_where_they_are_swapped():
    """Fractions that cancel out leave no dust that would look like a score."""
    names = ("recall_numerator", "recall_denominator", "precision_numerator",
             "precision_denominator")  # fmt: skip
    full = np.array([[0.1, 0.7, 0.1, 0.3]] * 3)
    some = full.copy()
    some[:2, 2:] = some[:2, 0:1] = 0
    first, second = (
        result_of({"lmuc": CountTable("ratio", names, values)}) for values in (full, some)
    )
    counted = looped(first, second, itertools.product((0, 1), repeat=3))
    assert exact(first, second)["lmuc"].p == counted["lmuc"] / 8


def test_what_cannot_be_compared():
    first, second = pair_of(3, 10)
    with pytest.raises(UsageError, match=r"document 10 is ‘document 9’ in one.*nothing in other"):
        randomization(first, drawn(second, range(9)))
    with pytest.raises(UsageError, match="document 1 is"):
        randomization(first, drawn(second, [1, 0, *range(2, 10)]))
    with pytest.raises(UsageError, match="singletons is keep for one and drop for other"):
        randomization(first, replace(second, protocol=second.protocol.but(singletons="drop")))
    with pytest.raises(UsageError, match="aggregate is micro for one and macro for other"):
        randomization(first, replace(second, protocol=second.protocol.but(aggregate="macro")))
    with pytest.raises(UsageError, match="segments"):
        randomization(drawn(first, [0]), drawn(second, [0]))
    with pytest.raises(UsageError, match="20 documents at most"):
        exact(*pair_of(3, 21))
    with pytest.raises(UsageError, match="trials"):
        randomization(first, second, trials=0)
    muc = second.tables["muc"]
    muc = replace(muc, names=muc.names[::-1], values=muc.values[:, ::-1])
    tables = {**second.tables, "muc": muc}
    with pytest.raises(UsageError, match="count muc in different ways"):
        randomization(first, replace(second, tables=tables), metrics=["b3", "muc"])


def test_versions_may_differ():
    first, second = pair_of(3, 10)
    later = replace(second, version="2")
    assert randomization(first, later, trials=50) == randomization(first, second, trials=50)


@pytest.mark.parametrize("test", [randomization, bootstrap_test])
def test_memory_is_bounded(test):
    """A hundred thousand documents: the counts once more, and blocks besides."""
    first, second = pair_of(0, 100_000)
    counts = sum(
        table.values.nbytes
        for result in (first, second)
        for table in result.tables.values()
        if table.values is not None
    )
    tracemalloc.start()
    test(first, second, trials=60)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < counts + 80e6


COUNTS = st.sampled_from([-1.0, 0.0, 0.0, 0.5, 1.0, 3.0, 1e6])


@given(
    st.lists(st.tuples(COUNTS, COUNTS, COUNTS, COUNTS), min_size=1, max_size=4),
    st.sampled_from(["0", "1", "epsilon", "nan-ceafe"]),
)
def test_f1_at_one_go_is_f1(columns, undefined):
    sums = np.array(columns).T
    aggregation = Aggregation("ceafe", "ratio", RATIO, "micro", undefined)
    with np.errstate(all="ignore"):
        expected = aggregation.rates_of_sums(sums)["f1"]
        found = aggregation.rate_of_sums(sums, "f1")
    plain = np.abs(expected) < 1e3  # near a pole of counts that are none, digits are lost
    assert found[plain] == pytest.approx(expected[plain], abs=1e-9, nan_ok=True)

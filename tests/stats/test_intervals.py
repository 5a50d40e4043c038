"""Intervals: the percentile bootstrap over documents."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from corefeval import UsageError
from corefeval.results import Result
from corefeval.stats import Interval, resampling, with_intervals
from count_tables import drawn, rates_of, simulated


def intervals(result, **options):
    return with_intervals(result, **options).intervals


@pytest.fixture
def result() -> Result:
    sizes = [4, 0, 10, 7, 3, 22, 5]  # one document has nothing to count
    return simulated(np.random.default_rng(3), sizes)


@pytest.mark.parametrize("aggregate", ["micro", "macro"])
def test_as_a_loop_over_samples_would_have_it(result, aggregate):
    result = replace(result, protocol=result.protocol.but(aggregate=aggregate))
    size = len(result.document_ids)
    samples = np.random.default_rng(5).integers(0, size, size=(60, size))
    looped = [rates_of(drawn(result, sample)) for sample in samples]
    found = intervals(result, samples=60, seed=5, level=0.9)
    assert set(found) == set(result.metrics)
    for metric, rate in looped[0]:
        low, high = np.quantile([one[metric, rate] for one in looped], (0.05, 0.95))
        assert found[metric][rate] == pytest.approx((low, high), abs=1e-10)


@pytest.mark.parametrize("aggregate", ["micro", "macro"])
def test_the_score_lies_in_its_interval(result, aggregate):
    result = replace(result, protocol=result.protocol.but(aggregate=aggregate))
    found = intervals(result)
    for metric, rate in rates_of(result):
        assert result[metric].rates[rate] in found[metric][rate]


def test_seeds(result):
    one, same, other = (intervals(result, seed=seed) for seed in (0, 0, 1))
    assert dict(one) == dict(same)
    assert dict(one) != dict(other)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_size_of_blocks_changes_nothing(result, size, monkeypatch):
    whole = intervals(result, samples=50)
    monkeypatch.setattr(resampling, "_BLOCK_TRIALS", size)
    assert dict(intervals(result, samples=50)) == dict(whole)


def test_a_higher_level_is_wider(result):
    narrow, wide = (intervals(result, level=level)["muc"]["f1"] for level in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize("aggregate", ["micro", "macro"])
def test_they_hold_the_truth_as_often_as_they_say(aggregate):
    """About 95 %: percentile intervals of 50 documents are known to fall a little short.

    Over 3,000 corpora they held it in 93 to 94 %, where normal intervals of the same means held it
    in 94 to 95 %. The bounds leave four standard errors on either side of that; all rates see the
    same corpora, so that more rates make the test no sharper.
    """
    corpora, size = 800, 50
    generator = np.random.default_rng(11)
    population = simulated(
        generator, generator.integers(3, 60, 20_000), noise=0.2, aggregate=aggregate
    )
    truth = rates_of(population)
    hits = dict.fromkeys(truth, 0)
    for corpus in range(corpora):
        sample = drawn(population, generator.integers(0, 20_000, size))
        found = intervals(sample, samples=300, seed=corpus)
        for (metric, rate), value in truth.items():
            hits[metric, rate] += value in found[metric][rate]
    shares = np.array(list(hits.values())) / corpora
    room = 4 * (0.05 * 0.95 / corpora) ** 0.5
    assert np.all(shares > 0.93 - room)
    assert np.all(shares < 0.95 + room)


def test_one_document_cannot_vary(result):
    alone = with_intervals(drawn(result, [0]))
    assert not alone.intervals
    assert [notice.kind for notice in alone.notices] == ["no-interval"]


def test_few_documents_come_with_a_notice(result):
    assert not with_intervals(result).notices
    few = with_intervals(drawn(result, [0, 2, 3]))
    assert [notice.kind for notice in few.notices] == ["few-documents"]
    assert "3 documents" in str(few.notices[0])


@pytest.mark.parametrize(
    "options", [{"level": 1}, {"level": 95}, {"samples": 0}, {"seed": -1}, {"seed": None}]
)
def test_senseless_arguments(result, options):
    with pytest.raises(UsageError):
        intervals(result, **options)


def test_how_they_were_made(result):
    made = with_intervals(result, samples=10, seed=4)
    assert made.protocol.ci == "bootstrap(7 documents,level=0.95,samples=10,seed=4)"
    assert len(made.intervals) == 5
    assert -Interval(-1.0, 3.0) == Interval(-3.0, 1.0)


def test_memory_is_bounded():
    """A hundred thousand documents: the counts once more, and blocks besides."""
    generator = np.random.default_rng(0)
    result = simulated(generator, generator.integers(2, 50, 100_000))
    counts = sum(t.values.nbytes for t in result.tables.values() if t.values is not None)
    tracemalloc.start()
    intervals(result, samples=60)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < counts + 80e6

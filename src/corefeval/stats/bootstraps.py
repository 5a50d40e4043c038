"""Bootstraps: how far a score would move with other documents.

Intervals stand beside every score of a result and of its slices. Averages over corpora move with
other corpora and seeds, too: corpora are drawn, the documents within them, and runs with other
seeds. Everything is linear until the rates, as in `resampling`. A corpus that a trial draws twice
has its documents drawn twice; all systems see the same corpora and documents, so that their
differences are paired. A run (one seed of a system) is drawn once for a trial, and counts on all
corpora of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corefeval.checks import check_count, check_probability, check_seed
from corefeval.diagnostics import Notice, plural
from corefeval.results import Result, Slices
from corefeval.results.rates import Numbers
from corefeval.stats.resampling import (
    Bools,
    Stack,
    bootstrap,
    resamples,
    stack,
    unit_of,
)
from corefeval.stats.significance import CorporaOptions, least_swap_p

FEW_DOCUMENTS = 5
_SHOWN = 5  # names that a notice lists
_LEAST = 2  # one document cannot vary
_TOGETHER = 64  # slices that are resampled together: more would take much memory


class Interval(NamedTuple):
    """From `low` to `high`."""

    low: float
    high: float

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float) and self.low <= value <= self.high

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)


def middle(values: Numbers, level: float) -> Interval:
    """Where the middle `level` of the values lies."""
    low, high = np.quantile(values, ((1 - level) / 2, (1 + level) / 2))
    return Interval(float(low), float(high))


def warn_of_few(result: Result) -> tuple[Notice, ...]:
    """A notice where there are too few documents for the bootstrap to be trusted."""
    count = len(result.document_ids)
    if count >= FEW_DOCUMENTS:
        return ()
    units = plural(count, unit_of(result))
    message = f"intervals from only {units} are too narrow: do not trust them"
    return (Notice("few-documents", message, count, result.document_ids),)


ByRate = Mapping[str, Mapping[str, Interval]]


@dataclass(frozen=True, slots=True)
class _Plan:
    """How intervals are made, and of what: `unit` is document or segment."""

    level: float
    samples: int
    seed: int
    unit: str

    def __post_init__(self) -> None:
        check_probability("the level of an interval", self.level)
        check_count("the number of samples", self.samples)
        check_seed(self.seed)

    def setting(self, number: int) -> str:
        """The choice `ci` of a protocol, for a bootstrap of `number` units."""
        return (
            f"bootstrap({plural(number, self.unit)},level={self.level:g},"
            f"samples={self.samples},seed={self.seed})"
        )


def with_intervals(
    result: Result,
    *,
    level: float = 0.95,
    samples: int = 1000,
    seed: int = 0,
    segments: Result | None = None,
) -> Result:
    """The result with an interval for every rate of every metric, in its slices too.

    It is a percentile bootstrap over documents (Efron 1979): documents are drawn with replacement,
    as many as there are, `samples` times, and the interval holds the middle `level` of the scores
    of these samples. Micro and macro scores and means of metrics are all worked out anew for every
    sample. With few documents the intervals are too narrow, and a notice says so; where fewer than
    two documents have anything to count there is no interval, and a notice says that. `segments` is
    the result of the parts of a single document, which are then resampled instead of it: scores
    stay those of the document, and beside them are those of its segments, with the intervals.

    >>> import corefeval
    >>> key = {"one": [["a", "b"]], "two": [["c", "d", "e"]], "three": [["f", "g"]]}
    >>> response = {"one": [["a", "b"]], "two": [["c", "d"]], "three": [["f"], ["g"]]}
    >>> result = with_intervals(corefeval.score(key, response, metrics="muc"), seed=1)
    >>> result["muc"].intervals["recall"]
    Interval(low=0.0, high=1.0)
    """
    plan = _Plan(level, samples, seed, "document" if segments is None else "segment")
    units = result if segments is None else segments
    missing: list[str] = []
    notices = list(warn_of_few(units)) if len(units.document_ids) >= _LEAST else []
    slices = {
        feature: _slice_intervals(parts, units.slices[feature], plan, missing)
        for feature, parts in result.slices.items()
        if feature in units.slices
    }
    [by_metric] = _intervals([units], plan)
    result = _attach(result, by_metric, units, plan)
    if absent := [metric for metric in result.metrics if metric not in by_metric]:
        missing.insert(0, ", ".join(absent))
    if missing:
        message = f"no interval where fewer than two {plan.unit}s have anything to count: "
        message += ", ".join(missing[:_SHOWN])
        message += f", and {len(missing) - _SHOWN} more" if missing[_SHOWN:] else ""
        notices.append(Notice("no-interval", message, len(missing), (*missing,)))
    return replace(result, slices=slices, notices=(*result.notices, *notices))


def _slice_intervals(slices: Slices, units: Slices, plan: _Plan, missing: list[str]) -> Slices:
    """Slices with intervals; the names of those that have none are put on the list."""
    parts = {value: units[value] for value in slices if value in units}
    by_value: dict[str, ByRate] = {}
    if slices.level == "document":
        for value, part in parts.items():  # no two share documents
            by_value[value] = _intervals([part], plan)[0]
    else:
        values = list(parts)
        for start in range(0, len(values), _TOGETHER):
            block = values[start : start + _TOGETHER]
            by_value.update(zip(block, _intervals([parts[v] for v in block], plan), strict=True))
    missing += [
        f"{slices.feature}={value}"
        for value in slices
        if slices[value].tables and not by_value.get(value)
    ]
    results = {
        value: _attach(result, by_value.get(value, {}), parts[value], plan)
        if value in parts
        else result
        for value, result in slices.items()
    }
    [by_metric] = _intervals([units.whole], plan)
    all_slices = _attach(slices.whole, by_metric, units.whole, plan)
    return replace(slices, whole=all_slices, results=results)


def _intervals(results: Sequence[Result], plan: _Plan) -> list[ByRate]:
    """The intervals of results of the same documents, of the metrics that may vary."""
    first = results[0]
    metrics = [metric for metric in first.metrics if all(metric in r.tables for r in results)]
    if len(first.document_ids) < _LEAST or not metrics:
        return [{} for _ in results]
    return [
        {m: rates for m, rates in by_metric.items() if _count_documents(result, m) >= _LEAST}
        for result, by_metric in zip(results, _resample(results, metrics, plan), strict=True)
    ]


def _resample(results: Sequence[Result], metrics: Sequence[str], plan: _Plan) -> list[ByRate]:
    """The intervals of each result, by metric and rate."""
    samples = bootstrap(stack(results, metrics), plan.samples, plan.seed)
    return [
        {
            metric: {rate: middle(values[index], plan.level) for rate, values in rates.items()}
            for metric, rates in samples.items()
        }
        for index in range(len(results))
    ]


def _count_documents(result: Result, metric: str) -> int:
    """In how many documents a metric has anything to count."""
    names = result.tables[metric].parts or (metric,)
    return max(int(result.tables[name].counted().sum()) for name in names)


def _attach(result: Result, intervals: ByRate, units: Result, plan: _Plan) -> Result:
    """The result with the intervals of its units: its documents or segments.

    A metric that is no number in some document, as CEAFe under some protocols, has no interval.
    """
    intervals = {
        metric: rates
        for metric, rates in intervals.items()
        if all(end == end for ends in rates.values() for end in ends)
    }
    if not intervals:
        return result
    are_segments = plan.unit == "segment"
    return replace(
        result,
        ci=plan.level,
        intervals=intervals,
        segment_rates={m: units[m].rates for m in intervals} if are_segments else {},
        protocol=result.protocol.but(ci=plan.setting(len(units.document_ids))),
    )


Integers = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class CorpusCounts:
    """A corpus: the counts of one metric for all runs that have a result.

    For each result of `stack`, `systems` has the number of its system and `runs` that of the run.
    There is no `stack` where no system has a result.
    """

    stack: Stack | None
    systems: Integers
    runs: Integers
    weight: float = 1.0

    @property
    def size(self) -> int:
        """The number of its documents; 0 where no system has a result."""
        return 0 if self.stack is None else self.stack.n_documents

    @property
    def counts(self) -> Stack:
        """The `stack` of a corpus that has one."""
        if self.stack is None:
            raise ValueError("no system has a result on this corpus")
        return self.stack


@dataclass(frozen=True, eq=False)
class Averages:
    """The average of systems over some corpora: `observed` by system, `samples` systems × trials.

    A trial that draws none of these corpora has none: NaN. `units` is how many documents are drawn,
    or how many corpora where these are drawn whole.
    """

    observed: Numbers
    samples: Numbers = field(repr=False)
    units: int = 0

    def drawn(self, system: int) -> Numbers:
        """The averages of a system in the trials that have any; the observed one if none has."""
        return _drop_nan(self.samples[system], self.observed[system])

    def difference(self, first: int, second: int) -> tuple[float, Numbers]:
        """The observed difference of two systems, and that of each trial that has any."""
        observed = float(self.observed[first] - self.observed[second])
        return observed, _drop_nan(self.samples[first] - self.samples[second], observed)


def _drop_nan(samples: Numbers, observed: float) -> Numbers:
    defined = samples[~np.isnan(samples)]
    return defined if defined.size else np.array([observed])


@dataclass(frozen=True, eq=False)
class Resampling:
    """How averages are resampled; `n_runs` is how many runs each system has."""

    n_runs: Sequence[int]
    options: CorporaOptions

    def average(self, corpora: Sequence[CorpusCounts], scopes: Sequence[Bools]) -> list[Averages]:
        """For each scope (which corpora) the weighted means of all systems' rates."""
        size, trials = len(self.n_runs), self.options.trials
        drawn_runs = [self._draw_runs(system) for system in range(size)]
        every_run = [np.ones((1, n)) for n in self.n_runs]
        times = np.ones((len(corpora), trials), dtype=np.intp)
        if "corpora" in self.options.resample:
            times = self._draw(len(corpora), trials, 0).T.astype(np.intp)
        sums = np.zeros((len(scopes), size, trials))
        observed, divisors = np.zeros((len(scopes), size)), np.zeros((len(scopes), trials))
        in_scope = np.asarray(scopes)
        for place, corpus in enumerate(corpora):
            including = in_scope[:, place]
            divisors[including] += corpus.weight * times[place]
            if corpus.stack is None:
                continue
            rates = self._rates(corpus, corpus.stack.totals[:, :, None], every_run)[:, 0]
            observed[including] += corpus.weight * rates
            for block, values in self._draw_documents(corpus, place, times[place], drawn_runs):
                starts = np.flatnonzero(np.diff(block, prepend=-1))
                added = corpus.weight * np.add.reduceat(values, starts, axis=-1)
                for scope in np.flatnonzero(including):
                    sums[scope][:, block[starts]] += added
        weights = in_scope @ np.array([corpus.weight for corpus in corpora])
        with np.errstate(invalid="ignore"):
            sums /= divisors[:, None]
        units = in_scope @ np.array([self.units([corpus.size]) for corpus in corpora])
        return [
            Averages(observed[n] / weights[n], sums[n], int(units[n])) for n in range(len(scopes))
        ]

    def units(self, sizes: Iterable[int]) -> int:
        """How many units are drawn from corpora of these numbers of documents: see `Averages`."""
        drawn = sizes if "documents" in self.options.resample else (min(1, size) for size in sizes)
        return sum(drawn)

    def least_p(self, units: int, first: int, second: int) -> float:
        """The smallest p-value that a difference of two systems can have with `units` units.

        Where only seeds are drawn, it is that of dealing all runs to both systems in another way.
        """
        if "documents" in self.options.resample or "corpora" in self.options.resample:
            return least_swap_p(units)
        n_first, n_second = self.n_runs[first], self.n_runs[second]
        return min(1.0, 2 / math.comb(n_first + n_second, n_first))

    def _draw(self, number: int, trials: int, *stream: int) -> Numbers:
        """How often each of `number` items is drawn: trials × items.

        `stream` numbers the use of the draws, so that different uses are independent.
        """
        return np.concatenate([*resamples(number, trials, (self.options.seed, *stream))])

    def _draw_runs(self, system: int) -> Numbers:
        """How often each run of a system is drawn, trials × runs; or a row of ones."""
        n = self.n_runs[system]
        if "seeds" not in self.options.resample or n < 2:
            return np.ones((1, n))
        return self._draw(n, self.options.trials, 2, system)

    def _draw_documents(
        self, corpus: CorpusCounts, place: int, times: Integers, drawn_runs: Sequence[Numbers]
    ) -> Iterator[tuple[Integers, Numbers]]:
        """Blocks of the trials that draw a corpus, and the rates there: systems × trials."""
        trials = np.repeat(np.arange(times.size), times)
        if corpus.stack is None or not trials.size:
            return
        counts, results, documents = corpus.stack.values.shape
        if "documents" not in self.options.resample:
            totals = corpus.stack.totals[:, :, None]
            yield trials, self._rates(corpus, totals, drawn_runs, trials)
            return
        done = 0
        room = 16 * counts * results
        for weights in resamples(
            documents, trials.size, (self.options.seed, 1, place), bytes_each=room
        ):
            block = trials[done : done + len(weights)]
            done += len(weights)
            yield block, self._rates(corpus, corpus.stack.sums(weights), drawn_runs, block)

    def _rates(
        self,
        corpus: CorpusCounts,
        sums: Numbers,
        drawn_runs: Sequence[Numbers],
        trials: Integers | None = None,
    ) -> Numbers:
        """The mean rate of each system's runs, as often as they were drawn: systems × trials.

        Where a trial has drawn only runs without a result, all runs with one count alike.
        """
        [rates] = corpus.counts.rate(sums.__getitem__, self.options.rate)
        values = np.zeros((len(drawn_runs), rates.shape[-1] if trials is None else trials.size))
        for system, drawn in enumerate(drawn_runs):
            results = np.flatnonzero(corpus.systems == system)
            if len(drawn[0]) == 1 or not results.size:
                values[system] = rates[results[0]] if results.size else 0.0
                continue
            times = drawn if trials is None or len(drawn) == 1 else drawn[trials]
            weights = times[:, corpus.runs[results]].T
            if self.options.absent == "zero":
                divisor = times.sum(axis=1)
            else:
                weights = np.where(weights.any(axis=0), weights, 1.0)
                divisor = weights.sum(axis=0)
            values[system] = (rates[results] * weights).sum(axis=0) / divisor
        return values

"""Bootstraps of averages: how far they would move with other corpora, documents and seeds.

Corpora are drawn, the documents within them, and runs with other seeds. Everything is linear until
the rates, as in `resampling`. A corpus that a trial draws twice has its documents drawn twice; all
systems see the same corpora and documents, so that their differences are paired. A run (one seed of
a system) is drawn once for a trial, and counts on all corpora of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from corefeval.results.rates import Numbers
from corefeval.stats.resampling import (
    Bools,
    Stack,
    resamples,
)
from corefeval.stats.significance import CorporaOptions, least_swap_p

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
        """How many units are drawn from corpora of so many documents: see `Averages`."""
        drawn = sizes if "documents" in self.options.resample else (min(1, size) for size in sizes)
        return sum(drawn)

    def least_p(self, units: int, first: int, second: int) -> float:
        """The smallest p-value that a difference of two systems can have with so many units.

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

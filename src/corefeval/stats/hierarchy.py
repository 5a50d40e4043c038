"""Averages over corpora, resampled: corpora, the documents within them, and runs with other seeds.

Everything is linear until the rates, as in `resampling`. A corpus that a trial draws twice has its
documents drawn twice; all systems see the same corpora and documents, so that their differences are
paired. A run (one seed of a system) is drawn once for a trial: its luck goes with it through all
corpora.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from corefeval.results.rates import Numbers
from corefeval.stats.resampling import Bools, Stack, resamples
from corefeval.stats.significance import least_swap_p

Level = Literal["corpora", "documents", "seeds"]
Integers = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class CorpusCounts:
    """A corpus: the counts of one metric for the runs that there are, and whose runs they are.

    `systems` and `runs` say of each result of `stack` which system's it is, and which of its runs.
    There is no `stack` where no system has a result.
    """

    stack: Stack | None
    systems: Integers
    runs: Integers
    weight: float = 1.0

    @property
    def size(self) -> int:
        """The number of its documents, as far as they are known."""
        return 0 if self.stack is None else self.stack.n_documents

    @property
    def known(self) -> Stack:
        """The counts, of a corpus that has any."""
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


@dataclass(frozen=True, eq=False)
class Resampling:
    """How averages are resampled; `n_runs` is how many runs each system has.

    A run without a result counts 0 where `absent` is "zero", or is left out.
    """

    n_runs: Sequence[int]
    rate: str
    trials: int
    seed: int
    levels: Sequence[Level] = ("corpora", "documents", "seeds")
    absent: Literal["zero", "leave-out"] = "zero"

    def average(self, corpora: Sequence[CorpusCounts], scopes: Sequence[Bools]) -> list[Averages]:
        """For each scope (which corpora) the weighted means of all systems' rates."""
        size = len(self.n_runs)
        luck = [self._draw_runs(system) for system in range(size)]
        even = [np.ones((1, n)) for n in self.n_runs]
        times = self._draw_corpora(len(corpora))
        sums = np.zeros((len(scopes), size, self.trials))
        observed, below = np.zeros((len(scopes), size)), np.zeros((len(scopes), self.trials))
        within = np.asarray(scopes).T
        for place, (one, mine) in enumerate(zip(corpora, within, strict=True)):
            below[mine] += one.weight * times[place]
            if one.stack is None:
                continue
            observed[mine] += (
                one.weight * self._rates(one, one.stack.totals[:, :, None], even)[:, 0]
            )
            for rows, values in self._draw_documents(one, place, times[place], luck):
                starts = np.flatnonzero(np.diff(rows, prepend=-1))
                added = one.weight * np.add.reduceat(values, starts, axis=-1)
                for scope in np.flatnonzero(mine):
                    sums[scope][:, rows[starts]] += added
        weights = within.T @ np.array([one.weight for one in corpora])
        with np.errstate(invalid="ignore"):
            sums /= below[:, None]
        units = within.T @ np.array([self.units([one.size]) for one in corpora])
        return [
            Averages(observed[n] / weights[n], sums[n], int(units[n])) for n in range(len(scopes))
        ]

    def units(self, sizes: Iterable[int]) -> int:
        """How many units are drawn from corpora of so many documents: see `Averages`."""
        drawn = sizes if "documents" in self.levels else (min(1, size) for size in sizes)
        return sum(drawn)

    def least_p(self, units: int, first: int, second: int) -> float:
        """The smallest p-value that a difference of two systems can have with so many units.

        Where nothing but seeds is drawn, it is that of parting the runs of both in another way.
        """
        if "documents" in self.levels or "corpora" in self.levels:
            return least_swap_p(units)
        mine, theirs = self.n_runs[first], self.n_runs[second]
        return min(1.0, 2 / math.comb(mine + theirs, mine))

    def _draw_corpora(self, n: int) -> Integers:
        """How often each corpus is drawn: corpora × trials."""
        if "corpora" not in self.levels:
            return np.ones((n, self.trials), dtype=np.intp)
        return np.concatenate([*resamples(n, self.trials, (self.seed, 0))]).T.astype(np.intp)

    def _draw_runs(self, system: int) -> Numbers:
        """How often each run of a system is drawn, trials × runs; or a row of ones."""
        n = self.n_runs[system]
        if "seeds" not in self.levels or n < 2:
            return np.ones((1, n))
        return np.concatenate([*resamples(n, self.trials, (self.seed, 2, system))])

    def _draw_documents(
        self, one: CorpusCounts, place: int, times: Integers, luck: Sequence[Numbers]
    ) -> Iterator[tuple[Integers, Numbers]]:
        """Blocks of the trials that draw a corpus, and the rates there: systems × trials."""
        trials = np.repeat(np.arange(times.size), times)
        if one.stack is None or not trials.size:
            return
        counts, results, documents = one.stack.values.shape
        if "documents" not in self.levels:
            totals = one.stack.totals[:, :, None]
            yield trials, self._rates(one, totals, luck, trials)
            return
        done = 0
        room = 16 * counts * results
        for weights in resamples(documents, trials.size, (self.seed, 1, place), bytes_each=room):
            rows = trials[done : done + len(weights)]
            done += len(weights)
            yield rows, self._rates(one, one.stack.sums(weights), luck, rows)

    def _rates(
        self,
        one: CorpusCounts,
        sums: Numbers,
        luck: Sequence[Numbers],
        rows: Integers | None = None,
    ) -> Numbers:
        """The mean rate of each system's runs, as often as they were drawn: systems × trials.

        Where a trial has drawn none of the runs that there are, all of these count alike.
        """
        [rates] = one.known.rate(sums.__getitem__, self.rate)
        values = np.zeros((len(luck), rates.shape[-1] if rows is None else rows.size))
        for system, drawn in enumerate(luck):
            mine = np.flatnonzero(one.systems == system)
            if len(drawn[0]) == 1 or not mine.size:
                values[system] = rates[mine[0]] if mine.size else 0.0
                continue
            times = drawn if rows is None or len(drawn) == 1 else drawn[rows]
            there = times[:, one.runs[mine]].T
            if self.absent == "zero":
                bottom = times.sum(axis=1)
            else:
                there = np.where(there.any(axis=0), there, 1.0)
                bottom = there.sum(axis=0)
            values[system] = (rates[mine] * there).sum(axis=0) / bottom
        return values

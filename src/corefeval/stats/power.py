"""Power: how many documents it would take to show a difference."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corefeval.checks import check_count, check_probability, check_seed
from corefeval.diagnostics import plural
from corefeval.results import Result
from corefeval.results.rates import Numbers, divide
from corefeval.stats.resampling import Stack, name_pair, stack_comparable
from corefeval.stats.significance import TOLERANCE

_BLOCK_BYTES = 2**25
_STEP = 1e-5  # of finite differences, relative to a count
_PRECISION = 0.02  # the answer is searched to two per cent of itself


@dataclass(frozen=True, slots=True)
class Power:
    """How many documents would be needed for a difference to become significant.

    `needed` is the number in all, `more` the number besides those that are there, both None where
    it is more than `limit`. `curve` pairs numbers of documents with the share of simulated corpora
    of this size in which the difference is significant, in the observed direction.
    """

    systems: tuple[str, str]
    metric: str
    rate: str
    difference: float
    documents: int
    needed: int | None
    limit: int
    curve: tuple[tuple[int, float], ...]
    alpha: float
    power: float
    simulations: int
    seed: int
    tests: int = 1

    @property
    def more(self) -> int | None:
        """How many documents are missing."""
        return None if self.needed is None else max(0, self.needed - self.documents)

    @property
    def now(self) -> float:
        """The power of the documents that there are."""
        return dict(self.curve)[self.documents]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        names = ("metric", "rate", "difference", "documents", "needed", "more", "limit")
        return {
            "first": self.systems[0],
            "second": self.systems[1],
            **{name: getattr(self, name) for name in (*names, "power", "alpha", "tests")},
            "curve": [list(point) for point in self.curve],
        }

    def __str__(self) -> str:
        """One sentence for people."""
        corrected = f" after correction for {self.tests} pairs" if self.tests > 1 else ""
        goal = (
            f"for {self.metric} to differ significantly (p ≤ {self.alpha:g}{corrected}, "
            f"power {self.power:g})"
        )
        if self.needed is None:
            return f"more than {plural(self.limit, 'document')} like these would be needed {goal}"
        if not self.more:
            return f"{plural(self.documents, 'document')} are enough {goal}"
        return (
            f"{plural(self.needed, 'document')} like these would be needed {goal}: "
            f"{self.more:,} more than there are"
        )


def documents_needed(
    first: Result,
    second: Result,
    *,
    metric: object = "conll",
    rate: str = "f1",
    alpha: float = 0.05,
    power: float = 0.8,
    simulations: int = 1000,
    seed: int = 0,
    limit: int = 100,
    names: tuple[str, str] | None = None,
    tests: int = 1,
) -> Power:
    """How many documents like these the observed difference would take to become significant.

    Corpora of n documents are drawn from those that are there, with replacement, and tested; n is
    doubled until the share of significant ones reaches `power`, at most to `limit` times the
    documents that are there, then searched by halving. The test of a drawn corpus is the normal
    approximation of paired randomization: swaps move the difference by the sum over documents of
    ±d, where d is the document's difference of counts times the slope of the rate at the mean
    of both systems, so that its variance is the sum of d².

    The observed difference is taken for the true one. It is itself uncertain, so that the answer is
    an order of magnitude, and no reason to stop collecting as soon as p is small enough. `tests`
    is the number of tests that p-values are corrected for; the test must hold against the strictest
    correction, alpha divided by it. `names` are what to call the systems, by default what their
    responses are called.

    >>> import corefeval
    >>> key = {str(number): [list("abc")] for number in range(20)}
    >>> better = {name: [list("abc" if int(name) % 3 else "ab")] for name in key}
    >>> worse = {name: [list("abc" if int(name) % 2 else "ab")] for name in key}
    >>> a, b = (corefeval.score(key, side, metrics="muc") for side in (better, worse))
    >>> answer = documents_needed(a, b, metric="muc")
    >>> answer.now < 0.5 and 50 < answer.needed < 500
    True
    """
    for name, value in (("alpha", alpha), ("power", power)):
        check_probability(name, value)
    check_count("the number of simulations", simulations)
    check_count("limit", limit)
    check_count("tests", tests)
    check_seed(seed)
    results = name_pair(first, second, names)
    stacked = stack_comparable(results, [metric], rate=rate)
    [chosen] = stacked.metrics
    scores = stacked.rate(stacked.totals.__getitem__, rate)[0]
    difference = float(scores[0] - scores[1])
    simulation = _Simulation(stacked, rate, difference, alpha / tests, simulations, seed)
    top = limit * stacked.n_documents
    needed, curve = _search(simulation, stacked.n_documents, top, power)
    first_name, second_name = results
    return Power(
        systems=(first_name, second_name),
        metric=chosen,
        rate=rate,
        difference=difference,
        documents=stacked.n_documents,
        needed=needed,
        limit=top,
        curve=tuple(sorted(curve.items())),
        alpha=alpha,
        power=power,
        simulations=simulations,
        seed=seed,
        tests=tests,
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Simulation:
    """Draws corpora of any size and tests them."""

    stacked: Stack
    rate: str
    difference: float
    alpha: float
    simulations: int
    seed: int

    def power(self, size: int) -> float:
        """The share of corpora of `size` documents with a significant difference."""
        if abs(self.difference) <= TOLERANCE:
            return 0.0
        documents = self.stacked.n_documents
        generator = np.random.default_rng([self.seed, size])
        block = max(1, min(self.simulations, _BLOCK_BYTES // (16 * documents)))
        critical = NormalDist().inv_cdf(1 - self.alpha / 2)
        direction = np.sign(self.difference)
        # Only documents that differ can swap: of k of them no p-value is below 2 / 2ᵏ.
        differ = (self.stacked.values[:, 0] != self.stacked.values[:, 1]).any(axis=0)
        enough = 1 - np.log2(self.alpha)
        successes = 0
        for done in range(0, self.simulations, block):
            shape = min(block, self.simulations - done)
            times = generator.multinomial(size, np.full(documents, 1 / documents), size=shape)
            scores = standard_scores(self.stacked, times.astype(np.float64), self.rate)
            significant = (scores * direction >= critical) & (times @ differ >= enough)
            successes += int(significant.sum())
        return successes / self.simulations


def standard_scores(stacked: Stack, weights: Numbers, rate: str) -> Numbers:
    """The difference of drawn corpora over its standard deviation under swaps, for each of them.

    `weights` (corpora × documents) says how often each document was drawn; the stack has one
    metric and two results.
    """
    sums = stacked.sums(weights)
    scores = stacked.rate(sums.__getitem__, rate)[0]
    rows = stacked.rows(stacked.metrics[0])
    slopes = _slopes(stacked, sums.mean(axis=1), rows, rate)
    gaps = stacked.values[rows, 0] - stacked.values[rows, 1]
    variance = np.zeros(weights.shape[0])
    # One pair of counts at a time: all products at once would be documents × counts².
    for i, slope in enumerate(slopes):
        for j in range(i + 1):
            moments = weights @ (gaps[i] * gaps[j])
            variance += (1 + (j < i)) * slope * slopes[j] * moments
    spread = np.sqrt(np.maximum(variance, 0.0))
    difference = scores[0] - scores[1]
    return divide(difference, np.where(spread > TOLERANCE, spread, 0.0))


def _slopes(stacked: Stack, middle: Numbers, rows: NDArray[np.intp], rate: str) -> list[Numbers]:
    """How the rate moves with each count, at `middle` (counts × corpora)."""
    scale = middle.mean(axis=1)
    slopes = []
    for row in rows:
        step = _STEP * np.maximum(middle[row], scale[row] if scale[row] > 0 else 1.0)
        up, down = middle.copy(), middle.copy()
        up[row] += step
        down[row] -= step
        rates = [stacked.rate(side.__getitem__, rate)[0] for side in (up, down)]
        slopes.append((rates[0] - rates[1]) / (2 * step))
    return slopes


def _search(
    simulation: _Simulation, documents: int, top: int, power: float
) -> tuple[int | None, dict[int, float]]:
    """The smallest number of documents that reaches the power, and all that were tried."""
    curve = {documents: simulation.power(documents)}
    below, size = documents, documents
    while curve[size] < power:
        if size == top or not simulation.difference:
            return None, curve
        below, size = size, min(2 * size, top)
        curve[size] = simulation.power(size)
    while size - below > max(1, _PRECISION * size):
        middle = (below + size) // 2
        curve[middle] = simulation.power(middle)
        below, size = (below, middle) if curve[middle] >= power else (middle, size)
    return size, curve

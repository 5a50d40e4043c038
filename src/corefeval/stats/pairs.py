"""Two systems by one metric: where they differ, and how many documents it would take to show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from corefeval.checks import check_count, check_probability, check_seed
from corefeval.diagnostics import plural
from corefeval.display import Row, Tabular
from corefeval.results import Result
from corefeval.results.rates import Numbers, divide
from corefeval.stats.resampling import Pick, Stack, name_results, stack_comparable
from corefeval.stats.significance import TIE, TOLERANCE, document_rates

Outcome = Literal["win", "loss", "tie"]

# The most steps that the search for a turning set takes: with more documents than this, each step
# leaves out several.
_STEPS = 1000
_BLOCK_BYTES = 2**25
_STEP = 1e-5  # of finite differences, relative to a count
_PRECISION = 0.02  # the answer is searched to two per cent of itself


@dataclass(frozen=True, slots=True)
class DocumentDifference:
    """One document: both systems' rates on it alone, and what it does to the corpus.

    `influence` is by how much the difference of the corpus scores would shrink without it.
    """

    id: str
    first: float
    second: float
    difference: float
    outcome: Outcome
    influence: float


@dataclass(frozen=True, slots=True)
class SliceDifference:
    """One slice: both systems' rates on it; `turned` where the order is not that of the corpus."""

    feature: str
    value: str
    first: float
    second: float
    difference: float
    turned: bool


@dataclass(frozen=True, eq=False, repr=False)
class Differences(Tabular):
    """Where two systems differ by one metric."""

    systems: tuple[str, str]
    metric: str
    rate: str
    scores: tuple[float, float]
    documents: tuple[DocumentDifference, ...]
    turning_set: tuple[str, ...] | None
    slices: tuple[SliceDifference, ...]

    @property
    def difference(self) -> float:
        """The difference of the corpus scores, first − second."""
        return self.scores[0] - self.scores[1]

    @cached_property
    def outcomes(self) -> dict[Outcome, int]:
        """In how many documents the first system wins, loses, ties."""
        counts: dict[Outcome, int] = {"win": 0, "loss": 0, "tie": 0}
        for document in self.documents:
            counts[document.outcome] += 1
        return counts

    def __repr__(self) -> str:
        names = " and ".join(self.systems)
        outcomes = ", ".join(f"{name} {number:,}" for name, number in self.outcomes.items())
        return f"<Differences of {names} by {self.metric}: {outcomes}>"

    @property
    def document_ids(self) -> tuple[str, ...]:
        """Names and parts of the documents."""
        return tuple(document.id for document in self.documents)

    def drivers(self, count: int = 10) -> tuple[DocumentDifference, ...]:
        """The documents that make most of the difference, the strongest first.

        Those without which the difference would shrink; where there is none, no documents.
        """
        direction = np.sign(self.difference)
        strength = [document.influence * direction for document in self.documents]
        order = np.argsort(-np.array(strength), kind="stable")[:count]
        return tuple(self.documents[i] for i in order if strength[i] > TOLERANCE)

    @property
    def turned_slices(self) -> tuple[SliceDifference, ...]:
        """The slices in which the order of the systems is the other way round."""
        return tuple(part for part in self.slices if part.turned)

    def rows(self) -> list[Row]:
        """One row for each document."""
        return [
            {
                "first": self.systems[0],
                "second": self.systems[1],
                "metric": self.metric,
                "rate": self.rate,
                "document": document.id,
                "first_score": document.first,
                "second_score": document.second,
                "difference": document.difference,
                "outcome": document.outcome,
                "influence": document.influence,
            }
            for document in self.documents
        ]

    def as_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            "first": self.systems[0],
            "second": self.systems[1],
            "metric": self.metric,
            "rate": self.rate,
            "difference": self.difference,
            "outcomes": dict(self.outcomes),
            "turning_set": None if self.turning_set is None else list(self.turning_set),
            "documents": [asdict(document) for document in self.documents],
            "slices": [asdict(part) for part in self.slices],
        }


def differences(
    first: Result,
    second: Result,
    *,
    metric: object = "conll",
    rate: str = "f1",
    names: tuple[str, str] | None = None,
) -> Differences:
    """Where two systems differ: document by document, and slice by slice.

    The influence of a document is exact: the corpus is scored again without it. `turning_set` are
    documents without which the order of the systems turns round, found one by one, each time the
    one whose absence helps most (several at a time of more than 1,000); None where there is no
    difference to turn, or no such set was found. `names` are what to call the systems, by default
    what their responses are called.

    >>> import corefeval
    >>> key = {"one": [list("abcd")], "two": [list("ef")], "three": [list("ghi")]}
    >>> better, worse = {**key, "three": [list("gh")]}, {**key, "one": [list("ab")]}
    >>> a, b = (corefeval.score(key, side, metrics="muc") for side in (better, worse))
    >>> where = differences(a, b, metric="muc")
    >>> where.outcomes, where.turning_set
    ({'win': 1, 'loss': 1, 'tie': 1}, ('one',))
    """
    systems, stacked = _stack_pair(first, second, names, metric, rate)
    [name] = stacked.metrics
    rates = document_rates(stacked, name, rate)
    scores = stacked.rate(stacked.totals.__getitem__, rate)[0]
    difference = float(scores[0] - scores[1])
    influence = difference - _differ_without(stacked, stacked.totals, stacked.values, rate)
    gaps = rates[0] - rates[1]
    columns = [values.tolist() for values in (rates[0], rates[1], gaps)]
    outcomes = map(_outcome, columns[2])
    ids = first.document_ids
    documents = map(DocumentDifference, ids, *columns, outcomes, influence.tolist())
    return Differences(
        systems,
        name,
        rate,
        (float(scores[0]), float(scores[1])),
        tuple(documents),
        _find_turning_set(stacked, rate, difference, first.document_ids),
        _compare_slices(first, second, name, rate, difference),
    )


def _stack_pair(
    first: Result, second: Result, names: tuple[str, str] | None, metric: object, rate: str
) -> tuple[tuple[str, str], Stack]:
    """The names of two systems, and their counts by one metric."""
    results = name_results((first, second))
    if names is not None:
        results = dict(zip(names, (first, second), strict=True))
    first_name, second_name = results
    return (first_name, second_name), stack_comparable(results, [metric], rate=rate)


def _outcome(gap: float) -> Outcome:
    return "tie" if abs(gap) <= TIE else "win" if gap > 0 else "loss"


def _differ(stacked: Stack, pick: Pick, rate: str) -> Numbers:
    """The difference of the rates of two results whose counts `pick` gives: see `Stack.rate`."""
    scores = stacked.rate(pick, rate)[0]
    return np.asarray(scores[0] - scores[1])


def _differ_without(stacked: Stack, totals: Numbers, absent: Numbers, rate: str) -> Numbers:
    """The difference of the corpus scores without the counts in `absent` (counts × results × …)."""
    return _differ(stacked, lambda rows: totals[rows, :, None] - absent[rows], rate)


def _find_turning_set(
    stacked: Stack, rate: str, difference: float, ids: tuple[str, ...]
) -> tuple[str, ...] | None:
    """The ids of documents without which the difference turns round."""
    if abs(difference) <= TOLERANCE:
        return None
    direction, totals = float(np.sign(difference)), stacked.totals
    left = np.arange(stacked.n_documents)
    absentees: list[int] = []
    size = -(-stacked.n_documents // _STEPS)
    while left.size > 1:
        values = stacked.values[:, :, left]
        gaps = _differ_without(stacked, totals, values, rate) * direction
        order = np.argsort(gaps, kind="stable")[: min(size, left.size - 1)]
        absent = np.cumsum(values[:, :, order], axis=2)
        turned = _differ_without(stacked, totals, absent, rate) * direction < -TOLERANCE
        if turned.any():
            absentees += left[order[: int(np.argmax(turned)) + 1]].tolist()
            return tuple(ids[place] for place in absentees)
        absentees += left[order].tolist()
        totals = totals - absent[:, :, -1]
        left = np.delete(left, order)
    return None


def _compare_slices(
    first: Result, second: Result, metric: str, rate: str, difference: float
) -> tuple[SliceDifference, ...]:
    """The slices that both results have; `difference` is that of the corpus scores."""
    slices: list[SliceDifference] = []
    for feature in first.slices:
        if feature not in second.slices:
            continue
        for value, part in first.slices[feature].items():
            partner = second.slices[feature].get(value)
            if partner is None or metric not in part.tables or metric not in partner.tables:
                continue
            rates = [side.scores[metric].rates[rate] for side in (part, partner)]
            gap = rates[0] - rates[1]
            turned = min(abs(gap), abs(difference)) > TOLERANCE and gap * difference < 0
            slices.append(SliceDifference(feature, value, rates[0], rates[1], gap, turned))
    return tuple(slices)


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

    Corpora of n documents are drawn with replacement and tested by the normal approximation of
    paired randomization; n is doubled until the share of significant ones reaches `power`, at most
    to `limit` times the documents that are there, then searched by halving. The observed difference
    is taken for the true one, so that the answer is an order of magnitude, and no reason to stop
    collecting as soon as p is small enough. Alpha is divided by `tests`, the number of tests that
    p-values are corrected for. `names` are what to call the systems, if not as their responses.

    >>> import corefeval
    >>> key = {str(number): [list("abc")] for number in range(20)}
    >>> better = {name: [list("abc" if int(name) % 3 else "ab")] for name in key}
    >>> worse = {name: [list("abc" if int(name) % 2 else "ab")] for name in key}
    >>> a, b = (corefeval.score(key, side, metrics="muc") for side in (better, worse))
    >>> 50 < documents_needed(a, b, metric="muc").needed < 500
    True
    """
    check_probability("alpha", alpha)
    check_probability("power", power)
    numbers = {"the number of simulations": simulations, "limit": limit, "tests": tests}
    for name, number in numbers.items():
        check_count(name, number)
    check_seed(seed)
    systems, stacked = _stack_pair(first, second, names, metric, rate)
    difference = float(_differ(stacked, stacked.totals.__getitem__, rate))
    draw = partial(_simulate, stacked, rate, difference, alpha / tests, simulations, seed)
    top = limit * stacked.n_documents
    needed, curve = _search(draw, stacked.n_documents, top if difference else 0, power)
    answer = systems, stacked.metrics[0], rate, difference, stacked.n_documents, needed, top, curve
    return Power(*answer, alpha, power, simulations, seed, tests)


def _simulate(
    stacked: Stack,
    rate: str,
    difference: float,
    alpha: float,
    simulations: int,
    seed: int,
    size: int,
) -> float:
    """The share of drawn corpora of `size` documents with a significant difference."""
    if abs(difference) <= TOLERANCE:
        return 0.0
    documents = stacked.n_documents
    generator = np.random.default_rng([seed, size])
    block = max(1, min(simulations, _BLOCK_BYTES // (16 * documents)))
    critical = NormalDist().inv_cdf(1 - alpha / 2)
    # Only documents that differ can swap: of k of them no p-value is below 2 / 2ᵏ.
    differ = (stacked.values[:, 0] != stacked.values[:, 1]).any(axis=0)
    enough = 1 - np.log2(alpha)
    successes = 0
    for done in range(0, simulations, block):
        shape = min(block, simulations - done)
        times = generator.multinomial(size, np.full(documents, 1 / documents), size=shape)
        scores = standard_scores(stacked, times.astype(np.float64), rate) * np.sign(difference)
        successes += int(((scores >= critical) & (times @ differ >= enough)).sum())
    return successes / simulations


def standard_scores(stacked: Stack, weights: Numbers, rate: str) -> Numbers:
    """The difference of drawn corpora over its standard deviation under swaps, for each of them.

    `weights` (corpora × documents) says how often each document was drawn; the stack has one
    metric and two results. Swaps move the difference by the sum over documents of ±d, where d is
    the document's difference of counts times the slope of the rate at the mean of both systems, so
    that its variance is the sum of d².
    """
    sums = stacked.sums(weights)
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
    difference = _differ(stacked, sums.__getitem__, rate)
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
    simulate: Callable[[int], float], documents: int, top: int, power: float
) -> tuple[int | None, tuple[tuple[int, float], ...]]:
    """The smallest number of documents, up to `top`, that reaches the power; all that were tried.

    None where no number does.
    """
    curve = {documents: simulate(documents)}
    below, size = documents, documents
    while curve[size] < power:
        if size >= top:
            return None, tuple(sorted(curve.items()))
        below, size = size, min(2 * size, top)
        curve[size] = simulate(size)
    while size - below > max(1, _PRECISION * size):
        middle = (below + size) // 2
        curve[middle] = simulate(middle)
        below, size = (below, middle) if curve[middle] >= power else (middle, size)
    return size, tuple(sorted(curve.items()))

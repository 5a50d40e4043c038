"""Differences: how large they are next to how much documents vary, and where they are.

Two systems by one metric, document by document; and all systems by pairs of metrics, which may
put them in different orders.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import UsageError, plural
from corefeval.display import Row, Tabular
from corefeval.results import Result
from corefeval.results.rates import Numbers
from corefeval.stats.resampling import (
    Stack,
    check_comparable,
    choose_metrics,
    name_pair,
    name_results,
    stack_comparable,
)
from corefeval.stats.significance import TOLERANCE

Outcome = Literal["win", "loss", "tie"]

# Equal rates of a document may differ by what the grid of large corpora leaves of its counts.
TIE = 1e-9

# From how many documents on the search for a turning set takes more than one in a step.
_STEPS = 1000


class Effect(NamedTuple):
    """Effect sizes of a difference over documents.

    `mean` is the mean of the documents' differences, which all weigh alike: long documents
    may turn the difference of all documents together the other way. `d` is Cohen's d for pairs
    (d_z): that mean over the standard deviation, infinite where all documents differ alike.
    `win_rate` is the probability that the first system is better on a document, ties counting half.
    """

    d: float
    win_rate: float
    mean: float

    def __neg__(self) -> Effect:
        return Effect(-self.d, 1.0 - self.win_rate, -self.mean)


def document_rates(stacked: Stack, metric: str, rate: str) -> Numbers:
    """A rate of each document on its own: results × documents."""
    return stacked.rates(stacked.values.__getitem__, [metric])[metric][rate]


def measure_effect(differences: Numbers) -> Effect:
    """The effect sizes of the differences of documents in which there is anything to count.

    >>> size = measure_effect(np.array([0.1, 0.3, 0.0, 0.2]))
    >>> round(size.d, 4), size.win_rate
    (1.1619, 0.875)
    """
    if not differences.size:
        return Effect(0.0, 0.5, 0.0)
    ties = np.abs(differences) <= TIE
    wins = float(((differences > 0) & ~ties).mean() + 0.5 * ties.mean())
    mean = float(differences.mean())
    spread = float(differences.std(ddof=1)) if differences.size > 1 else 0.0
    if spread > TIE:
        return Effect(mean / spread, wins, mean)
    return Effect(0.0 if abs(mean) <= TIE else math.copysign(math.inf, mean), wins, mean)


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
    documents without which the order of the systems turns round, taken one by one, each time the
    one whose absence helps most (with more than 1,000 documents, several at a time), so that there
    may be a smaller set but seldom is; None where there is no difference to turn, or no such set
    was found.
    `names` are what to call the systems, by default what their responses are called.

    >>> import corefeval
    >>> key = {"one": [list("abcd")], "two": [list("ef")], "three": [list("ghi")]}
    >>> better, worse = {**key, "three": [list("gh")]}, {**key, "one": [list("ab")]}
    >>> a, b = (corefeval.score(key, side, metrics="muc") for side in (better, worse))
    >>> where = differences(a, b, metric="muc")
    >>> where.outcomes, where.turning_set
    ({'win': 1, 'loss': 1, 'tie': 1}, ('one',))
    """
    results = name_pair(first, second, names)
    stacked = stack_comparable(results, [metric], rate=rate)
    [name] = stacked.metrics
    rates = document_rates(stacked, name, rate)
    gaps = rates[0] - rates[1]
    totals = stacked.totals
    scores = stacked.rate(totals.__getitem__, rate)[0]
    influence = (scores[0] - scores[1]) - _without(stacked, totals, stacked.values, rate)
    ids = first.document_ids
    columns = (values.tolist() for values in (*rates, gaps, influence))
    documents = tuple(
        DocumentDifference(document, rate_first, rate_second, gap, _outcome(gap), moved)
        for document, rate_first, rate_second, gap, moved in zip(ids, *columns, strict=True)
    )
    turning = _turning_set(stacked, rate)
    first_name, second_name = results
    return Differences(
        systems=(first_name, second_name),
        metric=name,
        rate=rate,
        scores=(float(scores[0]), float(scores[1])),
        documents=documents,
        turning_set=None if turning is None else tuple(ids[i] for i in turning.tolist()),
        slices=_slices(first, second, name, rate, float(scores[0] - scores[1])),
    )


def _outcome(gap: float) -> Outcome:
    if abs(gap) <= TIE:
        return "tie"
    return "win" if gap > 0 else "loss"


def _without(stacked: Stack, totals: Numbers, absent: Numbers, rate: str) -> Numbers:
    """The difference of the corpus scores without some counts (counts × results × …)."""
    scores = stacked.rate(lambda rows: totals[rows, :, None] - absent[rows], rate)[0]
    return np.asarray(scores[0] - scores[1])


def _turning_set(stacked: Stack, rate: str) -> NDArray[np.intp] | None:
    totals = stacked.totals
    scores = stacked.rate(totals.__getitem__, rate)[0]
    direction = float(np.sign(scores[0] - scores[1]))
    if abs(scores[0] - scores[1]) <= TOLERANCE:
        return None
    left = np.arange(stacked.n_documents)
    absentees: list[NDArray[np.intp]] = []
    size = -(-stacked.n_documents // _STEPS)
    while left.size > 1:
        values = stacked.values[:, :, left]
        gaps = _without(stacked, totals, values, rate) * direction
        order = np.argsort(gaps, kind="stable")[: min(size, left.size - 1)]
        absent = np.cumsum(values[:, :, order], axis=2)
        turned = _without(stacked, totals, absent, rate) * direction < -TOLERANCE
        if turned.any():
            absentees.append(left[order[: int(np.argmax(turned)) + 1]])
            return np.concatenate(absentees)
        absentees.append(left[order])
        totals = totals - absent[:, :, -1]
        left = np.delete(left, order)
    return None


def _slices(
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
class MetricAgreement:
    """Kendall's τ-b between the orders in which two metrics put the systems.

    1 for equal orders, −1 for reverse ones, NaN where a metric holds all systems equal.
    `disagreements` are the pairs of systems (the one that the first metric holds better, the one
    that the second does).
    """

    first: str
    second: str
    tau: float
    disagreements: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, repr=False)
class Concordance(Tabular):
    """How far metrics agree on the order of systems."""

    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    pairs: tuple[MetricAgreement, ...]

    def tau(self, first: str, second: str) -> float:
        """τ-b of two metrics, in any order."""
        if first == second and first in self.metrics:
            return 1.0
        for pair in self.pairs:
            if {pair.first, pair.second} == {first, second}:
                return pair.tau
        raise UsageError(
            f"{first!r} and {second!r} were not compared: there are {', '.join(self.metrics)}"
        )

    def __repr__(self) -> str:
        taus = ", ".join(f"{pair.first}–{pair.second} {pair.tau:.2f}" for pair in self.pairs)
        return f"<Concordance of {plural(len(self.systems), 'system')}: τ {taus}>"

    def rows(self) -> list[Row]:
        """One row for each pair of metrics; None where τ is not defined."""
        return [
            {
                "first": pair.first,
                "second": pair.second,
                "tau": None if math.isnan(pair.tau) else pair.tau,
                "disagreements": [list(systems) for systems in pair.disagreements],
            }
            for pair in self.pairs
        ]


def concordance(
    results: Sequence[Result] | Mapping[str, Result],
    *,
    metrics: Iterable[object] | None = None,
    rate: str = "f1",
) -> Concordance:
    """Kendall's τ-b between the rankings that metrics give to systems (Kendall 1945).

    >>> import corefeval
    >>> key = {name: [list("abcd"), list("efgh")] for name in ("one", "two")}
    >>> systems = {"merged": [list("abcdefgh")], "split": [list("ab"), list("cd"), list("efgh")]}
    >>> order = concordance({
    ...     name: corefeval.score(key, dict.fromkeys(key, entities), metrics="muc, ceafe")
    ...     for name, entities in systems.items()
    ... })
    >>> order.tau("muc", "ceafe"), order.pairs[0].disagreements
    (-1.0, (('merged', 'split'),))
    """
    systems = name_results(results)
    check_comparable(systems)
    chosen = choose_metrics(systems, metrics, rate=rate)
    names = tuple(systems)
    scores = np.array(
        [[result[metric].rates[rate] for result in systems.values()] for metric in chosen]
    )
    first, second = np.array(list(combinations(range(len(names)), 2))).T
    gaps = scores[:, first] - scores[:, second]
    # A score that is no number is before or after none.
    signs = np.where(np.abs(gaps) > TOLERANCE, np.sign(gaps), 0).astype(np.int64)
    products = signs @ signs.T
    agreements = []
    for a, b in combinations(range(len(chosen)), 2):
        scale = math.sqrt(products[a, a] * products[b, b])
        tau = float(products[a, b] / scale) if scale else math.nan
        turned = np.flatnonzero(signs[a] * signs[b] < 0)
        ordered = (
            (first[pair], second[pair]) if signs[a, pair] > 0 else (second[pair], first[pair])
            for pair in turned
        )
        disagreements = tuple((names[better], names[worse]) for better, worse in ordered)
        agreements.append(MetricAgreement(chosen[a], chosen[b], tau, disagreements))
    return Concordance(names, tuple(chosen), tuple(agreements))

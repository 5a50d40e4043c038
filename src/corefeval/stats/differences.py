"""Differences: how large they are next to how much documents vary, and where they are."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corefeval.results import Result
from corefeval.results.rates import Numbers
from corefeval.stats.resampling import Stack, name_pair, stack_comparable
from corefeval.stats.significance import TOLERANCE
from corefeval.tabular import Row, Tabular

Outcome = Literal["win", "loss", "tie"]

# Equal rates of a document may differ by what the grid of large corpora leaves of its counts.
TIE = 1e-9

# From how many documents on the search for a turning set takes more than one in a step.
_STEPS = 1000


class Effect(NamedTuple):
    """Effect sizes of a difference over documents.

    `mean` is the mean of the documents' differences, each of which weighs the same: long documents
    may turn the difference of all documents together the other way. `d` is Cohen's d for pairs
    (d_z): that mean over the standard deviation, infinite where all documents differ by the same.
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
        one, other = self.systems
        wins = ", ".join(f"{name} {number:,}" for name, number in self.outcomes.items())
        return f"<Differences of {one} and {other} by {self.metric}: {wins}>"

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
        DocumentDifference(id, one, other, gap, _outcome(gap), moved)
        for id, one, other, gap, moved in zip(ids, *columns, strict=True)
    )
    turning = _turning_set(stacked, rate)
    one, other = results
    return Differences(
        systems=(one, other),
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
    first: Result, second: Result, metric: str, rate: str, whole: float
) -> tuple[SliceDifference, ...]:
    """The slices that both results have, where they have any."""
    parts: list[SliceDifference] = []
    for feature in first.slices:
        if feature not in second.slices:
            continue
        for value, part in first.slices[feature].items():
            other = second.slices[feature].get(value)
            if other is None or metric not in part.tables or metric not in other.tables:
                continue
            one, two = part.scores[metric].rates[rate], other.scores[metric].rates[rate]
            gap = one - two
            turned = abs(gap) > TOLERANCE and abs(whole) > TOLERANCE and gap * whole < 0
            parts.append(SliceDifference(feature, value, one, two, gap, turned))
    return tuple(parts)

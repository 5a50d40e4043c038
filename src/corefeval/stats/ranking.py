"""Ranking: who stands where, and whether metrics put systems in the same order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby

import numpy as np

from corefeval.diagnostics import UsageError, plural
from corefeval.results import Result
from corefeval.stats.resampling import check_comparable, choose_metrics, name_results
from corefeval.stats.significance import TOLERANCE
from corefeval.tabular import Row, Tabular


def ranks(scores: Mapping[str, float], is_better: Callable[[str, str], bool]) -> dict[str, int]:
    """Ranks 1, 2, 2, 4 …: systems without a significant difference share one.

    Going down the scores, a system joins the group above it unless one of the group is
    significantly better (`is_better(one, other)`); then a new group begins, and its rank is one
    more than the number of systems above it. Systems with equal scores go together. This gives
    Table 5 of Moosavi & Strube (2016). No two systems of the same rank differ significantly. The
    reverse cannot be had: where a is not better than b, nor b than c, but a is better than c, some
    two of different rank do not differ.

    >>> scores = {"chen": 46.24, "xu": 46.83, "chunyuang": 45.84, "shou": 43.97}
    >>> ranks(scores, lambda one, other: scores[one] - scores[other] > 0.5)
    {'xu': 1, 'chen': 2, 'chunyuang': 2, 'shou': 4}
    """
    standing: dict[str, int] = {}
    group: list[str] = []
    rank = 1
    order = sorted(scores, key=lambda name: -scores[name])
    for _, equals in groupby(order, key=scores.__getitem__):
        systems = list(equals)
        if any(is_better(member, system) for member in group for system in systems):
            group = []
            rank = len(standing) + 1
        group += systems
        standing |= dict.fromkeys(systems, rank)
    return standing


@dataclass(frozen=True, slots=True)
class MetricAgreement:
    """Kendall's τ-b between the orders in which two metrics put the systems.

    1 for the same order, −1 for the reverse, NaN where a metric holds all systems equal.
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
        taus = ", ".join(f"{one.first}–{one.second} {one.tau:.2f}" for one in self.pairs)
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
    together = signs @ signs.T
    agreements = []
    for one, other in combinations(range(len(chosen)), 2):
        scale = math.sqrt(together[one, one] * together[other, other])
        tau = float(together[one, other] / scale) if scale else math.nan
        turned = np.flatnonzero(signs[one] * signs[other] < 0)
        ordered = (
            (first[k], second[k]) if signs[one, k] > 0 else (second[k], first[k]) for k in turned
        )
        disagreements = tuple((names[better], names[worse]) for better, worse in ordered)
        agreements.append(MetricAgreement(chosen[one], chosen[other], tau, disagreements))
    return Concordance(names, tuple(chosen), tuple(agreements))

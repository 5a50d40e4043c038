"""Concordance: whether metrics put systems in the same order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from corefeval.diagnostics import UsageError
from corefeval.results import Result
from corefeval.stats.checks import check_comparable, chosen_metrics, named
from corefeval.stats.significance import TOLERANCE


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


@dataclass(frozen=True, slots=True)
class Concordance:
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

    def rows(self) -> list[dict[str, Any]]:
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
    >>> found = concordance({
    ...     name: corefeval.score(key, dict.fromkeys(key, entities), metrics="muc, ceafe")
    ...     for name, entities in systems.items()
    ... })
    >>> found.tau("muc", "ceafe"), found.pairs[0].disagreements
    (-1.0, (('merged', 'split'),))
    """
    systems = named(results)
    check_comparable(systems)
    chosen = chosen_metrics(systems, metrics, rate=rate)
    names = tuple(systems)
    scores = np.array(
        [[result[metric].rates[rate] for result in systems.values()] for metric in chosen]
    )
    first, second = np.array(list(combinations(range(len(names)), 2))).T
    gaps = scores[:, first] - scores[:, second]
    signs = np.where(np.abs(gaps) <= TOLERANCE, 0, np.sign(gaps)).astype(np.int64)
    together = signs @ signs.T
    found = []
    for one, other in combinations(range(len(chosen)), 2):
        scale = math.sqrt(together[one, one] * together[other, other])
        tau = float(together[one, other] / scale) if scale else math.nan
        turned = np.flatnonzero(signs[one] * signs[other] < 0)
        ordered = (
            (first[k], second[k]) if signs[one, k] > 0 else (second[k], first[k]) for k in turned
        )
        disagreements = tuple((names[better], names[worse]) for better, worse in ordered)
        found.append(MetricAgreement(chosen[one], chosen[other], tau, disagreements))
    return Concordance(names, tuple(chosen), tuple(found))

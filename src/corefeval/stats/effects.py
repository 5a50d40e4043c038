"""Effect sizes: how large a difference is next to how much documents vary."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from corefeval.results.rates import Numbers
from corefeval.stats.resampling import Stack

# Equal rates of a document may differ by what the grid of large corpora leaves of its counts.
TIE = 1e-9


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


def effect(differences: Numbers) -> Effect:
    """The effect sizes of the differences of documents in which there is anything to count.

    >>> found = effect(np.array([0.1, 0.3, 0.0, 0.2]))
    >>> round(found.d, 4), found.win_rate
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

"""Replicability: on how many corpora one system is better, and on which.

Counting the corpora with a small p-value promises too much: among twenty, one is significant by
chance. Partial conjunction tests ask instead whether at least u of n corpora hold an effect (Dror,
Baumer, Bogomolov & Reichart 2017).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from corefeval.checks import check_choice, check_probability
from corefeval.diagnostics import UsageError
from corefeval.results.rates import Numbers
from corefeval.stats.significance import adjust

Combination = Literal["bonferroni", "fisher"]


@dataclass(frozen=True, slots=True)
class Replication:
    """`count` corpora of `tested` hold the effect at least, and `corpora` are those to name.

    `p_values` are those of the claims "one corpus at least", "two at least" and so on. `corpora`
    come from Holm's procedure; with Fisher's combination they need not be as many as `count`.
    """

    count: int
    corpora: tuple[str, ...]
    p_values: tuple[float, ...]

    @property
    def tested(self) -> int:
        """On how many corpora there was a test."""
        return len(self.p_values)


def partial_conjunction(
    p_values: Sequence[float] | Numbers, combination: Combination = "bonferroni"
) -> Numbers:
    """For u = 1 … n, the p-value of the claim that u of n hypotheses at least are false.

    The u − 1 smallest are given away, and the rest combined: `bonferroni`, (n − u + 1) times the
    u-th smallest, whatever the dependence between the tests; `fisher`, −2 Σ ln p held against χ²
    with 2 (n − u + 1) degrees of freedom, where they are independent. No value is smaller than the
    one before it, or greater than 1. (Benjamini & Heller 2008.)

    >>> partial_conjunction([0.01, 0.02, 0.8]).round(3).tolist()
    [0.03, 0.04, 0.8]
    >>> partial_conjunction([0.01, 0.02, 0.8], "fisher").round(3).tolist()
    [0.008, 0.082, 0.8]
    """
    check_choice("the combination", combination, get_args(Combination))
    values = np.sort(np.asarray(p_values, dtype=np.float64))
    if values.size and not 0 <= values[0] <= values[-1] <= 1:
        raise UsageError(f"p-values must be between 0 and 1, not {p_values!r:.60}")
    left = np.arange(values.size, 0, -1)
    if combination == "bonferroni":
        claims = values * left
    else:
        with np.errstate(divide="ignore"):
            sums = np.cumsum(-np.log(values)[::-1])[::-1]
        claims = np.array(
            [_chi_square_tail(float(total), int(n)) for total, n in zip(sums, left, strict=True)]
        )
    return np.minimum(1.0, np.maximum.accumulate(claims)) if values.size else values


def _chi_square_tail(half: float, pairs: int) -> float:
    """How likely χ² with 2 `pairs` degrees of freedom is to be above twice `half`.

    Of an even number of degrees it is the chance that a Poisson variable with mean `half` stays
    below `pairs`.
    """
    if half == 0 or math.isinf(half):
        return float(half == 0)
    logs = np.cumsum([0.0, *(math.log(half / j) for j in range(1, pairs))])
    return min(1.0, float(np.exp(logs - half).sum()))


def replicate(
    p_values: Mapping[str, float], *, alpha: float = 0.05, combination: Combination = "bonferroni"
) -> Replication:
    """On how many corpora there is an effect, from the one-sided p-value of each.

    The number is a lower bound: that it is too high has a probability of `alpha` at most.

    >>> replicate({"news": 0.001, "novels": 0.01, "web": 0.04, "talk": 0.6})
    Replication(count=2, corpora=('news', 'novels'), p_values=(0.004, 0.03, 0.08, 0.6))
    """
    check_probability("alpha", alpha)
    numbers = list(p_values.values())
    claims = partial_conjunction(numbers, combination)
    named = adjust(numbers, "holm") <= alpha
    return Replication(
        count=int((claims <= alpha).sum()),
        corpora=tuple(name for name, is_named in zip(p_values, named, strict=True) if is_named),
        p_values=tuple(claims.tolist()),
    )

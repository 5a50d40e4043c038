"""Correction for many tests: p-values that allow for how many questions were asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from corefeval.checks import check_choice
from corefeval.results.rates import Numbers

Correction = Literal["holm", "bonferroni", "none"]


def adjusted(p_values: Sequence[float] | Numbers, correction: Correction = "holm") -> Numbers:
    """P-values to be held against alpha as they are, whatever the number of tests.

    `holm` (Holm 1979): the smallest of m p-values times m, the next times m − 1 and so on, none
    smaller than the one before it; it holds the probability of any false alarm below alpha, and
    finds no less than `bonferroni`, which multiplies all by m. `none` leaves them. All are at
    most 1 and keep their order.

    >>> adjusted([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    >>> adjusted([0.01, 0.04, 0.03], "bonferroni").round(3).tolist()
    [0.03, 0.12, 0.09]
    """
    check_choice("correction", correction, get_args(Correction))
    values = np.asarray(p_values, dtype=np.float64)
    if correction == "none" or not values.size:
        return values.copy()
    if correction == "bonferroni":
        return np.asarray(np.minimum(1.0, values * values.size))
    order = np.argsort(values, kind="stable")
    steps = values[order] * np.arange(values.size, 0, -1)
    result = np.empty_like(values)
    result[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return result

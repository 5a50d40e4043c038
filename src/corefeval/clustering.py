"""Metrics of coreference for clusterings of the same items, as functions of label arrays.

They follow the conventions of scikit-learn: two arrays of labels, the right ones first. Only which
labels are equal matters; −1 is a label like any other.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from corefeval.alignment import Alignment, Side
from corefeval.checks import check_choice
from corefeval.diagnostics import UsageError
from corefeval.metrics import Metric
from corefeval.model.arrays import IntArray, all_zero, integers
from corefeval.results.rates import rates_of

__all__ = ["Rates", "b_cubed", "blanc", "ceaf", "lea", "muc", "score"]


class Rates(NamedTuple):
    """Precision, recall and their harmonic mean, from 0 to 1; 0 / 0 is 0."""

    precision: float
    recall: float
    f1: float


def b_cubed(labels_true: ArrayLike, labels_pred: ArrayLike) -> Rates:
    """B³: for each item the share of its cluster that is with it in the other clustering.

    >>> b_cubed([0, 0, 1, 1], [0, 0, 0, 0])
    Rates(precision=0.5, recall=1.0, f1=0.6666666666666666)
    """
    return score(labels_true, labels_pred, metric="b3")


def muc(labels_true: ArrayLike, labels_pred: ArrayLike) -> Rates:
    """MUC: the links of spanning trees; blind to clusters of one item.

    >>> muc(["a", "a", "b", "b"], [1, 1, 1, 1]).recall
    1.0
    """
    return score(labels_true, labels_pred, metric="muc")


def ceaf(
    labels_true: ArrayLike,
    labels_pred: ArrayLike,
    *,
    similarity: Literal["entity", "mention"] = "entity",
) -> Rates:
    """CEAF: the best one-to-one alignment of clusters, by φ4 (entity) or common items (mention).

    >>> ceaf([0, 0, 1, 1], [0, 0, 0, 1], similarity="mention").f1
    0.75
    """
    check_choice("similarity", similarity, ("entity", "mention"))
    return score(labels_true, labels_pred, metric=f"ceaf{similarity[0]}")


def blanc(labels_true: ArrayLike, labels_pred: ArrayLike) -> Rates:
    """BLANC: the mean of pairs within clusters and pairs across them.

    >>> blanc([0, 0, 1], [0, 0, 1]).f1
    1.0
    """
    return score(labels_true, labels_pred, metric="blanc")


def lea(labels_true: ArrayLike, labels_pred: ArrayLike) -> Rates:
    """LEA: the pairs of each cluster that are found, weighed by its size.

    >>> lea([0, 0, 1, 1], [0, 0, 0, 0]).precision
    0.3333333333333333
    """
    return score(labels_true, labels_pred, metric="lea")


def score(labels_true: ArrayLike, labels_pred: ArrayLike, *, metric: str | Metric = "b3") -> Rates:
    """Any metric that needs no more than clusters, by its name: `lea(importance=one)`.

    UsageError: the labels are no two arrays of one length, or the metric has no such rates.

    >>> score([0, 0, 1], [0, 0, 0], metric="ceafm").f1
    0.6666666666666666
    """
    parsed = metric if isinstance(metric, Metric) else Metric.parse(metric)
    sides = [_side(labels, name) for labels, name in
             ((labels_true, "labels_true"), (labels_pred, "labels_pred"))]  # fmt: skip
    sizes = [side.mention_entity.size for side in sides]
    if sizes[0] != sizes[1] or not sizes[0]:
        numbers = " and ".join(map(str, sizes))
        raise UsageError(
            f"both label lists must be of the same items, at least one, not of {numbers}"
        )
    if parsed.shape == "mean":
        raise UsageError(f"{parsed} is a mean of other metrics: ask for these one by one")
    rates: dict[str, Any] = dict(
        rates_of(parsed.shape, parsed.count(Alignment(1, sides[0], sides[1], None, None)))
    )
    if not set(Rates._fields) <= rates.keys():
        raise UsageError(f"{parsed} has no precision and recall, only {', '.join(rates)}")
    return Rates(*(float(rates[name][0]) for name in Rates._fields))


def _side(labels: ArrayLike, name: str) -> Side:
    """The side that labels make: an entity for each label."""
    array = np.asarray(labels)
    if array.ndim != 1:
        raise UsageError(f"{name} has the shape {array.shape}: expected one label for each item")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise UsageError(f"{name} has labels that are not numbers (NaN or infinite)")
    codes = _number(array, name)
    return Side(all_zero(int(codes.max(initial=-1)) + 1), codes)


def _number(array: Any, name: str) -> IntArray:
    """Labels as numbers from 0."""
    if array.dtype.kind != "O":
        return integers(np.unique(array, return_inverse=True)[1])
    numbers: dict[object, int] = {}
    try:
        codes = [numbers.setdefault(label, len(numbers)) for label in array.tolist()]
    except TypeError as error:
        raise UsageError(f"{name} has labels that cannot be compared: {error}") from None
    return integers(codes)

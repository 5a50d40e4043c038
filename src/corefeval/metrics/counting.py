"""What the metrics share: the shape of their counts, and precision from recall."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corefeval.alignment import Alignment
from corefeval.model.arrays import FloatArray

Counts = dict[str, FloatArray]
Ratio = tuple[FloatArray, FloatArray]
RatioOf = Callable[[Alignment], Ratio]


def both_directions(alignment: Alignment, recall: RatioOf) -> Counts:
    """Counts of a metric whose precision is its recall with the sides exchanged."""
    return ratio_counts(recall(alignment), recall(alignment.swapped))


def ratio_counts(recall: Ratio, precision: Ratio) -> Counts:
    """The counts of a metric whose recall and precision are fractions."""
    return {
        "recall_numerator": recall[0],
        "recall_denominator": recall[1],
        "precision_numerator": precision[0],
        "precision_denominator": precision[1],
    }


def links(size: NDArray[Any]) -> FloatArray:
    """The number of pairs among so many mentions."""
    return link_ends(size, size)


def link_ends(some: NDArray[Any], size: NDArray[Any]) -> FloatArray:
    """What some of so many mentions have of the links among all: half a link for each end."""
    count = np.asarray(some, dtype=np.float64)
    ends: FloatArray = count * (np.asarray(size, dtype=np.float64) - 1) / 2
    return ends

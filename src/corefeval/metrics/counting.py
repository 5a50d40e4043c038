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


def both_directions(alignment: Alignment, recall: Callable[[Alignment], Ratio]) -> Counts:
    """Counts of a metric whose precision is its recall with the sides exchanged."""
    recall_numerator, recall_denominator = recall(alignment)
    precision_numerator, precision_denominator = recall(alignment.swapped)
    return {
        "recall_numerator": recall_numerator,
        "recall_denominator": recall_denominator,
        "precision_numerator": precision_numerator,
        "precision_denominator": precision_denominator,
    }


def links(size: NDArray[Any]) -> FloatArray:
    """The number of pairs among so many mentions."""
    count = np.asarray(size, dtype=np.float64)
    pairs: FloatArray = count * (count - 1) / 2
    return pairs

"""Where a mention stands: in its entity, in its document, inside of others."""

from __future__ import annotations

import numpy as np

from corefeval.features.spans import Spans
from corefeval.model.arrays import BoolArray, IntArray


def chain_positions(entity: IntArray) -> IntArray:
    """1 for the first mention of each entity, 2 for the second, and so on.

    >>> chain_positions(np.array([4, 4, 1, 4])).tolist()
    [1, 2, 1, 3]
    """
    order = np.argsort(entity, kind="stable")
    ordered = entity[order]
    new = np.flatnonzero(np.diff(ordered, prepend=-1))
    counts = np.diff(np.append(new, ordered.size))
    position = np.empty(entity.size, dtype=np.int64)
    position[order] = np.arange(entity.size) - np.repeat(new, counts) + 1
    return position


def antecedents(entity: IntArray) -> IntArray:
    """The mention before each one in its entity; −1 for first mentions.

    >>> antecedents(np.array([4, 4, 1, 4])).tolist()
    [-1, 0, -1, 1]
    """
    order = np.argsort(entity, kind="stable")
    before = np.full(entity.size, -1, dtype=np.int64)
    same = entity[order[1:]] == entity[order[:-1]]
    before[order[1:][same]] = order[:-1][same]
    return before


def nested(spans: Spans) -> BoolArray:
    """Which mentions lie inside another one that is longer. Mentions are in textual order."""
    start, end = spans.start, spans.end
    if not start.size:
        return np.zeros(0, dtype=np.bool_)
    new = np.ones(start.size, dtype=np.bool_)
    new[1:] = (start[1:] != start[:-1]) | (end[1:] != end[:-1])
    ends = end[new]  # of each span once: a mention that is there twice is not inside itself
    inside = np.zeros(ends.size, dtype=np.bool_)
    inside[1:] = np.maximum.accumulate(ends)[:-1] >= ends[1:]
    result: BoolArray = inside[np.cumsum(new) - 1]
    return result

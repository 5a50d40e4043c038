"""Small array idioms that several rooms use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
ByteArray = NDArray[np.uint8]
ArrayPair = tuple[IntArray, IntArray]


def ragged_arange(starts: IntArray, lengths: IntArray) -> IntArray:
    """The concatenation of `arange(start, start + length)` for each pair.

    >>> ragged_arange(np.array([3, 10]), np.array([2, 3])).tolist()
    [3, 4, 10, 11, 12]
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if ends.size else 0
    shifts = starts - ends + lengths
    result: IntArray = np.arange(total, dtype=np.int64)
    result += np.repeat(shifts, lengths)
    return result


def unset(size: int) -> IntArray:
    """As many −1, which stand for no row, no token or no number."""
    return np.full(size, -1, dtype=np.int64)


def integers(values: Any) -> IntArray:
    """An array of whole numbers, from a list or another array."""
    return np.array(values, dtype=np.int64)


def all_zero(size: int) -> IntArray:
    """So many zeros."""
    return np.zeros(size, dtype=np.int64)


def all_false(size: int) -> BoolArray:
    """So many flags, none of them set."""
    return np.zeros(size, dtype=np.bool_)


def all_true(size: int) -> BoolArray:
    """So many flags, all of them set."""
    return np.ones(size, dtype=np.bool_)


def mark_rows(rows: Any, size: int) -> BoolArray:
    """Which of the rows from 0 up to `size` are among `rows`.

    >>> mark_rows(np.array([2, 0]), 4).tolist()
    [True, False, True, False]
    """
    marked = all_false(size)
    marked[rows] = True
    return marked


def offsets_of(counts: NDArray[Any]) -> IntArray:
    """Where each of some runs begins when all of their members are numbered through, and the end.

    >>> offsets_of(np.array([2, 3])).tolist()
    [0, 2, 5]
    """
    return np.concatenate(([0], np.cumsum(counts)))


def starts_of(lengths: IntArray) -> IntArray:
    """Where each of some runs begins when all of their members are numbered through.

    >>> starts_of(np.array([2, 3])).tolist()
    [0, 2]
    """
    starts: IntArray = np.cumsum(lengths) - lengths
    return starts


def set_rows(rows: Any, values: Any, size: int) -> IntArray:
    """The values of some rows among those from 0 up to `size`; −1 for all others.

    >>> set_rows(np.array([2, 0]), np.array([5, 7]), 4).tolist()
    [7, -1, 5, -1]
    """
    column = unset(size)
    column[rows] = values
    return column


def find_places(rows: IntArray, size: int) -> IntArray:
    """The place in `rows` of each row from 0 up to `size`; −1 for one that is not there.

    >>> find_places(np.array([2, 0]), 3).tolist()
    [1, -1, 0]
    """
    return set_rows(rows, np.arange(rows.size), size)


def begin_runs(*columns: NDArray[Any]) -> BoolArray:
    """Which rows differ from the row before them in any of the columns; the first one does.

    >>> begin_runs(np.array([4, 4, 4]), np.array([1, 1, 2])).tolist()
    [True, False, True]
    """
    begins = all_true(columns[0].size)
    begins[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return begins


def find_runs(*columns: NDArray[Any]) -> ArrayPair:
    """Where runs of equal rows begin, and how long they are.

    >>> [part.tolist() for part in find_runs(np.array([4, 4, 1]))]
    [[0, 2], [2, 1]]
    """
    first = np.flatnonzero(begin_runs(*columns))
    return first, np.diff(np.append(first, columns[0].size))


def plain_rows(*columns: Any) -> Iterator[tuple[Any, ...]]:
    """The rows of columns of one length, arrays and others, as tuples of plain Python values.

    >>> list(plain_rows(np.array([4, 1]), "ab"))
    [(4, 'a'), (1, 'b')]
    """
    values = (c.tolist() if isinstance(c, np.ndarray) else c for c in columns)
    return zip(*values, strict=True)


def looked_up(values: IntArray, rows: IntArray) -> IntArray:
    """The values of some rows; row −1 stands for none, and so does the value −1.

    >>> looked_up(np.array([5, 7]), np.array([1, -1, 0])).tolist()
    [7, -1, 5]
    """
    return np.append(values, -1)[rows]


def distinct(values: IntArray) -> IntArray:
    """Each value once, in ascending order, by one sort.

    `np.unique` counts on hashing, which takes ten times as long for codes that are far apart.

    >>> distinct(np.array([7, 3, 7])).tolist()
    [3, 7]
    """
    ordered = np.sort(values)
    different: IntArray = ordered[begin_runs(ordered)]
    return different


def stable_order(values: NDArray[Any]) -> IntArray:
    """The places of the values in ascending order; of equal ones the first comes first.

    >>> stable_order(np.array([7, 3, 7, -1])).tolist()
    [3, 1, 0, 2]
    """
    return np.argsort(values, kind="stable")


def find_previous(group: IntArray) -> IntArray:
    """The place before each one that is of the same group; −1 for the first of a group.

    >>> find_previous(np.array([4, 4, 1, 4])).tolist()
    [-1, 0, -1, 1]
    """
    order = stable_order(group)
    follows = group[order[1:]] == group[order[:-1]]
    return set_rows(order[1:][follows], order[:-1][follows], group.size)


def ranks_in_runs(group: IntArray, order: IntArray) -> IntArray:
    """The place of each member within its group, in an order that keeps groups together.

    >>> ranks_in_runs(np.array([7, 3, 7]), np.array([1, 2, 0])).tolist()
    [1, 0, 0]
    """
    begins = begin_runs(group[order])
    starts = np.flatnonzero(begins)[np.cumsum(begins) - 1]
    return set_rows(order, np.arange(order.size) - starts, order.size)


def is_sorted(values: NDArray[Any]) -> bool:
    """Whether an array never decreases."""
    return bool((values[1:] >= values[:-1]).all())


def dense_ranks(values: NDArray[Any]) -> tuple[IntArray, NDArray[Any]]:
    """Number the distinct values from 0 in ascending order: (rank of each, the distinct values).

    Linear in time where the values are integers of a small range, by one sort elsewhere.

    >>> ranks, distinct = dense_ranks(np.array([30, 10, 30, 20]))
    >>> ranks.tolist(), distinct.tolist()
    ([2, 0, 2, 1], [10, 20, 30])
    """
    if values.size and np.issubdtype(values.dtype, np.integer):
        low, high = int(values.min()), int(values.max())
        if high - low <= 4 * values.size + 1024:
            shifted = values - values.dtype.type(low) if low else values
            present = mark_rows(shifted, high - low + 1)
            ranks: IntArray = np.cumsum(present, dtype=np.int64)
            ranks -= 1
            return ranks[shifted], np.flatnonzero(present).astype(values.dtype) + values.dtype.type(
                low
            )
    distinct, inverse = np.unique(values, return_inverse=True)
    return inverse.astype(np.int64, copy=False), distinct

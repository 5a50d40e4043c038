"""Entity ids are any text; equal text gets equal numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from corefeval.model.arrays import ByteArray, IntArray, dense_ranks

SHORT = 8  # ids of up to so many bytes are compared as one integer

_ZEROS = np.uint64(0x3030303030303030)
_NINE_TO_HIGH = np.uint64(0x7676767676767676)
_HIGH = np.uint64(0x8080808080808080)


def number_ids(
    data: ByteArray, position: IntArray, length: IntArray, packed: NDArray[np.uint64]
) -> IntArray:
    """Number ids that stand at positions of the data; `packed` are their first eight bytes."""
    numbers, distinct = dense_ranks(_decimal_values(packed, length))
    longer = np.flatnonzero(length > SHORT)
    seen: dict[bytes, int] = {}
    view = data.data
    for row, begin, size in zip(
        longer.tolist(), position[longer].tolist(), length[longer].tolist(), strict=True
    ):
        identifier = bytes(view[begin : begin + size])
        numbers[row] = seen.setdefault(identifier, distinct.size + len(seen))
    return numbers


def _decimal_values(packed: NDArray[np.uint64], length: IntArray) -> NDArray[Any]:
    """The values of ids that are all plain decimal numbers, whose range is small; else as they are.

    Eight digits are read at once: neighbours are joined into pairs, pairs into fours, fours into
    the whole (each line below halves the number of lanes in the 64-bit word).
    """
    if not packed.size or int(length.max()) > SHORT:
        return packed
    shift = np.uint64(64) - np.uint64(8) * length.astype(np.uint64)
    digits = (packed << shift) - (_ZEROS << shift)
    no_digit = ((digits + _NINE_TO_HIGH) | digits) & _HIGH
    leading_zero = ((packed & np.uint64(0xFF)) == ord("0")) & (length > 1)
    if no_digit.any() or leading_zero.any():
        return packed
    pairs = (digits * np.uint64(10) + (digits >> np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
    fours = (pairs * np.uint64(100) + (pairs >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
    values = (fours * np.uint64(10000) + (fours >> np.uint64(32))) & np.uint64(0xFFFFFFFF)
    return np.asarray(values, dtype=np.int64)

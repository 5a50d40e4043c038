"""Looking at many short pieces of a file at once.

A window of bytes is taken at each of many positions, and what is asked of its bytes ("is it
blank?") becomes one bit each: one integer per window, in which the first or the last blank is a
bit operation away.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from corefeval.model.arrays import BoolArray, ByteArray, IntArray

BLANK_BYTE = 32

Bits = NDArray[np.uint32] | NDArray[np.uint64]


def windows(data: ByteArray, dtype: DTypeLike) -> NDArray[Any]:
    """An overlapping view of bytes in which item i is the value that begins at byte i.

    >>> windows(np.frombuffer(b"abcd", np.uint8), "S2").tolist()
    [b'ab', b'bc', b'cd']
    """
    width = np.dtype(dtype).itemsize
    return np.ndarray((max(data.size - width + 1, 0),), dtype=dtype, buffer=data, strides=(1,))


def bytes_at(data: ByteArray, start: IntArray, width: int) -> ByteArray:
    """The `width` bytes at each position, one after the other."""
    return windows(data, f"V{width}")[start].view(np.uint8)


def blank_bits(characters: ByteArray, width: int) -> Bits:
    """A bit for each byte of a window, set where it is blank, the first byte in the lowest bit."""
    return bits(characters <= BLANK_BYTE, width)


def bits(flags: BoolArray, width: int) -> Bits:
    """Flags packed into integers of 32 or 64 bits, the first flag in the lowest bit.

    >>> bits(np.arange(32) % 31 == 1, 32).tolist()
    [2]
    """
    packed = np.packbits(flags, bitorder="little")
    return packed.view(np.uint32) if width == 32 else packed.view(np.uint64)


def reversed_bits(flags: BoolArray, width: int) -> Bits:
    """Flags packed into integers, the last flag in the lowest bit."""
    packed = np.packbits(flags, bitorder="big")
    return packed.view(">u4" if width == 32 else ">u8").astype(f"u{width // 8}")


def lowest(values: Bits) -> Bits:
    """The lowest set bit of each integer, 0 where none is set."""
    return values & -values


def place(lowest_bit: Bits) -> NDArray[np.uint8]:
    """The number of a single set bit; the width of the integer where there is none."""
    number: NDArray[np.uint8] = np.bitwise_count(lowest_bit - lowest_bit.dtype.type(1))
    return number

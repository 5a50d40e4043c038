"""Bytes of a file at many places at once: as integers of eight, and as one bit for each byte.

A bitmap takes an eighth of the file's room. The bits that follow a position are one integer; in
it, the n-th set bit is n bit operations away, for thousands of lines at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from corefeval.model.arrays import BoolArray, ByteArray, IntArray

BLANK_BYTE = 32

Bits = NDArray[np.uint32] | NDArray[np.uint64]


def windows(data: ByteArray, dtype: DTypeLike) -> NDArray[Any]:
    """A view of bytes in which item i is the value that begins at byte i; items overlap.

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


Words = NDArray[np.uint64]

REACH = 56  # how many bits a window shows at least, wherever in a byte it begins

_CHUNK = 1 << 20
_PAD = 8
_ONE = np.uint64(1)
_SHOWN = np.uint64((1 << REACH) - 1)
_PATIENCE = 8


class Bitmap:
    """Which bytes of a file are marked; computed on first use.

    Positions before the first byte and behind the last one count as marked.
    """

    def __init__(self, data: ByteArray, marks: Callable[[ByteArray], BoolArray]) -> None:
        self._data = data
        self._marks = marks

    @cached_property
    def _packed(self) -> ByteArray:
        data = self._data
        packed = np.full(_PAD + (data.size + 7) // 8 + 2 * _PAD, 0xFF, dtype=np.uint8)
        for offset in range(0, data.size, _CHUNK):
            flags = self._marks(data[offset : offset + _CHUNK])
            if flags.size % 8:
                flags = np.concatenate((flags, np.ones(-flags.size % 8, dtype=np.bool_)))
            begin = _PAD + offset // 8
            packed[begin : begin + flags.size // 8] = np.packbits(flags, bitorder="little")
        return packed

    def after(self, position: IntArray) -> Words:
        """The marks of the 56 bytes from each position on, the first in the lowest bit."""
        word = self._words_at(position)
        word &= _SHOWN
        return word

    def ends_of_runs(self, position: IntArray) -> Words:
        """The unmarked bytes behind a marked one, among the 56 bytes from each position on."""
        word = self._words_at(position - 1)
        behind = word >> _ONE
        np.invert(behind, out=behind)
        behind &= word
        behind &= _SHOWN
        return behind

    def _words_at(self, position: IntArray) -> Words:
        place = position + 8 * _PAD
        word: Words = windows(self._packed, np.uint64)[place >> 3]
        place &= 7
        word >>= place.view(np.uint64)
        return word


def nth_set(
    bits: Callable[[IntArray], Words], begin: IntArray, limit: IntArray, n: int
) -> IntArray:
    """The position of the n-th set bit from each `begin` on, counted from 0; else its limit.

    `bits` are `Bitmap.after` or `Bitmap.ends_of_runs`.
    """
    word = bits(begin)
    count = np.bitwise_count(word)
    spare = np.empty_like(word)
    for _ in range(n):  # take away the lowest set bit
        np.subtract(word, _ONE, out=spare)
        np.bitwise_and(word, spare, out=word)
    position: IntArray = np.minimum(begin + place(lowest(word)), limit)
    active = np.flatnonzero((count <= n) & (begin + REACH < limit))
    if active.size:
        missing = n - count[active].astype(np.int64)
        position[active] = _pass_windows(bits, begin[active] + REACH, limit[active], missing)
    return position


def _pass_windows(
    bits: Callable[[IntArray], Words], begin: IntArray, limit: IntArray, missing: IntArray
) -> IntArray:
    """The position of the set bit behind `missing` others, from each `begin` on; else its limit.

    All lines advance together, a window at a time.
    """
    position = limit.copy()
    active = np.arange(begin.size)
    for _ in range(_PATIENCE):
        word = bits(begin)
        count = np.bitwise_count(word)
        for passed in range(int(missing.max(initial=0))):
            word = np.where(missing > passed, word & (word - _ONE), word)
        position[active] = np.minimum(begin + place(lowest(word)), limit[active])
        unfinished = np.flatnonzero((count <= missing) & (begin + REACH < limit[active]))
        if not unfinished.size:
            return position
        missing = missing[unfinished] - count[unfinished]
        begin, active = begin[unfinished] + REACH, active[unfinished]
    for index, start, remaining in zip(
        active.tolist(), begin.tolist(), missing.tolist(), strict=True
    ):
        position[index] = _search_long_line(bits, start, int(limit[index]), remaining)
    return position


def _search_long_line(
    bits: Callable[[IntArray], Words], begin: int, limit: int, missing: int
) -> int:
    """The position of the set bit behind `missing` others in a very long line; else its limit."""
    steps = np.arange(begin, limit, REACH)
    passed = np.cumsum(np.bitwise_count(bits(steps)), dtype=np.int64)
    window = int(np.searchsorted(passed, missing, side="right"))
    if window == steps.size:
        return limit
    missing -= int(passed[window - 1]) if window else 0
    return int(nth_set(bits, steps[window : window + 1], np.array([limit]), missing)[0])

"""Cells at many places of a file at once: found with bitmaps, and told apart without strings.

A bitmap has one bit for each byte. The bits that follow a position are one integer; in it, the n-th
set bit is n bit operations away, for thousands of lines at once.

Cells that are the same text get the same code. A cell becomes a few integers of eight bytes each.
They are multiplied into one number, and numbers are sorted; this is exact, for the integers
themselves are compared, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from corefeval.formats.conll.lines import lowest_place, windows
from corefeval.model.arrays import (
    ArrayPair,
    BoolArray,
    ByteArray,
    IntArray,
    all_true,
    integers,
    plain_rows,
)
from corefeval.model.categories import Categories

Words = NDArray[np.uint64]

REACH = 56  # how many bits a window shows at least, wherever in a byte it begins

_BYTES_AT_ONCE = 1 << 20
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
        for offset in range(0, data.size, _BYTES_AT_ONCE):
            flags = self._marks(data[offset : offset + _BYTES_AT_ONCE])
            if flags.size % 8:
                flags = np.concatenate((flags, all_true(-flags.size % 8)))
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
    position: IntArray = np.minimum(begin + lowest_place(word), limit)
    active = np.flatnonzero((count <= n) & (begin + REACH < limit))
    if active.size:
        missing = n - integers(count[active])
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
        position[active] = np.minimum(begin + lowest_place(word), limit[active])
        unfinished = np.flatnonzero((count <= missing) & (begin + REACH < limit[active]))
        if not unfinished.size:
            return position
        missing = missing[unfinished] - count[unfinished]
        begin, active = begin[unfinished] + REACH, active[unfinished]
    for index, start, remaining in plain_rows(active, begin, missing):
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


_CELLS_AT_ONCE = 1 << 14  # so many that the arrays on the way stay in the processor's cache
WIDEST = 64  # bytes; longer cells are looked at one by one
MASKS = np.array([(1 << 8 * size) - 1 for size in range(9)], dtype=np.uint64)
_FACTOR, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


def coded_cells(
    data: ByteArray,
    n_cells: int,
    bounds: Callable[[slice], ArrayPair],
    decode: Callable[[list[bytes], list[int]], list[str]],
) -> Categories:
    """The texts of cells as codes; names come in the order in which they are first seen.

    `bounds(piece)` are the starts and ends of some cells, `decode(texts, cells)` makes strings of
    what stands in a cell. It is asked once for each distinct text. Cells are told apart by a number
    that follows from their bytes; where it is equal, the bytes are compared, too.
    """
    start, end = np.empty((2, n_cells), dtype=np.int64)
    for place in range(0, n_cells, _CELLS_AT_ONCE):
        piece = slice(place, min(place + _CELLS_AT_ONCE, n_cells))
        start[piece], end[piece] = bounds(piece)
    length = end - start
    is_short = length <= WIDEST
    number = np.zeros(n_cells, dtype=np.uint64)
    for cells, offset in _parts_of(is_short, length):
        part = first_bytes(data, start[cells] + offset, length[cells] - offset)
        mixed = (number[cells] ^ part) * _FACTOR
        number[cells] = mixed ^ (mixed >> _HALF)
    _, first, inverse = np.unique(number, return_index=True, return_inverse=True)
    model = first[inverse]  # the first cell of the same text
    is_equal = is_short & (length == length[model])
    compare_cells(is_equal, data, start, data, start[model], length)
    view, texts = data.data, dict[bytes, int]()
    for cell in np.flatnonzero(~is_equal).tolist():
        model[cell] = texts.setdefault(bytes(view[start[cell] : end[cell]]), cell)
    is_first = model == np.arange(n_cells)
    examples = np.flatnonzero(is_first).tolist()
    decoded = decode([bytes(view[start[cell] : end[cell]]) for cell in examples], examples)
    names = tuple(dict.fromkeys(decoded))
    codes = (np.cumsum(is_first) - 1)[model]
    if len(names) < len(decoded):
        code_of = {name: code for code, name in enumerate(names)}
        codes = np.array([code_of[text] for text in decoded])[codes]
    return Categories(codes, names)


def compare_cells(
    is_equal: BoolArray,
    data: ByteArray,
    start: IntArray,
    response: ByteArray,
    response_start: IntArray,
    length: IntArray,
) -> None:
    """Clear the flags of cells whose bytes differ from those of other cells of their length.

    Cells with flags must have at most `WIDEST` bytes.
    """
    for cells, offset in _parts_of(is_equal, length):
        part = first_bytes(data, start[cells] + offset, length[cells] - offset)
        place = response_start[cells] + offset
        is_equal[cells] &= part == first_bytes(response, place, length[cells] - offset)


def _parts_of(is_chosen: BoolArray, length: IntArray) -> Iterator[tuple[IntArray, int]]:
    """The chosen cells that are longer than an offset, with the offset: 0, 8, 16 and so on."""
    for place in range(0, length.size, _CELLS_AT_ONCE):
        cells = place + np.flatnonzero(is_chosen[place : place + _CELLS_AT_ONCE])
        for offset in range(0, WIDEST, 8):
            if cells.size:
                yield cells, offset
            cells = cells[length[cells] > offset + 8]


def first_bytes(data: ByteArray, start: IntArray, length: IntArray) -> Words:
    """Up to eight bytes of each cell as an integer, the first byte in the lowest bits."""
    padded = data if data.size >= 8 else np.append(data, np.zeros(8, dtype=np.uint8))
    inside = np.minimum(start, padded.size - 8)
    text: Words = windows(padded, np.uint64)[inside]
    text >>= (start - inside).astype(np.uint8) << np.uint8(3)
    text &= MASKS[np.minimum(length, 8)]
    return text

"""Cells at many places of a file at once: found with bitmaps, and told apart without strings.

A bitmap has one bit for each byte. The bits that follow a position are one integer; in it, the n-th
set bit is n bit operations away, for thousands of lines at once.

Cells that are the same text get the same code. A cell becomes a few integers of eight bytes each:
its bytes, and in the last byte its length. They are looked up in a table in which every text has
one place, found by multiplication. Looking up is a handful of array operations; and it is exact,
for the integers themselves are compared. A text whose place is taken by another one is put aside,
and what was put aside is sorted in the end.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from corefeval.formats.conll.lines import lowest_place, windows
from corefeval.model.arrays import BoolArray, ByteArray, IntArray
from corefeval.model.categories import Categories

Bits = NDArray[np.uint32] | NDArray[np.uint64]


def bits(flags: BoolArray, width: int) -> Bits:
    """Flags packed into integers of 32 or 64 bits, the first flag in the lowest bit.

    >>> bits(np.arange(32) % 31 == 1, 32).tolist()
    [2]
    """
    packed = np.packbits(flags, bitorder="little")
    return packed.view(np.uint32) if width == 32 else packed.view(np.uint64)


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
    position: IntArray = np.minimum(begin + lowest_place(word), limit)
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
        position[active] = np.minimum(begin + lowest_place(word), limit[active])
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


Bounds = Callable[[slice], tuple[IntArray, IntArray]]
Decode = Callable[[list[bytes], list[int]], list[str]]
Keys = list[NDArray[np.uint64]]

_CELLS_AT_ONCE = 1 << 14  # so many that the arrays on the way stay in the processor's cache
_WIDTHS = (1, 2, 4, 8)  # in integers; longer cells are looked at one by one
_LONG = len(_WIDTHS)
_KINDS = np.array([0, 1, 2, 2, 3, 3, 3, 3, _LONG], dtype=np.uint8)  # by length, in eights
_WIDEST = 8 * _WIDTHS[-1]
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(9)], dtype=np.uint64)
_FACTORS = [np.uint64(0x9E3779B97F4A7C15 * (2 * n + 1) ** 9 % (1 << 64)) for n in range(8)]
_SMALLEST, _LARGEST = 12, 20  # the size of the table, as a power of two
_NOTHING = np.uint64((1 << 64) - 1)  # not a cell: none in a table is 255 bytes long


def coded_cells(
    data: ByteArray,
    n_cells: int,
    bounds: Bounds,
    decode: Callable[[list[bytes], list[int]], list[str]],
) -> Categories:
    """The texts of cells as codes; names come in the order in which they are first seen.

    `bounds(some)` are the starts and ends of some cells, `decode(texts, cells)` makes strings of
    what stands in a cell. It is asked once for each distinct text.
    """
    texts = _Texts(data, n_cells)
    for first in range(0, n_cells, _CELLS_AT_ONCE):
        start, end = bounds(slice(first, min(first + _CELLS_AT_ONCE, n_cells)))
        texts.add(first, start, end - start)
    return texts.categories(decode)


class _Texts:
    """The texts seen so far: the code of each cell, and of each code one cell with its bounds."""

    def __init__(self, data: ByteArray, n_cells: int) -> None:
        self.data = data
        self.codes = np.empty(n_cells, dtype=np.int64)
        self.examples: list[IntArray] = []
        self.size = 0
        self._tables = [_Table(width) for width in _WIDTHS]
        self._aside: list[list[tuple[IntArray, IntArray, Keys]]] = [[] for _ in _WIDTHS]
        self._long: dict[bytes, int] = {}

    def add(self, first: int, start: IntArray, length: IntArray) -> None:
        """Give codes to cells that follow each other; the first one has this number."""
        kind = _KINDS[np.minimum(length >> 3, _LONG * 2)]
        if int(start.max()) > self.data.size - _WIDEST:
            kind[start > self.data.size - _WIDEST] = _LONG
        present = np.flatnonzero(np.bincount(kind, minlength=_LONG + 1)).tolist()
        if len(present) == 1 and present[0] != _LONG:
            cells = np.arange(first, first + start.size)
            self._add_short(present[0], cells, start, length)
            return
        for number in present:
            rows = np.flatnonzero(kind == number)
            add = self._add_long if number == _LONG else self._add_short
            add(number, rows + first, start[rows], length[rows])

    def _add_short(self, kind: int, cells: IntArray, start: IntArray, length: IntArray) -> None:
        """Look up cells whose integers are as many, and enter those that are new."""
        keys = _pack(self.data, start, length, _WIDTHS[kind])
        table = self._tables[kind]
        codes, new, aside = table.look_up(keys, self.size)
        self.codes[cells] = codes
        self._enter(cells[new], start[new], length[new])
        if aside.size:
            bounds = np.stack((cells[aside], start[aside], length[aside]))
            self._aside[kind].append((cells[aside], bounds, [key[aside] for key in keys]))

    def _add_long(self, kind: int, cells: IntArray, start: IntArray, length: IntArray) -> None:
        """Enter cells one by one."""
        new: list[int] = []
        for index, (cell, begin, size) in enumerate(
            zip(cells.tolist(), start.tolist(), length.tolist(), strict=True)
        ):
            text = self.data[begin : begin + size].tobytes()
            code = self._long.setdefault(text, self.size + len(new))
            if code == self.size + len(new):
                new.append(index)
            self.codes[cell] = code
        self._enter(cells[new], start[new], length[new])

    def _enter(self, cells: IntArray, start: IntArray, length: IntArray) -> None:
        self.size += cells.size
        self.examples.append(np.stack((cells, start, length)))

    def _sort_aside(self) -> None:
        for width, pieces in zip(_WIDTHS, self._aside, strict=True):
            if not pieces:
                continue
            cells = np.concatenate([piece[0] for piece in pieces])
            bounds = np.concatenate([piece[1] for piece in pieces], axis=1)
            keys = [np.concatenate([piece[2][n] for piece in pieces]) for n in range(width)]
            # The last byte is the length, never zero where there are several integers, so that
            # texts of a fixed width keep all their bytes.
            joint = keys[0] if width == 1 else np.stack(keys, axis=1).view(f"S{8 * width}")[:, 0]
            _, first, inverse = np.unique(joint, return_index=True, return_inverse=True)
            self.codes[cells] = inverse + self.size
            self._enter(*bounds[:, first])

    def categories(self, decode: Decode) -> Categories:
        """Codes and names; bytes that differ and decode to the same text have one name."""
        self._sort_aside()
        examples = np.concatenate(self.examples or [np.empty((3, 0), dtype=np.int64)], axis=1)
        order = np.argsort(examples[0])
        view = self.data.data
        cells, starts, lengths = examples[:, order].tolist()
        texts = [bytes(view[s : s + n]) for s, n in zip(starts, lengths, strict=True)]
        decoded = decode(texts, cells)
        names = tuple(dict.fromkeys(decoded))
        final = np.empty(self.size, dtype=np.int64)
        final[order] = np.arange(self.size)
        if len(names) < self.size:
            number = {name: code for code, name in enumerate(names)}
            final[order] = [number[text] for text in decoded]
        return Categories(final[self.codes], names)


class _Table:
    """Texts of so many integers, each at a place that follows from its value."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._entered: list[Keys] = []
        self._size = 0
        self._clear(_SMALLEST)

    def _clear(self, power: int) -> None:
        self._power = power
        self._keys = [np.full(1 << power, _NOTHING) for _ in range(self._width)]
        self._codes = np.full(1 << power, -1, dtype=np.int64)

    def look_up(self, keys: Keys, next_code: int) -> tuple[IntArray, IntArray, IntArray]:
        """The code of each; which rows are the first of a new code; which are to be put aside.

        New codes count from `next_code` on, in the order of their rows.
        """
        places = self._places(keys)
        codes: IntArray = self._codes[places]
        missing = np.flatnonzero(~self._equal(keys, places))
        if not missing.size:
            return codes, missing, missing
        free = missing[codes[missing] < 0]
        for stored, key in zip(self._keys, keys, strict=True):
            stored[places[free]] = key[free]  # of several for one place, the last one stays
        there = self._equal([key[missing] for key in keys], places[missing])
        stayed, aside = missing[there], missing[~there]
        new_places, first = np.unique(places[stayed], return_index=True)
        order = np.argsort(first)
        new = stayed[first[order]]
        self._codes[new_places[order]] = next_code + np.arange(new.size)
        codes[stayed] = self._codes[places[stayed]]
        self._grow([key[new] for key in keys], codes[new])
        return codes, new, aside

    def _places(self, keys: Keys) -> IntArray:
        place = keys[0] * _FACTORS[0]
        for key, factor in zip(keys[1:], _FACTORS[1:], strict=False):
            place ^= place >> np.uint64(32)
            place += key * factor
        place >>= np.uint64(64 - self._power)
        return place.view(np.int64)

    def _equal(self, keys: Keys, places: IntArray) -> NDArray[np.bool_]:
        equal: NDArray[np.bool_] = self._keys[0][places] == keys[0]
        for stored, key in zip(self._keys[1:], keys[1:], strict=True):
            equal &= stored[places] == key
        return equal

    def _grow(self, keys: Keys, codes: IntArray) -> None:
        """Take a larger table when this one fills; who loses its place there is put aside later."""
        self._entered.append([*keys, codes.view(np.uint64)])
        self._size += codes.size
        power = min(self._size.bit_length() + 3, _LARGEST)
        if self._size << 2 <= 1 << self._power or power <= self._power:
            return
        *entered, all_codes = map(np.concatenate, zip(*self._entered, strict=True))
        self._entered = [[*entered, all_codes]]
        self._clear(power)
        places = self._places(entered)
        for stored, key in zip(self._keys, entered, strict=True):
            stored[places] = key
        self._codes[places] = all_codes.view(np.int64)


def _pack(data: ByteArray, start: IntArray, length: IntArray, width: int) -> Keys:
    """The bytes of cells as integers, the first byte lowest; the last byte is the length."""
    view = windows(data, np.uint64)
    if width == 1:
        keys = [view[start] & _MASKS[length]]
    else:
        keys = [view[start]]
        keys += [
            view[start + 8 * n] & _MASKS[np.clip(length - 8 * n, 0, 8)] for n in range(1, width)
        ]
    keys[-1] |= length.view(np.uint64) << np.uint64(56)
    return keys

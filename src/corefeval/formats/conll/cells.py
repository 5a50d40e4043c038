"""The last column: coreference cells such as `(12|(7)` taken apart into brackets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from corefeval.formats.conll.lines import split_cells
from corefeval.formats.conll.windows import (
    BLANK_BYTE,
    bytes_at,
    lowest,
    place,
    reversed_bits,
    windows,
)
from corefeval.model.arrays import (
    BoolArray,
    ByteArray,
    IntArray,
    dense_ranks,
    ragged_arange,
)

_OTHER, _OPEN, _CLOSE, _BAR = range(4)
_CLASSES = np.zeros(256, dtype=np.uint8)
_CLASSES[ord("(")] = _OPEN
_CLASSES[ord(")")] = _CLOSE
_CLASSES[ord("|")] = _BAR

_SHORT = 8  # ids of up to so many bytes are compared as one integer
_WINDOW = 32  # longer cells are looked at one by one


@dataclass(frozen=True, slots=True)
class Brackets:
    """Every entity id in the cells, in the order of the file.

    `opens` and `closes` say which brackets stand around it; `(5)` has both.
    """

    cell: IntArray
    position: IntArray
    length: IntArray
    opens: BoolArray
    closes: BoolArray
    entity: IntArray


def cell_starts(data: ByteArray, start: IntArray, end: IntArray) -> IntArray:
    """Where the last cell of each line starts; lines end at `end`, which is not blank.

    A window that ends where the line ends shows the last blank before it.
    """
    first = np.full(end.size, -1, dtype=np.int64)
    if data.size >= _WINDOW:
        window = np.maximum(end - _WINDOW, 0)
        blank = bytes_at(data, window, _WINDOW) <= BLANK_BYTE
        width = place(lowest(reversed_bits(blank, _WINDOW)))
        first = np.where((width < _WINDOW) & (end >= _WINDOW), end - width, -1)
    for line in np.flatnonzero(first < 0).tolist():
        text = data[start[line] : end[line]].tobytes()
        first[line] = end[line] - len(split_cells(text)[-1])
    return first


def parse_cells(data: ByteArray, start: IntArray, end: IntArray) -> tuple[Brackets, IntArray]:
    """Take cells apart; also the indices of the cells that are no coreference cells.

    A cell is a row of `(id`, `(id)` and `id)` with or without `|` between them.
    """
    length = end - start
    stop = np.cumsum(length)
    begin = stop - length
    characters = data[ragged_arange(start, length)]
    kinds = _CLASSES[characters]
    before, after = np.empty_like(kinds), np.empty_like(kinds)
    before[1:], after[:-1] = kinds[:-1], kinds[1:]
    before[begin], after[stop - 1] = _BAR, _BAR
    inside = kinds == _OTHER
    first = np.flatnonzero(inside & (before != _OTHER))
    last = np.flatnonzero(inside & (after != _OTHER))
    opens, closes = before[first] == _OPEN, after[last] == _CLOSE
    cell = np.repeat(np.arange(start.size), length)
    wrong = np.flatnonzero(
        ((kinds == _OPEN) & (after != _OTHER)) | ((kinds == _CLOSE) & (before != _OTHER))
    )
    lonely = first[~(opens | closes)]
    empty = (
        np.setdiff1d(np.arange(start.size), cell[first]) if first.size < start.size else first[:0]
    )
    bad = np.unique(np.concatenate((cell[wrong], cell[lonely], empty)))
    id_cell = cell[first]
    id_length = last + 1 - first
    brackets = Brackets(
        cell=id_cell,
        position=start[id_cell] + first - begin[id_cell],
        length=id_length,
        opens=opens,
        closes=closes,
        entity=_number_ids(characters, first, id_length),
    )
    return brackets, bad


def _number_ids(characters: ByteArray, first: IntArray, length: IntArray) -> IntArray:
    """Number the distinct ids: equal numbers for equal text."""
    padded = np.concatenate((characters, np.zeros(_SHORT, dtype=np.uint8)))
    masks = np.array([(1 << 8 * size) - 1 for size in range(_SHORT + 1)], dtype=np.uint64)
    packed = windows(padded, np.uint64)[first] & masks[np.minimum(length, _SHORT)]
    numbers, distinct = dense_ranks(_decimal_values(packed, length))
    longer = np.flatnonzero(length > _SHORT)
    if longer.size:
        seen: dict[bytes, int] = {}
        text = characters.tobytes()
        for row, begin, size in zip(
            longer.tolist(), first[longer].tolist(), length[longer].tolist(), strict=True
        ):
            identifier = text[begin : begin + size]
            numbers[row] = seen.setdefault(identifier, distinct.size + len(seen))
    return numbers


def _decimal_values(packed: np.ndarray, length: IntArray) -> np.ndarray:
    """The values of ids that are all plain decimal numbers, whose range is small; else as they are.

    Eight digits are read at once: neighbours are joined into pairs, pairs into fours, fours into
    the whole (each line below halves the number of lanes in the 64-bit word).
    """
    if not packed.size:
        return packed
    lanes = np.minimum(length, _SHORT).astype(np.uint64)
    zeros = np.uint64(0x3030303030303030)
    shift = np.uint64(64) - np.uint64(8) * lanes
    digits = (packed << shift) - (zeros << shift)
    high = np.uint64(0x8080808080808080)
    no_digit = ((digits + np.uint64(0x7676767676767676)) | digits) & high
    leading_zero = ((packed & np.uint64(0xFF)) == ord("0")) & (length > 1)
    if no_digit.any() or leading_zero.any() or int(length.max()) > _SHORT:
        return packed
    pairs = (digits * np.uint64(10) + (digits >> np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
    fours = (pairs * np.uint64(100) + (pairs >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
    values = (fours * np.uint64(10000) + (fours >> np.uint64(32))) & np.uint64(0xFFFFFFFF)
    return np.asarray(values, dtype=np.int64)

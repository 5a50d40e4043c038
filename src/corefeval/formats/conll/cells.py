"""The last column: coreference cells such as `(12|(7)` taken apart into brackets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corefeval.formats.conll.entity_ids import SHORT, number_ids
from corefeval.formats.conll.windows import windows
from corefeval.model.arrays import BoolArray, ByteArray, IntArray, ragged_arange

_OTHER, _OPEN, _CLOSE, _BAR = range(4)
_CLASSES = np.zeros(256, dtype=np.uint8)
_CLASSES[ord("(")] = _OPEN
_CLASSES[ord(")")] = _CLOSE
_CLASSES[ord("|")] = _BAR

_CELLS_AT_ONCE = 1 << 14  # so many that the arrays on the way stay in the processor's cache
_ID_MASKS = np.array([(1 << 8 * size) - 1 for size in range(SHORT + 1)], dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Brackets:
    """Every entity id in the cells, in the order of the file.

    `opens` and `closes` say which brackets stand around it; `(5)` has both. Ids that are the same
    text have the same number in `entity`.
    """

    cell: IntArray
    position: IntArray
    length: IntArray
    opens: BoolArray
    closes: BoolArray
    entity: IntArray


def parse_cells(data: ByteArray, start: IntArray, end: IntArray) -> tuple[Brackets, IntArray]:
    """Take cells apart; also the indices of the cells that are no coreference cells.

    A cell is a row of `(id`, `(id)` and `id)` with or without `|` between them.
    """
    pieces = [
        _parse_piece(data, start, end, offset)
        for offset in range(0, max(start.size, 1), _CELLS_AT_ONCE)
    ]
    cell, position, length, opens, closes, packed, bad = map(
        np.concatenate, zip(*pieces, strict=True)
    )
    entity = number_ids(data, position, length, packed)
    return Brackets(cell, position, length, opens, closes, entity), bad


def _parse_piece(
    data: ByteArray, start: IntArray, end: IntArray, offset: int
) -> tuple[NDArray[np.generic], ...]:
    """Some cells' ids: cell, position, length, opening, closing, first bytes; and the bad cells."""
    start = start[offset : offset + _CELLS_AT_ONCE]
    length = end[offset : offset + _CELLS_AT_ONCE] - start
    stop = np.cumsum(length)
    begin = stop - length
    characters = np.zeros(int(length.sum()) + SHORT, dtype=np.uint8)
    characters[:-SHORT] = data[ragged_arange(start, length)]
    kinds = _CLASSES[characters[:-SHORT]]
    before, after = np.empty_like(kinds), np.empty_like(kinds)
    before[1:], after[:-1] = kinds[:-1], kinds[1:]
    before[begin], after[stop - 1] = _BAR, _BAR
    inside = kinds == _OTHER
    first = np.flatnonzero(inside & (before != _OTHER))
    last = np.flatnonzero(inside & (after != _OTHER))
    opens, closes = before[first] == _OPEN, after[last] == _CLOSE
    cell = np.repeat(np.arange(start.size), length)
    id_cell, id_length = cell[first], last + 1 - first
    good = np.zeros(start.size, dtype=np.bool_)
    good[id_cell] = True
    good[id_cell[~(opens | closes)]] = False
    good[
        cell[((kinds == _OPEN) & (after != _OTHER)) | ((kinds == _CLOSE) & (before != _OTHER))]
    ] = False
    bad = np.flatnonzero(~good)
    packed = windows(characters, np.uint64)[first] & _ID_MASKS[np.minimum(id_length, SHORT)]
    position = start[id_cell] + first - begin[id_cell]
    return id_cell + offset, position, id_length, opens, closes, packed, bad + offset

"""Coreference cells: their brackets, the ids of entities, and cells that are empty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corefeval.formats.conll.columns import MASKS, first_bytes
from corefeval.formats.conll.lines import NEWLINE, RETURN, TAB, windows
from corefeval.formats.conll.tokens import ConllLines
from corefeval.model.arrays import (
    ArrayPair,
    BoolArray,
    ByteArray,
    IntArray,
    all_true,
    dense_ranks,
    find_runs,
    integers,
    mark_rows,
    plain_rows,
    ragged_arange,
    stable_order,
    unset,
)

SHORT = 8  # ids of up to so many bytes are compared as one integer

_ZEROS = np.uint64(0x3030303030303030)
_NINE_TO_HIGH = np.uint64(0x7676767676767676)
_HIGH = np.uint64(0x8080808080808080)
_ONES = np.uint64(0x0101010101010101)
_EVEN = np.uint64(0xFEFEFEFEFEFEFEFE)  # ( and ) differ in the lowest bit
_ROUND, _BARS = _ONES * np.uint64(ord("(")), _ONES * np.uint64(ord("|"))
_BYTE, _THREE = np.uint64(0xFF), np.uint8(3)


def number_ids(
    data: ByteArray, position: IntArray, length: IntArray, packed: NDArray[np.uint64]
) -> IntArray:
    """A number for each distinct id; plain decimal numbers keep their order.

    Ids stand at positions of the data; `packed` has the first eight bytes of each.
    """
    values = _decimal_values(packed, length)
    numbers, distinct = dense_ranks(packed if values is None else values)
    longer = np.flatnonzero(length > SHORT)
    seen: dict[bytes, int] = {}
    view = data.data
    for row, begin, size in plain_rows(longer, position[longer], length[longer]):
        identifier = bytes(view[begin : begin + size])
        numbers[row] = seen.setdefault(identifier, distinct.size + len(seen))
    return numbers


def _decimal_values(packed: NDArray[np.uint64], length: IntArray) -> IntArray | None:
    """The values of ids if all are plain decimal numbers of up to eight digits, else None.

    Eight digits are read at once: neighbours are joined into pairs, pairs into fours, fours into
    the number (each line below halves the number of lanes in the 64-bit word).
    """
    if int(length.max(initial=0)) > SHORT:
        return None
    values = unset(packed.size)
    for offset in range(0, packed.size, _CELLS_AT_ONCE):
        piece = slice(offset, offset + _CELLS_AT_ONCE)
        ids, shift = packed[piece], _ID_SHIFTS[length[piece]]
        digits = (ids << shift) - (_ZEROS << shift)
        no_digit = ((digits + _NINE_TO_HIGH) | digits) & _HIGH
        leading_zero = ((ids & np.uint64(0xFF)) == ord("0")) & (length[piece] > 1)
        if no_digit.any() or leading_zero.any():
            return None
        pairs = (digits * np.uint64(10) + (digits >> np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
        fours = (pairs * np.uint64(100) + (pairs >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
        values[piece] = (fours * np.uint64(10000) + (fours >> np.uint64(32))) & np.uint64(
            0xFFFFFFFF
        )
    return values


_OTHER, _OPEN, _CLOSE, _BAR = range(4)
_CLASSES = np.zeros(256, dtype=np.uint8)
_CLASSES[ord("(")] = _OPEN
_CLASSES[ord(")")] = _CLOSE
_CLASSES[ord("|")] = _BAR

# So few that the arrays on the way stay in the processor's cache, and so many that two threads do
# not wait for each other too often.
_CELLS_AT_ONCE = 1 << 14
_LAST_SHIFTS = np.array([max(8 * size - 8, 0) for size in range(SHORT + 1)], dtype=np.uint64)
_ID_SHIFTS = np.array([64 - 8 * size for size in range(SHORT + 1)], dtype=np.uint64)


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


def parse_cells(
    data: ByteArray, start: IntArray, end: IntArray, text: NDArray[np.uint64] | None = None
) -> tuple[Brackets, IntArray]:
    """The brackets of cells, and the indices of the cells that are no coreference cells.

    A cell is a row of `(id`, `(id)` and `id)` with or without `|` between them. `text` has the last
    eight bytes of each cell, the first of them lowest; without it they are taken from the data.
    """
    # One piece of fresh memory costs less than four: the system hands it out in larger pages.
    cell, position, size, packed = np.empty((4, start.size), dtype=np.int64)
    opens, closes = np.empty((2, start.size), dtype=np.bool_)
    columns: Columns = cell, position, size, opens, closes, packed.view(np.uint64)
    complex_cells = [cell[:0]]
    for offset in range(0, start.size, _CELLS_AT_ONCE):
        piece = slice(offset, offset + _CELLS_AT_ONCE)
        length = end[piece] - start[piece]
        bytes_of_cells = first_bytes(data, start[piece], length) if text is None else text[piece]
        simple, parts = _parse_simple(start[piece], length, bytes_of_cells)
        for column, part in zip(columns, parts, strict=True):
            column[piece] = part
        cell[piece] += offset
        complex_cells.append((~simple).nonzero()[0] + offset)
    bad = unusual = np.concatenate(complex_cells)
    if unusual.size:  # few cells have several ids, or a long one
        unusual_columns, bad = _parse_unusual(data, start[unusual], end[unusual] - start[unusual])
        columns, bad = _replace_cells(columns, unusual_columns, unusual), unusual[bad]
    cell, position, size, opens, closes, texts = columns
    entity = number_ids(data, position, size, texts)
    return Brackets(cell, position, size, opens, closes, entity), bad


# Of ids: the cell, the position, the length, whether brackets open and close, the first bytes.
Columns = tuple[IntArray, IntArray, IntArray, BoolArray, BoolArray, NDArray[np.uint64]]


def _replace_cells(columns: Columns, replacements: Columns, cells: IntArray) -> Columns:
    """The ids of all cells in order, with the ids of `cells` replaced.

    The first column of `replacements` counts in `cells`.
    """
    kept = ~mark_rows(cells, columns[0].size)
    replacements = (cells[replacements[0]], *replacements[1:])
    joint = [np.concatenate((c[kept], o)) for c, o in zip(columns, replacements, strict=True)]
    order = stable_order(joint[0])
    return tuple(column[order] for column in joint)  # type: ignore[return-value]


def _parse_simple(
    start: IntArray, length: IntArray, text: NDArray[np.uint64]
) -> tuple[BoolArray, Columns]:
    """Which cells have a single id and at most eight bytes, and the columns of their ids.

    The columns have a row for every cell; rows of cells that are not simple mean nothing. A cell is
    an integer, the first byte in the lowest bits: shifts take its brackets away.
    """
    size = np.minimum(length, SHORT)
    opens = (text & _BYTE) == ord("(")
    text = text >> (opens.view(np.uint8) << _THREE)
    size -= opens
    closes = text >> _LAST_SHIFTS[size] == ord(")")
    size -= closes
    text &= MASKS[size]
    special = _contains_sign(text & _EVEN, _ROUND) | _contains_sign(
        text, _BARS
    )  # brackets and bars
    simple = (length <= SHORT) & ~special
    simple &= (opens | closes) & (size > 0)
    return simple, (np.arange(start.size), start + opens, size, opens, closes, text)


def _contains_sign(texts: NDArray[np.uint64], signs: np.uint64) -> BoolArray:
    """Which texts of eight bytes contain a sign; `signs` is the sign repeated eight times."""
    texts = texts ^ signs  # a byte of 0 where the sign is, which alone borrows from above itself
    below = texts - _ONES
    np.invert(texts, out=texts)
    below &= texts
    below &= _HIGH
    contained: BoolArray = below != 0
    return contained


def _parse_unusual(data: ByteArray, start: IntArray, length: IntArray) -> tuple[Columns, IntArray]:
    """The columns of ids in cells of any length and number of ids, and which cells are unreadable.

    The first column counts in the cells that are passed, as do the unreadable ones.
    """
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
    good = mark_rows(id_cell, start.size)
    good[id_cell[~(opens | closes)]] = False
    good[
        cell[((kinds == _OPEN) & (after != _OTHER)) | ((kinds == _CLOSE) & (before != _OTHER))]
    ] = False
    bad = np.flatnonzero(~good)
    packed = windows(characters, np.uint64)[first] & MASKS[np.minimum(id_length, SHORT)]
    position = start[id_cell] + first - begin[id_cell]
    return (id_cell, position, id_length, opens, closes, packed), bad


def match_brackets(entity: IntArray, opens: BoolArray, closes: BoolArray) -> ArrayPair:
    """For each bracket, the index of the bracket that closes it; and the unmatched brackets.

    Brackets of one entity nest: what was opened last closes first. A bracket that opens and closes
    (`(5)`) matches itself. The first array has −1 where a bracket does not open or is unmatched.
    """
    closing = np.arange(entity.size)
    closing[~(opens & closes)] = -1
    halves = np.flatnonzero(opens != closes)
    if not halves.size:
        return closing, halves
    halves = halves[stable_order(entity[halves])]
    group = entity[halves]
    # Where an entity opens and closes in turns, without nesting or mistakes.
    first, size = find_runs(group)
    place = np.arange(group.size) - np.repeat(first, size)
    in_turn = opens[halves] == (place % 2 == 0)
    good = np.logical_and.reduceat(in_turn, first) & (size % 2 == 0)
    plain = np.repeat(good, size)
    simple = halves[plain]
    closing[simple[0::2]] = simple[1::2]
    nested = halves[~plain]
    unmatched = _match_nested(closing, nested, entity, opens) if nested.size else nested
    return closing, unmatched


def _match_nested(
    closing: IntArray, rows: IntArray, entity: IntArray, opens: BoolArray
) -> IntArray:
    """Match the few entities that nest in themselves, one bracket at a time."""
    unmatched: list[int] = []
    stack: list[int] = []
    current = -1
    members = plain_rows(rows, entity[rows], opens[rows])
    for row, group, is_open in members:
        if group != current:
            unmatched += stack
            stack, current = [], group
        if is_open:
            stack.append(row)
        elif stack:
            closing[stack.pop()] = row
        else:
            unmatched.append(row)
    return integers(unmatched + stack)


def with_trailing_blanks(tokens: ConllLines, rows: IntArray) -> IntArray:
    """The rows whose line goes on after its last cell: the real last cell may be empty."""
    behind = tokens.origin.data[tokens.line_end[rows]]
    trailing: IntArray = rows[(behind != NEWLINE) & (behind != RETURN)]
    return trailing


def rows_without_cell(
    tokens: ConllLines, marked: IntArray, odd: IntArray, unreadable: bool
) -> IntArray:
    """The rows whose coreference cell is empty.

    `marked` are the rows whose last text is no `-` or `_`; `odd` those of them in which it is no
    coreference (`unreadable`), or has no partner.
    """
    n_cells = tokens.n_cells(np.arange(tokens.line_start.size))
    narrow = n_cells < _sentence_widths(tokens, n_cells)
    suspects = marked
    if unreadable and odd.size > n_cells.size - marked.size:
        # More lines leave the cell empty than write `-`: this file does so for all of them. Whole
        # sentences may, so they are compared with the file, if all of it has one width.
        width = int(n_cells.max())
        if bool(((n_cells == width) | (n_cells == width - 1)).all()):
            narrow = n_cells < width
        suspects = np.arange(n_cells.size)
    elif not narrow[odd].any():
        suspects = with_trailing_blanks(tokens, marked)
    empty = suspects[narrow[suspects]]
    behind = tokens.origin.data[tokens.line_end[odd]]
    return np.union1d(empty, odd[unreadable & (behind == TAB)])


def _sentence_widths(tokens: ConllLines, n_cells: IntArray) -> IntArray:
    """The widest line of each row's sentence."""
    starts: BoolArray = all_true(n_cells.size)
    starts[1:] = np.diff(tokens.line_number) > 1
    starts[tokens.first[tokens.counts > 0]] = True
    first = np.flatnonzero(starts)
    widest = np.maximum.reduceat(n_cells, first)
    return np.repeat(widest, np.diff(np.append(first, n_cells.size)))

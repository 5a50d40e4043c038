"""The lines of a CoNLL file: where they are, and which carry coreference or begin with #."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corefeval.formats.conll.bitmaps import BLANK_BYTE, bytes_at, lowest, place, reversed_bits
from corefeval.formats.source import Source
from corefeval.model.arrays import ByteArray, IntArray

TAB, NEWLINE, RETURN, HASH_BYTE = 9, 10, 13, ord("#")

# What a line is, judged by its last cell. SPACED lines end in a blank and are looked at again.
BLANK, COMMENT, UNMARKED, MARKED, SPACED = range(5)

_CHUNK = 1 << 20
BLANKS = bytes(range(BLANK_BYTE + 1))
_TO_BLANKS = b" " * len(BLANKS) + bytes(range(len(BLANKS), 256))
_PATIENCE = 16
_WINDOW = 32  # longer cells are looked at one by one


@dataclass(frozen=True, slots=True)
class Lines:
    """Where each line starts and ends (trailing blanks left out), its last cell, and its kind."""

    start: IntArray
    end: IntArray
    cell: IntArray
    kind: NDArray[np.uint8]


def split_lines(data: ByteArray) -> tuple[ByteArray, Lines]:
    """Find the lines of a file; the bytes come back with a final newline, and no lone returns."""
    if data.size and (data[-1] != NEWLINE or data.size == 1):
        data = np.append(data, np.uint8(NEWLINE))
    lines = _find_lines(data)
    if lines.end.size == 1 and (data == RETURN).any():  # an old Mac wrote returns alone
        data = np.where(data == RETURN, np.uint8(NEWLINE), data)
        lines = _find_lines(data)
    spaced = np.flatnonzero(lines.kind == SPACED)
    if spaced.size:
        start = lines.start[spaced]
        trimmed = _describe(data, start, _trim(data, start, lines.end[spaced]))
        lines.end[spaced], lines.cell[spaced] = trimmed.end, trimmed.cell
        lines.kind[spaced] = trimmed.kind
    return data, lines


def first_control(data: ByteArray) -> int:
    """Where the first byte is that no text has, NUL or another one below the tab; −1 for none.

    Such a byte inside of a word would be taken for a blank, and shift the columns behind it.
    """
    for offset in range(0, data.size, _CHUNK):
        piece = data[offset : offset + _CHUNK]
        if int(piece.min()) < TAB:
            return offset + int(np.argmax(piece < TAB))
    return -1


def _find_lines(data: ByteArray) -> Lines:
    """All lines as they seem at first sight, in pieces that stay in the processor's cache."""
    kinds = (np.int64, np.int64, np.int64, np.uint8)
    found: list[NDArray[Any]] = [np.empty(0, dtype=kind) for kind in kinds]
    size = begin = passed = 0
    for end in newlines(data):
        passed += _CHUNK
        if end.size:
            start = np.empty_like(end)
            start[0] = begin
            np.add(end[:-1], 1, out=start[1:])
            begin = int(end[-1]) + 1
            lines = _describe(data, start, end)
            if size + end.size > found[0].size:
                # Room for all lines, if those to come are as long; what is not used costs nothing.
                now, left = size + end.size, max(data.size - passed, 0)
                room = now + min(int(1.1 * now * left / passed), left // 8) + 1
                found = [_with_room(column, size, room) for column in found]
            piece = slice(size, size + end.size)
            values: tuple[NDArray[Any], ...] = (lines.start, lines.end, lines.cell, lines.kind)
            for column, own in zip(found, values, strict=True):
                column[piece] = own
            size += end.size
    return Lines(*(column[:size] for column in found))


def _with_room(column: NDArray[Any], size: int, room: int) -> NDArray[Any]:
    larger = np.empty(room, dtype=column.dtype)
    larger[:size] = column[:size]
    return larger


def _describe(data: ByteArray, start: IntArray, end: IntArray) -> Lines:
    """What lines are by their first byte and their last two; where their last cell is."""
    last, before = data[end - 1], data[end - 2]
    dash = (last == ord("-")) | (last == ord("_"))
    dash &= (before <= BLANK_BYTE) | (end - start == 1)
    kind: NDArray[np.uint8] = MARKED - dash.astype(np.uint8)
    kind[last <= BLANK_BYTE] = SPACED
    kind[data[start] == HASH_BYTE] = COMMENT
    kind[end == start] = BLANK
    cell = end - 1
    marked = np.flatnonzero(kind == MARKED)
    cell[marked] = _cell_starts(data, start[marked], end[marked])
    return Lines(start, end, cell, kind)


def _cell_starts(data: ByteArray, start: IntArray, end: IntArray) -> IntArray:
    """Where the last cell of each line starts; lines end at `end`, which is not blank.

    A window that ends where the line ends shows the last blank before it.
    """
    first = np.full(end.size, -1, dtype=np.int64)
    if data.size >= _WINDOW:
        blank = bytes_at(data, np.maximum(end - _WINDOW, 0), _WINDOW) <= BLANK_BYTE
        width = place(lowest(reversed_bits(blank, _WINDOW)))
        first = np.where((width < _WINDOW) & (end >= _WINDOW), end - width, -1)
    for line in np.flatnonzero(first < 0).tolist():
        text = data[start[line] : end[line]].tobytes()
        first[line] = end[line] - len(split_cells(text)[-1])
    return first


def split_cells(line: bytes) -> list[bytes]:
    """The cells of one line: whatever is between blanks, and control characters are blanks."""
    return line.translate(_TO_BLANKS).split()


def newlines(data: ByteArray) -> Iterator[IntArray]:
    """The positions of newlines, piece by piece: `flatnonzero(data == 10)` at twice the speed.

    Eight bytes are looked at together: few of the 64-bit words hold a newline, and the newline's
    place in its word follows from the lowest set bit.
    """
    mask = np.zeros(_CHUNK, dtype=np.bool_)
    words = mask.view(np.uint64)
    found = np.empty(words.size, dtype=np.bool_)
    for offset in range(0, data.size, _CHUNK):
        piece = data[offset : offset + _CHUNK]
        np.equal(piece, NEWLINE, out=mask[: piece.size])
        mask[piece.size :] = False
        np.not_equal(words, 0, out=found)
        index = np.flatnonzero(found)
        yield _set_bytes(index, words[index]) + offset


def _set_bytes(index: IntArray, words: NDArray[np.uint64]) -> IntArray:
    """The positions of the bytes that are 1 in 64-bit words standing at `index`."""
    lowest = words & -words
    positions: IntArray = (index << 3) + (np.bitwise_count(lowest - np.uint64(1)) >> 3)
    counts = np.bitwise_count(words)
    crowded = np.flatnonzero(counts > 1)
    if not crowded.size:
        return positions
    # A word has as many places in the result as it has such bytes; the further ones are rare.
    stop = np.cumsum(counts, dtype=np.int64)
    result = np.empty(int(stop[-1]), dtype=np.int64)
    result[stop - counts] = positions
    rest, place = words[crowded] ^ lowest[crowded], (stop - counts)[crowded]
    while crowded.size:
        place = place + 1
        bit = rest & -rest
        result[place] = (index[crowded] << 3) + (np.bitwise_count(bit - np.uint64(1)) >> 3)
        rest = rest ^ bit
        going_on = np.flatnonzero(rest)
        crowded, rest, place = crowded[going_on], rest[going_on], place[going_on]
    return result


def _trim(data: ByteArray, start: IntArray, end: IntArray) -> IntArray:
    """Move each end back over trailing blanks."""
    end = end.copy()
    active = np.flatnonzero((end > start) & (data[end - 1] <= BLANK_BYTE))
    for _ in range(_PATIENCE):
        if not active.size:
            return end
        end[active] -= 1
        still = (end[active] > start[active]) & (data[end[active] - 1] <= BLANK_BYTE)
        active = active[still]
    for line in active.tolist():  # a long run of blanks: let one line at a time be stripped
        text = data[start[line] : end[line]].tobytes()
        stripped = text.rstrip(BLANKS)
        end[line] = start[line] + len(stripped)
    return end


# Possessive (`++`), so that no text makes the pattern try again and again.
_COREFERENCE = re.compile(rb"[-_]|\|*+(?:\([^()|]++\)?+\|*+|[^()|]++\)\|*+)++")


def find_hash_tokens(
    source: Source, lines: Lines, candidates: list[int], begin: list[int], end: list[int]
) -> None:
    """Give `#` lines that are tokens their kind.

    A comment may be anything, so a token is a line whose last cell could be coreference and which
    has as many columns as the token line next to it in its document. Where a document has nothing
    but such lines, they are tokens if they all have the same number of columns.
    """
    promising = [
        (line, cells)
        for line in candidates
        if len(cells := _cells(source, lines, line)) > 1 and is_coreference(cells[-1])
    ]
    if not promising:
        return
    token_lines = np.flatnonzero(lines.kind > COMMENT)
    alone: dict[int, list[tuple[int, list[bytes]]]] = {}
    for line, cells in promising:
        document = int(np.searchsorted(begin, line)) - 1
        if document < 0 or line >= end[document]:
            continue
        place = int(np.searchsorted(token_lines, line))
        neighbours = [
            int(token_lines[index])
            for index in (place - 1, place)
            if 0 <= index < token_lines.size
            and begin[document] < token_lines[index] < end[document]
        ]
        if not neighbours:
            alone.setdefault(document, []).append((line, cells))
        elif len(cells) in {len(_cells(source, lines, other)) for other in neighbours}:
            _make_token(source, lines, line, cells)
    for members in alone.values():
        if len({len(cells) for _, cells in members}) == 1:
            for line, cells in members:
                _make_token(source, lines, line, cells)


def is_coreference(cell: bytes) -> bool:
    """Whether a cell could be the last one of a token's line."""
    return _COREFERENCE.fullmatch(cell) is not None


def _make_token(source: Source, lines: Lines, line: int, cells: list[bytes]) -> None:
    text = source.data[lines.start[line] : lines.end[line]].tobytes()
    lines.end[line] = lines.start[line] + len(text.rstrip(BLANKS))
    lines.cell[line] = lines.end[line] - len(cells[-1])
    lines.kind[line] = UNMARKED if cells[-1] in (b"-", b"_") else MARKED


def _cells(source: Source, lines: Lines, line: int) -> list[bytes]:
    return split_cells(source.data[lines.start[line] : lines.end[line]].tobytes())

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
from corefeval.model.arrays import BoolArray, ByteArray, IntArray

TAB, NEWLINE, RETURN, HASH_BYTE = 9, 10, 13, ord("#")

# What a line is, judged by its last cell. SPACED lines end in a blank and are looked at again.
BLANK, COMMENT, UNMARKED, MARKED, SPACED = range(5)

_CHUNK = 1 << 21
BLANKS = bytes(range(BLANK_BYTE + 1))
_TO_BLANKS = b" " * len(BLANKS) + bytes(range(len(BLANKS), 256))
_PATIENCE = 16
_WINDOW = 32  # longer cells are looked at one by one


@dataclass(slots=True)
class Lines:
    """Where lines are and end (trailing blanks left out), their kinds, and their last cells.

    `before` is the newline in front of each line, −1 for the first. `cell` is where the last cell
    starts, of lines that are MARKED at first sight. In plain files no line of a token ends in
    blanks, and no MARKED one begins with any. `underscores` says whether any line ends in `_`.
    """

    before: IntArray
    end: IntArray
    kind: NDArray[np.uint8]
    cell: IntArray
    is_plain: bool
    underscores: bool

    def __len__(self) -> int:
        return self.kind.size

    def starts(self, lines: Any) -> IntArray:
        """Where some lines start."""
        start: IntArray = self.before[lines]
        start += 1
        return start

    def cells(self, data: ByteArray, lines: IntArray) -> IntArray:
        """Where the last cells of some lines start: of all those that are MARKED."""
        if lines.size == self.cell.size:  # no others became such
            return self.cell
        return _cell_starts(data, self.starts(lines), self.end[lines])

    def change(self, lines: Any, end: Any, kind: Any) -> None:
        """Let some lines end earlier, and be of another kind."""
        if np.may_share_memory(self.before, self.end):  # so far a line ends where the next starts
            self.end = self.end.copy()
        self.is_plain = False
        self.end[lines], self.kind[lines] = end, kind


def split_lines(data: ByteArray) -> tuple[ByteArray, Lines]:
    """Find the lines of a file; the bytes come back with a final newline, and no lone returns."""
    if data.size and (data[-1] != NEWLINE or data.size == 1):
        data = np.append(data, np.uint8(NEWLINE))
    lines = _find_lines(data)
    if len(lines) == 1 and (data == RETURN).any():  # an old Mac wrote returns alone
        data = np.where(data == RETURN, np.uint8(NEWLINE), data)
        lines = _find_lines(data)
    spaced = np.flatnonzero(lines.kind == SPACED)
    if spaced.size:
        start = lines.starts(spaced)
        end = _trim(data, start, lines.end[spaced])
        kind, underscores = _kinds(data, start, end)
        lines.change(spaced, end, kind)
        lines.underscores |= underscores
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
    newline, kind = np.full(1, -1, dtype=np.int64), np.empty(0, dtype=np.uint8)
    cells: list[IntArray] = [np.empty(0, dtype=np.int64)]
    size = passed = 0
    is_plain, underscores = True, False
    for end in newlines(data):
        passed += _CHUNK
        if not end.size:
            continue
        now = size + end.size
        if now > kind.size:
            # Room for all lines, if those to come are as long; what is not used costs nothing.
            left = max(data.size - passed, 0)
            room = now + min(int(1.1 * now * left / passed), left // 8) + 1
            newline, kind = _with_room(newline, size + 1, room + 1), _with_room(kind, size, room)
        newline[size + 1 : now + 1] = end
        start = newline[size:now] + 1
        own, here = _kinds(data, start, end)
        underscores |= here
        kind[size:now] = own
        (marked,) = (own == MARKED).nonzero()
        start = start[marked]
        is_plain = is_plain and not (data[start] <= BLANK_BYTE).any()
        cells.append(_cell_starts(data, start, end[marked]))
        size = now
    before, end = newline[:size], newline[1 : size + 1]
    return Lines(before, end, kind[:size], np.concatenate(cells), is_plain, underscores)


def _with_room(column: NDArray[Any], size: int, room: int) -> NDArray[Any]:
    larger = np.empty(room, dtype=column.dtype)
    larger[:size] = column[:size]
    return larger


def _kinds(data: ByteArray, start: IntArray, end: IntArray) -> tuple[NDArray[np.uint8], bool]:
    """What lines are by their first byte and their last two; and whether any ends in `_`."""
    last = data[end - 1]
    dash, underscore = last == ord("-"), last == ord("_")
    underscores = bool(underscore.any())
    if underscores:
        dash |= underscore
    (glued,) = (dash & (data[end - 2] > BLANK_BYTE)).nonzero()
    kind: NDArray[np.uint8] = MARKED - dash.view(np.uint8)
    kind[glued[end[glued] - start[glued] > 1]] = MARKED
    (spaced,) = (last <= BLANK_BYTE).nonzero()
    kind[spaced] = np.where(end[spaced] == start[spaced], BLANK, SPACED)
    kind[(data[start] == HASH_BYTE).nonzero()[0]] = COMMENT
    return kind, underscores


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
    """The positions of newlines, piece by piece: `flatnonzero(data == 10)` at twice the speed."""
    mask = np.empty(_CHUNK, dtype=np.bool_)  # used again, for fresh memory costs more than this
    for offset in range(0, data.size, _CHUNK):
        piece = data[offset : offset + _CHUNK]
        positions = places_of(np.equal(piece, NEWLINE, out=mask[: piece.size]))
        positions += offset
        yield positions


_LOWEST = np.array([0, *((n & -n).bit_length() - 1 for n in range(1, 256))], dtype=np.int64)


def places_of(mask: BoolArray) -> IntArray:
    """`np.flatnonzero(mask)`, in less time where some are true and most are not.

    A bit for each is looked at: few groups of eight have any, and its place stands in a table.
    """
    groups = np.packbits(mask, bitorder="little")
    (index,) = (groups != 0).nonzero()
    bits = groups[index]
    positions: IntArray = index << 3
    positions += _LOWEST[bits]
    places, others = [], []
    behind = np.arange(1, index.size + 1)
    while (bits := bits & (bits - 1)).any():  # further bits of a byte are rare
        (more,) = (bits != 0).nonzero()
        index, bits, behind = index[more], bits[more], behind[more]
        places.append(behind)
        others.append((index << 3) + _LOWEST[bits])
    if not places:
        return positions
    return np.insert(positions, np.concatenate(places), np.concatenate(others))


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
    start = int(lines.starts(line))
    text = source.data[start : lines.end[line]].tobytes().rstrip(BLANKS)
    lines.change(line, start + len(text), UNMARKED if cells[-1] in (b"-", b"_") else MARKED)


def _cells(source: Source, lines: Lines, line: int) -> list[bytes]:
    return split_cells(source.data[int(lines.starts(line)) : lines.end[line]].tobytes())

"""Lines of a CoNLL file, found and told apart with array operations over its bytes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corefeval.formats.conll.windows import BLANK_BYTE
from corefeval.model.arrays import ByteArray, IntArray

NEWLINE, RETURN, HASH_BYTE = 10, 13, ord("#")

# What a line is, judged by its last cell. SPACED lines end in a blank and are looked at again.
BLANK, COMMENT, UNMARKED, MARKED, SPACED = range(5)

_CHUNK = 1 << 20
_LINES_AT_ONCE = 1 << 15  # so many that the arrays on the way stay in the processor's cache
_TO_BLANKS = b" " * (BLANK_BYTE + 1) + bytes(range(BLANK_BYTE + 1, 256))
_PATIENCE = 16


@dataclass(frozen=True, slots=True)
class Lines:
    """Where each line starts and ends (trailing blanks left out) and what kind it is."""

    start: IntArray
    end: IntArray
    kind: NDArray[np.uint8]


def split_lines(data: ByteArray) -> tuple[ByteArray, Lines]:
    """Find the lines of a file; the bytes come back with a final newline, and no lone returns."""
    if data.size and data[-1] != NEWLINE:
        data = np.append(data, np.uint8(NEWLINE))
    end = newline_positions(data)
    if end.size == 1 and (data == RETURN).any():  # an old Mac wrote returns alone
        data = np.where(data == RETURN, np.uint8(NEWLINE), data)
        end = newline_positions(data)
    start = np.empty_like(end)
    if end.size:
        start[0] = 0
        np.add(end[:-1], 1, out=start[1:])
    kind = np.empty(end.size, dtype=np.uint8)
    for offset in range(0, end.size, _LINES_AT_ONCE):
        piece = slice(offset, offset + _LINES_AT_ONCE)
        kind[piece] = _kinds(data, start[piece], end[piece])
    spaced = np.flatnonzero(kind == SPACED)
    if spaced.size:
        end[spaced] = _trim(data, start[spaced], end[spaced])
        kind[spaced] = _kinds(data, start[spaced], end[spaced])
    return data, Lines(start, end, kind)


def split_cells(line: bytes) -> list[bytes]:
    """The cells of one line: whatever is between blanks, and control characters are blanks."""
    return line.translate(_TO_BLANKS).split()


def newline_positions(data: ByteArray) -> IntArray:
    """The positions of all newlines, like `flatnonzero(data == 10)` at twice the speed.

    Eight bytes are looked at together: few of the 64-bit words hold a newline, and the newline's
    place in its word follows from the lowest set bit.
    """
    pieces = []
    mask = np.zeros(_CHUNK, dtype=np.bool_)
    words = mask.view(np.uint64)
    found = np.empty(words.size, dtype=np.bool_)
    for offset in range(0, data.size, _CHUNK):
        piece = data[offset : offset + _CHUNK]
        np.equal(piece, NEWLINE, out=mask[: piece.size])
        mask[piece.size :] = False
        np.not_equal(words, 0, out=found)
        index = np.flatnonzero(found)
        pieces.append(_set_bytes(index, words[index]) + offset)
    return np.concatenate(pieces) if pieces else np.empty(0, dtype=np.int64)


def _set_bytes(index: IntArray, words: NDArray[np.uint64]) -> IntArray:
    """The positions of the bytes that are 1 in 64-bit words standing at `index`."""
    lowest = words & -words
    positions: IntArray = (index << 3) + (np.bitwise_count(lowest - np.uint64(1)) >> 3)
    crowded = np.flatnonzero(words != lowest)
    if not crowded.size:
        return positions
    more = _set_bytes(index[crowded], words[crowded] ^ lowest[crowded])
    return np.sort(np.concatenate((positions, more)), kind="stable")


def _kinds(data: ByteArray, start: IntArray, end: IntArray) -> NDArray[np.uint8]:
    """What each line is, by its first byte and its last two."""
    last, before = data[end - 1], data[end - 2]
    dash = (last == ord("-")) | (last == ord("_"))
    dash &= (before <= BLANK_BYTE) | (end - start == 1)
    kind: NDArray[np.uint8] = MARKED - dash.astype(np.uint8)
    kind[last <= BLANK_BYTE] = SPACED
    kind[data[start] == HASH_BYTE] = COMMENT
    kind[end == start] = BLANK
    return kind


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
        stripped = text.rstrip(bytes(range(BLANK_BYTE + 1)))
        end[line] = start[line] + len(stripped)
    return end

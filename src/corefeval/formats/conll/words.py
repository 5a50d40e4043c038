"""Do two CoNLL files have the same words? Answered on bytes, for thousands of lines at once.

A response is mostly a copy of its key with another last column, so lines are compared up to that
column first. Where they differ, be it in a tag or in the number of columns, the words themselves
are found: a window of bytes is taken at each line, and a bit set for each blank in it, which makes
one integer per line. In such integers the word's cell is a few bit operations away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corefeval.formats.conll.lines import split_cells
from corefeval.formats.conll.windows import bits, blank_bits, bytes_at, lowest, place, windows
from corefeval.model.arrays import BoolArray, IntArray

if TYPE_CHECKING:
    from corefeval.formats.conll.tokens import ConllTokens

_ROWS_AT_ONCE = 1 << 13
_WIDE, _NARROW = 64, 32
_MAX_WINDOWS = 64
_ONE = np.uint64(1)
_DASHES = ord("-") ^ ord("_")


def first_unequal_word(
    mine: ConllTokens, my_rows: IntArray, theirs: ConllTokens, their_rows: IntArray
) -> int | None:
    """The first index at which the tokens' words differ."""
    for offset in range(0, my_rows.size, _ROWS_AT_ONCE):
        left = my_rows[offset : offset + _ROWS_AT_ONCE]
        right = their_rows[offset : offset + _ROWS_AT_ONCE]
        if not _surely_equal(mine, _run(left), theirs, _run(right)):
            equal = _equal_words(mine, left, theirs, right)
            if not equal.all():
                return offset + int(np.argmin(equal))
    return None


def _run(rows: IntArray) -> IntArray | slice:
    """Rows that follow each other as a slice, which costs nothing to look up."""
    first = int(rows[0])
    return slice(first, first + rows.size) if (np.diff(rows) == 1).all() else rows


def word_of(tokens: ConllTokens, row: int) -> bytes:
    """The word of one line; nothing where the line has too few cells."""
    line = tokens.origin.data[tokens.line_start[row] : tokens.line_end[row]].tobytes()
    before = _cells_before_word(tokens)
    return b"".join(split_cells(line)[before : before + 1])


def _cells_before_word(tokens: ConllTokens) -> int:
    return tokens.column_numbers["word"] - 1


def _surely_equal(
    mine: ConllTokens, my_rows: IntArray | slice, theirs: ConllTokens, their_rows: IntArray | slice
) -> bool:
    """Whether all lines are the same up to the coreference cell, as far as can be told fast.

    Windows from the front, and one that ends where the text ends, cover each line. A last cell `-`
    may also be the word of a line whose coreference is empty: it is not to be taken for `_`.
    """
    left, right = mine.line_start[my_rows], theirs.line_start[their_rows]
    length = mine.prefix_end[my_rows] - left
    width = min(int(length.min()), _WIDE) // 8 * 8
    if not width or (length != theirs.prefix_end[their_rows] - right).any():
        return False
    if ((mine.origin.data[left + length] ^ theirs.origin.data[right + length]) == _DASHES).any():
        return False
    my_view = windows(mine.origin.data, f"V{width}")
    their_view = windows(theirs.origin.data, f"V{width}")

    def differ(shift: int | IntArray) -> bool:
        ours, others = my_view[left + shift], their_view[right + shift]
        return bool((ours.view(np.uint64) != others.view(np.uint64)).any())

    if differ(0) or differ(length - width):
        return False
    for shift in range(width, int(length.max()) - width, width):
        longer = length > shift + width
        left, right, length = left[longer], right[longer], length[longer]
        if differ(shift):
            return False
    return True


def _equal_words(
    mine: ConllTokens, my_rows: IntArray, theirs: ConllTokens, their_rows: IntArray
) -> BoolArray:
    """Whether each pair of lines has the same word."""
    equal: BoolArray = np.zeros(my_rows.size, dtype=np.bool_)
    if min(mine.origin.data.size, theirs.origin.data.size) >= _WIDE:
        left, left_found = _word_starts(mine, my_rows)
        right, right_found = _word_starts(theirs, their_rows)
        ours = bytes_at(mine.origin.data, left, _NARROW)
        others = bytes_at(theirs.origin.data, right, _NARROW)
        end = lowest(blank_bits(ours, _NARROW))
        same_end = (end == lowest(blank_bits(others, _NARROW))) & (end != 0)
        differing = bits(ours != others, _NARROW) & (end - end.dtype.type(1))
        equal = left_found & right_found & same_end & (differing == 0)
    # What did not fit into the windows, or stands too near the end of the file for one.
    for index in np.flatnonzero(~equal).tolist():
        equal[index] = word_of(mine, int(my_rows[index])) == word_of(theirs, int(their_rows[index]))
        if not equal[index]:
            break
    return equal


def _word_starts(tokens: ConllTokens, rows: IntArray) -> tuple[IntArray, BoolArray]:
    """Where each line's word starts, and whether it was found there."""
    data, here, limit = tokens.origin.data, tokens.line_start[rows], tokens.line_end[rows]
    last_window = data.size - _WIDE
    blank = blank_bits(bytes_at(data, np.minimum(here, last_window), _WIDE), _WIDE)
    starts = ~blank & (blank << _ONE | _ONE)
    nth, before = starts, _cells_before_word(tokens)
    for _ in range(before):
        nth = nth & (nth - _ONE)
    word = here + place(lowest(nth))
    found = (nth != 0) & (word < limit) & (here <= last_window)
    # Long names push the word out of the window: go on behind it, knowing what was passed there.
    missing = before - np.bitwise_count(starts).astype(np.int64)
    active = np.flatnonzero(~found & (missing >= 0) & (here + _WIDE < limit))
    after_blank = blank >> np.uint64(_WIDE - 1)
    for _ in range(_MAX_WINDOWS):
        active = active[here[active] + _WIDE < np.minimum(limit[active], last_window)]
        if not active.size:
            break
        here[active] += _WIDE
        blank = blank_bits(bytes_at(data, here[active], _WIDE), _WIDE)
        starts = ~blank & (blank << _ONE | after_blank[active])
        ahead = np.bitwise_count(starts)
        for passed in range(before):
            starts = np.where(missing[active] > passed, starts & (starts - _ONE), starts)
        word[active] = here[active] + place(lowest(starts))
        found[active] = (ahead > missing[active]) & (word[active] < limit[active])
        missing[active] -= ahead
        after_blank[active] = blank >> np.uint64(_WIDE - 1)
        active = active[~found[active]]
    found &= word <= data.size - _NARROW
    return np.where(found, word, 0), found

"""The tokens of a CoNLL file, decoded when somebody asks, and their words compared as bytes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import InputError
from corefeval.formats.conll.bitmaps import (
    BLANK_BYTE,
    Bitmap,
    bits,
    blank_bits,
    bytes_at,
    lowest,
    place,
    windows,
)
from corefeval.formats.conll.columns import blank_bitmap, coded_column, first_bytes
from corefeval.formats.conll.layout import (
    Layout,
    Sample,
    find_layout,
    is_usual,
    stated_layout,
    usual_numbers,
)
from corefeval.formats.conll.lines import split_cells
from corefeval.formats.source import Source
from corefeval.model import TokenDifference, Tokens
from corefeval.model.arrays import BoolArray, IntArray, ragged_arange
from corefeval.model.categories import Categories
from corefeval.model.tokens import plain_word, rows_of_tokens

_ROWS_AT_ONCE = 1 << 15
_MANY_PIECES = 16  # of which two threads take half each
_WIDE, _NARROW = 64, 32
_MAX_WINDOWS = 64
_ONE = np.uint64(1)
_DASHES = ord("-") ^ ord("_")


Rows = IntArray | range  # those that follow each other need no array


def first_unequal_word(
    mine: ConllTokens, my_rows: Rows, theirs: ConllTokens, their_rows: Rows
) -> int | None:
    """The first index at which the tokens' words differ; two threads look at many."""
    find = partial(_first_unequal_in, mine, my_rows, theirs, their_rows)
    pieces = range(0, len(my_rows), _ROWS_AT_ONCE)
    if len(pieces) < _MANY_PIECES:
        return find(pieces)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        rest = pool.submit(find, pieces[len(pieces) // 2 :])
        place = find(pieces[: len(pieces) // 2])
        return rest.result() if place is None else place


def _first_unequal_in(
    mine: ConllTokens, my_rows: Rows, theirs: ConllTokens, their_rows: Rows, pieces: range
) -> int | None:
    for offset in pieces:
        left = my_rows[offset : offset + _ROWS_AT_ONCE]
        right = their_rows[offset : offset + _ROWS_AT_ONCE]
        if not _surely_equal(mine, _run(left), theirs, _run(right)):
            equal = _equal_words(mine, _listed(left), theirs, _listed(right))
            if not equal.all():
                return offset + int(np.argmin(equal))
    return None


def _rows_of(first: IntArray, counts: IntArray) -> Rows:
    """The rows of documents, of which each has `counts` from `first` on."""
    if first.size and bool((first[1:] == first[:-1] + counts[:-1]).all()):
        return range(int(first[0]), int(first[-1] + counts[-1]))
    return ragged_arange(first, counts)


def _listed(rows: Rows) -> IntArray:
    return np.arange(rows.start, rows.stop) if isinstance(rows, range) else rows


def _run(rows: Rows) -> IntArray | slice:
    """Rows that follow each other as a slice, which costs nothing to look up."""
    if isinstance(rows, range):
        return slice(rows.start, rows.stop)
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
    if mine.underscores or theirs.underscores:
        last = mine.origin.data[left + length] ^ theirs.origin.data[right + length]
        if (last == _DASHES).any():
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


_SAMPLE = 20
_LARGE_SAMPLE = 500  # where the first lines do not tell
_LINES_AT_ONCE = 1 << 13
_BLANK_LINE = re.compile(rb"\s*\n\s*\n")
_TO_BLANKS = dict.fromkeys(range(BLANK_BYTE), " ")


@dataclass(eq=False)
class ConllTokens(Tokens):
    """Token lines: where they start and end, and where the coreference cell begins.

    `underscores` says whether a last cell may be `_`.
    """

    origin: Source
    line_start: IntArray
    line_end: IntArray
    prefix_end: IntArray
    line_number: IntArray
    first: IntArray
    counts: IntArray
    word_column: int | None = None
    shared_blanks: Bitmap | None = field(default=None, repr=False)
    shared_layout: Layout | None = field(default=None, repr=False)
    underscores: bool = True
    columns_hold = True  # all parts of a file have one layout

    @property
    def source(self) -> str:
        """The file that the tokens come from."""
        return self.origin.file

    @cached_property
    def blanks(self) -> Bitmap:
        """Where the blanks of the file are: one bitmap for all selections of its documents."""
        return self.shared_blanks or blank_bitmap(self.origin.data)

    @cached_property
    def with_tokens(self) -> tuple[IntArray, IntArray]:
        """The documents that have tokens, and the first of these."""
        documents = np.flatnonzero(self.counts)
        return documents, self.first[documents]

    @cached_property
    def n_columns(self) -> int:
        """The number of columns, coreference included, of the widest of some lines.

        Lines that carry a mention have all columns; others may leave out the last.
        """
        if self.shared_layout is not None and self.shared_layout.width is not None:
            return self.shared_layout.width
        marked = np.empty(0, dtype=np.int64)
        for size in (_LINES_AT_ONCE, self.line_end.size):  # the first ones suffice, as a rule
            if marked.size < _SAMPLE:
                marked = np.flatnonzero(self.line_end[:size] - self.prefix_end[:size] > 1)[:_SAMPLE]
        some = np.concatenate((np.arange(min(_SAMPLE, self.line_start.size)), marked))
        return int(self.n_cells(some).max(initial=0))

    @cached_property
    def layout(self) -> Layout:
        """Which column is which: as `word_column` says, or told by what is in the columns."""
        if self.shared_layout is not None:
            return self.shared_layout
        if self.word_column is None and is_usual(few := self._sample(_SAMPLE)):
            return Layout(usual_numbers(few.n_columns))
        sample = self._sample(_LARGE_SAMPLE)
        if self.word_column is None:
            return find_layout(sample)
        return stated_layout(sample, self.word_column)

    def _sample(self, size: int) -> Sample:
        """The first lines of the file; text that cannot be decoded is no matter here."""
        n_rows = min(size, self.line_start.size)
        bounds = zip(
            self.line_start[:n_rows].tolist(), self.line_end[:n_rows].tolist(), strict=True
        )
        rows = [
            self.origin.data[start:end].tobytes().decode(self.origin.encoding, "replace")
            for start, end in bounds
        ]
        begins = [True, *(np.diff(self.line_number[:n_rows]) > 1).tolist()]
        cells = [row.translate(_TO_BLANKS).split(" ") for row in rows]
        cells = [[cell for cell in row if cell] for row in cells]
        return Sample(self.source, cells, begins, self.n_columns)

    @property
    def column_numbers(self) -> dict[str, int]:
        """The numbers of the named columns, counted from 1."""
        return self.layout.numbers

    @property
    def columns(self) -> tuple[str, ...]:
        """The named columns that this file has."""
        return tuple(self.column_numbers)

    def column(self, document: int, name: str | int) -> list[str]:
        """One column of one document; a number counts columns from 1."""
        number = self._column_number(name)
        return [
            self._decoded(row, cells[number - 1]) if number <= len(cells) else ""
            for row in self._rows(document).tolist()
            for cells in (self._cells(row),)
        ]

    def _column_number(self, name: str | int) -> int:
        """The number of a column, counted from 1; a clear error where there is none."""
        number = self.column_numbers.get(name, 0) if isinstance(name, str) else name
        if not 1 <= number <= self.n_columns or (
            isinstance(name, str) and name not in self.columns
        ):
            raise InputError(
                f"the file has no column {name!r}",
                file=self.source,
                expected=f"one of {', '.join(self.columns)}" if self.columns else None,
                fix=f"the file has {self.n_columns} columns; a number from 1 to that will do",
            )
        return number

    def coded(self, name: str | int, tokens: IntArray | None = None) -> Categories:
        """One column of all tokens, or of some, as codes; a number counts columns from 1."""
        rows = rows_of_tokens(self.first, self.counts, self.offsets, tokens)
        if not rows.size:
            return Categories.of(())
        return coded_column(self, rows, self._column_number(name))

    def first_bytes(self, name: str | int, tokens: IntArray) -> NDArray[np.uint16]:
        """The first two bytes of some cells of a column, the first one in the lower half."""
        rows = rows_of_tokens(self.first, self.counts, self.offsets, tokens)
        return first_bytes(self, rows, self._column_number(name))

    def cells(self, token: int) -> list[str]:
        """All cells of a token's line, as text."""
        return [self._decoded(token, cell) for cell in self._cells(token)]

    def _cells(self, token: int) -> list[bytes]:
        return split_cells(
            self.origin.data[self.line_start[token] : self.line_end[token]].tobytes()
        )

    def _decoded(self, token: int, cell: bytes) -> str:
        return self.origin.decode(cell, self.line_number[token])

    def rows_before_coreference(self, document: int) -> list[list[str]]:
        """All cells of each line of a document but the coreference cell."""
        return [
            [
                self._decoded(row, cell)
                for cell in split_cells(
                    self.origin.data[self.line_start[row] : self.prefix_end[row]].tobytes()
                )
            ]
            for row in self._rows(document).tolist()
        ]

    def n_cells(self, rows: IntArray) -> IntArray:
        """The number of cells on each of some token lines."""
        counts = np.empty(rows.size, dtype=np.int64)
        for offset in range(0, rows.size, _LINES_AT_ONCE):
            some = rows[offset : offset + _LINES_AT_ONCE]
            length = self.line_end[some] - self.line_start[some]
            filled = self.origin.data[ragged_arange(self.line_start[some], length)] > BLANK_BYTE
            begin = np.cumsum(length) - length
            starts = filled.copy()
            starts[1:] &= ~filled[:-1]
            starts[begin] = filled[begin]
            counts[offset : offset + some.size] = np.add.reduceat(starts, begin, dtype=np.int64)
        return counts

    def sentence_starts(self, document: int) -> list[int]:
        """Sentences begin after blank or comment lines."""
        lines = self.line_number[self._rows(document)]
        if not lines.size:
            return []
        return [0, *(np.flatnonzero(np.diff(lines) > 1) + 1).tolist()]

    def all_sentence_starts(self) -> IntArray:
        """The tokens behind blank or comment lines, and the first ones of documents."""
        rows = _rows_of(self.first, self.counts)
        if isinstance(rows, range):  # which takes no copy
            line = self.line_number[rows.start : rows.stop]
        else:
            line = self.line_number[rows]
        starts = np.empty(line.size, dtype=np.bool_)
        for first in range(0, line.size, _LINES_AT_ONCE):
            some = line[first : first + _LINES_AT_ONCE + 1]
            starts[first + 1 : first + some.size] = some[1:] > some[:-1] + 1
        starts[self.offsets[:-1][self.counts > 0]] = True
        return np.flatnonzero(starts)

    @property
    def marks_sentences(self) -> bool:
        """Whether a blank line stands between sentences, or behind the last one of a document."""
        ends = self.line_end[(self.first + self.counts - 1)[self.counts > 0]].tolist()
        behind = (self.origin.data[end : end + _WIDE].tobytes() for end in ends)
        return super().marks_sentences or any(_BLANK_LINE.match(text) for text in behind)

    def line(self, document: int, position: int) -> int:
        """The line number of a token, counted from 1."""
        return self.origin.line(self.line_number[self.first[document] + position])

    def select(self, documents: IntArray) -> ConllTokens:
        """The same tokens for other documents; −1 is a document without tokens."""
        present = documents >= 0
        return replace(
            self,
            first=np.where(present, self.first[documents], 0),
            counts=np.where(present, self.counts[documents], 0),
            shared_blanks=self.blanks,
            shared_layout=self.layout,
        )

    def first_difference(
        self, other: Tokens, documents: Sequence[int] | IntArray
    ) -> TokenDifference | None:
        """The first word that differs; compared as bytes where both sides are CoNLL files."""
        if not isinstance(other, ConllTokens) or self.origin.encoding != other.origin.encoding:
            return super().first_difference(other, documents)
        if "word" not in self.columns or "word" not in other.columns:
            return None
        chosen = np.asarray(documents, dtype=np.int64)
        counts = np.minimum(self.counts[chosen], other.counts[chosen])
        mine, theirs = (_rows_of(side.first[chosen], counts) for side in (self, other))
        place = first_unequal_word(self, mine, other, theirs)
        if place is None:
            return None
        my_word, their_word = self._word(int(mine[place])), other._word(int(theirs[place]))
        if plain_word(my_word) == plain_word(their_word):  # rare enough to look at each word
            return super().first_difference(other, documents)
        ends = np.cumsum(counts)
        index = int(np.searchsorted(ends, place, side="right"))
        document = int(chosen[index])
        position = place - int(ends[index] - counts[index])
        return TokenDifference(
            document,
            position,
            my_word,
            their_word,
            self.line(document, position),
            other.line(document, position),
        )

    def _word(self, row: int) -> str:
        return word_of(self, row).decode(self.origin.encoding, "replace")

    def _rows(self, document: int) -> IntArray:
        first = int(self.first[document])
        return np.arange(first, first + int(self.counts[document]))

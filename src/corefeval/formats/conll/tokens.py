"""The tokens of a CoNLL file, decoded when somebody asks, and their words compared as bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from corefeval.formats.conll.columns import (
    WIDEST,
    Bitmap,
    coded_cells,
    compare_cells,
    nth_set,
)
from corefeval.formats.conll.layout import (
    Layout,
    Sample,
    find_layout,
    stated_layout,
)
from corefeval.formats.conll.lines import (
    BLANK_BYTE,
    split_cells,
    windows,
)
from corefeval.formats.source import Source
from corefeval.model.arrays import (
    ArrayPair,
    BoolArray,
    ByteArray,
    IntArray,
    plain_rows,
    ragged_arange,
    starts_of,
    unset,
)
from corefeval.model.categories import Categories
from corefeval.model.tokens import Rows, Sentences, Tokens, TokenTable, rows_of_tokens

_ROWS_AT_ONCE = 1 << 15
_WIDE = 64  # bytes that are compared at once
_DASHES = ord("-") ^ ord("_")


def _listed(rows: Rows) -> IntArray:
    return np.arange(rows.start, rows.stop) if isinstance(rows, range) else rows


def _run(rows: Rows) -> IntArray | slice:
    """Rows that follow each other as a slice, which costs nothing to look up."""
    if isinstance(rows, range):
        return slice(rows.start, rows.stop)
    first = int(rows[0])
    return slice(first, first + rows.size) if (np.diff(rows) == 1).all() else rows


def _is_blank(characters: ByteArray) -> BoolArray:
    return characters <= BLANK_BYTE


def _surely_equal(
    lines: ConllLines, rows: IntArray | slice, response: ConllLines, response_rows: IntArray | slice
) -> bool:
    """Whether all lines are the same up to the coreference cell, as far as can be told fast.

    Windows from the front, and one that ends where the text ends, cover each line. A last cell `-`
    may also be the word of a line whose coreference is empty: it is not to be taken for `_`.
    """
    left, right = lines.line_start[rows], response.line_start[response_rows]
    length = lines.prefix_end[rows] - left
    width = min(int(length.min()), _WIDE) // 8 * 8
    if not width or (length != response.prefix_end[response_rows] - right).any():
        return False
    if lines.underscores or response.underscores:
        last = lines.origin.data[left + length] ^ response.origin.data[right + length]
        if (last == _DASHES).any():
            return False
    view = windows(lines.origin.data, f"V{width}")
    response_view = windows(response.origin.data, f"V{width}")

    def differ(shift: int | IntArray) -> bool:
        key_bytes, response_bytes = view[left + shift], response_view[right + shift]
        return bool((key_bytes.view(np.uint64) != response_bytes.view(np.uint64)).any())

    if differ(0) or differ(length - width):
        return False
    for shift in range(width, int(length.max()) - width, width):
        longer = length > shift + width
        left, right, length = left[longer], right[longer], length[longer]
        if differ(shift):
            return False
    return True


def _equal_words(
    lines: ConllLines, rows: IntArray, response: ConllLines, response_rows: IntArray
) -> BoolArray:
    """Whether each pair of lines has the same word."""
    left, left_end = lines.cell_bounds(lines.layout.numbers["word"], rows)
    right, right_end = response.cell_bounds(response.layout.numbers["word"], response_rows)
    length = left_end - left
    data, response_data = lines.origin.data, response.origin.data
    equal: BoolArray = length == right_end - right
    fits = equal & (length <= WIDEST)  # others are compared one by one
    singly = np.flatnonzero(equal & ~fits).tolist()
    equal &= fits
    compare_cells(equal, data, left, response_data, right, length)
    for index in singly:
        word_bytes = data[left[index] : left_end[index]]
        equal[index] = np.array_equal(word_bytes, response_data[right[index] : right_end[index]])
    return equal


_SAMPLE = 20
_LARGE_SAMPLE = 500  # lines that tell which column is which
_LINES_AT_ONCE = 1 << 13
_BLANK_LINE = re.compile(rb"\s*\n\s*\n")
_TO_BLANKS = dict.fromkeys(range(BLANK_BYTE), " ")


@dataclass(eq=False)
class ConllLines:
    """The token lines of a CoNLL file: where they start and end, and where coreference begins.

    Documents have `counts` lines each from line `first` on. `stated_layout` says which column is
    which, where these are lines of a part of a file. `underscores` says whether a last cell may be
    `_`.
    """

    origin: Source
    line_start: IntArray
    line_end: IntArray
    prefix_end: IntArray
    line_number: IntArray
    first: IntArray
    counts: IntArray
    word_column: int | None = None
    stated_layout: Layout | None = field(default=None, repr=False)
    underscores: bool = True

    @cached_property
    def blanks(self) -> Bitmap:
        """Where the blanks of the file are."""
        return Bitmap(self.origin.data, _is_blank)

    @cached_property
    def with_tokens(self) -> ArrayPair:
        """The documents that have tokens, and the first of these."""
        documents = np.flatnonzero(self.counts)
        return documents, self.first[documents]

    @cached_property
    def n_columns(self) -> int:
        """The number of columns, coreference included, of the widest of some lines.

        Lines that carry a mention have all columns; others may leave out the last.
        """
        if self.stated_layout is not None and self.stated_layout.width is not None:
            return self.stated_layout.width
        marked = unset(0)
        for size in (_LINES_AT_ONCE, self.line_end.size):  # the first ones suffice, as a rule
            if marked.size < _SAMPLE:
                marked = np.flatnonzero(self.line_end[:size] - self.prefix_end[:size] > 1)[:_SAMPLE]
        sampled = np.concatenate((np.arange(min(_SAMPLE, self.line_start.size)), marked))
        return int(self.n_cells(sampled).max(initial=0))

    @cached_property
    def layout(self) -> Layout:
        """Which column is which: as `word_column` says, or told by what is in the columns."""
        if self.stated_layout is not None:
            return self.stated_layout
        sample = self._sample()
        if self.word_column is None:
            return find_layout(sample)
        return stated_layout(sample, self.word_column)

    def _sample(self) -> Sample:
        """The first lines of the file; text that cannot be decoded is no matter here."""
        n_rows = min(_LARGE_SAMPLE, self.line_start.size)
        bounds = plain_rows(self.line_start[:n_rows], self.line_end[:n_rows])
        rows = [
            self.origin.data[start:end].tobytes().decode(self.origin.encoding, "replace")
            for start, end in bounds
        ]
        begins = [True, *(np.diff(self.line_number[:n_rows]) > 1).tolist()]
        cells = [row.translate(_TO_BLANKS).split(" ") for row in rows]
        cells = [[cell for cell in row if cell] for row in cells]
        return Sample(self.origin.file, cells, begins, self.n_columns)

    @property
    def encoding(self) -> str:
        """The encoding of the file."""
        return self.origin.encoding

    def first_unequal_word(
        self, rows: Rows, response: ConllLines, response_rows: Rows
    ) -> int | None:
        """The first index at which the words of two lists of lines differ; None for none."""
        for offset in range(0, len(rows), _ROWS_AT_ONCE):
            left = rows[offset : offset + _ROWS_AT_ONCE]
            right = response_rows[offset : offset + _ROWS_AT_ONCE]
            if not _surely_equal(self, _run(left), response, _run(right)):
                equal = _equal_words(self, _listed(left), response, _listed(right))
                if not equal.all():
                    return offset + int(np.argmin(equal))
        return None

    def read_column(self, number: int, rows: IntArray) -> Categories:
        """The cells of a column, counted from 1, on some lines; nothing on shorter lines."""

        def decode(texts: list[bytes], cells: list[int]) -> list[str]:
            return self.origin.decode_all(texts, lambda n: self.line_number[rows[cells[n]]])

        def bounds(piece: slice) -> ArrayPair:
            return self.cell_bounds(number, rows[piece])

        return coded_cells(self.origin.data, rows.size, bounds, decode)

    def cell_bounds(self, number: int, rows: IntArray) -> ArrayPair:
        """Where the cells of a column, counted from 1, start and end; empty on shorter lines.

        Cells are separated by runs of blanks. A line begins behind a newline, which is a blank too,
        so that a cell begins wherever a run of blanks ends.
        """
        limit = self.line_end[rows]
        start = nth_set(self.blanks.ends_of_runs, self.line_start[rows], limit, number - 1)
        return start, nth_set(self.blanks.after, start, limit, 0)

    def cells(self, row: int, *, coreference: bool = True) -> list[str]:
        """The cells of a line as text, with or without that of coreference."""
        end = (self.line_end if coreference else self.prefix_end)[row]
        line = self.origin.data[self.line_start[row] : end].tobytes()
        return [self.origin.decode(cell, self.line_number[row]) for cell in split_cells(line)]

    def n_cells(self, rows: IntArray) -> IntArray:
        """The number of cells on each of some token lines."""
        counts = unset(rows.size)
        for offset in range(0, rows.size, _LINES_AT_ONCE):
            piece = rows[offset : offset + _LINES_AT_ONCE]
            length = self.line_end[piece] - self.line_start[piece]
            filled = self.origin.data[ragged_arange(self.line_start[piece], length)] > BLANK_BYTE
            begin = starts_of(length)
            starts = filled.copy()
            starts[1:] &= ~filled[:-1]
            starts[begin] = filled[begin]
            counts[offset : offset + piece.size] = np.add.reduceat(starts, begin, dtype=np.int64)
        return counts

    def find_sentences(self) -> Sentences:
        """Sentences begin after blank or comment lines, and with documents."""
        rows = rows_of_tokens(self.first, self.counts, np.cumsum([0, *self.counts]))
        number = self.line_number[rows]
        begins = np.empty(number.size, dtype=np.bool_)
        begins[1:] = number[1:] > number[:-1] + 1
        begins[starts_of(self.counts)[self.counts > 0]] = True
        starts = np.flatnonzero(begins)
        return starts, rows[starts]

    def find_line(self, row: int) -> int:
        """The number of a line in the file, counted from 1."""
        return self.origin.line(self.line_number[row])

    def marks_sentences(self) -> bool:
        """Whether a blank line stands behind the last sentence of a document."""
        ends = self.line_end[(self.first + self.counts - 1)[self.counts > 0]].tolist()
        behind = (self.origin.data[end : end + _WIDE].tobytes() for end in ends)
        return any(_BLANK_LINE.match(text) for text in behind)

    def tokens(self) -> Tokens:
        """The tokens of the file's documents."""
        numbers: dict[str | int, int] = {n: n for n in range(1, self.n_columns + 1)}
        numbers.update(self.layout.numbers)
        table = TokenTable(
            {name: partial(self.read_column, number) for name, number in numbers.items()},
            find_line=self.find_line,
            source=self.origin.file,
            lines=self,
            word_bytes=self,
            is_same_everywhere=True,
            marks_sentences=self.marks_sentences,
        )
        tables = np.zeros_like(self.first)
        return Tokens((table,), tables, self.first, self.counts, self.find_sentences)

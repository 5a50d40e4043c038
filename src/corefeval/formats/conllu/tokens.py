"""The token lines of a CoNLL-U file, left as bytes until somebody asks for a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import overload

import numpy as np

from corefeval.formats.conll.columns import Bitmap, coded_cells, nth_set
from corefeval.formats.conllu.scan import N_COLUMNS, TAB, Scan, read_sentence_comment
from corefeval.formats.source import Source
from corefeval.model.arrays import (
    ArrayPair,
    BoolArray,
    ByteArray,
    IntArray,
    all_false,
    integers,
    plain_rows,
)
from corefeval.model.categories import Categories
from corefeval.model.tokens import Column, Sentences, Tokens, TokenTable, rows_of_tokens

COLUMNS = {
    "number": 0,
    "word": 1,
    "lemma": 2,
    "upos": 3,
    "tag": 4,
    "features": 5,
    "head": 6,
    "relation": 7,
    "deps": 8,
    "misc": 9,
}


@dataclass(eq=False)
class ConlluLines:
    """The token lines of a CoNLL-U file, empty nodes among them.

    Documents have `counts` lines each from line `first` on.
    """

    origin: Source
    scan: Scan
    first: IntArray
    counts: IntArray

    def tokens(self) -> Tokens:
        """The tokens of the file's documents; the column `empty` says which are empty nodes."""
        columns: dict[str | int, Column] = {"empty": self.read_empty}
        for name, index in COLUMNS.items():
            columns[name] = columns[index + 1] = partial(self.read_column, index)
        columns["empty"] = columns.pop("empty")
        table = TokenTable(
            columns,
            find_line=self.find_line,
            find_comments=self.find_comments,
            source=self.origin.file,
            lines=self,
            marks_sentences=self.marks_sentences,
        )
        tables = np.zeros_like(self.first)
        return Tokens((table,), tables, self.first, self.counts, self.find_sentences)

    def read_empty(self, rows: IntArray) -> Categories:
        """Which of some lines are empty nodes: "1" for these."""
        empty = self.scan.empty[rows]
        return Categories(integers(empty), ("", "1") if empty.any() else ("",))

    def read_column(self, index: int, rows: IntArray) -> Categories:
        """The cells of a column, counted from 0, on some lines; all lines have nine tabs."""
        scan, tabs = self.scan, self.tabs

        def bounds(piece: slice) -> ArrayPair:
            chosen = rows[piece]
            lines = scan.token_line[chosen]
            limit = scan.line_end[lines]
            if index == N_COLUMNS - 1:
                return scan.last_column[chosen], limit
            start = scan.line_start[lines]
            if index:
                start = nth_set(tabs.after, start, limit, index - 1) + 1
            return start, nth_set(tabs.after, start, limit, 0)

        def decode(texts: list[bytes], cells: list[int]) -> list[str]:
            return self.origin.decode_all(texts, lambda n: scan.token_line[rows[cells[n]]])

        return coded_cells(scan.data, rows.size, bounds, decode)

    @cached_property
    def tabs(self) -> Bitmap:
        """Where the tabs of the file are."""
        return Bitmap(self.scan.data, _is_tab)

    def rows(self, first: int, count: int) -> list[list[str]]:
        """All columns of some lines that follow each other."""
        return [
            self.origin.decode(self.scan.text(line), line).split("\t")
            for line in self.scan.token_line[first : first + count].tolist()
        ]

    def find_sentences(self) -> Sentences:
        """Sentences begin where the file has them begin."""
        rows = rows_of_tokens(self.first, self.counts, np.cumsum([0, *self.counts]))
        starts = np.flatnonzero(self.scan.new_sentence[rows])
        return starts, rows[starts]

    def marks_sentences(self) -> bool:
        """True: CoNLL-U has a blank line behind every sentence."""
        return True

    def find_comments(self, key: str, rows: IntArray) -> Categories:
        """What comments say of sentences that begin with some lines: `decl` for `s_type = decl`."""
        distinct, inverse = np.unique(rows, return_inverse=True)
        bounds = plain_rows(*comment_lines(self.scan, distinct))
        values = [self.read_comments(first, after).get(key) for first, after in bounds]
        return Categories.of(values).take(inverse)

    def read_comments(self, first: int, after: int) -> dict[str, str]:
        """What some comments say of their sentence, by key; the numbers count all comments."""
        lines = self.scan.comments[first:after].tolist()
        comments = (self.origin.decode(self.scan.text(line), line) for line in lines)
        return dict(filter(None, map(read_sentence_comment, comments)))

    def find_line(self, row: int) -> int:
        """The number of a line in the file, counted from 1."""
        return self.origin.line(self.scan.token_line[row])

    def multiword_lines(self, first: int, count: int) -> dict[int, list[str]]:
        """The lines of multi-word tokens, by the place of the token behind them among the lines."""
        lines = self.scan.token_line[first : first + count]
        ranges: dict[int, list[str]] = {}
        for line in self.scan.ranges.tolist():
            position = int(np.searchsorted(lines, line))
            if lines.size and position < lines.size and line > lines[0] - 2:
                text = self.origin.decode(self.scan.text(line), line)
                ranges.setdefault(position, []).append(text)
        return ranges


def _is_tab(characters: ByteArray) -> BoolArray:
    flags: BoolArray = characters == TAB
    return flags


class SentenceComments(Sequence[Mapping[str, str]]):
    """The comments before each sentence of a document, as `key = value`, decoded when asked for."""

    def __init__(self, lines: ConlluLines, document: int) -> None:
        self._lines = lines
        self._document = document

    @cached_property
    def _bounds(self) -> list[tuple[int, int]]:
        """Which of the file's comments stand above each sentence."""
        first = int(self._lines.first[self._document])
        count = int(self._lines.counts[self._document])
        scan = self._lines.scan
        starts = first + np.flatnonzero(scan.new_sentence[first : first + count])
        bounds = comment_lines(scan, starts)
        return list(plain_rows(*bounds))

    def __len__(self) -> int:
        return len(self._bounds)

    @overload
    def __getitem__(self, index: int) -> Mapping[str, str]: ...

    @overload
    def __getitem__(self, index: slice) -> list[Mapping[str, str]]: ...

    def __getitem__(self, index: int | slice) -> Mapping[str, str] | list[Mapping[str, str]]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        return self._lines.read_comments(*self._bounds[index])


def comment_lines(scan: Scan, rows: IntArray) -> ArrayPair:
    """The first comment above each row, which begins a sentence, and the end (exclusive).

    The numbers count in `scan.comments`. Lines of multi-word tokens may stand between the comments
    and the token.
    """
    above = scan.token_line[rows] - 1
    range_run = _first_of_run(scan.ranges)
    place = np.searchsorted(scan.ranges, above)
    below_range = np.flatnonzero(_are_listed(scan.ranges, place, above))
    above[below_range] = scan.ranges[range_run[place[below_range]]] - 1
    last = np.searchsorted(scan.comments, above)
    has_comment = _are_listed(scan.comments, last, above)
    first, after = np.zeros_like(last), np.zeros_like(last)
    first[has_comment] = _first_of_run(scan.comments)[last[has_comment]]
    after[has_comment] = last[has_comment] + 1
    return first, after


def _are_listed(lines: IntArray, place: IntArray, line: IntArray) -> BoolArray:
    is_listed = all_false(line.size)
    inside = np.flatnonzero(place < lines.size)
    is_listed[inside] = lines[place[inside]] == line[inside]
    return is_listed


def _first_of_run(lines: IntArray) -> IntArray:
    """For each of the ascending lines, the index of the first line of its run without gaps."""
    begins = np.diff(lines, prepend=-2) != 1
    first: IntArray = np.flatnonzero(begins)[np.cumsum(begins) - 1]
    return first

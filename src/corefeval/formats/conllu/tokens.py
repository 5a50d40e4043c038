"""The token lines of a CoNLL-U file, left as bytes until somebody asks for a column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import overload

import numpy as np

from corefeval.diagnostics import InputError
from corefeval.formats.conll.bitmaps import Bitmap, nth_set
from corefeval.formats.conll.columns import coded_cells
from corefeval.formats.conllu.comments import coded_comments, comment_lines, read_sentence_comment
from corefeval.formats.conllu.scan import N_COLUMNS, TAB, Scan
from corefeval.formats.source import Source
from corefeval.model import Tokens
from corefeval.model.arrays import BoolArray, ByteArray, IntArray
from corefeval.model.categories import Categories
from corefeval.model.tokens import rows_of_tokens

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
class ConlluTokens(Tokens):
    """Token lines, empty nodes among them; the column `empty` says which are such."""

    origin: Source
    scan: Scan
    first: IntArray
    counts: IntArray
    shared_tabs: Bitmap | None = field(default=None, repr=False)

    @property
    def source(self) -> str:
        """The file that the tokens come from."""
        return self.origin.file

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of CoNLL-U by name, and `empty`."""
        return (*COLUMNS, "empty")

    def column(self, document: int, name: str | int) -> list[str]:
        """One column of one document; a number counts columns from 1."""
        rows = self._rows(document)
        if name == "empty":
            return ["1" if empty else "" for empty in self.scan.empty[rows].tolist()]
        index = self._column_index(name)
        decode = self.origin.decode
        return [
            decode(self.scan.text(line).split(b"\t", index + 1)[index], line)
            for line in self.scan.token_line[rows].tolist()
        ]

    def _column_index(self, name: str | int) -> int:
        """The number of a column, counted from 0; a clear error where there is none."""
        index = name - 1 if isinstance(name, int) else COLUMNS.get(name, -1)
        if not 0 <= index < len(COLUMNS):
            raise InputError(
                f"the file has no column {name!r}",
                file=self.source,
                expected=f"one of {', '.join(self.columns)}, or a number from 1 to 10",
            )
        return index

    def coded(self, name: str | int, tokens: IntArray | None = None) -> Categories:
        """One column of all tokens, or of some, as codes; a number counts columns from 1."""
        rows = rows_of_tokens(self.first, self.counts, self.offsets, tokens)
        if not rows.size:
            return Categories.of(())
        if name != "empty":
            return self._coded_column(rows, self._column_index(name))
        empty = self.scan.empty[rows]
        return Categories(empty.astype(np.int64), ("", "1") if empty.any() else ("",))

    def _coded_column(self, rows: IntArray, index: int) -> Categories:
        """The cells of one column, counted from 0, of some tokens; all lines have nine tabs."""
        scan, tabs = self.scan, self.tabs

        def bounds(some: slice) -> tuple[IntArray, IntArray]:
            chosen = rows[some]
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
        """Where the tabs of the file are: one bitmap for all selections of its documents."""
        return self.shared_tabs or Bitmap(self.scan.data, _is_tab)

    def rows(self, document: int) -> list[list[str]]:
        """All columns of each token."""
        return [
            self.origin.decode(self.scan.text(line), line).split("\t")
            for line in self.scan.token_line[self._rows(document)].tolist()
        ]

    def sentence_starts(self, document: int) -> list[int]:
        """The token positions at which sentences begin."""
        starts: list[int] = np.flatnonzero(self.scan.new_sentence[self._rows(document)]).tolist()
        return starts

    def all_sentence_starts(self) -> IntArray:
        """The tokens at which sentences begin, tokens numbered through."""
        rows = rows_of_tokens(self.first, self.counts, self.offsets)
        return np.flatnonzero(self.scan.new_sentence[rows])

    @property
    def marks_sentences(self) -> bool:
        """CoNLL-U has a blank line behind every sentence."""
        return True

    def sentence_comments(self, key: str) -> Categories:
        """What the comments say of each sentence, like `decl` for `# s_type = decl`."""
        rows = rows_of_tokens(self.first, self.counts, self.offsets, self.all_sentence_starts())
        distinct, inverse = np.unique(rows, return_inverse=True)
        return coded_comments(self.origin, self.scan, distinct, key).take(inverse)

    def line(self, document: int, position: int) -> int:
        """The line number of a token, counted from 1."""
        return self.origin.line(self.scan.token_line[self.first[document] + position])

    def select(self, documents: IntArray) -> ConlluTokens:
        """The same tokens for other documents; −1 is a document without tokens."""
        present = documents >= 0
        return replace(
            self,
            first=np.where(present, self.first[documents], 0),
            counts=np.where(present, self.counts[documents], 0),
            shared_tabs=self.tabs,
        )

    def multiword_lines(self, document: int) -> dict[int, list[str]]:
        """The lines of multi-word tokens, by the position of the token behind them."""
        rows = self._rows(document)
        lines = self.scan.token_line[rows]
        found: dict[int, list[str]] = {}
        for line in self.scan.ranges.tolist():
            position = int(np.searchsorted(lines, line))
            if lines.size and position < lines.size and line > lines[0] - 2:
                text = self.origin.decode(self.scan.text(line), line)
                found.setdefault(position, []).append(text)
        return found

    def _rows(self, document: int) -> slice:
        first = int(self.first[document])
        return slice(first, first + int(self.counts[document]))


def _is_tab(characters: ByteArray) -> BoolArray:
    flags: BoolArray = characters == TAB
    return flags


class SentenceComments(Sequence[Mapping[str, str]]):
    """The comments before each sentence of a document, as `key = value`, decoded when asked for."""

    def __init__(self, tokens: ConlluTokens, document: int) -> None:
        self._tokens = tokens
        self._document = document

    @cached_property
    def _bounds(self) -> list[tuple[int, int]]:
        """Which of the file's comments stand above each sentence."""
        tokens, document = self._tokens, self._document
        starts = np.array(tokens.sentence_starts(document), dtype=np.int64)
        first, after = comment_lines(tokens.scan, starts + tokens.first[document])
        return list(zip(first.tolist(), after.tolist(), strict=True))

    def __len__(self) -> int:
        return len(self._bounds)

    @overload
    def __getitem__(self, index: int) -> Mapping[str, str]: ...

    @overload
    def __getitem__(self, index: slice) -> list[Mapping[str, str]]: ...

    def __getitem__(self, index: int | slice) -> Mapping[str, str] | list[Mapping[str, str]]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        return dict(self._comments(*self._bounds[index]))

    def _comments(self, first: int, after: int) -> Iterator[tuple[str, str]]:
        """Some comments, document-wide ones left out."""
        scan = self._tokens.scan
        for line in scan.comments[first:after].tolist():
            pair = read_sentence_comment(self._tokens.origin.decode(scan.text(line), line))
            if pair is not None:
                yield pair

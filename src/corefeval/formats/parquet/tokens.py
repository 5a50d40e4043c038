"""The tokens of a Parquet file: columns that are read when somebody asks for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from corefeval.formats.parquet.table import ParquetTable, bad_file
from corefeval.model.arrays import IntArray, ragged_arange
from corefeval.model.categories import Categories
from corefeval.model.tokens import Tokens, rows_of_tokens

TOKEN = "token:"


class ParquetTokens(Tokens):
    """Tokens of documents that are rows of a file: `rows` has the row of each, −1 for none.

    `file_counts` are the numbers of tokens of the file's rows.
    """

    def __init__(self, table: ParquetTable, file_counts: IntArray, rows: IntArray) -> None:
        self.table = table
        self.file_counts = file_counts
        self.rows = rows
        self.counts = np.where(rows >= 0, np.append(file_counts, 0)[rows], 0)
        begin = np.append(np.cumsum(file_counts) - file_counts, 0)
        self.first = np.where(rows >= 0, begin[rows], 0)
        self._known: dict[str, Categories] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_known": {}}

    @property
    def source(self) -> str | None:
        """The file that the tokens come from."""
        return self.table.source.file

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that every document has, by name."""
        others = (name.removeprefix(TOKEN) for name in self.table.types if name.startswith(TOKEN))
        return (*(("word",) if "word" in self.table.types else ()), *others)

    def _column(self, name: str | int) -> Categories:
        """All values of a column of the file, once they are read."""
        name = self.column_name(name)
        if name not in self._known:
            stored = name if name == "word" else TOKEN + name
            lengths, values = self.table.lists(stored)
            if not np.array_equal(lengths, self.file_counts):
                row = int(np.argmax(lengths != self.file_counts))
                problem = f"column {stored!r} has another number of tokens than the others"
                found = f"{lengths[row]:,} in row {row + 1}"
                expected = f"{self.file_counts[row]:,}, one for each token"
                raise bad_file(self.table.source.file, problem, found=found, expected=expected)
            codes, texts = self.table.coded(stored, values)
            self._known[name] = Categories(codes, tuple(texts))
        return self._known[name]

    def column(self, document: int, name: str | int) -> list[str]:
        """One column of one document, a string per token."""
        first, count = int(self.first[document]), int(self.counts[document])
        values = self._column(name)
        return [text or "" for text in values.take(np.arange(first, first + count)).values()]

    def coded(self, name: str | int, tokens: IntArray | None = None) -> Categories:
        """One column of all documents, or of some tokens of all."""
        rows = rows_of_tokens(self.first, self.counts, self.offsets, tokens)
        found = self._column(name).take(rows)
        if bool((found.codes < 0).any()):
            return Categories.of([text or "" for text in found.values()])
        return found

    def _sentences(self) -> tuple[IntArray, IntArray]:
        """The number of sentences of each row, and where they begin in it."""
        if "sentence" not in self.table.types:
            has_any = (self.file_counts > 0).astype(np.int64)
            return has_any, np.zeros(int(has_any.sum()), dtype=np.int64)
        lengths, values = self.table.lists("sentence")
        starts = self.table.numbers("sentence", values)
        row = np.repeat(np.arange(lengths.size), lengths)
        rising = np.ones(starts.size, dtype=np.bool_)
        rising[1:] = (np.diff(starts) > 0) | (np.diff(row) > 0)
        bad = (starts < 0) | (starts >= self.file_counts[row]) | ~rising
        if bad.any():
            place = int(np.argmax(bad))
            raise bad_file(
                self.table.source.file,
                "column 'sentence' has a place at which no sentence can begin",
                found=f"{starts[place]} in row {row[place] + 1}",
                expected="rising numbers of tokens, from 0",
            )
        return lengths, starts

    def check_sentences(self) -> None:
        """Raise an InputError where sentences begin at no token."""
        self._sentences()

    def sentence_starts(self, document: int) -> list[int]:
        """The token positions at which the sentences of a document begin."""
        if self.rows[document] < 0:
            return []
        begin, end = self.offsets[document : document + 2].tolist()
        first, after = np.searchsorted(self.starts, (begin, end)).tolist()
        return [start - begin for start in self.starts[first:after].tolist()]

    def all_sentence_starts(self) -> IntArray:
        """The tokens at which sentences begin, over all documents, tokens numbered through."""
        lengths, starts = self._sentences()
        present = np.flatnonzero(self.rows >= 0)
        rows = self.rows[present]
        chosen = ragged_arange((np.cumsum(lengths) - lengths)[rows], lengths[rows])
        return starts[chosen] + np.repeat(self.offsets[present], lengths[rows])

    def select(self, documents: IntArray) -> ParquetTokens:
        """The same tokens for other documents; −1 is a document without tokens."""
        rows = np.where(documents >= 0, np.append(self.rows, -1)[documents], -1)
        return ParquetTokens(self.table, self.file_counts, rows)

"""The tokens of a corpus: how many each document has, and their columns, read when needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from corefeval.diagnostics import InputError
from corefeval.display import PlainState
from corefeval.model.arrays import (
    ArrayPair,
    IntArray,
    all_zero,
    distinct,
    offsets_of,
    plain_rows,
    ragged_arange,
    stable_order,
    unset,
)
from corefeval.model.categories import Categories

# What makes the cells of some rows of a table; picklable, so no lambda.
Column = Callable[[IntArray], Categories]
Rows = IntArray | range  # rows that follow each other need no array
# The token with which each sentence begins, ascending, and the row of that token in its table.
Sentences = ArrayPair

NO_ROW, NODE_ROW = -1, -2  # a token that its table lacks; an empty node that only another text has
# Columns that documents without empty nodes may do without, though others have them.
OF_NODES = ("empty", "deps")


class WordBytes(Protocol):
    """Words that can be compared as bytes, which takes far less time than comparing texts."""

    @property
    def encoding(self) -> str:
        """The encoding of the bytes; only words of one encoding can be compared."""

    def first_unequal_word(self, rows: Rows, response: Any, response_rows: Rows) -> int | None:
        """The first index at which the words of two lists of rows differ; None for none."""


@dataclass(frozen=True, eq=False)
class TokenTable:
    """Tokens as a format keeps them: rows of cells, which are read when they are needed.

    `columns` has what makes the cells of some rows, by name and by number (from 1). The column
    `empty` is "1" for tokens that stand for nothing in the text (zeros). `find_line` returns the
    line of a row in the file, `find_comments` what the comments on sentences say for a key, given
    the rows with which the sentences begin. `text` is there where rows are the characters of a text
    without tokens. `lines` is whatever else the format keeps of its file. `is_same_everywhere` is
    true where all parts of a file have the columns that one of them has. `marks_sentences` returns
    whether the file says where sentences end, even if each document is a single one.
    """

    columns: Mapping[str | int, Column] = field(default_factory=dict)
    find_line: Callable[[int], int | None] | None = None
    find_comments: Callable[[str, IntArray], Categories] | None = None
    source: str | None = None
    text: str | None = None
    lines: object = None
    word_bytes: WordBytes | None = None
    is_same_everywhere: bool = False
    marks_sentences: Callable[[], bool] | None = None


@dataclass(frozen=True, eq=False)
class Tokens(PlainState):
    """The tokens of all documents, numbered through, as rows of tables.

    Tokens come in runs: run r has `run_counts[r]` rows of table `run_table[r]` (−1: a document that
    is not there) from row `run_first[r]` on. Each document is a run, unless `bounds` says that
    document d has the runs from `bounds[d]` up to `bounds[d + 1]`. Where tokens were put in or
    left out, `token_rows` has the row of each token instead; see `NO_ROW` and `NODE_ROW`.
    `stated_sentences` are the sentences, or what finds them.
    """

    tables: tuple[TokenTable, ...]
    run_table: IntArray
    run_first: IntArray
    run_counts: IntArray
    stated_sentences: Sentences | Callable[[], Sentences]
    bounds: IntArray | None = None
    token_rows: IntArray | None = None

    @cached_property
    def run_offsets(self) -> IntArray:
        """Where each run begins when all tokens are numbered through, and the end."""
        return offsets_of(self.run_counts)

    @cached_property
    def offsets(self) -> IntArray:
        """Where each document's tokens begin when all are numbered through, and the end."""
        return self.run_offsets if self.bounds is None else self.run_offsets[self.bounds]

    @cached_property
    def counts(self) -> IntArray:
        """The number of tokens of each document."""
        return self.run_counts if self.bounds is None else np.diff(self.offsets)

    @cached_property
    def tables_in_use(self) -> list[TokenTable]:
        """The tables that tokens are rows of; where there are no tokens, all tables."""
        used = np.unique(self.run_table[(self.run_counts > 0) & (self.run_table >= 0)]).tolist()
        return [self.tables[number] for number in used] or list(self.tables)

    @property
    def lines(self) -> object:
        """What a format keeps of its file, if all tokens are rows of it as the file has them."""
        tables = self.tables_in_use
        is_plain = self.token_rows is None and self.bounds is None
        return tables[0].lines if len(tables) == 1 and is_plain else None

    @cached_property
    def source(self) -> str | None:
        """The file that the tokens come from, where it is one file."""
        sources = {table.source for table in self.tables}
        return sources.pop() if len(sources) == 1 else None

    @cached_property
    def has_texts(self) -> bool:
        """Whether any document is a text without tokens."""
        return any(table.text is not None for table in self.tables)

    def table(self, document: int) -> TokenTable | None:
        """The table in which a document begins; None for a document that is not there."""
        run = document if self.bounds is None else int(self.bounds[document])
        number = int(self.run_table[run])
        return None if number < 0 else self.tables[number]

    @cached_property
    def _column_names(self) -> dict[str, None]:
        tables = self.tables_in_use
        names = {name: None for table in tables for name in table.columns if isinstance(name, str)}
        if self.token_rows is not None and (self.token_rows == NODE_ROW).any():
            names["empty"] = None
        return names

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that every document with tokens has, by name."""
        return tuple(name for name in self._column_names if self._is_complete(name))

    @property
    def partial_columns(self) -> tuple[str, ...]:
        """The columns that only some documents have."""
        return tuple(name for name in self._column_names if not self._is_complete(name))

    def _is_complete(self, name: str | int) -> bool:
        if name in OF_NODES:
            return name in self._column_names
        return all(name in table.columns for table in self.tables_in_use)

    def has_column(self, document: int, name: str) -> bool:
        """Whether a document has a column, which others may lack."""
        table = self.table(document)
        return name in self.columns or (table is not None and name in table.columns)

    def column(self, document: int, name: str | int) -> list[str]:
        """The cells of a column of one document; an InputError where it has no such column."""
        begin, end = self.offsets[document : document + 2].tolist()
        if begin == end:
            return []
        table = self.table(document)
        if not self._is_complete(name) and (table is None or name not in table.columns):
            raise self._no_column(name)
        if name not in self._cells_of_all:
            self._cells_of_all[name] = self._cells(name, None)
        cells = self._cells_of_all[name]
        texts = cells.names
        return [texts[code] if code >= 0 else "" for code in cells.codes[begin:end].tolist()]

    @cached_property
    def _cells_of_all(self) -> dict[str | int, Categories]:
        """Columns that were read for one document, and will be needed for others."""
        return {}

    def coded(self, name: str | int, tokens: IntArray | None = None) -> Categories:
        """A column of all tokens, or of some, in their order; an InputError for no such column."""
        if not (self.offsets[-1] if tokens is None else tokens.size):
            return Categories.of(())
        if not self._is_complete(name):
            raise self._no_column(name)
        return self._cells(name, tokens)

    def _cells(self, name: str | int, tokens: IntArray | None) -> Categories:
        """The cells of a column for all tokens, or some, each from the table that has the token."""
        rows, columns = self.rows(tokens), self.tables[0].columns if len(self.tables) == 1 else {}
        if name in columns and (self.token_rows is None or bool((rows >= 0).all())):
            return columns[name](rows)
        table = self.run_table[self._runs(np.arange(rows.size) if tokens is None else tokens)]
        values = [
            (places, self.tables[number].columns[name](rows[places]))
            for number, places in _group(np.where(rows >= 0, table, -1))
            if number >= 0 and name in self.tables[number].columns
        ]
        if name == "empty":
            nodes = np.flatnonzero(rows == NODE_ROW)
            values.append((nodes, Categories(all_zero(nodes.size), ("1",))))
        return _scatter(rows.size, values)

    def _no_column(self, name: str | int) -> InputError:
        numbers = [
            max((n for n in t.columns if isinstance(n, int)), default=0) for t in self.tables
        ]
        width = min(numbers, default=0)
        return InputError(
            f"there is no column {name!r}" + ": this is a text without tokens" * self.has_texts,
            file=next((t.source for t in self.tables_in_use if name not in t.columns), None),
            expected=f"one of {', '.join(self.columns)}" if self.columns else "tokens with columns",
            fix=f"the file has {width} columns; a number from 1 to that will do" if width else None,
        )

    def rows(self, tokens: IntArray | None = None) -> IntArray:
        """The rows of all tokens, or of some, in the tables that have them."""
        if self.token_rows is not None:
            return self.token_rows if tokens is None else self.token_rows[tokens]
        return rows_of_tokens(self.run_first, self.run_counts, self.run_offsets, tokens)

    def _runs(self, tokens: IntArray) -> IntArray:
        return documents_of_tokens(self.run_offsets, tokens)

    @cached_property
    def sentences(self) -> Sentences:
        """The token with which each sentence begins, and the row of that token."""
        stated = self.stated_sentences
        return stated() if callable(stated) else stated

    @property
    def starts(self) -> IntArray:
        """The tokens with which sentences begin, over all documents, tokens numbered through."""
        return self.sentences[0]

    def sentence_starts(self, document: int) -> list[int]:
        """The token positions at which the sentences of a document begin."""
        begin, end = self.offsets[document : document + 2].tolist()
        first, after = np.searchsorted(self.starts, (begin, end)).tolist()
        return [start - begin for start in self.starts[first:after].tolist()]

    def sentence_ranges(self, document: int) -> Iterator[range]:
        """The token positions of each sentence of a document."""
        bounds = [*self.sentence_starts(document), int(self.counts[document])]
        return (range(start, end) for start, end in pairwise(bounds))

    @property
    def marks_sentences(self) -> bool:
        """Whether a document has several sentences, or a format marks where the only one ends."""
        has_several = self.starts.size > int(np.count_nonzero(self.counts))
        return has_several or self.marks_ends_of_sentences

    @property
    def marks_ends_of_sentences(self) -> bool:
        """Whether a format marks the end of a sentence even where there is only one."""
        marks = (table.marks_sentences for table in self.tables_in_use)
        return any(is_marked is not None and is_marked() for is_marked in marks)

    @cached_property
    def _sentence_edges(self) -> ArrayPair:
        """Where sentences and documents begin, and the number of the sentence from there on."""
        starts = self.starts
        edges = distinct(np.concatenate((starts, self.offsets[:-1][self.counts > 0])))
        sentence = np.searchsorted(starts, edges, side="right") - 1
        sentence[~np.isin(edges, starts)] = -1
        return edges, sentence

    def sentence_of(self, tokens: IntArray) -> IntArray:
        """The sentence in which each token stands; sentences are numbered through the corpus.

        Their order is that of `starts`. A token before the first sentence of its document is in
        none: −1.
        """
        edges, sentence = self._sentence_edges
        numbers: IntArray = sentence[np.searchsorted(edges, tokens, side="right") - 1]
        return numbers

    def sentence_comments(self, key: str) -> Categories | None:
        """What a comment says of each sentence, in the order of `starts`.

        Sentences without such a comment have no value. None where the corpus has no comments on
        sentences.
        """
        if all(table.find_comments is None for table in self.tables_in_use):
            return None
        starts, rows = self.sentences
        values = []
        for number, places in _group(self.run_table[self._runs(starts)]):
            find = self.tables[number].find_comments
            if find is not None:
                values.append((places, find(key, rows[places])))
        return _scatter(starts.size, values)

    def _place(self, document: int, position: int) -> tuple[int, int]:
        """The run and the row of a token."""
        token = np.array([self.offsets[document] + position])
        return int(self._runs(token)[0]), int(self.rows(token)[0])

    def line(self, document: int, position: int) -> int | None:
        """The line of the file on which a token stands; None where no file has it."""
        run, row = self._place(document, position)
        find = self.tables[int(self.run_table[run])].find_line
        return None if find is None or row < 0 else find(row)

    def position_in_file(self, document: int, position: int) -> int:
        """The position of a token in the document as its file has it; −1 where it lacks it."""
        run, row = self._place(document, position)
        return row - int(self.run_first[run]) if row >= 0 else -1


def documents_of_tokens(offsets: IntArray, tokens: IntArray) -> IntArray:
    """The document of each token, tokens numbered through."""
    document: IntArray = np.searchsorted(offsets, tokens, side="right") - 1
    return document


def rows_of_tokens(
    first: IntArray, counts: IntArray, offsets: IntArray, tokens: IntArray | None = None
) -> IntArray:
    """The rows of tokens that are numbered through runs of rows.

    Run r has the rows from `first[r]` on, and its tokens are numbered from `offsets[r]` on.

    >>> first, counts = np.array([3, 0]), np.array([2, 3])
    >>> rows_of_tokens(first, counts, np.array([0, 2, 5])).tolist()
    [3, 4, 0, 1, 2]
    >>> rows_of_tokens(first, counts, np.array([0, 2, 5]), np.array([4, 0])).tolist()
    [2, 3]
    """
    shift = first - offsets[:-1]
    if shift.size and bool((shift == shift[0]).all()):  # the runs follow each other
        rows = np.arange(offsets[-1]) if tokens is None else tokens
        return rows + int(shift[0])
    if tokens is None:
        return ragged_arange(first, counts)
    return shift[documents_of_tokens(offsets, tokens)] + tokens


def _group(numbers: IntArray) -> Iterator[tuple[int, IntArray]]:
    """Each number that occurs, in ascending order, and the places at which it does."""
    order = stable_order(numbers)
    present, first = np.unique(numbers[order], return_index=True)
    return plain_rows(present, np.split(order, first[1:])) if order.size else iter(())


def _scatter(size: int, pieces: Sequence[tuple[IntArray, Categories]]) -> Categories:
    """So many values, which come in pieces with the places of each; none for other places."""
    codes = unset(size)
    if not pieces:
        return Categories(codes, ())
    places, values = zip(*pieces, strict=True)
    joint = Categories.concatenate(*values)
    codes[np.concatenate(places)] = joint.codes
    return Categories(codes, joint.names)

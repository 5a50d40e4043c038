"""Parquet files as tables, read column by column when somebody asks; and the tokens in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import InputError, UsageError
from corefeval.files import check_unpacked
from corefeval.formats.source import Source
from corefeval.model.arrays import IntArray, ragged_arange
from corefeval.model.categories import Categories
from corefeval.model.tokens import Tokens, rows_of_tokens

_LEAST = 4  # bytes that a value takes when it is read
TOKEN = "token:"
_WHAT = "docs/formats/parquet.md describes the columns"


def import_pyarrow() -> Any:
    """Pyarrow, or a UsageError that says where it is to be had."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        message = "Parquet files need pyarrow: pip install pyarrow"
        raise UsageError(message) from None
    return pyarrow


@contextmanager
def guard(file: str) -> Iterator[None]:
    """Within, what pyarrow cannot read is an InputError."""
    arrow = import_pyarrow()
    try:
        yield
    except (arrow.ArrowException, OSError, ValueError, KeyError, OverflowError) as error:
        if isinstance(error, MemoryError):
            raise
        first = str(error).strip().split("\n")[0]
        problem = "this is not a readable Parquet file"
        fix = "write the file again"
        raise InputError(problem, file=file, found=first[:200], fix=fix) from None


@dataclass(eq=False)
class ParquetTable:
    """The columns of a file, each read when somebody asks for it; it pickles as bytes."""

    source: Source

    @cached_property
    def _file(self) -> Any:
        arrow = import_pyarrow()
        with guard(self.source.file):
            file = arrow.parquet.ParquetFile(arrow.BufferReader(arrow.py_buffer(self.source.data)))
            groups = [file.metadata.row_group(n) for n in range(file.num_row_groups)]
            declared = sum(group.total_byte_size for group in groups)
            check_unpacked(declared, self.source.data.size, self.source.file)
            # Statistics that are damaged end the process where they are looked at, but not where
            # everything is gone through once, which takes little time and memory.
            file.scan_contents()
            parts = [group.column(n) for group in groups for n in range(group.num_columns)]
            # A value that is repeated often takes next to nothing in the file, but not here.
            unpacked = sum(max(p.total_uncompressed_size, _LEAST * p.num_values) for p in parts)
        check_unpacked(unpacked, self.source.data.size, self.source.file)
        return file

    def __getstate__(self) -> dict[str, Any]:
        return {"source": self.source}

    @cached_property
    def types(self) -> dict[str, Any]:
        """The type of each column by its name."""
        with guard(self.source.file):
            schema = self._file.schema_arrow
            return dict(zip(schema.names, schema.types, strict=True))

    @cached_property
    def notes(self) -> dict[bytes, bytes]:
        """What the writer noted beside the columns."""
        with guard(self.source.file):
            return dict(self._file.schema_arrow.metadata or {})

    def error(self, problem: str, found: str, expected: str | None = None) -> InputError:
        """A mistake in this file, for the caller to raise."""
        return self.source.error(problem, found=found, expected=expected, fix=_WHAT)

    def is_list(self, name: str) -> bool:
        """Whether the cells of a column are lists."""
        types = import_pyarrow().types
        return bool(types.is_list(self.types[name]) or types.is_large_list(self.types[name]))

    def column(self, name: str) -> Any:
        """A column as an array of arrow."""
        with guard(self.source.file):
            read = self._file.read(columns=[name])
            if name not in read.column_names:  # a name with dots in it means something else there
                read = self._file.read()
            read.validate(full=True)
            return read.column(name).combine_chunks()

    def lists(self, name: str) -> tuple[IntArray, Any]:
        """The length of each row's list, none where there is no list, and all values together."""
        if not self.is_list(name):
            raise self.wrong_type(name, "a list in each row")
        arrow, column = import_pyarrow(), self.column(name)
        with guard(self.source.file):
            lengths = arrow.compute.list_value_length(column).fill_null(0)
            return lengths.to_numpy(zero_copy_only=False).astype(np.int64), column.flatten()

    def wrong_type(self, name: str, expected: str) -> InputError:
        """An error about a column that holds something else."""
        return self.error(f"column {name!r} has the wrong type", str(self.types[name]), expected)

    def numbers(self, name: str, values: Any, *, missing: int | None = None) -> IntArray:
        """Whole numbers; `missing` stands for none of them, which is an error without it."""
        arrow = import_pyarrow()
        if missing is None and values.null_count:
            problem, found = f"column {name!r} has values missing", f"{values.null_count:,} nulls"
            raise self.error(problem, found, "a number each")
        try:
            numbers = values.cast(arrow.int64())
            if missing is not None:
                numbers = arrow.compute.fill_null(numbers, missing)
            found = numbers.to_numpy(zero_copy_only=False)
        except (arrow.ArrowException, ValueError):
            raise self.wrong_type(name, "whole numbers") from None
        return np.asarray(found, dtype=np.int64)

    def coded(self, name: str, values: Any) -> tuple[IntArray, list[str]]:
        """Texts as codes into a list of different ones; −1 where there is none."""
        arrow = import_pyarrow()
        types = arrow.types
        if types.is_nested(values.type) or types.is_floating(values.type):
            raise self.wrong_type(name, "texts or whole numbers")
        try:
            encoded = values.cast(arrow.string()).dictionary_encode()
            codes = arrow.compute.fill_null(encoded.indices.cast(arrow.int64()), -1)
            return codes.to_numpy(zero_copy_only=False), encoded.dictionary.to_pylist()
        except (arrow.ArrowException, ValueError):
            raise self.wrong_type(name, "texts or whole numbers") from None

    def texts(self, name: str, values: Any) -> NDArray[Any]:
        """Texts, nothing for none."""
        codes, names = self.coded(name, values)
        return np.array([*names, ""], dtype=object)[codes]

    def require(self, names: Sequence[str]) -> None:
        """An InputError where columns are missing."""
        missing = [name for name in names if name not in self.types]
        if missing:
            raise self.error(
                f"there is no column {', '.join(map(repr, missing))}",
                ", ".join(map(repr, self.types)) or "no columns",
                "document, start, end and entity at least",
            )


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
                problem = f"column {stored!r} differs from the others in the number of tokens"
                found = f"{lengths[row]:,} in row {row + 1}"
                expected = f"{self.file_counts[row]:,}, one for each token"
                raise self.table.error(problem, found, expected)
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
            raise self.table.error(
                "column 'sentence' has a position where no sentence can begin",
                f"{starts[place]} in row {row[place] + 1}",
                "rising numbers of tokens, from 0",
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

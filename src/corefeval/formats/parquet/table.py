"""Parquet files as tables, read column by column when somebody asks; and the tokens in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import InputError, UsageError
from corefeval.files import check_unpacked
from corefeval.formats.source import Source
from corefeval.model.arrays import IntArray
from corefeval.model.categories import Categories
from corefeval.model.tokens import Column, Sentences, Tokens, TokenTable

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


class ParquetRows:
    """Tokens of a file whose rows are documents; `counts` is how many tokens each row has."""

    def __init__(self, table: ParquetTable, counts: IntArray) -> None:
        self.table = table
        self.counts = counts
        self._known: dict[str, Categories] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_known": {}}

    def tokens(self) -> Tokens:
        """The tokens of all rows."""
        stored = [name for name in self.table.types if name == "word" or name.startswith(TOKEN)]
        stored.sort(key="word".__ne__)
        columns: dict[str | int, Column] = {}
        for number, name in enumerate(stored, 1):
            columns[name.removeprefix(TOKEN)] = columns[number] = partial(self.read_column, name)
        first = np.cumsum(self.counts) - self.counts
        table = TokenTable(columns, source=self.table.source.file)
        return Tokens((table,), np.zeros_like(first), first, self.counts, self.find_sentences)

    def read_column(self, stored: str, rows: IntArray) -> Categories:
        """The cells of a column of some tokens."""
        if stored not in self._known:
            lengths, values = self.table.lists(stored)
            if not np.array_equal(lengths, self.counts):
                row = int(np.argmax(lengths != self.counts))
                problem = f"column {stored!r} differs from the others in the number of tokens"
                found = f"{lengths[row]:,} in row {row + 1}"
                expected = f"{self.counts[row]:,}, one for each token"
                raise self.table.error(problem, found, expected)
            codes, texts = self.table.coded(stored, values)
            self._known[stored] = Categories(codes, tuple(texts))
        return self._known[stored].take(rows)

    def find_sentences(self) -> Sentences:
        """The tokens with which sentences begin; an InputError where a sentence begins nowhere."""
        begin = np.cumsum(self.counts) - self.counts
        if "sentence" not in self.table.types:
            starts = begin[self.counts > 0]
            return starts, starts
        lengths, values = self.table.lists("sentence")
        starts = self.table.numbers("sentence", values)
        row = np.repeat(np.arange(lengths.size), lengths)
        rising = np.ones(starts.size, dtype=np.bool_)
        rising[1:] = (np.diff(starts) > 0) | (np.diff(row) > 0)
        bad = (starts < 0) | (starts >= self.counts[row]) | ~rising
        if bad.any():
            place = int(np.argmax(bad))
            raise self.table.error(
                "column 'sentence' has a position where no sentence can begin",
                f"{starts[place]} in row {row[place] + 1}",
                "rising numbers of tokens, from 0",
            )
        return starts + begin[row], starts

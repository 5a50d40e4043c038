"""Parquet files as tables: opened, checked, and read column by column."""

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
from corefeval.model.arrays import IntArray

_LEAST = 4  # bytes that a value takes when it is read
WHAT = "docs/formats/parquet.md describes the columns"


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


def bad_file(
    file: str, problem: str, *, found: str, expected: str = "", fix: str = ""
) -> InputError:
    """An error about a Parquet file."""
    return InputError(problem, file=file, found=found, expected=expected or None, fix=fix or WHAT)


@contextmanager
def sound(file: str) -> Iterator[None]:
    """Within, what pyarrow cannot read is an InputError."""
    arrow = import_pyarrow()
    try:
        yield
    except (arrow.ArrowException, OSError, ValueError, KeyError, OverflowError) as error:
        if isinstance(error, MemoryError):
            raise
        first = str(error).strip().split("\n")[0]
        problem = "this is no Parquet file that can be read"
        raise bad_file(file, problem, found=first[:200], fix="write the file again") from None


@dataclass(eq=False)
class ParquetTable:
    """The columns of a file, each read when somebody asks for it; it pickles as bytes."""

    source: Source

    @cached_property
    def _file(self) -> Any:
        arrow = import_pyarrow()
        with sound(self.source.file):
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
        with sound(self.source.file):
            schema = self._file.schema_arrow
            return dict(zip(schema.names, schema.types, strict=True))

    @cached_property
    def notes(self) -> dict[bytes, bytes]:
        """What the writer noted beside the columns."""
        with sound(self.source.file):
            return dict(self._file.schema_arrow.metadata or {})

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self._file.metadata.num_rows)

    def is_list(self, name: str) -> bool:
        """Whether the cells of a column are lists."""
        types = import_pyarrow().types
        return bool(types.is_list(self.types[name]) or types.is_large_list(self.types[name]))

    def column(self, name: str) -> Any:
        """A column as an array of arrow."""
        with sound(self.source.file):
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
        with sound(self.source.file):
            lengths = arrow.compute.list_value_length(column).fill_null(0)
            return lengths.to_numpy(zero_copy_only=False).astype(np.int64), column.flatten()

    def wrong_type(self, name: str, expected: str) -> InputError:
        """An error about a column that holds something else."""
        problem = f"column {name!r} has the wrong type"
        return bad_file(self.source.file, problem, found=str(self.types[name]), expected=expected)

    def numbers(self, name: str, values: Any, *, missing: int | None = None) -> IntArray:
        """Whole numbers; `missing` stands for none of them, which is an error without it."""
        arrow = import_pyarrow()
        if missing is not None:
            try:
                values = arrow.compute.fill_null(values.cast(arrow.int64()), missing)
            except (arrow.ArrowException, ValueError):
                raise self.wrong_type(name, "whole numbers") from None
        elif values.null_count:
            problem, found = f"column {name!r} has values missing", f"{values.null_count:,} nulls"
            raise bad_file(self.source.file, problem, found=found, expected="a number each")
        try:
            found = values.cast(arrow.int64()).to_numpy(zero_copy_only=False)
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


def require(table: ParquetTable, names: Sequence[str]) -> None:
    """An InputError where columns are missing."""
    missing = [name for name in names if name not in table.types]
    if missing:
        raise bad_file(
            table.source.file,
            f"there is no column {', '.join(map(repr, missing))}",
            found=", ".join(map(repr, table.types)) or "no columns",
            expected="document, start, end and entity at least",
        )

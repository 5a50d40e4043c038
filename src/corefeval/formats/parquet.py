"""Parquet whose rows are records of the JSON family, as datasets on hubs have them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from corefeval.diagnostics import InputError, UsageError
from corefeval.files import check_unpacked
from corefeval.formats.json.parsing import Record
from corefeval.formats.json.reader import read_records
from corefeval.formats.source import Source
from corefeval.model import Corpus

_VALUE_SIZE = 4  # bytes that a value takes at least when it is read


def read_parquet(source: Source, *, name: str = "") -> Corpus:
    """Read a corpus from a Parquet file: each row is a record, its columns are the record's keys.

    A null is a key that the record does not have. UsageError: pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UsageError("Parquet files need pyarrow: pip install pyarrow") from None
    with _one_error(source.file, pyarrow.ArrowException):
        rows = _read_rows(source, pyarrow)
    if not rows:
        raise source.error("there are no rows in the file", expected="a row for each document")
    records = [
        Record({key: value for key, value in row.items() if value is not None}, source, number)
        for number, row in enumerate(rows)
    ]
    return read_records(records, source, name=name)


@contextmanager
def _one_error(file: str, arrow_error: type[Exception]) -> Iterator[None]:
    """Within, what pyarrow cannot read is an InputError."""
    try:
        yield
    except (arrow_error, OSError, ValueError, KeyError, OverflowError) as error:
        if isinstance(error, MemoryError):
            raise
        raise InputError(
            "this is not a readable Parquet file",
            file=file,
            found=str(error).strip().split("\n")[0][:200],
            fix="write the file again",
        ) from None


def _read_rows(source: Source, pyarrow: Any) -> list[dict[str, Any]]:
    """All rows of a file; an InputError where they unpack to more than the limit."""
    data, file = source.data, source.file
    parquet = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(pyarrow.py_buffer(data)))
    groups = [parquet.metadata.row_group(number) for number in range(parquet.num_row_groups)]
    check_unpacked(sum(group.total_byte_size for group in groups), data.size, file)
    # Damaged statistics end the process where they are looked at, but not where everything is gone
    # through once, which takes little time and memory.
    parquet.scan_contents()
    chunks = [group.column(number) for group in groups for number in range(group.num_columns)]
    # A value that is repeated often takes next to nothing in the file, but not in memory.
    sizes = (max(c.total_uncompressed_size, _VALUE_SIZE * c.num_values) for c in chunks)
    check_unpacked(sum(sizes), data.size, file)
    table = parquet.read()
    table.validate(full=True)
    names = table.column_names
    if len({*names}) < len(names):
        raise source.error("a column appears twice", found=", ".join(map(repr, names)))
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows

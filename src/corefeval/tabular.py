"""Rows and data frames, which every result has. Every room may import this one."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from typing import Any, cast

from corefeval.diagnostics import UsageError

Row = dict[str, Any]


class Tabular:
    """What has rows: `rows()` are flat dictionaries, and `to_frame()` is a data frame of them."""

    __slots__ = ()

    def rows(self) -> list[Row]:
        """The numbers as flat dictionaries: text, numbers, truth values, and None for nothing."""
        raise NotImplementedError

    def to_frame(self, *args: Any, **options: Any) -> Any:
        """A pandas data frame of `rows`, which takes the same arguments."""
        rows = self.rows(*args, **options)
        try:
            pandas = importlib.import_module("pandas")
        except ImportError as error:
            raise UsageError(
                "data frames need pandas: pip install pandas; or use rows()"
            ) from error
        return pandas.DataFrame(rows)

    def _repr_html_(self) -> str:
        # By name: results know nothing of how they are shown.
        notebook = importlib.import_module("corefeval.reports.notebook")
        return str(notebook.result_html(self))


class Record:
    """A small value of fields that its dictionary stands for, in JSON."""

    __slots__ = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(cast("Any", self))


def are_same(left: object, right: object) -> bool:
    """Whether two values are equal, arrays by their numbers and NaN like NaN, all the way down.

    >>> are_same({"a": (1, float("nan"))}, {"a": (1, float("nan"))}), are_same([1], [1, 2])
    (True, False)
    """
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(are_same(left[key], right[key]) for key in left)
    if isinstance(left, tuple | list) and type(left) is type(right):
        return len(left) == len(right) and all(map(are_same, left, right))
    if hasattr(left, "dtype") and hasattr(right, "dtype"):
        numpy = importlib.import_module("numpy")
        return bool(numpy.array_equal(left, right, equal_nan=left.dtype.kind == "f"))
    if is_dataclass(left) and type(left) is type(right) and not _compares_itself(left):
        return bool(have_same_fields(left, right))
    return bool(left == right or (left != left and right != right))


def _compares_itself(value: object) -> bool:
    """Whether the class of a value defines equality itself, and not by `dataclass`."""
    written = getattr(type(value), "__eq__", None)
    params = getattr(type(value), "__dataclass_params__", None)
    return written is not object.__eq__ and not getattr(params, "eq", False)


def have_same_fields(left: Any, right: Any) -> bool:
    """Whether two instances of a data class have equal fields; NotImplemented for two types."""
    names = [field.name for field in fields(left)]
    if type(left) is not type(right):
        return NotImplemented  # type: ignore[no-any-return]
    return all(are_same(getattr(left, name), getattr(right, name)) for name in names)


def columns_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns of some rows, in the order of the row that has most of them.

    >>> columns_of([{"a": 1, "c": 2}, {"a": 1, "b": 0, "c": 2}])
    ['a', 'b', 'c']
    """
    names: dict[str, None] = {}
    for row in sorted(rows, key=len, reverse=True):
        names |= dict.fromkeys(row)
    return list(names)

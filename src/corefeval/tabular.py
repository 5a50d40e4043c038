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


def are_same(one: object, other: object) -> bool:
    """Whether two values are equal, arrays by their numbers and NaN like NaN, all the way down.

    >>> are_same({"a": (1, float("nan"))}, {"a": (1, float("nan"))}), are_same([1], [1, 2])
    (True, False)
    """
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(are_same(one[key], other[key]) for key in one)
    if isinstance(one, tuple | list) and type(one) is type(other):
        return len(one) == len(other) and all(map(are_same, one, other))
    if hasattr(one, "dtype") and hasattr(other, "dtype"):
        numpy = importlib.import_module("numpy")
        return bool(numpy.array_equal(one, other, equal_nan=one.dtype.kind == "f"))
    if is_dataclass(one) and type(one) is type(other) and not _compares_itself(one):
        return bool(have_same_fields(one, other))
    return bool(one == other or (one != one and other != other))


def _compares_itself(value: object) -> bool:
    """Whether somebody wrote down what makes two of a kind equal."""
    written = getattr(type(value), "__eq__", None)
    params = getattr(type(value), "__dataclass_params__", None)
    return written is not object.__eq__ and not getattr(params, "eq", False)


def have_same_fields(one: Any, other: Any) -> bool:
    """Whether two data classes of one type have the same in each field; NotImplemented if none."""
    names = [field.name for field in fields(one)]
    if type(one) is not type(other):
        return NotImplemented  # type: ignore[no-any-return]
    return all(are_same(getattr(one, name), getattr(other, name)) for name in names)


def columns_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns of some rows, in the order of the row that has most of them.

    >>> columns_of([{"a": 1, "c": 2}, {"a": 1, "b": 0, "c": 2}])
    ['a', 'b', 'c']
    """
    names: dict[str, None] = {}
    for row in sorted(rows, key=len, reverse=True):
        names |= dict.fromkeys(row)
    return list(names)

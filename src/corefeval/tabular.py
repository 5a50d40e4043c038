"""Rows and data frames, which every result has. Every room may import this one."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

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
                "data frames need pandas: pip install pandas; or take rows()"
            ) from error
        return pandas.DataFrame(rows)


def columns_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns of some rows, in the order of the row that has most of them.

    >>> columns_of([{"a": 1, "c": 2}, {"a": 1, "b": 0, "c": 2}])
    ['a', 'b', 'c']
    """
    names: dict[str, None] = {}
    for row in sorted(rows, key=len, reverse=True):
        names |= dict.fromkeys(row)
    return list(names)

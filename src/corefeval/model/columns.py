"""Properties of mentions and entities that are worked out when somebody asks for them.

What makes them is a function of a module, or a `partial` of one, so that they pickle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from corefeval.model.arrays import IntArray


class LazyColumns(Mapping[str, NDArray[Any]]):
    """An array per property, made of one mapping per mention when first looked at."""

    def __init__(
        self, make: Callable[[], Sequence[Mapping[str, str]]], rows: IntArray | None = None
    ) -> None:
        self._make = make
        self._rows = rows

    @cached_property
    def _columns(self) -> dict[str, NDArray[Any]]:
        values = self._make()
        names = dict.fromkeys(name for value in values for name in value)
        columns = {
            name: np.array([value.get(name, "") for value in values], dtype=object)
            for name in names
        }
        if self._rows is None:
            return columns
        return {name: column[self._rows] for name, column in columns.items()}

    def take(self, rows: IntArray) -> LazyColumns:
        """The properties of some mentions, still not worked out."""
        return LazyColumns(self._make, rows if self._rows is None else self._rows[rows])

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


def taken(features: Mapping[str, NDArray[Any]], rows: IntArray) -> Mapping[str, NDArray[Any]]:
    """The properties of some mentions."""
    if isinstance(features, LazyColumns):
        return features.take(rows)
    return {name: values[rows] for name, values in features.items()}


class LazyNames(Sequence[str]):
    """A name per entity, worked out when first looked at."""

    def __init__(self, make: Callable[[], Sequence[str]], rows: IntArray | None = None) -> None:
        self._make = make
        self._rows = rows

    @cached_property
    def _names(self) -> Sequence[str]:
        made = self._make()
        return made if self._rows is None else [made[row] for row in self._rows.tolist()]

    def take(self, rows: IntArray) -> LazyNames:
        """The names of some entities, still not worked out."""
        return LazyNames(self._make, rows if self._rows is None else self._rows[rows])

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...

    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        return self._names[index]

    def __len__(self) -> int:
        return len(self._names)


class LazyArray:
    """One number per mention, worked out when first looked at."""

    def __init__(self, make: Callable[[], IntArray], rows: IntArray | None = None) -> None:
        self._make = make
        self._rows = rows

    @cached_property
    def values(self) -> IntArray:
        """The numbers."""
        made = self._make()
        return made if self._rows is None else made[self._rows]

    def __getitem__(self, rows: Any) -> Any:
        """Of one row its number; of an array of rows their numbers, still not worked out."""
        if not isinstance(rows, np.ndarray):
            return self.values[rows]
        return LazyArray(self._make, rows if self._rows is None else self._rows[rows])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype)

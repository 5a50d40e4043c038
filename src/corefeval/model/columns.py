"""Properties of mentions and entities that are worked out when somebody asks for them.

What makes them is a function of a module, or a `partial` of one, so that they pickle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Generic, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from corefeval.model.arrays import IntArray

T = TypeVar("T")


class _Lazy(Generic[T]):
    """Something with a row for each mention or entity: what makes it, and which rows are wanted."""

    def __init__(self, make: Callable[[], T], rows: IntArray | None = None) -> None:
        self._make = make
        self._rows = rows

    def take(self, rows: IntArray) -> Self:
        """Some of the rows, still not worked out."""
        return type(self)(self._make, rows if self._rows is None else self._rows[rows])


class LazyColumns(_Lazy[Sequence[Mapping[str, str]]], Mapping[str, NDArray[Any]]):
    """An array per property, made of one mapping per mention when first looked at."""

    @cached_property
    def _columns(self) -> dict[str, NDArray[Any]]:
        values = self._make()
        names = dict.fromkeys(name for value in values for name in value)
        columns = {
            name: np.array([value.get(name, "") for value in values], dtype=object)
            for name in names
        }
        return columns if self._rows is None else dict(taken(columns, self._rows))

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


class LazyNames(_Lazy[Sequence[str]], Sequence[str]):
    """A name per entity, worked out when first looked at."""

    @cached_property
    def _names(self) -> Sequence[str]:
        made = self._make()
        return made if self._rows is None else [made[row] for row in self._rows.tolist()]

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...

    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        return self._names[index]

    def __len__(self) -> int:
        return len(self._names)


class LazyArray(_Lazy[IntArray]):
    """One number per mention, worked out when first looked at."""

    @cached_property
    def values(self) -> IntArray:
        """The numbers."""
        made = self._make()
        return made if self._rows is None else made[self._rows]

    def __getitem__(self, rows: Any) -> Any:
        """Of one row its number; of an array of rows their numbers, still not worked out."""
        return self.take(rows) if isinstance(rows, np.ndarray) else self.values[rows]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype)

"""A value for each of many things: as codes into a short list of names, or worked out when asked.

What makes values that are worked out later is a function of a module, or a `partial` of one, so
that they pickle.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from corefeval.model.arrays import IntArray
from corefeval.syntax import CROSS


@dataclass(frozen=True, eq=False)
class Categories:
    """Codes into names: thing i has the value `names[codes[i]]`, or none where its code is −1.

    >>> kinds = Categories.of(["name", "pronoun", "name", None])
    >>> kinds.codes.tolist(), kinds.names
    ([0, 1, 0, -1], ('name', 'pronoun'))
    """

    codes: IntArray
    names: tuple[str, ...]

    @staticmethod
    def of(values: Sequence[str | None]) -> Categories:
        """From a value for each thing; names come in the order in which they are first seen."""
        numbers: dict[str, int] = {}
        codes = [-1 if v is None else numbers.setdefault(v, len(numbers)) for v in values]
        return Categories(np.array(codes, dtype=np.int64), tuple(numbers))

    @staticmethod
    def concatenate(*parts: Categories) -> Categories:
        """The values of all parts one after the other, under names that come in the parts' order.

        >>> Categories.concatenate(Categories.of(["a", "b"]), Categories.of(["b", "c"])).values()
        ['a', 'b', 'b', 'c']
        """
        names = tuple(dict.fromkeys(name for part in parts for name in part.names))
        return Categories(np.concatenate([part.recoded(names).codes for part in parts]), names)

    @staticmethod
    def cross(parts: Sequence[Categories]) -> Categories:
        """The values of all parts together; none for a thing of which any part has none.

        >>> one, other = Categories.of(["a", "b", "a"]), Categories.of(["x", None, "y"])
        >>> Categories.cross([one, other]).names
        ('a*x', 'a*y')
        """
        joint, *others = parts
        for part in others:
            width = max(len(part.names), 1)
            known = (joint.codes >= 0) & (part.codes >= 0)
            found, codes = np.unique((joint.codes * width + part.codes)[known], return_inverse=True)
            names = [
                f"{joint.names[pair // width]}{CROSS}{part.names[pair % width]}"
                for pair in found.tolist()
            ]
            numbers = np.full(len(joint), -1, dtype=np.int64)
            numbers[known] = codes
            joint = Categories(numbers, tuple(names))
        return joint

    def __len__(self) -> int:
        return int(self.codes.size)

    def take(self, rows: NDArray[Any]) -> Categories:
        """The values of some things."""
        return Categories(self.codes[rows], self.names)

    def where(self, holds: Callable[[str], bool]) -> NDArray[np.bool_]:
        """Which things have a value for which something holds; asked once for each name."""
        table = np.array([*map(holds, self.names), False], dtype=np.bool_)
        return table[self.codes]

    def where_lower(self, texts: Container[str]) -> NDArray[np.bool_]:
        """Which things have a value that in lower case is one of some texts."""
        table = np.array([*map(texts.__contains__, map(str.lower, self.names)), False])
        return table[self.codes]

    def renamed(self, rename: Callable[[str], str | None]) -> Categories:
        """Each name exchanged for another one, or for none; asked once for each name."""
        new = Categories.of([rename(name) for name in self.names])
        return Categories(np.append(new.codes, -1)[self.codes], new.names)

    def recoded(self, names: Sequence[str]) -> Categories:
        """The same values with these names, which must include all of its own."""
        number = {name: code for code, name in enumerate(names)}
        codes = np.array([*(number[name] for name in self.names), -1], dtype=np.int64)
        return Categories(codes[self.codes], tuple(names))

    def replace_where(self, which: NDArray[np.bool_], other: Categories) -> Categories:
        """The same values, but those of the other, which has as many, where `which` is true.

        >>> one, other = Categories.of(["a", "b"]), Categories.of(["b", "c"])
        >>> one.replace_where(np.array([True, False]), other).values()
        ['b', 'b']
        """
        rows = np.arange(len(self)) + np.where(which, len(self), 0)
        return Categories.concatenate(self, other).take(rows)

    def sort_names(self) -> Categories:
        """The same values, with names by frequency, or ascending where all are whole numbers.

        Names without values go.

        >>> Categories.of(["b", "a", "a", None]).sort_names().names
        ('a', 'b')
        >>> Categories.of(["10", "9", "10"]).sort_names().names
        ('9', '10')
        """
        counts = np.bincount(self.codes + 1, minlength=len(self.names) + 1)[1:].tolist()
        present = [(name, c) for name, c in zip(self.names, counts, strict=True) if c]
        if present and all(name.isascii() and name.isdigit() for name, _ in present):
            present.sort(key=lambda item: int(item[0]))
        else:
            present.sort(key=lambda item: (-item[1], item[0]))
        number = {name: code for code, (name, _) in enumerate(present)}
        table = np.array([*(number.get(name, -1) for name in self.names), -1], dtype=np.int64)
        return Categories(table[self.codes], tuple(number))

    def values(self) -> list[str | None]:
        """The value of each thing, for people."""
        table = [*self.names, None]
        return [table[code] for code in self.codes.tolist()]


T = TypeVar("T")


class _Lazy(Generic[T]):
    """Something with a row for each mention or entity: what makes it, and which rows are wanted."""

    def __init__(self, make: Callable[[], T], rows: IntArray | None = None) -> None:
        self._make = make
        self._rows = rows

    def take(self, rows: IntArray) -> Self:
        """Some of the rows, still not worked out."""
        return type(self)(self._make, rows if self._rows is None else self._rows[rows])


class LazyColumns(_Lazy[Mapping[str, NDArray[Any]]], Mapping[str, NDArray[Any]]):
    """An array per property of mentions, made when first looked at."""

    @cached_property
    def _columns(self) -> Mapping[str, NDArray[Any]]:
        columns = self._make()
        return columns if self._rows is None else take_columns(dict(columns), self._rows)

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


def tabulate(values: Sequence[Mapping[str, str]]) -> dict[str, NDArray[Any]]:
    """An array per property, from one mapping per mention; empty where that lacks the property."""
    names = dict.fromkeys(name for value in values for name in value)
    return {
        name: np.array([value.get(name, "") for value in values], dtype=object) for name in names
    }


def take_columns(
    features: Mapping[str, NDArray[Any]], rows: IntArray
) -> Mapping[str, NDArray[Any]]:
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

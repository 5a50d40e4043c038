"""A value for each of many items: as codes into a short list of names, or worked out when asked.

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

from corefeval.checks import CROSS
from corefeval.model.arrays import IntArray, integers, looked_up, set_rows


@dataclass(frozen=True, eq=False)
class Categories:
    """Codes into names: item i has the value `names[codes[i]]`, or none where its code is −1.

    >>> kinds = Categories.of(["name", "pronoun", "name", None])
    >>> kinds.codes.tolist(), kinds.names
    ([0, 1, 0, -1], ('name', 'pronoun'))
    """

    codes: IntArray
    names: tuple[str, ...]

    @staticmethod
    def of(values: Sequence[str | None]) -> Categories:
        """Categories of a value for each item; names come in the order of their first items."""
        numbers: dict[str, int] = {}
        codes = [-1 if v is None else numbers.setdefault(v, len(numbers)) for v in values]
        return Categories(integers(codes), tuple(numbers))

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
        """The values of all parts together; an item without a value in any part has none.

        >>> letters, marks = Categories.of(["a", "b", "a"]), Categories.of(["x", None, "y"])
        >>> Categories.cross([letters, marks]).names
        ('a*x', 'a*y')
        """
        joint, *further = parts
        for part in further:
            width = max(len(part.names), 1)
            is_known = (joint.codes >= 0) & (part.codes >= 0)
            pairs, codes = np.unique(
                (joint.codes * width + part.codes)[is_known], return_inverse=True
            )
            names = [
                f"{joint.names[pair // width]}{CROSS}{part.names[pair % width]}"
                for pair in pairs.tolist()
            ]
            numbers = set_rows(is_known, codes, len(joint))
            joint = Categories(numbers, tuple(names))
        return joint

    def __len__(self) -> int:
        return int(self.codes.size)

    def take(self, rows: NDArray[Any]) -> Categories:
        """The values of some items."""
        return Categories(self.codes[rows], self.names)

    def where(self, holds: Callable[[str], bool]) -> NDArray[np.bool_]:
        """Which items have a value for which `holds` is true; it is called once for each name."""
        table = np.array([*map(holds, self.names), False], dtype=np.bool_)
        return table[self.codes]

    def where_lower(self, texts: Container[str]) -> NDArray[np.bool_]:
        """Which items have a value that in lower case is one of some texts."""
        table = np.array([*map(texts.__contains__, map(str.lower, self.names)), False])
        return table[self.codes]

    def renamed(self, rename: Callable[[str], str | None]) -> Categories:
        """The values with each name exchanged for another one, or for none."""
        new = Categories.of([rename(name) for name in self.names])
        return Categories(looked_up(new.codes, self.codes), new.names)

    def recoded(self, names: Sequence[str]) -> Categories:
        """The values coded by other names, which must include all names of these values."""
        number = {name: code for code, name in enumerate(names)}
        codes = integers([*(number[name] for name in self.names), -1])
        return Categories(codes[self.codes], tuple(names))

    def replace_where(self, which: NDArray[np.bool_], replacement: Categories) -> Categories:
        """The values, but those of a replacement, which has as many, where `which` is true.

        >>> values, replacement = Categories.of(["a", "b"]), Categories.of(["b", "c"])
        >>> values.replace_where(np.array([True, False]), replacement).values()
        ['b', 'b']
        """
        rows = np.arange(len(self)) + np.where(which, len(self), 0)
        return Categories.concatenate(self, replacement).take(rows)

    def sort_names(self) -> Categories:
        """The values with names by frequency, or ascending where all are whole numbers.

        Names without values go.

        >>> Categories.of(["b", "a", "a", None]).sort_names().names
        ('a', 'b')
        >>> Categories.of(["10", "9", "10"]).sort_names().names
        ('9', '10')
        """
        counts = np.bincount(self.codes + 1, minlength=len(self.names) + 1)[1:].tolist()
        present = [(name, c) for name, c in zip(self.names, counts, strict=True) if c]
        if present and all(name.isascii() and name.isdigit() for name, _ in present):
            # As text: Python makes no number of more than 4,300 digits.
            present.sort(key=lambda item: (len(item[0].lstrip("0")), item[0].lstrip("0")))
        else:
            present.sort(key=lambda item: (-item[1], item[0]))
        number = {name: code for code, (name, _) in enumerate(present)}
        table = integers([*(number.get(name, -1) for name in self.names), -1])
        return Categories(table[self.codes], tuple(number))

    def values(self) -> list[str | None]:
        """The value of each item, for people."""
        table = [*self.names, None]
        return [table[code] for code in self.codes.tolist()]


T = TypeVar("T")


class _Lazy(Generic[T]):
    """Values with a row for each mention or entity, made when first used; `rows` picks some."""

    def __init__(self, make: Callable[[], T], rows: IntArray | None = None) -> None:
        self._make = make
        self._rows = rows

    def take(self, rows: IntArray) -> Self:
        """Some of the rows, which are not worked out yet."""
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
        names = self._make()
        return names if self._rows is None else [names[row] for row in self._rows.tolist()]

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...

    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        return self._names[index]

    def __len__(self) -> int:
        return len(self._names)


class LazyArray(_Lazy[IntArray]):
    """A number per mention, worked out when first looked at."""

    @cached_property
    def values(self) -> IntArray:
        """The numbers."""
        numbers = self._make()
        return numbers if self._rows is None else numbers[self._rows]

    def __getitem__(self, rows: Any) -> Any:
        """The number of one row; of an array of rows a `LazyArray` of their numbers."""
        return self.take(rows) if isinstance(rows, np.ndarray) else self.values[rows]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype)

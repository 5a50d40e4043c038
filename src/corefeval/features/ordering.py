"""The order in which the values of a feature are shown."""

from __future__ import annotations

import numpy as np

from corefeval.model.arrays import BoolArray
from corefeval.model.categories import Categories


def chosen(one: Categories, other: Categories, where: BoolArray) -> Categories:
    """The values of the one, and of the other where something holds.

    >>> chosen(Categories.of(["a", "b"]), Categories.of(["b", "c"]), np.array([True, False])).names
    ('a', 'b', 'c')
    """
    names = tuple(dict.fromkeys((*one.names, *other.names)))
    codes = np.where(where, other.recoded(names).codes, one.recoded(names).codes)
    return Categories(codes, names)


def by_frequency(values: Categories) -> Categories:
    """The same values, the most frequent first; numbers ascending. Names without values go.

    >>> by_frequency(Categories.of(["b", "a", "a", None])).names
    ('a', 'b')
    >>> by_frequency(Categories.of(["10", "9", "10"])).names
    ('9', '10')
    """
    counts = np.bincount(values.codes + 1, minlength=len(values.names) + 1)[1:].tolist()
    present = [(name, c) for name, c in zip(values.names, counts, strict=True) if c]
    if present and all(name.isascii() and name.isdigit() for name, _ in present):
        present.sort(key=lambda item: int(item[0]))
    else:
        present.sort(key=lambda item: (-item[1], item[0]))
    number = {name: code for code, (name, _) in enumerate(present)}
    table = np.array([*(number.get(name, -1) for name in values.names), -1], dtype=np.int64)
    return Categories(table[values.codes], tuple(number))

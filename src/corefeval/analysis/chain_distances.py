"""How far apart two chains are: the distances of Passonneau, as similarities from 0 to 1.

Each function takes the number of mentions that two chains share and the sizes of the two, as
arrays, and is only asked about chains that share something: chains that do not are at distance 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, get_args

import numpy as np

from corefeval.diagnostics import UsageError
from corefeval.model.arrays import FloatArray, IntArray

Distance = Literal["passonneau", "jaccard", "masi", "dice"]
Similarity = Callable[[IntArray, IntArray, IntArray], FloatArray]


def monotonicity(shared: IntArray, one: IntArray, other: IntArray) -> FloatArray:
    """1 for the same chain, 2/3 where one chain contains the other, 1/3 where they overlap.

    One less this is the distance of Passonneau (2004): 0, 1/3, 2/3, and 1 for disjoint chains.

    >>> monotonicity(np.array([2, 2, 1]), np.array([2, 2, 2]), np.array([2, 4, 3])).round(2)
    array([1.  , 0.67, 0.33])
    """
    return np.select([shared == np.maximum(one, other), shared == np.minimum(one, other)],
                     [1.0, 2 / 3], 1 / 3)  # fmt: skip


def jaccard(shared: IntArray, one: IntArray, other: IntArray) -> FloatArray:
    """The shared mentions among all mentions of the two chains."""
    ratio: FloatArray = shared / (one + other - shared)
    return ratio


def masi(shared: IntArray, one: IntArray, other: IntArray) -> FloatArray:
    """Jaccard times monotonicity (Passonneau 2006).

    >>> masi(np.array([2]), np.array([2]), np.array([4])).round(4)
    array([0.3333])
    """
    return jaccard(shared, one, other) * monotonicity(shared, one, other)


def dice(shared: IntArray, one: IntArray, other: IntArray) -> FloatArray:
    """The shared mentions among the mean size of the two chains."""
    ratio: FloatArray = 2 * shared / (one + other)
    return ratio


SIMILARITIES: dict[str, Similarity] = {
    "passonneau": monotonicity,
    "jaccard": jaccard,
    "masi": masi,
    "dice": dice,
}


def chosen_distances(distances: str | Iterable[str]) -> tuple[str, ...]:
    """The distances that a text or list asks for, each one once.

    >>> chosen_distances("MASI, dice"), len(chosen_distances("all"))
    (('masi', 'dice'), 4)
    """
    items: Iterable[Any] = distances.split(",") if isinstance(distances, str) else distances
    known = get_args(Distance)
    found: list[str] = []
    for item in items:
        name = str(item).strip().lower()
        if name not in (*known, "all"):
            raise UsageError(f"there is no distance {item!r}: there are {', '.join(known)}, all")
        found += known if name == "all" else (name,)
    if not found:
        raise UsageError(f"no distance was asked for: there are {', '.join(known)}, all")
    return tuple(dict.fromkeys(found))

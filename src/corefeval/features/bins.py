"""Numbers in bins, with names in ascending order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from corefeval.diagnostics import UsageError
from corefeval.model.arrays import BoolArray, IntArray
from corefeval.model.categories import Categories

Bin = tuple[int, int | None]

SIZES: tuple[Bin, ...] = ((1, 1), (2, 10), (11, None))
SINGLE: tuple[Bin, ...] = (*((number, number) for number in range(11)), (11, None))


def parse_bins(feature: str, texts: Sequence[str]) -> tuple[Bin, ...]:
    """The bins that texts stand for, in ascending order: `1`, `2-10`, `11+`.

    >>> parse_bins("size", ["1", "2-5", "6+"])
    ((1, 1), (2, 5), (6, None))
    """
    bins: list[Bin] = []
    for text in texts:
        first, _, last = text.replace("–", "-").rstrip("+").partition("-")
        bins.append((int(first), None if text.endswith("+") else int(last or first)))
    bins.sort(key=lambda one: one[0])
    for (low, high), (after, _) in pairwise((*bins, (1 << 62, None))):
        if high is None and after < 1 << 62:
            raise UsageError(f"{feature}: the bin {bin_name((low, high))} holds {after} as well")
        if high is not None and not low <= high < after:
            problem = "is empty" if high < low else f"overlaps with the one from {after}"
            raise UsageError(f"{feature}: the bin {bin_name((low, high))} {problem}")
    return tuple(bins)


def bin_name(one: Bin) -> str:
    """The name of a bin, for people: `1`, `2–10`, `11+`."""
    low, high = one
    return f"{low}+" if high is None else f"{low}" if low == high else f"{low}–{high}"


def binned(values: IntArray, bins: Sequence[Bin], known: BoolArray | None = None) -> Categories:
    """Each value's bin; none where it is in no bin, or not known. Bins without values go."""
    lows = np.array([low for low, _ in bins], dtype=np.int64)
    highs = np.array([np.iinfo(np.int64).max if h is None else h for _, h in bins], dtype=np.int64)
    place = np.searchsorted(lows, values, side="right") - 1
    inside = (place >= 0) & (values <= highs[place])
    codes = np.where(inside if known is None else inside & known, place, -1)
    present = np.bincount(codes + 1, minlength=len(bins) + 1)[1:] > 0
    rank = np.append(np.cumsum(present) - 1, -1)
    names = tuple(bin_name(one) for one, there in zip(bins, present.tolist(), strict=True) if there)
    return Categories(rank[codes], names)

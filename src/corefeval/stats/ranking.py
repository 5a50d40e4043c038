"""Ranking: who stands where, when differences that may be chance do not count."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby


def ranks(scores: Mapping[str, float], is_better: Callable[[str, str], bool]) -> dict[str, int]:
    """Ranks 1, 2, 2, 4 …: systems without a significant difference share one.

    Going down the scores, a system joins the group above it unless one of the group is
    significantly better (`is_better(one, other)`); then a new group begins, and its rank is one
    more than the number of systems above it. Systems with equal scores go together. This gives
    Table 5 of Moosavi & Strube (2016). No two systems of the same rank differ significantly. The
    reverse cannot be had: where a is not better than b, nor b than c, but a is better than c, some
    two of different rank do not differ.

    >>> scores = {"chen": 46.24, "xu": 46.83, "chunyuang": 45.84, "shou": 43.97}
    >>> ranks(scores, lambda one, other: scores[one] - scores[other] > 0.5)
    {'xu': 1, 'chen': 2, 'chunyuang': 2, 'shou': 4}
    """
    found: dict[str, int] = {}
    group: list[str] = []
    rank = 1
    order = sorted(scores, key=lambda name: -scores[name])
    for _, equals in groupby(order, key=scores.__getitem__):
        systems = list(equals)
        if any(is_better(member, system) for member in group for system in systems):
            group = []
            rank = len(found) + 1
        group += systems
        found |= dict.fromkeys(systems, rank)
    return found

"""What an entity is called: the one of its mentions that tells people most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from corefeval.diagnostics import CorefEvalError
from corefeval.model.arrays import IntArray
from corefeval.model.categories import Categories


def name_entity(rows: IntArray, kinds: Categories | None, text: Callable[[int], str]) -> int:
    """Which of an entity's mentions names it: a row of `rows`, which are in textual order.

    That is its most frequent name, the longest of several; without any name its longest nominal,
    and else its first mention. `kinds` has the kind of every mention, `text` the words of a row.
    """
    values = [] if kinds is None else kinds.take(rows).values()
    best = next((kind for kind in ("name", "nominal") if kind in values), None)
    if best is None:
        return int(rows[0])
    candidates: list[int] = rows[[kind == best for kind in values]].tolist()
    if len(candidates) == 1:
        return candidates[0]
    texts = {row: text(row) for row in candidates}
    times = Counter(texts.values() if best == "name" else ())
    return max(candidates, key=lambda row: (times[texts[row]], len(texts[row])))


def kinds_if_known(feature: Callable[[str], Categories]) -> Categories | None:
    """The kind of every mention; None where nothing tells it."""
    try:
        return feature("kind")
    except (CorefEvalError, KeyError):
        return None

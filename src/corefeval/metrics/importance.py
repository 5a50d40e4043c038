"""How important an entity is to LEA: by its size unless somebody says otherwise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from corefeval.alignment import Side
from corefeval.diagnostics import UsageError
from corefeval.model.arrays import FloatArray

ImportanceFunction = Callable[[Side], FloatArray]
Importance = str | ImportanceFunction


def _size(side: Side) -> FloatArray:
    return side.sizes.astype(np.float64)


def _one(side: Side) -> FloatArray:
    return np.ones(side.sizes.size)


NAMED: dict[str, ImportanceFunction] = {"size": _size, "one": _one}


def importance_function(importance: Importance) -> ImportanceFunction:
    """The function behind a name; a function stands for itself, and its result is checked."""
    if not callable(importance):
        return NAMED[importance]
    function = importance

    def checked(side: Side) -> FloatArray:
        try:
            weights = np.asarray(function(side), dtype=np.float64)
        except (TypeError, ValueError):
            weights = np.empty((0, 0))
        finite = bool((np.isfinite(weights) & (weights >= 0)).all())
        if weights.shape != side.sizes.shape or not finite:
            raise UsageError(
                f"the importance function must return a number of at least 0 for each of "
                f"{side.sizes.size} entities; it returned an array of shape {weights.shape}"
            )
        return weights

    return checked

"""Grids: systems whose names are those of their levels, `model@prompt`, and what a level is worth.

A level differs from another by the mean of what it differs by with each level of all other factors.
Cells of one document are not independent of each other, so it changes sides in all of them at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from corefeval.diagnostics import Notice, UsageError
from corefeval.results import Result
from corefeval.stats.resampling import stack_comparable
from corefeval.stats.significance import (
    Options,
    adjust,
    exact_p,
    observe_differences,
    randomization_p,
)

FACTORS = ("model", "prompt", "run")
MARK = "@"  # between the levels in a name


@dataclass(frozen=True, slots=True)
class LevelDifference:
    """How two levels of a factor differ on average over all contexts, and how likely by chance.

    It is `firm` if it is significant, with one sign, whether lost mentions are left out or kept.
    """

    first: str
    second: str
    difference: float
    p: float
    adjusted: float
    significant: bool
    firm: bool

    def as_row(self) -> dict[str, object]:
        """For JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


Effects = dict[str, tuple[LevelDifference, ...]]


def list_levels(names: Iterable[str], factors: Sequence[str]) -> list[tuple[str, ...]]:
    """The levels of each factor; a UsageError for names without them, and for missing cells."""
    cells = [tuple(name.split(MARK)) for name in names]
    for cell in cells:
        if len(cell) != len(factors) or not all(cell):
            expected = MARK.join(factor.upper() for factor in factors)
            raise UsageError(f"{MARK.join(cell)!r:.60} is no cell of a grid: write {expected}")
    levels = [tuple(dict.fromkeys(column)) for column in zip(*cells, strict=True)]
    missing = [MARK.join(cell) for cell in product(*levels) if cell not in cells]
    if missing:
        raise UsageError(f"the grid has no cells {', '.join(missing)}: add them")
    return levels


def find_effects(
    results: Mapping[str, Result],
    strict: Mapping[str, Result],
    factors: Sequence[str],
    metric: str,
    options: Options,
) -> Effects:
    """The differences of all levels of each factor, by one metric.

    `strict` are the results with the other rule for lost mentions, and none where no such are kept.
    """
    levels = list_levels(results, factors)
    effects: Effects = {}
    for place, factor in enumerate(factors):
        pairs = list(combinations(levels[place], 2))
        if not pairs:
            continue
        contexts = list(product(*levels[:place], *levels[place + 1 :]))
        sides = [
            [
                MARK.join((*cell[:place], level, *cell[place:]))
                for level in column
                for cell in contexts
            ]
            for column in zip(*pairs, strict=True)
        ]
        first = _test(results, sides, len(contexts), metric, options)
        second = _test(strict, sides, len(contexts), metric, options) if strict else None
        effects[factor] = tuple(
            LevelDifference(
                *pair,
                difference,
                p,
                adjusted,
                adjusted <= options.alpha,
                adjusted <= options.alpha
                and second is not None
                and second[2][row] <= options.alpha
                and difference * second[0][row] > 0,
            )
            for row, (pair, difference, p, adjusted) in enumerate(zip(pairs, *first, strict=True))
        )
    return effects


def _test(
    results: Mapping[str, Result],
    sides: Sequence[Sequence[str]],
    cells: int,
    metric: str,
    options: Options,
) -> tuple[list[float], list[float], list[float]]:
    """Difference, p and adjusted p of each pair of levels, each of which has so many `cells`."""
    stacked = stack_comparable(results, [metric], rate=options.rate)
    names = list(results)
    first, second = (
        np.array([names.index(name) for name in side], dtype=np.intp) for side in sides
    )
    pairs, rate = (first, second), options.rate
    if options.test == "exact":
        p_values = exact_p(stacked, pairs, rate, cells)[0]
    else:
        p_values = randomization_p(stacked, pairs, rate, options.trials, options.seed, cells)[0]
    differences = observe_differences(stacked, pairs, rate, cells)[0]
    adjusted = adjust(p_values, options.correction)
    return differences.tolist(), p_values.tolist(), adjusted.tolist()


def warn_of_frail(effects: Effects) -> list[Notice]:
    """A notice on differences that are significant only as long as lost mentions are left out."""
    frail = tuple(
        f"{row.first} and {row.second}"
        for rows in effects.values()
        for row in rows
        if row.significant and not row.firm
    )
    text = "{n} significant, but not firm: not so with another rule for lost mentions: {items}"
    return [Notice("frail-effects", text, len(frail), frail, "difference")] if frail else []


def lose_mentions(results: Iterable[Result]) -> bool:
    """Whether answers have mentions that one rule leaves out, and another one keeps."""
    return any(result.answers.get(kind) for result in results for kind in ("lost", "unclear"))


def share_unread(result: Result) -> float:
    """The share of documents without an answer that could be read."""
    documents = result.answers.get("documents", ())
    assert isinstance(documents, list | tuple)
    read = sum(document.get("state", "read") == "read" for document in documents)
    return 1 - read / max(len(result.document_ids), 1)

"""Grids: systems whose names are those of their levels, `model@prompt`, and what a level is worth.

A level differs from another by the mean of what it differs by with each level of all other factors.
Cells of one document are not independent of each other, so it changes sides in all of them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import cast

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import UsageError, note
from corefeval.results import Result
from corefeval.stats.comparison import Comparison
from corefeval.stats.resampling import stack_comparable
from corefeval.stats.significance import (
    LevelDifference,
    adjust,
    exact_p,
    observe_differences,
    randomization_p,
)

MARK = "@"  # between the levels in a name
_LOST = ("lost", "unclear")  # mentions of answers that one rule leaves out, and another one keeps


def add_effects(
    compared: Comparison, factors: Sequence[str], score_again: Callable[[], Iterable[Result]]
) -> Comparison:
    """A comparison of the cells of a grid with the effects of its factors, by the main metric.

    `score_again` is called for the results with the other rule for lost mentions, if any are lost;
    without them nothing is firm. Raises a UsageError for wrong names, and for missing cells.
    """
    levels, cells = _find_cells(compared.systems, factors)
    strict = compared.results
    if any(result.answers.get(kind) for result in strict.values() for kind in _LOST):
        rules = {result.protocol.lost for result in strict.values()}
        scored = zip(strict, score_again(), strict=True)
        strict = {name: r.rename(name) for name, r in scored if r.protocol.lost not in rules}
    effects: dict[str, list[LevelDifference]] = {}
    for place, factor in enumerate(factors):
        columns = np.moveaxis(cells, place, 0).reshape(len(levels[place]), -1)
        effects[factor] = _test(compared, compared.results, levels[place], columns)
        if len(strict) == len(compared.systems):
            kept = _test(compared, strict, levels[place], columns)
            effects[factor] = [
                row._replace(
                    firm=row.significant and kept_row.significant and row[2] * kept_row[2] > 0
                )
                for row, kept_row in zip(effects[factor], kept, strict=True)
            ]
    rows = [row for differences in effects.values() for row in differences]
    frail = [f"{row.first} – {row.second}" for row in rows if row.significant and not row.firm]
    outcome = f"significant only if lost mentions are left out: {', '.join(frail)}"
    notices = (*compared.notices, *note("frail-effects", len(frail), "difference", outcome))
    return replace(compared, effects=effects, strict=strict, notices=notices)


def factors_of(names: Sequence[str]) -> tuple[str, ...]:
    """The factors of names that are all cells, such as `gpt@json`; none for any other names."""
    is_grid = len(names) > 1 and all(MARK in name for name in names)
    return ("model", "prompt", "run")[: names[0].count(MARK) + 1] if is_grid else ()


def _find_cells(
    names: Sequence[str], factors: Sequence[str]
) -> tuple[list[tuple[str, ...]], NDArray[np.intp]]:
    """The levels of each factor, and the place of each cell among the names."""
    cells = [tuple(name.split(MARK)) for name in names]
    for cell in cells:
        if len(cell) != len(factors) or not all(cell):
            shape = MARK.join(factors)
            raise UsageError(f"{MARK.join(cell)!r:.60} is no cell of a grid: call it {shape}")
    levels = [tuple(dict.fromkeys(column)) for column in zip(*cells, strict=True)]
    missing = [MARK.join(cell) for cell in product(*levels) if cell not in cells]
    if missing:
        raise UsageError(f"the grid has no response for {', '.join(missing)}")
    places = np.array([cells.index(cell) for cell in product(*levels)])
    return levels, places.reshape([len(column) for column in levels])


def _test(
    compared: Comparison,
    results: Mapping[str, Result],
    levels: Sequence[str],
    cells: NDArray[np.intp],
) -> list[LevelDifference]:
    """All differences of the levels of a factor, each of which has a row of cells."""
    pairs = list(combinations(range(len(levels)), 2))
    if not pairs:
        return []
    options = compared.options
    stacked = stack_comparable(results, [compared.main_metric()], rate=options.rate)
    first, second = (cells[list(side)].ravel() for side in zip(*pairs, strict=True))
    tested = (first, second), options.rate, cells.shape[1]
    if options.test == "exact":
        p_values = exact_p(stacked, *tested)[0]
    else:
        p_values = randomization_p(stacked, *tested, options.trials, options.seed)[0]
    adjusted = adjust(p_values, options.correction)
    numbers = np.stack([observe_differences(stacked, *tested)[0], p_values, adjusted], axis=1)
    return [
        LevelDifference(levels[a], levels[b], difference, p, corrected, corrected <= options.alpha)
        for (a, b), (difference, p, corrected) in zip(pairs, numbers.tolist(), strict=True)
    ]


def cells_of(compared: Comparison) -> dict[str, dict[str, float | None]]:
    """Score, score with the other rule for lost mentions, and share of unread answers by name."""
    metric, rate = compared.main_metric(), compared.rate
    cells: dict[str, dict[str, float | None]] = {}
    for name, score in compared.scores[metric].items():
        result, strict = compared.results[name], compared.strict.get(name)
        documents = cast("Sequence[Mapping[str, object]]", result.answers.get("documents", ()))
        read = sum(document.get("state", "read") == "read" for document in documents)
        cells[name] = {
            "score": score,
            "strict": None if strict is None else strict[metric].rates[rate],
            "unread": 1 - read / len(result.document_ids) if result.answers else 0.0,
        }
    return cells

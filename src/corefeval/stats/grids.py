"""Grids: systems whose names are those of their levels, `model@prompt`, and what a level is worth.

A level differs from another by the mean of what it differs by with each level of all other factors.
Cells of one document are not independent of each other, so it changes sides in all of them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import cast

import numpy as np

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
    levels = _list_levels(compared.systems, factors)
    strict = compared.results
    losing = (result.answers.get(kind) for result in strict.values() for kind in _LOST)
    if any(losing):
        rules = {result.protocol.lost for result in strict.values()}
        scored = {result.response: result for result in score_again()}
        strict = {n: r for n, r in scored.items() if r.protocol.lost not in rules and n in strict}
    effects: dict[str, list[LevelDifference]] = {}
    for place, factor in enumerate(factors):
        by_rule = [
            _test(compared, results, levels, place) for results in (compared.results, strict)
        ]
        effects[factor] = [
            row._replace(firm=row.significant and kept.significant and row[2] * kept[2] > 0)
            for row, kept in zip(*by_rule, strict=True)
        ]
    rows = [row for differences in effects.values() for row in differences]
    frail = [f"{row.first} – {row.second}" for row in rows if row.significant and not row.firm]
    outcome = f"significant, but not firm, as lost mentions count: {', '.join(frail)}"
    notices = (*compared.notices, *note("frail-effects", len(frail), "difference", outcome))
    return replace(compared, effects=effects, strict=strict, notices=notices)


def factors_of(names: Sequence[str]) -> tuple[str, ...]:
    """The factors of names that are all cells, such as `gpt@json`; none for any other names."""
    is_grid = len(names) > 1 and all(MARK in name for name in names)
    return ("model", "prompt", "run")[: names[0].count(MARK) + 1] if is_grid else ()


def _list_levels(names: Iterable[str], factors: Sequence[str]) -> list[tuple[str, ...]]:
    """The levels of each factor."""
    cells = [tuple(name.split(MARK)) for name in names]
    for cell in cells:
        if len(cell) != len(factors) or not all(cell):
            shape = MARK.join(factors)
            raise UsageError(f"{MARK.join(cell)!r:.60} is no cell of a grid: call it {shape}")
    levels = [tuple(dict.fromkeys(column)) for column in zip(*cells, strict=True)]
    missing = [MARK.join(cell) for cell in product(*levels) if cell not in cells]
    if missing:
        raise UsageError(f"the grid has no response for {', '.join(missing)}")
    return levels


def _test(
    compared: Comparison,
    results: Mapping[str, Result],
    levels: Sequence[tuple[str, ...]],
    place: int,
) -> Iterator[LevelDifference]:
    """All differences of the levels of one factor."""
    pairs = list(combinations(levels[place], 2))
    options = compared.options
    names, rate = list(results), options.rate
    if not pairs or len(names) < len(compared.systems):
        return (LevelDifference(*pair, 0.0, 1.0, 1.0, False) for pair in pairs)
    contexts = list(product(*levels[:place], *levels[place + 1 :]))
    first, second = (
        np.array(
            [
                names.index(MARK.join((*cell[:place], level, *cell[place:])))
                for level in side
                for cell in contexts
            ]
        )
        for side in zip(*pairs, strict=True)
    )
    stacked = stack_comparable(results, [compared.main_metric()], rate=rate)
    cells = (first, second), rate, len(contexts)
    if options.test == "exact":
        p_values = exact_p(stacked, *cells)[0]
    else:
        p_values = randomization_p(stacked, *cells, options.trials, options.seed)[0]
    adjusted = adjust(p_values, options.correction)
    columns = (observe_differences(stacked, *cells)[0], p_values, adjusted)
    numbers = zip(*(column.tolist() for column in columns), strict=True)
    return (
        LevelDifference(*pair, difference, p, corrected, corrected <= options.alpha)
        for pair, (difference, p, corrected) in zip(pairs, numbers, strict=True)
    )


def share_unread(result: Result) -> float:
    """The share of documents without an answer that could be read."""
    documents = cast("Sequence[Mapping[str, object]]", result.answers.get("documents", ()))
    read = sum(document.get("state", "read") == "read" for document in documents)
    return 1 - read / len(result.document_ids) if result.answers else 0.0

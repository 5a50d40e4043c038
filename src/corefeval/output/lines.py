"""The lines that results have in tables, a metric each or a part of one, and their cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from corefeval.output.style import shown_rates
from corefeval.output.tables import Cell, Column, interval, number_columns, percent
from corefeval.results import Result, Score


class Line(NamedTuple):
    """What a row or a group of columns shows: a metric, or a part of one that has parts."""

    metric: str
    title: str
    part: str = ""
    f1_only: bool = False

    def score(self, result: Result) -> Score | None:
        """The score of a result on this line; None where it has none."""
        if self.metric not in result.tables:
            return None
        score = result[self.metric]
        return score.parts[self.part] if self.part else score


def lines_of(results: Sequence[Result]) -> list[Line]:
    """All lines of some results; parts of a metric come before the metric itself."""
    titles = {
        metric: result.titles.get(metric, metric) for result in results for metric in result.tables
    }
    lines = []
    for metric, title in titles.items():
        score = next(result[metric] for result in results if metric in result.tables)
        lines += [Line(metric, f"{title} {part}", part) for part in score.parts]
        name = f"{title} of both (Fφ)" if score.parts else title
        lines.append(Line(metric, name, f1_only="recall" not in score.rates))
    return lines


def best_f1(line: Line, results: Sequence[Result]) -> float:
    """The best F1 of several results on a line."""
    scores = [line.score(result) for result in results]
    return max((score.f1 for score in scores if score is not None), default=0.0)


class Intervals(NamedTuple):
    """Columns of intervals: their heading, and the name of the segments that they are of.

    Both are empty where results have no intervals, or no segments. An interval of segments does not
    stand beside the score of the whole document, which may lie outside of it, but beside the score
    of the segments.
    """

    heading: str = ""
    segments: str = ""

    @classmethod
    def of(cls, results: Sequence[Result]) -> Intervals:
        """The columns of intervals that some results need."""
        levels = dict.fromkeys(result.ci for result in results if result.ci is not None)
        if not levels:
            return cls()
        names = dict.fromkeys(
            number[0]
            for result in results
            if result.segment_rates
            and (number := re.search(r"\d+ segments", result.settings.get("ci", "")))
        )
        return cls("/".join(f"{100 * level:g}" for level in levels) + " % CI", "/".join(names))

    def columns(self, group: str = "") -> list[Column]:
        """The columns; within a group, headings say which score is of segments."""
        if not self.heading:
            return []
        if not self.segments:
            return [*number_columns(self.heading, group=group)]
        headings = ("segments" if group else "F1", self.heading)
        return [*number_columns(*headings, group=group or self.segments)]

    def cells(self, score: Score) -> list[Cell]:
        """A score's cells in the columns of intervals."""
        if not self.heading:
            return []
        segment_score = score.segments
        rate = (
            [Cell(percent(segment_score.rates.get("f1") if segment_score else None))]
            if self.segments
            else []
        )
        return [*rate, Cell(interval(segment_score or score))]


NO_INTERVALS = Intervals()


def columns_of(line: Line, *, f1_only: bool = False, ci: Intervals = NO_INTERVALS) -> list[Column]:
    """The columns of a line's rates where lines stand side by side, and of their intervals."""
    brief = f1_only or line.f1_only
    if brief and not ci.heading:
        return [*number_columns(line.title)]
    headings = ["F1"] if brief else list(shown_rates().values())
    return [*number_columns(*headings, group=line.title), *ci.columns(line.title)]


def cells_of(
    line: Line,
    result: Result,
    rivals: Sequence[Result],
    *,
    f1_only: bool = False,
    ci: Intervals = NO_INTERVALS,
) -> list[Cell]:
    """The cells of `columns_of`; the best F1 among `rivals` is bold."""
    score = line.score(result)
    if score is None:
        return [Cell("")] * len(columns_of(line, f1_only=f1_only, ci=ci))
    rates = ("f1",) if f1_only or line.f1_only else tuple(shown_rates())
    cells = rate_cells(score, best_f1(line, rivals) if len(rivals) > 1 else None, rates)
    return [*cells, *ci.cells(score)]


def rate_cells(score: Score, best: float | None, rates: Sequence[str]) -> list[Cell]:
    """The rates; F1 is bold where it is the best."""
    return [
        Cell(
            percent(score.rates.get(rate), score.rounding),
            rate == "f1" and bool(best) and score.f1 == best,
        )
        for rate in rates
    ]

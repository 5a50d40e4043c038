"""The lines that results have in tables: a metric each, or a part of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corefeval.results import Result, Score


@dataclass(frozen=True, slots=True)
class Line:
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
        metric: (result.titles or {}).get(metric, metric)
        for result in results
        for metric in result.tables
    }
    lines = []
    for metric, title in titles.items():
        score = next(result[metric] for result in results if metric in result.tables)
        lines += [Line(metric, f"{title} {part}", part) for part in score.parts]
        name = f"{title} Fφ" if score.parts else title
        lines.append(Line(metric, name, f1_only="recall" not in score.rates))
    return lines


def best_f1(line: Line, results: Sequence[Result]) -> float:
    """The best F1 of several results on a line."""
    found = [line.score(result) for result in results]
    return max((score.f1 for score in found if score is not None), default=0.0)

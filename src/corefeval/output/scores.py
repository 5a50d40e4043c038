"""Results and slices, in every format: tables, rows, and everything for JSON."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from corefeval._version import __version__
from corefeval.diagnostics import plural
from corefeval.display import Row
from corefeval.output.tables import (
    STYLE,
    Cell,
    Cells,
    Column,
    Columns,
    Drawing,
    Sheet,
    Table,
    feature_heading,
    interval,
    name_sides,
    number_columns,
    percent,
    response_table,
    row_label,
    shown_rates,
    table_of,
    titled_rows,
)
from corefeval.results import Result, Score, Slices
from corefeval.results.slices import all_values

# With more columns than this only F1 fits beside each other.
_COLUMNS = 9
_COUNTS = {"tp": "correct", "wl": "wrong", "fn": "missed", "fp": "spurious"}


@dataclass(frozen=True)
class ResultDrawing(Drawing):
    """The results of one or more responses to a key."""

    results: Sequence[Result]
    by_document: bool = False

    formats: ClassVar = (*Drawing.formats, "conll", "coval", "corefud")
    has_rates: ClassVar = True

    def sheet(self, format: str) -> Sheet:
        """Metrics are side by side in papers, and below each other in a terminal or one column."""
        results = self.results
        wide = len(results) > 1 and format != "text" and STYLE.get().width != "column"
        tables = [_system_table(results) if wide else _metric_table(results)]
        tables += _count_tables(results)
        metrics = {metric for result in results for metric in result.tables}
        features = dict.fromkeys(feature for result in results for feature in result.slices)
        for feature in features:
            sliced = [result.slices[feature] for result in results if feature in result.slices]
            if any(slices.whole.tables for slices in sliced):
                tables.append(_slice_table(sliced, metrics))
        tables += [_document_table(results)] if self.by_document else []
        about = []
        if format == "text":
            name = Intervals.of(results).segments
            about = [] if len(results) > 1 else [name_sides(results[0])]
            about += [plural(len(results[0].document_ids), "document")]
            about += [f"with the F1 and intervals of {name} of it"] if name else []
        signatures = tuple(dict.fromkeys(result.signature for result in results))
        return Sheet(tuple(tables), (", ".join(about),) if about else (), signatures)

    def list_rows(self, result: Result) -> list[Row]:
        """A row for each metric, or for each document and metric."""
        return result.rows(by_document=self.by_document)

    def record(self) -> object:
        """One object with the key and its responses; documents are always there."""
        return {
            "corefeval": __version__,
            "key": self.results[0].key,
            "responses": [_describe_response(result) for result in self.results],
        }

    def draw_form(self, format: str) -> str:
        """The results as another scorer prints them."""
        from corefeval.output.forms import draw_program

        return draw_program(self.results, format, by_document=self.by_document)


class SliceDrawing(Drawing):
    """The slices of one or more responses by one feature."""

    results: Sequence[Slices]

    has_rates: ClassVar = True

    def sheet(self, format: str) -> Sheet:
        """A table for each feature."""
        metrics = {metric for slices in self.results for metric in slices.whole.tables}
        signatures = dict.fromkeys(slices.whole.signature for slices in self.results)
        features: dict[str, list[Slices]] = {}
        for slices in self.results:
            features.setdefault(slices.feature, []).append(slices)
        tables = [_slice_table(sliced, metrics) for sliced in features.values()]
        return Sheet(tuple(tables), (), tuple(signatures))

    def record(self) -> object:
        """One object for each response and feature."""
        return [
            {"response": slices.whole.response, "feature": slices.feature, **_slice_record(slices)}
            for slices in self.results
        ]


def _describe_response(result: Result) -> dict[str, object]:
    """Everything that JSON has of one response."""
    slices = {name: _slice_record(feature_slices) for name, feature_slices in result.slices.items()}
    return {
        "name": result.response,
        "signature": result.signature,
        "scores": _describe_scores(result.scores),
        **(
            {
                "slices": {name: record["scores"] for name, record in slices.items()},
                "slice_sizes": {name: record["sizes"] for name, record in slices.items()},
                "undefined_slices": {name: record["undefined"] for name, record in slices.items()},
            }
            if slices
            else {}
        ),
        "documents": [
            {"id": document.id, "scores": _describe_scores(document.scores)}
            for document in result.documents
        ],
        **({"answers": dict(result.answers)} if result.answers else {}),
        "notices": [notice.as_dict() for notice in result.notices],
    }


def _slice_record(slices: Slices) -> dict[str, Any]:
    """Scores by value, null where there was nothing to count; sizes of the key."""
    return {
        "scores": {
            value: _describe_scores(part.scores, sliced=True) for value, part in slices.items()
        },
        "sizes": dict(slices.sizes),
        "undefined": dict(slices.undefined),
    }


def _describe_scores(scores: Mapping[str, Score], *, sliced: bool = False) -> dict[str, object]:
    return {
        metric: None if sliced and not score.has_counted else score.as_dict()
        for metric, score in scores.items()
    }


class Line(NamedTuple):
    """What a row or a group of columns shows: a metric, or a part of one that has parts."""

    metric: str
    title: str
    part: str = ""
    f1_only: bool = False

    def score(self, result: Result) -> Score | None:
        """The score of a result on this line; None where it has none."""
        score = result.scores.get(self.metric)
        return score.parts[self.part] if score is not None and self.part else score


def lines_of(results: Sequence[Result]) -> list[Line]:
    """All lines of some results; parts of a metric come before the metric itself."""
    titles = {
        metric: result.titles.get(metric, metric) for result in results for metric in result.tables
    }
    lines = []
    for metric, title in titles.items():
        score = next(result.scores[metric] for result in results if metric in result.tables)
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


def _metric_table(results: Sequence[Result]) -> Table:
    """A row for each metric, responses below each other."""
    several = len(results) > 1
    ci, rates = Intervals.of(results), shown_rates()
    groups = []
    for line in lines_of(results):
        best = best_f1(line, results) if several else None
        scores = [(result.response, line.score(result)) for result in results]
        cells = [
            (name, [*rate_cells(score, best, tuple(rates)), *ci.cells(score)])
            for name, score in scores
            if score is not None
        ]
        groups.append((row_label(line.title), cells))
    columns: Columns = ("Metric", *number_columns(*rates.values()), *ci.columns())
    return response_table(columns, groups, several=several)


def _system_table(results: Sequence[Result]) -> Table:
    """A row for each response, as papers print them: R, P and F1 of each metric side by side."""
    lines = lines_of(results)
    ci = Intervals.of(results)
    rows: list[Cells] = [
        (
            result.response,
            *(cell for line in lines for cell in cells_of(line, result, results, ci=ci)),
        )
        for result in results
    ]
    columns = (column for line in lines for column in columns_of(line, ci=ci))
    return table_of(("Response", *columns), rows)


def _document_table(results: Sequence[Result]) -> Table:
    """A row for each document and response: F1 of each metric."""
    several = len(results) > 1
    lines = [line for line in lines_of(results) if not line.part]
    groups = []
    for index, identifier in enumerate(results[0].document_ids):
        documents = [
            result.document(index)
            for result in results
            if result.document_ids[index : index + 1] == (identifier,)
        ]
        f1s = [
            [document[line.metric].f1 if line.metric in document.result else None for line in lines]
            for document in documents
        ]
        best = [
            max((f1 for f1 in column if f1 is not None), default=0)
            for column in zip(*f1s, strict=True)
        ]
        members = []
        for document, row in zip(documents, f1s, strict=True):
            rounding = document.result.protocol.rounding
            cells = [
                Cell(percent(f1, rounding), several and bool(top) and f1 == top)
                for f1, top in zip(row, best, strict=True)
            ]
            members.append((document.result.response, cells))
        groups.append((Cell(identifier), members))
    titles = (line.title for line in lines)
    return response_table(("Document", *number_columns(*titles)), groups, several=several)


def _slice_table(sliced: Sequence[Slices], metrics: Container[str]) -> Table:
    """A section for each value, responses below each other; in the end all values together.

    Of `metrics` all rates are shown where there is room, of others F1.
    """
    several = len(sliced) > 1
    lines = lines_of([slices.whole for slices in sliced])
    intervals = Intervals.of(
        [result for slices in sliced for result in (slices.whole, *slices.values())]
    )
    brief, ci = _fit_columns(lines, metrics, intervals)
    sections = []
    for value in (*all_values(sliced), None):
        having = [slices for slices in sliced if value is None or value in slices]
        results = [slices.whole if value is None else slices[value] for slices in having]
        rows: list[Cells] = [
            (
                *([result.response] if several else []),
                *(
                    cell
                    for line in lines
                    for cell in _cells_or_dashes(line, result, results, line in brief, ci)
                ),
            )
            for result in results
        ]
        sizes = having[0].sizes  # how much of the key a value is
        size = sum(sizes.values()) if value is None else sizes.get(value, 0)
        share = percent(size / max(sum(sizes.values()), 1))
        rows = titled_rows(Cell(share), rows)
        sections.append(titled_rows(row_label("all" if value is None else value), rows))
    if not several:
        sections = [[row for section in sections[:-1] for row in section], sections[-1]]
    columns: list[Column | str] = [feature_heading(sliced[0].feature), *number_columns("share")]
    columns += ["Response"] if several else []
    for line in lines:
        columns += columns_of(line, f1_only=line in brief, ci=ci)
    remark = " (intervals are in CSV and JSON)" if intervals.heading and not ci.heading else ""
    return table_of(columns, *sections, caption=f"By {sliced[0].feature}{remark}")


def _fit_columns(
    lines: Sequence[Line], metrics: Container[str], intervals: Intervals
) -> tuple[set[Line], Intervals]:
    """The lines that have room only for F1, and the intervals if there is room for them."""
    full = [line for line in lines if line.metric in metrics]
    width = sum(len(columns_of(line)) for line in full) + len(lines) - len(full)
    brief = set(lines) - (set(full) if width <= _COLUMNS else set())
    if width + len(lines) <= _COLUMNS:
        return brief, intervals
    if (1 + len(intervals.columns())) * len(lines) > _COLUMNS:
        return brief, NO_INTERVALS
    return set(lines) if intervals.heading else brief, intervals


def _cells_or_dashes(
    line: Line, result: Result, rivals: Sequence[Result], f1_only: bool, ci: Intervals
) -> list[Cell]:
    """The cells of a line; dashes where there was nothing to count."""
    score = line.score(result)
    cells = cells_of(line, result, rivals, f1_only=f1_only, ci=ci)
    nothing = score is not None and not score.has_counted
    return [Cell("–")] * len(cells) if nothing else cells


def _count_tables(results: Sequence[Result]) -> list[Table]:
    """The counts of metrics that people read as such: correct, wrong, missed, spurious."""
    several = len(results) > 1
    section = []
    for line in lines_of(results):
        scores = [(result.response, line.score(result)) for result in results]
        rows = [
            (
                *([response] if several else []),
                *(f"{score.counts[n]:,.0f}" if n in score.counts else "" for n in _COUNTS),
                percent(score.rates.get("accuracy")),
            )
            for response, score in scores
            if score is not None and "tp" in score.counts
        ]
        section += titled_rows(row_label(line.title), rows)
    if not section:
        return []
    names = [f"{word} ({name})" for name, word in _COUNTS.items()]
    heads = ("Counts", "Response") if several else ("Counts",)
    return [table_of((*heads, *number_columns(*names, "accuracy")), section)]

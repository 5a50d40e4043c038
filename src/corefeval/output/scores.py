"""Results and slices, in every format: tables, rows, and everything for JSON."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from corefeval._version import __version__
from corefeval.diagnostics import plural
from corefeval.display import Row, shorten
from corefeval.output.lines import (
    NO_INTERVALS,
    Intervals,
    Line,
    best_f1,
    cells_of,
    columns_of,
    lines_of,
    rate_cells,
)
from corefeval.output.style import current_style, shown_rates
from corefeval.output.tables import (
    Cell,
    Cells,
    Column,
    Drawing,
    Sheet,
    Table,
    feature_heading,
    number_columns,
    percent,
    response_columns,
    row_label,
    stack_rows,
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
        wide = len(results) > 1 and format != "text" and current_style().width != "column"
        tables = [system_table(results) if wide else metric_table(results)]
        tables += [*count_tables(results), *slice_tables(results)]
        tables += [document_table(results)] if self.by_document else []
        about = (_describe_sources(results),) if format == "text" else ()
        return Sheet(
            tuple(tables), about, tuple(dict.fromkeys(result.signature for result in results))
        )

    def rows(self) -> list[Row]:
        """The rows of all results."""
        return [row for result in self.results for row in result.rows(by_document=self.by_document)]

    def record(self) -> object:
        """One object with the key and its responses; documents are always there."""
        return {
            "corefeval": __version__,
            "key": self.results[0].key,
            "responses": [_describe_response(result) for result in self.results],
        }

    def draw(self, format: str, color: bool) -> str:
        """The results as text in a format, which may be the form of another scorer."""
        if format in Drawing.formats:
            return super().draw(format, color)
        from corefeval.output.programs import DRAWINGS

        return DRAWINGS[format](self.results, by_document=self.by_document)


class SliceDrawing(Drawing):
    """The slices of one or more responses by one feature."""

    results: Sequence[Slices]

    has_rates: ClassVar = True

    def sheet(self, format: str) -> Sheet:
        """A table for each feature."""
        metrics = {metric for slices in self.results for metric in slices.whole.tables}
        features = dict.fromkeys(slices.feature for slices in self.results)
        groups = [
            [slices for slices in self.results if slices.feature == name] for name in features
        ]
        signatures = dict.fromkeys(slices.whole.signature for slices in self.results)
        return Sheet(tuple(slice_table(group, metrics) for group in groups), (), tuple(signatures))

    def record(self) -> object:
        """One object for each response and feature."""
        return [
            {"response": slices.whole.response, "feature": slices.feature, **_slice_record(slices)}
            for slices in self.results
        ]


def _describe_sources(results: Sequence[Result]) -> str:
    first = results[0]
    against = f"{shorten(first.response)} against {shorten(first.key)}"
    names = [] if len(results) > 1 else [against]
    name = Intervals.of(results).segments
    segments = [f"with the F1 and intervals of {name} of it"] if name else []
    return ", ".join([*names, plural(len(first.document_ids), "document"), *segments])


def _describe_response(result: Result) -> dict[str, object]:
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


def metric_table(results: Sequence[Result]) -> Table:
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
    headings = (*response_columns("Metric", several), *number_columns(*rates.values()))
    return table_of((*headings, *ci.columns()), *stack_rows(groups, several))


def system_table(results: Sequence[Result]) -> Table:
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


def document_table(results: Sequence[Result]) -> Table:
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
    columns = (*response_columns("Document", several), *number_columns(*titles))
    return table_of(columns, *stack_rows(groups, several))


def slice_tables(results: Sequence[Result]) -> list[Table]:
    """A table for each feature that results are sliced by."""
    features = dict.fromkeys(
        feature
        for result in results
        for feature, slices in result.slices.items()
        if slices.whole.tables
    )
    metrics = {metric for result in results for metric in result.tables}
    return [
        slice_table(
            [result.slices[feature] for result in results if feature in result.slices], metrics
        )
        for feature in features
    ]


def slice_table(sliced: Sequence[Slices], metrics: Container[str]) -> Table:
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
        rows = titled_rows(Cell(_show_share(having[0], value)), rows)
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
    """The lines of which only F1 has room, and the intervals if there is room for them."""
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


def _show_share(slices: Slices, value: str | None) -> str:
    """How much of the key a value is."""
    total = sum(slices.sizes.values())
    size = total if value is None else slices.sizes.get(value, 0)
    return percent(size / total if total else 0.0)


def count_tables(results: Sequence[Result]) -> list[Table]:
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
    columns = (*response_columns("Counts", several), *number_columns(*names, "accuracy"))
    return [table_of(columns, section)]

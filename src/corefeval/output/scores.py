"""Results and slices, in every format: tables, rows, and everything for JSON."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from corefeval._version import __version__
from corefeval.diagnostics import plural
from corefeval.display import shorten
from corefeval.output.drawing import Drawing
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
    Column,
    Sheet,
    Table,
    feature_heading,
    label_columns,
    percent,
    stack_rows,
)
from corefeval.results import Result, Score, Slices
from corefeval.results.slices import all_values
from corefeval.tabular import Row

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
        about = (_about(results),) if format == "text" else ()
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
            "responses": [_response(result) for result in self.results],
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


def _about(results: Sequence[Result]) -> str:
    first = results[0]
    against = f"{shorten(first.response)} against {shorten(first.key)}"
    names = [] if len(results) > 1 else [against]
    name = Intervals.of(results).segments
    segments = [f"with the F1 and intervals of {name} of it"] if name else []
    return ", ".join([*names, plural(len(first.document_ids), "document"), *segments])


def _response(result: Result) -> dict[str, object]:
    slices = {name: _slice_record(feature_slices) for name, feature_slices in result.slices.items()}
    return {
        "name": result.response,
        "signature": result.signature,
        "scores": _scores(result.scores),
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
            {"id": document.id, "scores": _scores(document.scores)} for document in result.documents
        ],
        **({"answers": dict(result.answers)} if result.answers else {}),
        "notices": [notice.as_dict() for notice in result.notices],
    }


def _slice_record(slices: Slices) -> dict[str, Any]:
    """Scores by value, null where there was nothing to count; sizes of the key."""
    return {
        "scores": {value: _scores(part.scores, sliced=True) for value, part in slices.items()},
        "sizes": dict(slices.sizes),
        "undefined": dict(slices.undefined),
    }


def _scores(scores: Mapping[str, Score], *, sliced: bool = False) -> dict[str, object]:
    return {
        metric: None if sliced and not score.has_counted else score.as_dict()
        for metric, score in scores.items()
    }


def metric_table(results: Sequence[Result]) -> Table:
    """A row for each metric, responses below each other."""
    several = len(results) > 1
    ci, rates = Intervals.of(results), tuple(shown_rates())
    groups = []
    for line in lines_of(results):
        best = best_f1(line, results) if several else None
        scores = [(result.response, line.score(result)) for result in results]
        cells = [
            (name, [*rate_cells(score, best, rates), *ci.cells(score)])
            for name, score in scores
            if score is not None
        ]
        groups.append((line.title, cells))
    headings = (Column(heading, numeric=True) for heading in shown_rates().values())
    columns = (*label_columns("Metric", several), *headings, *ci.columns())
    return Table(columns, tuple(stack_rows(groups, several)))


def system_table(results: Sequence[Result]) -> Table:
    """A row for each response, as papers print them: R, P and F1 of each metric side by side."""
    lines = lines_of(results)
    ci = Intervals.of(results)
    columns = [
        Column("Response"),
        *(column for line in lines for column in columns_of(line, ci=ci)),
    ]
    rows = [
        (
            Cell(result.response),
            *(cell for line in lines for cell in cells_of(line, result, results, ci=ci)),
        )
        for result in results
    ]
    return Table(tuple(columns), (tuple(rows),))


def document_table(results: Sequence[Result]) -> Table:
    """A row for each document and response: F1 of each metric."""
    several = len(results) > 1
    lines = [line for line in lines_of(results) if not line.part]
    columns = label_columns("Document", several)
    columns += [Column(line.title, numeric=True) for line in lines]
    groups = []
    for index, identifier in enumerate(results[0].document_ids):
        documents = [
            result.document(index)
            for result in results
            if result.document_ids[index : index + 1] == (identifier,)
        ]
        best = [
            max(
                (
                    document[line.metric].f1
                    for document in documents
                    if line.metric in document.result
                ),
                default=0,
            )
            for line in lines
        ]
        members = []
        for document in documents:
            result = document.result
            f1s = [document[line.metric].f1 if line.metric in result else None for line in lines]
            cells = [
                Cell(percent(f1, result.protocol.rounding), several and bool(top) and f1 == top)
                for f1, top in zip(f1s, best, strict=True)
            ]
            members.append((result.response, cells))
        groups.append((identifier, members))
    return Table(tuple(columns), tuple(stack_rows(groups, several, label=False)))


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
    feature = sliced[0].feature
    lines = lines_of([slices.whole for slices in sliced])
    asked_for = [line for line in lines if line.metric in metrics]
    all_intervals = Intervals.of(
        [result for slices in sliced for result in (slices.whole, *slices.values())]
    )
    ci = all_intervals
    width = sum(len(columns_of(line)) for line in asked_for) + len(lines) - len(asked_for)
    brief = set(lines) - (set(asked_for) if width <= _COLUMNS else set())
    if width + len(lines) > _COLUMNS:  # F1 with intervals, or if that is too much F1 alone
        each = 1 + len(ci.columns())
        ci = ci if each * len(lines) <= _COLUMNS else NO_INTERVALS
        brief = set(lines) if ci.heading else brief
    elsewhere = (
        " (intervals are in CSV and JSON)" if all_intervals.heading and not ci.heading else ""
    )
    several = len(sliced) > 1
    columns = [
        Column(feature_heading(feature)),
        Column("share", numeric=True),
        *([Column("Response")] if several else []),
        *(column for line in lines for column in columns_of(line, f1_only=line in brief, ci=ci)),
    ]
    sections = []
    for value in (*all_values(sliced), None):
        having = [slices for slices in sliced if value is None or value in slices]
        sliced_results = [slices.whole if value is None else slices[value] for slices in having]
        rows: list[tuple[Cell, ...]] = []
        for slices, result in zip(having, sliced_results, strict=True):
            first = not rows
            rows.append(
                (
                    Cell(("all" if value is None else value) if first else "", label=True),
                    Cell(_share(slices, value) if first else ""),
                    *([Cell(result.response)] if several else []),
                    *(
                        cell
                        for line in lines
                        for cell in _cells_or_dashes(
                            line, result, sliced_results, line in brief, ci
                        )
                    ),
                )
            )
        sections.append(tuple(rows))
    if not several:
        sections = [tuple(row for section in sections[:-1] for row in section), sections[-1]]
    return Table(tuple(columns), tuple(sections), caption=f"By {feature}{elsewhere}")


def _cells_or_dashes(
    line: Line, result: Result, rivals: Sequence[Result], f1_only: bool, ci: Intervals
) -> list[Cell]:
    """The cells of a line; dashes where there was nothing to count."""
    score = line.score(result)
    cells = cells_of(line, result, rivals, f1_only=f1_only, ci=ci)
    nothing = score is not None and not score.has_counted
    return [Cell("–")] * len(cells) if nothing else cells


def _share(slices: Slices, value: str | None) -> str:
    """How much of the key a value is."""
    total = sum(slices.sizes.values())
    size = total if value is None else slices.sizes.get(value, 0)
    return percent(size / total if total else 0.0)


def count_tables(results: Sequence[Result]) -> list[Table]:
    """The counts of metrics that people read as such: correct, wrong, missed, spurious."""
    rows = []
    several = len(results) > 1
    for line in lines_of(results):
        for number, result in enumerate(results):
            score = line.score(result)
            if score is None or "tp" not in score.counts:
                continue
            rows.append(
                (
                    Cell("" if number else line.title, label=True),
                    *([Cell(result.response)] if several else []),
                    *(
                        Cell(f"{score.counts[n]:,.0f}" if n in score.counts else "")
                        for n in _COUNTS
                    ),
                    Cell(percent(score.rates.get("accuracy"))),
                )
            )
    if not rows:
        return []
    columns = (
        Column("Counts"),
        *([Column("Response")] if several else []),
        *(Column(f"{word} ({name})", numeric=True) for name, word in _COUNTS.items()),
        Column("accuracy", numeric=True),
    )
    return [Table(columns, (tuple(rows),))]

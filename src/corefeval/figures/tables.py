"""An experiment's result in words and numbers: its tables, and which statements hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corefeval.figures.styles import (
    keep_well_known,
    select_rows,
    shown_titles,
    shown_value,
    sign,
    values_of,
)
from corefeval.lab import Chart, ExperimentResult, Statement
from corefeval.lab.experiments import Row
from corefeval.output.tables import (
    Columns,
    Sheet,
    SoloDrawing,
    Table,
    number_columns,
    table_of,
)


@dataclass(frozen=True)
class ExperimentDrawing(SoloDrawing):
    """Tables, then the statements that hold and those that do not.

    Without `everything` tables and statements are about those metrics that most papers report,
    and a line says how many statements there are about others.
    """

    results: Sequence[ExperimentResult]
    everything: bool = False

    def sheet_of(self, thing: ExperimentResult, format: str) -> Sheet:
        """Tables and statements."""
        statements = _statements(thing, self.everything)
        groups = []
        for heading, holds in (("Holds", True), ("Does not hold", False)):
            sentences = [_sentence(claim) for claim in statements if claim.holds == holds]
            groups += ["\n".join((heading, *sentences))] if sentences else []
        words = ("\n\n".join(groups),) if groups else ()
        # What it takes to repeat the experiment, without names that say nothing.
        settings = {name: value for name, value in thing.settings.items() if name != value}
        about = [", ".join(f"{name} {value}" for name, value in settings.items())]
        if left := len(thing.statements) - len(statements):
            about.insert(0, f"{left} statements are about other metrics: name these with --metrics")
        return Sheet((*tables(thing, everything=self.everything), *words), tuple(about))

    def record_of(self, thing: ExperimentResult) -> object:
        """All of it."""
        return thing.as_dict()


def tables(result: ExperimentResult, *, everything: bool = False) -> list[Table]:
    """A table for each chart, and for each of its panels: cases by metrics, or by other series.

    Without `everything` only the metrics are there that most papers report, unless none of them
    was measured.
    """
    drawn = []
    for chart in result.charts:
        rows = select_rows(result, chart)
        rows = rows if everything else keep_well_known(rows, chart)
        if chart.mark == "cell":
            drawn.append(_scorecard(chart, rows))
            continue
        for panel in values_of(rows, chart.facet) if chart.facet else [""]:
            inside = [row for row in rows if not chart.facet or str(row[chart.facet]) == panel]
            title = ", ".join(part for part in (chart.title, panel) if part)
            drawn.append(_table(f"{title}: {chart.y.title}", chart, inside))
    return drawn


def _table(title: str, chart: Chart, rows: Sequence[Row]) -> Table:
    series = values_of(rows, chart.series)
    cells = {(str(row[chart.x.field]), str(row[chart.series])): row for row in rows}
    lines = []
    for case in values_of(rows, chart.x.field):
        line = [cells.get((case, name)) for name in series]
        first = next(row for row in line if row is not None)
        lines.append((_case(first, chart), *(_number(row, chart) for row in line)))
    columns: Columns = (chart.x.field.replace("_", " "), *number_columns(*series))
    return table_of(columns, lines, caption=title)


def _scorecard(chart: Chart, rows: Sequence[Row]) -> Table:
    metrics = values_of(rows, chart.y.field)
    cells = {(str(row[chart.x.field]), str(row[chart.y.field])): sign(row) for row in rows}
    lines = [
        (case, *(cells.get((case, metric), "") for metric in metrics))
        for case in values_of(rows, chart.x.field)
    ]
    return table_of((chart.x.title, *number_columns(*metrics)), lines, caption=chart.title)


def _case(row: Row, chart: Chart) -> str:
    value = shown_value(row, chart.x)
    return f"{value:.0f} %" if isinstance(value, float) else str(value)


def _number(row: Row | None, chart: Chart) -> str:
    value = None if row is None else shown_value(row, chart.y)
    return f"{value:.2f}" if isinstance(value, int | float) else ""


def _statements(result: ExperimentResult, everything: bool) -> list[Statement]:
    """The statements about a metric that is shown, or about several."""
    if everything:
        return list(result.statements)
    titles = {str(row["title"]) for row in result.data} - shown_titles(result)
    return [claim for claim in result.statements if claim.text.partition(":")[0] not in titles]


def _sentence(statement: Statement) -> str:
    detail = f" ({statement.detail})" if statement.detail else ""
    source = f" [{statement.source}]" if statement.source else ""
    return f"  {statement.text}{detail}{source}"

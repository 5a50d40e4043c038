"""An experiment's numbers as tables of text."""

from __future__ import annotations

from collections.abc import Sequence

from corefeval.figures.scorecard import sign
from corefeval.figures.selection import drawn_rows, shown_value, values_of, well_known
from corefeval.lab import Chart, ExperimentResult
from corefeval.lab.experiments import Row
from corefeval.output.tables import Cell, Column, Table


def tables(result: ExperimentResult, *, everything: bool = False) -> list[Table]:
    """A table for each chart, and for each of its panels: cases by metrics, or by other series.

    Without `everything` only the metrics are there that most papers report, unless none of them
    was measured.
    """
    found = []
    for chart in result.charts:
        rows = drawn_rows(result, chart)
        rows = rows if everything else well_known(rows, chart)
        if chart.mark == "cell":
            found.append(_scorecard(chart, rows))
            continue
        for panel in values_of(rows, chart.facet) if chart.facet else [""]:
            inside = [row for row in rows if not chart.facet or str(row[chart.facet]) == panel]
            title = ", ".join(part for part in (chart.title, panel) if part)
            found.append(_table(f"{title}: {chart.y.title}", chart, inside))
    return found


def _table(title: str, chart: Chart, rows: Sequence[Row]) -> Table:
    series = values_of(rows, chart.series)
    cells = {(str(row[chart.x.field]), str(row[chart.series])): row for row in rows}
    lines = []
    for case in values_of(rows, chart.x.field):
        known = [cells.get((case, name)) for name in series]
        first = next(row for row in known if row is not None)
        lines.append((_case(first, chart), *(_number(row, chart) for row in known)))
    return _drawn(title, (chart.x.field.replace("_", " "), *series), lines)


def _scorecard(chart: Chart, rows: Sequence[Row]) -> Table:
    metrics = values_of(rows, chart.y.field)
    cells = {(str(row[chart.x.field]), str(row[chart.y.field])): sign(row) for row in rows}
    lines = [
        (case, *(cells.get((case, metric), "") for metric in metrics))
        for case in values_of(rows, chart.x.field)
    ]
    return _drawn(chart.title, (chart.x.title, *metrics), lines)


def _drawn(title: str, headings: Sequence[str], lines: Sequence[Sequence[str]]) -> Table:
    columns = (Column(headings[0]), *(Column(one, numeric=True) for one in headings[1:]))
    rows = tuple(tuple(Cell(cell) for cell in line) for line in lines)
    return Table(columns, (rows,), title)


def _case(row: Row, chart: Chart) -> str:
    value = shown_value(row, chart.x)
    return f"{value:.0f} %" if isinstance(value, float) else str(value)


def _number(row: Row | None, chart: Chart) -> str:
    value = None if row is None else shown_value(row, chart.y)
    return f"{value:.2f}" if isinstance(value, int | float) else ""

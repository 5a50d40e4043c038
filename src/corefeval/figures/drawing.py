"""From an experiment's result to its figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from corefeval.figures.curves import curves
from corefeval.figures.figure import Figure, Spec
from corefeval.figures.panels import panels
from corefeval.figures.scorecard import scorecard
from corefeval.figures.selection import drawn_rows, values_of, well_known
from corefeval.figures.styles import MOST, config
from corefeval.lab import Chart, ExperimentResult
from corefeval.lab.experiments import Row

_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"


def figures(result: ExperimentResult, *, everything: bool = True) -> list[Figure]:
    """The figures of an experiment, in its charts' order.

    A chart of many metrics becomes two figures: one of those metrics that most papers report, and
    one, called `…-all`, with a panel for each metric. Without `everything` the second is left out.
    Curves that are the same are drawn and named as one.
    """
    found = []
    for number, chart in enumerate(result.charts, start=1):
        name = result.name if len(result.charts) == 1 else f"{result.name}-{number}"
        rows = drawn_rows(result, chart)
        if not rows:
            continue
        few = rows if len(values_of(rows, chart.series)) <= MOST else well_known(rows, chart)
        if chart.mark == "cell":
            few = well_known(rows, chart)
        found.append(_figure(name, chart, few))
        if everything and len(few) < len(rows):
            found.append(_figure(f"{name}-all", chart, rows))
    return found


def _figure(name: str, chart: Chart, rows: Sequence[Row]) -> Figure:
    draw: Callable[[Chart, Sequence[Row]], Spec] = panels
    if chart.mark == "cell":
        draw = scorecard
    elif chart.mark == "line" and len(values_of(rows, chart.series)) <= MOST:
        draw = curves
    spec = {"$schema": _SCHEMA, "title": chart.title, **draw(chart, rows), "config": config()}
    return Figure(name, chart.title, spec)

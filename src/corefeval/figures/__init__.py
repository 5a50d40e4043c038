"""Figures: what the lab's experiments give, as Vega-Lite charts and as tables of text.

A figure is a Vega-Lite specification with its data in it. Making one needs nothing; drawing it as
SVG, PNG or HTML needs the extra `charts`.

>>> from corefeval.lab import EXPERIMENTS
>>> [figure.name for figure in figures(EXPERIMENTS["splits"].run(metrics="muc, lea"))]
['splits']
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Literal, get_args

from corefeval.diagnostics import UsageError
from corefeval.figures.charts import (
    CONFIG,
    MOST,
    Spec,
    draw_curves,
    draw_panels,
    keep_well_known,
    list_values,
    select_rows,
    shown_titles,
    shown_value,
)
from corefeval.lab import Chart, ExperimentResult, Row, Statement
from corefeval.output.tables import Columns, Sheet, SoloDrawing, Table, number_columns, table_of

__all__ = [
    "FORMATS",
    "MISSING",
    "Figure",
    "FigureFormat",
    "can_draw",
    "figures",
    "tables",
]

FigureFormat = Literal["svg", "png", "html"]
FORMATS: tuple[FigureFormat, ...] = get_args(FigureFormat)
_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"

_VERSION = "5.20"  # of Vega-Lite, so that a figure does not change with the library that draws it
_MIME = "application/vnd.vegalite.v5+json"
_RESOLUTION = 216.0  # of a PNG, in pixels to the inch of 72 units: three for each unit

MISSING = (
    "figures are drawn by vl-convert-python, which is not installed: pip install vl-convert-python"
)


@dataclass(frozen=True, slots=True, repr=False)
class Figure:
    """A chart: a name that can be a file's, a title, and a Vega-Lite specification.

    Notebooks show it. `altair.Chart.from_dict(figure.spec)` makes an Altair chart of it.
    """

    name: str
    title: str
    spec: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"<Figure {self.name!r}: {self.title}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        # Not every notebook knows Vega-Lite; all show a picture.
        picture = {"image/svg+xml": self.svg()} if can_draw() else {}
        return {_MIME: dict(self.spec), **picture, "text/plain": repr(self)}

    @property
    def fingerprint(self) -> str:
        """A hash of the specification with its data."""
        text = json.dumps(self.spec, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def svg(self) -> str:
        """The figure as SVG, with its fingerprint in a comment."""
        picture: str = _converter().vegalite_to_svg(dict(self.spec), vl_version=_VERSION)
        return f"{picture.rstrip()}\n<!-- figure {self.fingerprint} -->\n"

    def png(self) -> bytes:
        """The figure as PNG, fine enough for print."""
        picture: bytes = _converter().vegalite_to_png(
            dict(self.spec), vl_version=_VERSION, ppi=_RESOLUTION
        )
        return picture

    def html(self) -> str:
        """A page with the figure, with tooltips and a legend to click on; it needs no network."""
        page: str = _converter().vegalite_to_html(
            dict(self.spec), vl_version=_VERSION, bundle=True, renderer="svg"
        )
        return page.replace("<title>Chart</title>", f"<title>{escape(self.title)}</title>", 1)

    def render(self, format: FigureFormat) -> bytes:
        """The figure as a file's content."""
        if format == "png":
            return self.png()
        if format not in FORMATS:
            raise UsageError(
                f"there is no figure format {format!r}: there are {', '.join(FORMATS)}"
            )
        return (self.svg() if format == "svg" else self.html()).encode()


def figures(result: ExperimentResult, *, everything: bool = True) -> list[Figure]:
    """The figures of an experiment, in its charts' order.

    A chart of many metrics becomes two figures: one of those metrics that most papers report, and
    one, called `…-all`, with a panel for each metric. Without `everything` the second is left out.
    Equal curves are drawn and named as one.
    """
    drawn = []
    for number, chart in enumerate(result.charts, start=1):
        name = result.name if len(result.charts) == 1 else f"{result.name}-{number}"
        rows = select_rows(result, chart)
        if not rows:
            continue
        few = rows if len(list_values(rows, chart.series)) <= MOST else keep_well_known(rows, chart)
        if chart.mark == "cell":
            few = keep_well_known(rows, chart)
        drawn.append(_figure(name, chart, few))
        if everything and len(few) < len(rows):
            drawn.append(_figure(f"{name}-all", chart, rows))
    return drawn


def _figure(name: str, chart: Chart, rows: Sequence[Row]) -> Figure:
    draw: Callable[[Chart, Sequence[Row]], Spec] = draw_panels
    if chart.mark == "cell":
        draw = draw_scorecard
    elif chart.mark == "line" and len(list_values(rows, chart.series)) <= MOST:
        draw = draw_curves
    spec = {"$schema": _SCHEMA, "title": chart.title, **draw(chart, rows), "config": CONFIG}
    return Figure(name, chart.title, spec)


def can_draw() -> bool:
    """Whether the extra `charts` is installed."""
    return find_spec("vl_convert") is not None


def _converter() -> ModuleType:
    try:
        import vl_convert
    except ImportError:
        raise UsageError(MISSING) from None
    return vl_convert


_WIDTH, _HEIGHT = 50, 20
_HOLDS = "#D3E6F3"  # Okabe and Ito's blue, light
_BROKEN = ("#FBE6CC", "#E8862E")  # and their orange: the rarer, the lighter
_TICK, _CROSS = "M-0.5,0L-0.15,0.4L0.5,-0.5", "M-0.4,-0.4L0.4,0.4M-0.4,0.4L0.4,-0.4"
_LEGEND = (
    "Cross: broken in this share of the random documents to which the property applies.",
    "Tick: no counterexample was found (which proves nothing). –: the metric lacks the rate.",
)
_EXAMPLE = ("key", "first", "second", "kinds")
_TOOLTIP = {
    "column": "metric",
    "row": "property",
    "failures": "broken in cases",
    "cases": "of cases",
    "key": "smallest example: key",
    "first": "first output",
    "second": "second output",
    "kinds": "kinds",
}


def draw_scorecard(chart: Chart, rows: Sequence[Row]) -> Spec:
    """A cell for each metric and property; a dash where the metric lacks the rate."""
    columns = {
        "field": "column",
        "type": "nominal",
        "sort": list_values(rows, chart.y.field),
        "title": None,
        "axis": {"orient": "top", "labelAngle": -40, "domain": False, "ticks": False},
    }
    lines = {
        "field": "row",
        "type": "nominal",
        "sort": list_values(rows, chart.x.field),
        "title": None,
        "axis": {"domain": False, "ticks": False, "labelPadding": 6},
    }
    tooltip = [{"field": field, "title": title} for field, title in _TOOLTIP.items()]
    return {
        "title": {"text": chart.title, "subtitle": list(_LEGEND)},
        "data": {"values": [_cell_data(chart, row) for row in rows]},
        "width": {"step": _WIDTH},
        "height": {"step": _HEIGHT},
        "encoding": {"x": columns, "y": lines, "tooltip": tooltip},
        "layer": [
            _colors(),
            _sign_path("true", _TICK, 0),
            _sign_path("false", _CROSS, -16),
            _numbers("false", "right", 21),
            _numbers("null", "center", 0),
        ],
        "view": {"stroke": None},
    }


def show_sign(row: Row) -> str:
    """What stands in a cell: ✓, or ✗ and in how many of a hundred cases."""
    if row["holds"] is None:
        return "–"
    share = share_broken(row)
    if row["holds"] or share is None:
        return "✓"
    return f"✗ {share:.0f}%" if share >= 0.5 else "✗ <1%"


def share_broken(row: Row) -> float | None:
    """In how many of a hundred cases a metric breaks a property."""
    failures, cases = row["failures"], row["cases"]
    if not isinstance(failures, int | float) or not isinstance(cases, int | float) or not cases:
        return None
    return round(100 * failures / cases, 2)


def _cell_data(chart: Chart, row: Row) -> Spec:
    return {
        "row": str(row[chart.x.field]),
        "column": str(row[chart.y.field]),
        "broken": share_broken(row),
        "holds": row["holds"],
        "number": show_sign(row).removeprefix("✗ "),
        "cases": row["cases"],
        "failures": row["failures"],
        **{name: row[name] for name in _EXAMPLE if row[name] is not None},
    }


def _colors() -> Spec:
    ramp = {"domain": [0, 100], "range": list(_BROKEN)}
    holds = {"test": "datum.holds", "value": _HOLDS}
    return {
        "transform": [{"filter": "datum.holds != null"}],
        "mark": {"type": "rect", "stroke": "white", "strokeWidth": 2},
        "encoding": {
            "color": {
                "condition": holds,
                "field": "broken",
                "type": "quantitative",
                "scale": ramp,
                "legend": None,
            }
        },
    }


def _sign_path(holds: str, path: str, offset: int) -> Spec:
    """A sign drawn as a path: fonts have ticks and crosses of all sizes, or none."""
    return {
        "transform": [{"filter": f"datum.holds === {holds}"}],
        "mark": {
            "type": "point",
            "shape": path,
            "size": 130,
            "xOffset": offset,
            "opacity": 1,
            "aria": False,
            "filled": False,
            "stroke": "black",
            "strokeWidth": 1.5,
        },
    }


def _numbers(holds: str, align: str, offset: int) -> Spec:
    return {
        "transform": [{"filter": f"datum.holds === {holds}"}],
        "mark": {"type": "text", "fontSize": 11, "align": align, "xOffset": offset, "aria": False},
        "encoding": {"text": {"field": "number"}},
    }


@dataclass(frozen=True)
class ExperimentDrawing(SoloDrawing):
    """Tables, then the statements that hold and those that do not.

    Without `everything` tables and statements are about those metrics that most papers report,
    and a line says how many statements there are about others.
    """

    results: Sequence[ExperimentResult]
    everything: bool = False

    def sheet_of(self, result: ExperimentResult, format: str) -> Sheet:
        """Tables and statements."""
        statements = _statements(result, self.everything)
        groups = []
        for heading, holds in (("Holds", True), ("Does not hold", False)):
            sentences = [_sentence(claim) for claim in statements if claim.holds == holds]
            groups += ["\n".join((heading, *sentences))] if sentences else []
        words = ("\n\n".join(groups),) if groups else ()
        # What it takes to repeat the experiment, without names that say nothing new.
        settings = {name: value for name, value in result.settings.items() if name != value}
        about = [", ".join(f"{name} {value}" for name, value in settings.items())]
        if left := len(result.statements) - len(statements):
            about.insert(0, f"{left} statements are about other metrics: name these with --metrics")
        return Sheet((*tables(result, everything=self.everything), *words), tuple(about))

    def record_of(self, result: ExperimentResult) -> object:
        """All of it."""
        return result.as_dict()


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
            drawn.append(_scorecard_table(chart, rows))
            continue
        for panel in list_values(rows, chart.facet) if chart.facet else [""]:
            inside = [row for row in rows if not chart.facet or str(row[chart.facet]) == panel]
            title = ", ".join(part for part in (chart.title, panel) if part)
            drawn.append(_table(f"{title}: {chart.y.title}", chart, inside))
    return drawn


def _table(title: str, chart: Chart, rows: Sequence[Row]) -> Table:
    series = list_values(rows, chart.series)
    cells = {(str(row[chart.x.field]), str(row[chart.series])): row for row in rows}
    lines = []
    for case in list_values(rows, chart.x.field):
        line = [cells.get((case, name)) for name in series]
        first = next(row for row in line if row is not None)
        lines.append((_show_case(first, chart), *(_show_number(row, chart) for row in line)))
    columns: Columns = (chart.x.field.replace("_", " "), *number_columns(*series))
    return table_of(columns, lines, caption=title)


def _scorecard_table(chart: Chart, rows: Sequence[Row]) -> Table:
    metrics = list_values(rows, chart.y.field)
    cells = {(str(row[chart.x.field]), str(row[chart.y.field])): show_sign(row) for row in rows}
    lines = [
        (case, *(cells.get((case, metric), "") for metric in metrics))
        for case in list_values(rows, chart.x.field)
    ]
    return table_of((chart.x.title, *number_columns(*metrics)), lines, caption=chart.title)


def _show_case(row: Row, chart: Chart) -> str:
    value = shown_value(row, chart.x)
    return f"{value:.0f} %" if isinstance(value, float) else str(value)


def _show_number(row: Row | None, chart: Chart) -> str:
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

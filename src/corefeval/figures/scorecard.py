"""The scorecard: metrics by properties, with ✓ or ✗ and how often a property is broken."""

from __future__ import annotations

from collections.abc import Sequence

from corefeval.figures.styles import Spec, values_of
from corefeval.lab import Chart
from corefeval.lab.experiments import Row

_WIDTH, _HEIGHT = 50, 20
_HOLDS = "#D3E6F3"  # Okabe and Ito's blue, light
_BROKEN = ("#FBE6CC", "#E8862E")  # and their orange: the rarer, the lighter
_TICK, _CROSS = "M-0.5,0L-0.15,0.4L0.5,-0.5", "M-0.4,-0.4L0.4,0.4M-0.4,0.4L0.4,-0.4"
_LEGEND = (
    "Cross: broken in this share of the random documents to which the property applies.",
    "Tick: no counterexample was found, which is no proof. –: the metric lacks the rate.",
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


def scorecard(chart: Chart, rows: Sequence[Row]) -> Spec:
    """A cell for each metric and property; where a metric lacks what it is about, none."""
    columns = {
        "field": "column",
        "type": "nominal",
        "sort": values_of(rows, chart.y.field),
        "title": None,
        "axis": {"orient": "top", "labelAngle": -40, "domain": False, "ticks": False},
    }
    lines = {
        "field": "row",
        "type": "nominal",
        "sort": values_of(rows, chart.x.field),
        "title": None,
        "axis": {"domain": False, "ticks": False, "labelPadding": 6},
    }
    tooltip = [{"field": field, "title": title} for field, title in _TOOLTIP.items()]
    return {
        "title": {"text": chart.title, "subtitle": list(_LEGEND)},
        "data": {"values": [_cell(chart, row) for row in rows]},
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


def _cell(chart: Chart, row: Row) -> Spec:
    return {
        "row": str(row[chart.x.field]),
        "column": str(row[chart.y.field]),
        "broken": broken(row),
        "holds": row["holds"],
        "number": sign(row).removeprefix("✗ "),
        "cases": row["cases"],
        "failures": row["failures"],
        **{name: row[name] for name in _EXAMPLE if row[name] is not None},
    }


def sign(row: Row) -> str:
    """What stands in a cell: ✓, or ✗ and in how many of a hundred cases."""
    if row["holds"] is None:
        return "–"
    share = broken(row)
    if row["holds"] or share is None:
        return "✓"
    return f"✗ {share:.0f}%" if share >= 0.5 else "✗ <1%"


def broken(row: Row) -> float | None:
    """In how many of a hundred cases a metric breaks a property."""
    failures, cases = row["failures"], row["cases"]
    if not isinstance(failures, int | float) or not isinstance(cases, int | float) or not cases:
        return None
    return round(100 * failures / cases, 2)


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

"""Small multiples: a panel for each metric."""

from __future__ import annotations

from collections.abc import Sequence

from corefeval.figures.curves import shared_title
from corefeval.figures.figure import Spec
from corefeval.figures.selection import axis_title, shown_value, values_of
from corefeval.figures.styles import BLUE, ORANGE, SOFT, STYLES
from corefeval.lab import Chart
from corefeval.lab.experiments import Row

_ROW = 16  # the height of a case
_COLUMNS = 3
_ROOM = 0.32  # of the axis, for the numbers behind the points, if they have one decimal
_CLOSE = 20  # points; where scores are closer than that, numbers have two decimals


def panels(chart: Chart, rows: Sequence[Row]) -> Spec:
    """A panel for each series, all with the same axes."""
    data = [
        {
            "series": str(row[chart.series]),
            "x": shown_value(row, chart.x),
            "y": shown_value(row, chart.y),
            "panel": str(row[chart.facet]) if chart.facet else "",
        }
        for row in rows
    ]
    kinds = values_of(data, "panel")
    draw = _small_curves if chart.mark == "line" else _cases
    below = chart.x if chart.mark == "line" else chart.y
    facet = {
        "field": "series",
        "type": "nominal",
        "sort": values_of(rows, chart.series),
        "header": shared_title(axis_title(below)),
    }
    columns = min(_COLUMNS if chart.mark != "line" else 4, len(values_of(rows, chart.series)))
    return {
        "title": _title(chart),
        "data": {"values": data},
        "facet": facet,
        "columns": columns,
        "spec": draw(chart, data, kinds),
    }


def _title(chart: Chart) -> Spec | str:
    """The chart's title, and below it what the cases are, if their column does not say it."""
    if chart.mark == "line" or chart.x.title == chart.x.field:
        return chart.title
    return {"text": chart.title, "subtitle": f"Rows: {chart.x.title}"}


def _small_curves(chart: Chart, data: list[dict[str, object]], kinds: list[str]) -> Spec:
    """A curve for each kind of case: two of them at most in the lab's experiments."""
    styles = STYLES[: len(kinds)]
    encoding: Spec = {
        "x": {
            "field": "x",
            "type": chart.x.scale,
            "title": None,
            "axis": {"grid": False, "tickCount": 3, "labelAngle": 0, "labelFlush": False},
            "scale": {"nice": False} if chart.x.scale == "quantitative" else {},
        },
        "y": {
            "field": "y",
            "type": "quantitative",
            "title": axis_title(chart.y),
            "scale": {"domain": [0, 100]},
            "axis": {"values": [0, 50, 100]},
        },
        "tooltip": _tooltip(chart),
    }
    encoding |= _kind_encoding(chart, kinds, [style.color for style in styles])
    if len(kinds) > 1:
        dashes = [list(style.dash) for style in styles]
        encoding["strokeDash"] = {
            "field": "panel",
            "type": "nominal",
            "scale": {"domain": kinds, "range": dashes},
            "legend": {"symbolSize": 500},
        }
    return {
        "width": 110,
        "height": 90,
        "mark": {"type": "line", "strokeWidth": 1.6, "color": BLUE},
        "encoding": encoding,
    }


def _cases(chart: Chart, data: list[dict[str, object]], kinds: list[str]) -> Spec:
    """Cases below each other, with a point or bar and a number for each."""
    bars = chart.mark == "bar"
    y = {
        "field": "x",
        "type": "nominal",
        "sort": values_of(data, "x"),
        "title": None,
        "axis": {"grid": not bars, "ticks": False, "domain": False, "labelPadding": 6},
    }
    x = {
        "field": "y",
        "type": "quantitative",
        "title": None,
        "scale": {"domain": _domain(data, bars), "nice": False, "zero": bars},
        "axis": {"values": _ticks(_domain(data, bars)), "grid": False, "labelFlush": False},
    }
    encoding: Spec = {"x": x, "y": y, "tooltip": _tooltip(chart)}
    encoding |= _kind_encoding(chart, kinds, [BLUE, ORANGE])
    if len(kinds) > 1:
        encoding["yOffset"] = {"field": "panel", "type": "nominal", "sort": kinds}
    mark: Spec = {"type": "point", "filled": True, "size": 44, "color": BLUE, "opacity": 1}
    if bars:
        mark = {"type": "bar", "color": BLUE, "cornerRadius": 0}
    return {
        "width": 130,
        "height": {"step": _ROW if len(kinds) == 1 else 15},
        "encoding": encoding,
        "layer": [{"mark": mark}, _numbers(data, bars)],
    }


def _numbers(data: list[dict[str, object]], bars: bool) -> Spec:
    """A number behind each point or bar, with two decimals where points are close together."""
    form = ".2f" if not bars and _spread(data) < _CLOSE else ".1f"
    return {
        "mark": {"type": "text", "align": "left", "dx": 3 if bars else 6, "fontSize": 10},
        "encoding": {
            "text": {"field": "y", "type": "quantitative", "format": form},
            "color": {"value": SOFT},
        },
    }


def _kind_encoding(chart: Chart, kinds: list[str], colors: list[str]) -> Spec:
    if len(kinds) < 2:
        return {}
    scale = {"domain": kinds, "range": colors}
    legend: Spec = {"title": chart.facet, "titleOrient": "left"}
    if chart.mark == "line":
        legend = {"symbolSize": 500}  # of a line: its length
    return {"color": {"field": "panel", "type": "nominal", "scale": scale, "legend": legend}}


def _tooltip(chart: Chart) -> list[dict[str, str]]:
    fields = [
        {"field": "series", "title": "metric"},
        {"field": "x", "title": axis_title(chart.x)},
        {"field": "y", "title": axis_title(chart.y), "format": ".2f"},
    ]
    return [*fields, {"field": "panel", "title": chart.facet}] if chart.facet else fields


def _values(data: list[dict[str, object]]) -> list[float]:
    return [float(value) for one in data if isinstance(value := one["y"], int | float)]


def _spread(data: list[dict[str, object]]) -> float:
    values = _values(data)
    return max(values) - min(values)


def _ticks(domain: list[float]) -> list[int]:
    """Three to six round numbers of the axis; the room for numbers behind 100 has none."""
    low, high = domain[0], min(domain[1], 100)
    step = next((step for step in (1, 2, 5, 10) if (high - low) / step <= 5), 20)
    return [tick for tick in range(0, 101, step) if low <= tick <= high]


def _domain(data: list[dict[str, object]], from_zero: bool) -> list[float]:
    """From the lowest score, or from zero for bars, to the highest, and room for its number."""
    high = max(_values(data))
    low = 0.0 if from_zero else min(_values(data)) // 2 * 2
    if high - low < 1:
        low = high - 1
    room = _ROOM if from_zero or _spread(data) >= _CLOSE else 1.4 * _ROOM
    return [low - (0 if from_zero else 0.06 * (high - low)), high + (high - low) * room]

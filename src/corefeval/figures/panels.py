"""Curves in one panel or in several, and small multiples: a panel for each metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from corefeval.figures.styles import (
    BLUE,
    ORANGE,
    SOFT,
    STYLES,
    Spec,
    Style,
    axis_title,
    is_share,
    merge_curves,
    shown_value,
    styles_of,
    values_of,
)
from corefeval.lab import Chart, Row

_HEIGHT = 190
_ALONE, _BESIDE = 360, 215  # the width of one panel, and of panels in two columns
PERCENT_AXIS = {"values": [0, 20, 40, 60, 80, 100]}

_ROW = 16  # the height of a case
_COLUMNS = 3
_ROOM = 0.32  # of the axis, for the numbers behind the points, if they have one decimal
_CLOSE = 20  # points; where scores are closer than that, numbers have two decimals


def curves(chart: Chart, rows: Sequence[Row]) -> Spec:
    """Lines with points; colour, dash and shape tell the series apart."""
    names = merge_curves(rows, chart)
    order, styles = _order_styles(chart, rows, names)
    points: dict[tuple[object, ...], Spec] = {}  # those of curves with one name are there once
    for point in _make_points(chart, rows):
        point["series"] = names[point["series"]]
        points.setdefault((point["series"], point["x"], point.get("panel")), point)
    several = bool(chart.facet) and len(values_of(rows, chart.facet)) > 1
    # Outlines of symbols would have the lines' dashes.
    legend = {"columns": _legend_columns(order, chart), "symbolStrokeWidth": 0}
    chosen = {"type": "point", "fields": ["series"]}
    lines = {
        "mark": {"type": "line", "strokeWidth": 1.6, "strokeCap": "butt"},
        "encoding": {"strokeDash": _scale(order, [list(style.dash) for style in styles], None)},
        "params": [{"name": "chosen", "select": chosen, "bind": "legend"}],
    }
    symbols = {
        "mark": {"type": "point", "size": 34, "filled": True, "opacity": 1},
        "encoding": {"shape": _scale(order, [style.shape for style in styles], legend)},
    }
    color = _scale(order, [style.color for style in styles], legend)
    layers: Spec = {
        "width": _BESIDE if several else _ALONE,
        "height": _HEIGHT,
        "encoding": {**_encoding(chart), "color": color},
        "layer": [lines, symbols],
    }
    data = {"values": list(points.values())}
    if not several:
        return {"data": data, **layers}
    layers["encoding"]["x"]["title"] = None
    facet = _facet("panel", values_of(rows, chart.facet), axis_title(chart.x))
    return {"data": data, "facet": facet, "columns": 2, "spec": layers}


def _make_points(chart: Chart, rows: Sequence[Row]) -> list[Spec]:
    """A point for each row; it has a panel where the chart has several."""
    return [
        {
            "series": str(row[chart.series]),
            "x": shown_value(row, chart.x),
            "y": shown_value(row, chart.y),
            **({"panel": str(row[chart.facet])} if chart.facet else {}),
        }
        for row in rows
    ]


def _facet(field: str, order: list[str], title: str) -> Spec:
    """A panel for each value of a field, with the title of an axis below all of them."""
    header = {"title": title, "titleOrient": "bottom", "titlePadding": 8}
    return {"field": field, "type": "nominal", "sort": order, "header": header}


def _order_styles(
    chart: Chart, rows: Sequence[Row], names: dict[str, str]
) -> tuple[list[str], list[Style]]:
    """The curves in order, and their styles; a curve of several metrics has that of the last.

    The last of the well-known metrics is LEA, which should look like LEA in every figure.
    """
    column = "metric" if chart.series == "title" else chart.series
    codes: dict[str, str] = {}
    for row in rows:
        codes[names[str(row[chart.series])]] = str(row[column])
    return list(codes), styles_of(list(codes.values()))


def _encoding(chart: Chart) -> Spec:
    x: dict[str, Any] = {"field": "x", "type": chart.x.scale, "title": axis_title(chart.x)}
    if chart.x.scale == "quantitative":
        x["scale"] = {"nice": False}
        percent = PERCENT_AXIS if is_share(chart.x) else {"tickMinStep": 1}
        x["axis"] = {**percent, "grid": False, "labelFlush": False}
    else:
        x["sort"] = None
        x["axis"] = {"labelAngle": 0}
    y = {
        "field": "y",
        "type": "quantitative",
        "title": axis_title(chart.y),
        "scale": {"domain": [0, 100]},
        "axis": PERCENT_AXIS,
    }
    return {
        "x": x,
        "y": y,
        "tooltip": _tooltip(chart, "curve"),
        "opacity": {"condition": {"param": "chosen", "value": 1}, "value": 0.12},
    }


def _legend_columns(order: list[str], chart: Chart) -> int:
    """As many columns of the legend as fit below the panels."""
    room = 2 * _BESIDE if chart.facet else _ALONE
    columns = len(order)
    while columns > 1 and columns * (7 * max(map(len, order)) + 34) > room:
        columns -= 1
    if sum(7 * len(name) + 34 for name in order) <= room:
        return len(order)
    return columns


def _scale(
    order: list[str], values: Sequence[object], legend: Spec | None, field: str = "series"
) -> Spec:
    """The encoding of a channel (colour, dash, shape) that has a value for each curve or kind."""
    scale = {"domain": order, "range": list(values)}
    return {"field": field, "type": "nominal", "scale": scale, "legend": legend}


def panels(chart: Chart, rows: Sequence[Row]) -> Spec:
    """A panel for each series, with equal axes."""
    data = [{"panel": "", **point} for point in _make_points(chart, rows)]
    series = values_of(rows, chart.series)
    is_line = chart.mark == "line"
    draw = _small_curves if is_line else _cases
    return {
        "title": _title(chart),
        "data": {"values": data},
        "facet": _facet("series", series, axis_title(chart.x if is_line else chart.y)),
        "columns": min(4 if is_line else _COLUMNS, len(series)),
        "spec": draw(chart, data, values_of(data, "panel")),
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
        "tooltip": _panel_tooltip(chart),
    }
    if len(kinds) > 1:
        legend = {"symbolSize": 500}  # of a line: its length
        colors, dashes = [style.color for style in styles], [list(style.dash) for style in styles]
        encoding["color"] = _scale(kinds, colors, legend, "panel")
        encoding["strokeDash"] = _scale(kinds, dashes, legend, "panel")
    return {
        "width": 110,
        "height": 90,
        "mark": {"type": "line", "strokeWidth": 1.6, "color": BLUE},
        "encoding": encoding,
    }


def _cases(chart: Chart, data: list[dict[str, object]], kinds: list[str]) -> Spec:
    """Cases below each other, with a point or bar and a number behind it for each."""
    bars = chart.mark == "bar"
    values = [float(value) for point in data if isinstance(value := point["y"], int | float)]
    close = not bars and max(values) - min(values) < _CLOSE
    domain = _domain(values, bars, _ROOM * (1.4 if close else 1))
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
        "scale": {"domain": domain, "nice": False, "zero": bars},
        "axis": {"values": _ticks(domain), "grid": False, "labelFlush": False},
    }
    encoding: Spec = {"x": x, "y": y, "tooltip": _panel_tooltip(chart)}
    if len(kinds) > 1:
        legend = {"title": chart.facet, "titleOrient": "left"}
        encoding["color"] = _scale(kinds, [BLUE, ORANGE], legend, "panel")
        encoding["yOffset"] = {"field": "panel", "type": "nominal", "sort": kinds}
    mark: Spec = {"type": "point", "filled": True, "size": 44, "color": BLUE, "opacity": 1}
    if bars:
        mark = {"type": "bar", "color": BLUE, "cornerRadius": 0}
    form = ".2f" if close else ".1f"
    numbers = {
        "mark": {"type": "text", "align": "left", "dx": 3 if bars else 6, "fontSize": 10},
        "encoding": {
            "text": {"field": "y", "type": "quantitative", "format": form},
            "color": {"value": SOFT},
        },
    }
    return {
        "width": 130,
        "height": {"step": _ROW if len(kinds) == 1 else 15},
        "encoding": encoding,
        "layer": [{"mark": mark}, numbers],
    }


def _tooltip(chart: Chart, series: str) -> list[dict[str, str]]:
    return [
        {"field": "series", "title": series},
        {"field": "x", "title": axis_title(chart.x)},
        {"field": "y", "title": axis_title(chart.y), "format": ".2f"},
    ]


def _panel_tooltip(chart: Chart) -> list[dict[str, str]]:
    kind = [{"field": "panel", "title": chart.facet}] if chart.facet else []
    return [*_tooltip(chart, "metric"), *kind]


def _ticks(domain: list[float]) -> list[int]:
    """Three to six round numbers of the axis; the room for numbers behind 100 has none."""
    low, high = domain[0], min(domain[1], 100)
    step = next((step for step in (1, 2, 5, 10) if (high - low) / step <= 5), 20)
    return [tick for tick in range(0, 101, step) if low <= tick <= high]


def _domain(values: list[float], from_zero: bool, room: float) -> list[float]:
    """From the lowest score, or from zero for bars, to the highest, and room for its number."""
    high = max(values)
    low = 0.0 if from_zero else min(values) // 2 * 2
    if high - low < 1:
        low = high - 1
    return [low - (0 if from_zero else 0.06 * (high - low)), high + (high - low) * room]

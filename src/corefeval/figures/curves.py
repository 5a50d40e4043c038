"""Curves: one panel, or one for each value of a column, with a curve for each series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from corefeval.figures.figure import Spec
from corefeval.figures.selection import axis_title, is_share, merged, shown_value, values_of
from corefeval.figures.styles import Style, styles_of
from corefeval.lab import Chart
from corefeval.lab.experiments import Row

_HEIGHT = 190
_ALONE, _BESIDE = 360, 215  # the width of one panel, and of panels in two columns
PERCENT_AXIS = {"values": [0, 20, 40, 60, 80, 100]}


def curves(chart: Chart, rows: Sequence[Row]) -> Spec:
    """Lines with points; colour, dash and shape tell the series apart."""
    names = merged(rows, chart)
    order, styles = _styled(chart, rows, names)
    data = _data(chart, rows, names)
    several = bool(chart.facet) and len(values_of(rows, chart.facet)) > 1
    # Outlines of symbols would have the lines' dashes.
    legend = {"columns": _legend_columns(order, chart), "symbolStrokeWidth": 0}
    color = _scaled(order, [style.color for style in styles], legend)
    layers: Spec = {
        "width": _BESIDE if several else _ALONE,
        "height": _HEIGHT,
        "encoding": {**_encoding(chart), "color": color},
        "layer": [_lines(order, styles), _points(order, styles, legend)],
    }
    if not several:
        return {"data": {"values": data}, **layers}
    layers["encoding"]["x"]["title"] = None
    facet = {
        "field": "panel",
        "type": "nominal",
        "sort": values_of(rows, chart.facet),
        "header": shared_title(axis_title(chart.x)),
    }
    return {"data": {"values": data}, "facet": facet, "columns": 2, "spec": layers}


def _data(chart: Chart, rows: Sequence[Row], names: dict[str, str]) -> list[Spec]:
    """The points of all curves; curves that are one have theirs once."""
    points: dict[tuple[object, ...], Spec] = {}
    for row in rows:
        point = {
            "series": names[str(row[chart.series])],
            "x": shown_value(row, chart.x),
            "y": shown_value(row, chart.y),
            **({"panel": str(row[chart.facet])} if chart.facet else {}),
        }
        points.setdefault((point["series"], point["x"], point.get("panel")), point)
    return list(points.values())


def shared_title(title: str) -> Spec:
    """The header of panels that have the title of their axis in common, below all of them."""
    return {"title": title, "titleOrient": "bottom", "titlePadding": 8}


def _styled(
    chart: Chart, rows: Sequence[Row], names: dict[str, str]
) -> tuple[list[str], list[Style]]:
    """The curves in order, and their styles; one that stands for several has the last one's.

    The last of the well-known metrics is LEA, which should look like LEA where it is there.
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
    tooltip = [
        {"field": "series", "title": "curve"},
        {"field": "x", "title": axis_title(chart.x)},
        {"field": "y", "title": axis_title(chart.y), "format": ".2f"},
    ]
    return {
        "x": x,
        "y": y,
        "tooltip": tooltip,
        "opacity": {"condition": {"param": "chosen", "value": 1}, "value": 0.12},
    }


def _legend_columns(order: list[str], chart: Chart) -> int:
    """As many as fit below the panels."""
    room = 2 * _BESIDE if chart.facet else _ALONE
    columns = len(order)
    while columns > 1 and columns * (7 * max(map(len, order)) + 34) > room:
        columns -= 1
    if sum(7 * len(name) + 34 for name in order) <= room:
        return len(order)
    return columns


def _scaled(order: list[str], values: Sequence[object], legend: Spec | None) -> Spec:
    """Something that each curve has of its own."""
    scale = {"domain": order, "range": list(values)}
    return {"field": "series", "type": "nominal", "scale": scale, "legend": legend}


def _lines(order: list[str], styles: list[Style]) -> Spec:
    chosen = {"type": "point", "fields": ["series"]}
    return {
        "mark": {"type": "line", "strokeWidth": 1.6, "strokeCap": "butt"},
        "encoding": {
            "strokeDash": _scaled(order, [list(style.dash) for style in styles], None),
        },
        "params": [{"name": "chosen", "select": chosen, "bind": "legend"}],
    }


def _points(order: list[str], styles: list[Style], legend: Spec) -> Spec:
    return {
        "mark": {"type": "point", "size": 34, "filled": True, "opacity": 1},
        "encoding": {
            "shape": _scaled(order, [style.shape for style in styles], legend),
        },
    }

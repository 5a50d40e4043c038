"""Charts: curves in one panel or several, small multiples, and what all of them look like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from corefeval.lab import TINY, Chart, Encoding, ExperimentResult, Row
from corefeval.lab.measurement import RATES, THE_SIX

Spec = dict[str, Any]
Curve = dict[tuple[str, str], float]  # from facet and x to y
WELL_KNOWN = (*THE_SIX, "conll")

# Okabe and Ito's colours, but for yellow, which is too light for lines on paper.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#777777"
SOFT = "#444444"  # for text that is not the matter

FONT = "Helvetica, Arial, Liberation Sans, sans-serif"


@dataclass(frozen=True, slots=True)
class Style:
    """A series' colour, dash and shape: each of them alone tells it from the others."""

    color: str
    dash: tuple[int, ...]
    shape: str


STYLES = (
    Style(ORANGE, (5, 2), "square"),
    Style(BLUE, (1, 0), "circle"),
    Style(GREEN, (2, 2), "triangle-up"),
    Style(SKY, (8, 2, 2, 2), "diamond"),
    Style(PURPLE, (10, 3), "triangle-down"),
    Style(BLACK, (1, 0), "cross"),
    Style(VERMILION, (6, 2, 1, 2, 1, 2), "triangle-right"),
    Style(GREY, (3, 4), "triangle-left"),
)
# A metric looks the same in every figure.
_OF_METRIC = dict(zip(WELL_KNOWN, STYLES, strict=False))
MOST = len(STYLES)  # curves in one panel


def choose_styles(series: Sequence[str]) -> list[Style]:
    """A style for each series: well-known metrics have a fixed one, others get what is free.

    >>> [style.shape for style in choose_styles(["lea", "W1", "muc"])]
    ['cross', 'circle', 'square']
    """
    taken = {_OF_METRIC[name] for name in series if name in _OF_METRIC}
    free = iter([style for style in STYLES if style not in taken] + list(STYLES))
    return [_OF_METRIC[name] if name in _OF_METRIC else next(free) for name in series]


# Fonts, axes and legends of every figure.
CONFIG: Spec = {
    "font": FONT,
    "background": "white",
    "view": {"stroke": "#cccccc"},
    "title": {
        "fontSize": 13,
        "anchor": "start",
        "fontWeight": "bold",
        "offset": 10,
        "subtitleFontSize": 11,
        "subtitleColor": SOFT,
        "subtitlePadding": 4,
    },
    "axis": {
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 6,
        "domainColor": GREY,
        "tickColor": GREY,
        "gridColor": "#e4e4e4",
        "labelLimit": 0,
        "titleLimit": 0,
    },
    "header": {
        "labelFontSize": 12,
        "labelFontWeight": "bold",
        "labelLimit": 0,
        "labelPadding": 4,
        "title": None,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titleLimit": 0,
    },
    "legend": {
        "labelFontSize": 12,
        "labelLimit": 0,
        "symbolSize": 70,
        "symbolStrokeWidth": 1.8,
        "title": None,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "orient": "bottom",
        "columnPadding": 16,
    },
    "facet": {"spacing": 18},
}


def is_share(encoding: Encoding) -> bool:
    """Whether a column holds shares of one, which are shown in percent."""
    return encoding.field in RATES or encoding.title.startswith("share")


def axis_title(encoding: Encoding) -> str:
    """The title with its unit."""
    return f"{encoding.title} (%)" if is_share(encoding) else encoding.title


def shown_value(row: Row, encoding: Encoding) -> object:
    """A cell as it is drawn: shares in percent, with as many digits as can be seen."""
    value = row.get(encoding.field)
    if is_share(encoding) and isinstance(value, int | float):
        return round(100 * value, 4)
    return value


def select_rows(result: ExperimentResult, chart: Chart) -> list[Row]:
    """The rows of a chart that have something to show."""
    return [row for row in result.select(chart) if row.get(chart.y.field) is not None]


def keep_well_known(rows: Sequence[Row], chart: Chart) -> list[Row]:
    """The rows of the well-known metrics, where a chart has a curve or column for each metric.

    All rows where none of these metrics is there, or where curves are something else.
    """
    if chart.series != "title" and chart.mark != "cell":
        return list(rows)
    few = WELL_KNOWN if chart.mark == "cell" else THE_SIX
    return [row for row in rows if row["metric"] in few] or list(rows)


def shown_titles(result: ExperimentResult) -> set[str]:
    """The titles of the metrics that tables show by default."""
    return {
        str(row["title"])
        for chart in result.charts
        for row in keep_well_known(select_rows(result, chart), chart)
    }


def list_values(rows: Sequence[Mapping[str, object]], column: str) -> list[str]:
    """The different values of a column, in the order of the rows."""
    return list(dict.fromkeys(str(row[column]) for row in rows))


def merge_curves(rows: Sequence[Row], chart: Chart) -> dict[str, str]:
    """For each curve what it is called: curves that lie on each other have one name together.

    B³, CEAFm and LEA are the same for whole entities. Of three such curves only the last could be
    seen, which would hide that they are equal.
    """
    curves: dict[str, Curve] = {}
    for row in rows:
        point = (str(row.get(chart.facet, "")), str(row[chart.x.field]))
        value = row[chart.y.field]
        if isinstance(value, int | float):
            curves.setdefault(str(row[chart.series]), {})[point] = value
    groups: list[list[str]] = []
    for name, curve in curves.items():
        for group in groups:
            drawn = curves[group[0]]
            if curve.keys() == drawn.keys() and all(abs(curve[x] - drawn[x]) < TINY for x in curve):
                group.append(name)
                break
        else:
            groups.append([name])
    return {name: " = ".join(group) for group in groups for name in group}


_HEIGHT = 190
_ALONE, _BESIDE = 360, 215  # the width of one panel, and of panels in two columns
PERCENT_AXIS = {"values": [0, 20, 40, 60, 80, 100]}

_ROW = 16  # the height of a case
_COLUMNS = 3
_ROOM = 0.32  # of the axis, for the numbers behind the points, if they have one decimal
_CLOSE = 20  # points; where scores are closer than that, numbers have two decimals


def draw_curves(chart: Chart, rows: Sequence[Row]) -> Spec:
    """Lines with points; colour, dash and shape tell the series apart."""
    names = merge_curves(rows, chart)
    order, styles = _order_styles(chart, rows, names)
    points: dict[tuple[object, ...], Spec] = {}  # those of curves with one name are there once
    for point in _make_points(chart, rows):
        point["series"] = names[point["series"]]
        points.setdefault((point["series"], point["x"], point.get("panel")), point)
    several = bool(chart.facet) and len(list_values(rows, chart.facet)) > 1
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
    facet = _facet("panel", list_values(rows, chart.facet), axis_title(chart.x))
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
    return list(codes), choose_styles(list(codes.values()))


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


def draw_panels(chart: Chart, rows: Sequence[Row]) -> Spec:
    """A panel for each series, with equal axes."""
    data = [{"panel": "", **point} for point in _make_points(chart, rows)]
    series = list_values(rows, chart.series)
    is_line = chart.mark == "line"
    draw = _small_curves if is_line else _cases
    return {
        "title": _title(chart),
        "data": {"values": data},
        "facet": _facet("series", series, axis_title(chart.x if is_line else chart.y)),
        "columns": min(4 if is_line else _COLUMNS, len(series)),
        "spec": draw(chart, data, list_values(data, "panel")),
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
        "sort": list_values(data, "x"),
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

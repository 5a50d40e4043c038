"""What figures show and how they look: rows, names, and colours that all readers tell apart."""

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


def styles_of(series: Sequence[str]) -> list[Style]:
    """A style for each series: well-known metrics have a fixed one, others get what is free.

    >>> [style.shape for style in styles_of(["lea", "W1", "muc"])]
    ['cross', 'circle', 'square']
    """
    taken = {_OF_METRIC[name] for name in series if name in _OF_METRIC}
    free = iter([style for style in STYLES if style not in taken] + list(STYLES))
    return [_OF_METRIC[name] if name in _OF_METRIC else next(free) for name in series]


_TITLE = {
    "fontSize": 13,
    "anchor": "start",
    "fontWeight": "bold",
    "offset": 10,
    "subtitleFontSize": 11,
    "subtitleColor": SOFT,
    "subtitlePadding": 4,
}
_AXIS = {
    "labelFontSize": 11,
    "titleFontSize": 12,
    "titleFontWeight": "normal",
    "titlePadding": 6,
    "domainColor": GREY,
    "tickColor": GREY,
    "gridColor": "#e4e4e4",
    "labelLimit": 0,
    "titleLimit": 0,
}
_HEADER = {
    "labelFontSize": 12,
    "labelFontWeight": "bold",
    "labelLimit": 0,
    "labelPadding": 4,
    "title": None,
    "titleFontSize": 12,
    "titleFontWeight": "normal",
    "titleLimit": 0,
}
_LEGEND = {
    "labelFontSize": 12,
    "labelLimit": 0,
    "symbolSize": 70,
    "symbolStrokeWidth": 1.8,
    "title": None,
    "titleFontSize": 12,
    "titleFontWeight": "normal",
    "orient": "bottom",
    "columnPadding": 16,
}


def config() -> dict[str, Any]:
    """Fonts, axes and legends of every figure, as new dictionaries that may be changed."""
    return {
        "font": FONT,
        "background": "white",
        "view": {"stroke": "#cccccc"},
        "title": dict(_TITLE),
        "axis": dict(_AXIS),
        "header": dict(_HEADER),
        "legend": dict(_LEGEND),
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
    """The titles of the metrics that tables show where nobody asks for others."""
    return {
        str(row["title"])
        for chart in result.charts
        for row in keep_well_known(select_rows(result, chart), chart)
    }


def values_of(rows: Sequence[Mapping[str, object]], column: str) -> list[str]:
    """The different values of a column, in the order of the rows."""
    return list(dict.fromkeys(str(row[column]) for row in rows))


def merge_curves(rows: Sequence[Row], chart: Chart) -> dict[str, str]:
    """For each curve what it is called: curves that lie on each other have one name together.

    B³, CEAFm and LEA are the same for whole entities. Three curves of which only the last can be
    seen would hide that.
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

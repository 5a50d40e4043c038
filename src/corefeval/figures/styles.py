"""How figures look: colours that colour-blind readers tell apart, and more than colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from corefeval.lab.measurement import THE_SIX

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
_OF_METRIC = dict(zip((*THE_SIX, "conll"), STYLES, strict=False))
MOST = len(STYLES)  # curves in one panel


def styles_of(series: Sequence[str]) -> list[Style]:
    """A style for each series: those of well-known metrics are theirs, the others get the rest.

    >>> [style.shape for style in styles_of(["lea", "W1", "muc"])]
    ['cross', 'circle', 'square']
    """
    taken = {_OF_METRIC[one] for one in series if one in _OF_METRIC}
    free = iter([style for style in STYLES if style not in taken] + list(STYLES))
    return [_OF_METRIC[one] if one in _OF_METRIC else next(free) for one in series]


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
    """Fonts, axes and legends of every figure, each time anew for who wants to change them."""
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

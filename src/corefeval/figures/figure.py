"""Figures: those of an experiment, and the files that can be made of them."""

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
from corefeval.figures.panels import curves, panels
from corefeval.figures.scorecard import scorecard
from corefeval.figures.styles import MOST, Spec, config, select_rows, values_of, well_known
from corefeval.lab import Chart, ExperimentResult
from corefeval.lab.experiments import Row

FigureFormat = Literal["svg", "png", "html"]
FORMATS: tuple[FigureFormat, ...] = get_args(FigureFormat)
_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"

_VERSION = "5.20"  # of Vega-Lite, so that a figure does not change with the library that draws it
_MIME = "application/vnd.vegalite.v5+json"
_RESOLUTION = 216.0  # of a PNG, in pixels to the inch of 72 units: three for each unit

MISSING = (
    "figures are drawn by vl-convert-python, which is not installed: "
    "pip install 'corefeval[charts]'"
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
        return {_MIME: dict(self.spec), "text/plain": repr(self)}

    @property
    def fingerprint(self) -> str:
        """A hash of the specification with its data: another figure has another one."""
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
    Curves that are the same are drawn and named as one.
    """
    made = []
    for number, chart in enumerate(result.charts, start=1):
        name = result.name if len(result.charts) == 1 else f"{result.name}-{number}"
        rows = select_rows(result, chart)
        if not rows:
            continue
        few = rows if len(values_of(rows, chart.series)) <= MOST else well_known(rows, chart)
        if chart.mark == "cell":
            few = well_known(rows, chart)
        made.append(_figure(name, chart, few))
        if everything and len(few) < len(rows):
            made.append(_figure(f"{name}-all", chart, rows))
    return made


def _figure(name: str, chart: Chart, rows: Sequence[Row]) -> Figure:
    draw: Callable[[Chart, Sequence[Row]], Spec] = panels
    if chart.mark == "cell":
        draw = scorecard
    elif chart.mark == "line" and len(values_of(rows, chart.series)) <= MOST:
        draw = curves
    spec = {"$schema": _SCHEMA, "title": chart.title, **draw(chart, rows), "config": config()}
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

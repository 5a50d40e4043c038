"""A figure, and the files that can be made of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Literal, get_args

from corefeval.diagnostics import UsageError

FigureFormat = Literal["svg", "png", "html"]
FORMATS: tuple[FigureFormat, ...] = get_args(FigureFormat)
Spec = dict[str, Any]

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
        drawn: str = _converter().vegalite_to_svg(dict(self.spec), vl_version=_VERSION)
        return f"{drawn.rstrip()}\n<!-- figure {self.fingerprint} -->\n"

    def png(self) -> bytes:
        """The figure as PNG, fine enough for print."""
        drawn: bytes = _converter().vegalite_to_png(
            dict(self.spec), vl_version=_VERSION, ppi=_RESOLUTION
        )
        return drawn

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


def can_draw() -> bool:
    """Whether the extra `charts` is installed."""
    return find_spec("vl_convert") is not None


def _converter() -> ModuleType:
    try:
        import vl_convert
    except ImportError:
        raise UsageError(MISSING) from None
    return vl_convert

"""Figures: what the lab's experiments give, as Vega-Lite charts and as tables of text.

A figure is a Vega-Lite specification with its data in it. Making one needs nothing; drawing it as
SVG, PNG or HTML needs the extra `charts`.

>>> from corefeval.lab import EXPERIMENTS
>>> [one.name for one in figures(EXPERIMENTS["splits"].run(metrics="muc, lea"))]
['splits']
"""

from __future__ import annotations

from corefeval.figures.figure import FORMATS, MISSING, Figure, FigureFormat, can_draw, figures
from corefeval.figures.tables import tables

__all__ = [
    "FORMATS",
    "MISSING",
    "Figure",
    "FigureFormat",
    "can_draw",
    "figures",
    "tables",
]

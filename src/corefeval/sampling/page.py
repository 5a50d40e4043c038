"""The page for labelling: a sheet with the texts that it needs, in one file without a network."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container
from importlib.resources import files

from corefeval._version import __version__
from corefeval.reports.page import embed, make_policy, make_template
from corefeval.sampling.frame import Frame

_WORDS = 8  # on each side of a mention that is listed


def make_page(frame: Frame, csv: str, documents: Container[str]) -> str:
    """The page of a sheet: its CSV, and the mentions of documents with a few words around them."""
    template, script, style = (
        files(__package__).joinpath(f"page.{ending}").read_text(encoding="utf-8")
        for ending in ("html.jinja", "js", "css")
    )
    mentions: dict[str, list[object]] = defaultdict(list)
    units = zip(frame.mentions.places, frame.mentions.spans, strict=True)
    spans = {place: span for place, span in units if place[0] in documents}
    shown = frame.show(spans.values(), _WORDS)
    for (document, name), span in spans.items():
        mentions[document].append([name, *shown[span]])
    return make_template(template).render(
        policy=make_policy(script, ""), version=__version__, style=style, script=script,
        data=embed({"csv": csv, "mentions": mentions}),
    )  # fmt: skip

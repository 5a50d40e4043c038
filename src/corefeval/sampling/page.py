"""The page for labelling: a sheet with the texts that it needs, in one file without a network."""

from __future__ import annotations

from collections.abc import Container
from importlib.resources import files
from typing import Any

from corefeval._version import __version__
from corefeval.model.text_tokens import text_of
from corefeval.reports.page import embed, make_policy, make_template
from corefeval.sampling.frame import Frame


def make_page(frame: Frame, csv: str, documents: Container[str]) -> str:
    """The page of a sheet: its CSV, and words or text of documents, with their mentions.

    A mention has its id, and start and end, or for plain Python its label.
    """
    template, script, style = (
        files(__package__).joinpath(f"page.{ending}").read_text(encoding="utf-8")
        for ending in ("html.jinja", "js", "css")
    )
    texts: dict[str, dict[str, Any]] = {}
    for number, name in enumerate(frame.documents):
        if name in documents:
            tokens = frame.find_tokens(number)
            text: object = text_of(tokens, number)
            if tokens is not None and tokens.has_column(number, "word"):
                text = tokens.column(number, "word")
            texts[name] = {"text": text, "mentions": []}
    units, labels = frame.mentions, frame.corpus.labels
    for (name, mention), (_, *edges) in zip(units.places, units.spans, strict=True):
        if name in texts:
            place = edges if labels is None else [str(labels[edges[0]])]
            texts[name]["mentions"].append([mention, *place])
    return make_template(template).render(
        policy=make_policy(script, ""), version=__version__, style=style, script=script,
        data=embed({"csv": csv, "documents": texts}),
    )  # fmt: skip

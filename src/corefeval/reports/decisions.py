"""The page on which people decide what annotators did not agree on: one HTML file."""

from __future__ import annotations

import hashlib
from typing import Any

from corefeval._version import __version__
from corefeval.consensus import Merged
from corefeval.consensus.decisions import COLUMNS, make_table
from corefeval.diagnostics import plural
from corefeval.model import Document
from corefeval.reports.page import Page, PlainTable
from corefeval.reports.payload import make_visible


class DecisionPage(Page):
    """A page of decisions: `.save(path)` writes it, `.html` is the text of it."""

    noun = "decisions"
    scripts = ("decisions",)
    styles = ("theme", "page", "decisions")
    has_charts = False

    @property
    def plain_table(self) -> PlainTable:
        """Everything that is contested: what it is about, and how many votes there are."""
        rows = [
            (case["text"], [case["other_text"], f"{case['votes']} of {case['of']}"])
            for case in self.payload["cases"]
        ]
        return ["Mention", "Linked with", "Votes"], rows

    @property
    def summary(self) -> str:
        """What the page is on."""
        return plural(len(self.payload["cases"]), "contested decision")


def make_decision_page(merged: Merged, *, title: str = "Contested decisions") -> DecisionPage:
    """The page of a consensus, with the texts of all documents in which anything is contested.

    A case is a line of the table of contested decisions, with the number of its document, and the
    entities that each annotator puts its mentions into.
    """
    units, table = merged.units, make_table(merged.rows())
    cases = [
        dict(zip(COLUMNS, line.split("\t"), strict=True))
        | {
            "place": int(units.document[unit]),
            "entities": units.entity[:, [unit, partner]].tolist(),
        }
        for (_, unit, partner, *_), line in zip(
            merged.contested, table.split("\n")[1:-1], strict=True
        )
    ]
    payload: dict[str, Any] = {
        "title": title,
        "version": __version__,
        "id": hashlib.sha256(table.encode("utf-8", "replace")).hexdigest()[:16],
        "header": list(COLUMNS),
        "annotators": list(merged.annotators),
        "documents": {
            str(place): _describe_text(units.corpus[place])
            for place in sorted({case["place"] for case in cases})
        },
        "cases": cases,
    }
    return DecisionPage(make_visible(payload), merged.notices)


def _describe_text(document: Document) -> dict[str, Any]:
    """The words of a document, or characters of a text, and where sentences begin."""
    text, tokens = document.text, document.corpus.tokens
    return {
        "name": str(document.id),
        "words": list(text or (document.words if document.has_words and text is None else [])),
        "starts": [] if tokens is None else list(map(int, tokens.sentence_starts(document.index))),
        "glue": " " if text is None else "",
    }

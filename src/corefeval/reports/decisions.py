"""The page on which people decide what annotators did not agree on: one HTML file."""

from __future__ import annotations

import hashlib
from typing import Any, ClassVar

from corefeval._version import __version__
from corefeval.consensus import Merged
from corefeval.consensus.contests import Contest
from corefeval.consensus.decisions import COLUMNS, WORDS, make_table
from corefeval.diagnostics import plural
from corefeval.model import Document
from corefeval.reports.page import Page, PlainTable
from corefeval.reports.payload import make_visible

# What an annotator says who has no vote, is for it, or against it.
_SAYINGS = {"mention": ("not marked", "marked"), "link": ("has not both", "same", "apart")}


class DecisionPage(Page):
    """A page of decisions: `.save(path)` writes it, `.html` is the text of it."""

    noun: ClassVar[str] = "decisions"
    scripts: ClassVar[tuple[str, ...]] = ("decisions",)
    styles: ClassVar[tuple[str, ...]] = ("theme", "page", "decisions")
    has_charts: ClassVar[bool] = False

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
    """The page of a consensus, with the texts of all documents in which anything is contested."""
    table = make_table(merged.rows())
    cases = [
        dict(zip(COLUMNS, line.split("\t"), strict=True)) | _describe_case(merged, contest)
        for contest, line in zip(merged.contested, table.split("\n")[1:-1], strict=True)
    ]
    payload: dict[str, Any] = {
        "title": title,
        "version": __version__,
        "id": hashlib.sha256(table.encode("utf-8", "replace")).hexdigest()[:16],
        "header": list(COLUMNS),
        "answers": {kind: list(words) for kind, words in WORDS.items()},
        "annotators": list(merged.annotators),
        "documents": {
            str(number): _describe_text(merged.units.corpus[number])
            for number in sorted({case["place"] for case in cases})
        },
        "cases": cases,
    }
    return DecisionPage(make_visible(payload), merged.notices)


def _describe_case(merged: Merged, contest: Contest) -> dict[str, Any]:
    """What the page shows of a contest: the place of the document, spans, and what all say."""
    units = merged.units
    rows = [unit for unit in (contest.unit, contest.partner) if unit >= 0]
    mentions = [units.mentions[row] for row in rows] if units.corpus.labels is None else []
    no_vote, *words = _SAYINGS[contest.kind]
    return {
        "place": int(units.document[contest.unit]),
        "spans": [m if isinstance(m[0], list) else [m] for m in mentions],
        "says": [
            no_vote if min(entities) < 0 else words[entities[0] != entities[-1]]
            for entities in units.entity[:, rows].tolist()
        ],
    }


def _describe_text(document: Document) -> dict[str, Any]:
    """The words of a document, or characters of a text, and where sentences begin."""
    text, tokens = document.text, document.corpus.tokens
    return {
        "name": str(document.id),
        "words": list(text or (document.words if document.has_words and text is None else [])),
        "starts": [] if tokens is None else list(map(int, tokens.sentence_starts(document.index))),
        "glue": " " if text is None else "",
    }

"""The page on which people decide what annotators did not agree on: one HTML file."""

from __future__ import annotations

import hashlib
from typing import Any, ClassVar

from corefeval._version import __version__
from corefeval.consensus import Merged
from corefeval.consensus.contests import Contest
from corefeval.consensus.decisions import COLUMNS, WORDS, make_table
from corefeval.diagnostics import plural
from corefeval.reports.page import Page
from corefeval.reports.payload import make_visible


class DecisionPage(Page):
    """A page of decisions: `.save(path)` writes it, `.html` is the text of it."""

    noun: ClassVar[str] = "decisions"
    scripts: ClassVar[tuple[str, ...]] = ("decisions",)
    styles: ClassVar[tuple[str, ...]] = ("theme", "page", "decisions")
    has_charts: ClassVar[bool] = False

    @property
    def plain_table(self) -> tuple[list[str], list[tuple[str, list[str]]]]:
        """Everything that is contested: what it is about, and how many votes there are."""
        rows = [
            (case["text"], [case["otherText"], f"{case['votes']} of {case['of']}"])
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
    lines = table.split("\n")
    cases = [
        _describe_case(merged, contest, line)
        for contest, line in zip(merged.contested, lines[1:-1], strict=True)
    ]
    numbers = sorted({int(merged.units.document[contest.unit]) for contest in merged.contested})
    payload: dict[str, Any] = {
        "title": title,
        "version": __version__,
        "id": hashlib.sha256(table.encode("utf-8", "replace")).hexdigest()[:16],
        "header": list(COLUMNS),
        "answers": {kind: list(words) for kind, words in WORDS.items()},
        "annotators": list(merged.annotators),
        "documents": {str(number): _describe_text(merged, number) for number in numbers},
        "cases": cases,
    }
    return DecisionPage(make_visible(payload), merged.notices)


def _describe_case(merged: Merged, contest: Contest, line: str) -> dict[str, Any]:
    """A contest for the page; `line` is its row of the table, without the decision."""
    entity, cells = merged.units.entity, line.split("\t")
    units = [unit for unit in (contest.unit, contest.partner) if unit >= 0]
    says = []
    for row in entity[:, units].tolist():
        if len(row) == 1:
            says.append("marked" if row[0] >= 0 else "not marked")
        elif min(row) < 0:
            says.append("has not both")
        else:
            says.append("same" if row[0] == row[1] else "apart")
    return {
        "kind": contest.kind,
        "document": int(merged.units.document[contest.unit]),
        "spans": [_parts(merged.units.mentions[unit]) for unit in units],
        "votes": contest.votes,
        "of": contest.of,
        "size": contest.size,
        "stakes": contest.stakes,
        "outcome": contest.outcome,
        "text": cells[COLUMNS.index("text")],
        "otherText": cells[COLUMNS.index("other_text")],
        "says": says,
        "line": cells[:-1],
    }


def _parts(mention: Any) -> list[list[int]]:
    """Start and end of the parts of a mention; none of a plain one."""
    if not isinstance(mention, tuple) or not mention:
        return []
    return [list(part) for part in (mention if isinstance(mention[0], tuple) else [mention])]


def _describe_text(merged: Merged, number: int) -> dict[str, Any]:
    """The words of a document, or characters of a text, and where sentences begin."""
    document = merged.units.corpus[number]
    tokens = merged.units.corpus.tokens
    words: list[str] = []
    if document.text is not None:
        words = list(document.text)
    elif "word" in document.columns:
        words = document.words
    starts = [] if tokens is None else [int(start) for start in tokens.sentence_starts(number)]
    glue = "" if document.text is not None else " "
    return {"name": str(document.id), "words": words, "starts": starts, "glue": glue}

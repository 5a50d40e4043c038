"""Errors one by one, for people: where they are, what they say, which entities they concern."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache

import numpy as np

from corefeval.analysis.errors.classification import Classification
from corefeval.analysis.errors.kinds import Kind
from corefeval.model import Corpus, Document
from corefeval.model.arrays import IntArray
from corefeval.model.text_tokens import TextTokens
from corefeval.model.views import Mention


@dataclass(frozen=True, slots=True)
class Place:
    """A mention: its token positions (from 0, end exclusive) and its text.

    Plain Python mentions have their label as text, and no positions.
    """

    text: str
    start: int | None = None
    end: int | None = None

    def __str__(self) -> str:
        if self.start is None or self.end is None:
            return self.text
        span = f"{self.start}" if self.end == self.start + 1 else f"{self.start}–{self.end - 1}"
        return f"{span} {self.text}".strip()


@dataclass(frozen=True, slots=True)
class ErrorInstance:
    """One error: its kind, its document and the mentions that are wrong.

    `key_entity` and `response_entity` are the entities' names in the files. `instead` is the right
    span of a wrong one; for parts of conflated and divided entities it is the first mention of the
    part that they are wrongly with, or apart from.
    """

    kind: Kind
    document: str
    mentions: tuple[Place, ...]
    key_entity: str | None = None
    response_entity: str | None = None
    instead: Place | None = None

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


class Lookup:
    """Texts, places and names of what a classification numbers."""

    def __init__(self, errors: Classification) -> None:
        self.errors = errors
        self._words = cache(self._document_words)

    def document(self, index: int) -> str:
        """A document's id."""
        return str(self.errors.key.documents[index])

    def entity(self, side: Corpus, index: int) -> str | None:
        """An entity's name in its file; its number where it has none. −1 is none at all."""
        if index < 0:
            return None
        return side.names[index] if side.names is not None else str(index)

    def key_mention(self, row: int) -> Place:
        """A mention of the key."""
        return self._place(self.errors.key, row)

    def response_mention(self, row: int) -> Place:
        """A mention of the response."""
        return self._place(self.errors.response, row)

    def item(self, item: int) -> Place:
        """A mention of the response, or one that it lacks."""
        items = self.errors.items
        if item < items.n_response:
            return self.response_mention(item)
        return self.key_mention(int(items.key_row[item]))

    def _place(self, corpus: Corpus, row: int) -> Place:
        if corpus.labels is not None:
            return Place(str(corpus.labels[row]))
        document = int(corpus.mention_document[row])
        mention = Mention(Document(corpus, document), row)
        words = self._words(document)
        text = ""
        if isinstance(words, str):
            text = words[mention.start : mention.end]
        elif words is not None and mention.end <= len(words):
            text = " ".join(words[position] for position in mention.positions)
        return Place(text, mention.start, mention.end)

    def _document_words(self, document: int) -> list[str] | str | None:
        """The words of a document, from the side that has them; the whole text without tokens."""
        for corpus in (self.errors.key, self.errors.response):
            if isinstance(corpus.tokens, TextTokens):
                return corpus.tokens.texts[document]
            if corpus.tokens is not None and "word" in corpus.tokens.columns:
                return corpus.tokens.column(document, "word")
        return None


def listed(errors: Classification, kind: Kind) -> Iterator[ErrorInstance]:
    """All errors of a kind, document by document in the order of the text."""
    items, lookup = errors.items, Lookup(errors)
    for group in _grouped(errors, kind):
        first = int(group[0])
        instead: Place | None = None
        if kind == "span":
            instead = lookup.key_mention(int(items.key_row[first]))
        elif kind in ("conflated", "divided"):
            instead = lookup.item(_first_of_main(errors, kind, first))
        yield ErrorInstance(
            kind,
            lookup.document(int(items.document[first])),
            tuple(lookup.item(item) for item in group.tolist()),
            lookup.entity(errors.key, int(items.meaning[first])),
            lookup.entity(errors.response, int(items.owner[first])),
            instead,
        )


def _grouped(errors: Classification, kind: Kind) -> list[IntArray]:
    """The items of each error of a kind, in the order of the text."""
    items = errors.items
    rows = np.flatnonzero(errors.of_kind(kind))
    rows = rows[np.lexsort((items.place[rows], items.document[rows]))]
    if kind in ("span", "extra mention", "missing mention"):
        return [rows[at : at + 1] for at in range(rows.size)]
    numbers = {
        "extra entity": items.owner,
        "missing entity": items.meaning,
    }.get(kind, errors.parts.of_item)[rows]
    _, first, which = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(first[which.reshape(-1)], kind="stable")
    bounds = np.flatnonzero(np.diff(first[which.reshape(-1)][order])) + 1
    return np.split(rows[order], bounds) if rows.size else []


def _first_of_main(errors: Classification, kind: Kind, item: int) -> int:
    """The first item of the part that is right where this one is wrong."""
    items, parts = errors.items, errors.parts
    if kind == "conflated":
        main = parts.main_of_response[items.owner[item]]
    else:
        main = parts.main_of_key[items.meaning[item]]
    return int(parts.first_item[main])

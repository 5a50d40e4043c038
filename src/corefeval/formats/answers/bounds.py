"""What the score of answers could have been: other readings of the same ledger.

Leaving out what cannot be placed raises precision, an answer that was cut off has no chance behind
the cut, and a string with several places may mean another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

import numpy as np

from corefeval.model import Corpus
from corefeval.model.construction import in_textual_order
from corefeval.model.ledger import Entry, Ledger, Span
from corefeval.model.text_tokens import text_of

# Name, key, response, and what becomes of lost mentions.
Variant = tuple[str, Corpus, Corpus, Literal["drop", "strict"]]


def variants_of(key: Corpus, response: Corpus) -> Iterator[Variant]:
    """The other readings of a response that apply to it, each with the corpora to score.

    `drop` and `strict` leave lost mentions out or count them; `reached` has only the key's mentions
    in the text that the answers reached; `lowest` and `highest` have strings with several places
    all wrong, and all as the key would like them.
    """
    ledger = response.ledger
    if ledger is None:
        return
    yield "drop", key, response, "drop"
    if ledger.lost:
        yield "strict", key, response, "strict"
    if any(coverage.ends_early for coverage in ledger.documents):
        yield "reached", _cut_unreached(key, ledger), response, "drop"
    unsure = [entry for entry in ledger.entries if entry.places > 1 and entry.is_placed]
    if unsure:
        wrong = {_place(entry): None for entry in unsure}
        doubted = Ledger(tuple(replace(entry, state="lost") for entry in unsure))
        yield "lowest", key, replace(_move(response, wrong), ledger=doubted), "strict"
        liked = {_place(entry): entry.best for entry in unsure if entry.best is not None}
        yield "highest", key, _move(response, liked), "drop"


def _place(entry: Entry) -> tuple[str, str, Span]:
    return entry.document, entry.entity, (entry.start, entry.end)


def _cut_unreached(key: Corpus, ledger: Ledger) -> Corpus:
    """The key without mentions behind the last token that the answer to their document has."""
    if key.mention_end is None or key.tokens is None or text_of(key.tokens, 0) is not None:
        return key
    behind = {
        coverage.document: coverage.reached for coverage in ledger.documents if coverage.ends_early
    }
    limit = [behind.get(str(identifier), 1 << 60) for identifier in key.documents]
    limits = np.array(limit, dtype=np.int64)
    return key.keep_mentions(key.mention_end <= limits[key.mention_document])


def _move(corpus: Corpus, places: Mapping[tuple[str, str, Span], Span | None]) -> Corpus:
    """The corpus with some mentions on other tokens, or left out."""
    start, end, names = corpus.mention_start, corpus.mention_end, corpus.names
    if start is None or end is None or names is None:
        return corpus
    start, end = start.copy(), end.copy()
    keep = np.ones(corpus.n_mentions, dtype=np.bool_)
    owners = [str(corpus.documents[d]) for d in corpus.mention_document.tolist()]
    entities = [names[entity] for entity in corpus.mention_entity.tolist()]
    spans = zip(start.tolist(), end.tolist(), strict=True)
    for row, place in enumerate(zip(owners, entities, spans, strict=True)):
        if place in places:
            new = places[place]
            keep[row] = new is not None
            start[row], end[row] = new or place[2]
    moved = replace(corpus, mention_start=start, mention_end=end).keep_mentions(keep)
    return in_textual_order(moved)

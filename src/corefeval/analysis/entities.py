"""The largest entities of a corpus, one by one: who they are, where, and what became of them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import partial

import numpy as np

from corefeval.analysis.errors.classification import Classification
from corefeval.analysis.errors.listing import Lookup, SideName
from corefeval.display import Record
from corefeval.features import Features
from corefeval.features.kinds import kinds_if_known, name_entity
from corefeval.model import Corpus, Document
from corefeval.model.arrays import IntArray, all_false, looked_up, plain_rows, stable_order
from corefeval.model.views import Mention


@dataclass(frozen=True, slots=True)
class EntityRow(Record):
    """An entity: the mention that names it, how many mentions it has, and where.

    `first` and `last` are the positions where its first and last mention begin, `first_sentence`
    and `last_sentence` the numbers of their sentences, from 1; None where these are not known. Of
    an entity of a key that a response was compared with, `recall` is the share of its mentions that
    the response has, and `together` the share that one response entity has. `merged` are the other
    entities of the key in that one, `split` all response entities that have some of its mentions:
    names, each with the number of mentions, the largest first.
    """

    document: str
    name: str
    mentions: int
    first: int | None = None
    last: int | None = None
    first_sentence: int | None = None
    last_sentence: int | None = None
    recall: float | None = None
    together: float | None = None
    merged: tuple[tuple[str, int], ...] = ()
    split: tuple[tuple[str, int], ...] = ()


def list_entities(corpus: Corpus, number: int) -> list[EntityRow]:
    """The `number` largest entities, equally large ones in the order of the text."""
    kinds = kinds_if_known(Features(corpus))
    rows = []
    for members in _split_largest(corpus, number):
        document = Document(corpus, int(corpus.mention_document[members[0]]))
        has_words = corpus.labels is not None or "word" in document.columns
        name = Mention(document, int(members[0])).entity.name
        if has_words or document.text is not None:
            named = name_entity(members, kinds, partial(_read_text, document))
            name = _read_text(document, named)
        places = _find_places(corpus, members)
        rows.append(EntityRow(str(document.id), name, int(members.size), *places))
    return rows


def _read_text(document: Document, row: int) -> str:
    return Mention(document, row).text


def list_outcomes(errors: Classification, number: int) -> list[EntityRow]:
    """The `number` largest entities of the key, with what the response made of them."""
    key, response, partner = errors.key, errors.response, errors.alignment.partner
    owner = looked_up(response.mention_entity, partner)  # −1 for a mention without a partner
    lookup = Lookup(errors)

    def name(side: SideName, corpus: Corpus, entity: int) -> str:
        rows = np.flatnonzero(corpus.mention_entity == entity)
        return lookup.mention(corpus, lookup.name(side, rows)).text

    rows = []
    for members in _split_largest(key, number):
        entity, size = int(key.mention_entity[members[0]]), int(members.size)
        parts = _count_largest_first(owner[members])
        shared = owner == parts[0][0] if parts else all_false(owner.size)
        merged = _count_largest_first(key.mention_entity[shared])
        rows.append(
            EntityRow(
                lookup.document(int(key.entity_document[entity])),
                name("key", key, entity),
                size,
                *_find_places(key.on_own_text, members),
                recall=sum(count for _, count in parts) / size,
                together=parts[0][1] / size if parts else 0.0,
                merged=tuple((name("key", key, e), count) for e, count in merged if e != entity),
                split=tuple((name("response", response, e), count) for e, count in parts),
            )
        )
    return rows


def _count_largest_first(entities: IntArray) -> list[tuple[int, int]]:
    """Each entity with how often it occurs, the most frequent first; −1 is none."""
    numbers, counts = np.unique(entities[entities >= 0], return_counts=True)
    order = stable_order(-counts)
    return [*plain_rows(numbers[order], counts[order])]


def _split_largest(corpus: Corpus, number: int) -> list[IntArray]:
    """The rows of the mentions of the largest entities, in the order of the text."""
    order = stable_order(corpus.mention_entity)
    groups = np.split(order, np.cumsum(corpus.entity_sizes)[:-1]) if order.size else []
    groups = [group for group in groups if group.size]
    return sorted(groups, key=lambda group: (-group.size, group[0]))[:number]


def _find_places(
    corpus: Corpus, members: IntArray
) -> tuple[int | None, int | None, int | None, int | None]:
    """Positions and sentences of the first and the last mention."""
    if corpus.mention_start is None:
        return None, None, None, None
    tokens, document = corpus.tokens, int(corpus.mention_document[members[0]])
    first, last = corpus.mention_start[members[[0, -1]]].tolist()
    if tokens is None or not tokens.marks_sentences:
        return first, last, None, None
    starts = tokens.sentence_starts(document)
    return first, last, bisect_right(starts, first), bisect_right(starts, last)

"""Errors, and the mentions and entities that cost most, one by one and for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Literal

import numpy as np

from corefeval.analysis.errors.classification import KINDS, Classification, ErrorKind
from corefeval.analysis.errors.costs import Attribution
from corefeval.analysis.statistics import EntityRow, find_places_of, split_largest
from corefeval.display import Record
from corefeval.features.kinds import kinds_if_known, name_entity
from corefeval.model import Corpus, Document
from corefeval.model.arrays import (
    FloatArray,
    IntArray,
    all_false,
    find_places,
    looked_up,
    plain_rows,
    stable_order,
)
from corefeval.model.categories import Categories
from corefeval.model.moving import show_on_key
from corefeval.model.text_tokens import text_of
from corefeval.model.views import Mention

SideName = Literal["key", "response"]


@dataclass(frozen=True, slots=True)
class Place:
    """A mention: its token positions (from 0, end exclusive) and its text.

    Plain Python mentions have their label as text, and no positions. `match` is the key mention
    that one of the response is matched with, where that has other tokens.
    """

    text: str
    start: int | None = None
    end: int | None = None
    match: Place | None = None

    def __str__(self) -> str:
        if self.start is None or self.end is None:
            return self.text
        span = f"{self.start}" if self.end == self.start + 1 else f"{self.start}–{self.end - 1}"
        match = f" (matched with {self.match})" if self.match is not None else ""
        return f"{span} {self.text}".strip() + match


@dataclass(frozen=True, slots=True)
class ErrorInstance(Record):
    """One error: its kind, its document and the mentions that are wrong.

    `key_entity` and `response_entity` are the entities' names in the files, or for sets and
    bridging the antecedents of either side. For a wrong span `instead` is the right one. For a part
    of a conflated or divided entity it is a mention that names the largest part, which this part
    should be apart from, or together with. `name` is the place in `mentions` of the mention that
    names them all.
    """

    kind: str
    document: str
    mentions: tuple[Place, ...]
    key_entity: str | None = None
    response_entity: str | None = None
    instead: Place | None = None
    name: int = 0


class Lookup:
    """Texts, places and names of what a classification numbers."""

    def __init__(self, errors: Classification) -> None:
        self.errors = errors
        self._words = cache(self._document_words)
        self._shown = cache(partial(show_on_key, errors.key))
        self._kinds = cache(self._mention_kinds)

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
        return self.mention(self.errors.key, row)

    def response_mention(self, row: int) -> Place:
        """A mention of the response, with what it is matched with if that has other tokens."""
        place, prepared = self.mention(self.errors.response, row), self.errors.prepared
        if prepared.matches.weight is None:
            return place
        partner = int(self.errors.alignment.swapped.partner[row])
        codes = prepared.key_mentions.codes, prepared.response_mentions.codes
        if partner < 0 or codes[0][partner] == codes[1][row]:
            return place
        return replace(place, match=self.key_mention(partner))

    def item(self, item: int) -> Place:
        """A mention of the response, or one that it lacks."""
        items = self.errors.items
        if item < items.n_response:
            return self.response_mention(item)
        return self.key_mention(int(items.key_row[item]))

    def name(self, side: SideName, rows: IntArray, corpus: Corpus | None = None) -> int:
        """The row of the mention that names these ones; `corpus` replaces the side's own corpus."""
        shown = corpus or (self.errors.key if side == "key" else self.errors.response)
        kinds = self._kinds(side, corpus)
        return name_entity(rows, kinds, lambda row: self.mention(shown, row).text)

    def name_items(self, items: IntArray) -> int:
        """The item that names these ones, which are all in the response or all missing from it."""
        table = self.errors.items
        if items[0] < table.n_response:
            return self.name("response", items)
        rows = table.key_row[items]
        return int(items[rows == self.name("key", rows)][0])

    def _mention_kinds(self, side: SideName, corpus: Corpus | None) -> Categories | None:
        prepared = self.errors.prepared
        features = prepared.key_features if side == "key" else prepared.response_features
        return kinds_if_known(features if corpus is None else features.of(corpus))

    def mention(self, corpus: Corpus, row: int) -> Place:
        """A mention of any corpus on the same documents."""
        if corpus.labels is not None:
            return Place(str(corpus.labels[row]))
        document = int(corpus.mention_document[row])
        mention = Mention(Document(corpus.on_own_text, document), row)
        words = self._words(document, None if corpus.own_text is None else corpus)
        text = ""
        if isinstance(words, str):
            text = words[mention.start : mention.end]
        elif words is not None and mention.end <= len(words):
            text = " ".join(words[position] for position in mention.positions)
        shown = self._shown(corpus)
        if shown is not corpus:
            mention = Mention(Document(shown, document), row)
        return Place(text, mention.start, mention.end)

    def _document_words(self, document: int, side: Corpus | None) -> list[str] | str | None:
        """The words of a document, from the side that has them; the whole text without tokens.

        A `side` whose tokens are not those of the other has words of its own.
        """
        sides = (self.errors.key, self.errors.response) if side is None else (side.on_own_text,)
        for corpus in sides:
            text = text_of(corpus.tokens, document)
            if text is not None:
                return text
            if corpus.tokens is not None and corpus.tokens.has_column(document, "word"):
                return corpus.tokens.column(document, "word")
        return None


def list_errors(errors: Classification, kind: ErrorKind) -> Iterator[ErrorInstance]:
    """All errors of a kind, document by document in the order of the text."""
    items, lookup = errors.items, Lookup(errors)
    main, entity = errors.parts.main_of_response, items.owner
    if kind == "divided":
        main, entity = errors.parts.main_of_key, items.meaning
    parts = _split_parts(errors) if kind in ("conflated", "divided") else []
    for group in _group_items(errors, kind):
        first = int(group[0])
        instead: Place | None = None
        if kind == "span":
            instead = lookup.key_mention(int(items.key_row[first]))
        elif parts:
            instead = lookup.item(lookup.name_items(parts[main[entity[first]]]))
        yield ErrorInstance(
            kind,
            lookup.document(int(items.document[first])),
            tuple(lookup.item(item) for item in group.tolist()),
            lookup.entity(errors.key, int(items.meaning[first])),
            lookup.entity(errors.response, int(items.owner[first])),
            instead,
            int(np.flatnonzero(group == lookup.name_items(group))[0]),
        )


def _group_items(errors: Classification, kind: ErrorKind) -> list[IntArray]:
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
    order = stable_order(first[which.reshape(-1)])
    bounds = np.flatnonzero(np.diff(first[which.reshape(-1)][order])) + 1
    return np.split(rows[order], bounds) if rows.size else []


def _split_parts(errors: Classification) -> list[IntArray]:
    """The items of each part, in the order of the text."""
    parts = errors.parts
    order = np.lexsort((errors.items.place, parts.of_item))
    order = order[np.searchsorted(parts.of_item[order], 0) :]
    return np.split(order, np.cumsum(parts.count)[:-1])


@dataclass(frozen=True, slots=True)
class MentionCost(Record):
    """What a mention costs: its shares of the loss of recall and of precision, by metric.

    `cost` is the mean of both, and over the metrics where there are several. `errors` are the kinds
    of errors that the mention itself is; none where only others of its entity are wrong. A key
    mention with a wrong span in the response is there with its right one, and that entity.
    """

    document: str
    mention: Place
    errors: tuple[ErrorKind, ...]
    key_entity: str | None
    response_entity: str | None
    cost: float
    recall: Mapping[str, float]
    precision: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class EntityCost(Record):
    """What an entity costs: a key entity's share of lost recall, a response entity's of precision.

    `parts` is the number of entities of the other side that its mentions are in, `alone` the number
    of its mentions that the other side lacks, `mention` the one that names it and `loss` its shares
    by metric. `cost` is half the mean loss, so that it compares with the costs of mentions.
    """

    side: SideName
    document: str
    name: str | None
    mention: Place
    size: int
    parts: int
    alone: int
    cost: float
    loss: Mapping[str, float]


def rank_mentions(
    errors: Classification, attributions: Sequence[Attribution], number: int
) -> list[MentionCost]:
    """The mentions that cost most, at most `number`; those that cost nothing are left out."""
    n_key, joint_row = errors.key.n_mentions, errors.joint_row
    total = n_key + int((joint_row >= n_key).sum())
    recall, precision = {}, {}
    for attribution in attributions:
        if attribution.key_mentions is None or attribution.response_mentions is None:
            continue
        recall[attribution.metric] = np.concatenate(
            (attribution.key_mentions, np.zeros(total - n_key))
        )
        precision[attribution.metric] = np.zeros(total)
        precision[attribution.metric][joint_row] = attribution.response_mentions
    if not recall:
        return []
    cost = (np.mean(list(recall.values()), axis=0) + np.mean(list(precision.values()), axis=0)) / 2
    response_row = find_places(joint_row, total)
    lookup = Lookup(errors)
    return [
        _make_mention_cost(
            lookup, place, int(response_row[place]), float(cost[place]), recall, precision
        )
        for place in _find_dearest(cost, number).tolist()
    ]


def _make_mention_cost(
    lookup: Lookup,
    place: int,
    response_row: int,
    cost: float,
    recall: Mapping[str, FloatArray],
    precision: Mapping[str, FloatArray],
) -> MentionCost:
    """What a mention costs; `place` numbers those of the key, then those of the response alone."""
    errors, items = lookup.errors, lookup.errors.items
    key_row = place if place < errors.key.n_mentions else -1
    item = response_row
    if item < 0:  # a missing mention, or the right span of a wrong one
        item = int(np.flatnonzero(items.key_row == key_row)[0])
    mention = lookup.key_mention(key_row) if key_row >= 0 else lookup.response_mention(response_row)
    document = int(items.document[item])
    key_entity = int(errors.key.mention_entity[key_row]) if key_row >= 0 else -1
    return MentionCost(
        lookup.document(document),
        mention,
        tuple(kind for kind in KINDS if errors.of_kind(kind)[item]),
        lookup.entity(errors.key, key_entity),
        lookup.entity(errors.response, int(items.owner[item])),
        cost,
        {metric: float(shares[place]) for metric, shares in recall.items()},
        {metric: float(shares[place]) for metric, shares in precision.items()},
    )


def rank_entities(
    errors: Classification, attributions: Sequence[Attribution], number: int
) -> list[EntityCost]:
    """The entities of both sides that cost most, at most `number`, without those at no cost."""
    if not attributions:
        return []
    key = {attribution.metric: attribution.key_entities for attribution in attributions}
    response = {attribution.metric: attribution.response_entities for attribution in attributions}
    losses = {metric: np.concatenate((shares, response[metric])) for metric, shares in key.items()}
    cost = np.mean(list(losses.values()), axis=0) / 2
    n_key = errors.key.n_entities
    lookup = Lookup(errors)
    costs = []
    for place in _find_dearest(cost, number).tolist():
        loss = {metric: float(shares[place]) for metric, shares in losses.items()}
        side: SideName = "key" if place < n_key else "response"
        index = place if place < n_key else place - n_key
        costs.append(_make_entity_cost(lookup, side, index, float(cost[place]), loss))
    return costs


def _make_entity_cost(
    lookup: Lookup, side: SideName, index: int, cost: float, loss: Mapping[str, float]
) -> EntityCost:
    """What an entity costs, and how many entities of the other side have its mentions."""
    errors = lookup.errors
    alignment = errors.alignment if side == "key" else errors.alignment.swapped
    corpus = errors.key if side == "key" else errors.response
    rows = np.flatnonzero(corpus.mention_entity == index)
    twins = alignment.partner[rows]
    partner_entities = alignment.response.mention_entity[twins[twins >= 0]]
    named = lookup.name(side, rows)
    return EntityCost(
        side,
        lookup.document(int(corpus.entity_document[index])),
        lookup.entity(corpus, index),
        lookup.key_mention(named) if side == "key" else lookup.response_mention(named),
        int(rows.size),
        int(np.unique(partner_entities).size),
        int((twins < 0).sum()),
        cost,
        loss,
    )


def _find_dearest(cost: FloatArray, number: int) -> IntArray:
    order = stable_order(-cost)[: max(number, 0)]
    dear: IntArray = order[cost[order] > 0]
    return dear


def list_outcomes(errors: Classification, number: int) -> list[EntityRow]:
    """The `number` largest entities of the key, with what the response made of them."""
    key, response, partner = errors.key, errors.response, errors.alignment.partner
    owner = looked_up(response.mention_entity, partner)  # −1 for a mention without a partner
    lookup = Lookup(errors)

    def name(side: SideName, corpus: Corpus, entity: int) -> str:
        rows = np.flatnonzero(corpus.mention_entity == entity)
        return lookup.mention(corpus, lookup.name(side, rows)).text

    rows = []
    for members in split_largest(key, number):
        entity, size = int(key.mention_entity[members[0]]), int(members.size)
        parts = _count_largest_first(owner[members])
        shared = owner == parts[0][0] if parts else all_false(owner.size)
        merged = _count_largest_first(key.mention_entity[shared])
        rows.append(
            EntityRow(
                lookup.document(int(key.entity_document[entity])),
                name("key", key, entity),
                size,
                *find_places_of(key.on_own_text, members),
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

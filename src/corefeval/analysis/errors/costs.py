"""The most expensive mentions and entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

from corefeval.analysis.errors.attribution import Attribution
from corefeval.analysis.errors.classification import Classification
from corefeval.analysis.errors.kinds import KINDS, Kind
from corefeval.analysis.errors.listing import Lookup, Place
from corefeval.model.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class MentionCost:
    """What a mention costs: its shares of the loss of recall and of precision, by metric.

    `cost` is the mean of both, and over the metrics where there are several. `errors` are the kinds
    of errors that the mention itself is; none where only others of its entity are wrong. A key
    mention with a wrong span in the response is there with its right one, and that entity.
    """

    document: str
    mention: Place
    errors: tuple[Kind, ...]
    key_entity: str | None
    response_entity: str | None
    cost: float
    recall: Mapping[str, float]
    precision: Mapping[str, float]

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class EntityCost:
    """What an entity costs: a key entity's share of the loss of recall, a response entity's of
    precision, by metric.

    `parts` is the number of entities of the other side that its mentions are in, `alone` the number
    of its mentions that the other side lacks, and `first` its first mention. `cost` is half the
    mean loss, so that it compares with the costs of mentions.
    """

    side: Literal["key", "response"]
    document: str
    name: str | None
    first: Place
    size: int
    parts: int
    alone: int
    cost: float
    loss: Mapping[str, float]

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


def mention_costs(
    errors: Classification, attributions: Sequence[Attribution], number: int
) -> list[MentionCost]:
    """The mentions that cost most, at most so many; those that cost nothing are left out."""
    n_key, key_of = errors.key.n_mentions, errors.alignment.swapped.partner
    extra = np.flatnonzero(key_of < 0)
    group = key_of.copy()  # key mentions first, extra ones behind them
    group[extra] = n_key + np.arange(extra.size)
    recall, precision = {}, {}
    for one in attributions:
        if one.key_mentions is None or one.response_mentions is None:
            continue
        recall[one.metric] = np.concatenate((one.key_mentions, np.zeros(extra.size)))
        precision[one.metric] = np.zeros(n_key + extra.size)
        precision[one.metric][group] = one.response_mentions
    if not recall:
        return []
    cost = (np.mean(list(recall.values()), axis=0) + np.mean(list(precision.values()), axis=0)) / 2
    row_of = np.full(cost.size, -1, dtype=np.int64)
    row_of[group] = np.arange(group.size)
    return [
        _mention(errors, place, int(row_of[place]), float(cost[place]), recall, precision)
        for place in _dearest(cost, number).tolist()
    ]


def _mention(
    errors: Classification,
    place: int,
    response_row: int,
    cost: float,
    recall: Mapping[str, FloatArray],
    precision: Mapping[str, FloatArray],
) -> MentionCost:
    lookup, items = Lookup(errors), errors.items
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


def entity_costs(
    errors: Classification, attributions: Sequence[Attribution], number: int
) -> list[EntityCost]:
    """The entities of both sides that cost most."""
    if not attributions:
        return []
    key = {one.metric: one.key_entities for one in attributions}
    response = {one.metric: one.response_entities for one in attributions}
    losses = {metric: np.concatenate((shares, response[metric])) for metric, shares in key.items()}
    cost = np.mean(list(losses.values()), axis=0) / 2
    n_key = errors.key.n_entities
    found = []
    for place in _dearest(cost, number).tolist():
        loss = {metric: float(shares[place]) for metric, shares in losses.items()}
        side: Literal["key", "response"] = "key" if place < n_key else "response"
        index = place if place < n_key else place - n_key
        found.append(_entity(errors, side, index, float(cost[place]), loss))
    return found


def _entity(
    errors: Classification,
    side: Literal["key", "response"],
    index: int,
    cost: float,
    loss: Mapping[str, float],
) -> EntityCost:
    lookup = Lookup(errors)
    alignment = errors.alignment if side == "key" else errors.alignment.swapped
    corpus = errors.key if side == "key" else errors.response
    rows = np.flatnonzero(corpus.mention_entity == index)
    twins = alignment.partner[rows]
    others = alignment.response.mention_entity[twins[twins >= 0]]
    first = int(rows[0])
    return EntityCost(
        side,
        lookup.document(int(corpus.entity_document[index])),
        lookup.entity(corpus, index),
        lookup.key_mention(first) if side == "key" else lookup.response_mention(first),
        int(rows.size),
        int(np.unique(others).size),
        int((twins < 0).sum()),
        cost,
        loss,
    )


def _dearest(cost: FloatArray, number: int) -> IntArray:
    order = np.argsort(-cost, kind="stable")[: max(number, 0)]
    dear: IntArray = order[cost[order] > 0]
    return dear

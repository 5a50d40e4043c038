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

SideName = Literal["key", "response"]


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
    """What an entity costs: a key entity's share of lost recall, a response entity's of precision.

    `parts` is the number of entities of the other side that its mentions are in, `alone` the number
    of its mentions that the other side lacks, `first` its first mention and `loss` its shares by
    metric. `cost` is half the mean loss, so that it compares with the costs of mentions.
    """

    side: SideName
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
    n_key, joint_row = errors.key.n_mentions, errors.joint_row
    total = n_key + int((joint_row >= n_key).sum())
    recall, precision = {}, {}
    for one in attributions:
        if one.key_mentions is None or one.response_mentions is None:
            continue
        recall[one.metric] = np.concatenate((one.key_mentions, np.zeros(total - n_key)))
        precision[one.metric] = np.zeros(total)
        precision[one.metric][joint_row] = one.response_mentions
    if not recall:
        return []
    cost = (np.mean(list(recall.values()), axis=0) + np.mean(list(precision.values()), axis=0)) / 2
    response_row = np.full(total, -1, dtype=np.int64)
    response_row[joint_row] = np.arange(joint_row.size)
    lookup = Lookup(errors)
    return [
        _mention(lookup, place, int(response_row[place]), float(cost[place]), recall, precision)
        for place in _dearest(cost, number).tolist()
    ]


def _mention(
    lookup: Lookup,
    place: int,
    response_row: int,
    cost: float,
    recall: Mapping[str, FloatArray],
    precision: Mapping[str, FloatArray],
) -> MentionCost:
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
    lookup = Lookup(errors)
    found = []
    for place in _dearest(cost, number).tolist():
        loss = {metric: float(shares[place]) for metric, shares in losses.items()}
        side: SideName = "key" if place < n_key else "response"
        index = place if place < n_key else place - n_key
        found.append(_entity(lookup, side, index, float(cost[place]), loss))
    return found


def _entity(
    lookup: Lookup, side: SideName, index: int, cost: float, loss: Mapping[str, float]
) -> EntityCost:
    errors = lookup.errors
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

"""Named-entity classes of mentions and of entities."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from corefeval.features.brackets import Nodes
from corefeval.features.spans import Spans, find_spans
from corefeval.model.arrays import BoolArray, IntArray
from corefeval.model.categories import Categories


def class_of_mentions(spans: Spans, heads: IntArray, named: Nodes) -> Categories:
    """The class of a named entity that is the mention, else of one in it that covers its head.

    Of several that do the latter the outermost counts. Heads may be unknown (−1).
    """
    equal = find_spans(named.start, named.end, (spans.start, spans.end))
    codes = np.append(named.label, -1)[equal]
    levels = np.flatnonzero(np.diff(named.depth)) + 1
    for level in np.split(np.arange(named.start.size), levels) if named.start.size else ():
        rows = np.flatnonzero((codes < 0) & (heads >= 0))
        place = level[np.maximum(np.searchsorted(named.start[level], heads[rows], "right") - 1, 0)]
        covers = (named.start[place] <= heads[rows]) & (heads[rows] < named.end[place])
        covers &= (named.start[place] >= spans.start[rows]) & (named.end[place] <= spans.end[rows])
        codes[rows[covers]] = named.label[place[covers]]
    return Categories(codes, named.names)


def class_of_entities(
    entity: IntArray, n_entities: int, classes: Categories, is_noun: Callable[[], BoolArray]
) -> Categories:
    """The class of each mention's entity, by its anchor.

    The anchor is the first noun of an entity. Where it has no class, the only class among the
    mentions counts. An entity whose mentions have one class between them has that class in any
    case, so nouns are asked for only where mentions differ.
    """
    known = np.flatnonzero(classes.codes >= 0)
    lowest = np.full(n_entities, len(classes.names), dtype=np.int64)
    highest = np.full(n_entities, -1, dtype=np.int64)
    np.minimum.at(lowest, entity[known], classes.codes[known])
    np.maximum.at(highest, entity[known], classes.codes[known])
    mixed = lowest < highest
    if mixed.any():
        nouns = np.flatnonzero(is_noun())
        anchors = first_of_each(entity[nouns], n_entities)
        anchor_class = np.full(n_entities, -1, dtype=np.int64)
        has_anchor = anchors >= 0
        anchor_class[has_anchor] = classes.codes[nouns[anchors[has_anchor]]]
        highest = np.where(mixed, anchor_class, highest)
    return Categories(highest[entity], classes.names)


def voted_classes(entity: IntArray, n_entities: int, classes: Categories) -> Categories:
    """The class that most mentions of an entity have; of equals the one that comes first."""
    known = np.flatnonzero(classes.codes >= 0)
    width = max(len(classes.names), 1)
    pair = entity[known] * width + classes.codes[known]
    distinct, first, votes = np.unique(pair, return_index=True, return_counts=True)
    owner = distinct // width
    order = np.lexsort((first, -votes, owner))
    winner = first_of_each(owner[order], n_entities)
    has_class = winner >= 0
    chosen = np.full(n_entities, -1, dtype=np.int64)
    chosen[has_class] = (distinct % width)[order[winner[has_class]]]
    return Categories(chosen[entity], classes.names)


def first_of_each(group: IntArray, n_groups: int) -> IntArray:
    """The first place at which each group occurs; −1 where it does not.

    >>> first_of_each(np.array([2, 0, 2]), 3).tolist()
    [1, -1, 0]
    """
    first = np.full(n_groups, -1, dtype=np.int64)
    first[group[::-1]] = np.arange(group.size - 1, -1, -1)
    return first

"""Can an entity be found, and what is found with it? Tuggener's anchors (2014, §3.3)."""

from __future__ import annotations

import numpy as np

from corefeval.alignment import Alignment, Side, is_noun
from corefeval.metrics.counting import Counts
from corefeval.model.arrays import FloatArray, IntArray, looked_up


def anchors(alignment: Alignment) -> Counts:
    """Entities by their anchors, their first nouns; then the mentions of those that were found."""
    key, response = alignment.key, alignment.response
    entities, anchor = _anchored(key)
    aligned = looked_up(response.mention_entity, alignment.partner[anchor])
    found = looked_up(response.sizes, aligned) > 1
    group = key.entity_group[entities]
    shared = alignment.shared(entities[found], aligned[found])
    return {
        "detection_tp": alignment.sums(group[found], np.ones(int(found.sum()))),
        "detection_fn": alignment.sums(group[~found], np.ones(int((~found).sum()))),
        "detection_fp": _spurious(alignment),
        "mentions_tp": alignment.sums(group[found], shared),
        "mentions_fn": alignment.sums(group[found], key.sizes[entities[found]] - shared),
        "mentions_fp": alignment.sums(group[found], response.sizes[aligned[found]] - shared),
    }


def _spurious(alignment: Alignment) -> FloatArray:
    """Response entities whose own anchor is in no key entity."""
    key, response = alignment.key, alignment.response
    entities, anchor = _anchored(response)
    in_key = looked_up(key.mention_entity, alignment.swapped.partner[anchor])
    spurious = entities[looked_up(key.sizes, in_key) <= 1]
    return alignment.sums(response.entity_group[spurious], np.ones(spurious.size))


def _anchored(side: Side) -> tuple[IntArray, IntArray]:
    """The entities of at least two mentions that have a noun, and the first one of each."""
    chain = side.chain[is_noun(side)[side.chain]]
    entity = side.mention_entity[chain]
    first = np.concatenate((np.ones(min(entity.size, 1), np.bool_), entity[1:] != entity[:-1]))
    taken = first & (side.sizes[entity] > 1)
    return entity[taken], chain[taken]

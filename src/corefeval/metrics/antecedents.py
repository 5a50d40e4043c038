"""Tuggener's metrics for what follows coreference (2014, §3): antecedents and anchors.

Counts of antecedents are correct ones (tp), wrong linkage (wl), missed (fn) and spurious (fp)
anaphors.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from corefeval.alignment import Alignment, Side, is_noun, is_zero
from corefeval.metrics.counting import Counts
from corefeval.model.arrays import BoolArray, FloatArray, IntArray, looked_up

Chains = Literal["all", "nominal"]
Spurious = Literal["wl", "fp", "formula"]


def immediate(alignment: Alignment, *, chains: Chains = "all") -> Counts:
    """Immediate antecedents: whether the mention before an anaphor in its chain is the key's."""
    key, response = alignment.key, alignment.response
    partner, key_of = alignment.partner, alignment.swapped.partner
    anaphor = key.previous >= 0 if chains == "all" else _are_evaluated(key, _noun_before(key))
    rows = np.flatnonzero(anaphor)
    antecedent = looked_up(response.previous, partner[rows])
    missed = antecedent < 0
    correct = ~missed & (antecedent == partner[key.previous[rows]])
    resolved = np.flatnonzero(response.previous >= 0)
    invented = looked_up(key.previous, key_of[resolved]) < 0
    return _counts(
        alignment,
        correct=rows[correct],
        wrong=rows[~missed & ~correct],
        missed=rows[missed],
        invented=resolved[invented],
    )


def inferred(alignment: Alignment, *, spurious: Spurious = "wl") -> Counts:
    """Inferred antecedents: whether the closest noun before an anaphor is in its key entity."""
    key, response = alignment.key, alignment.response
    partner, key_of = alignment.partner, alignment.swapped.partner
    noun_in_key, noun_in_response = _noun_before(key), _noun_before(response)
    rows = np.flatnonzero(_are_evaluated(key, noun_in_key))
    twin = partner[rows]
    unresolved = looked_up(response.previous, twin) < 0
    closest = np.where(unresolved, -1, looked_up(noun_in_response, twin))
    inferred_entity = looked_up(key.mention_entity, looked_up(key_of, closest))
    is_same_entity = inferred_entity == key.mention_entity[rows]
    missed = unresolved | ((closest < 0) & (noun_in_key[rows] >= 0))
    correct = (closest >= 0) & is_same_entity
    wrong = (closest >= 0) & ~is_same_entity
    also_wrong, invented = _spurious(alignment, noun_in_key, noun_in_response, spurious)
    return _counts(
        alignment,
        correct=rows[correct],
        wrong=rows[wrong],
        missed=rows[missed],
        invented=invented,
        also_wrong=also_wrong,
    )


def zero(alignment: Alignment) -> Counts:
    """Zero anaphors: whether the response has them with an earlier mention of their entity."""
    key, response = alignment.key, alignment.response
    anaphor = (key.previous >= 0) & is_zero(key)
    rows = np.flatnonzero(anaphor)
    missed = looked_up(response.previous, alignment.partner[rows]) < 0
    correct = ~missed & _follows_shared(alignment)[rows]
    resolved = np.flatnonzero((response.previous >= 0) & is_zero(response))
    invented = ~np.append(anaphor, False)[alignment.swapped.partner[resolved]]
    return _counts(
        alignment,
        correct=rows[correct],
        wrong=rows[~missed & ~correct],
        missed=rows[missed],
        invented=resolved[invented],
    )


def _follows_shared(alignment: Alignment) -> BoolArray:
    """Which key mentions follow one of their key entity that is in their response entity too."""
    rows, cell = alignment.shared_chains
    repeated = np.zeros(alignment.key.mention_entity.size, dtype=np.bool_)
    repeated[rows[1:]] = cell[1:] == cell[:-1]
    return repeated


def _are_evaluated(key: Side, noun_before: IntArray) -> BoolArray:
    """Which key mentions count: those that follow another, but no pronoun without a noun before."""
    evaluated: BoolArray = (key.previous >= 0) & (is_noun(key) | (noun_before >= 0))
    return evaluated


def _spurious(
    alignment: Alignment, noun_in_key: IntArray, noun_in_response: IntArray, spurious: Spurious
) -> tuple[IntArray, IntArray]:
    """Response mentions that are wrongly linked, and those that are no anaphors, by `spurious`."""
    key, response, key_of = alignment.key, alignment.response, alignment.swapped.partner
    rows = np.flatnonzero((response.previous >= 0) & _has_noun(response)[response.mention_entity])
    twin = key_of[rows]
    in_key = twin >= 0
    if spurious == "formula":
        has_noun = np.append(_has_noun(key), True)[looked_up(key.mention_entity, twin)]
        nounless = in_key & ~has_noun & ~is_noun(response)[rows]
        first = looked_up(key.previous, twin) < 0
        return rows[nounless], rows[first & ~nounless]
    misled = in_key & (looked_up(noun_in_key, twin) < 0) & (noun_in_response[rows] >= 0)
    if spurious == "fp":
        return rows[:0], rows[~in_key | misled]
    return rows[misled], rows[~in_key]


def _counts(
    alignment: Alignment,
    *,
    correct: IntArray,
    wrong: IntArray,
    missed: IntArray,
    invented: IntArray,
    also_wrong: IntArray | None = None,
) -> Counts:
    """Outcomes summed by group: key mentions by the key's groups, the others by the response's."""

    def total(side: Side, rows: IntArray) -> FloatArray:
        return alignment.sums(side.group[rows])

    wrong_links = total(alignment.key, wrong)
    if also_wrong is not None:
        wrong_links = wrong_links + total(alignment.response, also_wrong)
    return {
        "tp": total(alignment.key, correct),
        "wl": wrong_links,
        "fn": total(alignment.key, missed),
        "fp": total(alignment.response, invented),
    }


def _noun_before(side: Side) -> IntArray:
    """The closest noun before each mention in its chain; −1 where there is none."""
    chain = side.chain
    entity = side.mention_entity[chain]
    place = np.arange(chain.size)
    latest = np.maximum.accumulate(np.where(is_noun(side)[chain], place, -1))
    before = np.concatenate(([-1], latest))[: chain.size]
    same_chain = (before >= 0) & (entity[before] == entity)
    noun = np.full(chain.size, -1, dtype=np.int64)
    noun[chain] = np.where(same_chain, chain[before], -1) if chain.size else chain
    return noun


def _has_noun(side: Side) -> BoolArray:
    """Which entities have a noun."""
    has = np.zeros(side.entity_document.size, dtype=np.bool_)
    has[side.mention_entity[is_noun(side)]] = True
    return has


def anchors(alignment: Alignment) -> Counts:
    """Entities found by their anchors (first nouns), and the mentions of those that were found."""
    key, response = alignment.key, alignment.response
    entities, anchor = _find_anchors(key)
    aligned = looked_up(response.mention_entity, alignment.partner[anchor])
    detected = looked_up(response.sizes, aligned) > 1
    group = key.entity_group[entities]
    shared = alignment.shared(entities[detected], aligned[detected])
    return {
        "detection_tp": alignment.sums(group[detected]),
        "detection_fn": alignment.sums(group[~detected]),
        "detection_fp": _count_spurious(alignment),
        "mentions_tp": alignment.sums(group[detected], shared),
        "mentions_fn": alignment.sums(group[detected], key.sizes[entities[detected]] - shared),
        "mentions_fp": alignment.sums(group[detected], response.sizes[aligned[detected]] - shared),
    }


def _count_spurious(alignment: Alignment) -> FloatArray:
    """How many response entities have an anchor that is in no key entity."""
    key, response = alignment.key, alignment.response
    entities, anchor = _find_anchors(response)
    in_key = looked_up(key.mention_entity, alignment.swapped.partner[anchor])
    spurious = entities[looked_up(key.sizes, in_key) <= 1]
    return alignment.sums(response.entity_group[spurious])


def _find_anchors(side: Side) -> tuple[IntArray, IntArray]:
    """The entities of at least two mentions that have a noun, and the row of the first noun."""
    chain = side.chain[is_noun(side)[side.chain]]
    entity = side.mention_entity[chain]
    first = np.concatenate((np.ones(min(entity.size, 1), np.bool_), entity[1:] != entity[:-1]))
    anchors = first & (side.sizes[entity] > 1)
    return entity[anchors], chain[anchors]

"""Metrics of single mentions: whether they were found, and what their antecedents are.

Mention detection and the overlap of tokens are without coreference. Tuggener's metrics are for what
follows coreference (2014, §3): counts of antecedents are correct ones (tp), wrong linkage (wl),
missed (fn) and spurious (fp) anaphors.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np

from corefeval.alignment import Alignment, Side
from corefeval.assignment import heaviest_matching
from corefeval.diagnostics import UndefinedMetricError
from corefeval.matching import Mentions
from corefeval.matching.candidates import common_tokens, find_overlaps, sizes
from corefeval.matching.matchers import common_rows
from corefeval.metrics.coreference import Counts, Ratio, both_directions, ratio_counts
from corefeval.model import Corpus
from corefeval.model.arrays import (
    ArrayPair,
    BoolArray,
    IntArray,
    all_false,
    all_true,
    begin_runs,
    looked_up,
    mark_rows,
    set_rows,
)
from corefeval.model.identity import mention_codes

Zeros = Literal["all", "only", "none"]
Chains = Literal["all", "nominal"]
Spurious = Literal["wl", "fp", "formula"]


def mentions(alignment: Alignment, *, zeros: Zeros = "all") -> Counts:
    """Mention detection: matched mentions over all, over zeros, or over all but zeros."""
    recall = matched_recall if zeros == "all" else partial(_count_zeros, are_zeros=zeros == "only")
    return both_directions(recall, alignment)


def matched_recall(alignment: Alignment) -> Ratio:
    """The number of matched mentions, and of all mentions of the key."""
    shared, in_key = alignment.shares, alignment.key.shares
    return alignment.sums(shared.group, shared.count), alignment.sums(in_key.group, in_key.count)


def _count_zeros(alignment: Alignment, *, are_zeros: bool) -> Ratio:
    """Matched mentions and mentions of the key: zeros alone, or all but zeros."""
    counted: BoolArray = is_zero(alignment.key) == are_zeros
    matched = counted & (alignment.partner >= 0)
    group = alignment.key.group
    return alignment.sums(group[matched]), alignment.sums(group[counted])


def mor(alignment: Alignment) -> Counts:
    """Mention overlap ratio: tokens that mentions share, paired one to one at best, over all.

    Mentions of the same tokens may always be paired first. Let a and b be such, and a be paired
    with d, and c with b, instead: |a ∩ d| + |c ∩ a| ≤ |a| + |c ∩ d|, so that a with b and c with d
    is as good.
    """
    key, response = alignment.key, alignment.response
    if key.corpus is None or response.corpus is None:
        raise UndefinedMetricError("mor: the tokens of the mentions are not known here")
    if key.corpus.labels is not None or response.corpus.labels is not None:
        return both_directions(matched_recall, alignment)
    rows, shared = _overlaps(key.corpus, response.corpus)
    common = alignment.sums(key.group[rows], shared)
    key_tokens, response_tokens = (
        alignment.sums(side.group, sizes(corpus, np.arange(side.group.size)))
        for side, corpus in ((key, key.corpus), (response, response.corpus))
    )
    return ratio_counts((common, key_tokens), (common, response_tokens))


def _overlaps(key: Corpus, response: Corpus) -> ArrayPair:
    """Key mentions that are paired with a response mention, and how many tokens they share."""
    codes = mention_codes(key, response)
    sides = [Mentions(key, codes[0]), Mentions(response, codes[1])]
    twins = common_rows(sides[0].codes, sides[1].codes)
    alone = [all_true(side.codes.size) for side in sides]
    alone[0][twins[0]] = alone[1][twins[1]] = False
    overlaps = find_overlaps(sides[0], alone[0].nonzero()[0], sides[1], alone[1].nonzero()[0])
    shared = common_tokens(key, overlaps.key, response, overlaps.response)
    best = heaviest_matching(overlaps.key, overlaps.response, shared.astype(np.float64))
    rows = np.concatenate((twins[0], overlaps.key[best]))
    return rows, np.concatenate((sizes(key, twins[0]), shared[best]))


def is_noun(side: Side) -> BoolArray:
    """Which mentions are nouns (in the sense of Tuggener 2014)."""
    return side.feature("noun").where("yes".__eq__)


def is_zero(side: Side) -> BoolArray:
    """Which mentions are zeros: their heads are empty nodes."""
    return side.feature("zero").where("yes".__eq__)


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
    return _counts(alignment, rows, correct, missed, resolved[invented])


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
    counts = _counts(alignment, rows, correct, missed, invented, wrong)
    counts["wl"] = counts["wl"] + alignment.sums(response.group[also_wrong])
    return counts


def zero(alignment: Alignment) -> Counts:
    """Zero anaphors: whether the response has them with an earlier mention of their entity."""
    key, response = alignment.key, alignment.response
    anaphor = (key.previous >= 0) & is_zero(key)
    rows = np.flatnonzero(anaphor)
    missed = looked_up(response.previous, alignment.partner[rows]) < 0
    chained, cell = alignment.shared_chains
    follows_shared = all_false(anaphor.size)
    follows_shared[chained[1:]] = cell[1:] == cell[:-1]
    correct = ~missed & follows_shared[rows]
    resolved = np.flatnonzero((response.previous >= 0) & is_zero(response))
    invented = ~np.append(anaphor, False)[alignment.swapped.partner[resolved]]
    return _counts(alignment, rows, correct, missed, resolved[invented])


def _are_evaluated(key: Side, noun_before: IntArray) -> BoolArray:
    """Which key mentions count: those that follow another, but no pronoun without a noun before."""
    evaluated: BoolArray = (key.previous >= 0) & (is_noun(key) | (noun_before >= 0))
    return evaluated


def _spurious(
    alignment: Alignment, noun_in_key: IntArray, noun_in_response: IntArray, spurious: Spurious
) -> ArrayPair:
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
    rows: IntArray,
    correct: BoolArray,
    missed: BoolArray,
    invented: IntArray,
    wrong: BoolArray | None = None,
) -> Counts:
    """Outcomes of anaphors of the key (`rows`), and invented ones of the response, by group.

    Without `wrong`, those are wrong that are neither correct nor missed.
    """
    group = alignment.key.group[rows]
    return {
        "tp": alignment.sums(group[correct]),
        "wl": alignment.sums(group[~missed & ~correct if wrong is None else wrong]),
        "fn": alignment.sums(group[missed]),
        "fp": alignment.sums(alignment.response.group[invented]),
    }


def _noun_before(side: Side) -> IntArray:
    """The closest noun before each mention in its chain; −1 where there is none."""
    chain = side.chain
    entity = side.mention_entity[chain]
    place = np.arange(chain.size)
    latest = np.maximum.accumulate(np.where(is_noun(side)[chain], place, -1))
    before = np.concatenate(([-1], latest))[: chain.size]
    same_chain = (before >= 0) & (entity[before] == entity)
    return set_rows(
        chain, np.where(same_chain, chain[before], -1) if chain.size else chain, chain.size
    )


def _has_noun(side: Side) -> BoolArray:
    """Which entities have a noun."""
    return mark_rows(side.mention_entity[is_noun(side)], side.entity_document.size)


def anchors(alignment: Alignment) -> Counts:
    """Entities found by their anchors (first nouns), and the mentions of those that were found."""
    key, response = alignment.key, alignment.response
    entities, anchor = _find_anchors(key)
    aligned = looked_up(response.mention_entity, alignment.partner[anchor])
    detected = looked_up(response.sizes, aligned) > 1
    group = key.entity_group[entities]
    shared = alignment.shared(entities[detected], aligned[detected])
    response_entities, response_anchor = _find_anchors(response)
    in_key = looked_up(key.mention_entity, alignment.swapped.partner[response_anchor])
    spurious = response_entities[looked_up(key.sizes, in_key) <= 1]
    return {
        "detection_tp": alignment.sums(group[detected]),
        "detection_fn": alignment.sums(group[~detected]),
        "detection_fp": alignment.sums(response.entity_group[spurious]),
        "mentions_tp": alignment.sums(group[detected], shared),
        "mentions_fn": alignment.sums(group[detected], key.sizes[entities[detected]] - shared),
        "mentions_fp": alignment.sums(group[detected], response.sizes[aligned[detected]] - shared),
    }


def _find_anchors(side: Side) -> ArrayPair:
    """The entities of at least two mentions that have a noun, and the row of the first noun."""
    chain = side.chain[is_noun(side)[side.chain]]
    entity = side.mention_entity[chain]
    anchors = begin_runs(entity) & (side.sizes[entity] > 1)
    return entity[anchors], chain[anchors]

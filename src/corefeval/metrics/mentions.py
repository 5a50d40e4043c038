"""Metrics that count shared mentions, or tokens: mention detection, MOR, B³ and CEAF."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from corefeval.alignment import Alignment, Side, is_zero
from corefeval.assignment import heaviest_matching
from corefeval.diagnostics import UndefinedMetricError
from corefeval.matching import Mentions
from corefeval.matching.matchers import common_rows
from corefeval.matching.overlaps import common_tokens, find_overlaps, sizes
from corefeval.metrics.counting import (
    Counts,
    Ratio,
    Twinless,
    apply_policy,
    both_directions,
    ratio_counts,
)
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, FloatArray, IntArray
from corefeval.model.identity import mention_codes

Zeros = Literal["all", "only", "none"]


def mentions(alignment: Alignment, *, zeros: Zeros = "all") -> Counts:
    """Mention detection: matched mentions over all mentions, or over zeros, or over the others."""
    if zeros == "all":
        return both_directions(alignment, _count_matched)

    def matched(one: Alignment) -> Ratio:
        counted: BoolArray = is_zero(one.key) == (zeros == "only")
        found = counted & (one.partner >= 0)
        group = one.key.group
        return one.sums(group[found], found[found]), one.sums(group[counted], counted[counted])

    return both_directions(alignment, matched)


def _count_matched(alignment: Alignment) -> Ratio:
    shared, wanted = alignment.shares, alignment.key.shares
    return alignment.sums(shared.group, shared.count), alignment.sums(wanted.group, wanted.count)


def b3(alignment: Alignment, *, twinless: Twinless = "none") -> Counts:
    """B³: each mention's share of its entity that is with it on the other side."""
    for_recall, for_precision = apply_policy(twinless, alignment)
    return ratio_counts(_b3(for_recall), _b3(for_precision.swapped))


def _b3(alignment: Alignment) -> Ratio:
    overlap, key, share = alignment.overlap, alignment.key, alignment.shares
    together = overlap.count[share.whole] / key.sizes[overlap.key[share.whole]]
    return (
        alignment.sums(share.group, share.count * together),
        alignment.sums(key.shares.group, key.shares.count),
    )


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
        return both_directions(alignment, _count_matched)
    rows, shared = _overlaps(key.corpus, response.corpus)
    common = alignment.sums(key.group[rows], shared)
    return ratio_counts((common, _tokens(alignment, key)), (common, _tokens(alignment, response)))


def _tokens(alignment: Alignment, side: Side) -> FloatArray:
    rows = np.arange(side.mention_entity.size)
    return alignment.sums(side.group, rows if side.corpus is None else sizes(side.corpus, rows))


def _overlaps(key: Corpus, response: Corpus) -> tuple[IntArray, IntArray]:
    """Key mentions that are paired with a response mention, and how many tokens they share."""
    sides = [
        Mentions(*one) for one in zip((key, response), mention_codes(key, response), strict=True)
    ]
    twins = common_rows(sides[0].codes, sides[1].codes)
    alone = [np.ones(side.codes.size, dtype=np.bool_) for side in sides]
    alone[0][twins[0]] = alone[1][twins[1]] = False
    found = find_overlaps(sides[0], alone[0].nonzero()[0], sides[1], alone[1].nonzero()[0])
    shared = common_tokens(key, found.key, response, found.response)
    best = heaviest_matching(found.key, found.response, shared.astype(np.float64))
    rows = np.concatenate((twins[0], found.key[best]))
    return rows, np.concatenate((sizes(key, twins[0]), shared[best]))


def ceafm(alignment: Alignment, *, twinless: Twinless = "none") -> Counts:
    """CEAF with φ3: the mentions that aligned entities share."""

    def share(one: Alignment) -> FloatArray:
        return one.overlap.count.astype(np.float64)

    return count_ceaf(alignment, twinless, share, lambda one: (one.key.sizes, one.response.sizes))


def ceafe(alignment: Alignment, *, twinless: Twinless = "none") -> Counts:
    """CEAF with φ4: twice the shared mentions over the sizes of both entities."""
    return count_ceaf(alignment, twinless, _dice, are_entities)


def count_ceaf(
    alignment: Alignment,
    policy: Twinless,
    compare: Callable[[Alignment], FloatArray],
    weigh: Callable[[Alignment], tuple[NDArray[Any], NDArray[Any]]],
) -> Counts:
    """The similarity of the most similar one-to-one alignment of entities, over their weights.

    `compare` gives the similarity of each cell of the overlap table, `weigh` the weights of the
    key's and of the response's entities.
    """
    for_recall, for_precision = apply_policy(policy, alignment, ceaf=True)
    recall = precision = _best_alignment(for_recall, compare(for_recall))
    if for_precision is not for_recall:
        precision = _best_alignment(for_precision, compare(for_precision))
    key, response = for_recall.key.entity_document, for_precision.response.entity_document
    return ratio_counts(
        (recall, for_recall.sums(key, weigh(for_recall)[0])),
        (precision, for_precision.sums(response, weigh(for_precision)[1])),
    )


def are_entities(alignment: Alignment) -> tuple[BoolArray, BoolArray]:
    """Which numbers are those of an entity that has mentions, of the key and of the response."""
    return alignment.key.sizes > 0, alignment.response.sizes > 0


def _best_alignment(alignment: Alignment, similarity: FloatArray) -> FloatArray:
    overlap = alignment.overlap
    (positive,) = (similarity > 0).nonzero()
    weights = similarity[positive]
    aligned = heaviest_matching(overlap.key[positive], overlap.response[positive], weights)
    document = alignment.key.entity_document[overlap.key[positive[aligned]]]
    return alignment.sums(document, weights[aligned])


def _dice(alignment: Alignment) -> FloatArray:
    overlap, key, response = alignment.overlap, alignment.key.sizes, alignment.response.sizes
    dice: FloatArray = 2.0 * overlap.count / (key[overlap.key] + response[overlap.response])
    return dice

"""Metrics that count shared mentions: mention detection, B³ and CEAF."""

from __future__ import annotations

import numpy as np

from corefeval.alignment import Alignment
from corefeval.assignment import heaviest_matching
from corefeval.metrics.counting import (
    Counts,
    Ratio,
    Twinless,
    apply_policy,
    both_directions,
    ratio_counts,
)
from corefeval.model.arrays import FloatArray


def mentions(alignment: Alignment) -> Counts:
    """Mention detection: matched mentions over all mentions."""
    return both_directions(alignment, _matched)


def _matched(alignment: Alignment) -> Ratio:
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


def ceafm(alignment: Alignment, *, twinless: Twinless = "none") -> Counts:
    """CEAF with φ3: the mentions that aligned entities share."""
    for_recall, for_precision = apply_policy(twinless, alignment, ceaf=True)
    shared = [
        best_alignment(one, one.overlap.count.astype(np.float64))
        for one in _distinct(for_recall, for_precision)
    ]
    key, response = for_recall.key, for_precision.response
    return ceaf_counts(
        shared,
        for_recall.sums(key.entity_document, key.sizes),
        for_precision.sums(response.entity_document, response.sizes),
    )


def ceafe(alignment: Alignment, *, twinless: Twinless = "none") -> Counts:
    """CEAF with φ4: twice the shared mentions over the sizes of both entities."""
    for_recall, for_precision = apply_policy(twinless, alignment, ceaf=True)
    shared = [best_alignment(one, _dice(one)) for one in _distinct(for_recall, for_precision)]
    key, response = for_recall.key, for_precision.response
    return ceaf_counts(
        shared,
        for_recall.sums(key.entity_document, key.sizes > 0),
        for_precision.sums(response.entity_document, response.sizes > 0),
    )


def best_alignment(alignment: Alignment, similarity: FloatArray) -> FloatArray:
    """The similarity of the most similar one-to-one alignment of entities, by document."""
    overlap = alignment.overlap
    positive = np.flatnonzero(similarity > 0)
    weights = similarity[positive]
    aligned = heaviest_matching(overlap.key[positive], overlap.response[positive], weights)
    document = alignment.key.entity_document[overlap.key[positive[aligned]]]
    return alignment.sums(document, weights[aligned])


def ceaf_counts(shared: list[FloatArray], of_key: FloatArray, of_response: FloatArray) -> Counts:
    """Counts from the similarity for recall and, where it is another, for precision."""
    return {
        "recall_numerator": shared[0],
        "recall_denominator": of_key,
        "precision_numerator": shared[-1],
        "precision_denominator": of_response,
    }


def _distinct(for_recall: Alignment, for_precision: Alignment) -> list[Alignment]:
    return [for_recall] if for_recall is for_precision else [for_recall, for_precision]


def _dice(alignment: Alignment) -> FloatArray:
    overlap, key, response = alignment.overlap, alignment.key.sizes, alignment.response.sizes
    dice: FloatArray = 2.0 * overlap.count / (key[overlap.key] + response[overlap.response])
    return dice

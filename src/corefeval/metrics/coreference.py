"""Coreference: MUC, B³, CEAF, LEA, BLANC and plain links, each counted in one place.

Everything follows from the cells of the overlap table and the sizes of entities: pairs of mentions
are never enumerated. `muc_recall` and its like give numerator and denominator of recall; precision
is recall with the sides exchanged. Sets of antecedents (`metrics.sets`) and emulated programs fill
cells of their own, and count on them with these functions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corefeval.alignment import Alignment, Side, count_link_ends
from corefeval.assignment import heaviest_matching
from corefeval.diagnostics import UsageError
from corefeval.metrics.counting import (
    Counts,
    Ratio,
    RatioOf,
    Twinless,
    apply_policy,
    both_directions,
    count_links,
    ratio_counts,
)
from corefeval.model.arrays import BoolArray, FloatArray, IntArray

# What pairs of entities are worth to CEAF, and what entities of the key and of the response are.
Similarity = Callable[[Alignment], NDArray[Any]]
EntityWeights = Callable[[Alignment], tuple[NDArray[Any], NDArray[Any]]]


def muc(alignment: Alignment) -> Counts:
    """MUC: the links of spanning trees."""
    return both_directions(partitioned_links() if alignment.is_divided else muc_recall, alignment)


def muc_recall(alignment: Alignment, *, self_links: bool = False) -> Ratio:
    """Links that are left when the response cuts key entities into parts, and all of their links.

    An entity of n mentions in p parts keeps n − p links. Every mention that the other side lacks is
    a part of its own, so what remains is one less than its mentions for each cell. With
    `self_links` a singleton has a link to itself, as in LEA.
    """
    overlap, key, response = alignment.overlap, alignment.key, alignment.response
    kept = np.maximum(overlap.count - 1, 0)
    if self_links:
        kept = kept + ((key.sizes[overlap.key] == 1) & (response.sizes[overlap.response] == 1))
    return (
        alignment.sums(alignment.shares.group, kept),
        alignment.sums(key.entity_document, np.maximum(key.sizes - 1, int(self_links))),
    )


def b3(alignment: Alignment, *, twinless: Twinless = "none") -> Counts:
    """B³: each mention's share of its entity that is with it on the other side."""
    return both_directions(b3_recall, *apply_policy(twinless, alignment))


def b3_recall(alignment: Alignment) -> Ratio:
    """Σ |k ∩ r|² / |k| over cells, and the number of key mentions."""
    overlap, key, share = alignment.overlap, alignment.key, alignment.shares
    together = overlap.count[share.whole] / key.sizes[overlap.key[share.whole]]
    return (
        alignment.sums(share.group, share.count * together),
        alignment.sums(key.shares.group, key.shares.count),
    )


def ceafm(alignment: Alignment, *, twinless: Twinless = "none") -> Counts:
    """CEAF with φ3: the mentions that aligned entities share."""
    return count_ceaf(*apply_policy(twinless, alignment, ceaf=True), *PHI3)


def ceafe(alignment: Alignment, *, twinless: Twinless = "none") -> Counts:
    """CEAF with φ4: twice the shared mentions over the sizes of both entities."""
    return count_ceaf(*apply_policy(twinless, alignment, ceaf=True), *PHI4)


def count_ceaf(
    for_recall: Alignment, for_precision: Alignment, compare: Similarity, weigh: EntityWeights
) -> Counts:
    """The similarity of the most similar one-to-one alignment of entities, over their weights.

    `compare` gives the similarity of each cell of the overlap table, `weigh` the weights of the
    key's and of the response's entities.
    """
    recall = precision = _best_alignment(for_recall, compare(for_recall))
    if for_precision is not for_recall:
        precision = _best_alignment(for_precision, compare(for_precision))
    key, response = for_recall.key.entity_document, for_precision.response.entity_document
    return ratio_counts(
        (recall, for_recall.sums(key, weigh(for_recall)[0])),
        (precision, for_precision.sums(response, weigh(for_precision)[1])),
    )


def _best_alignment(alignment: Alignment, similarity: NDArray[Any]) -> FloatArray:
    overlap = alignment.overlap
    (positive,) = (similarity > 0).nonzero()
    weights = similarity[positive].astype(np.float64)
    aligned = heaviest_matching(overlap.key[positive], overlap.response[positive], weights)
    document = alignment.key.entity_document[overlap.key[positive[aligned]]]
    return alignment.sums(document, weights[aligned])


def _shared_mentions(alignment: Alignment) -> NDArray[Any]:
    return alignment.overlap.count


def _sizes(alignment: Alignment) -> tuple[IntArray, IntArray]:
    return alignment.key.sizes, alignment.response.sizes


def _dice(alignment: Alignment) -> FloatArray:
    overlap, key, response = alignment.overlap, alignment.key.sizes, alignment.response.sizes
    dice: FloatArray = 2.0 * overlap.count / (key[overlap.key] + response[overlap.response])
    return dice


def are_entities(alignment: Alignment) -> tuple[BoolArray, BoolArray]:
    """Which numbers are those of an entity that has mentions, of the key and of the response."""
    return alignment.key.sizes > 0, alignment.response.sizes > 0


PHI3: tuple[Similarity, EntityWeights] = (_shared_mentions, _sizes)
PHI4: tuple[Similarity, EntityWeights] = (_dice, are_entities)


def pairs(alignment: Alignment, documents: str = "all") -> Counts:
    """Links: all pairs of coreferent mentions, those within documents, or those across them."""
    if documents == "all":
        return both_directions(links_recall, alignment)
    inside = both_directions(links_recall, alignment.split_by_origin())
    if documents == "within":
        return inside
    every = both_directions(links_recall, alignment)
    return {name: count - inside[name] for name, count in every.items()}


def links_recall(alignment: Alignment) -> Ratio:
    """Coreference links that both sides have, and those of the key."""
    shared, in_key = alignment.shares, alignment.key.shares
    return (
        alignment.sums(shared.group, shared.link_ends(alignment.overlap.count)),
        alignment.sums(in_key.group, in_key.link_ends(alignment.key.sizes)),
    )


def blanc(alignment: Alignment) -> Counts:
    """BLANC: coreference and non-coreference links, each side's own mentions."""
    counts: Counts = {}
    coreference, non_coreference = _both_kinds_of_links(alignment)
    in_response = _both_kinds_of_links(alignment.swapped)
    for name, (common, key), (_, response) in zip(
        HALVES, (coreference, non_coreference), in_response, strict=True
    ):
        counts |= {f"{name}_common": common, f"{name}_key": key, f"{name}_response": response}
    if alignment.is_divided:  # the end of a link may be in another group on the other side
        for name, (common, _) in zip(HALVES, in_response, strict=True):
            counts[f"{name}_common_response"] = common
    return counts


HALVES = ("coreference", "non_coreference")


def _both_kinds_of_links(alignment: Alignment) -> tuple[Ratio, Ratio]:
    """Coreference links in both sides and in the key; non-coreference links likewise."""
    overlap, key, share = alignment.overlap, alignment.key, alignment.shares
    in_both, in_key = links_recall(alignment)
    mentions = alignment.sums(key.shares.group, key.shares.count)
    common = alignment.sums(share.group, share.count)
    squares = alignment.sums(share.group, share.squares)
    # Pairs of common mentions, less those that are a link of either side (counted once).
    either = -in_both
    for entity in (overlap.key, overlap.response):
        matched = np.bincount(entity, weights=overlap.count)
        either = either + alignment.sums(share.group, share.link_ends(matched[entity]))
    pairs_of_common = count_link_ends(common, alignment.in_document(common), squares)
    pairs_of_key = count_link_ends(mentions, alignment.in_document(mentions), mentions)
    return (in_both, in_key), (pairs_of_common - either, pairs_of_key - in_key)


def lea(alignment: Alignment, *, importance: Importance = "size") -> Counts:
    """LEA: the resolved share of each entity's links, weighted by how important the entity is."""
    return both_directions(partial(lea_recall, importance=importance), alignment)


def lea_recall(alignment: Alignment, *, importance: Importance = "size") -> Ratio:
    """The importance of key entities, each times the share of its links found; and in all.

    A singleton's only link is to itself: found where the other side has it as a singleton.
    """
    overlap, key, response = alignment.overlap, alignment.key, alignment.response
    weight = np.where(key.sizes > 0, _weigh_entities(key, importance), 0.0)
    share, in_key = alignment.shares, key.shares
    size = key.sizes[overlap.key]
    is_single = size == 1
    self_link = is_single & (response.sizes[overlap.response] == 1)
    all_links = count_links(np.maximum(size, 2))[share.whole]
    resolved = np.where(
        is_single[share.whole],
        self_link[share.whole],
        share.link_ends(overlap.count) / all_links,
    )
    part = in_key.count / np.maximum(key.sizes, 1)[in_key.whole]
    return (
        alignment.sums(share.group, weight[overlap.key[share.whole]] * resolved),
        alignment.sums(in_key.group, weight[in_key.whole] * part),
    )


ImportanceFunction = Callable[[Side], NDArray[Any]]
Importance = str | ImportanceFunction


def _weigh_entities(side: Side, importance: Importance) -> FloatArray:
    """The weight of each entity: its size, one, or what a function returns, which is checked."""
    if not callable(importance):
        return side.sizes.astype(np.float64) if importance == "size" else np.ones(side.sizes.size)
    try:
        weights = np.asarray(importance(side), dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.empty((0, 0))
    finite = bool((np.isfinite(weights) & (weights >= 0)).all())
    if weights.shape != side.sizes.shape or not finite:
        raise UsageError(
            f"the importance function must return a number of at least 0 for each of "
            f"{side.sizes.size} entities; it returned an array of shape {weights.shape}"
        )
    return weights


def p_link(
    alignment: Alignment, *, by: str = "auto", anaphor: float = 0.5, antecedent: float = 0.5
) -> Counts:
    """p-link over all categories, which with half a point for each end is MUC.

    What `by` names divides the alignment before it comes here.
    """
    if anaphor + antecedent == 0:
        raise UsageError("p-link: one of anaphor and antecedent must be above 0")
    return both_directions(partitioned_links(anaphor, antecedent), alignment)


def partitioned_links(anaphor: float = 0.5, antecedent: float = 0.5) -> RatioOf:
    """Links between consecutive mentions, with points for the group at each end."""

    def points(alignment: Alignment, before: IntArray, after: IntArray) -> FloatArray:
        group = alignment.key.group
        later = alignment.sums(group[after], np.full(after.size, anaphor))
        return later + alignment.sums(group[before], np.full(before.size, antecedent))

    def recall(alignment: Alignment) -> Ratio:
        key = alignment.key
        resolved = points(alignment, *_links_inside_parts(alignment))
        followers = np.flatnonzero(key.previous >= 0)
        return resolved, points(alignment, key.previous[followers], followers)

    return recall


def _links_inside_parts(alignment: Alignment) -> tuple[IntArray, IntArray]:
    """Consecutive mentions of what a key entity shares with one response entity."""
    rows, cell = alignment.shared_chains
    together = np.flatnonzero(cell[1:] == cell[:-1])
    return rows[together], rows[together + 1]

"""Coreference: MUC, B³, CEAF, LEA, BLANC and plain links, each counted in one place.

Everything follows from the cells of the overlap table and the sizes of entities: pairs of mentions
are never enumerated. `muc_recall` and its like give numerator and denominator of recall; precision
is recall with the sides exchanged. Where sets of antecedents count (`metrics.anaphora`), and where
twinless mentions, which only one side has, go by a policy (Cai and Strube 2010), an alignment
becomes two, one for recall and one for precision, and the ordinary metric runs on them. Emulated
programs fill cells of their own, and count on them with these functions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from corefeval.alignment import Alignment, Side, count_link_ends
from corefeval.assignment import heaviest_matching
from corefeval.diagnostics import UsageError
from corefeval.model.arrays import FloatArray, IntArray, stable_order
from corefeval.model.categories import Categories

Counts = dict[str, FloatArray]
Ratio = tuple[FloatArray, FloatArray]
RatioOf = Callable[[Alignment], Ratio]
# Of the cells of the overlap table, of the key's entities and of the response's.
Weights = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
Importance = str | Callable[[Side], NDArray[Any]]
Twinless = Literal["none", "0", "all", "rn", "sys"]
Dropped = Literal["nothing", "singletons", "everything"]
HALVES = ("coreference", "non_coreference")


def both_directions(
    recall: RatioOf, alignment: Alignment, for_precision: Alignment | None = None
) -> Counts:
    """Counts of a metric whose precision is its recall with the sides exchanged.

    Precision may be counted on another alignment than recall.
    """
    return ratio_counts(recall(alignment), recall((for_precision or alignment).swapped))


def ratio_counts(recall: Ratio, precision: Ratio) -> Counts:
    """The counts of a metric whose recall and precision are fractions."""
    return {
        "recall_numerator": recall[0],
        "recall_denominator": recall[1],
        "precision_numerator": precision[0],
        "precision_denominator": precision[1],
    }


def muc(alignment: Alignment) -> Counts:
    """MUC: the links of spanning trees."""
    alignments = choose_alignments(alignment, "muc")
    return both_directions(
        partitioned_links() if alignments[0].is_divided else muc_recall, *alignments
    )


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
    return both_directions(b3_recall, *choose_alignments(alignment, "b3", twinless))


def b3_recall(alignment: Alignment) -> Ratio:
    """Σ |k ∩ r|² / |k| over cells, and the number of key mentions."""
    overlap, key, share = alignment.overlap, alignment.key, alignment.shares
    entity = overlap.key[share.whole]
    shared = share.count * (overlap.count[share.whole] / key.sizes[entity])
    order = stable_order(entity)  # so that exchanged sides have the same sums to the last digit
    return (
        alignment.sums(share.group[order], shared[order]),
        alignment.sums(key.shares.group, key.shares.count),
    )


def ceafm(alignment: Alignment, *, twinless: Twinless = "none") -> Counts:
    """CEAF with φ3: the mentions that aligned entities share."""
    return count_ceaf(phi3, *choose_alignments(alignment, "ceafm", twinless))


def ceafe(alignment: Alignment, *, twinless: Twinless = "none") -> Counts:
    """CEAF with φ4: twice the shared mentions over the sizes of both entities."""
    return count_ceaf(phi4, *choose_alignments(alignment, "ceafe", twinless))


def phi3(alignment: Alignment) -> Weights:
    """Cells weigh the mentions that they share, entities their mentions."""
    return alignment.overlap.count, alignment.key.sizes, alignment.response.sizes


def phi4(alignment: Alignment) -> Weights:
    """Cells weigh the Dice coefficient of their entities, entities 1 if they have mentions."""
    overlap, key, response = alignment.overlap, alignment.key.sizes, alignment.response.sizes
    dice = 2.0 * overlap.count / (key[overlap.key] + response[overlap.response])
    return dice, key > 0, response > 0


def count_ceaf(
    phi: Callable[[Alignment], Weights],
    for_recall: Alignment,
    for_precision: Alignment | None = None,
) -> Counts:
    """The weight of the heaviest one-to-one alignment of entities, over the weight of entities.

    `phi` gives the weights of the cells of the overlap table, of the key's entities and of the
    response's. Precision is counted on the alignment of recall unless it has another.
    """
    cells, key_weights, response_weights = phi(for_recall)
    recall = precision = _align_entities(for_recall, cells)
    if for_precision is None or for_precision is for_recall:
        for_precision = for_recall
    else:
        cells, _, response_weights = phi(for_precision)
        precision = _align_entities(for_precision, cells)
    return ratio_counts(
        (recall, for_recall.sums(for_recall.key.entity_document, key_weights)),
        (precision, for_precision.sums(for_precision.response.entity_document, response_weights)),
    )


def _align_entities(alignment: Alignment, weights: NDArray[Any]) -> FloatArray:
    """The weight of the heaviest one-to-one alignment of entities, for each document."""
    overlap = alignment.overlap
    (positive,) = (weights > 0).nonzero()
    weights = weights[positive].astype(np.float64)
    aligned = heaviest_matching(overlap.key[positive], overlap.response[positive], weights)
    aligned = aligned[np.argsort(weights[aligned])]  # whichever side is the key, one order of sums
    document = alignment.key.entity_document[overlap.key[positive[aligned]]]
    return alignment.sums(document, weights[aligned])


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
    alignment, _ = choose_alignments(alignment, "blanc")
    counts: Counts = {}
    in_key, in_response = map(_both_kinds_of_links, (alignment, alignment.swapped))
    for half, (common, key), (_, response) in zip(HALVES, in_key, in_response, strict=True):
        counts |= {f"{half}_common": common, f"{half}_key": key, f"{half}_response": response}
    if alignment.is_divided:  # the end of a link may be in another group on the other side
        for half, (common, _) in zip(HALVES, in_response, strict=True):
            counts[f"{half}_common_response"] = common
    return counts


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
    recall = partial(lea_recall, importance=importance)
    return both_directions(recall, *choose_alignments(alignment, "lea"))


def lea_recall(alignment: Alignment, *, importance: Importance = "size") -> Ratio:
    """The importance of key entities, each times the share of its links found; and in all.

    A singleton's only link is to itself: found where the other side has it as a singleton.
    """
    overlap, key, response = alignment.overlap, alignment.key, alignment.response
    weight = np.asarray(key.sizes if importance == "size" else key.sizes > 0, np.float64)
    if callable(importance):
        weight = weight * _weigh_entities(key, importance)
    share, in_key = alignment.shares, key.shares
    size = key.sizes[overlap.key]
    is_single = size == 1
    self_link = is_single & (response.sizes[overlap.response] == 1)
    several = np.maximum(size, 2)
    all_links = count_link_ends(several, several, several)[share.whole]
    resolved = np.where(
        is_single[share.whole],
        self_link[share.whole],
        share.link_ends(overlap.count) / all_links,
    )
    part = in_key.count / np.maximum(key.sizes, 1)[in_key.whole]
    # Summed entity by entity, so that not a digit changes when the sides are exchanged.
    entity = overlap.key[share.whole]
    order = stable_order(entity)
    return (
        alignment.sums(share.group[order], (weight[entity] * resolved)[order]),
        alignment.sums(in_key.group, weight[in_key.whole] * part),
    )


def _weigh_entities(side: Side, importance: Callable[[Side], NDArray[Any]]) -> FloatArray:
    """What a function returns as the weights of entities; a UsageError unless it gives numbers."""
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
        previous = alignment.key.previous
        followers = np.flatnonzero(previous >= 0)
        rows, cell = alignment.shared_chains
        resolved = np.flatnonzero(cell[1:] == cell[:-1])
        return (
            points(alignment, rows[resolved], rows[resolved + 1]),
            points(alignment, previous[followers], followers),
        )

    return recall


def choose_alignments(
    alignment: Alignment, metric: str, twinless: Twinless = "none"
) -> tuple[Alignment, Alignment]:
    """The alignments on which a metric counts recall and precision; one twice where it can.

    Where sets of antecedents count, they are elements of entities. Policies for `twinless` mentions
    never drop those of the key; those of the response may be dropped, and those of either side put
    into the other one as singletons.
    """
    if alignment.scores_sets:
        from corefeval.metrics.anaphora import weigh_sets

        return weigh_sets(alignment, metric, twinless)
    if twinless == "none":
        return alignment, alignment
    if twinless == "0" or (twinless == "rn" and "ceaf" in metric):
        edition = _edit(alignment, "everything" if twinless == "0" else "singletons")
        return edition, edition
    if twinless == "sys":
        return (
            _edit(alignment, "everything", key_mentions=True),
            _edit(alignment, "singletons", key_mentions=True, response_mentions=True),
        )
    dropped: Dropped = "singletons" if twinless == "rn" else "nothing"
    return (
        _edit(alignment, dropped, key_mentions=True),
        _edit(alignment, dropped, response_mentions=True),
    )


def _edit(
    alignment: Alignment,
    dropped: Dropped,
    *,
    key_mentions: bool = False,
    response_mentions: bool = False,
) -> Alignment:
    """An alignment without twinless response mentions, or with twinless mentions as singletons.

    It is made once for all metrics. `key_mentions` puts those of the key into the response,
    `response_mentions` those of the response, unless they are dropped, into the key.
    """

    def make() -> Alignment:
        key, response = alignment.key, alignment.response
        key_twinless = np.flatnonzero(alignment.partner < 0)
        is_twinless = alignment.swapped.partner < 0
        drop = is_twinless & (dropped == "everything")
        if dropped == "singletons":
            drop |= is_twinless & (response.sizes[response.mention_entity] == 1)
        kept = np.flatnonzero(~drop)
        to_response = key_twinless if key_mentions else key_twinless[:0]
        to_key = np.flatnonzero(is_twinless & ~drop) if response_mentions else kept[:0]
        new_row = np.cumsum(~drop) - 1
        twins = np.flatnonzero(alignment.partner >= 0)
        n_key, n_added = key.mention_entity.size, to_response.size
        return Alignment(
            alignment.n_documents,
            _with_singletons(key, np.arange(n_key), response, to_key),
            _with_singletons(response, kept, key, to_response),
            np.concatenate((twins, to_response, n_key + np.arange(to_key.size))),
            np.concatenate(
                (new_row[alignment.partner[twins]], kept.size + np.arange(n_added), new_row[to_key])
            ),
        )

    return alignment.remember(("twinless", dropped, key_mentions, response_mentions), make)


def _with_singletons(side: Side, kept: IntArray, origin: Side, added: IntArray) -> Side:
    """A side with its mentions `kept`, then the mentions `added` of `origin`, each alone."""
    n_entities = side.entity_document.size
    added_document = origin.entity_document[origin.mention_entity[added]]

    def feature(name: str) -> Categories:
        kept_values, added_values = side.feature(name), origin.feature(name)
        return Categories.concatenate(kept_values.take(kept), added_values.take(added))

    return Side(
        np.concatenate((side.entity_document, added_document)),
        np.concatenate((side.mention_entity[kept], n_entities + np.arange(added.size))),
        feature,
    )

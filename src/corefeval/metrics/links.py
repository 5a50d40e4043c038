"""Metrics that count links: MUC, p-link, pairs, BLANC and LEA. None of them enumerates pairs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from corefeval.alignment import Alignment, Side
from corefeval.diagnostics import UsageError
from corefeval.metrics.counting import (
    Counts,
    Ratio,
    RatioOf,
    both_directions,
    count_link_ends,
    count_links,
)
from corefeval.model.arrays import FloatArray, IntArray


def muc(alignment: Alignment) -> Counts:
    """MUC: the links of spanning trees."""
    return both_directions(alignment, partitioned_links() if alignment.is_divided else _muc)


def _muc(alignment: Alignment) -> Ratio:
    # An entity of n mentions in p parts keeps n − p links. Every mention that the other side lacks
    # is a part of its own, so what remains is one less than its mentions for each shared cell.
    overlap, key = alignment.overlap, alignment.key
    return (
        alignment.sums(alignment.shares.group, overlap.count - 1),
        alignment.sums(key.entity_document, np.maximum(key.sizes - 1, 0)),
    )


def pairs(alignment: Alignment, documents: str = "all") -> Counts:
    """Links: all pairs of coreferent mentions, those within documents, or those across them."""
    if documents == "all":
        return both_directions(alignment, _pairs)
    within = both_directions(alignment.split_by_origin(), _pairs)
    if documents == "within":
        return within
    every = both_directions(alignment, _pairs)
    return {name: count - within[name] for name, count in every.items()}


def _pairs(alignment: Alignment) -> Ratio:
    overlap, key = alignment.overlap, alignment.key
    shared, wanted = alignment.shares, key.shares
    return (
        alignment.sums(shared.group, count_link_ends(shared.count, overlap.count[shared.whole])),
        alignment.sums(wanted.group, count_link_ends(wanted.count, key.sizes[wanted.whole])),
    )


def blanc(alignment: Alignment) -> Counts:
    """BLANC: coreference and non-coreference links, each side's own mentions."""
    common, key, other_common, other_key = _both_kinds_of_links(alignment)
    response_common, response, other_response_common, other_response = _both_kinds_of_links(
        alignment.swapped
    )
    counts = {
        "coreference_common": common,
        "coreference_key": key,
        "coreference_response": response,
        "non_coreference_common": other_common,
        "non_coreference_key": other_key,
        "non_coreference_response": other_response,
    }
    if alignment.is_divided:  # the end of a link may be in another group on the other side
        counts["coreference_common_response"] = response_common
        counts["non_coreference_common_response"] = other_response_common
    return counts


def _both_kinds_of_links(
    alignment: Alignment,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Coreference links in both sides and in the key; non-coreference links likewise."""
    overlap, key, share = alignment.overlap, alignment.key, alignment.shares
    in_both, in_key = _pairs(alignment)
    mentions = alignment.sums(key.shares.group, key.shares.count)
    common = alignment.sums(share.group, share.count)
    # Pairs of common mentions, less those that are a link of either side (counted once).
    either = -in_both
    for entity in (overlap.key, overlap.response):
        matched = np.bincount(entity, weights=overlap.count)
        ends = count_link_ends(share.count, matched[entity][share.whole])
        either = either + alignment.sums(share.group, ends)
    return (
        in_both,
        in_key,
        count_link_ends(common, alignment.in_document(common)) - either,
        count_link_ends(mentions, alignment.in_document(mentions)) - in_key,
    )


def lea(alignment: Alignment, *, importance: Importance = "size") -> Counts:
    """LEA: the resolved share of each entity's links, weighted by how important the entity is."""
    weigh = importance_function(importance)

    def recall(alignment: Alignment) -> Ratio:
        overlap, key, response = alignment.overlap, alignment.key, alignment.response
        weight = np.where(key.sizes > 0, weigh(key), 0.0)
        share, wanted = alignment.shares, key.shares
        size = key.sizes[overlap.key]
        is_single = size == 1
        # A singleton's only link is to itself: found where the other side has it as a singleton.
        self_link = is_single & (response.sizes[overlap.response] == 1)
        all_links = count_links(np.maximum(size, 2))[share.whole]
        resolved = np.where(
            is_single[share.whole],
            self_link[share.whole],
            count_link_ends(share.count, overlap.count[share.whole]) / all_links,
        )
        part = wanted.count / np.maximum(key.sizes, 1)[wanted.whole]
        return (
            alignment.sums(share.group, weight[overlap.key[share.whole]] * resolved),
            alignment.sums(wanted.group, weight[wanted.whole] * part),
        )

    return both_directions(alignment, recall)


def p_link(
    alignment: Alignment, *, by: str = "auto", anaphor: float = 0.5, antecedent: float = 0.5
) -> Counts:
    """p-link over all categories, which with half a point for each end is MUC.

    What `by` names divides the alignment before it comes here.
    """
    if anaphor + antecedent == 0:
        raise UsageError("p-link: one of anaphor and antecedent must be above 0")
    return both_directions(alignment, partitioned_links(anaphor, antecedent))


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


ImportanceFunction = Callable[[Side], FloatArray]
Importance = str | ImportanceFunction
_NAMED: dict[str, ImportanceFunction] = {
    "size": lambda side: side.sizes.astype(np.float64),
    "one": lambda side: np.ones(side.sizes.size),
}


def importance_function(importance: Importance) -> ImportanceFunction:
    """The function behind a name; a function stands for itself, and its result is checked."""
    if not callable(importance):
        return _NAMED[importance]
    function = importance

    def check(side: Side) -> FloatArray:
        try:
            weights = np.asarray(function(side), dtype=np.float64)
        except (TypeError, ValueError):
            weights = np.empty((0, 0))
        finite = bool((np.isfinite(weights) & (weights >= 0)).all())
        if weights.shape != side.sizes.shape or not finite:
            raise UsageError(
                f"the importance function must return a number of at least 0 for each of "
                f"{side.sizes.size} entities; it returned an array of shape {weights.shape}"
            )
        return weights

    return check

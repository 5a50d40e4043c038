"""Metrics that count links: MUC, BLANC and LEA. None of them ever enumerates pairs."""

from __future__ import annotations

import numpy as np

from corefeval.alignment import Alignment
from corefeval.metrics.counting import Counts, Ratio, both_directions, links
from corefeval.metrics.importance import Importance, importance_function


def muc(alignment: Alignment) -> Counts:
    """MUC: the links of spanning trees."""
    return both_directions(alignment, _muc)


def _muc(alignment: Alignment) -> Ratio:
    # An entity of n mentions in p parts keeps n − p links. Every mention that the other side lacks
    # is a part of its own, so what remains is one less than its mentions for each shared cell.
    overlap, key = alignment.overlap, alignment.key
    return (
        alignment.by_document(overlap.document, overlap.count - 1),
        alignment.by_document(key.entity_document, np.maximum(key.sizes - 1, 0)),
    )


def blanc(alignment: Alignment) -> Counts:
    """BLANC: coreference and non-coreference links, each side's own mentions."""
    overlap, swapped = alignment.overlap, alignment.swapped
    common = alignment.by_document(overlap.document, overlap.count)
    in_both = alignment.by_document(overlap.document, links(overlap.count))
    in_key, all_key = _links_within(alignment)
    in_response, all_response = _links_within(swapped)
    key_links = alignment.by_document(alignment.key.entity_document, links(alignment.key.sizes))
    response_links = alignment.by_document(
        alignment.response.entity_document, links(alignment.response.sizes)
    )
    return {
        "coreference_common": in_both,
        "coreference_key": key_links,
        "coreference_response": response_links,
        # Pairs of common mentions, less those that are a link of either side (counted once).
        "non_coreference_common": links(common) - in_key - in_response + in_both,
        "non_coreference_key": all_key - key_links,
        "non_coreference_response": all_response - response_links,
    }


def _links_within(alignment: Alignment) -> Ratio:
    """Per document: a side's coreference links among common mentions; all pairs of its mentions."""
    overlap, key = alignment.overlap, alignment.key
    common = np.bincount(overlap.key, weights=overlap.count, minlength=key.sizes.size)
    return (
        alignment.by_document(key.entity_document, links(common)),
        links(alignment.by_document(key.entity_document, key.sizes)),
    )


def lea(alignment: Alignment, *, importance: Importance = "size") -> Counts:
    """LEA: the resolved share of each entity's links, weighted by how important the entity is."""
    weigh = importance_function(importance)

    def recall(alignment: Alignment) -> Ratio:
        overlap, key, response = alignment.overlap, alignment.key, alignment.response
        weight = np.where(key.sizes > 0, weigh(key), 0.0)
        size = key.sizes[overlap.key]
        # A singleton's only link is to itself: found where the other side has it as a singleton.
        self_link = (size == 1) & (response.sizes[overlap.response] == 1)
        resolved = np.where(
            size == 1,
            self_link,
            links(overlap.count) / links(np.maximum(size, 2)),
        )
        return (
            alignment.by_document(overlap.document, weight[overlap.key] * resolved),
            alignment.by_document(key.entity_document, weight),
        )

    return both_directions(alignment, recall)

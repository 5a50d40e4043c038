"""Metrics that count mentions: mention detection and B³."""

from __future__ import annotations

from corefeval.alignment import Alignment
from corefeval.metrics.counting import Counts, Ratio, both_directions


def mentions(alignment: Alignment) -> Counts:
    """Mention detection: matched mentions over all mentions."""
    return both_directions(alignment, _matched)


def _matched(alignment: Alignment) -> Ratio:
    overlap, key = alignment.overlap, alignment.key
    return (
        alignment.by_document(overlap.document, overlap.count),
        alignment.by_document(key.entity_document, key.sizes),
    )


def b3(alignment: Alignment) -> Counts:
    """B³: each mention's share of its entity that is with it on the other side."""
    return both_directions(alignment, _b3)


def _b3(alignment: Alignment) -> Ratio:
    overlap, key = alignment.overlap, alignment.key
    shared = overlap.count * overlap.count / key.sizes[overlap.key]
    return (
        alignment.by_document(overlap.document, shared),
        alignment.by_document(key.entity_document, key.sizes),
    )

"""Metrics that count mentions: mention detection and B³."""

from __future__ import annotations

from corefeval.alignment import Alignment
from corefeval.metrics.counting import Counts, Ratio, both_directions, ratio_counts
from corefeval.metrics.twinless import Twinless, under


def mentions(alignment: Alignment) -> Counts:
    """Mention detection: matched mentions over all mentions."""
    return both_directions(alignment, _matched)


def _matched(alignment: Alignment) -> Ratio:
    found, wanted = alignment.shares, alignment.key.shares
    return alignment.sums(found.group, found.count), alignment.sums(wanted.group, wanted.count)


def b3(alignment: Alignment, *, twinless: Twinless = "none") -> Counts:
    """B³: each mention's share of its entity that is with it on the other side."""
    for_recall, for_precision = under(twinless, alignment)
    return ratio_counts(_b3(for_recall), _b3(for_precision.swapped))


def _b3(alignment: Alignment) -> Ratio:
    overlap, key, share = alignment.overlap, alignment.key, alignment.shares
    together = overlap.count[share.whole] / key.sizes[overlap.key[share.whole]]
    return (
        alignment.sums(share.group, share.count * together),
        alignment.sums(key.shares.group, key.shares.count),
    )

"""p-link: MUC's links, partitioned by what stands at their ends (Zeldes and Simonson 2016)."""

from __future__ import annotations

import numpy as np

from corefeval.alignment import Alignment
from corefeval.diagnostics import UsageError
from corefeval.metrics.counting import Counts, Ratio, RatioOf, both_directions
from corefeval.model.arrays import FloatArray, IntArray


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
    matched = np.flatnonzero(alignment.partner >= 0)
    response = alignment.response.mention_entity[alignment.partner[matched]]
    width = max(alignment.response.entity_document.size, 1)
    part = alignment.key.mention_entity[matched] * width + response
    order = np.argsort(part, kind="stable")  # rows ascend, so each part is in textual order
    rows, part = matched[order], part[order]
    together = np.flatnonzero(part[1:] == part[:-1])
    return rows[together], rows[together + 1]

"""What annotators did not agree on, in the order of what is at stake."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from corefeval.consensus.decisions import Constraints
from corefeval.consensus.partition import Groups, in_order
from corefeval.consensus.units import Units
from corefeval.model.arrays import IntArray


class Contest(NamedTuple):
    """A decision that annotators contest: on a unit, or on a group and a consensus entity.

    `votes` of `of` are for keeping a mention, or for a link between the first mention of the group
    and the entity that `partner` (−1 for a mention) stands for.
    """

    kind: str
    unit: int
    partner: int
    votes: int
    of: int
    size: int
    outcome: str
    stakes: int


def list_contests(
    units: Units, group: IntArray, entity: IntArray, constraints: Constraints
) -> list[Contest]:
    """All contested decisions of a consensus; the greatest stakes come first.

    `group` has the group of each unit, and `entity` its entity of the consensus, −1 where the unit
    is not kept; lone mentions are entities here.
    """
    total = len(units.entity)
    contests = []
    for unit in np.flatnonzero((units.votes < total) & ~constraints.is_settled).tolist():
        votes = int(units.votes[unit])
        outcome = "keep" if constraints.is_kept[unit] else "drop"
        stakes = min(votes, total - votes)
        contests.append(Contest("mention", unit, -1, votes, total, 1, outcome, stakes))
    contests += _list_links(units, group, entity, constraints)
    return sorted(contests, key=lambda row: (-row.stakes, row.unit, row.partner))


def _list_links(
    units: Units, group: IntArray, entity: IntArray, constraints: Constraints
) -> Iterator[Contest]:
    """For each group the contested link to its own entity, and to the best of all others."""
    kept = np.flatnonzero(entity >= 0)
    if not kept.size:
        return
    number = in_order(group[kept])
    first = kept[np.unique(number, return_index=True)[1]]
    home, size = entity[first], np.bincount(number)
    groups = Groups.of(units.entity[:, kept], number, units.owner)
    (cells, marked, *_), (held, marks, *_) = groups.sections, groups.sum_by(home).sections
    has = (cells > 0).astype(np.int64)
    table = (has @ held.T).tocoo()
    left, right = table.row, table.col
    marked = (marked > 0).toarray()
    is_home = home[left] == right
    itself = is_home * size[left] * marked.sum(axis=1)[left]
    votes = table.data - itself
    of = (marked[left] * marks.toarray()[right]).sum(axis=1) - itself
    rows = np.flatnonzero((votes > 0) & (votes < of))
    # The own entity first, then rivals, the best of which counts.
    rows = rows[np.lexsort((right[rows], (of - 2 * votes)[rows], ~is_home[rows], left[rows]))]
    leads = np.ones(rows.size, dtype=np.bool_)
    leads[1:] = (left[rows][1:] != left[rows][:-1]) | is_home[rows][:-1]
    partners, seen = _Partners(has, home), set()
    for row in rows[leads].tolist():
        g, outcome = int(left[row]), "same" if is_home[row] else "apart"
        partner = partners.find(g, int(right[row]))
        pair = frozenset((g, partner)), outcome
        ends = int(first[g]), int(first[partner])
        if pair not in seen and not constraints.decides(*group[list(ends)].tolist()):
            seen.add(pair)
            numbers = int(votes[row]), int(of[row])
            stakes = int(size[g]) * min(numbers[0], numbers[1] - numbers[0])
            yield Contest("link", *ends, *numbers, int(size[g]), outcome, stakes)


class _Partners:
    """The first two groups of each annotator's entity within each consensus entity."""

    def __init__(self, has: Any, home: IntArray) -> None:
        self.has = has
        self.groups: dict[tuple[int, int], list[int]] = defaultdict(list)
        for group, cell in zip(*map(list, has.nonzero()), strict=True):
            listed = self.groups[cell, home[group]]
            if len(listed) < 2:
                listed.append(group)

    def find(self, group: int, entity: int) -> int:
        """The group of the first mention of an entity that anybody links with this group."""
        cells = self.has.indices[self.has.indptr[group] : self.has.indptr[group + 1]]
        partners = (partner for cell in cells for partner in self.groups[cell, entity])
        return int(min(partner for partner in partners if partner != group))

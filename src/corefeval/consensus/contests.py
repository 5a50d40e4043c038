"""What annotators did not agree on, in the order of what is at stake."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from corefeval.analysis.units import Units
from corefeval.consensus.decisions import Constraints
from corefeval.consensus.partition import Groups, in_order
from corefeval.model.arrays import IntArray, begin_runs


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
    groups = Groups.of(units.entity[:, kept], number)
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
    rows = rows[begin_runs(left[rows], is_home[rows])]
    leaders = _list_leaders(has, home)
    seen = set()
    for row in rows.tolist():
        g, outcome = int(left[row]), "same" if is_home[row] else "apart"
        cells = has.indices[has.indptr[g] : has.indptr[g + 1]]
        partner = min({p for cell in cells for p in leaders[cell, right[row]]} - {g})
        unit, other_unit = first[[g, partner]].tolist()
        pair = frozenset((g, partner)), outcome
        if pair not in seen and not constraints.decide(group[[unit, other_unit]].tolist()):
            seen.add(pair)
            n, vote, total = int(size[g]), int(votes[row]), int(of[row])
            stakes = n * min(vote, total - vote)
            yield Contest("link", unit, other_unit, vote, total, n, outcome, stakes)


def _list_leaders(has: Any, home: IntArray) -> dict[tuple[int, int], list[int]]:
    """The first two groups of each annotator's entity within each consensus entity."""
    leaders: dict[tuple[int, int], list[int]] = defaultdict(list)
    for group, cell in zip(*map(list, has.nonzero()), strict=True):
        listed = leaders[cell, home[group]]
        if len(listed) < 2:
            listed.append(int(group))
    return leaders

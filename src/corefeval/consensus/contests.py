"""What annotators did not agree on, in the order of what is at stake."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corefeval.consensus.decisions import Constraints
from corefeval.consensus.units import Units
from corefeval.model.arrays import IntArray, dense_ranks


class Contest(NamedTuple):
    """A decision that annotators contest: on a unit, or on a group and a consensus entity.

    `votes` of `of` are for keeping a mention, or for a link between the first mention of the group
    and the entity that `other` (−1 for a mention) stands for.
    """

    kind: str
    unit: int
    other: int
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
    document = units.document.tolist()
    return sorted(contests, key=lambda row: (-row.stakes, document[row.unit], row.unit, row.other))


def _list_links(
    units: Units, group: IntArray, entity: IntArray, constraints: Constraints
) -> list[Contest]:
    """For each group the contested link to its own entity, and to the best of all others."""
    from scipy.sparse import csr_array

    kept = np.flatnonzero(entity >= 0)
    rank, numbers = dense_ranks(group[kept])
    n_groups, n_entities = numbers.size, int(entity.max(initial=-1)) + 1
    if not n_groups:
        return []
    first = np.full(n_groups, units.document.size, dtype=np.int64)
    np.minimum.at(first, rank, kept)
    size, home = np.bincount(rank), entity[first]
    n_cells = int(units.entity.max(initial=-1)) + 1
    annotator, place = np.nonzero(units.entity[:, first] >= 0)
    cell = units.entity[annotator, first[place]]
    ones = csr_array((np.ones(cell.size, np.int64), (place, cell)), shape=(n_groups, n_cells))
    counts = csr_array((size[place], (cell, home[place])), shape=(n_cells, n_entities))
    table = (ones @ counts).tocoo()
    of_entity = np.zeros((len(units.entity), n_entities), dtype=np.int64)
    np.add.at(of_entity, (annotator, home[place]), size[place])
    left, right, votes = table.row, table.col, table.data.astype(np.int64)
    marked = units.entity[:, first] >= 0
    of = sum(
        (row[left] * sums[right] for row, sums in zip(marked, of_entity, strict=True)), 0 * votes
    )
    is_home = home[left] == right
    alone = is_home * size[left] * marked.sum(axis=0)[left]
    votes, of = votes - alone, of - alone
    rows = np.flatnonzero((votes > 0) & (votes < of))
    # The own entity first, then rivals, the best of which counts.
    rows = rows[np.lexsort((right[rows], (of - 2 * votes)[rows], ~is_home[rows], left[rows]))]
    leads = np.ones(rows.size, dtype=np.bool_)
    leads[1:] = (left[rows][1:] != left[rows][:-1]) | is_home[rows][:-1]
    rows = rows[leads]
    rows = rows[np.argsort(first[left[rows]], kind="stable")]
    partners = _Partners(cell, home[place], place, first)
    seen: set[tuple[int, int, bool]] = set()
    contests = []
    for row in rows.tolist():
        g, together = int(left[row]), bool(is_home[row])
        partner = partners.find(units.entity[:, first[g]], int(right[row]), g)
        pair = (*sorted((g, partner)), together)
        if pair in seen or constraints.decides(int(numbers[g]), int(numbers[partner])):
            continue
        seen.add(pair)  # type: ignore[arg-type]
        number, among = int(votes[row]), int(of[row])
        stakes = int(size[g]) * min(number, among - number)
        outcome = "same" if together else "apart"
        ends = int(first[g]), int(first[partner])
        contests.append(Contest("link", *ends, number, among, int(size[g]), outcome, stakes))
    return contests


class _Partners:
    """The first two groups of each annotator's entity within each consensus entity."""

    def __init__(self, cell: IntArray, entity: IntArray, group: IntArray, first: IntArray) -> None:
        self.first = first
        self.groups: dict[tuple[int, int], list[int]] = {}
        for row in np.lexsort((first[group], entity, cell)).tolist():
            listed = self.groups.setdefault((int(cell[row]), int(entity[row])), [])
            if len(listed) < 2:
                listed.append(int(group[row]))

    def find(self, cells: IntArray, entity: int, group: int) -> int:
        """The group of the first mention of an entity that anybody links with this group."""
        partners = (self.groups.get((cell, entity), ()) for cell in cells.tolist() if cell >= 0)
        candidates = [partner for listed in partners for partner in listed if partner != group]
        return min(candidates, key=lambda partner: self.first[partner])

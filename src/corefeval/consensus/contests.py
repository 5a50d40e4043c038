"""What annotators did not agree on, in the order of what is at stake."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from corefeval.analysis.units import Units
from corefeval.consensus.decisions import Constraints
from corefeval.consensus.partition import in_order
from corefeval.model.arrays import IntArray, all_zero, begin_runs, plain_rows


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

    @property
    def stakes(self) -> int:
        """How many votes are overruled whatever is decided."""
        return self.size * min(self.votes, self.of - self.votes)

    @property
    def figures(self) -> dict[str, Any]:
        """The numbers and the outcome, by name."""
        names = ("votes", "of", "size", "outcome", "stakes")
        return {name: getattr(self, name) for name in names}


def list_contests(
    units: Units, group: IntArray, entity: IntArray, constraints: Constraints
) -> list[Contest]:
    """All contested decisions of a consensus; the greatest stakes come first.

    `group` has the group of each unit, and `entity` its entity of the consensus, −1 where the unit
    is not kept; lone mentions are entities here.
    """
    total = units.n_annotators
    open_units = np.flatnonzero((units.votes < total) & ~constraints.is_settled)
    contests = [
        Contest("mention", unit, -1, votes, total, 1, "keep" if is_kept else "drop")
        for unit, votes, is_kept in plain_rows(
            open_units, units.votes[open_units], constraints.is_kept[open_units]
        )
    ]
    if (entity >= 0).any():
        contests += _list_links(units, group, entity, constraints)
    return sorted(contests, key=lambda contest: (-contest.stakes, *contest[1:3]))


def _list_links(
    units: Units, group: IntArray, entity: IntArray, constraints: Constraints
) -> Iterator[Contest]:
    """For each group the contested link to its own entity, and to the best of all others."""
    from scipy.sparse import coo_array

    kept = np.flatnonzero(entity >= 0)
    order = in_order(group[kept])  # by what decisions left of the groups
    _, first, size = np.unique(order, return_index=True, return_counts=True)
    first = kept[first]
    home, labels = entity[first], units.entity[:, first]
    marked = (labels >= 0).T
    member, annotator = np.nonzero(marked)
    cell = labels[annotator, member]
    shape = first.size, units.stacked.n_entities
    has = coo_array((np.ones_like(cell), (member, cell)), shape=shape)
    held = coo_array((size[member], (home[member], cell)), shape=shape)
    table = (has @ held.T).tocoo()  # votes for groups and entities
    marks = all_zero(marked.size).reshape(marked.shape)
    np.add.at(marks, home, marked * size[:, None])
    left, right = table.row, table.col
    is_home = home[left] == right
    inside = is_home * size[left] * marked.sum(axis=1)[left]  # votes on the group itself
    votes = table.data - inside
    of = (marked[left] * marks[right]).sum(axis=1) - inside
    rows = np.flatnonzero((votes > 0) & (votes < of))
    # The own entity first, then rivals, the best of which counts.
    rows = rows[np.lexsort((right[rows], (of - 2 * votes)[rows], ~is_home[rows], left[rows]))]
    rows = rows[begin_runs(left[rows], is_home[rows])]
    leaders = defaultdict[tuple[int, int], tuple[int, ...]](tuple)  # in each entity of both sorts
    for place in plain_rows(cell, home[member], member):
        leaders[place[:2]] = (*leaders[place[:2]], place[2])[:2]
    seen = set()
    columns = (column[rows] for column in (left, right, is_home, votes, of))
    for number, rival, is_together, vote, total in plain_rows(*columns):
        cells = labels[marked[number], number].tolist()
        partner = min({m for c in cells for m in leaders[c, rival]} - {number})
        pair = frozenset((number, partner)), is_together
        a, b = first[[number, partner]].tolist()
        if pair not in seen and not constraints.decide(group[[a, b]]):
            seen.add(pair)
            outcome = "same" if is_together else "apart"
            yield Contest("link", a, b, vote, total, int(size[number]), outcome)

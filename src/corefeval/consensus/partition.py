"""The partition that overrules the fewest votes, of groups of mentions, without listing pairs.

Groups and clusters of them are counts: of their mentions in each entity of each annotator, of those
that each annotator marked, and of all. What two of them gain together is a weighted product of
their counts. It is scaled, and less the number of links by which it comes about, so that of two
partitions of one cost the one with fewer links is worth more.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import nsmallest
from itertools import count
from typing import Any

import numpy as np

from corefeval.model.arrays import BoolArray, FloatArray, IntArray

EXACT = 10  # groups of a component that is solved exactly
BOUNDED = 1000  # groups of a component that has a bound
_BLOCKS = 8  # clusters that are looked at for each entity of a group


def in_order(numbers: IntArray) -> IntArray:
    """Numbers counted anew from 0 in the order in which they come first."""
    ranks, first = np.unique(numbers, return_index=True)
    place = np.empty(ranks.size, dtype=np.int64)
    place[np.argsort(first, kind="stable")] = np.arange(ranks.size)
    return np.asarray(place[np.searchsorted(ranks, numbers)])


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of mentions in the order of the text, and groups that must be `apart`.

    `owner` has the annotator of each entity. `counts` is a sparse table with a row for each group:
    its mentions in each entity, then those that each annotator marked, then all.
    """

    counts: Any
    owner: IntArray
    n_annotators: int
    apart: Mapping[int, set[int]] = field(default_factory=dict)

    @staticmethod
    def of(labels: IntArray, group: IntArray, owner: IntArray, apart: Any) -> Groups:
        """The groups of mentions, whose entities are `labels` by annotator (−1: not marked)."""
        annotator, mention = np.nonzero(labels >= 0)
        everything = np.arange(group.size)
        columns = (labels[annotator, mention], owner.size + annotator)
        column = np.concatenate((*columns, np.full(group.size, owner.size + len(labels))))
        row = group[np.concatenate((mention, mention, everything))]
        shape = int(group.max(initial=-1)) + 1, owner.size + len(labels) + 1
        return Groups(_sum_cells(row, column, shape), owner, len(labels), apart)

    @cached_property
    def component(self) -> IntArray:
        """Groups that share no entity, even through others, are in different components."""
        from scipy.sparse.csgraph import connected_components

        size, n_entities = sum(self.counts.shape), self.owner.size
        row, column = self.counts[:, :n_entities].nonzero()
        links = _sum_cells(row, self.counts.shape[0] + column, (size, size))
        labels = connected_components(links, directed=False)[1]
        return in_order(labels[: self.counts.shape[0]])

    def sum_by(self, number: IntArray) -> Any:
        """The counts of all groups with the same number."""
        shape = int(number.max(initial=-1)) + 1, number.size
        return _sum_cells(number, np.arange(number.size), shape) @ self.counts

    def weigh(self, entity: float, mark: float, total: float = 0) -> FloatArray:
        """A weight for each column of the counts."""
        return np.repeat([entity, mark, total], [self.owner.size, self.n_annotators, 1])

    def costs(self, block: IntArray) -> FloatArray:
        """The votes that a partition overrules in each component.

        With n mentions there are n(n − 1)/2 pairs: sums of squares are all that is needed.
        """
        together, parts = self.sum_by(block), self.sum_by(self.component)
        part = np.zeros(together.shape[0], dtype=np.int64)
        part[block] = self.component
        gain = (together * together) @ self.weigh(1, -0.5) + together @ self.weigh(0, -0.5)
        links = (parts * parts - parts) @ self.weigh(0.5, 0)
        costs: FloatArray = links - np.bincount(part, weights=gain, minlength=parts.shape[0])
        return np.rint(costs)


def _sum_cells(row: IntArray, column: IntArray, shape: tuple[int, int]) -> Any:
    from scipy.sparse import coo_array

    return coo_array((np.ones(row.size, np.int64), (row, column)), shape=shape).tocsr()


def divide(groups: Groups) -> tuple[IntArray, FloatArray, FloatArray, BoolArray]:
    """The cluster of each group; then cost, bound and whether it is exact for each component."""
    component, number = groups.component, groups.counts.shape[0]
    scale = 1 + int(groups.counts[:, [-1]].sum()) ** 2
    weights = [round(weight) for weight in groups.weigh(2 * scale, -scale, -1).tolist()]
    table, bounds = groups.counts, groups.counts.indptr.tolist()
    cells = list(zip(table.indices.tolist(), table.data.tolist(), strict=True))
    counters = [Counter(dict(cells[bounds[g] : bounds[g + 1]])) for g in range(number)]
    members: dict[int, list[int]] = defaultdict(list)
    for group, part in enumerate(component.tolist()):
        members[part].append(group)
    block = np.arange(number)
    for listed in members.values():
        parts = {group: counters[group] for group in listed}
        solve = _solve if len(listed) <= EXACT else _search
        block[listed] = np.array(listed)[solve(parts, groups, weights)]
    costs = groups.costs(block := in_order(block))
    limits = costs.copy()
    for part, listed in members.items():
        if len(listed) > EXACT:
            limits[part] = bound_cost(groups, listed) if len(listed) <= BOUNDED else 0
    return block, costs, limits, limits == costs


def _gain(first: Mapping[int, int], second: Mapping[int, int], weights: Sequence[int]) -> int:
    """What it is worth to join two clusters, of which the second may be large."""
    held = second.get
    return sum([number * held(key, 0) * weights[key] for key, number in first.items()])


def _solve(
    parts: Mapping[int, Counter[int]], groups: Groups, weights: Sequence[int]
) -> Sequence[int]:
    """The best partition of few groups, by branch and bound.

    What groups that are still to be placed can gain is at most the sum of their positive gains.
    """
    forbidden = -(weights[0] ** 3)  # more than all gains together
    gains = [
        [
            forbidden if g in groups.apart.get(h, ()) else _gain(parts[h], parts[g], weights)
            for h in [*parts][:row]
        ]
        for row, g in enumerate(parts)
    ]
    hopes = [
        sum(max(gain, 0) for later in gains[row:] for gain in later)
        for row in range(len(gains) + 1)
    ]
    best, chosen = 0, list(range(len(parts)))
    place: list[int] = []

    def extend(value: int) -> None:
        nonlocal best, chosen
        row = len(place)
        if value + hopes[row] <= best:
            return
        if row == len(gains):
            best, chosen = value, place[:]
            return
        totals = [0] * (max(place, default=-1) + 2)
        for block, gain in zip(place, gains[row], strict=True):
            totals[block] += gain
        for block in sorted(range(len(totals)), key=lambda block: -totals[block]):
            place.append(block)
            extend(value + totals[block])
            place.pop()

    extend(0)
    return chosen


def _search(
    parts: Mapping[int, Counter[int]], groups: Groups, weights: Sequence[int]
) -> Sequence[int]:
    """The best end of local searches from the partition of each annotator."""
    owner: list[int] = groups.owner.tolist()
    ends: list[tuple[int, list[int]]] = []
    for annotator in range(groups.n_annotators):
        start = {}
        for number, cells in parts.items():
            entities = [key for key in cells if key < len(owner) and owner[key] == annotator]
            start[number] = max(entities, key=cells.__getitem__, default=-1 - number)
        climb = _Climb(parts, start, groups, weights)
        place = np.array(list(climb.run().values()))
        value = sum(_gain(cells, cells, weights) for cells in climb.clusters.values())
        ends.append((-value, in_order(place).tolist()))
    return min(ends)[1]


class _Climb:
    """A local search: groups move and clusters are joined as long as that gains anything."""

    def __init__(
        self,
        parts: Mapping[int, Counter[int]],
        start: Mapping[int, int],
        groups: Groups,
        weights: Sequence[int],
    ) -> None:
        self.parts, self.apart, self.weights = parts, groups.apart, weights
        self.column = (groups.owner.size + groups.owner).tolist()  # of what the annotator marked
        self.clusters: dict[int, Counter[int]] = defaultdict(Counter)
        self.members: dict[int, set[int]] = defaultdict(set)
        self.holders: dict[int, set[int]] = defaultdict(set)
        self.place: dict[int, int] = {}
        self.nearest: dict[int, list[tuple[int, int]]] = {}
        self.numbers = count()
        numbers: dict[int, int] = {}
        for group in parts:
            number = numbers.get(start[group], -1)
            if number < 0 or number in self._barred([group]):
                number = numbers[start[group]] = next(self.numbers)
            self._put(group, number)

    def run(self) -> dict[int, int]:
        """Search until nothing helps; the cluster of each group."""
        while True:
            groups = list(self.parts)
            while groups:
                moved = self._pass(groups, self._move)
                # Those that moved are the likeliest to move again; all others once these rest.
                groups = moved or ([] if len(groups) == len(self.parts) else list(self.parts))
            if not self._pass(list(self.clusters), self._join):
                return self.place

    def _pass(self, items: Sequence[int], change: Callable[[int], bool]) -> list[int]:
        """Try a change for some groups or clusters; those that changed."""
        self.nearest.clear()
        return [item for item in items if change(item)]

    def _find_nearest(self, entity: int) -> list[tuple[int, int]]:
        """The largest clusters that may gain by an entity: its mentions there, and the number.

        To gain anything, some entity must have most of what its annotator marked in the cluster.
        """
        held = []
        for number in self.holders[entity] & self.clusters.keys():
            cells = self.clusters[number]
            if 2 * cells[entity] > cells[self.column[entity]]:
                held.append((-cells[entity], number))
        return nsmallest(_BLOCKS, held)

    def _barred(self, groups: Sequence[int] | set[int]) -> set[int]:
        rivals = (rival for group in groups for rival in self.apart.get(group, ()))
        return {self.place[rival] for rival in rivals if rival in self.place}

    def _put(self, group: int, number: int) -> None:
        if (before := self.place.get(group)) is not None:
            self.clusters[before].subtract(self.parts[group])
            self.members[before].discard(group)
            if not self.members[before]:
                del self.clusters[before]
        self.clusters[number].update(self.parts[group])
        self.members[number].add(group)
        self.place[group] = number
        for entity in self.parts[group]:
            self.holders[entity].add(number)

    def _best(self, cells: Mapping[int, int], barred: set[int], start: tuple[int, int]) -> int:
        """The cluster that gains most with these counts; `start` has a gain to beat.

        A gain is at most that by shared entities: those who share too few are not looked at.
        """
        best, chosen = start
        entities = [key for key in cells if key < len(self.column)]
        least = best // (self.weights[0] * len(entities))
        candidates = set()
        for entity in entities:
            if entity not in self.nearest:
                self.nearest[entity] = self._find_nearest(entity)
            for held, candidate in self.nearest[entity]:
                if -held * cells[entity] <= least:
                    break
                candidates.add(candidate)
        for candidate in sorted((candidates - barred) & self.clusters.keys()):
            gain = _gain(cells, self.clusters[candidate], self.weights)
            if gain > best:
                best, chosen = gain, candidate
        return chosen

    def _move(self, group: int) -> bool:
        before, cells = self.place[group], self.parts[group]
        stay = _gain(cells, self.clusters[before], self.weights) - _gain(cells, cells, self.weights)
        start = (stay, before) if stay >= 0 else (0, -1)
        after = self._best(cells, self._barred([group]) | {before}, start)
        if after != before:
            self._put(group, next(self.numbers) if after < 0 else after)
        return after != before

    def _join(self, number: int) -> bool:
        members = self.members[number]
        barred = self._barred(members & self.apart.keys()) | {number}
        target = self._best(self.clusters[number], barred, (0, number))
        for group in sorted(members) if target != number else ():
            self._put(group, target)
        return target != number


def bound_cost(groups: Groups, rows: Sequence[int]) -> int:
    """A number of votes that every partition of some groups overrules.

    Each pair overrules the smaller side of its votes. Of three pairs of groups of which two had
    better be together and the third apart, one is not as it should be: the smallest loss is taken
    off all three, as long as there are such triangles.
    """
    n_entities = groups.owner.size
    cells, marks = groups.counts[rows][:, :n_entities], groups.counts[rows][:, n_entities:-1]
    votes, total = (cells @ cells.T).toarray(), (marks @ marks.T).toarray()
    inside = np.trace(total - votes) // 2  # votes on pairs within a group
    gain, loss = 2 * votes - total, np.minimum(votes, total - votes)
    rank = {row: place for place, row in enumerate(rows)}
    for row in groups.apart.keys() & rank.keys():
        for rival in groups.apart[row] & rank.keys():
            place = rank[row], rank[rival]
            loss[place], gain[place] = votes[place], -total.sum()
    np.fill_diagonal(gain, 0)
    return int(inside + np.triu(loss, 1).sum()) + _pack_triangles(gain)


def _pack_triangles(gain: IntArray) -> int:
    """The losses of triangles that share no gain: see `bound_cost`; `gain` is used up.

    The largest gains, and for each the largest losses, come first.
    """
    packed = 0
    edges = np.argwhere(gain > 0)
    for i, j in edges[np.argsort(-gain[*edges.T], kind="stable")].tolist():
        thirds = np.flatnonzero((gain[j] > 0) & (gain[i] < 0))
        losses = np.minimum(gain[j, thirds], -gain[i, thirds])
        for k in thirds[np.argsort(-losses, kind="stable")].tolist():
            loss = min(gain[i, j], gain[j, k], -gain[i, k])
            if gain[i, j] <= 0:
                break
            packed += int(loss)
            for a, b, sign in ((i, j, -1), (j, k, -1), (i, k, 1)):
                gain[a, b] += sign * loss
                gain[b, a] = gain[a, b]
    return packed

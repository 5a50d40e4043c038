"""The partition that overrules the fewest votes, of mentions in groups, without listing pairs.

A cluster is any set of mentions: a group that cannot be divided, or an entity. What two clusters
gain together follows from their counts: `cells` has the mentions in each entity of each annotator,
`marks` those that each annotator marked. Gains are scaled, and less the number of links by which
they come about, so that of two partitions of one cost the one with fewer links is worth more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from heapq import nsmallest
from itertools import count
from operator import add, mul, sub

import numpy as np

from corefeval.model.arrays import IntArray, dense_ranks

EXACT = 10  # groups of a component that is solved exactly
BOUNDED = 1000  # groups of a component that has a bound
_BLOCKS = 8  # clusters that are looked at for each entity of a group


class Cluster:
    """Mentions that are together: their counts, and the groups that they are."""

    __slots__ = ("cells", "marks", "members", "size")

    def __init__(
        self, cells: dict[int, int], marks: list[int], size: int, members: set[int]
    ) -> None:
        self.cells, self.marks, self.size, self.members = cells, marks, size, members

    def copy(self) -> Cluster:
        """A cluster that changes without this one."""
        return Cluster(dict(self.cells), list(self.marks), self.size, set(self.members))

    def absorb(self, cluster: Cluster) -> None:
        """Take in another cluster."""
        for entity, number in cluster.cells.items():
            self.cells[entity] = self.cells.get(entity, 0) + number
        self.marks = list(map(add, self.marks, cluster.marks))
        self.size += cluster.size
        self.members |= cluster.members

    def release(self, cluster: Cluster) -> None:
        """Let go of a cluster that is part of this one."""
        for entity, number in cluster.cells.items():
            if self.cells[entity] == number:
                del self.cells[entity]
            else:
                self.cells[entity] -= number
        self.marks = list(map(sub, self.marks, cluster.marks))
        self.size -= cluster.size
        self.members -= cluster.members

    def gain(self, cluster: Cluster, scale: int) -> int:
        """What it is worth to join two clusters, the second of which may be large."""
        held = cluster.cells.get
        shared = sum([number * held(entity, 0) for entity, number in self.cells.items()])
        votes = 2 * shared - sum(map(mul, self.marks, cluster.marks))
        return scale * votes - self.size * cluster.size


class Climb:
    """A local search: groups move and clusters are joined as long as that gains anything.

    `apart` has the groups from which a group is kept apart.
    """

    def __init__(
        self,
        groups: Mapping[int, Cluster],
        start: Mapping[int, int],
        owner: Sequence[int],
        apart: Apart,
        scale: int,
    ) -> None:
        self.groups, self.owner, self.apart, self.scale = groups, owner, apart, scale
        self.clusters: dict[int, Cluster] = {}
        self.holders: dict[int, set[int]] = defaultdict(set)
        self.place: dict[int, int] = {}
        self.nearest: dict[int, list[tuple[int, int]]] = {}
        self.numbers = count()
        numbers: dict[int, int] = {}
        for group in groups:
            number = numbers.get(start[group], -1)
            if number < 0 or number in self._barred(group):
                number = numbers[start[group]] = next(self.numbers)
            self._put(group, number)

    def run(self) -> dict[int, int]:
        """Search until nothing helps; the cluster of each group."""
        while True:
            groups: Sequence[int] = list(self.groups)
            while groups:
                moved = self._pass(groups, self._move)
                # Those that moved are the likeliest to move again; all others once these rest.
                groups = moved or ([] if len(groups) == len(self.groups) else list(self.groups))
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
        annotator, held = self.owner[entity], []
        for number in self.holders[entity]:
            cluster = self.clusters[number]
            if 2 * cluster.cells[entity] > cluster.marks[annotator]:
                held.append((-cluster.cells[entity], number))
        return nsmallest(_BLOCKS, held)

    def _barred(self, group: int) -> set[int]:
        return {self.place[rival] for rival in self.apart.get(group, ()) if rival in self.place}

    def _put(self, group: int, number: int) -> None:
        cluster = self.clusters.get(number)
        if cluster is None:
            self.clusters[number] = self.groups[group].copy()
        else:
            cluster.absorb(self.groups[group])
        self.place[group] = number
        for entity in self.groups[group].cells:
            self.holders[entity].add(number)

    def _drop(self, number: int, cluster: Cluster) -> None:
        """Take a cluster's groups out of the cluster of this number."""
        remaining = self.clusters[number]
        remaining.release(cluster)
        for entity in cluster.cells:
            if entity not in remaining.cells:
                self.holders[entity].discard(number)
        if not remaining.members:
            del self.clusters[number]

    def _best(self, cluster: Cluster, barred: set[int], start: tuple[int, int]) -> int:
        """The cluster that gains most with this one; `start` has a gain to beat, and its number.

        A gain is at most twice the shared pairs: those who share too few are not looked at.
        """
        best, chosen = start
        least = best // (2 * self.scale * len(cluster.cells))
        candidates = set()
        for entity, number in cluster.cells.items():
            if entity not in self.nearest:
                self.nearest[entity] = self._find_nearest(entity)
            for held, candidate in self.nearest[entity]:
                if -held * number <= least:
                    break
                candidates.add(candidate)
        for candidate in (candidates - barred) & self.clusters.keys():
            gain = cluster.gain(self.clusters[candidate], self.scale)
            if gain > best or (gain == best and chosen != start[1] and candidate < chosen):
                best, chosen = gain, candidate
        return chosen

    def _move(self, group: int) -> bool:
        before, cluster = self.place[group], self.groups[group]
        stay = cluster.gain(self.clusters[before], self.scale) - cluster.gain(cluster, self.scale)
        start = (stay, before) if stay >= 0 else (0, -1)
        after = self._best(cluster, self._barred(group) | {before}, start)
        if after != before:
            self._drop(before, cluster)
            self._put(group, next(self.numbers) if after < 0 else after)
        return after != before

    def _join(self, number: int) -> bool:
        cluster = self.clusters[number]
        barred = {number}.union(*map(self._barred, cluster.members & self.apart.keys()))
        target = self._best(cluster, barred, (0, number))
        if target == number:
            return False
        groups = sorted(cluster.members)
        self._drop(number, cluster.copy())
        for group in groups:
            self._put(group, target)
        return True


Apart = Mapping[int, set[int]]


def divide(groups: Sequence[Cluster], owner: IntArray, apart: Apart) -> tuple[IntArray, IntArray]:
    """The cluster of each group, numbered in order, and the component of each group.

    Groups are in the order of the text; `owner` has the annotator of each entity. Groups that share
    no entity, even through others, are in different components, and never together.
    """
    component = _components(groups)
    scale = 1 + sum(group.size for group in groups) ** 2
    members: dict[int, list[int]] = defaultdict(list)
    for number, part in enumerate(component.tolist()):
        members[part].append(number)
    place = np.zeros(len(groups), dtype=np.int64)
    first = 0
    for numbers in members.values():
        parts = {number: groups[number] for number in numbers}
        solve = _solve if len(numbers) <= EXACT else _search
        chosen = solve(parts, owner, apart, scale)
        place[numbers] = first + np.array(chosen)
        first += len(numbers)
    return in_order(place), component


def in_order(numbers: IntArray) -> IntArray:
    """Numbers counted anew from 0 in the order in which they come first."""
    ranks, _ = dense_ranks(numbers)
    first = np.full(int(ranks.max(initial=-1)) + 1, ranks.size, dtype=np.int64)
    np.minimum.at(first, ranks, np.arange(ranks.size))
    return np.asarray(dense_ranks(first)[0][ranks])


def _components(groups: Sequence[Cluster]) -> IntArray:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows = np.repeat(np.arange(len(groups)), [len(group.cells) for group in groups])
    columns = np.array([entity for group in groups for entity in group.cells], dtype=np.int64)
    size = len(groups) + int(columns.max(initial=-1)) + 1
    links = coo_array((np.ones(rows.size), (rows, len(groups) + columns)), shape=(size, size))
    labels: IntArray = connected_components(links, directed=False)[1][: len(groups)]
    return in_order(labels)


def _solve(
    groups: Mapping[int, Cluster], owner: IntArray, apart: Apart, scale: int
) -> Sequence[int]:
    """The best partition of few groups, by branch and bound.

    What groups that are still to be placed can gain is at most the sum of their positive gains.
    """
    numbers = list(groups)
    forbidden = -(scale**3)  # more than all gains together
    weights = [
        [
            forbidden if b in apart.get(a, ()) else groups[a].gain(groups[b], scale)
            for a in numbers[:row]
        ]
        for row, b in enumerate(numbers)
    ]
    hope = [sum(weight for weight in row if weight > 0) for row in weights]
    hopes = [sum(hope[row:]) for row in range(len(hope) + 1)]
    best, chosen = 0, list(range(len(numbers)))
    place: list[int] = []

    def extend(value: int) -> None:
        nonlocal best, chosen
        row = len(place)
        if value + hopes[row] <= best:
            return
        if row == len(numbers):
            best, chosen = value, place[:]
            return
        gains = [0] * (max(place, default=-1) + 2)
        for block, weight in zip(place, weights[row], strict=True):
            gains[block] += weight
        for block in sorted(range(len(gains)), key=lambda block: -gains[block]):
            place.append(block)
            extend(value + gains[block])
            place.pop()

    extend(0)
    return chosen


def _search(
    groups: Mapping[int, Cluster], owner: IntArray, apart: Apart, scale: int
) -> Sequence[int]:
    """The best end of local searches from the partition of each annotator."""
    annotators = owner.tolist()
    ends = set()
    for annotator in range(len(next(iter(groups.values())).marks)):
        start = {}
        for number, group in groups.items():
            entities = [entity for entity in group.cells if annotators[entity] == annotator]
            start[number] = max(entities, key=group.cells.__getitem__, default=-1 - number)
        climb = Climb(groups, start, annotators, apart, scale)
        place = np.array(list(climb.run().values()))
        value = sum(_worth(cluster, annotators, scale) for cluster in climb.clusters.values())
        ends.add((-value, tuple(in_order(place).tolist())))
    return min(ends)[1]


def _worth(cluster: Cluster, annotators: Sequence[int], scale: int) -> int:
    """Twice what all pairs of mentions of a cluster gain, but for what no partition changes."""
    cells, marks = cluster.cells.values(), cluster.marks
    votes = 2 * sum(n * n for n in cells) - sum(n * n for n in marks)
    return scale * votes - cluster.size**2


def bound_cost(groups: Sequence[Cluster], numbers: Sequence[int], apart: Apart) -> int:
    """A number of votes that every partition of these groups overrules.

    Each pair overrules the smaller side of its votes. Of three pairs of groups of which two had
    better be together and the third apart, one is not as it should be: the smallest loss is taken
    off all three, as long as there are such triangles.
    """
    from scipy.sparse import csr_array

    chosen = [groups[number] for number in numbers]
    lengths = [len(group.cells) for group in chosen]
    columns, _ = dense_ranks(np.array([entity for group in chosen for entity in group.cells]))
    values = np.array([n for group in chosen for n in group.cells.values()])
    cells = csr_array((values, columns, np.concatenate(([0], np.cumsum(lengths)))))
    marks = np.array([group.marks for group in chosen])
    votes, total = (cells @ cells.T).toarray(), marks @ marks.T
    inside = (np.trace(total) - marks.sum() - np.trace(votes) + values.sum()) // 2
    gain, loss = 2 * votes - total, np.minimum(votes, total - votes)
    rank = {number: row for row, number in enumerate(numbers)}
    for number, rivals in apart.items():
        rows = [rank[rival] for rival in rivals if rival in rank and number in rank]
        loss[rank.get(number, 0), rows] = votes[rank.get(number, 0), rows]
        gain[rank.get(number, 0), rows] = -total.sum()
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

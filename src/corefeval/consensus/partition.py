"""The partition that overrules the fewest votes, of groups of mentions, without listing pairs.

Groups and clusters of them are counts: of their mentions in each entity of each annotator, of those
that each annotator marked, and of all. What two of them gain together is a weighted product of
their counts. Groups that must be apart have a column in common whose weight outweighs all others.
Of partitions of one cost, that with fewer links is better.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nsmallest
from itertools import count, pairwise
from typing import Any

import numpy as np

from corefeval.model.arrays import FloatArray, IntArray

EXACT = 10  # groups of a component that is solved exactly
BOUNDED = 1000  # groups of a component that has a bound
_NEAREST = 4  # clusters that are looked at for each entity of a group
Cells = Mapping[int, int]  # the counts of a group or cluster that are not 0, by column
Weighed = Sequence[tuple[int, int]]  # columns with weighted counts


def in_order(numbers: Any) -> IntArray:
    """Numbers counted anew from 0 in the order in which they come first."""
    _, first, ranks = np.unique(numbers, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[ranks])


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of mentions in the order of the text.

    `owner` has the annotator of each entity. `counts` is a sparse table with a row for each group:
    its mentions in each entity, those that each annotator marked, all, and a 1 for each pair of
    groups that must be apart, in the rows of these two.
    """

    counts: Any
    owner: IntArray
    n_annotators: int

    @staticmethod
    def of(labels: IntArray, group: IntArray, apart: Sequence[tuple[int, int]] = ()) -> Groups:
        """The groups of mentions, whose entities are `labels` by annotator (−1: not marked)."""
        annotator, mention = np.nonzero(labels >= 0)
        owner = np.zeros(int(labels.max(initial=-1)) + 1, dtype=np.int64)
        owner[labels[annotator, mention]] = annotator
        last = owner.size + len(labels)
        pairs = np.array(apart, dtype=np.int64).reshape(-1, 2)
        columns = labels[annotator, mention], owner.size + annotator, np.full(group.size, last)
        column = np.concatenate((*columns, last + 1 + np.repeat(np.arange(len(pairs)), 2)))
        row = np.concatenate((group[mention], group[mention], group, pairs.ravel()))
        shape = int(group.max(initial=-1)) + 1, last + 1 + len(pairs)
        return Groups(_sum_cells(row, column, shape), owner, len(labels))

    @cached_property
    def component(self) -> IntArray:
        """Groups that share no entity, even through others, are in different components."""
        from scipy.sparse.csgraph import connected_components

        number, size = self.counts.shape[0], sum(self.counts.shape)
        row, column = self.sections[0].nonzero()
        links = _sum_cells(row, number + column, (size, size))
        return in_order(connected_components(links, directed=False)[1][:number])

    @cached_property
    def sections(self) -> tuple[Any, Any, Any, Any]:
        """The columns of entities, of marks, of all mentions, and of groups that must be apart."""
        marks, everything = self.owner.size, self.owner.size + self.n_annotators
        ends = (0, marks, everything, everything + 1, self.counts.shape[1])
        entities, marked, total, apart = (self.counts[:, a:b] for a, b in pairwise(ends))
        return entities, marked, total, apart

    @cached_property
    def weights(self) -> list[int]:
        """What it is worth that two clusters have counts in a column, for each column."""
        values = (2, -1, 0, -2 * self.n_annotators * self.scale)
        sizes = (section.shape[1] for section in self.sections)
        return [value for value, size in zip(values, sizes, strict=True) for _ in range(size)]

    @cached_property
    def scale(self) -> int:
        """More than there can be links."""
        return 1 + int(self.sections[2].sum()) ** 2

    def sum_by(self, number: IntArray) -> Groups:
        """Groups made of all groups with one number."""
        shape = int(number.max(initial=-1)) + 1, number.size
        counts = _sum_cells(number, np.arange(number.size), shape) @ self.counts
        return Groups(counts, self.owner, self.n_annotators)

    def count_pairs(self) -> tuple[FloatArray, FloatArray]:
        """Votes for pairs of mentions within each group, and all votes on them."""
        votes, total = ((part * part - part).sum(axis=1) / 2 for part in self.sections[:2])
        return votes, total

    def costs(self, cluster: IntArray) -> FloatArray:
        """The votes that a partition overrules in each component."""
        part = np.zeros(int(cluster.max(initial=-1)) + 1, dtype=np.int64)
        part[cluster] = self.component
        votes, total = self.sum_by(cluster).count_pairs()
        links, _ = self.sum_by(self.component).count_pairs()
        return np.rint(links + np.bincount(part, total - 2 * votes, minlength=links.size))


def _sum_cells(row: IntArray, column: IntArray, shape: tuple[int, int]) -> Any:
    from scipy.sparse import coo_array

    return coo_array((np.ones(row.size, np.int64), (row, column)), shape=shape).tocsr()


def divide(groups: Groups) -> tuple[IntArray, FloatArray, FloatArray]:
    """The cluster of each group; then the cost of each component, and the least it can be."""
    table, ends = groups.counts, groups.counts.indptr.tolist()
    cells = list(zip(table.indices.tolist(), table.data.tolist(), strict=True))
    members: dict[int, list[int]] = defaultdict(list)
    for group, part in enumerate(groups.component.tolist()):
        members[part].append(group)
    cluster = np.arange(len(ends) - 1)
    for rows in members.values():
        parts = [dict(cells[ends[group] : ends[group + 1]]) for group in rows]
        solve = _solve if len(rows) <= EXACT else _search
        cluster[rows] = np.array(rows)[solve(parts, groups)]
    cluster = in_order(cluster)
    costs = groups.costs(cluster)
    bounds = costs.copy()
    for part, rows in members.items():
        if len(rows) > EXACT:
            bounds[part] = _bound_cost(groups, rows) if len(rows) <= BOUNDED else 0
    return cluster, costs, bounds


def _weigh(cells: Cells, groups: Groups) -> Weighed:
    weights = groups.weights
    return [(key, number * weights[key]) for key, number in cells.items() if weights[key]]


def _gain(weighed: Weighed, cells: Cells) -> int:
    """What it is worth to join two clusters, of which the first has weighted counts."""
    held = cells.get
    return sum([value * held(key, 0) for key, value in weighed])


def _solve(parts: Sequence[Cells], groups: Groups) -> Sequence[int]:
    """The best partition of few groups, by branch and bound.

    What groups that are still to be placed can gain is at most the sum of their positive gains.
    """
    size, weighed = groups.owner.size + groups.n_annotators, [_weigh(c, groups) for c in parts]
    gains = [
        [
            _gain(weighed[row], earlier) * groups.scale - cells[size] * earlier[size]
            for earlier in parts[:row]
        ]
        for row, cells in enumerate(parts)
    ]
    hopes = [sum(max(gain, 0) for row in gains[n:] for gain in row) for n in range(len(parts) + 1)]
    best, chosen = 0, list(range(len(parts)))
    place: list[int] = []

    def extend(value: int) -> None:
        nonlocal best, chosen
        row = len(place)
        if value + hopes[row] <= best:
            return
        if row == len(parts):
            best, chosen = value, place[:]
            return
        totals = [0] * (max(place, default=-1) + 2)
        for cluster, gain in zip(place, gains[row], strict=True):
            totals[cluster] += gain
        for cluster in sorted(range(len(totals)), key=lambda cluster: -totals[cluster]):
            place.append(cluster)
            extend(value + totals[cluster])
            place.pop()

    extend(0)
    return chosen


def _search(parts: Sequence[Cells], groups: Groups) -> Sequence[int]:
    """The best end of local searches, one from each annotator's partition."""
    climb, owner = _Climb(parts, groups), groups.owner.tolist()
    ends = []
    for annotator in range(groups.n_annotators):
        labels = []
        for number, (cells, entities) in enumerate(zip(parts, climb.entities, strict=True)):
            marked = [entity for entity in entities if owner[entity] == annotator]
            labels.append(max(marked, key=cells.__getitem__, default=-1 - number))
        ends.append(climb.run(in_order(labels).tolist()))
    return min(ends)[2]


class _Climb:
    """A local search: groups move and clusters are joined as long as that gains anything."""

    def __init__(self, parts: Sequence[Cells], groups: Groups) -> None:
        self.parts, self.groups = parts, groups
        self.marks = (groups.owner.size + groups.owner).tolist()  # the column beside each entity
        self.size = len(self.marks) + groups.n_annotators  # the column of all mentions
        self.entities = [self._list_leading(cells, 0) for cells in parts]
        self.weighed = [_weigh(cells, groups) for cells in parts]
        self.inner = [_gain(*pair) for pair in zip(self.weighed, parts, strict=True)]
        self.holders: dict[int, list[int]] = defaultdict(list)  # the groups in each entity
        for group, entities in enumerate(self.entities):
            for entity in entities:
                self.holders[entity].append(group)

    def _list_leading(self, cells: Cells, share: float = 0.5) -> list[int]:
        """The entities that have more than a share of what their annotators marked."""
        limit = len(self.marks)
        return [e for e, n in cells.items() if e < limit and n > share * cells[self.marks[e]]]

    def run(self, place: list[int]) -> tuple[int, int, list[int]]:
        """What is lost, links, and the cluster of each group, at the end of a search from there."""
        self.place, self.clusters = place, defaultdict[int, Counter[int]](Counter)
        for number, cells in zip(place, self.parts, strict=True):
            self.clusters[number].update(cells)
        self.numbers = count(max(place) + 1)
        self.drift, self.limits = [0] * len(self.marks), [0] * len(place)
        while self._move() or self._join():
            pass
        clusters = self.clusters.values()
        value = sum(_gain(_weigh(cells, self.groups), cells) for cells in clusters)
        return -value, sum(c[self.size] ** 2 for c in clusters), in_order(self.place).tolist()

    def _move(self) -> bool:
        """Put each group where it gains most, if only alone; whether any has moved.

        A group need not be looked at before so many mentions of its entities have moved (`drift`)
        that another place might be better for it.
        """
        self.nearest, has_moved = dict[int, list[tuple[int, int]]](), False
        for group, (cells, weighed) in enumerate(zip(self.parts, self.weighed, strict=True)):
            drift = sum([self.drift[entity] for entity in self.entities[group]])
            if drift < self.limits[group]:
                continue
            before, size = self.place[group], cells[self.size]
            cluster = self.clusters[before]
            gain = _gain(weighed, cluster) - self.inner[group]
            options = self._list_options(gain, before, cells, weighed, self.entities[group])
            options.append((gain, size * (size - cluster[self.size]), before))
            if cluster[self.size] > size:
                options.append((0, 0, -1))
            best = max(options)
            second = sorted([gain // 2, *(option[0] for option in options)])[-2]
            margin = (best[0] - second) // (2 * self.groups.n_annotators * size)
            self.limits[group] = drift + margin + 1
            if best[2] != before:
                self.place[group] = after = next(self.numbers) if best[2] < 0 else best[2]
                self.clusters[after].update(cells)
                cluster.subtract(cells)
                if not cluster[self.size]:
                    del self.clusters[before]
                self._count_drift(cells)
                has_moved = True
        return has_moved

    def _count_drift(self, cells: Cells) -> None:
        for entity in self._list_leading(cells, 0):
            self.drift[entity] += cells[entity]

    def _join(self) -> bool:
        """Join each cluster with the one that gains most by it; whether any was joined.

        Only those can gain in which one entity leads for some annotator.
        """
        joined, self.nearest = dict[int, int](), dict[int, list[tuple[int, int]]]()
        for number, cells in list(self.clusters.items()):
            weighed, leading = _weigh(cells, self.groups), self._list_leading(cells)
            options = self._list_options(0, number, cells, weighed, leading)
            gain, _, target = max(options, default=(0, 0, 0))
            if gain > 0:
                self._count_drift(cells)
                self.clusters[target].update(self.clusters.pop(number))
                joined[number] = target
        for number in reversed(joined):
            joined[number] = joined.get(joined[number], joined[number])
        self.place = [joined.get(number, number) for number in self.place]
        return bool(joined)

    def _list_nearest(self, entity: int) -> list[tuple[int, int]]:
        """The largest clusters in which an entity leads: its mentions there, and the number."""
        if entity not in self.nearest:
            mark, pairs = self.marks[entity], []
            for number in {self.place[group] for group in self.holders[entity]}:
                cells = self.clusters.get(number, {})
                if 2 * cells.get(entity, 0) > cells.get(mark, 0):
                    pairs.append((-cells[entity], number))
            self.nearest[entity] = nsmallest(_NEAREST, pairs)
        return self.nearest[entity]

    def _list_options(
        self,
        stay: int,
        before: int,
        cells: Cells,
        weighed: Weighed,
        entities: Sequence[int],
    ) -> list[tuple[int, int, int]]:
        """Other clusters than `before`: what is gained there, less links, and the number.

        A gain is at most twice the shared counts: clusters that cannot reach half of what it is
        worth to `stay` are left out.
        """
        least = stay // (4 * len(entities) or 1)
        candidates = {
            number
            for entity in entities
            for held, number in self._list_nearest(entity)
            if -held * cells[entity] >= least
        }
        options = []
        for number in sorted((candidates - {before}) & self.clusters.keys()):
            cluster = self.clusters[number]
            links = cells[self.size] * cluster[self.size]
            options.append((_gain(weighed, cluster), -links, number))
        return options


def _bound_cost(groups: Groups, rows: Sequence[int]) -> int:
    """A number of votes that every partition of some groups overrules.

    Each pair overrules the smaller side of its votes. Of three pairs of groups of which two had
    better be together and the third apart, one is not as it should be: the smallest loss is taken
    off all three, as long as there are such triangles.
    """
    sections = [section[rows] for section in groups.sections]
    votes, total, _, apart = ((part @ part.T).toarray() for part in sections)
    inside = np.trace(total - votes) // 2  # votes on pairs within a group
    gain = np.where(apart, -total.sum(), 2 * votes - total)
    loss = np.where(apart, votes, np.minimum(votes, total - votes))
    np.fill_diagonal(gain, 0)
    return int(inside + np.triu(loss, 1).sum()) + _pack_triangles(gain)


def _pack_triangles(gain: IntArray) -> int:
    """The losses of triangles that share no gain: see `_bound_cost`; `gain` is used up.

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

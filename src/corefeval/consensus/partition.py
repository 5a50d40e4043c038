"""The partition that overrules the fewest votes, of groups of mentions, without listing pairs.

Groups and clusters of them are counts: of their mentions in each entity of each annotator, of those
that each annotator marked, and of all. What two of them gain together is a weighted product of
their counts. It is scaled, and less the number of links by which it comes about, so that of two
partitions of one cost the one with fewer links is worth more. Groups that must be apart have a
column in common whose weight outweighs all others.
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
_BLOCKS = 8  # clusters that are looked at for each entity of a group
Cells = Mapping[int, int]  # the counts of a group or cluster that are not 0, by column


def in_order(numbers: IntArray) -> IntArray:
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
        scale = 1 + int(self.sections[2].sum()) ** 2
        values = (2 * scale, -scale, -1, -2 * self.n_annotators * scale**2)
        sizes = (section.shape[1] for section in self.sections)
        return [value for value, size in zip(values, sizes, strict=True) for _ in range(size)]

    def sum_by(self, number: IntArray) -> Groups:
        """Groups made of all groups with one number."""
        shape = int(number.max(initial=-1)) + 1, number.size
        counts = _sum_cells(number, np.arange(number.size), shape) @ self.counts
        return Groups(counts, self.owner, self.n_annotators)

    def count_pairs(self) -> tuple[FloatArray, FloatArray]:
        """Votes for pairs of mentions within each group, and all votes on them."""
        votes, total = ((part * part - part).sum(axis=1) / 2 for part in self.sections[:2])
        return votes, total

    def costs(self, block: IntArray) -> FloatArray:
        """The votes that a partition overrules in each component."""
        part = np.zeros(int(block.max(initial=-1)) + 1, dtype=np.int64)
        part[block] = self.component
        votes, total = self.sum_by(block).count_pairs()
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
    block = np.arange(len(ends) - 1)
    for listed in members.values():
        parts = [dict(cells[ends[group] : ends[group + 1]]) for group in listed]
        solve = _solve if len(listed) <= EXACT else _search
        block[listed] = np.array(listed)[solve(parts, groups)]
    block = in_order(block)
    costs = groups.costs(block)
    bounds = costs.copy()
    for part, listed in members.items():
        if len(listed) > EXACT:
            bounds[part] = _bound_cost(groups, listed) if len(listed) <= BOUNDED else 0
    return block, costs, bounds


def _gain(first: Cells, second: Cells, weights: Sequence[int]) -> int:
    """What it is worth to join two clusters, of which the second may be large."""
    held = second.get
    return sum([number * held(key, 0) * weights[key] for key, number in first.items()])


def _solve(parts: Sequence[Cells], groups: Groups) -> Sequence[int]:
    """The best partition of few groups, by branch and bound.

    What groups that are still to be placed can gain is at most the sum of their positive gains.
    """
    gains = [
        [_gain(earlier, cells, groups.weights) for earlier in parts[:row]]
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
        for block, gain in zip(place, gains[row], strict=True):
            totals[block] += gain
        for block in sorted(range(len(totals)), key=lambda block: -totals[block]):
            place.append(block)
            extend(value + totals[block])
            place.pop()

    extend(0)
    return chosen


def _search(parts: Sequence[Cells], groups: Groups) -> Sequence[int]:
    """The best end of local searches: from each annotator's partition, and from groups alone."""
    owner: list[int] = groups.owner.tolist()
    ends: list[tuple[int, list[int]]] = []
    for annotator in range(groups.n_annotators + (len(parts) <= BOUNDED)):
        labels = []
        for number, cells in enumerate(parts):
            entities = [key for key in cells if key < len(owner) and owner[key] == annotator]
            labels.append(max(entities, key=cells.__getitem__, default=-1 - number))
        climb = _Climb(parts, in_order(np.array(labels)).tolist(), groups)
        while climb.move_groups() or climb.join_clusters():
            pass
        value = sum(_gain(cells, cells, climb.weights) for cells in climb.clusters.values())
        ends.append((-value, in_order(np.array(climb.place)).tolist()))
    return min(ends)[1]


class _Climb:
    """A local search: groups move and clusters are joined as long as that gains anything."""

    def __init__(self, parts: Sequence[Cells], place: list[int], groups: Groups) -> None:
        self.parts, self.place, self.weights = parts, place, groups.weights
        self.column = (groups.owner.size + groups.owner).tolist()  # of what the annotator marked
        self.total = len(self.column) + groups.n_annotators
        self.clusters: dict[int, Counter[int]] = defaultdict(Counter)
        self.numbers = count(max(place) + 1)
        for number, cells in zip(place, parts, strict=True):
            self.clusters[number].update(cells)

    def move_groups(self) -> bool:
        """Put each group where it gains most, if only on its own; whether any has moved."""
        nearest, has_moved = self._list_nearest(), False
        for group, cells in enumerate(self.parts):
            before = self.place[group]
            cluster = self.clusters[before]
            stay = _gain(cells, cluster, self.weights) - _gain(cells, cells, self.weights)
            start = (stay, before) if stay >= 0 else (0, -1)
            after = self._find_best(cells, before, start, nearest)
            if after != before:
                self.place[group] = after = next(self.numbers) if after < 0 else after
                self.clusters[after].update(cells)
                cluster.subtract(cells)
                if not cluster[self.total]:
                    del self.clusters[before]
                has_moved = True
        return has_moved

    def join_clusters(self) -> bool:
        """Join each cluster with the one that gains most by it; whether any was joined."""
        nearest, joined = self._list_nearest(), {}
        for number, cells in list(self.clusters.items()):
            target = self._find_best(cells, number, (0, number), nearest)
            if target != number:
                self.clusters[target].update(self.clusters.pop(number))
                joined[number] = target
        for number in reversed(joined):
            joined[number] = joined.get(joined[number], joined[number])
        self.place = [joined.get(number, number) for number in self.place]
        return bool(joined)

    def _list_nearest(self) -> dict[int, list[tuple[int, int]]]:
        """The largest clusters that may gain by each entity: its mentions there, and the number.

        To gain anything, some entity must have most of what its annotator marked in the cluster.
        """
        held = defaultdict(list)
        for number, cells in self.clusters.items():
            for entity, size in cells.items():
                if entity < len(self.column) and 2 * size > cells[self.column[entity]]:
                    held[entity].append((-size, number))
        return {entity: nsmallest(_BLOCKS, pairs) for entity, pairs in held.items()}

    def _find_best(
        self,
        cells: Cells,
        before: int,
        start: tuple[int, int],
        nearest: Mapping[int, list[tuple[int, int]]],
    ) -> int:
        """The cluster that gains most with these counts; `start` has a gain to beat.

        A gain is at most that by shared entities: those who share too few are not looked at.
        """
        best, chosen = start
        entities = [key for key in cells if key < len(self.column)]
        least = best // (self.weights[0] * len(entities))
        candidates = {
            candidate
            for entity in entities
            for held, candidate in nearest.get(entity, ())
            if -held * cells[entity] > least
        }
        for candidate in sorted((candidates - {before}) & self.clusters.keys()):
            gain = _gain(cells, self.clusters[candidate], self.weights)
            if gain > best:
                best, chosen = gain, candidate
        return chosen


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

"""The partition that overrules the fewest votes, of groups of mentions, without listing pairs.

Groups and clusters of them are counts, by column: of their mentions in each entity of each
annotator, of those that each annotator marked, and of all. What two of them gain together is a
weighted product of their counts. Groups that must be apart have a column in common whose weight
outweighs all others. Of partitions of one cost, that with fewer links is better.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import nsmallest
from itertools import count
from math import comb
from typing import Any

import numpy as np

from corefeval.model.arrays import FloatArray, IntArray, plain_rows

EXACT = 10  # groups of a component that is solved exactly
BOUNDED = 1000  # groups of a component that has a bound
_NEAREST = 4  # clusters that are looked at for each entity of a group
_FEW = 0.01  # of the groups: where fewer move, clusters are joined
Cells = Mapping[int, int]  # the counts of a group or cluster that are not 0, by column


def in_order(numbers: Any) -> IntArray:
    """Numbers counted anew from 0 in the order in which they come first."""
    _, first, ranks = np.unique(numbers, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[ranks])


class Ballot:
    """The votes on groups of mentions: `parts` has the counts of each, in the order of the text.

    There are columns of all entities, of what each annotator marked, of `size`, and of pairs that
    must be apart. `marks` has for each entity the column of what its annotator marked.
    """

    def __init__(
        self, labels: IntArray, sizes: IntArray, node: IntArray, apart: Iterable[Sequence[int]]
    ) -> None:
        """Groups by their entities for each annotator (−1: not marked), and their sizes.

        Groups with the same node must be together, and pairs of nodes `apart`.
        """
        n_entities, pairs = int(labels.max(initial=-1)) + 1, list(apart)
        self.size = n_entities + len(labels)
        self.marks: dict[int, int] = {}
        self.parts = [Counter[int]() for _ in range(int(node.max(initial=-1)) + 1)]
        for number, size, entities in plain_rows(node, sizes, labels.T):
            self.parts[number][self.size] += size
            for mark, entity in enumerate(entities, start=n_entities):
                if entity >= 0:
                    self.marks[entity] = mark
                    self.parts[number].update({entity: size, mark: size})
        for column, pair in enumerate(pairs, start=self.size + 1):
            for number in pair:
                self.parts[number][column] = 1
        self.scale = 1 + len(labels) * int(sizes.sum()) ** 2  # more than all votes, and all links
        self.weights = [2] * n_entities + [-1] * len(labels) + [0] + [-self.scale] * len(pairs)

    def list_leading(self, cells: Cells) -> list[int]:
        """The entities that have most of what their annotators marked.

        Two clusters can only gain together if one entity leads in both.
        """
        marks = self.marks
        return [key for key in cells if key in marks and 2 * cells[key] > cells[marks[key]]]

    def weigh(self, cells: Cells) -> list[tuple[int, int]]:
        """The columns that matter, with weighted counts."""
        weights = self.weights
        return [(key, number * weights[key]) for key, number in cells.items() if weights[key]]

    def find_components(self) -> IntArray:
        """Groups that share no entity, even through others, are in different components."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        shift, marks = len(self.parts), self.marks
        links = [
            (n, shift + key) for n, part in enumerate(self.parts) for key in part if key in marks
        ]
        ends = np.array(links, dtype=np.int64).reshape(-1, 2).T
        graph = coo_array((np.ones(len(links)), tuple(ends)), shape=(shift + self.size,) * 2)
        return in_order(connected_components(graph, directed=False)[1][:shift])

    def rate(self, parts: Sequence[Cells], place: Sequence[int]) -> tuple[int, int]:
        """How many votes a partition of some groups overrules, and how many links it has."""
        clusters = _sum_cells(parts, place).values()
        [everything] = _sum_cells(parts, [0] * len(parts)).values()
        cost = sum(comb(number, 2) for key, number in everything.items() if key in self.marks)
        for cells in clusters:
            cost -= sum(self.weights[key] * comb(number, 2) for key, number in cells.items())
        return cost, sum(comb(cells[self.size], 2) for cells in clusters)


def _sum_cells(parts: Sequence[Cells], place: Sequence[int]) -> dict[int, Counter[int]]:
    """The counts of each cluster of groups."""
    clusters = defaultdict[int, Counter[int]](Counter)
    for number, cells in zip(place, parts, strict=True):
        clusters[number].update(cells)
    return clusters


def _gain(weighed: Iterable[tuple[int, int]], cells: Cells) -> int:
    """What it is worth to join two clusters, of which the first has weighted counts."""
    held = cells.get
    return sum([value * held(key, 0) for key, value in weighed])


def divide(ballot: Ballot) -> tuple[IntArray, IntArray, IntArray]:
    """The cluster and component of each group; and the cost and bound of each component."""
    component, members = ballot.find_components(), defaultdict[int, list[int]](list)
    for row, number in enumerate(component.tolist()):
        members[number].append(row)
    cluster, proof = np.arange(component.size), []
    for rows in members.values():
        parts = [ballot.parts[row] for row in rows]
        is_small = len(rows) <= EXACT
        place = (_solve if is_small else _search)(parts, ballot)
        cluster[rows] = np.array(rows)[place]
        bound = cost = ballot.rate(parts, place)[0]
        if not is_small:
            bound = _bound_cost(parts, ballot) if len(rows) <= BOUNDED else 0
        proof.append((cost, bound))
    return cluster, component, np.array(proof, dtype=np.int64).reshape(-1, 2).T


def _solve(parts: Sequence[Cells], ballot: Ballot) -> list[int]:
    """The best partition of few groups, by branch and bound.

    What groups that are still to be placed can gain is at most the sum of their positive gains.
    """
    gains = [
        [
            _gain(ballot.weigh(cells), earlier) * ballot.scale
            - cells[ballot.size] * earlier[ballot.size]
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


def _search(parts: Sequence[Cells], ballot: Ballot) -> list[int]:
    """The best end of local searches, one from each annotator's partition."""
    leading, ends = list(map(ballot.list_leading, parts)), []
    for mark in sorted({*ballot.marks.values()}):
        labels = [
            next((key for key in keys if ballot.marks[key] == mark), -1 - group)
            for group, keys in enumerate(leading)
        ]
        place = _climb(parts, in_order(labels).tolist(), ballot)
        ends.append((*ballot.rate(parts, place), place))
    return min(ends)[2]


def _climb(parts: Sequence[Cells], place: list[int], ballot: Ballot) -> list[int]:
    """The cluster of each group when nothing is gained by moving groups or joining clusters."""
    search = _Moves(parts, ballot)
    while True:
        search.start(place)
        while search.move() > _FEW * len(parts):
            pass
        place = in_order(search.place).tolist()
        clusters = _sum_cells(parts, place)
        joins = _Moves([clusters[number] for number in range(len(clusters))], ballot)
        joins.start(range(len(clusters)))
        if not joins.move():
            return place
        place = [joins.place[number] for number in place]


class _Moves:
    """A local search in which groups move between clusters, as long as that gains anything."""

    def __init__(self, parts: Sequence[Cells], ballot: Ballot) -> None:
        self.parts, self.ballot = parts, ballot
        self.leading = list(map(ballot.list_leading, parts))
        self.weighed = list(map(ballot.weigh, parts))
        self.inner = list(map(_gain, self.weighed, parts))

    def start(self, place: Iterable[int]) -> None:
        """Begin with each group in the cluster of a number below that of all groups."""
        self.place, self.numbers = list(place), count(len(self.parts))
        self.clusters = _sum_cells(self.parts, self.place)

    def move(self) -> int:
        """Put each group where it gains most, if only alone; how many have moved."""
        nearest, n_moved, size_column = self._list_nearest(), 0, self.ballot.size
        for group, (cells, weighed) in enumerate(zip(self.parts, self.weighed, strict=True)):
            before, size = self.place[group], cells[size_column]
            cluster = self.clusters[before]
            stay = _gain(weighed, cluster) - self.inner[group]
            # What is gained, less the links there, and the cluster.
            options = [(stay, size * (size - cluster[size_column]), before)]
            if cluster[size_column] > size:
                options.append((0, 0, -1))
            numbers = {n for entity in self.leading[group] for n in nearest.get(entity, ())}
            options += [
                (_gain(weighed, rival), -size * rival[size_column], number)
                for number in numbers - {before}
                if (rival := self.clusters.get(number))
            ]
            after = max(options)[2]
            if after != before:
                self.place[group] = after = next(self.numbers) if after < 0 else after
                self.clusters[after].update(cells)
                cluster.subtract(cells)
                if not cluster[size_column]:
                    del self.clusters[before]
                n_moved += 1
        return n_moved

    def _list_nearest(self) -> dict[int, list[int]]:
        """The clusters in which each entity leads; of many, those with most of its mentions."""
        held = defaultdict[int, list[tuple[int, int]]](list)
        for number, cells in self.clusters.items():
            for entity in self.ballot.list_leading(cells):
                held[entity].append((-cells[entity], number))
        return {key: [n for _, n in nsmallest(_NEAREST, pairs)] for key, pairs in held.items()}


def _bound_cost(parts: Sequence[Cells], ballot: Ballot) -> int:
    """A number of votes that every partition of some groups overrules.

    Each pair overrules the smaller side of its votes. Of three pairs of groups of which two had
    better be together and the third apart, one is not as it should be: the smallest loss is taken
    off all three, as long as there are such triangles.
    """

    def multiply(weight: int) -> FloatArray:
        keys = {key for cells in parts for key in cells if ballot.weights[key] == weight}
        table = np.array([[cells[key] for key in keys] for cells in parts], dtype=np.float64)
        return np.asarray(table @ table.T)

    votes, total, apart = map(multiply, (2, -1, -ballot.scale))
    inside = np.trace(total - votes) // 2  # votes on pairs within a group
    gain = np.where(apart, -total.sum(), 2 * votes - total)
    loss = np.where(apart, votes, np.minimum(votes, total - votes))
    np.fill_diagonal(gain, 0)
    return int(inside + np.triu(loss, 1).sum() + _pack_triangles(gain))


def _pack_triangles(gain: FloatArray) -> float:
    """The losses of triangles that share no gain: see `_bound_cost`; `gain` is used up.

    The largest gains, and for each the largest losses, come first.
    """
    packed = 0.0
    edges = np.argwhere(gain > 0)
    for i, j in edges[np.argsort(-gain[*edges.T], kind="stable")].tolist():
        thirds = np.flatnonzero((gain[j] > 0) & (gain[i] < 0))
        losses = np.minimum(gain[j, thirds], -gain[i, thirds])
        for k in thirds[np.argsort(-losses, kind="stable")].tolist():
            loss = min(gain[i, j], gain[j, k], -gain[i, k])
            packed += loss
            for a, b, change in ((i, j, -loss), (j, k, -loss), (i, k, loss)):
                gain[[a, b], [b, a]] += change
            if gain[i, j] <= 0:
                break
    return packed

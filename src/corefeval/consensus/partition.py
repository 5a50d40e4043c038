"""The partition that overrules the fewest votes, of groups of mentions, without listing pairs.

Groups and clusters of them are counts, by column: of their mentions in each entity of each
annotator, of those that each annotator marked, and of all. What two of them gain together is a
product of their counts, weighted by column. The column of all mentions weighs so little that it
only decides between partitions of one cost: that with fewer links is better. Groups that must be
apart have a column in common that outweighs all votes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush, nsmallest
from typing import Any

import numpy as np

from corefeval.model.arrays import FloatArray, IntArray, begin_runs, plain_rows, stable_order

EXACT = 10  # groups of a component that is solved exactly
BOUNDED = 1000  # groups of a component that has a bound
_NEAREST = 4  # clusters that are looked at for each entity of a group
Cells = Counter[tuple[int, int]]  # the counts of a group or cluster, by weight and column
Place = Sequence[int]  # the cluster of each group


def in_order(numbers: Any) -> IntArray:
    """Numbers counted anew from 0 in the order in which they come first."""
    _, first, ranks = np.unique(numbers, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[ranks])


def divide(
    labels: IntArray, node: IntArray, apart: Iterable[Sequence[int]]
) -> tuple[IntArray, IntArray, FloatArray]:
    """The cluster and component of each mention, and a bound of the cost of each component.

    `labels` has the entities of mentions for each annotator, −1 where they are not marked.
    Mentions, in the order of the text, with the same node are one group; pairs of nodes must be
    `apart`. A component that is solved exactly has the bound ∞, one without a bound has −∞.
    """
    parts = _count_votes(labels, node, apart)
    _, first, node = np.unique(in_order(node), return_index=True, return_inverse=True)
    component = _find_components(labels, node)
    starts = np.where(labels >= 0, labels, -1 - node)[:, first]
    cluster, bounds = np.arange(first.size), []
    order = stable_order(component[first])
    begins = np.flatnonzero(begin_runs(component[first[order]]))
    for rows in np.split(order, begins)[1:]:
        cells, bound = [parts[row] for row in rows.tolist()], np.inf
        if rows.size <= EXACT:
            place = _solve(cells)
        else:
            place = _search(cells, starts[:, rows])
            bound = _bound_cost(cells) if rows.size <= BOUNDED else -np.inf
        cluster[rows] = rows[in_order(place)]
        bounds.append(bound)
    return in_order(cluster[node]), component, np.array(bounds)


def _count_votes(labels: IntArray, node: IntArray, apart: Iterable[Sequence[int]]) -> list[Cells]:
    """The counts of each node."""
    scale = 1 + labels.size * node.size  # more than all votes, and all links
    parts = defaultdict[int, Cells](Counter)
    for number, entities in plain_rows(node, labels.T):
        parts[number][-1, 0] += 1
        for annotator, entity in enumerate(entities):
            if entity >= 0:
                parts[number].update(((2 * scale, entity), (-scale, annotator)))
    for column, pair in enumerate(apart):
        for number in pair:
            parts[number][-(scale**2), column] = 1
    return [*parts.values()]


def count_cost(labels: IntArray, cluster: IntArray, place: IntArray, n_places: int) -> FloatArray:
    """How many votes a partition overrules in each place: those for a link, and those for none."""
    cost = np.zeros(n_places)
    for label in labels:
        rows = np.flatnonzero(label >= 0)
        for weight, codes in ((1, label), (1, cluster), (-2, label * cluster.size + cluster)):
            _, first, sizes = np.unique(codes[rows], return_index=True, return_counts=True)
            cost += weight * np.bincount(place[rows[first]], sizes * (sizes - 1) / 2, n_places)
    return cost


def _find_components(labels: IntArray, node: IntArray) -> IntArray:
    """Mentions whose nodes share no entity, even through others, are in different components."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    annotator, mention = np.nonzero(labels >= 0)
    ends = node[mention], node.size + labels[annotator, mention]
    shape = (node.size + int(labels.max(initial=-1)) + 1,) * 2
    graph = coo_array((np.ones(mention.size), ends), shape=shape)
    return in_order(connected_components(graph, directed=False)[1][node])


def _sum_cells(parts: Sequence[Cells], place: Place) -> defaultdict[int, Cells]:
    """The counts of each cluster of groups."""
    clusters = defaultdict[int, Cells](Counter)
    for number, cells in zip(place, parts, strict=True):
        clusters[number].update(cells)
    return clusters


def _gain(part: Cells, cells: Cells) -> int:
    """What it is worth to join two clusters."""
    held = cells.get
    return sum([number * column[0] * held(column, 0) for column, number in part.items()])


def _solve(parts: Sequence[Cells]) -> Place:
    """The best partition of few groups.

    Groups are placed one after the other. Each loses what it would gain with groups that it is
    apart from, and what it does not gain with those in its cluster. The beginning that has lost
    least so far is continued first: the first partition to be complete loses least.
    """
    gains = [[_gain(cells, earlier) for earlier in parts[:row]] for row, cells in enumerate(parts)]
    beginnings: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    while True:
        lost, place = heappop(beginnings)
        if len(place) == len(parts):
            return place
        for cluster in range(max(place, default=-1) + 2):
            losses = (
                max(-gain if number == cluster else gain, 0)
                for number, gain in zip(place, gains[len(place)], strict=True)
            )
            heappush(beginnings, (lost + sum(losses), (*place, cluster)))


def _search(parts: Sequence[Cells], starts: IntArray) -> Place:
    """The best end of local searches, one from each annotator's partition."""
    ends: list[tuple[int, Place]] = []
    for start in starts:
        place, before = in_order(start).tolist(), None
        while place != before:
            before = place
            place = in_order(_move(parts, place)).tolist()
            clusters = list(_sum_cells(parts, place).values())
            joined = _move(clusters, range(len(clusters)))
            place = in_order([joined[number] for number in place]).tolist()
        value = sum(_gain(cells, cells) for cells in _sum_cells(parts, place).values())
        ends.append((-value, place))
    return min(ends)[1]


def _move(parts: Sequence[Cells], start: Place) -> Place:
    """Put each group where it gains most, if only alone, one after the other."""
    place, clusters, empty = list(start), _sum_cells(parts, start), len(parts)
    held = defaultdict[tuple[int, int], list[tuple[int, int]]](list)
    for number, cells in clusters.items():
        for column, count in cells.items():
            held[column].append((-count, number))
    nearest = {
        column: [number for _, number in nsmallest(_NEAREST, pairs)]
        for column, pairs in held.items()
        if column[0] > 0
    }
    for row, cells in enumerate(parts):
        clusters[place[row]].subtract(cells)
        rivals = {number for column in cells for number in nearest.get(column, ())}
        options = [place[row], empty, *sorted(rivals)]
        place[row] = max(options, key=lambda number: _gain(cells, clusters[number]))
        clusters[place[row]].update(cells)
        empty += place[row] == empty
    return place


def _bound_cost(parts: Sequence[Cells]) -> int:
    """A number of votes that every partition of some groups overrules.

    Each pair overrules the smaller side of its votes. Of three pairs of groups of which two had
    better be together and the third apart, one is not as it should be: the smallest loss is taken
    off all three, as long as there are such triangles.
    """
    columns = {column for cells in parts for column in cells}
    scale = max(columns)[0] // 2

    def multiply(weight: int) -> FloatArray:
        chosen = [column for column in columns if column[0] == weight]
        table = np.array([[cells[column] for column in chosen] for cells in parts], np.float64)
        return np.asarray(table @ table.T)

    votes, total, apart = map(multiply, (2 * scale, -scale, -(scale**2)))
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
        for k in np.flatnonzero((gain[j] > 0) & (gain[i] < 0)).tolist():
            loss = min(gain[i, j], gain[j, k], -gain[i, k])
            if not loss:
                break
            packed += loss
            gain[[i, j, j, k], [j, i, k, j]] -= loss
            gain[[i, k], [k, i]] += loss
    return packed

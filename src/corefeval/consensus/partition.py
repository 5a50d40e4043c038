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
Cells = Counter[int]  # the counts of a group or cluster, by column
Weights = Sequence[int]  # of columns
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
    parts, weights = _count_votes(labels, node, apart)
    _, first, node = np.unique(in_order(node), return_index=True, return_inverse=True)
    component = _find_components(labels, node)
    starts = np.where(labels >= 0, labels, -1 - node)[:, first]
    cluster, bounds = np.arange(first.size), []
    order = stable_order(component[first])
    begins = np.flatnonzero(begin_runs(component[first[order]]))
    for rows in np.split(order, begins)[1:]:
        cells, bound = [parts[row] for row in rows.tolist()], np.inf
        if rows.size <= EXACT:
            place = _solve(cells, weights)
        else:
            place = _search(cells, weights, starts[:, rows])
            bound = _bound_cost(cells, weights) if rows.size <= BOUNDED else -np.inf
        cluster[rows] = rows[in_order(place)]
        bounds.append(bound)
    return in_order(cluster[node]), component, np.array(bounds)


def _count_votes(
    labels: IntArray, node: IntArray, apart: Iterable[Sequence[int]]
) -> tuple[list[Cells], Weights]:
    """The counts of each node, and the weights of columns."""
    n_entities, pairs = int(labels.max(initial=-1)) + 1, list(apart)
    parts = defaultdict[int, Cells](Counter)
    for number, entities in plain_rows(node, labels.T):
        parts[number][n_entities + len(labels)] += 1
        for mark, entity in enumerate(entities, start=n_entities):
            if entity >= 0:
                parts[number].update((entity, mark))
    for column, pair in enumerate(pairs, start=n_entities + len(labels) + 1):
        for number in pair:
            parts[number][column] = 1
    scale = 1 + labels.size * node.size  # more than all votes, and all links
    weights = [2 * scale] * n_entities + [-scale] * len(labels) + [-1]
    return [*parts.values()], weights + [-(scale**2)] * len(pairs)


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


def _gain(part: Cells, cells: Cells, weights: Weights) -> int:
    """What it is worth to join two clusters."""
    held = cells.get
    return sum([number * weights[column] * held(column, 0) for column, number in part.items()])


def _solve(parts: Sequence[Cells], weights: Weights) -> Place:
    """The best partition of few groups.

    Groups are placed one after the other. Each loses what it would gain with groups that it is
    apart from, and what it does not gain with those in its cluster. The beginning that has lost
    least so far is continued first: the first partition to be complete loses least.
    """
    gains = [
        [_gain(cells, earlier, weights) for earlier in parts[:row]]
        for row, cells in enumerate(parts)
    ]
    beginnings: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    while len((lost := heappop(beginnings))[1]) < len(parts):
        loss, place = lost
        for cluster in range(max(place, default=-1) + 2):
            losses = (
                max(-gain if number == cluster else gain, 0)
                for number, gain in zip(place, gains[len(place)], strict=True)
            )
            heappush(beginnings, (loss + sum(losses), (*place, cluster)))
    return lost[1]


def _search(parts: Sequence[Cells], weights: Weights, starts: IntArray) -> Place:
    """The best end of local searches, one from each annotator's partition."""
    ends: list[tuple[int, Place]] = []
    for start in starts:
        place, before = in_order(start).tolist(), None
        while place != before:
            before = place
            place = in_order(_move(parts, place, weights)).tolist()
            clusters = list(_sum_cells(parts, place).values())
            joined = _move(clusters, range(len(clusters)), weights)
            place = in_order([joined[number] for number in place]).tolist()
        cells = _sum_cells(parts, place).values()
        value = sum(_gain(counts, counts, weights) for counts in cells)
        ends.append((-value, place))
    return min(ends)[1]


def _move(parts: Sequence[Cells], start: Place, weights: Weights) -> Place:
    """Put each group where it gains most, if only alone, one after the other."""
    place, clusters = list(start), _sum_cells(parts, start)
    held = defaultdict[int, list[tuple[int, int]]](list)
    for number, cells in clusters.items():
        for column, count in cells.items():
            held[column].append((-count, number))
    nearest = {
        column: [number for _, number in nsmallest(_NEAREST, pairs)]
        for column, pairs in held.items()
        if weights[column] > 0
    }
    empty = len(parts)
    for row, cells in enumerate(parts):
        before = place[row]
        clusters[before].subtract(cells)
        rivals = {number for column in cells for number in nearest.get(column, ())}
        options = [before, empty, *sorted(rivals)]
        place[row] = max(options, key=lambda number: _gain(cells, clusters[number], weights))
        clusters[place[row]].update(cells)
        empty += place[row] == empty
    return place


def _bound_cost(parts: Sequence[Cells], weights: Weights) -> int:
    """A number of votes that every partition of some groups overrules.

    Each pair overrules the smaller side of its votes. Of three pairs of groups of which two had
    better be together and the third apart, one is not as it should be: the smallest loss is taken
    off all three, as long as there are such triangles.
    """

    def multiply(weight: int) -> FloatArray:
        columns = {c for cells in parts for c in cells if weights[c] == weight}
        table = np.array([[cells[c] for c in columns] for cells in parts], dtype=np.float64)
        return np.asarray(table @ table.T)

    scale = weights[0]
    votes, total, apart = map(multiply, (scale, -scale // 2, -((scale // 2) ** 2)))
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
            packed += loss
            gain[[i, j, j, k], [j, i, k, j]] -= loss
            gain[[i, k], [k, i]] += loss
    return packed

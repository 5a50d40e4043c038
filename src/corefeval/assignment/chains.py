"""Heaviest matchings of paths and cycles, in linear time.

Where no row and no column has more than two edges, the edges of a component follow each other along
a path or around a cycle, and only neighbours exclude each other. On a path the best value of the
first k edges is the larger of that of the first k − 1, and the weight of the k-th with that of the
first k − 2. A heaviest matching of a cycle either lacks its first edge, and is one of the path of
the others; or has it, and is that edge and one of the path of those that are not beside it.
"""

from __future__ import annotations

import numpy as np

from corefeval.model.arrays import FloatArray, IntArray


def match_chains(row: IntArray, column: IntArray, weight: FloatArray) -> IntArray:
    """The indices of the edges of a heaviest matching; no row or column has more than two edges."""
    neighbours = _others(row), _others(column)
    weights = weight.tolist()
    is_new = [True] * row.size
    taken: list[int] = []
    ends = np.flatnonzero((np.array(neighbours[0]) < 0) | (np.array(neighbours[1]) < 0)).tolist()
    for first in (*ends, *range(row.size)):
        if not is_new[first]:
            continue
        # From an end the way leads to the side where there is another edge; else to either.
        side = 0 if neighbours[1][first] < 0 else 1
        chain, edge = [], first
        while edge >= 0 and is_new[edge]:
            is_new[edge] = False
            chain.append(edge)
            edge = neighbours[side][edge]
            side = 1 - side
        taken += _match_cycle(chain, weights) if edge == first else _match_path(chain, weights)
    return np.array(taken, dtype=np.int64)


def _others(vertex: IntArray) -> list[int]:
    """For each edge, the other one at its vertex; −1 where there is none."""
    order = np.argsort(vertex, kind="stable")
    pairs = np.flatnonzero(vertex[order[1:]] == vertex[order[:-1]])
    neighbour = np.full(vertex.size, -1)
    neighbour[order[pairs]], neighbour[order[pairs + 1]] = order[pairs + 1], order[pairs]
    neighbours: list[int] = neighbour.tolist()
    return neighbours


def _match_path(chain: list[int], weights: list[float]) -> list[int]:
    """The edges of a heaviest matching of a path, from its end to its beginning."""
    values = [0.0, 0.0]  # of the first k edges, at k + 1
    for edge in chain:
        values.append(max(values[-1], values[-2] + weights[edge]))
    taken = []
    k = len(chain)
    while k > 0:
        if values[k + 1] > values[k]:
            taken.append(chain[k - 1])
            k -= 1
        k -= 1
    return taken


def _match_cycle(chain: list[int], weights: list[float]) -> list[int]:
    """The edges of a heaviest matching of a cycle."""
    without = _match_path(chain[1:], weights)
    around = [chain[0], *_match_path(chain[2:-1], weights)]
    return max(without, around, key=lambda edges: sum(weights[edge] for edge in edges))

"""The heaviest one-to-one assignment, exact, in near-linear time: for entities and for mentions.

**Claim.** Let e = (i, j) be an edge of positive weight w whose weight is at least a + b, where a
is the weight of the heaviest other edge at row i, and b of the heaviest other edge at column j (0
where there is none). Then some heaviest matching contains e.

*Proof.* Take a heaviest matching M without e. At most one of its edges is at row i, and weighs at
most a; at most one is at column j, and weighs at most b. Take these out and put e in: the result is
a matching, and it weighs at least as much as M, for w ≥ a + b. ∎

**Claim.** Edges that fulfil the condition and share no row and no column may be taken together.

*Proof.* Taking one of them removes its row and column. That takes edges away from the others' rows
and columns, but adds none, so a and b of the others can only fall, and their condition still holds.
By induction all of them are in one heaviest matching. ∎ (Two edges that do share a row can both
fulfil it where weights are equal: then one is taken and the other goes with the row.)

So edges are taken, rows and columns removed, until no edge fulfils the condition. On real data
little is left: entities that exchanged mentions with each other. Whatever remains falls into
connected components. Paths and cycles are solved in linear time; a few small components are
enumerated, by dynamic programming over subsets; dense ones go to a matrix solver, and all others
together to the one for sparse graphs (`prices`), which takes about as long for many small
components as for a large one. (Where rounds take only few edges each, as along a chain of equal
overlaps, the components are solved without waiting for the last round.)

**With an order of the edges** the assignment is unique: among the heaviest ones, that whose edges,
in order, come first. An edge that weighs *more* than its rivals together is in every heaviest
matching (the exchange above would make it heavier), so such edges are still taken at once. In what
remains an edge stays, in its order, if some heaviest matching has it beside those that stayed
before. Components of more than `LARGE` edges are assigned greedily instead, the heaviest
edge first and equal ones in order; that is near-linear, and at least half as heavy as the best.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from corefeval.model.arrays import (
    FloatArray,
    IntArray,
    all_false,
    dense_ranks,
    integers,
    mark_rows,
    plain_rows,
    set_rows,
    stable_order,
    unset,
)

# A component is enumerated if that takes at most so many steps: edges times sets of columns.
ENUMERABLE = 1 << 14
# Enumeration may take so many steps in all, about as long as it takes to import scipy; a component
# costs some of them in any case.
MANY = 1 << 19
_OVERHEAD = 100
# With an order, a component of more edges is assigned greedily.
LARGE = 1 << 10
# A component with so many cells for an edge or fewer is solved as a matrix.
_DENSE = 4
# With an order, so many edges are decided at once: more, and their bonuses would be too small.
_AT_ONCE = 8
# Rounds that take less than this share of the edges are not worth their cost; more of them keep
# the sum over all rounds linear.
_PROGRESS = 0.02
# Vertices are numbered anew where their numbers go so many times as far as there are edges.
_SPARSE = 4
_EQUAL = 1e-9  # weights that differ by less are equal

Edge = tuple[int, int, float]


def heaviest_matching(
    rows: IntArray, columns: IntArray, weights: FloatArray, *, order: IntArray | None = None
) -> IntArray:
    """The indices of the edges of a heaviest matching; weights must be positive.

    Rows and columns are numbers from 0 on.

    With `order`, a different number for each edge, the first one among the heaviest matchings: see
    the head of this module.

    >>> rows, columns = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> heaviest_matching(rows, columns, np.array([3.0, 2.0, 2.0, 0.5])).tolist()
    [1, 2]
    >>> heaviest_matching(rows, columns, np.ones(4), order=np.array([3, 0, 1, 2])).tolist()
    [1, 2]
    """
    lead = 0.0 if order is None else _EQUAL
    taken = []
    row, column, weight = rows, columns, weights
    left: IntArray | None = None  # which edges these are, where they are not all of them
    while row.size:
        (row, n_rows), (column, n_columns) = _with_few_gaps(row), _with_few_gaps(column)
        chosen = _dominant_edges((row, n_rows), (column, n_columns), weight, lead)
        if is_last := chosen.size < _PROGRESS * row.size or not chosen.size:
            row, column = dense_ranks(row)[0], dense_ranks(column)[0]
            if order is None:
                chosen = _solve_components(row, column, weight)
            else:
                ranks = order if left is None else order[left]
                chosen = _solve_one_by_one(row, column, weight, _components(row, column), ranks)
        taken.append(chosen if left is None else left[chosen])
        if is_last:
            break
        is_gone = mark_rows(row[chosen], n_rows)[row] | mark_rows(column[chosen], n_columns)[column]
        (free,) = (~is_gone).nonzero()
        left = free if left is None else left[free]
        row, column, weight = row[free], column[free], weight[free]
    is_taken = all_false(rows.size)
    for edges in taken:
        is_taken[edges] = True
    return is_taken.nonzero()[0]


def _with_few_gaps(vertex: IntArray) -> tuple[IntArray, int]:
    """Vertices, numbered anew if the numbers are large for so few edges, and their upper bound."""
    number = int(vertex.max()) + 1
    if number <= _SPARSE * vertex.size:
        return vertex, number
    ranks, distinct = dense_ranks(vertex)
    return ranks, distinct.size


def _dominant_edges(
    rows: tuple[IntArray, int], columns: tuple[IntArray, int], weight: FloatArray, lead: float
) -> IntArray:
    """Edges that outweigh their heaviest rivals together by `lead`, one a row and column.

    Rows and columns come with a number above all of them.
    """
    rivals = _heaviest_other(*rows, weight)
    rivals += _heaviest_other(*columns, weight)
    (candidates,) = (weight >= (rivals + lead if lead else rivals)).nonzero()
    for vertex, number in (rows, columns):
        # One of those that share a vertex stays.
        holder = set_rows(vertex[candidates], candidates, number)
        candidates = candidates[holder[vertex[candidates]] == candidates]
    return candidates


def _heaviest_other(vertex: IntArray, n_vertices: int, weight: FloatArray) -> FloatArray:
    """For each edge, the weight of the heaviest other edge at its vertex; 0 where there is none."""
    best = np.zeros(n_vertices)
    np.maximum.at(best, vertex, weight)
    rival = best[vertex]
    (at,) = (weight == rival).nonzero()
    champion = set_rows(vertex[at], at, n_vertices)  # one of the equals: the last one written stays
    at = at[champion[vertex[at]] == at]
    weight_of_others = weight.copy()
    weight_of_others[at] = 0.0
    second = np.zeros(n_vertices)
    np.maximum.at(second, vertex, weight_of_others)
    rival[at] = second[vertex[at]]
    return rival


def _solve_components(row: IntArray, column: IntArray, weight: FloatArray) -> IntArray:
    """A heaviest matching of what no reduction could decide: each kind of component in its way."""
    of_rows, of_columns = np.bincount(row), np.bincount(column)
    of_row, labels = dense_ranks(_components(row, column))
    of_column = set_rows(column, of_row[row], int(column.max()) + 1)
    sums = partial(np.bincount, minlength=labels.size)
    n_edges, n_rows, n_columns = sums(of_row, of_rows), sums(of_row), sums(of_column)
    is_chain = (sums(of_row, of_rows > 2) == 0) & (sums(of_column, of_columns > 2) == 0)
    steps = np.ldexp(n_edges, np.minimum(np.minimum(n_rows, n_columns), 64))
    is_small = ~is_chain & (steps <= ENUMERABLE)
    if (steps[is_small] + _OVERHEAD).sum() > MANY:
        is_small[:] = False
    is_dense = (n_edges > LARGE) & (n_rows * n_columns <= _DENSE * n_edges)
    is_alone = is_small | (is_dense & ~is_chain)
    if not (is_alone | is_chain).any():
        return _match_by_prices(row, column, weight)
    taken = []
    for kind, solve in (
        (is_alone, partial(_solve_one_by_one, component=of_row)),
        (is_chain, _match_chains),
        (~(is_alone | is_chain), _match_by_prices),
    ):
        edges = np.flatnonzero(kind[of_row][row])
        if edges.size:
            taken.append(edges[solve(row[edges], column[edges], weight[edges])])
    return np.concatenate(taken)


def _match_by_prices(row: IntArray, column: IntArray, weight: FloatArray) -> IntArray:
    from corefeval.assignment.prices import match_by_prices  # which imports scipy

    return match_by_prices(row, column, weight)


def _solve_one_by_one(
    row: IntArray,
    column: IntArray,
    weight: FloatArray,
    component: IntArray,
    order: IntArray | None = None,
) -> IntArray:
    """A heaviest matching, component by component; the first one where edges have an order.

    `component` is that of each row.
    """
    component = component[row]
    # Edges of a component stand together, in their order where they have one.
    place = stable_order(component) if order is None else np.lexsort((order, component))
    component = component[place]
    bounds = np.flatnonzero(np.concatenate(([True], component[1:] != component[:-1], [True])))
    row, column, weight = row[place], column[place], weight[place]
    taken: list[int] = []
    for begin, end in plain_rows(bounds[:-1], bounds[1:]):
        component_edges = row[begin:end], column[begin:end], weight[begin:end]
        if order is not None and end - begin > LARGE:
            chosen = _take_greedily(*component_edges)
        else:
            edges = list(plain_rows(*component_edges))
            chosen = _solve(edges) if order is None else _solve_in_order(edges)
        taken += [begin + edge for edge in chosen]
    return place[taken]


def _solve(edges: list[Edge]) -> list[int]:
    """The edges of some heaviest matching of a component."""
    n_rows, n_columns = len({edge[0] for edge in edges}), len({edge[1] for edge in edges})
    if len(edges) << min(n_rows, n_columns) > ENUMERABLE:
        return _solve_large(edges, is_dense=n_rows * n_columns <= _DENSE * len(edges))
    if n_rows < n_columns:
        return _enumerate([(column, row, weight) for row, column, weight in edges])
    return _enumerate(edges)


def _solve_in_order(edges: list[Edge]) -> list[int]:
    """The edges of the first heaviest matching of a component whose edges are in order.

    A small bonus for all edges but those of a heaviest matching makes another one heavier, unless
    it is the only one. Where it is not, the next edges in order get bonuses, each twice that of the
    one behind it and all together less than what tells weights apart: of the heaviest matchings
    that with the first edges wins, and these stay.
    """
    left = list(range(len(edges)))
    stayed: list[int] = []
    while left:
        best = set(_solve_with(edges, left, {}))
        if set(_solve_with(edges, left, dict.fromkeys(set(left) - best, _EQUAL))) == best:
            return sorted((*stayed, *best))
        first = left[:_AT_ONCE]
        bonus = {edge: _EQUAL / 2 ** (place + 1) for place, edge in enumerate(first)}
        best = set(_solve_with(edges, left, bonus))
        taken = [edge for edge in first if edge in best]
        rows, columns = {edges[e][0] for e in taken}, {edges[e][1] for e in taken}
        stayed += taken
        left = [
            e for e in left[_AT_ONCE:] if edges[e][0] not in rows and edges[e][1] not in columns
        ]
    return stayed


def _solve_with(edges: list[Edge], left: list[int], bonus: dict[int, float]) -> list[int]:
    """A heaviest matching of the edges `left`, with a bonus on the weight of some of them."""
    weighed = [(*edges[e][:2], edges[e][2] + bonus.get(e, 0.0)) for e in left]
    return [left[chosen] for chosen in _solve(weighed)]


def _take_greedily(row: IntArray, column: IntArray, weight: FloatArray) -> list[int]:
    """The edges that are free when it is their turn: the heaviest first, equal ones in order."""
    edges = stable_order(-np.rint(weight / _EQUAL))
    rows: set[int] = set()
    columns: set[int] = set()
    taken = []
    table = plain_rows(edges, row[edges], column[edges])
    for edge, at_row, at_column in table:
        if at_row not in rows and at_column not in columns:
            rows.add(at_row)
            columns.add(at_column)
            taken.append(edge)
    return taken


def _components(row: IntArray, column: IntArray) -> IntArray:
    """The connected component of each row, by the number of one of its rows.

    Rows that are known to be connected have the same label, the smallest of theirs. Those with a
    smaller one in sight take it over all together, so that few rounds do even along a chain.
    """
    label = np.arange(int(row.max()) + 1)
    while True:
        at_column = np.full(int(column.max()) + 1, label.size)
        np.minimum.at(at_column, column, label[row])
        spread = label.copy()
        np.minimum.at(spread, label[row], at_column[column])
        while not np.array_equal(further := spread[spread], spread):
            spread = further
        if np.array_equal(spread, label):
            return label
        label = spread


def _enumerate(edges: list[Edge]) -> list[int]:
    """The edges of a heaviest matching, row by row, with the best value of each set of columns."""
    columns = {column: 1 << number for number, column in enumerate({edge[1] for edge in edges})}
    choices: dict[int, list[tuple[int, int, float]]] = {}
    for index, (row, column, weight) in enumerate(edges):
        choices.setdefault(row, []).append((index, columns[column], weight))
    best: dict[int, tuple[float, tuple[int, ...]]] = {0: (0.0, ())}
    for options in choices.values():
        reached = dict(best)
        for used, (value, chosen) in best.items():
            for index, column, weight in options:
                state = used | column
                if state != used and (state not in reached or reached[state][0] < value + weight):
                    reached[state] = (value + weight, (*chosen, index))
        best = reached
    return list(max(best.values())[1])


def _solve_large(edges: list[Edge], *, is_dense: bool) -> list[int]:
    """Jonker–Volgenant on a matrix, where a pair of no edge gains nothing; else by prices."""
    row, column, weight = (np.array(values) for values in zip(*edges, strict=True))
    if not is_dense:
        return list(map(int, _match_by_prices(row, column, weight)))
    from scipy.optimize import linear_sum_assignment

    rows, row_names = dense_ranks(row)
    columns, column_names = dense_ranks(column)
    gain = np.zeros((row_names.size, column_names.size))
    gain[rows, columns] = weight
    matched_rows, matched_columns = linear_sum_assignment(gain, maximize=True)
    partner = set_rows(matched_rows, matched_columns, row_names.size)
    return list(map(int, np.flatnonzero(partner[rows] == columns)))


def _match_chains(row: IntArray, column: IntArray, weight: FloatArray) -> IntArray:
    """The edges of a heaviest matching where no row and no column has more than two edges.

    The edges of a component follow each other along a path or around a cycle, and only neighbours
    exclude each other. A heaviest matching of a cycle either lacks its first edge, and is one of
    the path of the others; or has it, and is that edge and one of the path of those that are not
    beside it.
    """
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
    return integers(taken)


def _others(vertex: IntArray) -> list[int]:
    """For each edge, the other one at its vertex; −1 where there is none."""
    order = stable_order(vertex)
    pairs = np.flatnonzero(vertex[order[1:]] == vertex[order[:-1]])
    neighbour = unset(vertex.size)
    neighbour[order[pairs]], neighbour[order[pairs + 1]] = order[pairs + 1], order[pairs]
    neighbours: list[int] = neighbour.tolist()
    return neighbours


def _match_path(chain: list[int], weights: list[float]) -> list[int]:
    """The edges of a heaviest matching of a path, from its end to its beginning.

    The best value of the first k edges is the larger of that of the first k − 1, and the weight of
    the k-th with that of the first k − 2.
    """
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

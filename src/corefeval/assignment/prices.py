"""Heaviest matchings of large sparse graphs: prices, and many augmenting paths at a time.

Rows have prices u ≥ 0 and columns v ≥ 0 such that u_i + v_j ≥ w_ij for every edge: their sum is at
least the weight of any matching. It *is* the weight of a matching whose edges are all tight (equal)
and whose unmatched rows and columns have price 0, which is therefore heaviest. That is what the
phases reach. From first to last, prices are as said, matched edges are tight, and unmatched columns
have price 0; only rows that are unmatched at a price above 0 are *open*.

A phase. The way from a row leads over an edge to a column, which costs the slack u_i + v_j − w_ij,
and from a matched column at no cost to its row. It ends at an unmatched column, or at any row for
that row's price: a row whose price falls to 0 may be given up. Let f be the cost of the cheapest
way from a vertex to an end. Prices become u − f and v + f.

*They stay as said.* The cost of a way over the edge (i, j) is at least f_i, so f_i ≤ f_j + slack:
the new slack, slack − f_i + f_j, is at least 0. A matched column's only way leads to its row, and
back over their edge it costs nothing, so f is the same for both and the edge stays tight. Ending at
once costs u_i, so f_i ≤ u_i and no price falls below 0. An unmatched column has f = 0 and stays at
price 0.

*There is progress.* Along a cheapest way all edges are tight now, and its end costs nothing. So
every open row has a way of tight edges to an end: ways that share no vertex are found as a largest
flow, at least one, and exchanging the edges along them leaves one open row less for each. Nothing
that was matched at a price above 0 becomes unmatched. After as many phases as there were open rows
at most, none is open. All ends that any row is nearest to are reached in the same phase, which is
why a hundred phases do for a hundred thousand mentions in random entities. ∎

Weights are taken as whole multiples of 2⁻⁵⁰ of the largest (rounded up to a power of two): in
floating point all sums and differences of such numbers are exact, and so is what is equal.
"""

from __future__ import annotations

import warnings
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra, maximum_bipartite_matching, maximum_flow

from corefeval.diagnostics import LongWait
from corefeval.model.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    all_false,
    dense_ranks,
    is_sorted,
    set_rows,
    stable_order,
)

_BITS = 50  # two more for sums are still exact
LONG = 300_000  # so many edges take ten seconds, if they are as unlike each other as can be
_MANY = 0.01  # so many rows are left open then


def match_by_prices(row: IntArray, column: IntArray, weight: FloatArray) -> IntArray:
    """The indices of the edges of a heaviest matching.

    The smaller side becomes the rows: the more columns stay over, the more ends there are. Warns
    with a `LongWait` where many phases are to come.
    """
    sides = sorted(map(dense_ranks, (row, column)), key=lambda side: side[1].size)
    (row, row_names), (column, column_names) = sides
    n_rows, n_columns = row_names.size, column_names.size
    graph = _Graph(row, column, np.ldexp(weight, _BITS - int(np.frexp(weight.max())[1])))
    graph.match_first()
    if row.size > LONG and graph.count_open_rows() > _MANY * n_rows:
        text = f"aligning {n_rows + n_columns:,} entities that resemble many others: this"
        warnings.warn(LongWait(f"{text} may take a minute for each million"), stacklevel=2)
    while graph.count_open_rows():
        graph.change_prices()
        graph.augment()
    return np.flatnonzero(graph.is_taken)


class _Graph:
    """The edges, the prices, and what is matched so far.

    Every number up to the largest is that of a row, or a column, with an edge.
    """

    def __init__(self, row: IntArray, column: IntArray, weight: FloatArray) -> None:
        self.row, self.column = row, column
        self.n_rows, self.n_columns = int(row.max()) + 1, int(column.max()) + 1
        self.weight = np.rint(weight, out=weight)  # which nobody else has
        self.row_price = np.zeros(self.n_rows)
        np.maximum.at(self.row_price, self.row, self.weight)
        self.column_price = np.zeros(self.n_columns)
        self.is_taken = all_false(row.size)

    @cached_property
    def by_column(self) -> IntArray:
        """The edges, column by column."""
        return stable_order(self.column)

    @property
    def slack(self) -> FloatArray:
        slack: FloatArray = self.row_price[self.row] + self.column_price[self.column] - self.weight
        return slack

    def _is_matched(self) -> tuple[BoolArray, BoolArray]:
        rows = all_false(self.n_rows)
        columns = all_false(self.n_columns)
        rows[self.row[self.is_taken]] = columns[self.column[self.is_taken]] = True
        return rows, columns

    def count_open_rows(self) -> int:
        return int(np.count_nonzero(~self._is_matched()[0] & (self.row_price > 0)))

    def match_first(self) -> None:
        """As many tight edges as there can be while all columns have price 0."""
        tight = self.weight == self.row_price[self.row]
        row, column = (
            (self.row, self.column) if tight.all() else (self.row[tight], self.column[tight])
        )
        order = slice(None) if is_sorted(row) else stable_order(row)
        counts = np.bincount(row, minlength=self.n_rows)
        starts = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
        ones = np.ones(row.size, dtype=np.int8)
        targets = column[order].astype(np.int32)
        table = csr_array((ones, targets, starts), shape=(self.n_rows, self.n_columns))
        partner = maximum_bipartite_matching(table, perm_type="column")
        self.is_taken = tight & (partner[self.row] == self.column)

    def change_prices(self) -> None:
        """Take the cost of the cheapest way to an end from rows, and add it to columns.

        Ways are gone backwards from a vertex behind all ends: first the rows, then the columns.
        """
        _, matched = self._is_matched()
        n, taken, order = self.n_rows + self.n_columns, self.is_taken, self.by_column
        partner = set_rows(self.row[taken], self.column[taken], self.n_rows)
        at = np.flatnonzero(partner >= 0)
        free = np.flatnonzero(~matched)
        back = np.concatenate(
            (
                self.n_rows + partner[at],
                self.row[order],
                np.arange(self.n_rows),
                self.n_rows + free,
            )
        )
        cost = np.concatenate(
            (
                np.zeros(at.size),
                np.where(taken, np.inf, self.slack)[order],  # matched edges lead the other way only
                self.row_price,
                np.zeros(free.size),
            )
        )
        starts = np.concatenate(
            (
                [0],
                np.cumsum(partner >= 0),
                at.size + np.cumsum(np.bincount(self.column)),
                [back.size],
            )
        )
        ways = csr_array((cost, back, starts), shape=(n + 1, n + 1))
        cheapest = dijkstra(ways, indices=n)
        self.row_price -= cheapest[: self.n_rows]
        self.column_price += cheapest[self.n_rows : n]

    def augment(self) -> None:
        """Exchange the edges along as many ways of tight edges from open rows as there can be."""
        matched_rows, matched_columns = self._is_matched()
        tight = np.flatnonzero((self.slack == 0) & ~self.is_taken)
        taken = np.flatnonzero(self.is_taken)
        begin = self.n_rows + self.n_columns
        open_rows = np.flatnonzero(~matched_rows & (self.row_price > 0))
        given_up = np.flatnonzero(matched_rows & (self.row_price == 0))
        free = np.flatnonzero(~matched_columns)
        rows, columns = self.row, self.n_rows + self.column
        ends = np.concatenate((given_up, self.n_rows + free))
        source = np.concatenate((rows[tight], columns[taken], np.full(open_rows.size, begin), ends))
        target = np.concatenate(
            (columns[tight], rows[taken], open_rows, np.full(ends.size, begin + 1))
        )
        ones = np.ones(source.size, dtype=np.int32)
        network = csr_array((ones, (source, target)), shape=(begin + 2, begin + 2))
        flow = maximum_flow(network, begin, begin + 1).flow
        moved = np.asarray(flow[rows, columns]).ravel()
        self.is_taken = np.where(self.is_taken, moved == 0, moved > 0)

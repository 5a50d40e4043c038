"""CEAF's alignment: against all permutations, and against scipy's dense solver."""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from corefeval import assignment
from corefeval.assignment import heaviest_matching, prices
from corefeval.assignment.prices import match_by_prices
from corefeval.cli import main
from corefeval.diagnostics import LongWait


def dense_optimum(weights: np.ndarray) -> float:
    rows, columns = linear_sum_assignment(weights, maximize=True)
    return float(weights[rows, columns].sum())


def sparse_optimum(weights: np.ndarray) -> float:
    rows, columns = np.nonzero(weights)
    chosen = heaviest_matching(rows, columns, weights[rows, columns])
    assert len(set(rows[chosen])) == len(set(columns[chosen])) == len(chosen)
    return float(weights[rows[chosen], columns[chosen]].sum())


SMALL_INTEGERS = st.integers(0, 4).map(float)


@st.composite
def tables(draw, values=SMALL_INTEGERS):
    """Small tables with many ties and holes: small integers, as φ3 has them."""
    shape = draw(st.tuples(st.integers(1, 7), st.integers(1, 7)))
    flat = draw(st.lists(values, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    return np.array(flat).reshape(shape)


@given(tables())
def test_is_optimal_with_ties(weights):
    assert sparse_optimum(weights) == pytest.approx(dense_optimum(weights), abs=1e-9)


@given(tables(st.floats(0.01, 1.0) | st.just(0.0)))
def test_is_optimal_with_fractions(weights):
    assert sparse_optimum(weights) == pytest.approx(dense_optimum(weights), abs=1e-9)


@given(tables() | tables(st.sampled_from([0.0, 0.25, 1 / 3, 0.4, 0.5, 2 / 3, 1.0])))
def test_larger_components_go_to_the_solvers(weights):
    """The same optimum where nothing is small enough to enumerate, with a matrix and without."""
    for name, limit in (("ENUMERABLE", 0), ("MANY", 0)):
        usual = getattr(assignment, name)
        setattr(assignment, name, limit)
        try:
            assert sparse_optimum(weights) == pytest.approx(dense_optimum(weights), abs=1e-9)
        finally:
            setattr(assignment, name, usual)


@given(tables() | tables(st.floats(1e-6, 1e6) | st.just(0.0)))
def test_prices_alone(weights):
    """The solver for sparse graphs on whatever comes, without any reduction before it."""
    rows, columns = np.nonzero(weights)
    if rows.size:
        weight = weights[rows, columns]
        chosen = match_by_prices(rows, columns, weight)
        assert len(set(rows[chosen])) == len(set(columns[chosen])) == len(chosen)
        assert weight[chosen].sum() == pytest.approx(dense_optimum(weights), rel=1e-9)


@given(st.data())
def test_paths_and_cycles(data):
    """Chains of any length, closed or not, a few at a time, with their edges in any order."""
    rows, columns, start = [], [], 0
    for length, closed in data.draw(
        st.lists(st.tuples(st.integers(1, 12), st.booleans()), min_size=1, max_size=4)
    ):
        vertices = list(range(start, start + length + 1))
        if closed and length > 3 and length % 2 == 0:
            vertices[-1] = start
        begins_at_row = closed or data.draw(st.booleans())
        for step, (one, other) in enumerate(pairwise(vertices)):
            forward = begins_at_row == (step % 2 == 0)
            rows.append(one if forward else other)
            columns.append(other if forward else one)
        start += length + 1
    order = data.draw(st.permutations(range(len(rows))))
    row, column = np.array(rows)[order], np.array(columns)[order]
    values = st.integers(1, 4).map(float) | st.floats(0.1, 1.0)
    weight = np.array(data.draw(st.lists(values, min_size=row.size, max_size=row.size)))
    chosen = heaviest_matching(row, column, weight)
    assert np.unique(row[chosen]).size == np.unique(column[chosen]).size == chosen.size
    table = np.zeros((start, start))
    table[row, column] = weight
    assert weight[chosen].sum() == pytest.approx(dense_optimum(table), abs=1e-9)


def test_equal_overlaps_along_a_long_cycle():
    """Every second edge, and no round for each of them."""
    n = 20_000
    row, column = np.repeat(np.arange(n), 2), np.roll(np.repeat(np.arange(n), 2), 1)
    assert heaviest_matching(row, column, np.full(2 * n, 0.5)).size == n


@pytest.mark.parametrize("size", [2, 3, 5])
def test_random_partitions(size):
    """Key and response that have nothing to do with each other: nothing is dominant."""
    random = np.random.default_rng(size)
    key, response = (random.permutation(600) // size for _ in range(2))
    counts = np.zeros((600 // size, 600 // size))
    np.add.at(counts, (key, response), 1.0)
    assert sparse_optimum(counts) == pytest.approx(dense_optimum(counts), abs=1e-9)
    assert sparse_optimum(counts / size) == pytest.approx(dense_optimum(counts / size), abs=1e-9)


def test_a_long_wait_is_announced(monkeypatch):
    monkeypatch.setattr(prices, "LONG", 3)
    rows, columns = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    with pytest.warns(LongWait, match="4 entities"):
        match_by_prices(rows, columns, np.array([2.0, 1.0, 2.0, 1.0]))
    match_by_prices(rows, columns, np.ones(4))  # where the first matching is perfect there is none


@pytest.mark.parametrize("seed", range(6))
def test_large_random_overlaps(seed):
    """Hundreds of entities that share mentions at random: reduction, components and solver."""
    random = np.random.default_rng(seed)
    n = 150 * (seed + 1)
    counts = np.zeros((n // 4, n // 3))
    np.add.at(counts, (random.integers(0, n // 4, n), random.integers(0, n // 3, n)), 1.0)
    sizes = counts.sum(axis=1)[:, None] + counts.sum(axis=0)[None, :]
    similarity = np.divide(2 * counts, sizes, out=np.zeros_like(counts), where=sizes > 0)
    assert sparse_optimum(counts) == pytest.approx(dense_optimum(counts), abs=1e-9)
    assert sparse_optimum(similarity) == pytest.approx(dense_optimum(similarity), abs=1e-9)
    assert "scipy" in sys.modules


def test_of_equal_edges_one_is_taken():
    rows, columns = np.array([0, 0]), np.array([0, 1])
    assert heaviest_matching(rows, columns, np.array([1.0, 1.0])).size == 1


def test_nothing_to_align():
    empty = np.empty(0, dtype=np.int64)
    assert heaviest_matching(empty, empty, np.empty(0)).size == 0


def test_the_command_line_says_so_before(monkeypatch, tmp_path, capsys):
    """Two random partitions, of which dominance decides next to nothing."""
    monkeypatch.setattr(prices, "LONG", 3)
    random = np.random.default_rng(0)
    for name in ("key", "response"):
        entity = random.integers(0, 30, 150)
        rows = "".join(f"d 0 {i} w ({e})\n" for i, e in enumerate(entity))
        text = f"#begin document (d); part 000\n{rows}\n#end document\n"
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(assignment, "MANY", 0)
    command = ["score", str(tmp_path / "key"), str(tmp_path / "response"), "--metrics", "ceafe"]
    assert main(command) == 0
    assert "note: aligning" in capsys.readouterr().err

"""CEAF's alignment: against all permutations, and against scipy's dense solver."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from corefeval import assignment
from corefeval.assignment import heaviest_matching


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


@given(tables())
def test_larger_components_go_to_the_solver(weights):
    """The same optimum where nothing is small enough to enumerate."""
    limit, assignment.ENUMERABLE = assignment.ENUMERABLE, 0
    try:
        assert sparse_optimum(weights) == pytest.approx(dense_optimum(weights), abs=1e-9)
    finally:
        assignment.ENUMERABLE = limit


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

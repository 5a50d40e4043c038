"""Metrics as functions of label arrays: against brute force, and as scikit-learn has its own."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
import reference
from corefeval import clustering
from corefeval.clustering import Rates

FUNCTIONS = {
    "muc": clustering.muc,
    "b3": clustering.b_cubed,
    "ceafe": clustering.ceaf,
    "ceafm": lambda a, b: clustering.ceaf(a, b, similarity="mention"),
    "lea": clustering.lea,
    "blanc": clustering.blanc,
}
pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=9)


def entities(labels):
    return [[item for item, one in enumerate(labels) if one == label] for label in set(labels)]


def by_brute_force(metric, labels_true, labels_pred):
    counts = reference.REFERENCES[metric](entities(labels_true), entities(labels_pred))
    if metric != "blanc":
        return rates(counts)
    halves = [rates((c, k, c, r)) for c, k, r in (counts[:3], counts[3:]) if k]
    return [sum(column) / len(column) for column in zip(*halves, strict=True)] or [0, 0, 0]


def rates(counts):
    recall, precision = (
        Fraction(top).limit_denominator(10**6) / bottom if bottom else 0
        for top, bottom in (counts[:2], counts[2:])
    )
    both = recall + precision
    return [float(one) for one in (precision, recall, 2 * recall * precision / both if both else 0)]


@pytest.mark.parametrize("metric", FUNCTIONS)
@settings(max_examples=50)
@given(pairs=pairs)
def test_the_definitions(metric, pairs):
    labels_true, labels_pred = map(list, zip(*pairs, strict=True))
    found = FUNCTIONS[metric](labels_true, labels_pred)
    assert found == pytest.approx(by_brute_force(metric, labels_true, labels_pred))
    assert found == clustering.score(labels_true, labels_pred, metric=metric)
    exchanged = FUNCTIONS[metric](labels_pred, labels_true)
    if metric != "blanc":  # whose halves are those that the key has
        assert exchanged == pytest.approx((found.recall, found.precision, found.f1))
    # Which labels they are does not matter.
    names = [f"cluster {label}" for label in labels_pred]
    assert FUNCTIONS[metric](np.array(labels_true) * 7 - 9, names) == pytest.approx(found)


@settings(max_examples=50)
@given(pairs=pairs)
def test_it_is_what_score_gives(pairs):
    labels_true, labels_pred = map(list, zip(*pairs, strict=True))
    result = corefeval.score(entities(labels_true), entities(labels_pred), metrics=list(FUNCTIONS))
    for metric, function in FUNCTIONS.items():
        expected = [result[metric].precision, result[metric].recall, result[metric].f1]
        assert function(labels_true, labels_pred) == pytest.approx(expected)


@pytest.mark.parametrize(
    "labels",
    [
        [0, 0, 1, -1],
        ["a", "a", "b", "c"],
        [None, None, "b", 3],
        [(1, 2), (1, 2), "x", frozenset()],
        np.array([0.5, 0.5, 1.5, 2.0]),
        np.array([True, True, False, False]),
    ],
    ids=lambda labels: type(labels[0]).__name__,
)
def test_labels_of_any_kind(labels):
    array = np.empty(len(labels), dtype=object)
    array[:] = labels if isinstance(labels, list) else labels.tolist()
    assert clustering.b_cubed(array, array) == Rates(1.0, 1.0, 1.0)
    if all(not isinstance(label, tuple) for label in labels):
        assert clustering.b_cubed(labels, labels) == Rates(1.0, 1.0, 1.0)


def test_rates_unpack_as_scikit_learn_has_them():
    precision, recall, f1 = clustering.b_cubed([0, 0, 1, 1], [0, 0, 0, 0])
    assert (precision, recall) == (0.5, 1.0)
    assert f1 == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("labels_true", "labels_pred", "problem"),
    [
        ([0, 1], [0], "not of 2 and 1"),
        ([], [], "at least one"),
        ([[0, 1]], [0, 1], r"labels_true has the shape \(1, 2\)"),
        (3, [3], r"labels_true has the shape \(\)"),
        ([0.0, float("nan")], [0, 1], "labels_true has labels that are not numbers"),
        (
            [0, 1],
            np.array([{}, {}], dtype=object),
            "labels that cannot be compared",
        ),
    ],
)
def test_what_are_no_labels(labels_true, labels_pred, problem):
    with pytest.raises(corefeval.UsageError, match=problem):
        clustering.b_cubed(labels_true, labels_pred)


@pytest.mark.parametrize("metric", ["conll", "lmuc", "anchors", "no-metric"])
def test_metrics_that_need_more(metric):
    with pytest.raises(corefeval.CorefEvalError):
        clustering.score([0, 0], [0, 1], metric=metric)
    with pytest.raises(corefeval.UsageError, match="similarity"):
        clustering.ceaf([0], [0], similarity="phi")

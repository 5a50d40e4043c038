"""The words of answers laid upon a key: against brute force, and whatever comes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corefeval.formats.answers.alignment import _heaviest_chain, align
from corefeval.formats.answers.table import EQUAL, Gap, Likeness, align_gaps
from corefeval.formats.answers.text import Vocabulary

NAMES = ("sea", "seas", "sun", "stone", "stones", ",", ".", "-")


def numbered(words, vocabulary):
    return np.array([vocabulary.number(word) for word in words], dtype=np.int64)


def lay(answer, key, starts=()):
    vocabulary = Vocabulary()
    a, k = numbered(answer, vocabulary), numbered(key, vocabulary)
    breaks = np.zeros(k.size + 1, dtype=np.bool_)
    breaks[[0, -1, *starts]] = True
    return a, k, align(a, k, breaks, Likeness(vocabulary))


texts = st.lists(st.sampled_from("abcdefgh.,"), max_size=60)


phrases = st.lists(st.text("abcd", min_size=1, max_size=9), min_size=1, max_size=4).flatmap(
    lambda some: st.tuples(*[st.lists(st.sampled_from(some), max_size=12).map("".join)] * 2)
)


@settings(max_examples=80)
@given(texts, texts, st.integers(0, 60), st.integers(0, 60), st.integers(0, 3))
def test_what_is_laid_is_in_order(key, other, low, high, times):
    check_order(key[:high] + key[low:high] * times + other, key)


@settings(max_examples=100)
@given(phrases)
def test_phrases_that_come_again_are_laid_in_order(sides):
    check_order(*sides)


def check_order(answer, key):
    a, k, laid = lay(answer, key)
    rows = np.flatnonzero(laid.to_key >= 0)
    places = laid.to_key[rows]
    assert (np.diff(places) > 0).all()
    assert places.size == 0 or places.max() < k.size
    equal = laid.kind[rows] == EQUAL
    assert (a[rows[equal]] == k[places[equal]]).all()
    assert (laid.kind[laid.to_key < 0] == 0).all()


@settings(max_examples=50)
@given(st.lists(st.integers(0, 10**6), min_size=8, max_size=80, unique=True))
def test_a_copy_is_laid_whole(words):
    text = [f"w{word}" for word in words]
    _, _, laid = lay(["so", "here", *text, "done"], text)
    assert laid.to_key.tolist() == [-1, -1, *range(len(text)), -1]


@settings(max_examples=50)
@given(
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=5),
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=5),
)
def test_small_tables_are_the_best(answer, key):
    vocabulary = Vocabulary()
    a, k = numbered(answer, vocabulary), numbered(key, vocabulary)
    likeness = Likeness(vocabulary)
    rows, columns, _ = align_gaps([Gap(0, a.size, 0, k.size)], a, k, likeness)
    scores = likeness.scores(a[None], k[None])[0][0]
    found = sorted(zip(rows.tolist(), columns.tolist(), strict=True))
    assert worth(found, scores) == pytest.approx(best_of(scores), abs=1e-4)


def worth(pairs, scores) -> float:
    """What some pairs are worth, less what is left out between them."""
    total, row, column = 0.0, 0, 0
    for i, j in [*pairs, (scores.shape[0], scores.shape[1])]:
        total -= sum(1.3 + 0.45 * (gap - 1) for gap in (i - row, j - column) if gap)
        total += scores[i, j] if i < scores.shape[0] else 0
        row, column = i + 1, j + 1
    return total


def best_of(scores) -> float:
    rows, columns = range(scores.shape[0]), range(scores.shape[1])
    return max(
        worth(list(zip(left, right, strict=True)), scores)
        for size in range(min(scores.shape) + 1)
        for left in combinations(rows, size)
        for right in combinations(columns, size)
    )


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 5)), min_size=1, max_size=7))
def test_no_chain_is_heavier(runs):
    """Runs of seeds that do not reach into each other, against all chains of them."""
    starts = np.cumsum([0, *(count + 3 for _, count in runs[:-1])])
    places = np.array([place * 6 for place, _ in runs])
    counts = np.array([count for _, count in runs])
    n, jump = 6, 3
    chain = _heaviest_chain(starts, places, counts, n)
    weight = sum(count + n - 1 - jump for _, _, count in chain)

    def total(some):
        ends = [places[i] + counts[i] for i in some]
        good = all(places[later] >= end for later, end in zip(some[1:], ends, strict=False))
        return sum(counts[i] + n - 1 - jump for i in some) if good else 0

    every = range(len(runs))
    best = max(total(some) for size in every for some in combinations(every, size + 1))
    assert weight >= best

"""Small tables: the best way to lay a few words of an answer upon a few words of the key.

All gaps of a corpus that have about the same size are worked on together, an array operation for
each row of the tables.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corefeval.formats.answers.text import Vocabulary
from corefeval.model.arrays import IntArray

Scores = NDArray[np.float32]

EQUAL, SIMILAR, DIFFERENT = 1, 2, 3
LEAST_ALIKE = 0.55  # letters in common, from which on words are similar
_OPEN, _EXTEND = 1.3, 0.45  # what it costs to leave words out: the first, and each further one
_NEVER = np.float32(-1e9)
_AT_ONCE = 1 << 20  # cells


@dataclass(frozen=True, slots=True)
class Gap:
    """Words of the answer [a0, a1) against words of the key [k0, k1).

    `left` and `right` say on which sides they are enclosed by words that are laid already; an open
    side is aligned only as far as it is worth it.
    """

    a0: int
    a1: int
    k0: int
    k1: int
    left: bool = True
    right: bool = True

    @property
    def cells(self) -> int:
        """The size of the table."""
        return (self.a1 - self.a0) * (self.k1 - self.k0)


class Likeness:
    """How well words go together: equal, similar in their letters, or not at all."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.is_word = np.zeros(0, dtype=np.bool_)
        self.profile_row = np.zeros(0, dtype=np.int64)
        self.profiles = np.empty((0, 64), dtype=np.int16)
        self.grow()

    def grow(self) -> None:
        """Take in the words that the vocabulary has got since the last call."""
        new = self.vocabulary.words[self.profile_row.size :]
        words = np.array([word[:1].isalnum() for word in new], dtype=np.bool_)
        self.is_word = np.concatenate((self.is_word, words))
        self.profile_row = np.concatenate((self.profile_row, np.full(len(new), -1, dtype=np.int64)))

    def _learn(self, numbers: IntArray) -> None:
        new = numbers[self.profile_row[numbers] < 0]
        if new.size:
            self.profile_row[new] = np.arange(new.size) + self.profiles.shape[0]
            self.profiles = np.concatenate((self.profiles, self.vocabulary.profiles(new)))

    def compare(self, first: IntArray, second: IntArray) -> Scores:
        """How alike pairs of words are, from 0 to 1 where they are equal; words may be new."""
        self.grow()
        self._learn(np.unique(np.concatenate((first, second))))
        return np.where(first == second, np.float32(1), self.alike(first, second))

    def alike(self, first: IntArray, second: IntArray) -> Scores:
        """The letters that pairs of words have in common, as a share of those of both."""
        result = np.empty(first.size, dtype=np.float32)
        for low in range(0, first.size, 1 << 15):
            chunk = slice(low, low + (1 << 15))
            a, b = (self.profiles[self.profile_row[side[chunk]]] for side in (first, second))
            common = np.minimum(a, b).sum(1, dtype=np.float32)
            result[chunk] = 2 * common / (a.sum(1) + b.sum(1))
        return result

    def scores(self, a: IntArray, k: IntArray) -> tuple[Scores, NDArray[np.uint8]]:
        """What each pair is worth, and what it is; −1 stands for no word. Shapes (n, r), (n, c)."""
        self.grow()
        left = np.broadcast_to(a[:, :, None], (*a.shape, k.shape[1]))
        right = np.broadcast_to(k[:, None, :], left.shape)
        real = (left >= 0) & (right >= 0)
        is_equal = (left == right) & real
        words = np.append(self.is_word, False)
        are_words = words[left] & words[right]
        mixed = words[left] != words[right]
        score = np.where(mixed, np.float32(-1.6), np.float32(-0.6))
        score[~are_words & ~mixed] = -0.4
        score[is_equal] = np.where(words[left[is_equal]], 2.0, 1.0)
        kind = np.where(is_equal, EQUAL, DIFFERENT).astype(np.uint8)
        unlike = are_words & ~is_equal
        if unlike.any():
            pairs = left[unlike] * len(words) + right[unlike]
            distinct, inverse = np.unique(pairs, return_inverse=True)
            first, second = distinct // len(words), distinct % len(words)
            self._learn(np.unique(np.concatenate((first, second))))
            alike = self.alike(first, second)[inverse]
            close = alike >= LEAST_ALIKE
            values = score[unlike]
            values[close] = 2 * alike[close] - 0.5
            score[unlike] = values
            kinds = kind[unlike]
            kinds[close] = SIMILAR
            kind[unlike] = kinds
        score[~real] = _NEVER
        return score, kind


def align_gaps(
    gaps: Iterable[Gap], a: IntArray, k: IntArray, likeness: Likeness
) -> tuple[IntArray, IntArray, IntArray]:
    """Pairs of words (answer, key) in some gaps, and whether they are equal, similar or neither."""
    groups: dict[tuple[int, int], list[Gap]] = defaultdict(list)
    for gap in gaps:
        groups[_size(gap.a1 - gap.a0), _size(gap.k1 - gap.k0)].append(gap)
    pairs = [
        _align_together(members[low : low + step], a, k, likeness)
        for (rows, columns), members in groups.items()
        for step in [max(_AT_ONCE // ((rows + 1) * (columns + 1)), 1)]
        for low in range(0, len(members), step)
    ]
    if not pairs:
        empty = np.empty(0, dtype=np.int64)
        return empty, empty, empty
    return tuple(np.concatenate(parts) for parts in zip(*pairs, strict=True))  # type: ignore[return-value]


def _size(length: int) -> int:
    """The size of table that a length goes into."""
    return (
        length
        if length <= 4
        else 1 << (length - 1).bit_length()
        if length <= 64
        else -(-length // 64) * 64
    )


def _align_together(
    gaps: Sequence[Gap], a: IntArray, k: IntArray, likeness: Likeness
) -> tuple[IntArray, IntArray, IntArray]:
    bounds = np.array([(g.a0, g.a1, g.k0, g.k1) for g in gaps], dtype=np.int64)
    backwards = np.array([g.right and not g.left for g in gaps], dtype=np.bool_)
    is_open = np.array([not (g.right and g.left) for g in gaps], dtype=np.bool_)
    rows = _places(bounds[:, 0], bounds[:, 1], backwards)
    columns = _places(bounds[:, 2], bounds[:, 3], backwards)
    numbers = [np.where(p >= 0, s[np.maximum(p, 0)], -1) for p, s in ((rows, a), (columns, k))]
    score, kind = likeness.scores(*numbers)
    states = _fill(score)
    sizes = (bounds[:, 1] - bounds[:, 0], bounds[:, 3] - bounds[:, 2])
    table, i, j = _trace(states, sizes, is_open)
    return rows[table, i], columns[table, j], kind[table, i, j].astype(np.int64)


def _places(start: IntArray, end: IntArray, backwards: NDArray[np.bool_]) -> IntArray:
    """The words of each gap in a row, away from what they are anchored to; −1 behind the last."""
    width = max(int((end - start).max()), 1)
    step = np.arange(width)
    forth, back = start[:, None] + step, end[:, None] - 1 - step
    places = np.where(backwards[:, None], back, forth)
    return np.where(step < (end - start)[:, None], places, -1)


def _fill(score: Scores) -> Scores:
    """The best score up to each cell that ends in a pair, in a left out word of the answer (1), or
    in one of the key (2): shape (3, tables, rows + 1, columns + 1).
    """
    tables, rows, columns = score.shape
    states = np.full((3, tables, rows + 1, columns + 1), _NEVER, dtype=np.float32)
    pair, above, left = states
    steps = np.arange(columns + 1, dtype=np.float32) * np.float32(_EXTEND)
    pair[:, 0, 0] = 0
    left[:, 0, 1:] = -_OPEN - steps[:-1]
    for row in range(1, rows + 1):
        before = states[:, :, row - 1]
        best = before.max(0)
        pair[:, row, 1:] = best[:, :-1] + score[:, row - 1]
        above[:, row] = np.maximum(np.maximum(before[0], before[2]) - _OPEN, before[1] - _EXTEND)
        reach = np.maximum(pair[:, row], above[:, row]) + steps
        reach = np.maximum.accumulate(reach, axis=1)
        left[:, row, 1:] = reach[:, :-1] - steps[:-1] - _OPEN
    return states


def _trace(
    states: Scores, sizes: tuple[IntArray, IntArray], is_open: NDArray[np.bool_]
) -> tuple[IntArray, IntArray, IntArray]:
    """The pairs on the best way through each table: its number, row and column."""
    _, tables, _, columns = states.shape
    i, j = (size.copy() for size in sizes)
    if is_open.any():
        flat = states[0, is_open].reshape(int(is_open.sum()), -1).argmax(1)
        i[is_open], j[is_open] = flat // columns, flat % columns
    every = np.arange(tables)
    state = states[:, every, i, j].argmax(0)
    cost = np.array([[0, 0, 0], [_OPEN, _EXTEND, _OPEN], [_OPEN, _OPEN, _EXTEND]], dtype=np.float32)
    traced_pairs = []
    active = np.flatnonzero((i > 0) | (j > 0))
    while active.size:
        s, r, c = state[active], i[active], j[active]
        pairs = s == 0
        traced_pairs.append(np.stack((active[pairs], r[pairs] - 1, c[pairs] - 1)))
        r = r - (s != 2)
        c = c - (s != 1)
        state[active] = (states[:, active, r, c] - cost[s].T).argmax(0)
        i[active], j[active] = r, c
        active = active[(r > 0) | (c > 0)]
    if not traced_pairs:
        return (np.empty(0, dtype=np.int64),) * 3
    table, row, column = np.concatenate(traced_pairs, axis=1)
    return table, row, column

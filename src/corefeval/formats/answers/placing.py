"""Tagged mentions put on the key's tokens, by the words that were laid upon the key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cpdist

from corefeval.formats.answers.lookup import WIDENED
from corefeval.formats.answers.text import ZERO, Atoms, Vocabulary
from corefeval.formats.answers.units import Unit
from corefeval.model.arrays import BoolArray, IntArray
from corefeval.model.ledger import Span
from corefeval.texts import align_tokens, hash_runs

_ALIKE = 0.6  # the share of the letters of a word that a word it is laid upon must have
SEED = 6  # atoms in a row that tell a text
_NEAR = 8  # atoms: how far off a zero may stand


Outcome = tuple[list[Span], str]  # where a mention went, if anywhere, and what is odd about it


class Laid(NamedTuple):
    """For each atom of the answer its first and its last atom of the key, −1 for none."""

    first: IntArray
    last: IntArray


def lay(answer: IntArray, key: IntArray, words: Sequence[str]) -> Laid:
    """Lay the atoms of an answer upon those of a key, both as numbers of `words`.

    What an answer says again and again, unlike the key, is laid once.
    """
    if (start := _find_run(answer, key)) is not None:
        to_key = np.arange(start, start + answer.size)
        return Laid(to_key, to_key)
    kept = np.flatnonzero(~_find_loops(answer, key))
    atoms, key_atoms = ([words[number] for number in side] for side in (answer[kept], key))
    aligned = align_tokens(atoms, key_atoms)
    sides = [[atoms[i] for i, _ in aligned.pieces], [key_atoms[j] for _, j in aligned.pieces]]
    least = [_ALIKE * min(map(len, pair)) for pair in zip(*sides, strict=True)]
    is_alike = cpdist(*sides, scorer=LCSseq.similarity) >= np.array(least)
    rows, columns = aligned.pieces[is_alike | ~aligned.is_alike].T
    rows = kept[rows]
    first, last = (np.full(answer.size, -1, dtype=np.int64) for _ in range(2))
    first[rows[::-1]], last[rows] = columns[::-1], columns
    return Laid(first, last)


def _find_run(answer: IntArray, key: IntArray) -> int | None:
    """Where the key has all atoms of the answer in a row, if it does."""
    starts = np.arange(max(key.size - answer.size + 1, 0)) if answer.size else np.empty(0, int)
    for shift, number in enumerate(answer[:40].tolist()):
        starts = starts[key[starts + shift] == number]
    runs = (s for s in starts.tolist() if np.array_equal(key[s : s + answer.size], answer))
    return next(runs, None)


def _find_loops(answer: IntArray, key: IntArray) -> BoolArray:
    """Which atoms of an answer belong to a loop: they repeat what comes before, unlike the key.

    A seed that comes back at a distance and goes on to do so over that distance is a loop, unless
    the key has the seed before it too, in which one copy ends and the next one begins.
    """
    is_loop = np.zeros(answer.size, dtype=np.bool_)
    seeds = hash_runs(answer, SEED)
    order = np.argsort(seeds, kind="stable")
    is_repeat = seeds[order[1:]] == seeds[order[:-1]]
    distance = np.zeros(seeds.size, dtype=np.int64)  # from the same seed before; 0 for none
    distance[order[1:][is_repeat]] = (order[1:] - order[:-1])[is_repeat]
    edges = np.flatnonzero(np.diff(distance, prepend=-1, append=-1))
    low, high = edges[:-1], edges[1:]
    period = distance[low]
    long = np.flatnonzero((period > 0) & (period <= high - low + SEED) & (low > 0))
    new = long[~np.isin(seeds[low[long] - 1], hash_runs(key, SEED))]
    for run in new.tolist():
        is_loop[low[run] : high[run] + SEED - 1] = True
    return is_loop


class Projector:
    """From characters of an answer's plain text to tokens of the key."""

    def __init__(self, answer: Atoms, key: Atoms, laid: Laid, vocabulary: Vocabulary) -> None:
        self.answer, self.key, self.laid, self.words = answer, key, laid, vocabulary.words
        self.zero = vocabulary.number(ZERO)
        self.taken = np.zeros(len(key), dtype=np.bool_)
        self.rows = np.flatnonzero(laid.first >= 0)  # atoms that are laid
        self.taken[laid.first[self.rows]] = True

    def place(self, units: Sequence[Unit]) -> None:
        """Give each mention its place."""
        chars = np.array([unit.chars for unit in units], dtype=np.int64).reshape(-1, 2)
        first = np.searchsorted(self.answer.end, chars[:, 0], side="right").tolist()
        behind = np.searchsorted(self.answer.start, chars[:, 1], side="left").tolist()
        for unit, low, high in zip(units, first, behind, strict=True):
            if not unit.state:
                unit.spans, why = self._place(*self._trim(low, high))
                unit.why = ", ".join(dict.fromkeys(filter(None, (unit.why, why))))

    def _trim(self, low: int, high: int) -> tuple[int, int]:
        """The atoms [low, high) without signs at the edges that the key lacks, as in `**Ada**`."""
        first, behind = low, high
        while first < behind and self._is_added(first):
            first += 1
        while first < behind and self._is_added(behind - 1):
            behind -= 1
        return (first, behind) if first < behind else (low, high)

    def _is_added(self, atom: int) -> bool:
        """Whether an atom is a sign that the key does not have there."""
        number = self.answer.numbers[atom]
        is_sign = number != self.zero and not self.words[number].isalnum()
        return bool(self.laid.first[atom] < 0 and is_sign)

    def _place(self, low: int, high: int) -> Outcome:
        """The place of the atoms [low, high): from the first that is laid to the last."""
        inside = low + np.flatnonzero(self.laid.first[low:high] >= 0)
        size = high - low
        if not inside.size and size == 1 and self.answer.numbers[low] == self.zero:
            return self._nearest_zero(low)
        if not inside.size:
            return self._fill_hole(low, high)
        start = int(self.laid.first[inside[0]])
        end = int(self.laid.last[inside[-1]]) + 1
        if 2 * inside.size < size and 2 * (end - start) < size:
            return [], "most of its words are missing from the document"
        if end - start > 2 * size + 2:
            return [], "its words are far apart"
        is_exact = np.array_equal(self.answer.numbers[low:high], self.key.numbers[start:end])
        return self._tokens(start, end, "" if is_exact else "words changed")

    def _fill_hole(self, low: int, high: int) -> Outcome:
        """The place between its neighbours, of a mention none of whose words is laid."""
        if low >= high:
            return [], "it has no words"
        if low > 0 and high < len(self.answer) and self.laid.first[[low - 1, high]].min() >= 0:
            start, end = int(self.laid.last[low - 1]) + 1, int(self.laid.first[high])
            if 0 < end - start <= 2 * (high - low) + 1:
                return self._tokens(start, end, "words changed")
        return [], "its words are not in the document"

    def _nearest_zero(self, atom: int) -> Outcome:
        """The nearest free zero of the key, for a zero that the answer has at another place."""
        before = self.rows[: np.searchsorted(self.rows, atom)][-1:]
        place = int(self.laid.last[before[0]]) + 1 if before.size else 0
        low, high = max(place - _NEAR, 0), min(place + _NEAR, len(self.key))
        free = low + np.flatnonzero(
            (self.key.numbers[low:high] == self.zero) & ~self.taken[low:high]
        )
        if not free.size:
            return [], "there is no zero here"
        best = int(free[np.argmin(np.abs(free - place))])
        self.taken[best] = True
        return self._tokens(best, best + 1, "a zero at another place")

    def _tokens(self, start: int, end: int, why: str) -> Outcome:
        """Atoms of the key as whole tokens."""
        tokens: IntArray = self.key.start
        widened = (start > 0 and tokens[start - 1] == tokens[start]) or (
            end < tokens.size and tokens[end - 1] == tokens[end]
        )
        if widened:
            why = ", ".join(filter(None, (why, WIDENED)))
        return [(int(tokens[start]), int(tokens[end - 1]) + 1)], why

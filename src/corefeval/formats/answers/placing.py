"""Tagged mentions put on the key's tokens, by the words that were laid upon the key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cpdist

from corefeval.formats.answers.lookup import WIDENED
from corefeval.formats.answers.text import ZERO, Atoms, Vocabulary
from corefeval.formats.answers.units import Unit
from corefeval.model.arrays import BoolArray, IntArray
from corefeval.model.ledger import Span
from corefeval.texts import align_tokens, hash_runs

SEED = 6  # atoms in a row that tell a text
EQUAL, SIMILAR, DIFFERENT = 1, 2, 3
_ALIKE = 0.6  # the share of the letters of a word that a word it is laid upon must have
_NEAR = 8  # atoms: how far off a zero may stand


Outcome = tuple[list[Span], str]  # where a mention went, if anywhere, and what is odd about it


@dataclass(slots=True)
class Laid:
    """For each atom of the answer its first and last atom of the key, −1 for none, and its kind."""

    to_key: IntArray
    last: IntArray
    kind: IntArray


def lay(answer: IntArray, key: IntArray, words: Sequence[str]) -> Laid:
    """Lay the atoms of an answer upon those of a key, both as numbers of `words`.

    What an answer says again and again, unlike the key, is laid once.
    """
    if (start := _find_run(answer, key)) is not None:
        to_key = np.arange(start, start + answer.size)
        return Laid(to_key, to_key, np.full(answer.size, EQUAL))
    kept = np.flatnonzero(~_find_loops(answer, key))
    atoms, key_atoms = ([words[number] for number in side] for side in (answer[kept], key))
    aligned = align_tokens(atoms, key_atoms)
    pairs = aligned.pieces.tolist()
    common = cpdist(
        [atoms[row] for row, _ in pairs],
        [key_atoms[column] for _, column in pairs],
        scorer=LCSseq.similarity,
    )
    shorter = [min(len(atoms[row]), len(key_atoms[column])) for row, column in pairs]
    is_own = ~aligned.is_alike | (common >= _ALIKE * np.array(shorter))
    rows, columns = kept[aligned.pieces[is_own, 0]], aligned.pieces[is_own, 1]
    to_key, last, kind = (np.full(answer.size, empty, dtype=np.int64) for empty in (-1, -1, 0))
    to_key[rows[::-1]], last[rows] = columns[::-1], columns
    kind[rows] = np.where(aligned.is_alike[is_own], SIMILAR, DIFFERENT)
    kind[rows[answer[rows] == key[columns]]] = EQUAL
    return Laid(to_key, last, kind)


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
        is_laid = laid.to_key >= 0
        index = np.arange(len(answer))
        self.last = np.maximum.accumulate(np.where(is_laid, index, -1)) if index.size else index
        self.next = np.where(is_laid, index, index.size)
        if index.size:
            self.next = np.minimum.accumulate(self.next[::-1])[::-1]
        self.taken = np.zeros(len(key), dtype=np.bool_)
        self.taken[laid.to_key[is_laid]] = True

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
        return bool(self.laid.to_key[atom] < 0 and is_sign)

    def _place(self, low: int, high: int) -> Outcome:
        """The place of the atoms [low, high)."""
        if low >= high:
            return [], "there are no words in it"
        to_key = self.laid.to_key
        p, q = int(self.next[low]), int(self.last[high - 1])
        if p >= high:
            return self._fill_hole(low, high)
        inside = to_key[low:high]
        kinds = self.laid.kind[low:high]
        placed = int((inside >= 0).sum())
        sure = int(((inside >= 0) & (kinds < DIFFERENT)).sum())
        start, end = int(to_key[p]), int(self.laid.last[q]) + 1
        if p > low:
            start -= self._room_before(low, p)
        if q < high - 1:
            end += self._room_behind(q, high)
        size = high - low
        if not sure and not self._is_straight(p, q):
            return self._fill_hole(low, high)
        if 2 * placed < size and 2 * (end - start) < size:
            return [], "most of its words are not there"
        if end - start > 2 * size + 2:
            return [], "its words are far apart"
        is_exact = placed == size == end - start and bool((kinds == EQUAL).all())
        return self._tokens(start, end, "" if is_exact else "words changed")

    def _is_straight(self, p: int, q: int) -> bool:
        """Whether changed words, laid one to one, have unchanged ones or an end on both sides."""
        to_key, kind = self.laid.to_key, self.laid.kind
        low, high = p, q
        while low > 0 and to_key[low - 1] == to_key[low] - 1 and kind[low] == DIFFERENT:
            low -= 1
        while (
            high < to_key.size - 1
            and to_key[high + 1] == to_key[high] + 1
            and kind[high] == DIFFERENT
        ):
            high += 1
        at_edges = kind[low] != DIFFERENT or to_key[low] == 0
        return bool(at_edges and (kind[high] != DIFFERENT or to_key[high] == len(self.key) - 1))

    def _room_before(self, low: int, p: int) -> int:
        """How many free atoms of the key before the first placed one belong to the mention."""
        before = int(self.last[low - 1]) if low else -1
        free = int(self.laid.last[before]) + 1 if before >= 0 else 0
        hole = max(int(self.laid.to_key[p]) - free, 0)
        return (
            hole
            if before == low - 1 and before >= 0 and hole <= 2 * (p - low)
            else min(hole, p - low)
        )

    def _room_behind(self, q: int, high: int) -> int:
        """How many free atoms of the key behind the last placed one belong to the mention."""
        size = self.laid.to_key.size
        behind = int(self.next[high]) if high < size else size
        limit = int(self.laid.to_key[behind]) if behind < size else len(self.key)
        hole = max(limit - int(self.laid.last[q]) - 1, 0)
        unplaced = high - 1 - q
        return (
            hole
            if behind == high and behind < size and hole <= 2 * unplaced
            else min(hole, unplaced)
        )

    def _fill_hole(self, low: int, high: int) -> Outcome:
        """A mention none of whose words is laid: the key's words in its place, if it fills it."""
        to_key, size = self.laid.to_key, self.laid.to_key.size
        before = int(self.last[low - 1]) if low else -1
        behind = int(self.next[high]) if high < size else size
        start = int(self.laid.last[before]) + 1 if before >= 0 else 0
        end = int(to_key[behind]) if behind < size else len(self.key)
        if high - low == 1 and self.answer.numbers[low] == self.zero:
            return self._nearest_zero(start, end)
        length, hole = high - low, end - start
        enclosed = before == low - 1 and behind == high and before >= 0 and behind < size
        enclosed = enclosed and DIFFERENT not in self.laid.kind[[before, behind]]
        if enclosed and 0 < hole <= 2 * length + 1:
            return self._tokens(start, end, "words changed")
        return [], "its words are not in the document"

    def _nearest_zero(self, start: int, end: int) -> Outcome:
        """The nearest free zero of the key, for a zero that the answer has at another place."""
        low, high = max(start - _NEAR, 0), min(end + _NEAR, len(self.key))
        free = low + np.flatnonzero(
            (self.key.numbers[low:high] == self.zero) & ~self.taken[low:high]
        )
        if not free.size:
            return [], "there is no zero here"
        best = int(free[np.argmin(np.abs(2 * free + 1 - start - end))])
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

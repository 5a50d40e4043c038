"""Tagged mentions put on the key's tokens, by the words that are laid upon the key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cpdist

from corefeval.formats.answers.lookup import WIDENED, KeyDocument
from corefeval.formats.answers.text import ZERO, Atoms
from corefeval.formats.answers.units import Unit
from corefeval.model.arrays import (
    ArrayPair,
    BoolArray,
    IntArray,
    all_false,
    distinct,
    find_runs,
    integers,
    mark_rows,
    set_rows,
)
from corefeval.model.ledger import Coverage, Span
from corefeval.texts import align_tokens, hash_runs

_ALIKE = 0.6  # the share of the letters of a word that a word it is laid upon must have
SEED = 6  # atoms in a row that tell a text
_NEAR = 8  # atoms: how far off a zero may stand

Outcome = tuple[list[Span], str]  # where a mention went, if anywhere, and what is odd about it


class Layout:
    """The atoms of a text laid upon those of a document: their first and last one, −1 for none.

    What a text says again and again, unlike the document, is laid once.
    """

    def __init__(self, text: Atoms, document: KeyDocument) -> None:
        self.text, self.document, self.key = text, document, document.atoms
        words = document.vocabulary.words
        self.first, self.last = _lay(text.numbers, self.key.numbers, words)
        self.reached = np.maximum.accumulate(self.last)  # the last one so far
        is_laid = self.first >= 0
        is_free = ~mark_rows(self.first[is_laid], len(self.key))
        self.zero = document.vocabulary[ZERO]
        self.zeros = np.flatnonzero(is_free & (self.key.numbers == self.zero)).tolist()
        is_sign = np.array([word != ZERO and not word.isalnum() for word in words], dtype=np.bool_)
        self.is_added = ~is_laid & is_sign[text.numbers]  # a sign that the document does not have

    def measure(self, convention: str) -> Coverage:
        """How much of the document the text has."""
        rows = np.flatnonzero(self.first >= 0)
        atoms, size = self.first[rows], len(self.document.words)
        is_equal = self.key.numbers[atoms] == self.text.numbers[rows]
        is_copied = mark_rows(atoms[is_equal], len(self.key))
        copied = size - distinct(self.key.start[~is_copied]).size
        tokens = distinct(self.key.start[atoms])
        return Coverage(
            self.document.identifier,
            convention,
            size,
            copied,
            tokens.size - copied,
            len(self.text) - rows.size,
            size - tokens.size,
            int(tokens.max(initial=-1)) + 1,
        )

    def place(self, units: Sequence[Unit]) -> None:
        """Give each mention its place."""
        chars = integers([unit.chars for unit in units]).reshape(-1, 2)
        first = np.searchsorted(self.text.end, chars[:, 0], side="right").tolist()
        behind = np.searchsorted(self.text.start, chars[:, 1], side="left").tolist()
        for unit, low, high in zip(units, first, behind, strict=True):
            solid = low + np.flatnonzero(~self.is_added[low:high])  # `**Ada**` without its stars
            if not unit.state:
                inner = (int(solid[0]), int(solid[-1]) + 1) if solid.size else (low, high)
                unit.spans, why = self._place(*inner)
                unit.why = ", ".join(dict.fromkeys(filter(None, (unit.why, why))))

    def _place(self, low: int, high: int) -> Outcome:
        """The place of the atoms [low, high): from the first that is laid to the last."""
        inside = low + np.flatnonzero(self.first[low:high] >= 0)
        size = high - low
        if not inside.size:
            return self._place_between(low, high)
        start, end = int(self.first[inside[0]]), int(self.last[inside[-1]]) + 1
        if 2 * inside.size < size and 2 * (end - start) < size:
            return [], "most of its words are missing from the document"
        if end - start > 2 * size + 2:
            return [], "its words are far apart"
        is_exact = np.array_equal(self.text.numbers[low:high], self.key.numbers[start:end])
        return self._widen(start, end, "" if is_exact else "words changed")

    def _place_between(self, low: int, high: int) -> Outcome:
        """The place of a mention none of whose words is laid: between its neighbours.

        A zero that the text has at another place takes the nearest one that is free.
        """
        if low >= high:
            return [], "it has no words"
        start = int(self.reached[low]) + 1
        if high == low + 1 and self.text.numbers[low] == self.zero:
            near = sorted((abs(zero - start), zero) for zero in self.zeros)
            if not near or near[0][0] > _NEAR:
                return [], "there is no zero here"
            self.zeros.remove(near[0][1])
            return self._widen(near[0][1], near[0][1] + 1, "a zero at another place")
        if low > 0 and high < len(self.text) and self.first[[low - 1, high]].min() >= 0:
            end = int(self.first[high])
            if 0 < end - start <= 2 * (high - low) + 1:
                return self._widen(start, end, "words changed")
        return [], "its words are not in the document"

    def _widen(self, start: int, end: int, why: str) -> Outcome:
        """Atoms of the document as whole tokens."""
        if not (self.document.edges[start] and self.document.edges[end]):
            why = ", ".join(filter(None, (why, WIDENED)))
        return [self.document.span(start, end)], why


def _lay(text: IntArray, key: IntArray, words: Sequence[str]) -> ArrayPair:
    """The first and the last atom of a key for each atom of a text, both as numbers of `words`."""
    key_line, line = (f" {' '.join(map(str, side.tolist()))} " for side in (key, text))
    if text.size and (place := key_line.find(line)) >= 0:  # word for word
        to_key = key_line.count(" ", 0, place) + np.arange(text.size)
        return to_key, to_key
    kept = np.flatnonzero(~_find_loops(text, key))
    atoms, key_atoms = ([words[number] for number in side] for side in (text[kept], key))
    aligned = align_tokens(atoms, key_atoms)
    sides = [[atoms[i] for i, _ in aligned.pieces], [key_atoms[j] for _, j in aligned.pieces]]
    least = [_ALIKE * min(map(len, pair)) for pair in zip(*sides, strict=True)]
    is_alike = cpdist(*sides, scorer=LCSseq.similarity) >= np.array(least)
    rows, columns = aligned.pieces[is_alike | ~aligned.is_alike].T
    rows = kept[rows]
    return set_rows(rows[::-1], columns[::-1], text.size), set_rows(rows, columns, text.size)


def _find_loops(text: IntArray, key: IntArray) -> BoolArray:
    """Which atoms of a text belong to a loop: they repeat what comes before, unlike the key.

    A seed that comes back at a distance and goes on to do so over that distance is a loop, unless
    the key has the seed before it too, in which one copy ends and the next one begins.
    """
    is_loop = all_false(text.size)
    seeds, key_seeds = hash_runs(text, SEED), hash_runs(key, SEED)
    order = np.argsort(seeds, kind="stable")
    is_repeat = seeds[order[1:]] == seeds[order[:-1]]
    period = np.zeros(seeds.size, dtype=np.int64)  # distance from an equal seed before; 0 for none
    period[order[1:][is_repeat]] = np.diff(order)[is_repeat]
    first, length = find_runs(period)
    is_long = (period[first] > 0) & (period[first] <= length + SEED) & (first > 0)
    is_new = ~np.isin(seeds[first - 1], key_seeds)
    for low, size in zip(first[is_long & is_new], length[is_long & is_new], strict=True):
        is_loop[low : low + size + SEED - 1] = True
    return is_loop

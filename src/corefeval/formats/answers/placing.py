"""Tagged mentions put on the key's tokens, by the words that are laid upon the key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rapidfuzz.distance import LCSseq

from corefeval.formats.answers.lookup import WIDENED, KeyDocument, Unit
from corefeval.formats.answers.text import ZERO, Atoms
from corefeval.model.arrays import (
    ArrayPair,
    BoolArray,
    IntArray,
    all_false,
    distinct,
    find_previous,
    find_runs,
    plain_rows,
    set_rows,
)
from corefeval.model.ledger import Coverage
from corefeval.texts import align_tokens, hash_runs

_ALIKE = 0.6  # the share of the letters of a word that a word it is laid upon must have
SEED = 6  # atoms in a row that tell a text
_NEAR = 8  # atoms: how far off a zero may stand
_CHANGED = "words changed"


class Layout:
    """The atoms of a text laid upon those of a document: their first and last one, −1 for none.

    What a text says again and again, unlike the document, is laid once.
    """

    def __init__(self, text: Atoms, document: KeyDocument) -> None:
        self.text, self.document = text, document
        words = document.vocabulary.words
        self.first, self.last = _lay(text.numbers, document)
        self.rows = np.flatnonzero(self.first >= 0)
        self.reached = np.maximum.accumulate(self.last)  # the last one so far
        self.zero = document.vocabulary[ZERO]
        zeros = np.flatnonzero(document.atoms.numbers == self.zero)
        self.zeros: list[int] = np.setdiff1d(zeros, self.first).tolist()  # which are free
        # All but signs that the document does not have: `**Ada**` without its stars.
        is_sign = np.array([word != ZERO and not word.isalnum() for word in words], dtype=np.bool_)
        self.solid = np.flatnonzero((self.first >= 0) | ~is_sign[text.numbers])

    def measure(self, convention: str) -> Coverage:
        """How much of the document the text has."""
        key, size = self.document.atoms, len(self.document.words)
        atoms = self.first[self.rows]
        is_equal = key.numbers[atoms] == self.text.numbers[self.rows]
        copied = distinct(key.start[atoms[is_equal]]).size
        tokens = distinct(key.start[atoms])
        return Coverage(
            self.document.identifier,
            convention,
            size,
            copied,
            tokens.size - copied,
            len(self.text) - self.rows.size,
            size - tokens.size,
            int(tokens.max(initial=-1)) + 1,
        )

    def place(self, units: Sequence[Unit]) -> None:
        """Give each mention its place, as whole tokens."""
        edges = self.document.edges
        for unit in units:
            if unit.state:
                continue
            low = int(self.text.end.searchsorted(unit.chars[0], "right"))
            high = int(self.text.start.searchsorted(unit.chars[1]))
            solid = _within(self.solid, low, high)
            start, end, why = self._find(*(solid[0], solid[-1] + 1) if solid.size else (low, high))
            whys = [unit.why, why]
            if start < end:
                unit.spans = [self.document.span(start, end)]
                whys += [WIDENED] if not (edges[start] and edges[end]) else []
            unit.why = ", ".join(dict.fromkeys(filter(None, whys)))

    def _find(self, low: int, high: int) -> tuple[int, int, str]:
        """The place of the atoms [low, high) in the document, if any, and what is odd about it.

        It is from the first that is laid to the last. What has none is between its neighbours; a
        zero that the text has at another place takes the nearest one that is free.
        """
        inside, size = _within(self.rows, low, high), high - low
        if inside.size:
            start, end = int(self.first[inside[0]]), int(self.last[inside[-1]]) + 1
            if 2 * inside.size < size and 2 * (end - start) < size:
                return 0, 0, "most of its words are missing from the document"
            if end - start > 2 * size + 2:
                return 0, 0, "its words are far apart"
            key_numbers = self.document.atoms.numbers[start:end]
            is_equal = np.array_equal(self.text.numbers[low:high], key_numbers)
            return start, end, "" if is_equal else _CHANGED
        if size <= 0:
            return 0, 0, "it has no words"
        start = int(self.reached[low]) + 1
        if size == 1 and self.text.numbers[low] == self.zero:
            zero = min(self.zeros, key=lambda zero: abs(zero - start), default=-99)
            if abs(zero - start) > _NEAR:
                return 0, 0, "there is no zero here"
            self.zeros.remove(zero)
            return zero, zero + 1, "a zero at another place"
        if low > 0 and high < len(self.text) and self.first[low - 1] >= 0:
            end = int(self.first[high])
            if 0 < end - start <= 2 * size + 1:
                return start, end, _CHANGED
        return 0, 0, "its words are not in the document"


def _within(rows: IntArray, low: int, high: int) -> IntArray:
    """Those of some rows, in order, that are from one up to another."""
    return rows[slice(*rows.searchsorted((low, high)))]


def _lay(text: IntArray, document: KeyDocument) -> ArrayPair:
    """The first and the last atom of a document for each atom of a text, given by its numbers."""
    key, key_atoms = document.atoms.numbers, document.folded
    place = key.tobytes().find(text.tobytes())
    if place >= 0 and place % key.itemsize == 0:  # word for word
        to_key = place // key.itemsize + np.arange(text.size)
        return to_key, to_key
    kept = np.flatnonzero(~_find_loops(text, key))
    atoms = [document.vocabulary.words[number] for number in text[kept].tolist()]
    aligned = align_tokens(atoms, key_atoms)
    rows, columns = aligned.pieces.T
    is_laid = ~aligned.is_alike | (text[kept[rows]] == key[columns])
    for piece in np.flatnonzero(~is_laid).tolist():
        pair = atoms[rows[piece]], key_atoms[columns[piece]]
        is_laid[piece] = LCSseq.similarity(*pair) >= _ALIKE * min(map(len, pair))
    rows, columns = kept[rows[is_laid]], columns[is_laid]
    return set_rows(rows[::-1], columns[::-1], text.size), set_rows(rows, columns, text.size)


def _find_loops(text: IntArray, key: IntArray) -> BoolArray:
    """Which atoms of a text belong to a loop: they repeat what comes before, unlike the key.

    A seed that comes back at a distance and goes on to do so over that distance is a loop, unless
    the key has the seed before it too, in which one copy ends and the next one begins.
    """
    is_loop = all_false(text.size)
    seeds, key_seeds = hash_runs(text, SEED), hash_runs(key, SEED)
    before = find_previous(seeds.view(np.int64))  # the equal seed
    period = np.where(before < 0, 0, np.arange(seeds.size) - before)
    first, length = find_runs(period)
    is_new = ~np.isin(seeds[first - 1], key_seeds)
    rows = is_new & (period[first] > 0) & (period[first] <= length + SEED)
    for low, size in plain_rows(first[rows], length[rows]):
        is_loop[low : low + size + SEED - 1] = True
    return is_loop

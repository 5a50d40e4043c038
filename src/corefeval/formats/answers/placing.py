"""Mentions put on the tokens of the key: tagged ones by their text, listed ones by their words."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Sequence
from functools import cached_property, partial

import numpy as np
from rapidfuzz.distance import LCSseq

from corefeval.formats.answers.lookup import (
    WIDENED,
    ZERO,
    Atoms,
    KeyDocument,
    Places,
    Unit,
    fold_text,
)
from corefeval.model.arrays import (
    ArrayPair,
    BoolArray,
    IntArray,
    all_false,
    distinct,
    find_previous,
    find_runs,
    offsets_of,
    plain_rows,
    set_rows,
)
from corefeval.model.ledger import Coverage, Span
from corefeval.texts import align_tokens, hash_runs

_ALIKE = 0.6  # the share of the shorter word's letters that two words must have in common
SEED = 6  # atoms in a row that tell a text
_NEAR = 8  # atoms: how far off a zero may stand
_CHANGED = "words changed"


class Layout:
    """The atoms of a text laid on those of a document: their first and last one, −1 for none.

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
            solid = self.solid[slice(*self.solid.searchsorted((low, high)))]
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
        inside, size = self.rows[slice(*self.rows.searchsorted((low, high)))], high - low
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


def _lay(text: IntArray, document: KeyDocument) -> ArrayPair:
    """The first and the last atom of a document for each atom of a text, given by its numbers."""
    key, key_atoms = document.atoms.numbers, document.folded
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


# ------------------------------------------------------------------ listed mentions

Cost = Callable[[Unit, Span], float]  # what speaks against a place
# What costs: each sentence off, outside its context, not the nth, a token away, offsets at most.
_SENTENCE, _CONTEXT, _NTH, _DISTANCE, _OFFSET = 6.0, 15.0, 20.0, 0.7, 6.0
# At which cost a place is not taken yet; before the last one, at its edge, in another case.
_LOST, _BACK, _EDGE, _CASE = 9.0, 3.0, 2.0, 1.5
# Places that are weighed behind the last one or behind where the answer says; half as many before.
_NEAREST = 20
_MANY = 100  # places of a string that says nothing of how sentences are counted


class Chooser:
    """Gives places to all mentions that were listed for a document.

    A pronoun that is listed once may stand ten times in the text. Which place is meant follows from
    the order of the list, from strings with just one place, and from what the answer says.
    """

    def __init__(self, key: KeyDocument, units: Sequence[Unit]) -> None:
        self.key, self.units = key, units
        self.lists = defaultdict(list)
        for unit in units:
            if not unit.state:
                unit.places = key.look_up(unit.text)
                if not unit.places.every:
                    similar = key.find_similar(unit.text)
                    unit.places = Places(similar, similar, "similar words")
            # All mentions that stand in textual order as a whole are one list.
            self.lists[None if unit.in_text_order else unit.entity].append(unit)
        self.owner: dict[Span, str] = {}  # the entities of places that are taken
        shift = self._find_shift()
        for unit in dict.fromkeys([*units, *(u.antecedent for u in units if u.antecedent)]):
            if unit.sentence is not None:
                unit.sentence += shift

    def _find_shift(self) -> int:
        """What to add to the answer's numbers of sentences for those of the key, from 0.

        They may be counted from 0 or 1, or anew in a piece: the shift under which most strings
        stand where they are said to.
        """
        votes = Counter({-1: 0})
        for unit in self.units:
            places = unit.places.every
            if unit.sentence is not None and len(places) <= _MANY:
                sentence_of = self.key.sentence_of
                votes.update({int(sentence_of[start]) - unit.sentence for start, _ in places})
        return max(votes, key=votes.__getitem__)

    def choose(self, occurrences: str) -> None:
        """Give each mention one place or none, or all where `occurrences` says so."""
        if occurrences == "in-order":
            self._settle_in_order()
        for unit in self.units:
            places = unit.places.every
            if occurrences == "first":
                unit.spans = places[:1]
            elif occurrences == "all":
                # A cluster that says a string twice is given its places again.
                entity, take = unit.entity, self.owner.setdefault
                unit.spans = [place for place in places if take(place, entity) == entity]
            if unit.spans:
                unit.why = unit.places.why
            elif not unit.state:
                unit.why = "all its places are taken" if places else "not in the document"

    def _settle_in_order(self) -> None:
        """Settle what is sure, then the others by what is left between their neighbours."""
        first: Span = (0, 0)  # mention of an entity: the next entity begins behind it
        for units in self.lists.values():
            self._settle_list(units, first)
            first = next((unit.spans[0] for unit in units if unit.spans), first)
        for unit in [unit for unit in self.units if unit.places.every and not unit.spans]:
            siblings = self.lists[unit.entity] if unit.places.why else []
            taken = [span for sibling in siblings for span in sibling.spans]
            for place in sorted(self._free(unit), key=partial(self.cost, unit)):
                if not any(start <= place[0] and place[1] <= end for start, end in taken):
                    self._settle(unit, place)
                    break

    def _settle(self, unit: Unit, place: Span) -> None:
        """Give a mention its place."""
        self.owner[place] = unit.entity
        unit.spans = [place]

    def _settle_list(self, units: Sequence[Unit], last: Span) -> None:
        """Settle the strings of a list, each on the place that fits best behind the last one."""
        for unit in units:
            if unit.places.why not in ("", WIDENED):
                continue
            weigh = partial(self._weigh, unit, last)
            place = min(unit.spans or self._free(unit, last), key=weigh, default=None)
            if place and weigh(place) < _LOST:
                last = place
                self._settle(unit, last)

    def _weigh(self, unit: Unit, last: Span, place: Span) -> float:
        """What speaks against a place behind the last one of a list."""
        is_edge = place[0] == last[0] or place[1] == last[1]
        is_edge &= self.owner.get(last) == unit.entity
        return self.cost(unit, place) + _BACK * (place[0] < last[0]) + _EDGE * is_edge

    def _free(self, unit: Unit, last: Span | None = None) -> list[Span]:
        """The free places of a string near where the answer says, or else near the last one."""
        places, spot = unit.places.every, None
        if unit.sentence is not None:
            spot = int(np.searchsorted(self.key.sentence_of, unit.sentence))
        elif unit.start is not None:
            spot = int(np.searchsorted(self._offsets, unit.start))
        elif last is not None and unit.nth is None and not unit.contexts:
            spot = last[0]
        if spot is not None:
            near = bisect_left(places, (spot, 0))
            places = places[max(near - _NEAREST // 2, 0) : near + _NEAREST]
        return [place for place in places if place not in self.owner]

    # -------------------------------------------------------------- what the answer says of places

    def cost(self, unit: Unit, place: Span) -> float:
        """What speaks against a place that is not where the answer says."""
        cost = _CASE * (place not in self.key.look_up(unit.text).cased)
        if unit.sentence is not None:
            cost += abs(int(self.key.sentence_of[place[0]]) - unit.sentence) * _SENTENCE
        if unit.start is not None:
            cost += min(abs(int(self._offsets[place[0]]) - unit.start) / 20, _OFFSET)
        if unit.nth is not None:
            cost += _NTH * (self._named(unit) != [place])
        return cost + sum(self._gap(unit, place, context) for context in unit.contexts)

    def _named(self, unit: Unit) -> list[Span]:
        """The places of a string, case and all, in the sentence that is named; or the nth there."""
        places, sentence = self.key.look_up(unit.text).exact, unit.sentence
        if sentence is not None:
            edges = np.searchsorted(self.key.sentence_of, (sentence, sentence + 1)).tolist()
            low, high = (bisect_left(places, (edge, 0)) for edge in edges)
            places = places[low:high]
        return places if unit.nth is None else places[unit.nth - 1 : unit.nth]

    def _gap(self, unit: Unit, place: Span, context: str) -> float:
        """What speaks against a place that is outside of its context, or far from words near it."""
        spans = self.key.look_up(context).every
        gap = min((max(start - place[0], place[1] - end, 0) for start, end in spans), default=99)
        is_inside = unit.text.lower() in context.lower()
        return _CONTEXT * (gap > 0) if is_inside else min(_DISTANCE * gap, _CONTEXT)

    @cached_property
    def _offsets(self) -> IntArray:
        """Where each token begins: its number if no offset is larger, else with blanks between."""
        words = self.key.words
        are_tokens = all((unit.start or 0) < len(words) for unit in self.units)
        return offsets_of(np.array([1 if are_tokens else len(word) + 1 for word in words]))


def link(
    units: Sequence[Unit],
    key: KeyDocument,
    cost_of: Cost = lambda *_: 0.0,
) -> list[Unit]:
    """Give entities to all placed units by their antecedents; return the new mentions.

    Of the places that cost least, an antecedent is the known mention nearest before the unit; else
    the nearest place before it, else the nearest. Words that are not in the text are a label.
    `cost_of` says what speaks against a place.
    """
    if not any(unit.antecedent for unit in units):
        return []
    placed, added = [unit for unit in units if unit.spans], []
    mentions = {unit.spans[0] for unit in placed}
    above: dict[object, object] = {}  # what a mention, a label or an entity is one with

    def root(name: object) -> object:
        while name in above:
            name = above[name]
        return name

    def join(first: object, second: object) -> None:
        if root(first) != root(second):
            above[root(second)] = root(first)

    for unit in placed:
        if not unit.in_text_order:
            join(f"entity {unit.entity}", unit.spans[0])
    for unit in sorted(placed, key=lambda unit: unit.spans[0]):
        if target := unit.antecedent:
            place = _find_antecedent(target, unit.spans[0], mentions, key, cost_of)
            join(place or fold_text(target.text), unit.spans[0])
            if place and place not in mentions:
                target.spans = [place]
                mentions.add(place)
                added.append(target)
    numbers: dict[object, str] = {}
    for unit in [*placed, *added]:
        unit.entity = numbers.setdefault(root(unit.spans[0]), str(len(numbers)))
    return added


def _find_antecedent(
    antecedent: Unit,
    span: Span,
    mentions: Container[Span],
    key: KeyDocument,
    cost_of: Cost,
) -> Span | None:
    """The place of an antecedent of a mention; None where it is a label."""
    if antecedent.state == "aside":
        return None
    every = antecedent.spans or key.look_up(antecedent.text).every
    places = [place for place in every if place != span]

    def rank(place: Span) -> tuple[float, bool, bool, int]:
        is_behind, is_new = place[0] > span[0], place not in mentions
        distance = abs(place[0] - span[0])
        return cost_of(antecedent, place), is_new or is_behind, is_behind, distance

    return min(places, key=rank, default=None)

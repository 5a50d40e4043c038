"""Strings without places, put on the key's tokens.

A pronoun that is listed once may stand ten times in the text. Which place is meant follows from the
order of the list, from strings that have but one place, and from what the answer says of places.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Sequence
from functools import cached_property, partial

import numpy as np

from corefeval.formats.answers.lookup import WIDENED, KeyDocument, Places, Unit
from corefeval.formats.answers.text import fold_text
from corefeval.model.arrays import IntArray, offsets_of
from corefeval.model.ledger import Span

Cost = Callable[[Unit, Span], float]  # what speaks against a place
_SENTENCE, _CONTEXT, _NTH, _NEAR, _OFFSET = 6.0, 15.0, 20.0, 0.7, 6.0
_LOST, _BACK, _EDGE, _CASE = 9.0, 3.0, 2.0, 1.5
# Places that are weighed behind the last one or behind where the answer says; half as many before.
_NEAREST = 20
_MANY = 100  # places of a string that says nothing of how sentences are counted
_TEXT_ORDER = -1  # the list of all mentions that stand in textual order as a whole


class Chooser:
    """Gives places to all mentions that were listed for a document."""

    def __init__(self, key: KeyDocument, units: Sequence[Unit]) -> None:
        self.key, self.units = key, units
        self.lists = defaultdict[object, list[Unit]](list)
        for unit in units:
            if not unit.state:
                unit.places = key.look_up(unit.text)
                if not unit.places.every:
                    similar = key.find_similar(unit.text)[:1]
                    unit.places = Places(similar, similar, "similar words")
            self.lists[_TEXT_ORDER if unit.in_text_order else unit.entity].append(unit)
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
        for unit in self.units:
            choices = unit.places.every if not unit.places.why else []
            if len(choices) > 1 and unit.sentence is not None:
                choices = self._named(unit)
            if len(choices) == 1 and choices[0] not in self.owner:
                self._settle(unit, choices[0])
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
        return _CONTEXT * (gap > 0) if is_inside else min(_NEAR * gap, _CONTEXT)

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
    """Give entities to the units of pairs; antecedents that were no mentions yet come back.

    An antecedent is the known mention with its words nearest before the mention; else their nearest
    place before it, else the nearest. Words that are not in the text are a label. `cost` are what
    speaks against a place.
    """
    if not any(unit.antecedent for unit in units):
        return []
    placed, added = [unit for unit in units if unit.spans], list[Unit]()
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

"""Strings without places, put on the key's tokens.

A pronoun that is listed once may stand ten times in the text. Which place is meant follows from the
order of the list, from strings that have but one place, and from what the answer says of places.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from corefeval.formats.answers.items import LAST, Unit
from corefeval.formats.answers.lookup import WIDENED, KeyText, Places
from corefeval.formats.answers.placing import Placement
from corefeval.model.arrays import IntArray
from corefeval.model.ledger import Span

# What speaks against a place, in points.
_SENTENCE, _UNSURE, _CONTEXT, _NTH, _NEAR, _OFFSET = 6.0, 1.0, 15.0, 20.0, 0.7, 6.0
_LOST, _TAKEN, _BACK, _EDGE, _CASE, _EARLY = 9.0, 4.0, 3.0, 2.0, 1.5, 0.0001
_BEAM, _NEXT = 8, 6  # ways that are kept, and places behind the last one that are weighed
_NEAREST = 20  # places on both sides of where the answer says
_ROWS = -1  # the list of all mentions that stand in textual order as a whole


@dataclass(slots=True)
class _Item:
    """A listed mention on its way to a place; `is_sure` if nothing else can be meant."""

    unit: Unit
    lookup: Places
    settled: Span | None = None
    is_sure: bool = False


class Chooser:
    """Places for all mentions that were listed for a document."""

    def __init__(self, key: KeyText, units: Sequence[Unit], occurrences: str) -> None:
        self.key, self.occurrences = key, occurrences
        self.items = [_Item(unit, self._look_up(unit)) for unit in units]
        self.lists: dict[object, list[_Item]] = defaultdict(list)
        for item in self.items:
            self.lists[_ROWS if item.unit.rows else item.unit.entity].append(item)
        self.taken: Counter[Span] = Counter()

    def _look_up(self, unit: Unit) -> Places:
        if unit.state:
            return Places([], [])
        return self.key.look_up(unit.text) or self.key.look_up_similar(unit.text)

    @property
    def places(self) -> list[list[Span]]:
        """For each mention all the places of its string."""
        return [item.lookup.every for item in self.items]

    def choose(self) -> list[list[Placement]]:
        """For each mention its places: one, none, or all where `occurrences` says so."""
        if self.occurrences == "all":
            return self._choose_all()
        if self.occurrences == "first":
            for item in self.items:
                item.settled = next(iter(item.lookup.every), None)
        else:
            self._settle_in_order()
        return [[self._placement(item)] for item in self.items]

    def _placement(self, item: _Item) -> Placement:
        if item.settled is not None:
            return Placement(*item.settled, item.lookup.why)
        if item.unit.state:
            return Placement(why=item.unit.why)
        return Placement(why="all its places are taken" if item.lookup else "not in the document")

    def _choose_all(self) -> list[list[Placement]]:
        result = []
        owner: dict[Span, str] = {}
        for item in self.items:
            every, entity = item.lookup.every, item.unit.entity
            free = [place for place in every if place not in owner]
            owner.update(dict.fromkeys(free, entity))
            # A cluster that says a string twice is given its places again.
            chosen = free or [place for place in every if owner[place] == entity]
            places = [Placement(*place, item.lookup.why) for place in chosen]
            result.append(places or [self._placement(item)])
        return result

    def _settle_in_order(self) -> None:
        """Settle what is sure, then the others by what is left between their neighbours."""
        for item in self.items:
            choices = item.lookup.every if not item.lookup.why else []
            if len(choices) > 1 and item.unit.sentence is not None and self._shift[1] == _SENTENCE:
                choices = self._in_sentence(item.unit, item.lookup.exact)
                if item.unit.nth is not None:
                    choices = choices[item.unit.nth - 1 : item.unit.nth]
            if len(choices) == 1 and not self.taken[choices[0]]:
                self._settle(item, choices[0])
                item.is_sure = True
        back = _BACK if self._is_ordered() else 0.0
        for _ in range(2):  # the second time with all others in their places
            first: Span = (0, 0)
            for items in self.lists.values():
                first = self._settle_list(items, first, back)
        for item in sorted(self.items, key=lambda item: bool(item.lookup.why)):
            if item.settled is None and item.lookup:
                self._settle_leftover(item)

    def _is_ordered(self) -> bool:
        """Whether sure places come in textual order within lists."""
        steps: Counter[bool] = Counter()
        for items in self.lists.values():
            sure = [item.settled for item in items if item.is_sure and item.settled]
            steps.update(a[0] <= b[0] for a, b in pairwise(sure))
        return steps[False] * 4 <= steps[True]

    def _settle(self, item: _Item, place: Span | None) -> None:
        if item.settled is not None:
            self.taken[item.settled] -= 1
        item.settled = place
        if place is not None:
            self.taken[place] += 1

    def _settle_list(self, items: Sequence[_Item], first: Span, back: float) -> Span:
        """Settle the strings of a list by the cheapest way through their places; its first one."""
        for item in items:
            if not item.is_sure:
                self._settle(item, None)
        ways: list[tuple[float, Span, tuple[object, ...]]] = [(0.0, first, ())]
        for item in items:
            best: dict[Span, tuple[float, Span, tuple[object, ...]]] = {}
            for cost, last, trail in ways if item.lookup.why in ("", WIDENED) else ():
                for place, points in self._chances(item, last, back):
                    if place not in best or cost + points < best[place][0]:
                        best[place] = cost + points, place, (trail, place)
            for cost, last, trail in ways:
                if last not in best or cost + _LOST < best[last][0]:
                    best[last] = cost + _LOST, last, (trail, None)
            ways = sorted(best.values(), key=lambda way: way[:2])[:_BEAM]
        trail_left = ways[0][2]
        for item in reversed(items):
            trail_left, place = trail_left  # type: ignore[assignment]
            if not item.is_sure and place is not None and not self.taken[place]:
                self._settle(item, place)
        return next((item.settled for item in items if item.settled), first)

    def _chances(self, item: _Item, last: Span, back: float) -> list[tuple[Span, float]]:
        """Places for a string behind the last one of its list, and what speaks against each."""
        if item.is_sure and item.settled:
            return [(item.settled, back if item.settled[0] < last[0] else 0.0)]
        every, hints = item.lookup.every, self._hints(item)
        near = bisect_left(every, (last[0], 0))
        chosen = dict.fromkeys(every[max(near - _NEXT // 2, 0) : near + _NEXT])
        if hints:
            chosen = dict.fromkeys(sorted(hints, key=lambda place: hints[place])[:_NEXT])
        chances = []
        for place in sorted(chosen):
            points = hints.get(place, 0.0) + _TAKEN * bool(self.taken[place])
            points += 0.0 if place in item.lookup.cased else _CASE
            points += _EARLY * place[0]
            points += back if place[0] < last[0] else 0.0
            points += _LOST if place == last else 0.0
            if place[1] <= last[1] and (place[0] == last[0] or place[1] == last[1]):
                points += _EDGE
            chances.append((place, points))
        return chances

    def _hints(self, item: _Item) -> dict[Span, float]:
        """What speaks against each place of a string, by what the answer says of it."""
        unit = item.unit
        if not unit.contexts and unit.sentence is unit.nth is unit.start is None:
            return {}
        places, sentence, spot = item.lookup.every, self._sentence(unit), None
        if sentence is not None:
            spot = int(np.searchsorted(self.key.sentence_of, sentence))
        elif unit.start is not None:
            spot = int(np.searchsorted(self._offsets, unit.start * self._slope))
        if spot is not None:
            near = bisect_left(places, (spot, 0))
            places = places[max(near - _NEAREST, 0) : near + _NEAREST]
        return {place: self.points(unit, place) for place in places}

    def _settle_leftover(self, item: _Item) -> None:
        """Settle what found no place: on the likeliest free one, never within its own entity."""
        hints, places = self._hints(item), item.lookup
        siblings = (
            [i.settled for i in self.lists[item.unit.entity] if i.settled] if places.why else []
        )
        for place in sorted(
            hints or places.every, key=lambda p: (hints.get(p, 0.0), p not in places.cased, p)
        ):
            inside = any(start <= place[0] and place[1] <= end for start, end in siblings)
            if not self.taken[place] and not inside:
                self._settle(item, place)
                return

    # -------------------------------------------------------------- what the answer says of places

    def points(self, unit: Unit, place: Span) -> float:
        """What speaks against a place that is not where the answer says."""
        points = 0.0
        sentence = self._sentence(unit)
        if sentence is not None:
            away = abs(int(self.key.sentence_of[place[0]]) - sentence)
            points += min(away, 5) * self._shift[1]
        if unit.start is not None:
            away_from = abs(float(self._offsets[place[0]]) - unit.start * self._slope)
            points += min(away_from / 20, _OFFSET)
        if unit.nth is not None:
            places = self.key.look_up(unit.text)
            ranked = self._in_sentence(
                unit, places.exact if place in places.cased else places.every
            )
            points += _NTH * (ranked[unit.nth - 1 : unit.nth] != [place])
        return points + sum(self._gap(unit, place, context) for context in unit.contexts)

    def _sentence(self, unit: Unit) -> int | None:
        """The sentence of the key that the answer names, counted from 0."""
        if unit.sentence == LAST:
            return int(self.key.sentence_of[-1])
        return None if unit.sentence is None else unit.sentence + self._shift[0]

    def _in_sentence(self, unit: Unit, places: Sequence[Span]) -> list[Span]:
        """The places in the sentence that the answer names, where it names one."""
        sentence = self._sentence(unit)
        if sentence is None:
            return list(places)
        low, high = np.searchsorted(self.key.sentence_of, (sentence, sentence + 1)).tolist()
        return list(places[bisect_left(places, (low, 0)) : bisect_left(places, (high, 0))])

    def _gap(self, unit: Unit, place: Span, context: str) -> float:
        """What speaks against a place that is outside of its context, or far from words near it."""
        spans = self.key.look_up(context).every
        gap = min((max(start - place[0], place[1] - end, 0) for start, end in spans), default=99)
        if unit.text.lower() in context.lower():
            return _CONTEXT * (gap > 0)
        return min(_NEAR * gap, _CONTEXT)

    @cached_property
    def _shift(self) -> tuple[int, float]:
        """What to add to the answer's numbers of sentences, and what a sentence more or less costs.

        They may be counted from 0 or 1, or anew in a piece: the shift under which most strings
        stand where they are said to. Strings with one place tell whether the numbers are right.
        """
        votes: Counter[int] = Counter()
        sure: Counter[int] = Counter()
        numbered = 0
        for item in self.items:
            if item.unit.sentence is None or item.unit.sentence == LAST or item.lookup.why:
                continue
            of_places = {int(self.key.sentence_of[place[0]]) for place in item.lookup.every}
            shifts = {sentence - item.unit.sentence for sentence in of_places}
            votes.update(shifts)
            sure.update(shifts if len(item.lookup.every) == 1 else ())
            numbered += bool(shifts)
        if not votes:
            return -1, _SENTENCE
        shift = max(votes, key=lambda s: (votes[s], sure[s], s == -1, -abs(s)))
        right, seen = (sure[shift], sum(sure.values())) if sure else (votes[shift], numbered)
        return shift, _SENTENCE if right > 0.9 * seen else _UNSURE

    @cached_property
    def _offsets(self) -> IntArray:
        """Where each token begins, with a blank between tokens."""
        lengths = np.array([len(word) + 1 for word in self.key.words], dtype=np.int64)
        return np.concatenate(([0], np.cumsum(lengths)))

    @cached_property
    def _slope(self) -> float:
        """Characters of the key for each of the answer's, which may count tokens instead."""
        ratios = [
            float(self._offsets[item.lookup.every[0][0]]) / item.unit.start
            for item in self.items
            if item.unit.start and len(item.lookup.every) == 1
        ]
        return float(np.median(ratios)) if ratios else 1.0

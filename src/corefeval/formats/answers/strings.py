"""Strings without places, put on the key's tokens.

A pronoun that is listed once may stand ten times in the text. Which place is meant follows from the
order of the list, from strings that have but one place, and from what the answer says of places.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from corefeval.formats.answers.lookup import WIDENED, KeyDocument
from corefeval.formats.answers.text import fold_text
from corefeval.formats.answers.units import Places, Unit
from corefeval.model.arrays import IntArray, offsets_of
from corefeval.model.ledger import Span

# What speaks against a place, in points.
_SENTENCE, _CONTEXT, _NTH, _NEAR, _OFFSET = 6.0, 15.0, 20.0, 0.7, 6.0
_LOST, _BACK, _EDGE, _CASE, _EARLY = 9.0, 3.0, 2.0, 1.5, 0.0001
_BEAM, _NEXT = 8, 6  # ways that are kept, and places behind the last one that are weighed
_NEAREST = 20  # places on both sides of where the answer says
_MANY = 100  # places of a string that says nothing of how sentences are counted
_ROWS = -1  # the list of all mentions that stand in textual order as a whole
_Way = tuple[float, Span, tuple[object, ...]]  # its points, its last place, and all of them
_Hints = dict[Span, float]


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
            self.lists[_ROWS if unit.rows else unit.entity].append(unit)
        self.owner: dict[Span, str] = {}  # the entities of places that are taken

    def choose(self, occurrences: str) -> None:
        """Give each mention one place or none, or all where `occurrences` says so."""
        if occurrences == "in-order":
            self._settle_in_order()
        for unit in self.units:
            places = unit.places.every
            if occurrences == "first":
                unit.spans = places[:1]
            elif occurrences == "all":
                free = [place for place in places if place not in self.owner]
                self.owner.update(dict.fromkeys(free, unit.entity))
                # A cluster that says a string twice is given its places again.
                unit.spans = free or [p for p in places if self.owner[p] == unit.entity]
            if unit.spans:
                unit.why = unit.places.why
            elif not unit.state:
                unit.why = "all its places are taken" if places else "not in the document"

    def _settle_in_order(self) -> None:
        """Settle what is sure, then the others by what is left between their neighbours."""
        for unit in self.units:
            choices = unit.places.every if not unit.places.why else []
            if len(choices) > 1 and unit.sentence is not None:
                choices = self._in_sentence(unit, unit.places.exact)
                if unit.nth is not None:
                    choices = choices[unit.nth - 1 : unit.nth]
            if len(choices) == 1:
                unit.sure = self._settle(unit, choices[0])
        first: Span = (0, 0)
        for units in self.lists.values():
            self._settle_list(units, first)
            first = next((unit.spans[0] for unit in units if unit.spans), first)
        for unit in sorted(self.units, key=lambda unit: bool(unit.places.why)):
            if not unit.spans:
                self._settle_leftover(unit)

    def _settle(self, unit: Unit, place: Span) -> bool:
        """Give a mention its place, unless that is taken; says whether it was free."""
        if place in self.owner:
            return False
        self.owner[place] = unit.entity
        unit.spans = [place]
        return True

    def _settle_list(self, units: Sequence[Unit], first: Span) -> None:
        """Settle the strings of a list by the cheapest way through their places."""
        ways: list[_Way] = [(0.0, first, ())]
        for unit in units:
            hints = self._hints(unit)
            best: dict[Span, _Way] = {}
            for cost, last, trail in ways:
                for place in [*self._candidates(unit, hints, last), None]:
                    spot = place or last
                    points = cost + (self._weigh(unit, hints, place, last) if place else _LOST)
                    if spot not in best or points < best[spot][0]:
                        best[spot] = points, spot, (trail, place)
            ways = sorted(best.values(), key=lambda way: way[:2])[:_BEAM]
        chosen: Any = ways[0][2]
        for unit in reversed(units):
            chosen, place = chosen
            if place and not unit.sure:
                self._settle(unit, place)

    def _candidates(self, unit: Unit, hints: _Hints, last: Span) -> list[Span]:
        """Free places that are weighed for a string behind the last one of its list."""
        if unit.sure or unit.places.why not in ("", WIDENED):
            return unit.spans
        near = bisect_left(unit.places.every, (last[0], 0))
        places = unit.places.every[max(near - _NEXT // 2, 0) : near + _NEXT]
        if hints:
            places = sorted(hints, key=lambda place: hints[place])[:_NEXT]
        return [place for place in places if place not in self.owner]

    def _weigh(self, unit: Unit, hints: _Hints, place: Span, last: Span) -> float:
        """What speaks against a place behind the last one of a list."""
        is_edge = place[1] <= last[1] and (place[0] == last[0] or place[1] == last[1])
        return (
            hints.get(place, 0.0)
            + _EARLY * place[0]
            + _CASE * (place not in unit.places.cased)
            + _BACK * (place[0] < last[0])
            + _LOST * (place == last)
            + _EDGE * is_edge
        )

    def _hints(self, unit: Unit) -> _Hints:
        """What speaks against each place of a string, by what the answer says of it."""
        if not unit.contexts and unit.sentence is unit.nth is unit.start is None:
            return {}
        places, sentence, spot = unit.places.every, self._sentence(unit), None
        if sentence is not None:
            spot = int(np.searchsorted(self.key.sentence_of, sentence))
        elif unit.start is not None:
            spot = int(np.searchsorted(self._offsets, unit.start * self._slope))
        if spot is not None:
            near = bisect_left(places, (spot, 0))
            places = places[max(near - _NEAREST, 0) : near + _NEAREST]
        return {place: self.points(unit, place) for place in places}

    def _settle_leftover(self, unit: Unit) -> None:
        """Settle what found no place: on the likeliest free one, never within its own entity."""
        hints, places = self._hints(unit), unit.places
        siblings = self.lists[unit.entity] if places.why else []
        inner = [span for sibling in siblings for span in sibling.spans]
        for place in sorted(
            hints or places.every, key=lambda p: (hints.get(p, 0.0), p not in places.cased, p)
        ):
            is_inside = any(start <= place[0] and place[1] <= end for start, end in inner)
            if not is_inside and self._settle(unit, place):
                return

    # -------------------------------------------------------------- what the answer says of places

    def points(self, unit: Unit, place: Span) -> float:
        """What speaks against a place that is not where the answer says."""
        points, sentence = 0.0, self._sentence(unit)
        if sentence is not None:
            points += min(abs(int(self.key.sentence_of[place[0]]) - sentence), 5) * _SENTENCE
        if unit.start is not None:
            away = abs(float(self._offsets[place[0]]) - unit.start * self._slope)
            points += min(away / 20, _OFFSET)
        if unit.nth is not None:
            places = self.key.look_up(unit.text)
            alike = places.exact if place in places.cased else places.every
            ranked = self._in_sentence(unit, alike)
            points += _NTH * (ranked[unit.nth - 1 : unit.nth] != [place])
        return points + sum(self._gap(unit, place, context) for context in unit.contexts)

    def _sentence(self, unit: Unit) -> int | None:
        """The sentence of the key that the answer names, counted from 0."""
        return None if unit.sentence is None else unit.sentence + self._shift

    def _in_sentence(self, unit: Unit, places: list[Span]) -> list[Span]:
        """The places in the sentence that the answer names, where it names one."""
        sentence = self._sentence(unit)
        if sentence is None:
            return places
        low, high = np.searchsorted(self.key.sentence_of, (sentence, sentence + 1)).tolist()
        return places[bisect_left(places, (low, 0)) : bisect_left(places, (high, 0))]

    def _gap(self, unit: Unit, place: Span, context: str) -> float:
        """What speaks against a place that is outside of its context, or far from words near it."""
        spans = self.key.look_up(context).every
        gap = min((max(start - place[0], place[1] - end, 0) for start, end in spans), default=99)
        is_inside = unit.text.lower() in context.lower()
        return _CONTEXT * (gap > 0) if is_inside else min(_NEAR * gap, _CONTEXT)

    @cached_property
    def _shift(self) -> int:
        """What to add to the answer's numbers of sentences.

        They may be counted from 0 or 1, or anew in a piece: the shift under which most strings
        stand where they are said to.
        """
        votes = Counter({-1: 0})
        for unit in self.units:
            places = unit.places.every
            if unit.sentence is not None and not unit.places.why and len(places) <= _MANY:
                sentences = {int(self.key.sentence_of[place[0]]) for place in places}
                votes.update(sentence - unit.sentence for sentence in sentences)
        return max(votes, key=lambda shift: (votes[shift], shift == -1, -abs(shift)))

    @cached_property
    def _offsets(self) -> IntArray:
        """Where each token begins, with a blank between tokens."""
        return offsets_of(np.array([len(word) + 1 for word in self.key.words], dtype=np.int64))

    @cached_property
    def _slope(self) -> float:
        """Characters of the key for each of the answer's, which may count tokens instead."""
        ratios = [
            float(self._offsets[unit.places.every[0][0]]) / unit.start
            for unit in self.units
            if unit.start and len(unit.places.every) == 1
        ]
        return float(np.median(ratios)) if ratios else 1.0


_SURE = 3  # words of an antecedent that may be the beginning of a longer mention


class Links:
    """The mentions of an answer and who of them is the same, as antecedents become known."""

    def __init__(
        self, key: KeyDocument, points: Callable[[Unit, Span], float] | None = None
    ) -> None:
        self.key = key
        self.points = points or (lambda *_: 0.0)
        self.parent: dict[object, object] = {}
        self.spans: set[Span] = set()  # known mentions
        self.starts: dict[int, Span] = {}  # the longest that begins at a token

    def root(self, name: object) -> object:
        """What stands for all that is linked with a mention or label."""
        while (above := self.parent.setdefault(name, name)) != name:
            name = above
        return name

    def link(self, units: Sequence[Unit]) -> list[Unit]:
        """Give entities to the units of pairs; antecedents that were no mentions yet come back.

        An antecedent is the known mention with its words nearest before the mention; else their
        nearest place before it, else the nearest. Words that are not in the text are a label.
        """
        placed = [unit for unit in units if unit.spans]
        if not any(unit.antecedent for unit in units):
            return []
        for unit in placed:
            span = unit.spans[0]
            self.spans.add(span)
            self.starts[span[0]] = max(span, self.starts.get(span[0], span))
            if not unit.rows:
                self.parent[self.root(span)] = self.root(("entity", unit.entity))
        added = [
            unit.antecedent
            for unit in sorted(placed, key=lambda unit: unit.spans[0])
            if unit.antecedent and self._join(unit.spans[0], unit.antecedent)
        ]
        names: dict[object, str] = {}
        for unit in [*placed, *added]:
            unit.entity = names.setdefault(self.root(unit.spans[0]), str(len(names)))
        return added

    def _join(self, span: Span, antecedent: Unit) -> bool:
        """Link a mention to its antecedent; says whether that was no mention yet."""
        places = [place for place in self.key.look_up(antecedent.text).every if place != span]
        if antecedent.state == "aside" or not places:
            self.parent[self.root(span)] = self.root(fold_text(antecedent.text))
            return False

        def cost(place: Span) -> tuple[float, bool, bool, int]:
            is_behind, is_new = place[0] > span[0], self._mention_at(place, span) not in self.spans
            points = self.points(antecedent, place)
            return points, is_new or is_behind, is_behind, abs(place[0] - span[0])

        mention = self._mention_at(min(places, key=cost), span)
        self.parent[self.root(span)] = self.root(mention)
        if mention in self.spans:
            return False
        self.spans.add(mention)
        antecedent.spans = [mention]
        return True

    def _mention_at(self, place: Span, span: Span) -> Span:
        """The place, or a longer mention that begins with all of its words, other than a span."""
        longer = self.starts.get(place[0], span)
        is_part = longer != span and longer[1] > place[1] >= place[0] + _SURE
        return longer if is_part and place not in self.spans else place

"""Strings without places, put on the key's tokens.

A pronoun that is listed once may stand ten times in the text. Which place is meant follows from the
order of the list, from strings that have but one place, and from what the answer says of places.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise

import numpy as np

from corefeval.formats.answers.lookup import WIDENED, KeyDocument
from corefeval.formats.answers.text import fold_text
from corefeval.formats.answers.units import Unit
from corefeval.model.arrays import IntArray
from corefeval.model.ledger import Span

# What speaks against a place, in points.
_SENTENCE, _UNSURE, _CONTEXT, _NTH, _NEAR, _OFFSET = 6.0, 1.0, 15.0, 20.0, 0.7, 6.0
_LOST, _TAKEN, _BACK, _EDGE, _CASE, _EARLY = 9.0, 4.0, 3.0, 2.0, 1.5, 0.0001
_BEAM, _NEXT = 8, 6  # ways that are kept, and places behind the last one that are weighed
_NEAREST = 20  # places on both sides of where the answer says
_MANY = 100  # places of a string that says nothing of how sentences are counted
_ROWS = -1  # the list of all mentions that stand in textual order as a whole


class Chooser:
    """Gives places to all mentions that were listed for a document."""

    def __init__(self, key: KeyDocument, units: Sequence[Unit]) -> None:
        self.key, self.units = key, units
        self.lists: dict[object, list[Unit]] = defaultdict(list)
        for unit in units:
            if not unit.state:
                places = key.look_up(unit.text)
                unit.places = places if places.every else key.look_up_similar(unit.text)
            self.lists[_ROWS if unit.rows else unit.entity].append(unit)
        self.taken: Counter[Span] = Counter()

    def choose(self, occurrences: str) -> None:
        """Give each mention one place or none, or all where `occurrences` says so."""
        if occurrences == "all":
            self._choose_all()
        elif occurrences == "first":
            for unit in self.units:
                unit.spans = unit.places.every[:1]
        else:
            self._settle_in_order()
        for unit in self.units:
            if unit.spans:
                unit.why = unit.places.why
            elif not unit.state:
                unit.why = (
                    "all its places are taken" if unit.places.every else "not in the document"
                )

    def _choose_all(self) -> None:
        owner: dict[Span, str] = {}
        for unit in self.units:
            every, entity = unit.places.every, unit.entity
            free = [place for place in every if place not in owner]
            owner.update(dict.fromkeys(free, entity))
            # A cluster that says a string twice is given its places again.
            unit.spans = free or [place for place in every if owner[place] == entity]

    def _settle_in_order(self) -> None:
        """Settle what is sure, then the others by what is left between their neighbours."""
        for unit in self.units:
            choices = unit.places.every if not unit.places.why else []
            if len(choices) > 1 and unit.sentence is not None and self._shift[1] == _SENTENCE:
                choices = self._in_sentence(unit, unit.places.exact)
                if unit.nth is not None:
                    choices = choices[unit.nth - 1 : unit.nth]
            if len(choices) == 1 and not self.taken[choices[0]]:
                self._settle(unit, choices[0])
                unit.sure = True
        back = _BACK if self._is_ordered() else 0.0
        for _ in range(2):  # the second time with all others in their places
            first: Span = (0, 0)
            for units in self.lists.values():
                first = self._settle_list(units, first, back)
        for unit in sorted(self.units, key=lambda unit: bool(unit.places.why)):
            if not unit.spans and unit.places.every:
                self._settle_leftover(unit)

    def _is_ordered(self) -> bool:
        """Whether sure places come in textual order within lists."""
        steps: Counter[bool] = Counter()
        for units in self.lists.values():
            sure = [unit.spans[0] for unit in units if unit.sure]
            steps.update(a[0] <= b[0] for a, b in pairwise(sure))
        return steps[False] * 4 <= steps[True]

    def _settle(self, unit: Unit, *spans: Span) -> None:
        self.taken.subtract(unit.spans)
        unit.spans = [*spans]
        self.taken.update(spans)

    def _settle_list(self, units: Sequence[Unit], first: Span, back: float) -> Span:
        """Settle the strings of a list by the cheapest way through their places; its first one."""
        for unit in units:
            if not unit.sure:
                self._settle(unit)
        ways: list[tuple[float, Span, tuple[object, ...]]] = [(0.0, first, ())]
        for unit in units:
            best: dict[Span, tuple[float, Span, tuple[object, ...]]] = {}
            for cost, last, trail in ways if unit.places.why in ("", WIDENED) else ():
                for place, points in self._chances(unit, last, back):
                    if place not in best or cost + points < best[place][0]:
                        best[place] = cost + points, place, (trail, place)
            for cost, last, trail in ways:
                if last not in best or cost + _LOST < best[last][0]:
                    best[last] = cost + _LOST, last, (trail, None)
            ways = sorted(best.values(), key=lambda way: way[:2])[:_BEAM]
        trail_left = ways[0][2]
        for unit in reversed(units):
            trail_left, place = trail_left  # type: ignore[assignment]
            if not unit.sure and place is not None and not self.taken[place]:
                self._settle(unit, place)
        return next((unit.spans[0] for unit in units if unit.spans), first)

    def _chances(self, unit: Unit, last: Span, back: float) -> list[tuple[Span, float]]:
        """Places for a string behind the last one of its list, and what speaks against each."""
        if unit.sure:
            return [(unit.spans[0], back if unit.spans[0][0] < last[0] else 0.0)]
        every, hints = unit.places.every, self._hints(unit)
        near = bisect_left(every, (last[0], 0))
        chosen = dict.fromkeys(every[max(near - _NEXT // 2, 0) : near + _NEXT])
        if hints:
            chosen = dict.fromkeys(sorted(hints, key=lambda place: hints[place])[:_NEXT])
        chances = []
        for place in sorted(chosen):
            points = hints.get(place, 0.0) + _TAKEN * bool(self.taken[place])
            points += 0.0 if place in unit.places.cased else _CASE
            points += _EARLY * place[0]
            points += back if place[0] < last[0] else 0.0
            points += _LOST if place == last else 0.0
            if place[1] <= last[1] and (place[0] == last[0] or place[1] == last[1]):
                points += _EDGE
            chances.append((place, points))
        return chances

    def _hints(self, unit: Unit) -> dict[Span, float]:
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
        ordered: Iterable[Span] = chain(places.exact, places.every)
        if hints:
            ordered = sorted(hints, key=lambda p: (hints[p], p not in places.cased, p))
        for place in ordered:
            is_inside = any(start <= place[0] and place[1] <= end for start, end in inner)
            if not self.taken[place] and not is_inside:
                self._settle(unit, place)
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
        for unit in self.units:
            if unit.sentence is None or unit.places.why:
                continue
            if len(unit.places.every) > _MANY:
                continue
            of_places = {int(self.key.sentence_of[place[0]]) for place in unit.places.every}
            shifts = {sentence - unit.sentence for sentence in of_places}
            votes.update(shifts)
            sure.update(shifts if len(unit.places.every) == 1 else ())
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
            float(self._offsets[unit.places.every[0][0]]) / unit.start
            for unit in self.units
            if unit.start and len(unit.places.every) == 1
        ]
        return float(np.median(ratios)) if ratios else 1.0


_SURE = 3  # words of an antecedent that may be the beginning of a longer mention
Points = Callable[[Unit, Span], float]


@dataclass(slots=True)
class Links:
    """The mentions of an answer and who of them is the same, as antecedents become known."""

    key: KeyDocument
    points: Points = lambda *_: 0.0
    parent: dict[object, object] = field(default_factory=dict)
    spans: set[Span] = field(default_factory=set)  # known mentions
    starts: dict[int, Span] = field(default_factory=dict)  # the longest that begins at a token

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
        if not any(unit.antecedent for unit in units):
            return []
        placed = [(unit.spans[0], unit) for unit in units if unit.spans]
        for span, unit in placed:
            self.spans.add(span)
            self.starts[span[0]] = max(span, self.starts.get(span[0], span))
            if not unit.rows:
                self.parent[self.root(span)] = self.root(("entity", unit.entity))
        added = []
        for span, unit in sorted(placed, key=lambda pair: pair[0]):
            if unit.antecedent is not None and self._find(span, unit.antecedent):
                added.append(unit.antecedent)
        names: dict[object, str] = {}
        for unit in [*(unit for _, unit in placed), *added]:
            unit.entity = names.setdefault(self.root(unit.spans[0]), str(len(names)))
        return added

    def _find(self, span: Span, antecedent: Unit) -> bool:
        """Link a mention to its antecedent; says whether that was no mention yet."""
        places = [place for place in self.key.look_up(antecedent.text).every if place != span]
        if antecedent.state == "aside" or not places:
            self.parent[self.root(span)] = self.root(fold_text(antecedent.text))
            return False
        place = min(places, key=lambda place: self._cost(antecedent, span, place))
        mention = self._known(place, span)
        if mention is None:
            self.spans.add(place)
            antecedent.spans = [place]
        self.parent[self.root(span)] = self.root(mention or place)
        return mention is None

    def _cost(self, antecedent: Unit, span: Span, place: Span) -> tuple[float, bool, bool, int]:
        is_behind = place[0] > span[0]
        is_known = self._known(place, span) is not None and not is_behind
        return self.points(antecedent, place), not is_known, is_behind, abs(place[0] - span[0])

    def _known(self, place: Span, span: Span) -> Span | None:
        """The known mention at a place, or a longer one that begins with all of these words."""
        longer = self.starts.get(place[0], span)
        if place in self.spans or longer == span or place[1] - place[0] < _SURE:
            return place if place in self.spans else None
        return longer if longer[1] > place[1] else None

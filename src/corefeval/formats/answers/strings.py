"""Strings without places, put on the key's tokens.

A pronoun that is listed once may stand ten times in the text. Which place is meant follows from the
order of the list, from strings that have but one place, and from what the answer says of places.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from rapidfuzz.distance import Indel
from rapidfuzz.process import cdist, cpdist

from corefeval.formats.answers.json_lists import Listed
from corefeval.formats.answers.placing import Placement
from corefeval.formats.answers.sweep import ListedString, Place, sweep
from corefeval.formats.answers.text import ATOM, Atoms, Vocabulary
from corefeval.model.arrays import IntArray

_ARTICLE = re.compile(r"^(the|a|an|this|that|these|those)\s+", re.IGNORECASE)
_CLITIC = re.compile(r"\s*['’]s?$")
_ALIKE = 0.7  # the least likeness of all words of a string that is not there as it is


@dataclass(slots=True)
class KeyText:
    """The tokens of a key document, to look strings up in."""

    words: Sequence[str]
    atoms: Atoms
    vocabulary: Vocabulary
    sentence_of: IntArray
    by_number: dict[int, IntArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        order = np.argsort(self.atoms.numbers, kind="stable")
        ordered = self.atoms.numbers[order]
        first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        if ordered.size:
            parts = np.split(order, first[1:])
            self.by_number = dict(zip(ordered[first].tolist(), parts, strict=True))

    def numbers_of(self, text: str) -> list[int]:
        """The atoms of a string."""
        return [self.vocabulary.number(atom) for atom in ATOM.findall(text)]

    def find(self, numbers: Sequence[int], *, whole_tokens: bool = True) -> IntArray:
        """Where the key has these atoms in a row, as the number of the first one.

        With `whole_tokens`, only from the first atom of a token to the last atom of one.
        """
        nowhere: IntArray = np.empty(0, dtype=np.int64)
        if not numbers or any(number not in self.by_number for number in numbers):
            return nowhere
        rarest = min(range(len(numbers)), key=lambda i: self.by_number[numbers[i]].size)
        starts = self.by_number[numbers[rarest]] - rarest
        starts = starts[(starts >= 0) & (starts + len(numbers) <= len(self.atoms))]
        for shift, number in enumerate(numbers):
            starts = starts[self.atoms.numbers[starts + shift] == number]
        if whole_tokens:
            starts = starts[self._is_edge(starts) & self._is_edge(starts + len(numbers))]
        return starts

    def _is_edge(self, atoms: IntArray) -> IntArray:
        """Whether a token begins at some atoms."""
        tokens = np.concatenate(([-1], self.atoms.start, [-2]))
        edge: IntArray = tokens[atoms] != tokens[atoms + 1]
        return edge

    def span(self, atom: int, length: int) -> tuple[int, int]:
        """Atoms as whole tokens."""
        return int(self.atoms.start[atom]), int(self.atoms.start[atom + length - 1]) + 1

    def find_similar(self, numbers: Sequence[int]) -> list[tuple[int, int]]:
        """Where the key has words much like these, the likest place first: atom and length."""
        length, words = len(numbers), self.vocabulary.words
        if not numbers or length > 60:
            return []
        starts = self._similar_starts(numbers)
        starts = starts[(starts >= 0) & (starts + length <= len(self.atoms))]
        if not starts.size:
            return []
        key_numbers = self.atoms.numbers[starts[:, None] + np.arange(length)]
        alike = cpdist(
            [words[number] for number in numbers] * starts.size,
            [words[number] for number in key_numbers.ravel().tolist()],
            scorer=Indel.normalized_similarity,
        ).reshape(key_numbers.shape)
        mean = alike.mean(1)
        good = np.flatnonzero((mean >= _ALIKE) & (alike.min(1) >= 0.4))
        return [(int(starts[i]), length) for i in good[np.argsort(-mean[good], kind="stable")]]

    def _similar_starts(self, numbers: Sequence[int]) -> IntArray:
        """Where words like these may begin in the key, by the rarest of them or by the longest."""
        words = self.vocabulary.words
        in_key = [i for i, n in enumerate(numbers) if n in self.by_number and words[n].isalnum()]
        if in_key:
            shift = min(in_key, key=lambda i: self.by_number[numbers[i]].size)
            return self.by_number[numbers[shift]][:200] - shift
        shift = max(range(len(numbers)), key=lambda i: len(words[numbers[i]]))
        candidates = [number for number in self.by_number if words[number].isalnum()]
        if not candidates or not words[numbers[shift]].isalnum():
            return np.empty(0, dtype=np.int64)
        alike = cdist(
            [words[numbers[shift]]],
            [words[number] for number in candidates],
            scorer=Indel.normalized_similarity,
        )
        best = [candidates[index] for index in np.flatnonzero(alike[0] >= _ALIKE)[:20]]
        places = [self.by_number[number] for number in best]
        return np.concatenate([np.empty(0, dtype=np.int64), *places])[:200] - shift


@dataclass(slots=True)
class _Item:
    """A listed mention on its way to a place."""

    row: int
    mention: Listed
    cluster: int
    places: list[tuple[int, int]] = field(default_factory=list)
    exact: list[tuple[int, int]] = field(default_factory=list)  # in the same case
    why: str = ""
    hint: float | None = None
    settled: tuple[int, int] | None = None


class Chooser:
    """Places for all mentions that were listed for a document."""

    def __init__(self, key: KeyText, mentions: Sequence[Listed], occurrences: str) -> None:
        self.key, self.occurrences = key, occurrences
        clusters: dict[str, int] = {}
        self.items = [
            _Item(row, mention, clusters.setdefault(mention.entity, len(clusters)))
            for row, mention in enumerate(mentions)
        ]
        self.items.sort(key=lambda item: (item.cluster, item.row))
        self.taken: set[tuple[int, int]] = set()
        self.is_swept = True  # whether all places could be weighed together
        self.anchors: set[str] = set()  # strings that are changed, and like one place alone
        self._queues: dict[str, Iterator[Place]] = {}
        self._look_up()

    @property
    def places(self) -> list[list[tuple[int, int]]]:
        """For each mention all the places of its string, in the order of the answer."""
        every: list[list[tuple[int, int]]] = [[] for _ in self.items]
        for item in self.items:
            every[item.row] = item.places
        return every

    def _look_up(self) -> None:
        cache: dict[str, tuple[list[tuple[int, int]], list[tuple[int, int]], str]] = {}
        waiting: dict[str, list[int]] = {}
        for item in self.items:
            if item.mention.lost or item.mention.text in cache:
                continue
            text = item.mention.text
            cache[text] = self._places(text)
            if not cache[text][0]:
                waiting[text] = self.key.numbers_of(text)
        for text, numbers in waiting.items():
            if near := self.key.find_similar(numbers):
                spans = [self.key.span(*place) for place in near[:1]]
                cache[text] = spans, spans, "similar words"
                self.anchors.update([text] if len(near) == 1 else ())
        for item in self.items:
            if not item.mention.lost:
                item.places, item.exact, item.why = cache[item.mention.text]

    def _places(self, text: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]], str]:
        """All places of a string, those in the same case, and how it was changed to be found."""
        for form, why in _forms(text):
            numbers = self.key.numbers_of(form)
            for whole_tokens in (True, False):
                starts = self.key.find(numbers, whole_tokens=whole_tokens)
                if not starts.size or (not whole_tokens and why):
                    continue
                spans = [self.key.span(start, len(numbers)) for start in starts.tolist()]
                spans = list(dict.fromkeys(spans))
                bare = _without_blanks(form)
                exact = [
                    (start, end)
                    for start, end in spans
                    if _without_blanks("".join(self.key.words[start:end])) == bare
                ]
                note = why or ("" if whole_tokens else "widened to whole tokens")
                return spans, exact or spans, note
        return [], [], ""

    def choose(self) -> list[list[Placement]]:
        """For each mention its places: one, none, or all where `occurrences` says so."""
        if self.occurrences == "all":
            return self._choose_all()
        if self.occurrences == "first":
            for item in self.items:
                item.settled = item.places[0] if item.places else None
        else:
            self._settle_in_order()
        result: list[list[Placement]] = [[] for _ in self.items]
        for item in self.items:
            result[item.row] = [self._placement(item)]
        return result

    def _placement(self, item: _Item) -> Placement:
        if item.settled is not None:
            return Placement(*item.settled, item.why)
        if item.mention.lost:
            return Placement(why=item.mention.lost)
        if item.places:
            return Placement(why="all its places are taken")
        return Placement(why="not in the document")

    def _choose_all(self) -> list[list[Placement]]:
        result: list[list[Placement]] = [[] for _ in self.items]
        owner: dict[Place, int] = {}
        for item in self.items:
            free = [place for place in item.places if place not in owner]
            owner.update(dict.fromkeys(free, item.cluster))
            # A cluster that says a string twice is given its places again.
            chosen = free or [place for place in item.places if owner[place] == item.cluster]
            places = [Placement(*place, item.why) for place in chosen]
            result[item.row] = places or [self._placement(item)]
        return result

    # -------------------------------------------------------------- in order

    def _settle_in_order(self) -> None:
        """Settle strings of one place, then the others by what is left between their neighbours."""
        for item in self.items:
            if len(item.places) == 1 and not item.why:
                self._settle(item, item.places[0])
        self._read_hints()
        ordered, firsts = self._are_ordered()
        self._sweep(ordered, firsts)
        for changed in (False, True):  # what had to be changed to be found comes last
            for item in self.items:
                if item.settled is None and bool(item.why) == changed:
                    self._settle_leftover(item)

    def _sweep(self, ordered: bool, firsts: bool) -> None:
        """Settle all strings together."""
        by_cluster: dict[int, list[ListedString]] = defaultdict(list)
        settled = {item.row: item for item in self.items}
        shared: dict[str, tuple[frozenset[Place], Place, frozenset[Place]]] = {}
        for item in self.items:
            if not item.places or (item.why and item.mention.text not in self.anchors):
                continue
            if item.settled is not None:
                only = frozenset((item.settled,))
                string = ListedString(item.row, only, item.settled, only)
            else:
                text = item.mention.text
                if text not in shared:
                    every = frozenset(item.places), max(item.places), frozenset(item.exact)
                    shared[text] = every
                distance = None if item.hint is None else partial(self._distance, item)
                string = ListedString(item.row, *shared[text], distance)
            by_cluster[item.cluster].append(string)
        clusters = [by_cluster[number] for number in sorted(by_cluster)]
        places = sweep(clusters, ordered=ordered, firsts_in_order=firsts)
        self.is_swept = places is not None
        for row, place in (places or {}).items():
            if settled[row].settled is None:
                self._settle(settled[row], place)

    def _distance(self, item: _Item, place: tuple[int, int]) -> float:
        """What a place costs that is not where the answer says."""
        if item.hint is None or item.settled is not None:
            return 0.0
        away = abs(self._spot(item, place) - item.hint)
        return min(away * self._trust if item.mention.start is None else away / 20, 6.0)

    def _settle(self, item: _Item, place: tuple[int, int]) -> bool:
        if place in self.taken:
            return False
        self.taken.add(place)
        item.settled = place
        return True

    def _settle_leftover(self, item: _Item) -> None:
        """Settle what the sweep left out: on the likeliest free place, if there is any."""
        if item.why:
            cluster_places = [
                member.settled for member in self.items if member.cluster == item.cluster
            ]
            settled_places = [place for place in cluster_places if place is not None]
            for place in item.places:
                inside = any(start <= place[0] and place[1] <= end for start, end in settled_places)
                if not inside and self._settle(item, place):
                    return
            return
        for place in self._queue(item):
            if self._settle(item, place):
                return

    def _queue(self, item: _Item) -> Iterator[Place]:
        """The places of a string, likeliest first; without a hint, equal strings share a queue."""
        exact = set(item.exact)
        if item.hint is not None:
            near = sorted(item.places, key=lambda p: (self._distance(item, p), p not in exact, p))
            return iter(near)
        text = item.mention.text
        if text not in self._queues:
            self._queues[text] = iter(sorted(item.places, key=lambda p: (p not in exact, p)))
        return self._queues[text]

    def _are_ordered(self) -> tuple[bool, bool]:
        """Whether sure places come in textual order within clusters; and from first to first.

        Of first mentions only those tell that are sure themselves; where these are few, clusters
        are taken to be in order if the strings in them are.
        """
        in_clusters, firsts = [0, 0], [0, 0]
        before: tuple[int, int] | None = None
        cluster, first = -1, -1
        for item in self.items:
            begins, cluster = item.cluster != cluster, item.cluster
            if item.settled is None:
                continue
            place = item.settled[0]
            if before is not None and before[0] == item.cluster:
                in_clusters[place < before[1]] += 1
            before = item.cluster, place
            if begins:
                firsts[place < first] += first >= 0
                first = place
        ordered = in_clusters[1] * 4 <= in_clusters[0]
        return ordered, firsts[1] * 4 <= firsts[0] if sum(firsts) > 2 else ordered

    def _spot(self, item: _Item, place: tuple[int, int]) -> float:
        """Where a place is, in the terms in which the answer speaks of places."""
        if item.mention.start is None:
            return float(self.key.sentence_of[place[0]])
        return float(self._offsets[place[0]])

    def _read_hints(self) -> None:
        """What the answer says of sentences and offsets, in terms of the key.

        Sentences may be counted from 0 or 1, offsets in characters or tokens of some text: strings
        with one place tell.
        """
        lengths = np.array([len(word) + 1 for word in self.key.words], dtype=np.int64)
        self._offsets = np.concatenate(([0], np.cumsum(lengths)))
        sure = [item for item in self.items if item.settled is not None]
        shifts = [
            int(self.key.sentence_of[item.settled[0]]) - item.mention.sentence
            for item in sure
            if item.settled is not None and item.mention.sentence is not None
        ]
        shift = float(np.median(shifts)) if shifts else -1.0
        right = sum(sentence_shift == shift for sentence_shift in shifts)
        self._trust = 3.0 if right > 0.9 * len(shifts) else 1.0  # where it can be seen
        offset_pairs = [
            (item.mention.start, float(self._offsets[item.settled[0]]))
            for item in sure
            if item.settled is not None and item.mention.start
        ]
        slope = (
            float(np.median([actual / written for written, actual in offset_pairs if written]))
            if offset_pairs
            else 1.0
        )
        for item in self.items:
            if item.mention.start is not None:
                item.hint = item.mention.start * slope
            elif item.mention.sentence is not None:
                item.hint = item.mention.sentence + shift


def _without_blanks(text: str) -> str:
    return re.sub(r"\s+", "", text).translate(str.maketrans("’‘“”–—", "''\"\"--"))


def _forms(text: str) -> list[tuple[str, str]]:
    """A string and its forms without `'s` and without an article, each with a remark."""
    forms = [(text, "")]
    bare = _CLITIC.sub("", text)
    short = _ARTICLE.sub("", text)
    forms += [(bare, "without 's")] if bare not in (text, "") else []
    forms += [(short, "without its article")] if short not in (text, "") else []
    return forms

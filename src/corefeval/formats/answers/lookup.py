"""What may be a mention of a document of the key, and where its words stand there."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise

from rapidfuzz.distance import Indel
from rapidfuzz.process import extract

from corefeval.formats.answers.text import ATOM, Atoms, Vocabulary, fold
from corefeval.model.arrays import IntArray
from corefeval.model.ledger import Span

_TRIMMED = {
    "without 's": re.compile(r"(?<=.)\s?['’]s?$"),
    "without its article": re.compile(r"^(the|a|an|this|that|these|those)\s+(?=.)", re.IGNORECASE),
}
_GAP = re.compile(r"\[?(?:…|\.\.\.)\]?")
_HANGUL = re.compile(r"[\u1100-\u11ff\uac00-\ud7a3]+")
_ALIKE = 0.7  # the least likeness of all words of a string that is not there as it is
WIDENED = "widened to whole tokens"
_SUFFIX = 8  # letters of a Korean word behind its stem
_LONG = 60  # words: longer strings are no mentions that somebody misspelt
_MANY = 200  # places that are compared with a misspelt string


@dataclass(frozen=True)
class Places:
    """All places of a string, and how it was changed to be found.

    `exact` are those in its own case, or all if there are none.
    """

    every: list[Span]
    exact: list[Span]
    why: str = ""

    @cached_property
    def cased(self) -> frozenset[Span]:
        """The exact ones as a set."""
        return frozenset(self.exact)


@dataclass(slots=True, eq=False)
class Unit:
    """What may be a mention: its words, its entity's label, and what is said of its place.

    `sentence` and `nth`, from 1, and the offset `start` are what the answer says of its place;
    `contexts` are words around it, and `remark` is all else. `antecedent` is what a pair says that
    it refers to. Units `in_text_order` are listed in that order as a whole, others within their
    entity. `chars` is where a tagged mention stands in the text without tags. `state` is `lost`,
    `unclear` or `aside` where that is settled; `why` says so, or how it was changed. `places` are
    where its words stand in the key, `spans` those that it gets.
    """

    text: str
    entity: str = ""
    where: int = 0
    sentence: int | None = None
    start: int | None = None
    nth: int | None = None
    contexts: tuple[str, ...] = ()
    remark: str = ""
    state: str = ""
    why: str = ""
    antecedent: Unit | None = None
    in_text_order: bool = False
    chars: Span = (0, 0)
    places: Places = Places([], [])
    spans: list[Span] = field(default_factory=list)

    @property
    def is_placed(self) -> bool:
        """Whether it is a mention of the document."""
        return self.state in ("placed", "changed")


@dataclass
class KeyDocument:
    """A document of the key, prepared once for all that is laid upon it or looked up in it."""

    index: int
    identifier: str
    words: Sequence[str]
    atoms: Atoms
    sentence_of: IntArray
    bounds: Sequence[Span]  # where each word begins and ends in the corpus' positions
    vocabulary: Vocabulary
    looked_up: dict[str, Places] = field(default_factory=dict)

    @cached_property
    def edges(self) -> list[bool]:
        """Whether a token begins at an atom, or behind the last one."""
        starts = pairwise([-1, *self.atoms.start.tolist(), -2])
        return [start != previous for previous, start in starts]

    @cached_property
    def folded(self) -> list[str]:
        """The atoms as they are compared."""
        return [self.vocabulary.words[number] for number in self.atoms.numbers.tolist()]

    @cached_property
    def letters(self) -> str:
        """The whole text without blanks."""
        return "".join(self.folded)

    @cached_property
    def atom_at(self) -> dict[int, int]:
        """The atoms by where they begin in the letters; the last one is behind the text."""
        places = accumulate(map(len, self.folded), initial=0)
        return {place: atom for atom, place in enumerate(places)}

    @cached_property
    def by_atom(self) -> dict[str, list[int]]:
        """The places of each atom."""
        places = defaultdict[str, list[int]](list)
        for place, atom in enumerate(self.folded):
            places[atom].append(place)
        return places

    def shift(self, span: Span) -> Span:
        """Words of the document as positions of the corpus."""
        return self.bounds[span[0]][0], self.bounds[span[1] - 1][1]

    def span(self, start: int, end: int) -> Span:
        """Atoms as whole tokens."""
        return int(self.atoms.start[start]), int(self.atoms.start[end - 1]) + 1

    def stands(self, text: str) -> bool:
        """Whether a string is found in the text, as it is or with small changes."""
        return bool(self.look_up(text).every)

    def look_up(self, text: str) -> Places:
        """All places of a string, with small changes where it has none as it is."""
        if text not in self.looked_up:
            ways = self._find_forms(text)
            why, form, spans = next((way for way in ways if way[2]), ("", text, []))
            spelt = "".join(form.split())
            exact = [span for span in spans if "".join(self.words[slice(*span)]) == spelt]
            self.looked_up[text] = Places(spans, exact or spans, why)
        return self.looked_up[text]

    def _find_forms(self, text: str) -> Iterator[tuple[str, str, list[Span]]]:
        """The ways to change a string so that it may be in the text, and its places then."""
        full, parts = self._find(text)
        yield "", text, full
        yield WIDENED, text, parts
        for why, pattern in _TRIMMED.items():
            form, count = pattern.subn("", text)
            if count:
                yield why, form, self._find(form)[0]
        yield WIDENED, text, list(self._find_around(text))

    def _find(self, text: str) -> tuple[list[Span], list[Span]]:
        """Where the key has the letters of a string: as whole tokens, or whatever the blanks.

        The stem of a Korean word will do.
        """
        atoms = [*map(fold, ATOM.findall(text))]
        letters = "".join(atoms)
        spans: tuple[dict[Span, None], dict[Span, None]] = {}, {}
        place = -1
        while letters and (place := self.letters.find(letters, place + 1)) >= 0:
            if (first := self.atom_at.get(place)) is None:
                continue
            stem = place + len(letters)
            behind = next((p for p in range(stem, stem + _SUFFIX) if p in self.atom_at), stem)
            is_word = behind == stem or _HANGUL.fullmatch(self.letters, stem - 1, behind)
            if (last := self.atom_at.get(behind)) is not None and is_word:
                is_whole = (
                    self.edges[first] and self.edges[last] and self.folded[first:last] == atoms
                )
                spans[not is_whole][self.span(first, last)] = None
        return list(spans[0]), list(spans[1])

    def _find_around(self, text: str) -> Iterator[Span]:
        """Places of a string with words left out, within a sentence: `the man … the hat`."""
        parts = [self._find(part)[0] for part in _GAP.split(text) if part.strip()]
        if len(parts) == 1:
            yield from parts[0]
        elif len(parts) == 2:
            for start, end in parts[0]:
                for _, behind in parts[1][bisect_left(parts[1], (end, 0)) :][:1]:
                    if self.sentence_of[start] == self.sentence_of[behind - 1]:
                        yield start, behind

    def find_similar(self, text: str) -> list[Span]:
        """Where the key has words much like those of a string, the likest first."""
        atoms = [*map(fold, ATOM.findall(text))]
        size, candidates = len(atoms), []
        for start in self._similar_starts(atoms) if len(text) > 3 and 0 < size <= _LONG else ():
            window = self.folded[start : start + size]
            alike = [*map(Indel.normalized_similarity, atoms, window)]
            if min(alike) >= 0.5 and sum(alike) >= _ALIKE * size:
                candidates.append((-sum(alike), start))
        return [self.span(start, start + size) for _, start in sorted(candidates)]

    def _similar_starts(self, atoms: Sequence[str]) -> list[int]:
        """Where words like these may begin in the key, by the rarest of them or by the longest."""
        common = [atom for atom in atoms if atom in self.by_atom and atom.isalnum()]
        if common:
            word = min(common, key=lambda atom: len(self.by_atom[atom]))
            near = [word]
        else:
            word = max(atoms, key=len)
            likest = extract(word, list(self.by_atom), scorer=Indel.normalized_similarity,
                             score_cutoff=_ALIKE, limit=20)  # fmt: skip
            near = [atom for atom, _, _ in likest if atom.isalpha()]  # numbers are not misspelt
        shift = atoms.index(word)
        starts = [place - shift for atom in near for place in self.by_atom[atom]]
        last = len(self.folded) - len(atoms)
        return [start for start in starts[:_MANY] if 0 <= start <= last]

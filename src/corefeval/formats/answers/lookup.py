"""A document of the key, to look up the strings that a list has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from rapidfuzz.distance import Indel
from rapidfuzz.process import extract

from corefeval.formats.answers.text import ATOM, Atoms, Vocabulary
from corefeval.formats.answers.units import Places
from corefeval.model.arrays import BoolArray, IntArray
from corefeval.model.ledger import Span

_TRIMMED = (
    (re.compile(r"(?<=.)\s?['’]s?$"), "without 's"),
    (
        re.compile(r"^(the|a|an|this|that|these|those)\s+(?=.)", re.IGNORECASE),
        "without its article",
    ),
)
_GAP = re.compile(r"\[?(?:…|\.\.\.)\]?")
_HANGUL = re.compile(r"[\u1100-\u11ff\uac00-\ud7a3]+")
_ALIKE = 0.7  # the least likeness of all words of a string that is not there as it is
WIDENED = "widened to whole tokens"
_SUFFIX = 8  # letters of a Korean word behind its stem


@dataclass
class KeyDocument:
    """A document of the key, prepared once for all that is laid upon it or looked up in it."""

    index: int
    identifier: str
    words: Sequence[str]
    atoms: Atoms
    sentence_of: IntArray
    bounds: tuple[IntArray, IntArray]  # where each word begins and ends in the corpus' positions
    vocabulary: Vocabulary
    looked_up: dict[str, Places] = field(default_factory=dict)

    @cached_property
    def edges(self) -> BoolArray:
        """Whether a token begins at an atom, or behind the last one."""
        edges: BoolArray = np.diff(self.atoms.start, prepend=-1, append=-2) != 0
        return edges

    @cached_property
    def by_number(self) -> dict[int, IntArray]:
        """The atoms of each number."""
        order = np.argsort(self.atoms.numbers, kind="stable")
        ordered = self.atoms.numbers[order]
        first = np.flatnonzero(np.diff(ordered, prepend=-1))
        parts = np.split(order, first[1:])
        return dict(zip(ordered[first].tolist(), parts, strict=False))

    @cached_property
    def starting(self) -> dict[str, list[int]]:
        """The first atoms of tokens by their first letters."""
        starting: dict[str, list[int]] = {}
        for atom in np.flatnonzero(self.edges[:-1]).tolist():
            starting.setdefault(self.vocabulary.words[self.atoms.numbers[atom]][0], []).append(atom)
        return starting

    @cached_property
    def spelt(self) -> dict[int, str]:
        """The words of the key by their numbers."""
        words = self.vocabulary.words
        return {number: words[number] for number in self.by_number if words[number].isalnum()}

    def shift(self, span: Span) -> Span:
        """Words of the document as positions of the corpus."""
        return int(self.bounds[0][span[0]]), int(self.bounds[1][span[1] - 1])

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
            starts = starts[self.edges[starts] & self.edges[starts + len(numbers)]]
        return starts

    def span(self, atom: int, length: int) -> tuple[int, int]:
        """Atoms as whole tokens."""
        return int(self.atoms.start[atom]), int(self.atoms.start[atom + length - 1]) + 1

    def stands(self, text: str) -> bool:
        """Whether the words of a string stand in the text, with words left out for `…` or not."""
        return bool(self.look_up(text).every)

    def look_up(self, text: str) -> Places:
        """All places of a string, with small changes where it has none as it is."""
        if text not in self.looked_up:
            self.looked_up[text] = self._find_places(text)
        return self.looked_up[text]

    def _find_places(self, text: str) -> Places:
        forms = [(text, "", True), (text, WIDENED, False)]
        forms += [(p.sub("", text), why, True) for p, why in _TRIMMED if p.search(text)]
        for form, why, whole_tokens in forms:
            numbers = self.numbers_of(form)
            starts = self.find(numbers, whole_tokens=whole_tokens).tolist()
            if starts:
                spans = list(dict.fromkeys(self.span(start, len(numbers)) for start in starts))
                exact = self._select(spans, form) or spans
                return Places(spans, exact, frozenset(exact), why)
        spans = self._find_joined(text) or self._find_around(text)
        return Places(spans, spans, frozenset(spans), WIDENED)

    def _select(self, spans: list[Span], text: str) -> list[Span]:
        """The places where words are spelt as in a text, whatever the blanks."""
        spelt = "".join(text.split())
        return [span for span in spans if "".join(self.words[slice(*span)]) == spelt]

    def _find_joined(self, text: str) -> list[Span]:
        """Places of words that the key writes apart, or with a suffix: `أخت ه`, `눈을`."""
        numbers = self.numbers_of(text)
        plain = "".join(self.vocabulary.words[number] for number in numbers)
        if not plain or plain.isascii():
            return []
        words, atoms, spans = self.vocabulary.words, self.atoms.numbers, []
        for first in self.starting.get(plain[0], ()):
            joined, last = "", first
            while last < len(atoms) and len(joined) < len(plain) and plain.startswith(joined):
                joined += words[atoms[last]]
                last += 1
            suffix = joined[len(plain) :] if joined.startswith(plain) else "-"
            if not suffix or (len(suffix) <= _SUFFIX and _HANGUL.fullmatch(plain[-1] + suffix)):
                spans.append(self.span(first, last - first))
        return list(dict.fromkeys(spans))

    def _find_around(self, text: str) -> list[Span]:
        """Places of a string with words left out, within a sentence: `the man … the hat`."""
        parts = [self.numbers_of(part) for part in _GAP.split(text)]
        if len(parts) != 2 or not all(parts):
            return []
        first, last = (self.find(part) for part in parts)
        spans = []
        for start in first.tolist():
            behind = last[last >= start + len(parts[0])][:1].tolist()
            for end in behind:
                span = self.span(start, end + len(parts[1]) - start)
                if self.sentence_of[span[0]] == self.sentence_of[span[1] - 1]:
                    spans.append(span)
        return spans

    def resembles(self, text: str) -> bool:
        """Whether the text has words much like those of a string."""
        return bool(self.find_similar(self.numbers_of(text)))

    def look_up_similar(self, text: str) -> Places:
        """The likest place of a string that has none."""
        spans = self.find_similar(self.numbers_of(text))[:1]
        return Places(spans, spans, frozenset(spans), "similar words")

    def find_similar(self, numbers: Sequence[int]) -> list[Span]:
        """Where the key has words much like these, or one more, the likest place first."""
        size, words = len(numbers), [self.vocabulary.words[number] for number in numbers]
        chances = []
        for start in self._similar_starts(numbers).tolist() if 0 < size <= 60 else ():
            window = self.atoms.numbers[max(start, 0) : start + size + 1].tolist()
            key_words = [self.vocabulary.words[number] for number in window]
            if start < 0 or len(key_words) < size:
                continue
            alike = [
                Indel.normalized_similarity(*pair) for pair in zip(words, key_words, strict=False)
            ]
            if min(alike) >= 0.5 and sum(alike) >= _ALIKE * size:
                chances.append((-sum(alike), start, size))
            elif (
                size > 2
                and Indel.normalized_similarity(" ".join(words), " ".join(key_words)) > 0.85
            ):
                chances.append((-_ALIKE, start, len(key_words)))
        return [self.span(start, length) for _, start, length in sorted(chances)]

    def _similar_starts(self, numbers: Sequence[int]) -> IntArray:
        """Where words like these may begin in the key, by the rarest of them or by the longest."""
        words = self.vocabulary.words
        in_key = [i for i, n in enumerate(numbers) if n in self.by_number and words[n].isalnum()]
        if in_key:
            shift = min(in_key, key=lambda i: self.by_number[numbers[i]].size)
            return self.by_number[numbers[shift]][:200] - shift
        shift = max(range(len(numbers)), key=lambda i: len(words[numbers[i]]))
        word = words[numbers[shift]]
        if word.isdigit() or not word.isalnum():  # a misspelt number is another one
            return np.empty(0, dtype=np.int64)
        near = extract(
            word, self.spelt, scorer=Indel.normalized_similarity,
            score_cutoff=_ALIKE, limit=20,
        )  # fmt: skip
        places = [self.by_number[number] for _, _, number in near]
        return np.concatenate([np.empty(0, dtype=np.int64), *places])[:200] - shift

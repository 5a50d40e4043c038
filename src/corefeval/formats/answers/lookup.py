"""What all readers share: words as they are compared, passages, units, strings in the key."""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise

from rapidfuzz.distance import Indel

from corefeval.model.arrays import IntArray, integers
from corefeval.model.ledger import Span
from corefeval.model.tokens import Tokens
from corefeval.texts import fold_token

# Scripts that write no blanks between words: each character is an atom.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff"
ATOM = re.compile(
    rf"##[^\W_]*|\.{{3}}|[`'‘’]{{2}}|[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W_])+|[^\w\s]|_"
)
ZERO = "##"
_THINK = "(?:think|thinking|reasoning|scratchpad|teiheader)>"  # or what TEI says of a text
# From a beginning to its end, if it has any; or all before a lone end.
_THOUGHT = re.compile(
    rf"(?is)<{_THINK}.*?(?:</{_THINK}|\Z)|\A[^<]*(?:<(?!{_THINK})[^<]*)*</{_THINK}",
)
_ESCAPED = re.compile(r"&(?:#\d{1,6}|#x[0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});|\\[\\_*\[\]#|{}()<>`~]")
_HIDDEN = 0xE000  # where signs of the text are kept that are no tags
_SIGNS = {_HIDDEN + code: chr(code) for code in range(0x80)} | {0xE100: "*", 0xE101: "*"}
_BOLD = re.compile(r"\*\*([^*\n]+)\*\*")
_ITALIC = re.compile(r"(?<!\w)\*([^*\s](?:[^*\n]*[^*\s])?)\*(?!\*|[^\W¹²³⁴-⁹₀-₉])")


def clean(answer: str) -> str:
    """The answer composed (NFC), with blanks in the place of thoughts, at most 100 in a row."""
    text = re.sub("[\ufeff\u200b]", " ", unicodedata.normalize("NFC", answer))
    # Long runs of blanks take long to search.
    return re.sub(r"[^\S\n]{100,}", " " * 100, _THOUGHT.sub(blank_out, text))


def blank_out(match: re.Match[str]) -> str:
    """Blanks in the place of what was matched, with its lines."""
    return re.sub(r"\S", " ", match[0])


def hide_escapes(text: str) -> str:
    """The text with escaped signs hidden, so that no tag has them, and signs around bold words.

    Signs stay in their places; escaped letters are shorter than their escapes.
    """

    def hide(escaped: re.Match[str]) -> str:
        sign = _plain(escaped)
        is_sign = len(sign) == 1 and sign.isascii()
        return chr(_HIDDEN + ord(sign)).rjust(len(escaped[0])) if is_sign else sign

    text = _ESCAPED.sub(hide, text)
    return _BOLD.sub("\ue100 \\1 \ue101", _ITALIC.sub("\ue100\\1\ue101", text))  # which nest


def unescape(text: str) -> str:
    """The text without escapes, as tags may be escaped themselves."""
    return _ESCAPED.sub(_plain, text)


def _plain(escaped: re.Match[str]) -> str:
    return html.unescape(escaped[0]).removeprefix("\\")


def show_escapes(text: str) -> str:
    """The text with the signs that were hidden."""
    return text.translate(_SIGNS)


def fold(atom: str) -> str:
    """An atom without case, accents and kinds of quotes and dashes; every zero is `##`.

    >>> [fold(atom) for atom in ("Dvořák", "’", "—", "##él")]
    ['dvorak', "'", '-', '##']
    """
    return ZERO if atom.startswith(ZERO) else fold_token(atom) or atom


def fold_text(text: str) -> str:
    """A text as strings are compared: folded words with one blank between them."""
    return " ".join(map(fold, re.findall(r"\w+|[^\w\s]", text)))


class Vocabulary(dict[str, int]):
    """Numbers of atoms as they are written; `words` are the folded ones that have these numbers."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.folded: dict[str, int] = {}

    def __missing__(self, atom: str) -> int:
        plain = fold(atom)
        self[atom] = number = self.folded.setdefault(plain, len(self.words))
        if number == len(self.words):
            self.words.append(plain)
        return number


@dataclass(slots=True)
class Atoms:
    """The atoms of a text: their numbers, and where each begins and ends in it.

    For the key `start` and `end` are tokens instead of characters, both the atom's own.
    """

    numbers: IntArray
    start: IntArray
    end: IntArray

    def __len__(self) -> int:
        return self.numbers.size


def atoms_of_text(text: str, vocabulary: Vocabulary, cuts: Sequence[int] = ()) -> Atoms:
    """The atoms of a text; words are cut at some places within them, given in order.

    A model may forget the blank before a tag.
    """
    parts = pairwise([0, *cuts, len(text)])
    rows = [
        (vocabulary[match[0]], *match.span())
        for part in parts
        for match in ATOM.finditer(text, *part)
    ]
    return Atoms(*integers(rows).reshape(-1, 3).T.copy())


def atoms_of_tokens(words: Sequence[str], vocabulary: Vocabulary) -> Atoms:
    """The atoms of tokens; a token without any is `_`."""
    rows = [
        (vocabulary[atom], token)
        for token, word in enumerate(words)
        for atom in ATOM.findall(unicodedata.normalize("NFC", word)) or ["_"]
    ]
    numbers, tokens = integers(rows).reshape(-1, 2).T.copy()
    return Atoms(numbers, tokens, tokens)


def shown_words(tokens: Tokens, document: int) -> list[str]:
    """The words of a document as models see them: an empty node is `##`, with its form if any."""
    words = tokens.column(document, "word")
    if "empty" in tokens.columns:
        for place, is_empty in enumerate(tokens.column(document, "empty")):
            if is_empty:
                words[place] = f"{ZERO}{words[place] if words[place].isalpha() else ''}"
    return words


# ------------------------------------------------------------------ the text as it is shown

Triple = tuple[int, int, str]  # start, end (exclusive), entity


@dataclass(frozen=True)
class Passage:
    """Some sentences of a document: their words, where sentences begin, and the mentions."""

    words: Sequence[str]
    starts: Sequence[int]
    mentions: Sequence[Triple] = ()

    @property
    def text(self) -> str:
        """The words with blanks between them, a line for each sentence."""
        bounds = pairwise([*self.starts, len(self.words)])
        return "\n".join(" ".join(self.words[start:end]) for start, end in bounds)

    @cached_property
    def _line(self) -> tuple[str, list[int], dict[tuple[str, int], list[Span]]]:
        """All words with a blank before and behind each, where the blanks are, what was found."""
        blanks = accumulate((len(word) + 1 for word in self.words), initial=0)
        return f" {' '.join(self.words)} ", [*blanks], {}

    def find(self, text: str, sentence: int) -> list[Span]:
        """The places of some words that begin in a sentence, which are counted from 1."""
        line, blanks, places = self._line
        spans = places.setdefault((text, sentence), [])
        edges = [*self.starts, len(self.words)][sentence - 1 : sentence + 1]
        if spans or not edges[1:]:
            return spans
        low, high = edges
        place, size = blanks[low] - 1, len(text) + 1
        while (place := line.find(f" {text} ", place + 1, blanks[high] + size)) >= 0:
            start, end = (bisect_left(blanks, edge) for edge in (place, place + size))
            if " ".join(self.words[start:end]) == text:
                spans.append((start, end))
        return spans


# ------------------------------------------------------------------ units


@dataclass(frozen=True)
class Places:
    """All places of a string, and how it was changed to be found.

    `exact` are those in its own spelling, or all if there are none.
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
    """What may be a mention: its words, its entity's label, and what the answer says of its place.

    `where` is its character in the answer; `chars` is where a tagged one stands in the text without
    tags. `sentence`, `nth` and the offset `start` are as the answer counts them; a `Chooser` makes
    `sentence` the key's, from 0. `contexts` are words around it, `remark` is all that is said
    beside it. `antecedent` is what a pair says that it refers to. Units `in_text_order` are listed
    in that order as a whole, others within their entity. `places` are where its words stand in the
    key, `spans` those that it gets. `state` is a state of the ledger, empty until it is settled;
    `why` is the reason, or how it was changed.
    """

    text: str
    where: int = 0
    entity: str = ""
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


# ------------------------------------------------------------------ strings in the key

_TRIMMED = {
    "without 's": re.compile(r"(?<=.)\s?['’]s?$"),
    "without its article": re.compile(r"(?i)^(the|a|an|this|that|these|those)\s+(?=.)"),
}
_HANGUL = re.compile(r"[\u1100-\u11ff\uac00-\ud7a3]+")
_ALIKE = 0.7  # the least likeness of all words of a string that is not there as it is
WIDENED = "widened to whole tokens"
_SUFFIX = 8  # letters of a Korean word behind its stem
_LONG = 60  # words: longer strings are no mentions that somebody misspelt
_MANY = 200  # places that are compared with a misspelt string


@dataclass
class KeyDocument:
    """A document of the key, prepared once for all that is laid on it or looked up in it."""

    index: int
    identifier: str
    words: Sequence[str]
    passage: Passage
    atoms: Atoms
    sentence_of: IntArray
    bounds: Sequence[Span]  # where each word begins and ends in the corpus' positions
    vocabulary: Vocabulary
    looked_up: dict[str, Places] = field(default_factory=dict)
    last_piece: tuple[int, int] = (0, 0)  # its number, and the sentences up to its end, at least

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
        places = defaultdict(list)
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
            ways = self._find_changed(text)
            why, form, spans = next((way for way in ways if way[2]), ("", text, []))
            spelt = "".join(form.split())
            exact = [span for span in spans if "".join(self.words[slice(*span)]) == spelt]
            self.looked_up[text] = Places(spans, exact or spans, why)
        return self.looked_up[text]

    def _find_changed(self, text: str) -> Iterator[tuple[str, str, list[Span]]]:
        """The ways to change a string so that it may be in the text, and its places then."""
        full, parts = self._find(text)
        yield "", text, full
        yield WIDENED, text, parts
        for why, pattern in _TRIMMED.items():
            form, count = pattern.subn("", text)
            if count:
                yield why, form, self._find(form)[0]
        yield WIDENED, text, list(self._find_elided(text))

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

    def _find_elided(self, text: str) -> Iterator[Span]:
        """Places of a string with words left out, within a sentence: `the man … the hat`."""
        parts = [
            self._find(part)[0] for part in re.split(r"\[?(?:…|\.\.\.)\]?", text) if part.strip()
        ]
        if len(parts) == 1:
            yield from parts[0]
        elif len(parts) == 2:
            for start, end in parts[0]:
                for _, behind in parts[1][bisect_left(parts[1], (end, 0)) :][:1]:
                    if self.sentence_of[start] == self.sentence_of[behind - 1]:
                        yield start, behind

    def find_similar(self, text: str) -> list[Span]:
        """The place with words most like those of a string, if one of these is there as it is."""
        atoms = [*map(fold, ATOM.findall(text))]
        common = [atom for atom in atoms if atom in self.by_atom and atom.isalnum()]
        size, candidates = len(atoms), []
        rarest = min(common, key=lambda atom: len(self.by_atom[atom]), default="")
        for place in self.by_atom.get(rarest, ())[:_MANY] if size <= _LONG else ():
            start = max(place - atoms.index(rarest), 0)
            window = self.folded[start : start + size]
            alike = [*map(Indel.normalized_similarity, atoms, window)]
            if min(alike) >= 0.5 and sum(alike) >= _ALIKE * size:
                candidates.append((-sum(alike), *self.span(start, start + len(window))))
        return [(start, end) for _, start, end in sorted(candidates)[:1]]

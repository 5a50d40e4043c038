"""Text as it is compared: cleaned of what is no answer, cut into folded atoms."""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from corefeval.model.arrays import IntArray
from corefeval.texts import fold_token

# Scripts that write no blanks between words: each character is an atom.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff"
ATOM = re.compile(rf"##[^\W_]*|[`'‘’]{{2}}|[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W_])+|[^\w\s]|_")
ZERO = "##"
_THOUGHT = re.compile(r"<(/?)(think|thinking|reasoning|scratchpad)>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#\d{1,6}|#x[0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});")
_ESCAPE = re.compile(r"\\([\\_*\[\]#|{}()<>`~])")
_HIDDEN = 0xE000  # where signs of the text are kept that are no tags
_SIGNS = {_HIDDEN + code: chr(code) for code in range(0x80)} | {0xE100: "*", 0xE101: "*"}
_BOLD = re.compile(r"\*\*([^*\n]+)\*\*")
_LETTERS = str.maketrans(dict(zip("øłđıæœ", ("o", "l", "d", "i", "ae", "oe"), strict=True)))


_BLANKS = re.compile(r"[^\S\n]{100,}")  # which take long to search


def clean(answer: str) -> str:
    """The answer composed (NFC), with blanks in the place of thoughts, at most 100 in a row."""
    text = unicodedata.normalize("NFC", answer).replace("\ufeff", " ").replace("\u200b", " ")
    start, opened = 0, ""
    thoughts = list[tuple[int, int]]()
    for mark in _THOUGHT.finditer(text) if "<" in text else ():
        closing, name = bool(mark[1]), mark[2].lower()
        if not closing and not opened:
            start, opened = mark.start(), name
        elif closing and name == (opened or name):
            if not opened:  # all that came before was thought
                start = 0
                thoughts.clear()
            thoughts.append((start, mark.end()))
            opened = ""
    kept, last = "", 0
    for begin, end in thoughts:
        kept += text[last:begin] + re.sub(r"\S", " ", text[begin:end])
        last = end
    if opened and not (kept + text[last:start]).strip():
        return ""
    return _BLANKS.sub(" " * 100, kept + text[last:])


def hide_escapes(text: str) -> str:
    """The text with escaped signs hidden, so that no tag has them; all stays in its place."""

    def hide(sign: str, length: int) -> str:
        return (
            sign if len(sign) != 1 or ord(sign) > 0x7F else chr(_HIDDEN + ord(sign)).rjust(length)
        )

    if "&" in text:
        text = _ENTITY.sub(lambda match: hide(html.unescape(match[0]), len(match[0])), text)
    text = _ESCAPE.sub(lambda match: hide(match[1], 2), text)
    return _BOLD.sub("\ue100 \\1 \ue101", text)


def unescape(text: str) -> str:
    """The text without escapes, for tags may be escaped themselves."""
    return html.unescape(_ESCAPE.sub(r"\1", text)) if "&" in text or "\\" in text else text


def show_escapes(text: str) -> str:
    """The text with the signs that were hidden."""
    return text.translate(_SIGNS)


def fold(atom: str) -> str:
    """An atom without case, accents and kinds of quotes and dashes; every zero is `##`.

    >>> [fold(atom) for atom in ("Dvořák", "’", "—", "##él")]
    ['dvorak', "'", '-', '##']
    """
    return ZERO if atom.startswith(ZERO) else (fold_token(atom) or atom).translate(_LETTERS)


def fold_text(text: str) -> str:
    """A text as strings are compared: folded words with one blank between them."""
    return " ".join(map(fold, re.findall(r"\w+|[^\w\s]", text)))


class Vocabulary:
    """Numbers for folded atoms."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.folded: dict[str, int] = {}
        self.words: list[str] = []

    def number(self, atom: str) -> int:
        """The number of an atom as it is written."""
        number = self.numbers.get(atom)
        if number is None:
            plain = fold(atom)
            number = self.folded.setdefault(plain, len(self.words))
            if number == len(self.words):
                self.words.append(plain)
            self.numbers[atom] = number
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
        return int(self.numbers.size)

    def __getitem__(self, part: slice) -> Atoms:
        return Atoms(self.numbers[part], self.start[part], self.end[part])


def atoms_of_text(
    text: str, vocabulary: Vocabulary, cuts: Sequence[int] = (), known_numbers: Container[int] = ()
) -> Atoms:
    """The atoms of a text; three atoms `.` for each `…`, which stand where it stands.

    A word is cut at the `cuts` within it, given in order, unless its number is one of the
    `known_numbers`: a model may forget the blank before a tag, and a tag may stand within a word.
    """
    number = vocabulary.number
    atoms = [(m.group(), m.start(), m.end()) for m in ATOM.finditer(text)]
    if cuts:
        atoms = [piece for atom in atoms for piece in _pieces(atom, cuts, number, known_numbers)]
    return _arrays(((number(word), start, end, word) for word, start, end in atoms), vocabulary)


def _pieces(
    atom: tuple[str, int, int],
    cuts: Sequence[int],
    number: Callable[[str], int],
    known_numbers: Container[int],
) -> list[tuple[str, int, int]]:
    """An atom, or the atoms that it is cut into."""
    word, start, end = atom
    inside = cuts[bisect_right(cuts, start) : bisect_left(cuts, end)]
    if not inside or number(word) in known_numbers:
        return [atom]
    return [(word[a - start : b - start], a, b) for a, b in pairwise([start, *inside, end])]


def atoms_of_tokens(
    words: Sequence[str], empty: Sequence[bool] | None, vocabulary: Vocabulary
) -> Atoms:
    """The atoms of tokens; an empty node is the atom `##`, and a token without any atom is `_`."""
    cache: dict[str, list[str]] = {}
    zero = [ZERO]

    def rows() -> Iterable[tuple[int, int, int, str]]:
        for token, word in enumerate(words):
            parts = cache.get(word)
            if parts is None:
                parts = cache[word] = ATOM.findall(unicodedata.normalize("NFC", word)) or ["_"]
            for part in zero if empty is not None and empty[token] else parts:
                yield vocabulary.number(part), token, token, part

    return _arrays(rows(), vocabulary)


def _arrays(rows: Iterable[tuple[int, int, int, str]], vocabulary: Vocabulary) -> Atoms:
    dot = vocabulary.number(".")
    out: list[int] = []
    for number, start, end, word in rows:
        out += (dot, start, end) * 3 if word == "…" else (number, start, end)
    table = np.array(out, dtype=np.int64).reshape(-1, 3)
    return Atoms(table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy())

"""Text as it is compared: cleaned of what is no answer, cut into folded atoms."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from corefeval.model.arrays import IntArray, integers
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
    rf"<{_THINK}.*?(?:</{_THINK}|\Z)|\A[^<]*(?:<(?!{_THINK})[^<]*)*</{_THINK}", re.I | re.DOTALL
)
_ESCAPED = re.compile(r"&(?:#\d{1,6}|#x[0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});|\\[\\_*\[\]#|{}()<>`~]")
_HIDDEN = 0xE000  # where signs of the text are kept that are no tags
_SIGNS = {_HIDDEN + code: chr(code) for code in range(0x80)} | {0xE100: "*", 0xE101: "*"}
_BOLD = re.compile(r"\*\*([^*\n]+)\*\*")
_ITALIC = re.compile(r"(?<!\w)\*([^*\s](?:[^*\n]*[^*\s])?)\*(?!\*|[^\W¹²³⁴-⁹₀-₉])")


_BLANKS = re.compile(r"[^\S\n]{100,}")  # which take long to search


def clean(answer: str) -> str:
    """The answer composed (NFC), with blanks in the place of thoughts, at most 100 in a row."""
    text = re.sub("[\ufeff\u200b]", " ", unicodedata.normalize("NFC", answer))
    text = _BLANKS.sub(" " * 100, _THOUGHT.sub(blank_out, text))
    return text if text.strip() else ""


def blank_out(match: re.Match[str]) -> str:
    """Blanks in the place of what was matched, with its lines."""
    return re.sub(r"\S", " ", match[0])


def hide_escapes(text: str) -> str:
    """The text with escaped signs hidden, so that no tag has them.

    Signs stay in their places; escaped letters are shorter than their escapes.
    """

    def hide(escaped: re.Match[str]) -> str:
        sign = _plain(escaped)
        is_sign = len(sign) == 1 and sign.isascii()
        return chr(_HIDDEN + ord(sign)).rjust(len(escaped[0])) if is_sign else sign

    text = _ESCAPED.sub(hide, text)
    return _BOLD.sub("\ue100 \\1 \ue101", _ITALIC.sub("\ue100\\1\ue101", text))  # which nest


def unescape(text: str) -> str:
    """The text without escapes, for tags may be escaped themselves."""
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
        return int(self.numbers.size)


def atoms_of_text(text: str, vocabulary: Vocabulary, cuts: Sequence[int] = ()) -> Atoms:
    """The atoms of a text; words are cut at some places within them, given in order.

    For a model may forget the blank before a tag.
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

"""Words as formats can write them, and the first word in which two texts differ."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from corefeval.model.arrays import IntArray, ragged_arange
from corefeval.model.tokens import Rows, Tokens

_BLANKS = r"[\x00-\x20]"
_SURROGATES = r"[\ud800-\udfff]"
_UNBROKEN = r"[^\x00-\x20\ud800-\udfff]+"


def plain_word(word: str) -> str:
    """A word as all formats can carry it: `_` for each blank, and for a word that nobody can see.

    Whatever a format makes of a word, this stays the same, so that texts are compared by it.

    >>> [plain_word(word) for word in ("tea", "ice cream", "", "\u3000", "_")]
    ['tea', 'ice_cream', '_', '_', '_']
    """
    if _is_usual(word):
        return word
    return re.sub(_BLANKS, "_", writable_text(word)) if word.strip() else "_"


def writable_text(text: str) -> str:
    """A text as files can hold it: lone surrogates, which are no characters, as one � each."""
    return text if text.isprintable() else re.sub(_SURROGATES, "\ufffd", text)


def seen_word(word: str) -> str:
    """A word as it can be found again in a text: as it is, or `_` where nobody can see it."""
    return word if word.strip() else "_"


def unbroken_word(word: str) -> str:
    """A word as it can stand between blanks: as it is, or plain."""
    return word if _is_usual(word) or re.fullmatch(_UNBROKEN, word) else plain_word(word)


def _is_usual(word: str) -> bool:
    """Whether all of a word can be seen, as nearly always, and no pattern need be asked."""
    return word.isprintable() and word != "" and " " not in word


class TokenDifference(NamedTuple):
    """The first token at which two texts differ; its position is that in the response's file."""

    document: int
    position: int
    key_word: str
    response_word: str
    key_line: int | None = None
    response_line: int | None = None


def find_difference(
    key: Tokens, response: Tokens, documents: Sequence[int] | IntArray
) -> TokenDifference | None:
    """The first token that differs, over documents that both sides number alike.

    Blanks in words are as good as `_`, which some formats must write for them. Corpora without
    words agree; numbers of tokens must be compared before.
    """
    chosen = np.asarray(documents, dtype=np.int64)
    if key.has_texts:
        return _find_in_texts(key, response, chosen)
    if "word" not in key.columns or "word" not in response.columns:
        return None
    chosen, size = _skip_equal_bytes(key, response, chosen), 1
    while chosen.size:  # ever more at once: who asks for all differences asks again and again
        difference = _find_in_words(key, response, chosen[:size])
        if difference is not None:
            return difference
        chosen, size = chosen[size:], 2 * size
    return None


def _find_in_texts(key: Tokens, response: Tokens, documents: IntArray) -> TokenDifference | None:
    """The first character that differs, with some of the text around it."""
    for document in documents.tolist():
        tables = key.table(document), response.table(document)
        texts = [table.text for table in tables if table is not None and table.text is not None]
        if len(texts) == len(tables) and writable_text(texts[0]) != writable_text(texts[1]):
            place = first_unequal(*texts)
            shown = [text[place : place + 20] for text in texts]
            return TokenDifference(document, place, shown[0], shown[1])
    return None


def _skip_equal_bytes(key: Tokens, response: Tokens, documents: IntArray) -> IntArray:
    """The documents without those at the beginning whose words are equal as bytes.

    A score of two CoNLL files takes half of the time where this is possible.
    """
    sides = (key, response)
    tables = [side.tables_in_use[0] for side in sides if side.lines is not None]
    words = [table.word_bytes for table in tables if table.word_bytes is not None]
    if len(words) < len(sides) or words[0].encoding != words[1].encoding:
        return documents
    counts = np.minimum(key.counts[documents], response.counts[documents])
    rows = [_list_rows(side.run_first[documents], counts) for side in sides]
    place = words[0].first_unequal_word(rows[0], words[1], rows[1])
    if place is None:
        return documents[:0]
    return documents[int(np.searchsorted(np.cumsum(counts), place, side="right")) :]


def _find_in_words(key: Tokens, response: Tokens, documents: IntArray) -> TokenDifference | None:
    counts = np.minimum(key.counts[documents], response.counts[documents])
    numbers: dict[str, int] = {}
    key_words, response_words = (
        _number_words(side, ragged_arange(side.offsets[documents], counts), numbers)
        for side in (key, response)
    )
    differ = (key_words != response_words) & (key_words >= 0) & (response_words >= 0)
    if not differ.any():
        return None
    place = int(np.argmax(differ))
    ends = np.cumsum(counts)
    index = int(np.searchsorted(ends, place, side="right"))
    document, position = int(documents[index]), place - int(ends[index] - counts[index])
    tokens = [np.array([side.offsets[document] + position]) for side in (key, response)]
    return TokenDifference(
        document,
        response.position_in_file(document, position),
        key.coded("word", tokens[0]).values()[0] or "",
        response.coded("word", tokens[1]).values()[0] or "",
        key.line(document, position),
        response.line(document, position),
    )


def _number_words(side: Tokens, tokens: IntArray, numbers: dict[str, int]) -> IntArray:
    """A number for each word; −1 for an empty node, as it does not matter what it is called."""
    words = side.coded("word", tokens)
    table = np.full(len(words.names) + 1, -1, dtype=np.int64)
    present = np.flatnonzero(np.bincount(words.codes + 1, minlength=table.size)[1:])
    table[present] = [
        numbers.setdefault(plain_word(words.names[code]), len(numbers)) for code in present.tolist()
    ]
    codes: IntArray = table[words.codes]
    if "empty" in side.columns:
        codes[side.coded("empty", tokens).where(bool)] = -1
    return codes


def first_unequal(text: str, other_text: str) -> int:
    """The first position at which two texts differ, or where the shorter one ends."""
    pairs = enumerate(zip(text, other_text, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(text), len(other_text)))


def _list_rows(first: IntArray, counts: IntArray) -> Rows:
    """The rows of runs, as a range where the runs follow each other."""
    if first.size and bool((first[1:] == first[:-1] + counts[:-1]).all()):
        return range(int(first[0]), int(first[-1] + counts[-1]))
    return ragged_arange(first, counts)

"""The tokens of a corpus: their number per document, and their columns when somebody asks.

Here are also those that are text already, which formats other than CoNLL read into.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import InputError
from corefeval.model.arrays import IntArray, distinct, ragged_arange
from corefeval.model.categories import Categories

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
    """The first place where two corpora disagree: the second one's position in its own file."""

    document: int
    position: int
    mine: str
    theirs: str
    my_line: int | None = None
    their_line: int | None = None


class Tokens(ABC):
    """Token columns of all documents, decoded on demand.

    A format supplies one subclass. `counts[d]` is the number of tokens of document `d`;
    everything else may stay undecoded until a person or a feature asks for it.
    """

    counts: IntArray
    columns_hold = False  # whether these are the columns of all of the text that this is a part of

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns that every document has, by name."""

    @property
    def partial_columns(self) -> tuple[str, ...]:
        """The columns that only some documents have, which nobody else hears of."""
        return ()

    @abstractmethod
    def column(self, document: int, name: str | int) -> list[str]:
        """One column of one document, a string per token."""

    def column_name(self, name: str | int) -> str:
        """The name of a column, by its name or its number from 1; an InputError for no column."""
        names = self.columns
        if isinstance(name, int):
            name = names[name - 1] if 1 <= name <= len(names) else str(name)
        if name not in names:
            raise InputError(
                f"there is no column {name!r}",
                file=self.source,
                expected=f"one of {', '.join(names)}" if names else "tokens with columns",
            )
        return name

    @abstractmethod
    def sentence_starts(self, document: int) -> list[int]:
        """The token positions at which the sentences of a document begin."""

    @abstractmethod
    def select(self, documents: IntArray) -> Self:
        """The same tokens for other documents: `documents[d]` is an old index, −1 for none."""

    @cached_property
    def offsets(self) -> IntArray:
        """Where each document's tokens begin when all are numbered through, and the end."""
        return np.concatenate(([0], np.cumsum(self.counts)))

    def coded(self, name: str | int, tokens: IntArray | None = None) -> Categories:
        """One column of all documents, a value per token, tokens numbered through.

        With `tokens`, only of these, in their order. A format that keeps bytes does without a
        string for each token; this one is for those that have the strings anyway.
        """
        if tokens is None:
            columns = (self.column(d, name) for d in range(self.counts.size) if self.counts[d])
            return _encode([cell for column in columns for cell in column])
        document, order, bounds = self._by_document(tokens)
        position = (tokens - self.offsets[document])[order]
        values = np.empty(tokens.size, dtype=object)
        for start, end in pairwise(bounds):
            column = self.column(int(document[order[start]]), name)
            values[order[start:end]] = [column[p] for p in position[start:end].tolist()]
        return _encode(values.tolist())

    def first_bytes(self, name: str | int, tokens: IntArray) -> NDArray[np.uint16] | None:
        """The first two bytes of some cells of a column, the first one in the lower half.

        Cells may be shorter, but ASCII characters are one byte each. None where no bytes are kept.
        """
        return None

    def _by_document(self, tokens: IntArray) -> tuple[IntArray, IntArray, list[int]]:
        """The document of each token; an order by document, and where in it each one begins."""
        document = documents_of_tokens(self.offsets, tokens)
        order = np.argsort(document, kind="stable")
        changes = np.flatnonzero(np.diff(document[order], prepend=-1))
        return document, order, [*changes.tolist(), tokens.size]

    def all_sentence_starts(self) -> IntArray:
        """The tokens at which sentences begin, over all documents, tokens numbered through."""
        starts = [
            np.asarray(self.sentence_starts(d), dtype=np.int64) + self.offsets[d]
            for d in np.flatnonzero(self.counts).tolist()
        ]
        return np.concatenate(starts) if starts else np.empty(0, dtype=np.int64)

    @cached_property
    def starts(self) -> IntArray:
        """The same, worked out once."""
        return self.all_sentence_starts()

    @property
    def marks_sentences(self) -> bool:
        """Whether anything says where sentences end: here, that a document has several."""
        return bool(self.starts.size > np.count_nonzero(self.counts))

    @cached_property
    def _sentence_edges(self) -> tuple[IntArray, IntArray]:
        """Where sentences and documents begin, and the number of the sentence from there on."""
        starts = self.starts
        edges = distinct(np.concatenate((starts, self.offsets[:-1][self.counts > 0])))
        sentence = np.searchsorted(starts, edges, side="right") - 1
        sentence[~np.isin(edges, starts)] = -1
        return edges, sentence

    def sentence_of(self, tokens: IntArray) -> IntArray:
        """The sentence in which each token stands; sentences are numbered through the corpus.

        Their order is that of `all_sentence_starts`. A token before the first sentence of its
        document is in none: −1.
        """
        edges, sentence = self._sentence_edges
        found: IntArray = sentence[np.searchsorted(edges, tokens, side="right") - 1]
        return found

    def sentence_comments(self, key: str) -> Categories | None:
        """What a comment says of each sentence, in the order of `all_sentence_starts`.

        Sentences without such a comment have no value. None where the corpus has no comments on
        sentences.
        """
        return None

    def line(self, document: int, position: int) -> int | None:
        """The line of the file on which a token stands, where there is a file."""
        return None

    def own_position(self, document: int, position: int) -> int:
        """The position of a token in the document as its file has it; −1 where it lacks it."""
        return position

    @property
    def source(self) -> str | None:
        """The file that the tokens come from, where there is one."""
        return None

    def sentences(self, document: int) -> Iterator[range]:
        """The token positions of each sentence."""
        bounds = [*self.sentence_starts(document), int(self.counts[document])]
        return (range(start, end) for start, end in pairwise(bounds))

    def first_difference(
        self, other: Tokens, documents: Sequence[int] | IntArray
    ) -> TokenDifference | None:
        """The first token that differs, over documents that both sides number alike.

        Blanks in words are as good as `_`, which some formats must write for them. Corpora without
        words agree; numbers of tokens must be compared before.
        """
        if "word" not in self.columns or "word" not in other.columns:
            return None
        chosen, size = np.asarray(documents, dtype=np.int64), 1
        while chosen.size:  # ever more at once, as those who ask for all differences come again
            some, chosen, size = chosen[:size], chosen[size:], 2 * size
            difference = self._difference_in(other, some)
            if difference is not None:
                return difference
        return None

    def _difference_in(self, other: Tokens, documents: IntArray) -> TokenDifference | None:
        counts = np.minimum(self.counts[documents], other.counts[documents])
        numbers: dict[str, int] = {}
        mine = self._compared_words(ragged_arange(self.offsets[documents], counts), numbers)
        theirs = other._compared_words(ragged_arange(other.offsets[documents], counts), numbers)
        differ = (mine != theirs) & (mine >= 0) & (theirs >= 0)
        if not differ.any():
            return None
        place = int(np.argmax(differ))
        ends = np.cumsum(counts)
        index = int(np.searchsorted(ends, place, side="right"))
        document, position = int(documents[index]), place - int(ends[index] - counts[index])
        tokens = [np.array([side.offsets[document] + position]) for side in (self, other)]
        return TokenDifference(
            document,
            other.own_position(document, position),
            self.coded("word", tokens[0]).values()[0] or "",
            other.coded("word", tokens[1]).values()[0] or "",
            self.line(document, position),
            other.line(document, position),
        )

    def _compared_words(self, tokens: IntArray, numbers: dict[str, int]) -> IntArray:
        """A number for each word; −1 for an empty node, as it does not matter what it is called."""
        words = self.coded("word", tokens)
        plain = [numbers.setdefault(plain_word(word), len(numbers)) for word in words.names]
        codes = np.array([*plain, -1], dtype=np.int64)[words.codes]
        if "empty" in self.columns:
            codes[self.coded("empty", tokens).where(bool)] = -1
        return codes


@dataclass(frozen=True, slots=True)
class DocumentTokens:
    """One document's token columns (a list of strings each), sentences and lines."""

    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    count: int = 0
    sentence_starts: Sequence[int] = ()
    lines: Sequence[int] | None = None


# Columns that documents without empty nodes may do without, though others have them.
OF_NODES = ("empty", "deps")


def common_columns(known: Sequence[Collection[str]]) -> tuple[str, ...]:
    """The columns that all have, and those of empty nodes that any has."""
    names = dict.fromkeys(name for columns in known for name in columns)
    return tuple(n for n in names if n in OF_NODES or all(n in columns for columns in known))


def other_columns(known: Iterable[Iterable[str]], common: Collection[str]) -> tuple[str, ...]:
    """The columns that some have and that are not common to all."""
    names = dict.fromkeys(name for columns in known for name in columns)
    return tuple(name for name in names if name not in common)


class TokenTable(Tokens):
    """Token columns in memory, document by document.

    The column `empty` is "1" for tokens that stand for nothing in the text (zeros).
    """

    source: str | None = None

    def __init__(self, documents: Sequence[DocumentTokens], source: str | None = None) -> None:
        self.documents = tuple(documents)
        self.counts = np.array([document.count for document in documents], dtype=np.int64)
        self.source = source

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that every document with tokens has, and those of empty nodes."""
        documents = [d for d in self.documents if d.count] or self.documents
        return common_columns([document.columns for document in documents])

    @property
    def partial_columns(self) -> tuple[str, ...]:
        """The columns that only some documents have."""
        return other_columns((d.columns for d in self.documents if d.count), self.columns)

    def column(self, document: int, name: str | int) -> list[str]:
        """One column of one document; a number counts columns from 1."""
        known, name = self.documents[document], self.column_name(name)
        if name in OF_NODES and name not in known.columns:
            return [""] * known.count
        return list(known.columns.get(name, ()))

    def sentence_starts(self, document: int) -> list[int]:
        """The token positions at which the sentences of a document begin."""
        return list(self.documents[document].sentence_starts)

    def line(self, document: int, position: int) -> int | None:
        """The line of a token, where the format has a line per token."""
        lines = self.documents[document].lines
        return lines[position] if lines is not None else None

    def select(self, documents: IntArray) -> TokenTable:
        """The same tokens for other documents; −1 is a document without tokens."""
        nothing = DocumentTokens()
        chosen = [self.documents[index] if index >= 0 else nothing for index in documents.tolist()]
        return TokenTable(chosen, self.source)


def documents_of_tokens(offsets: IntArray, tokens: IntArray) -> IntArray:
    """The document of each token, tokens numbered through."""
    document: IntArray = np.searchsorted(offsets, tokens, side="right") - 1
    return document


def rows_of_tokens(
    first: IntArray, counts: IntArray, offsets: IntArray, tokens: IntArray | None = None
) -> IntArray:
    """Which rows of a file's tokens belong to tokens that are numbered through documents.

    Document `d` has the rows from `first[d]` on, and its tokens are numbered from `offsets[d]` on.

    >>> first, counts = np.array([3, 0]), np.array([2, 3])
    >>> rows_of_tokens(first, counts, np.array([0, 2, 5])).tolist()
    [3, 4, 0, 1, 2]
    >>> rows_of_tokens(first, counts, np.array([0, 2, 5]), np.array([4, 0])).tolist()
    [2, 3]
    """
    shift = first - offsets[:-1]
    if shift.size and bool((shift == shift[0]).all()):  # the documents stand as in the file
        rows = np.arange(offsets[-1]) if tokens is None else tokens
        return rows + int(shift[0])
    if tokens is None:
        return ragged_arange(first, counts)
    return shift[documents_of_tokens(offsets, tokens)] + tokens


def _encode(values: Sequence[str]) -> Categories:
    """Codes of strings: two fast passes instead of one that asks of each whether it is new."""
    names = dict.fromkeys(values)
    numbers = dict(zip(names, range(len(names)), strict=True))
    codes = np.fromiter(map(numbers.__getitem__, values), dtype=np.int64, count=len(values))
    return Categories(codes, tuple(names))

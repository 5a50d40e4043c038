"""The tokens of a corpus: their number per document, and their columns when somebody asks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from corefeval.model.arrays import IntArray


@dataclass(frozen=True, slots=True)
class TokenDifference:
    """The first place where two corpora disagree about the text of a document."""

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

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns that every document has, by name."""

    @abstractmethod
    def column(self, document: int, name: str | int) -> list[str]:
        """One column of one document, a string per token."""

    @abstractmethod
    def sentence_starts(self, document: int) -> list[int]:
        """The token positions at which the sentences of a document begin."""

    @abstractmethod
    def select(self, documents: IntArray) -> Self:
        """The same tokens for other documents: `documents[d]` is an old index, −1 for none."""

    def line(self, document: int, position: int) -> int | None:
        """The line of the file on which a token stands, where there is a file."""
        return None

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

        Corpora without words agree; numbers of tokens must be compared before.
        """
        if "word" not in self.columns or "word" not in other.columns:
            return None
        both_mark = "empty" in self.columns and "empty" in other.columns
        for document in np.asarray(documents).tolist():
            mine = self._checked_words(document, both_mark)
            theirs = other._checked_words(document, both_mark)
            for position, (my_word, their_word) in enumerate(zip(mine, theirs, strict=False)):
                if my_word != their_word and None not in (my_word, their_word):
                    return TokenDifference(
                        document,
                        position,
                        my_word or "",
                        their_word or "",
                        self.line(document, position),
                        other.line(document, position),
                    )
        return None

    def _checked_words(self, document: int, mark_empty: bool) -> list[str | None]:
        """Words as they are compared: an empty node is one, whatever it is called."""
        words: list[str | None] = list(self.column(document, "word"))
        if not mark_empty:
            return words
        marks = self.column(document, "empty")
        return [None if mark else word for word, mark in zip(words, marks, strict=True)]

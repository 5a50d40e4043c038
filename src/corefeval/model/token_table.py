"""Tokens that are already text: what formats other than CoNLL read into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from corefeval.model.arrays import IntArray
from corefeval.model.tokens import Tokens


@dataclass(frozen=True, slots=True)
class DocumentTokens:
    """One document's token columns (a list of strings each), sentences and lines."""

    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    count: int = 0
    sentence_starts: Sequence[int] = ()
    lines: Sequence[int] | None = None


class TokenTable(Tokens):
    """Token columns in memory, document by document.

    The column `empty` is "1" for tokens that stand for nothing in the text (zeros).
    """

    def __init__(self, documents: Sequence[DocumentTokens], source: str | None = None) -> None:
        self.documents = tuple(documents)
        self.counts = np.array([document.count for document in documents], dtype=np.int64)
        self._source = source

    @property
    def source(self) -> str | None:
        """The file that the tokens come from, where there is one."""
        return self._source

    @cached_property
    def _columns(self) -> tuple[str, ...]:
        documents = [d for d in self.documents if d.count] or self.documents
        full = [document.columns for document in documents]
        return tuple(name for name in full[0] if all(name in d for d in full)) if full else ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that every document with tokens has."""
        return self._columns

    def column(self, document: int, name: str | int) -> list[str]:
        """One column of one document; a number counts columns from 1."""
        return list(self.documents[document].columns.get(self.column_name(name), ()))

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
        return TokenTable(chosen, self._source)

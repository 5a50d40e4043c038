"""Tokens without some of their number: a text whose empty nodes are left out."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from corefeval.model.arrays import IntArray, ragged_arange
from corefeval.model.categories import Categories
from corefeval.model.tokens import Tokens


class RealTokens(Tokens):
    """A view of other tokens that has only some: `kept`, numbered through and ascending."""

    def __init__(self, tokens: Tokens, kept: IntArray) -> None:
        self.tokens = tokens
        self.kept = kept
        self.bounds = np.searchsorted(kept, tokens.offsets)
        self.counts = np.diff(self.bounds)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns but the one that marks empty nodes."""
        return tuple(name for name in self.tokens.columns if name != "empty")

    @property
    def source(self) -> str | None:
        """The file that the tokens come from, where there is one."""
        return self.tokens.source

    def column(self, document: int, name: str | int) -> list[str]:
        """One column of one document, a string per token."""
        cells = self.tokens.column(document, name)
        return [cells[position] for position in self._positions(document).tolist()]

    def coded(self, name: str | int, tokens: IntArray | None = None) -> Categories:
        """One column of all documents, or of some tokens of all."""
        return self.tokens.coded(name, self.kept if tokens is None else self.kept[tokens])

    def sentence_starts(self, document: int) -> list[int]:
        """The token positions at which the sentences of a document begin."""
        begin, end = self.bounds[document : document + 2].tolist()
        starts = self.all_sentence_starts()
        inside = starts[np.searchsorted(starts, begin) : np.searchsorted(starts, end)]
        return [start - begin for start in inside.tolist()]

    def all_sentence_starts(self) -> IntArray:
        """The tokens at which sentences begin, over all documents, tokens numbered through."""
        return self._sentences[1]

    def sentence_comments(self, key: str) -> Categories | None:
        """What a comment says of each sentence that has a token left."""
        found = self.tokens.sentence_comments(key)
        return None if found is None else found.take(self._sentences[0])

    @cached_property
    def _sentences(self) -> tuple[IntArray, IntArray]:
        """The old sentences that have a token left, and where they begin now."""
        starts = self.tokens.all_sentence_starts()
        places = np.searchsorted(self.kept, np.append(starts, self.tokens.offsets[-1]))
        left = np.flatnonzero(np.diff(places))
        return left, places[left]

    def line(self, document: int, position: int) -> int | None:
        """The line of the file on which a token stands, where there is a file."""
        return self.tokens.line(document, int(self._positions(document)[position]))

    def select(self, documents: IntArray) -> RealTokens:
        """The same tokens for other documents; −1 is a document without tokens."""
        chosen = self.tokens.select(documents)
        present = np.flatnonzero(documents >= 0)
        old = documents[present]
        kept = self.kept[ragged_arange(self.bounds[old], self.counts[old])]
        shift = np.repeat(chosen.offsets[present] - self.tokens.offsets[old], self.counts[old])
        return RealTokens(chosen, kept + shift)

    def _positions(self, document: int) -> IntArray:
        begin, end = self.bounds[document : document + 2].tolist()
        positions: IntArray = self.kept[begin:end] - int(self.tokens.offsets[document])
        return positions

"""Where the mentions of a corpus stand in its own text, while they are compared on another axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corefeval.model.arrays import ArrayPair, IntArray, ragged_arange
from corefeval.model.tokens import Tokens

if TYPE_CHECKING:
    from corefeval.model.corpus import Corpus


class OwnText(NamedTuple):
    """A side whose mentions, row by row, are on its own tokens.

    In documents whose tokens differ, these are those of the key first and those of the response
    behind them; each side lacks the other's, so that no position means two things. `places` has
    a row for each token: where its pieces begin and end on the common axis, and where its unit
    begins. A token without pieces ends where it begins.
    """

    corpus: Corpus
    places: IntArray

    @property
    def tokens(self) -> Tokens:
        """The tokens of the text."""
        assert self.corpus.tokens is not None
        return self.corpus.tokens

    def find_units(self, document: IntArray, position: IntArray) -> IntArray:
        """The unit of each token, as a position on the axis; −1 for one without pieces."""
        first, end, unit = self.places[self.tokens.offsets[document] + np.maximum(position, 0)].T
        return np.where((position >= 0) & (end > first), unit, -1)

    def list_pieces(self, document: IntArray, position: IntArray) -> ArrayPair:
        """How many pieces each of some tokens has, and the positions of all of these."""
        first, end, _ = self.places[self.tokens.offsets[document] + position].T
        return end - first, ragged_arange(first, end - first)

    def take(self, rows: IntArray) -> OwnText:
        """The mentions of these rows."""
        return self._replace(corpus=self.corpus.take_mentions(rows))

    def select(self, documents: IntArray) -> OwnText:
        """Some documents, in this order, −1 for one that is not there."""
        present = documents[documents >= 0]
        token = ragged_arange(self.tokens.offsets[present], self.tokens.counts[present])
        return OwnText(self.corpus.select_documents(documents), self.places[token])

"""The alignment: what every metric counts on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corefeval.model import Corpus
from corefeval.model.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Side:
    """One side's entities and mentions; the mentions of an entity stand in textual order.

    An entity without mentions (all of them dropped) counts as no entity.
    """

    entity_document: IntArray
    mention_entity: IntArray

    @cached_property
    def sizes(self) -> IntArray:
        """The number of mentions of each entity."""
        return np.bincount(self.mention_entity, minlength=self.entity_document.size)

    @staticmethod
    def of(corpus: Corpus) -> Side:
        """The side that a corpus makes."""
        return Side(corpus.entity_document, corpus.mention_entity)


@dataclass(frozen=True, eq=False)
class Overlap:
    """The cells of the contingency table that are not empty.

    Cell c says that key entity `key[c]` and response entity `response[c]`, both of document
    `document[c]`, share `count[c]` mentions.
    """

    key: IntArray
    response: IntArray
    count: IntArray
    document: IntArray


@dataclass(frozen=True, eq=False)
class Alignment:
    """Key and response side by side: their entities, and which mentions are the same.

    Mention `key_rows[m]` of the key is mention `response_rows[m]` of the response; where both are
    None, the sides have the same mentions in the same rows.
    """

    n_documents: int
    key: Side
    response: Side
    key_rows: IntArray | None
    response_rows: IntArray | None

    @property
    def swapped(self) -> Alignment:
        """The same with the sides exchanged: recall of it is precision."""
        other = Alignment(
            self.n_documents, self.response, self.key, self.response_rows, self.key_rows
        )
        o = self.overlap
        # A cached property of a frozen object: the table is derived once, for both directions.
        other.__dict__["overlap"] = Overlap(o.response, o.key, o.count, o.document)
        return other

    @cached_property
    def overlap(self) -> Overlap:
        """The sparse table of shared mentions, one sort over the whole corpus."""
        key, response = self.key.mention_entity, self.response.mention_entity
        if self.key_rows is not None and self.response_rows is not None:
            key, response = key[self.key_rows], response[self.response_rows]
        width = max(self.response.entity_document.size, 1)
        codes = key * width
        codes += response
        codes.sort()
        first = np.flatnonzero(
            np.concatenate((np.ones(min(codes.size, 1), np.bool_), codes[1:] != codes[:-1]))
        )
        count = np.diff(np.append(first, codes.size))
        key_entity, response_entity = np.divmod(codes[first], width)
        return Overlap(key_entity, response_entity, count, self.key.entity_document[key_entity])

    def by_document(self, document: IntArray, values: NDArray[Any]) -> FloatArray:
        """Sum values per document."""
        if self.n_documents == 1:
            return np.array([values.sum(dtype=np.float64)])
        sums = np.bincount(document, weights=values, minlength=self.n_documents)
        return sums.astype(np.float64, copy=False)


def align(key: Corpus, response: Corpus, rows: tuple[IntArray, IntArray] | None) -> Alignment:
    """Make an alignment from two corpora with the same documents and their matched mentions."""
    key_rows, response_rows = rows if rows is not None else (None, None)
    return Alignment(len(key.documents), Side.of(key), Side.of(response), key_rows, response_rows)

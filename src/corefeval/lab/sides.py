"""Key and response side by side, as perturbations see them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, IntArray
from corefeval.preparation import prepare


@dataclass(frozen=True, eq=False)
class Sides:
    """A key and a response with the same documents, each mention once.

    `twin` is the key's row for each mention of the response, −1 for one that the key lacks.
    """

    key: Corpus
    response: Corpus
    twin: IntArray

    @cached_property
    def key_entity(self) -> IntArray:
        """The key entity of each response mention; −1 for a twinless one."""
        return np.append(self.key.mention_entity, -1)[self.twin]

    @cached_property
    def _cells(self) -> tuple[IntArray, IntArray]:
        """For each twin its cell of the overlap table, and the cells' sizes."""
        rows = np.flatnonzero(self.twin >= 0)
        width = max(self.key.n_entities, 1)
        codes = self.response.mention_entity[rows] * width + self.key_entity[rows]
        _, cell, count = np.unique(codes, return_inverse=True, return_counts=True)
        of_mention = np.full(self.twin.size, -1, dtype=np.int64)
        of_mention[rows] = cell.reshape(-1)
        return of_mention, count.astype(np.int64)

    @cached_property
    def partners(self) -> IntArray:
        """How many correct links each response mention has."""
        cell, count = self._cells
        return np.where(cell >= 0, np.append(count, 1)[cell] - 1, 0)

    @cached_property
    def linked(self) -> BoolArray:
        """Which response mentions have a link at all, right or wrong."""
        return self.response.entity_sizes[self.response.mention_entity] > 1

    @cached_property
    def incorrectly_resolved(self) -> BoolArray:
        """Which mentions of both sides have links in the response, none of them correct."""
        wrong: BoolArray = (self.twin >= 0) & self.linked & (self.partners == 0)
        return wrong

    @cached_property
    def missing(self) -> IntArray:
        """The rows of the key's mentions that the response lacks."""
        found = np.zeros(self.key.n_mentions, dtype=np.bool_)
        found[self.twin[self.twin >= 0]] = True
        return np.flatnonzero(~found)

    @cached_property
    def document_correct_links(self) -> IntArray:
        """The number of correct links of each document."""
        # Every link has two ends, so that the partners of all mentions count each one twice.
        return _sums(self.response.mention_document, self.partners, self.n_documents) // 2

    @cached_property
    def document_wrong_links(self) -> IntArray:
        """The number of wrong links of each document."""
        sizes = self.response.entity_sizes
        links = _sums(self.response.entity_document, sizes * (sizes - 1) // 2, self.n_documents)
        return links - self.document_correct_links

    @property
    def n_documents(self) -> int:
        """How many documents both sides have."""
        return len(self.key.documents)

    def totals(self) -> dict[str, int]:
        """What the response has in all: mentions, correct links and wrong links."""
        return {
            "mentions": self.response.n_mentions,
            "correct_links": int(self.document_correct_links.sum()),
            "wrong_links": int(self.document_wrong_links.sum()),
        }


def pair_sides(key: Corpus, response: Corpus) -> Sides:
    """Pair documents and mentions; of repeated mentions the first one stays."""
    prepared = prepare(key, response)
    twin = prepared.matches.partners_of_response(prepared.response.n_mentions)
    return Sides(prepared.key, prepared.response, twin)


def drop_repeats(corpus: Corpus) -> Corpus:
    """The corpus with each mention once."""
    return pair_sides(corpus, corpus).key


def _sums(group: IntArray, values: IntArray, number: int) -> IntArray:
    return np.bincount(group, weights=values, minlength=number).astype(np.int64)

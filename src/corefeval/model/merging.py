"""Several documents as one: for entities that are the same in all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, pairwise

import numpy as np

from corefeval.model.arrays import IntArray, dense_ranks, ragged_arange
from corefeval.model.categories import Categories, LazyArray, LazyNames
from corefeval.model.corpus import LAYERS, Corpus, DocumentId
from corefeval.model.token_view import TokenView
from corefeval.model.tokens import Tokens, documents_of_tokens


def merge_documents(
    corpus: Corpus, group: IntArray, identifiers: Sequence[DocumentId], lengths: IntArray
) -> Corpus:
    """The corpus with the documents of each group behind each other as one document.

    `group` is the number of each document's group, and `identifiers` are what groups are called.
    `lengths` says how much room each document takes, in tokens: what the corpus has at least.
    Entities of the same name and layer in a group become one; the corpus must have names and
    positions.
    """
    order = np.argsort(group, kind="stable")
    corpus = corpus.select_documents(order)
    group, lengths = group[order], lengths[order]
    bounds = np.searchsorted(group, np.arange(len(identifiers) + 1))
    begin = np.cumsum(lengths) - lengths
    shift = (begin - begin[bounds[group]])[corpus.mention_document]
    gaps, names, heads = corpus.gaps, list(corpus.names or ()), corpus.mention_head
    known = Categories.of(names)
    width = max(len(known.names), 1)
    layers = corpus.entity_layer
    called = known.codes if layers is None else known.codes + width * layers
    names_width = width if layers is None else width * len(LAYERS)
    entity, distinct = dense_ranks(group[corpus.entity_document] * names_width + called)
    return replace(
        corpus,
        documents=tuple(identifiers),
        entity_document=distinct // names_width,
        entity_layer=None if layers is None else distinct // width % len(LAYERS),
        mention_entity=entity[corpus.mention_entity],
        mention_start=np.asarray(corpus.mention_start) + shift,
        mention_end=np.asarray(corpus.mention_end) + shift,
        gaps=gaps + np.outer(shift[gaps[:, 0]], [0, 1, 1]),
        mention_head=None if heads is None else LazyArray(partial(_shift_heads, heads, shift)),
        mention_origin=corpus.mention_document,
        tokens=None if corpus.tokens is None else _merge_tokens(corpus.tokens, lengths, bounds),
        names=LazyNames(partial(_pick, known.names, distinct % width)),
        metadata=_common(corpus.metadata, bounds),
        sentence_metadata=tuple(
            tuple(chain.from_iterable(corpus.sentence_metadata[a:b]))
            for a, b in pairwise(bounds.tolist())
            if corpus.sentence_metadata
        ),
        relations=corpus.relations.on_entities(entity),
    )


def _shift_heads(heads: IntArray | LazyArray, shift: IntArray) -> IntArray:
    known = np.asarray(heads)
    return np.where(known >= 0, known + shift, -1)


def _pick(names: Sequence[str], rows: IntArray) -> list[str]:
    return [names[row] for row in rows.tolist()]


def _common(metadata: Sequence[object], bounds: IntArray) -> tuple[dict[str, str], ...]:
    """What is said alike of all documents of a group."""
    groups = [metadata[a:b] for a, b in pairwise(bounds.tolist()) if metadata]
    return tuple(
        dict(
            item
            for item in dict(group[0]).items()  # type: ignore[call-overload]
            if all(item in other.items() for other in group)  # type: ignore[attr-defined]
        )
        for group in groups
    )


def _merge_tokens(tokens: Tokens, lengths: IntArray, bounds: IntArray) -> MergedTokens:
    """The tokens of groups of documents; where a document lacks some, there are foreign ones."""
    if not np.array_equal(tokens.counts, lengths):
        begin = np.cumsum(lengths) - lengths
        rows = np.full(int(lengths.sum()), -1, dtype=np.int64)
        rows[ragged_arange(begin, tokens.counts)] = np.arange(int(tokens.offsets[-1]))
        document = documents_of_tokens(tokens.offsets, tokens.starts)
        places = tokens.starts + (begin - tokens.offsets[:-1])[document]
        tokens = TokenView(tokens, rows, lengths, places, foreign="")
    return MergedTokens(tokens, bounds)


@dataclass(eq=False)
class MergedTokens(Tokens):
    """The tokens of runs of documents: merged document g has those from bounds[g] to bounds[g + 1].

    Numbered through, tokens have the numbers that they have without merging.
    """

    tokens: Tokens
    bounds: IntArray

    @cached_property
    def counts(self) -> IntArray:  # type: ignore[override]
        """The number of tokens of each merged document."""
        return np.diff(self.tokens.offsets[self.bounds])

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that every document has, by name."""
        return self.tokens.columns

    @property
    def partial_columns(self) -> tuple[str, ...]:
        """The columns that only some documents have."""
        return self.tokens.partial_columns

    @property
    def source(self) -> str | None:
        """The file that the tokens come from, where there is one."""
        return self.tokens.source

    def _documents(self, merged: int) -> list[int]:
        """The documents of a merged one that have tokens."""
        first, after = self.bounds[merged : merged + 2].tolist()
        return [d for d in range(first, after) if self.tokens.counts[d]]

    def column(self, document: int, name: str | int) -> list[str]:
        """One column of one merged document, a string per token."""
        return [cell for d in self._documents(document) for cell in self.tokens.column(d, name)]

    def sentence_starts(self, document: int) -> list[int]:
        """The token positions at which the sentences of a merged document begin."""
        begin = int(self.offsets[document])
        return [
            int(self.tokens.offsets[d]) - begin + start
            for d in self._documents(document)
            for start in self.tokens.sentence_starts(d)
        ]

    def coded(self, name: str | int, tokens: IntArray | None = None) -> Categories:
        """One column of all tokens, or of some."""
        return self.tokens.coded(name, tokens)

    def all_sentence_starts(self) -> IntArray:
        """The tokens at which sentences begin, tokens numbered through."""
        return self.tokens.all_sentence_starts()

    def sentence_comments(self, key: str) -> Categories | None:
        """What a comment says of each sentence."""
        return self.tokens.sentence_comments(key)

    def _place(self, document: int, position: int) -> tuple[int, int]:
        token = self.offsets[document] + position
        own = int(documents_of_tokens(self.tokens.offsets, token))
        return own, int(token - self.tokens.offsets[own])

    def line(self, document: int, position: int) -> int | None:
        """The line of the file on which a token stands, where there is a file."""
        return self.tokens.line(*self._place(document, position))

    def own_position(self, document: int, position: int) -> int:
        """The position of a token in the document of which its file has it."""
        return self.tokens.own_position(*self._place(document, position))

    def select(self, documents: IntArray) -> MergedTokens:
        """The same tokens for other merged documents; −1 is one without tokens."""
        sizes = np.where(documents >= 0, np.diff(self.bounds)[documents], 0)
        chosen = ragged_arange(self.bounds[documents], sizes)
        return MergedTokens(self.tokens.select(chosen), np.concatenate(([0], np.cumsum(sizes))))

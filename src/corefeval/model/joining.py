"""Many corpora as one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import InputError, excerpt
from corefeval.model.arrays import IntArray, ragged_arange
from corefeval.model.categories import Categories, LazyNames
from corefeval.model.corpus import NO_GAPS, Corpus, DocumentId
from corefeval.model.relations import NO_RELATIONS, Relations
from corefeval.model.tokens import (
    OF_NODES,
    Tokens,
    common_columns,
    documents_of_tokens,
    other_columns,
)


def join(corpora: Sequence[Corpus], *, name: str = "") -> Corpus:
    """One corpus of all documents, in order; an id that two of them have is an error."""
    if len(corpora) == 1:
        return replace(corpora[0], name=name or corpora[0].name)
    documents = tuple(identifier for corpus in corpora for identifier in corpus.documents)
    check_repetition((corpus.name, corpus.documents) for corpus in corpora)
    document_shift = _shifts([len(corpus.documents) for corpus in corpora])
    entity_shift = _shifts([corpus.n_entities for corpus in corpora])
    mention_shift = _shifts([corpus.n_mentions for corpus in corpora])
    positions = all(corpus.mention_start is not None for corpus in corpora)
    gaps = [
        corpus.gaps + np.array([shift, 0, 0])
        for corpus, shift in zip(corpora, mention_shift, strict=True)
        if corpus.gaps.size
    ]
    names = [corpus.names for corpus in corpora if corpus.names is not None]
    return Corpus(
        documents=documents,
        entity_document=_concatenate(
            [c.entity_document + s for c, s in zip(corpora, document_shift, strict=True)]
        ),
        mention_entity=_concatenate(
            [c.mention_entity + s for c, s in zip(corpora, entity_shift, strict=True)]
        ),
        mention_start=_concatenate([c.mention_start for c in corpora]) if positions else None,
        mention_end=_concatenate([c.mention_end for c in corpora]) if positions else None,
        gaps=np.concatenate(gaps) if gaps else NO_GAPS,
        mention_head=_join_heads(corpora),
        features=join_features(corpora),
        tokens=JoinedTokens.of([corpus.tokens for corpus in corpora]),
        names=LazyNames(partial(_all_names, names)) if len(names) == len(corpora) else None,
        names_hold=all(corpus.names_hold or not corpus.n_mentions for corpus in corpora),
        entity_layer=join_layers(corpora),
        metadata=tuple(meta for c in corpora for meta in (c.metadata or [{}] * len(c.documents))),
        sentence_metadata=tuple(
            meta for c in corpora for meta in (c.sentence_metadata or [()] * len(c.documents))
        ),
        relations=Relations.join([c.relations for c in corpora], entity_shift, mention_shift),
        name=name,
        notices=tuple(notice for corpus in corpora for notice in corpus.notices),
    )


def _all_names(parts: Sequence[Sequence[str]]) -> list[str]:
    return [name for part in parts for name in part]


def join_layers(corpora: Sequence[Corpus]) -> IntArray | None:
    """The layers of the entities of all corpora; None where all are identity."""
    if all(corpus.entity_layer is None for corpus in corpora):
        return None
    return np.concatenate(
        [
            np.zeros(c.n_entities, dtype=np.int64) if c.entity_layer is None else c.entity_layer
            for c in corpora
        ]
    )


def _join_heads(corpora: Sequence[Corpus]) -> IntArray | None:
    """The heads of all corpora, unknown (−1) where a corpus states none; None where all do so."""
    heads = [corpus.mention_head for corpus in corpora]
    if all(head is None for head in heads):
        return None
    return np.concatenate(
        [
            np.full(corpus.n_mentions, -1, dtype=np.int64) if head is None else np.asarray(head)
            for corpus, head in zip(corpora, heads, strict=True)
        ]
    )


def join_features(corpora: Sequence[Corpus]) -> dict[str, NDArray[Any]]:
    """All properties of the mentions of all corpora, empty where a corpus does not say one."""
    nothing = [np.full(corpus.n_mentions, "", dtype=object) for corpus in corpora]
    return {
        name: np.concatenate(
            [corpus.features.get(name, none) for corpus, none in zip(corpora, nothing, strict=True)]
        )
        for name in dict.fromkeys(name for corpus in corpora for name in corpus.features)
    }


def stack_mentions(corpus: Corpus, other: Corpus) -> Corpus:
    """The mentions of two corpora that number their documents alike, the other's behind.

    Entities are numbered through too. They lose their names, layers and relations; documents and
    tokens are those of the first.
    """

    def both(mine: Any, theirs: Any) -> Any:
        return None if mine is None or theirs is None else np.concatenate((mine, theirs))

    labels = None
    if corpus.labels is not None and other.labels is not None:
        labels = [*corpus.labels, *other.labels]
    return replace(
        corpus,
        entity_document=both(corpus.entity_document, other.entity_document),
        mention_entity=both(corpus.mention_entity, other.mention_entity + corpus.n_entities),
        mention_start=both(corpus.mention_start, other.mention_start),
        mention_end=both(corpus.mention_end, other.mention_end),
        mention_head=both(corpus.mention_head, other.mention_head),
        labels=labels,
        gaps=both(corpus.gaps, other.gaps + np.array([corpus.n_mentions, 0, 0])),
        features=join_features((corpus, other)),
        mention_origin=both(corpus.mention_origin, other.mention_origin),
        names=None,
        names_hold=False,
        entity_layer=None,
        relations=NO_RELATIONS,
        notices=(),
    )


def strip_details(corpus: Corpus) -> Corpus:
    """The mentions and entities alone."""
    return Corpus(
        documents=corpus.documents,
        entity_document=corpus.entity_document,
        mention_entity=corpus.mention_entity,
        mention_start=corpus.mention_start,
        mention_end=corpus.mention_end,
        gaps=corpus.gaps,
        labels=corpus.labels,
        name=corpus.name,
    )


def _shifts(counts: Sequence[int]) -> IntArray:
    return np.cumsum([0, *counts[:-1]])


def _concatenate(arrays: Sequence[IntArray | None]) -> IntArray:
    return np.concatenate([array for array in arrays if array is not None])


def check_repetition(sources: Iterable[tuple[str, Sequence[DocumentId]]]) -> None:
    """An InputError where two of some sources, by name, have a document of the same id."""
    seen: dict[DocumentId, str] = {}
    for name, documents in sources:
        for identifier in documents:
            if identifier in seen:
                raise InputError(
                    f"document {excerpt(str(identifier))} appears twice",
                    file=name,
                    found=f"a document of this id, which is also in {seen[identifier]}",
                    expected="one document for each id and part",
                    fix="rename or leave out one of the two",
                )
            seen[identifier] = name


@dataclass(eq=False)
class JoinedTokens(Tokens):
    """The tokens of several corpora: each document asks the part that it comes from."""

    parts: Sequence[Tokens]
    part_of: IntArray
    index_in_part: IntArray
    counts: IntArray

    @staticmethod
    def of(parts: Sequence[Tokens | None]) -> JoinedTokens | None:
        """The tokens of all parts together; None where a part has none."""
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        sizes = [part.counts.size for part in known]
        return JoinedTokens(
            known,
            np.repeat(np.arange(len(known)), sizes),
            np.concatenate([np.arange(size) for size in sizes]),
            np.concatenate([part.counts for part in known]),
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that all parts have, and those of empty nodes."""
        return common_columns([part.columns for part in self.parts if part.counts.any()])

    @property
    def partial_columns(self) -> tuple[str, ...]:
        """The columns that only some parts, or some documents of a part, have."""
        known = ((*part.columns, *part.partial_columns) for part in self.parts if part.counts.any())
        return other_columns(known, self.columns)

    def column(self, document: int, name: str | int) -> list[str]:
        """One column of one document."""
        part, index = self._place(document)
        if part is not None and name in OF_NODES and name not in part.columns:
            return [""] * int(self.counts[document])
        return part.column(index, name) if part is not None else []

    def sentence_starts(self, document: int) -> list[int]:
        """The token positions at which the sentences of a document begin."""
        part, index = self._place(document)
        return part.sentence_starts(index) if part is not None else []

    @property
    def marks_sentences(self) -> bool:
        """Whether a part says where sentences end."""
        return any(part.marks_sentences for part in self.parts)

    def coded(self, name: str | int, tokens: IntArray | None = None) -> Categories:
        """One column of all tokens, or of some: each part codes its own."""
        size = int(self.offsets[-1]) if tokens is None else tokens.size
        parts = self._tokens_by_part(tokens)
        there = (one for one in parts if name not in OF_NODES or name in one[0].columns)
        return _scatter(size, ((rows, part.coded(name, own)) for part, rows, own in there))

    def _tokens_by_part(
        self, tokens: IntArray | None
    ) -> Iterator[tuple[Tokens, IntArray, IntArray | None]]:
        """For each part that has any: which of the tokens are its own, and as which of its tokens.

        None stands for all tokens of the part in their order.
        """
        if tokens is not None:
            document = documents_of_tokens(self.offsets, tokens)
            order = np.argsort(self.part_of[document], kind="stable")
            bounds = np.searchsorted(self.part_of[document[order]], np.arange(len(self.parts) + 1))
            for part, (first, after) in zip(self.parts, pairwise(bounds.tolist()), strict=True):
                rows = order[first:after]
                if rows.size:
                    mine = document[rows]
                    shift = part.offsets[self.index_in_part[mine]] - self.offsets[mine]
                    yield part, rows, tokens[rows] + shift
            return
        for part, documents, index in self._documents_by_part():
            counts = self.counts[documents]
            whole = np.array_equal(index, np.arange(part.counts.size))
            if counts.any():
                own = None if whole else ragged_arange(part.offsets[index], counts)
                yield part, ragged_arange(self.offsets[documents], counts), own

    def _documents_by_part(self) -> Iterator[tuple[Tokens, IntArray, IntArray]]:
        """For each part: which documents come from it, and as which of its documents."""
        order = np.argsort(self.part_of, kind="stable")
        bounds = np.searchsorted(self.part_of[order], np.arange(len(self.parts) + 1))
        for part, (first, after) in zip(self.parts, pairwise(bounds.tolist()), strict=True):
            if after > first:
                yield part, order[first:after], self.index_in_part[order[first:after]]

    @cached_property
    def _sentences(self) -> tuple[IntArray, list[tuple[Tokens, IntArray, IntArray]]]:
        """Where sentences begin; and for each part which are its own, as which of its sentences."""
        starts, shares = [np.empty(0, dtype=np.int64)], []
        for part, documents, index in self._documents_by_part():
            theirs = part.all_sentence_starts()
            bounds = np.searchsorted(theirs, part.offsets)
            counts = bounds[index + 1] - bounds[index]
            sentences = ragged_arange(bounds[index], counts)
            shift = np.repeat(self.offsets[documents] - part.offsets[index], counts)
            starts.append(theirs[sentences] + shift)
            shares.append((part, sentences))
        unordered = np.concatenate(starts)
        order = np.argsort(unordered)
        number = np.empty_like(order)
        number[order] = np.arange(order.size)
        ends = np.cumsum([sentences.size for _, sentences in shares])[:-1]
        mine = np.split(number, ends)
        return unordered[order], [
            (part, own, theirs) for own, (part, theirs) in zip(mine, shares, strict=False)
        ]

    def all_sentence_starts(self) -> IntArray:
        """The tokens at which sentences begin, as the parts have them."""
        return self._sentences[0]

    def sentence_comments(self, key: str) -> Categories | None:
        """What a comment says of each sentence; None where no part has comments on sentences."""
        starts, shares = self._sentences
        found = [
            (own, comments.take(theirs))
            for part, own, theirs in shares
            if (comments := part.sentence_comments(key)) is not None
        ]
        return _scatter(starts.size, found) if found else None

    def line(self, document: int, position: int) -> int | None:
        """The line of a token in its own file."""
        part, index = self._place(document)
        return part.line(index, position) if part is not None else None

    def select(self, documents: IntArray) -> JoinedTokens:
        """The same tokens for other documents; −1 is a document without tokens."""
        present = documents >= 0
        return JoinedTokens(
            self.parts,
            np.where(present, self.part_of[documents], -1),
            np.where(present, self.index_in_part[documents], -1),
            np.where(present, self.counts[documents], 0),
        )

    def _place(self, document: int) -> tuple[Tokens | None, int]:
        number = int(self.part_of[document])
        return (self.parts[number] if number >= 0 else None), int(self.index_in_part[document])


def _scatter(size: int, pieces: Iterable[tuple[IntArray, Categories]]) -> Categories:
    """Values that come in pieces, each with the rows of its own; none for the other rows."""
    rows, values = zip((np.empty(0, dtype=np.int64), Categories.of(())), *pieces, strict=True)
    whole = Categories.concatenate(*values)
    codes = np.full(size, -1, dtype=np.int64)
    codes[np.concatenate(rows)] = whole.codes
    return Categories(codes, whole.names)

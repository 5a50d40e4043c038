"""Many corpora as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import InputError, excerpt
from corefeval.model.arrays import IntArray
from corefeval.model.corpus import NO_GAPS, Corpus
from corefeval.model.tokens import Tokens


def join(corpora: Sequence[Corpus], *, name: str = "") -> Corpus:
    """One corpus of all documents, in order; an id that two of them have is an error."""
    if len(corpora) == 1:
        return replace(corpora[0], name=name or corpora[0].name)
    documents = tuple(identifier for corpus in corpora for identifier in corpus.documents)
    if len(set(documents)) < len(documents):
        raise _repeated(corpora)
    document_shift = _shifts([len(corpus.documents) for corpus in corpora])
    entity_shift = _shifts([corpus.n_entities for corpus in corpora])
    mention_shift = _shifts([corpus.n_mentions for corpus in corpora])
    positions = all(corpus.mention_start is not None for corpus in corpora)
    properties = dict.fromkeys(name for corpus in corpora for name in corpus.features)
    gaps = [
        corpus.gaps + np.array([shift, 0, 0])
        for corpus, shift in zip(corpora, mention_shift, strict=True)
        if corpus.gaps.size
    ]
    names = [corpus.entity_names for corpus in corpora]
    heads = [corpus.mention_head for corpus in corpora]
    return Corpus(
        documents=documents,
        entity_document=_concatenated(
            [c.entity_document + s for c, s in zip(corpora, document_shift, strict=True)]
        ),
        mention_entity=_concatenated(
            [c.mention_entity + s for c, s in zip(corpora, entity_shift, strict=True)]
        ),
        mention_start=_concatenated([c.mention_start for c in corpora]) if positions else None,
        mention_end=_concatenated([c.mention_end for c in corpora]) if positions else None,
        gaps=np.concatenate(gaps) if gaps else NO_GAPS,
        mention_head=(
            np.concatenate([np.asarray(head) for head in heads])
            if all(head is not None for head in heads)
            else None
        ),
        features={name: _feature(corpora, name) for name in properties},
        tokens=JoinedTokens.of([corpus.tokens for corpus in corpora]),
        entity_names=(
            (lambda: [n for part in names if part is not None for n in part()])
            if all(part is not None for part in names)
            else None
        ),
        metadata=tuple(meta for c in corpora for meta in (c.metadata or [{}] * len(c.documents))),
        sentence_metadata=tuple(
            meta for c in corpora for meta in (c.sentence_metadata or [()] * len(c.documents))
        ),
        relations=tuple(
            replace(relation, document=relation.document + int(shift))
            for corpus, shift in zip(corpora, document_shift, strict=True)
            for relation in corpus.relations
        ),
        name=name,
        notices=tuple(notice for corpus in corpora for notice in corpus.notices),
    )


def _feature(corpora: Sequence[Corpus], name: str) -> NDArray[Any]:
    """One property of all mentions, empty where a corpus does not say it."""
    return np.concatenate(
        [
            corpus.features[name]
            if name in corpus.features
            else np.full(corpus.n_mentions, "", dtype=object)
            for corpus in corpora
        ]
    )


def _shifts(counts: Sequence[int]) -> IntArray:
    return np.cumsum([0, *counts[:-1]])


def _concatenated(arrays: Sequence[IntArray | None]) -> IntArray:
    return np.concatenate([array for array in arrays if array is not None])


def _repeated(corpora: Sequence[Corpus]) -> InputError:
    seen: dict[object, str] = {}
    for corpus in corpora:
        for identifier in corpus.documents:
            if identifier in seen:
                return InputError(
                    f"document {excerpt(str(identifier))} is there twice",
                    file=corpus.name,
                    found=f"a document of this id, which is also in {seen[identifier]}",
                    expected="one document for each id and part",
                    fix="rename or leave out one of the two",
                )
            seen[identifier] = corpus.name
    return InputError("a document is there twice")


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
        """The columns that all parts have."""
        first, *rest = [part.columns for part in self.parts if part.counts.any()] or [()]
        return tuple(name for name in first if all(name in other for other in rest))

    def column(self, document: int, name: str | int) -> list[str]:
        """One column of one document."""
        part, index = self._place(document)
        return part.column(index, name) if part is not None else []

    def sentence_starts(self, document: int) -> list[int]:
        """The token positions at which the sentences of a document begin."""
        part, index = self._place(document)
        return part.sentence_starts(index) if part is not None else []

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

"""Many corpora as one, and many documents as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import InputError, excerpt
from corefeval.model.arrays import (
    IntArray,
    all_zero,
    dense_ranks,
    integers,
    ragged_arange,
    stable_order,
    starts_of,
    unset,
)
from corefeval.model.categories import Categories, LazyArray, LazyNames
from corefeval.model.corpus import LAYERS, MENTION_COLUMNS, NO_GAPS, Corpus, DocumentId
from corefeval.model.moving import OwnText
from corefeval.model.relations import NO_RELATIONS, Relations
from corefeval.model.token_tables import join_tokens, merge_tokens


def join(corpora: Sequence[Corpus], *, name: str = "") -> Corpus:
    """One corpus of all documents, in order; an id that two of them have is an error."""
    if len(corpora) == 1:
        return replace(corpora[0], name=name or corpora[0].name)
    documents = tuple(identifier for corpus in corpora for identifier in corpus.documents)
    check_repetition((corpus.name, corpus.documents) for corpus in corpora)
    counts = [(len(corpus), corpus.n_entities, corpus.n_mentions) for corpus in corpora]
    document_shift, entity_shift, mention_shift = map(starts_of, integers(counts).T)
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
        mention_head=join_heads(corpora),
        features=join_features(corpora),
        tokens=join_tokens([corpus.tokens for corpus in corpora]),
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
        [all_zero(c.n_entities) if c.entity_layer is None else c.entity_layer for c in corpora]
    )


def join_heads(corpora: Sequence[Corpus]) -> IntArray | None:
    """The heads of all corpora, unknown (−1) where a corpus states none; None where all do so."""
    heads = [corpus.mention_head for corpus in corpora]
    if all(head is None for head in heads):
        return None
    return np.concatenate(
        [
            unset(corpus.n_mentions) if head is None else np.asarray(head)
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


def stack_mentions(corpus: Corpus, second: Corpus) -> Corpus:
    """The mentions of two corpora that number their documents alike, those of the second behind.

    Entities are numbered through too. They lose their names, layers and relations; documents and
    tokens are those of the first.
    """
    second = replace(
        second,
        mention_entity=second.mention_entity + corpus.n_entities,
        gaps=second.gaps + np.array([corpus.n_mentions, 0, 0]),
    )
    stacked: dict[str, Any] = {}
    for name in ("entity_document", "gaps", *MENTION_COLUMNS):
        sides = [getattr(side, name) for side in (corpus, second)]
        stacked[name] = None if any(side is None for side in sides) else np.concatenate(sides)
    labels = None
    if corpus.labels is not None and second.labels is not None:
        labels = [*corpus.labels, *second.labels]
    return replace(
        corpus,
        **stacked,
        labels=labels,
        features=join_features((corpus, second)),
        names=None,
        names_hold=False,
        entity_layer=None,
        relations=NO_RELATIONS,
        notices=(),
        own_text=None,
    )


def strip_details(corpus: Corpus) -> Corpus:
    """The mentions and entities alone."""
    names = ("documents", "entity_document", "gaps", "labels", "name", *MENTION_COLUMNS[:3])
    details: dict[str, Any] = {name: getattr(corpus, name) for name in names}
    return Corpus(**details)


def _concatenate(arrays: Sequence[IntArray | None]) -> IntArray:
    return np.concatenate([array for array in arrays if array is not None])


def check_repetition(sources: Iterable[tuple[str, Sequence[DocumentId]]]) -> None:
    """Raise an InputError where two sources have a document of the same id.

    Each source is a name and the ids of its documents.
    """
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


def merge_documents(
    corpus: Corpus, group: IntArray, identifiers: Sequence[DocumentId], lengths: IntArray
) -> Corpus:
    """The corpus with the documents of each group behind each other as one document.

    `group` is the number of each document's group, `identifiers` are what groups are called, and
    `lengths` how many tokens each document takes at least. Entities of the same name and layer in
    a group become one; the corpus must have names and positions.
    """
    order = stable_order(group)
    corpus = corpus.select_documents(order)
    group, lengths, gaps = group[order], lengths[order], corpus.gaps
    bounds = np.searchsorted(group, np.arange(len(identifiers) + 1))
    begin = starts_of(lengths)
    shifts = begin - begin[bounds[group]]
    shift = shifts[corpus.mention_document]
    heads, coded_names = corpus.mention_head, Categories.of(list(corpus.names or ()))
    width = max(len(coded_names.names), 1)
    layers = corpus.entity_layer
    called = coded_names.codes if layers is None else coded_names.codes + width * layers
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
        tokens=None if corpus.tokens is None else merge_tokens(corpus.tokens, lengths, bounds),
        names=LazyNames(partial(tuple, coded_names.names), distinct % width),
        metadata=_common(corpus.metadata, bounds),
        sentence_metadata=tuple(
            tuple(chain.from_iterable(corpus.sentence_metadata[a:b]))
            for a, b in pairwise(bounds.tolist())
            if corpus.sentence_metadata
        ),
        relations=corpus.relations.on_entities(entity),
        own_text=corpus.own_text
        and _merge_own_text(corpus.own_text, group, identifiers, lengths, shifts),
    )


def _merge_own_text(
    own_text: OwnText,
    group: IntArray,
    identifiers: Sequence[DocumentId],
    lengths: IntArray,
    shifts: IntArray,
) -> OwnText:
    """The documents of each group as one; `shifts` is where each begins on the common axis."""
    counts = own_text.tokens.counts
    room = np.maximum(lengths, counts)
    places = np.zeros((int(room.sum()), 3), dtype=np.int64)
    places[ragged_arange(starts_of(room), counts)] = (
        own_text.places + np.repeat(shifts, counts)[:, None]
    )
    return OwnText(merge_documents(own_text.corpus, group, identifiers, room), places)


def _shift_heads(heads: IntArray | LazyArray, shift: IntArray) -> IntArray:
    positions = np.asarray(heads)
    return np.where(positions >= 0, positions + shift, -1)


def _common(metadata: Sequence[object], bounds: IntArray) -> tuple[dict[str, str], ...]:
    """For each group the metadata that all of its documents have alike."""
    groups = [metadata[a:b] for a, b in pairwise(bounds.tolist()) if metadata]
    return tuple(
        dict(
            item
            for item in dict(group[0]).items()  # type: ignore[call-overload]
            if all(item in metadata_of_document.items() for metadata_of_document in group)  # type: ignore[attr-defined]
        )
        for group in groups
    )

"""New corpora out of old ones: other entities, fewer mentions, more mentions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import count, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import InputError, UsageError
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, IntArray, dense_ranks, ragged_arange
from corefeval.model.columns import taken
from corefeval.model.construction import assemble

Generator = np.random.Generator


def check_share(share: float) -> None:
    """A part of a whole."""
    if not 0 <= share <= 1:
        raise UsageError(f"share is a number from 0 to 1, not {share!r}")


def choose(number: int, share: float, generator: Generator) -> BoolArray:
    """A share of some things at random; with the same seed a larger share has all of a smaller.

    >>> choose(4, 0.5, np.random.default_rng(0)).sum()
    np.int64(2)
    """
    check_share(share)
    picked: BoolArray = generator.permutation(number) < round(share * number)
    return picked


def shuffled_ranks(group: IntArray, generator: Generator) -> IntArray:
    """The place of each thing in a random order of its group, from 0."""
    order = np.lexsort((generator.random(group.size), group))
    return ranks_in_runs(group, order)


def ranks_in_runs(group: IntArray, order: IntArray) -> IntArray:
    """The place of each thing among those of its group, in an order that keeps groups together.

    >>> ranks_in_runs(np.array([7, 3, 7]), np.array([1, 2, 0])).tolist()
    [1, 0, 0]
    """
    ordered = group[order]
    first = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))
    lengths = np.diff(np.append(first, ordered.size))
    ranks = np.empty(group.size, dtype=np.int64)
    ranks[order] = ragged_arange(np.zeros(first.size, dtype=np.int64), lengths)
    return ranks


def deal(wanted: IntArray, there: IntArray) -> IntArray:
    """For each one the place of a thing of its group, none taken twice; −1 when they run out.

    `wanted` are the groups of those that take, one after the other, `there` the groups of what
    there is to take. Both keep groups together, and the second ascends.

    >>> deal(np.array([3, 3, 7]), np.array([3, 7, 7])).tolist()
    [0, -1, 1]
    """
    rank = ranks_in_runs(wanted, np.arange(wanted.size))
    begin = np.searchsorted(there, wanted)
    enough = np.searchsorted(there, wanted, side="right") - begin > rank
    return np.where(enough, begin + rank, -1)


def regroup(corpus: Corpus, entity: IntArray, keep: BoolArray | None = None) -> Corpus:
    """The corpus with its mentions in other entities, and without those that are not kept.

    `entity` numbers may be any; mentions with the same one in the same document are an entity.
    """
    rows = np.arange(corpus.n_mentions) if keep is None else np.flatnonzero(keep)
    return _assemble(
        corpus,
        document=corpus.mention_document[rows],
        entity=entity[rows],
        start=None if corpus.mention_start is None else corpus.mention_start[rows],
        end=None if corpus.mention_end is None else corpus.mention_end[rows],
        labels=None if corpus.labels is None else [corpus.labels[row] for row in rows.tolist()],
        gaps=_gaps(corpus, rows),
        head=None if corpus.mention_head is None else np.asarray(corpus.mention_head)[rows],
        features=taken(corpus.features, rows),
    )


def join(
    corpus: Corpus, entity: IntArray, other: Corpus, rows: IntArray, other_entity: IntArray
) -> Corpus:
    """The corpus with other entities and with some mentions of another corpus besides.

    Both number their documents alike, and entities have the same numbers on both sides.
    """
    gaps = _gaps(other, rows)
    if gaps.size:
        gaps = gaps + np.array([corpus.n_mentions, 0, 0])
    heads = None
    if corpus.mention_head is not None and other.mention_head is not None:
        mine, theirs = np.asarray(corpus.mention_head), np.asarray(other.mention_head)
        heads = np.concatenate((mine, theirs[rows]))
    labels: list[Hashable] | None = None
    if corpus.labels is not None and other.labels is not None:
        labels = [*corpus.labels, *(other.labels[row] for row in rows.tolist())]
    return _assemble(
        corpus,
        document=np.concatenate((corpus.mention_document, other.mention_document[rows])),
        entity=np.concatenate((entity, other_entity)),
        start=_concatenate(corpus.mention_start, other.mention_start, rows),
        end=_concatenate(corpus.mention_end, other.mention_end, rows),
        labels=labels,
        gaps=np.concatenate((corpus.gaps, gaps)),
        head=heads,
        features=_join_features(corpus, other, rows),
    )


def regroup_rows(corpus: Corpus, rows: IntArray, entity: IntArray) -> Corpus:
    """Some mentions of a corpus, put into entities."""
    keep = np.zeros(corpus.n_mentions, dtype=np.bool_)
    keep[rows] = True
    numbers = np.zeros(corpus.n_mentions, dtype=np.int64)
    numbers[rows] = entity
    return regroup(corpus, numbers, keep)


def _assemble(
    corpus: Corpus,
    *,
    document: IntArray,
    entity: IntArray,
    start: IntArray | None,
    end: IntArray | None,
    labels: list[Hashable] | None,
    gaps: IntArray,
    head: IntArray | None,
    features: Mapping[str, NDArray[Any]],
) -> Corpus:
    if start is not None and end is not None:
        made = assemble(
            documents=corpus.documents,
            mention_document=document,
            entity=entity,
            start=start,
            end=end,
            head=head,
            features=features,
            tokens=corpus.tokens,
            name=corpus.name,
            gaps=gaps,
        )
    else:
        made = _assemble_labels(corpus, document, entity, labels or [], features)
    return made.with_details(metadata=corpus.metadata, sentence_metadata=corpus.sentence_metadata)


def _assemble_labels(
    corpus: Corpus,
    document: IntArray,
    entity: IntArray,
    labels: list[Hashable],
    features: Mapping[str, NDArray[Any]],
) -> Corpus:
    """Plain mentions stand entity by entity: they have no other order."""
    ranks, _ = dense_ranks(entity)
    width = int(ranks.max(initial=0)) + 1
    numbers, codes = dense_ranks(document * width + ranks)
    order = np.argsort(numbers, kind="stable")
    return Corpus(
        documents=corpus.documents,
        entity_document=codes // width,
        mention_entity=numbers[order],
        labels=[labels[row] for row in order.tolist()],
        features=taken(features, order),
        name=corpus.name,
    )


def _gaps(corpus: Corpus, rows: IntArray) -> IntArray:
    if not corpus.gaps.size:
        return corpus.gaps
    place = np.full(corpus.n_mentions, -1, dtype=np.int64)
    place[rows] = np.arange(rows.size)
    gaps = corpus.gaps[place[corpus.gaps[:, 0]] >= 0].copy()
    gaps[:, 0] = place[gaps[:, 0]]
    return gaps


def _concatenate(mine: IntArray | None, theirs: IntArray | None, rows: IntArray) -> IntArray | None:
    return None if mine is None or theirs is None else np.concatenate((mine, theirs[rows]))


def _join_features(corpus: Corpus, other: Corpus, rows: IntArray) -> dict[str, NDArray[Any]]:
    """All properties of mentions; a side that does not state one has nothing there."""

    def column(owner: Corpus, name: str, size: int) -> NDArray[Any]:
        if name in owner.features:
            return np.asarray(owner.features[name], dtype=object)
        return np.full(size, "", dtype=object)

    return {
        name: np.concatenate(
            (
                column(corpus, name, corpus.n_mentions),
                column(other, name, other.n_mentions)[rows],
            )
        )
        for name in dict.fromkeys((*corpus.features, *other.features))
    }


def fresh_mentions(key: Corpus, response: Corpus, document: IntArray, seed: int) -> Corpus:
    """One new mention for each given document (a document may be there more than once).

    They are in neither corpus: unused labels, or unused spans, as short as can be, of the
    document's tokens. Without tokens they stand behind the last mention. Mention i belongs to
    `document[i]`, in an order in which documents ascend; each is an entity of its own.
    """
    document = np.sort(document)
    if response.labels is not None:
        used = {str(label) for corpus in (key, response) for label in corpus.labels or ()}
        names = (name for number in count(1) if (name := f"extra {number}") not in used)
        return Corpus(
            documents=response.documents,
            entity_document=document,
            mention_entity=np.arange(document.size),
            labels=list(islice(names, document.size)),
        )
    start, end = _free_spans(key, response, document, np.random.default_rng(seed))
    return assemble(
        documents=response.documents,
        mention_document=document,
        entity=np.arange(document.size),
        start=start,
        end=end,
    )


def _free_spans(
    key: Corpus, response: Corpus, document: IntArray, generator: Generator
) -> tuple[IntArray, IntArray]:
    """Starts and ends that neither corpus has, in documents that ascend."""
    tokens = response.tokens or key.tokens
    places, starts, ends = (
        np.concatenate([getattr(corpus, name) for corpus in (key, response)])
        for name in ("mention_document", "mention_start", "mention_end")
    )
    if tokens is None:
        last = np.zeros(len(response.documents), dtype=np.int64)
        np.maximum.at(last, places, ends)
        start = last[document] + ranks_in_runs(document, np.arange(document.size))
        return start, start + 1
    start = np.full(document.size, -1, dtype=np.int64)
    end = start.copy()
    stride = int(max(tokens.counts.max(initial=0), ends.max(initial=0))) + 1
    for length in range(1, stride):
        open_rows = np.flatnonzero(start < 0)
        if not open_rows.size:
            break
        wanted = np.unique(document[open_rows])
        room = np.maximum(tokens.counts[wanted] - length + 1, 0)
        codes = np.repeat(wanted * stride, room) + ragged_arange(np.zeros_like(room), room)
        codes = np.setdiff1d(codes, (places * stride + starts)[ends - starts == length])
        free = codes[np.lexsort((generator.random(codes.size), codes // stride))]
        place = deal(document[open_rows], free // stride)
        rows = open_rows[place >= 0]
        start[rows] = free[place[place >= 0]] % stride
        end[rows] = start[rows] + length
    if (start < 0).any():
        full = int(document[np.argmin(start)])
        raise InputError(
            f"document {str(response.documents[full])!r} has no room for more mentions",
            found=f"{int(tokens.counts[full])} tokens",
            fix="add fewer extra mentions, or leave out documents that are so short",
        )
    return start, end

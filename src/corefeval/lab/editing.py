"""New corpora out of old ones: other entities, fewer mentions, more mentions."""

from __future__ import annotations

from dataclasses import replace
from itertools import count, islice

import numpy as np

from corefeval.diagnostics import InputError, UsageError
from corefeval.model import NO_RELATIONS, Corpus
from corefeval.model.arrays import BoolArray, IntArray, ragged_arange
from corefeval.model.construction import assemble, number_entities
from corefeval.model.joining import stack_mentions

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
    if keep is not None:
        corpus, entity = corpus.keep_mentions(keep), entity[keep]
    bare = replace(corpus, names=None, relations=NO_RELATIONS, notices=())
    return number_entities(bare, corpus.mention_document, entity)


def join(
    corpus: Corpus, entity: IntArray, other: Corpus, rows: IntArray, other_entity: IntArray
) -> Corpus:
    """The corpus with other entities and with some mentions of another corpus besides.

    Both number their documents alike, and entities have the same numbers on both sides.
    """
    both = stack_mentions(corpus, other.take_mentions(rows))
    return number_entities(both, both.mention_document, np.concatenate((entity, other_entity)))


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

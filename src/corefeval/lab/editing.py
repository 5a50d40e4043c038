"""What perturbations are made of: how a response stands to its key, and corpora that are edited.

A link is a pair of coreferent mentions of the response; it is correct where the key has it too.
Key and response are compared by `corefeval.preparation.prepare`.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count, islice

import numpy as np

from corefeval.diagnostics import InputError, UsageError
from corefeval.model import NO_RELATIONS, Corpus
from corefeval.model.arrays import (
    ArrayPair,
    BoolArray,
    IntArray,
    all_zero,
    integers,
    looked_up,
    mark_rows,
    ragged_arange,
    ranks_in_runs,
    set_rows,
    stable_order,
    unset,
)
from corefeval.model.construction import assemble, number_entities
from corefeval.model.joining import stack_mentions
from corefeval.preparation import Prepared, prepare

Generator = np.random.Generator


def drop_repeats(corpus: Corpus) -> Corpus:
    """The corpus with each mention once: of repeated ones the first stays."""
    return prepare(corpus, corpus).key


def find_twins(prepared: Prepared) -> IntArray:
    """The key's row for each response mention; −1 for one that the key lacks."""
    return prepared.matches.partners_of_response(prepared.response.n_mentions)


def find_missing(prepared: Prepared) -> IntArray:
    """The rows of the key's mentions that the response lacks."""
    number = prepared.key.n_mentions
    matched, _ = prepared.matches.rows(number)
    return np.setdiff1d(np.arange(number), matched, assume_unique=True)


def find_key_entities(prepared: Prepared) -> IntArray:
    """The key entity of each response mention; −1 for one that the key lacks."""
    return looked_up(prepared.key.mention_entity, find_twins(prepared))


def count_partners(prepared: Prepared) -> IntArray:
    """How many correct links each response mention has."""
    key_entity = find_key_entities(prepared)
    rows = np.flatnonzero(key_entity >= 0)
    codes = prepared.response.mention_entity[rows] * max(prepared.key.n_entities, 1)
    _, cell, size = np.unique(codes + key_entity[rows], return_inverse=True, return_counts=True)
    partners = all_zero(key_entity.size)
    partners[rows] = size[cell.reshape(-1)] - 1
    return partners


def is_incorrectly_resolved(prepared: Prepared) -> BoolArray:
    """Which mentions of both sides have links in the response, none of them correct."""
    response = prepared.response
    linked = response.entity_sizes[response.mention_entity] > 1
    wrong: BoolArray = (find_twins(prepared) >= 0) & linked & (count_partners(prepared) == 0)
    return wrong


def is_pure(prepared: Prepared) -> BoolArray:
    """Which response entities have mentions of one key entity alone."""
    entity, key_entity = prepared.response.mention_entity, find_key_entities(prepared)
    highest = np.full(prepared.response.n_entities, -2, dtype=np.int64)
    lowest = np.full(prepared.response.n_entities, prepared.key.n_entities, dtype=np.int64)
    np.maximum.at(highest, entity, key_entity)
    np.minimum.at(lowest, entity, key_entity)
    pure: BoolArray = (highest == lowest) & (lowest >= 0)
    return pure


def is_disjoint(prepared: Prepared, couple: IntArray) -> BoolArray:
    """Which couples of response entities have no key entity in common."""
    key = find_key_entities(prepared)
    rows = np.flatnonzero(key >= 0)
    response, key = prepared.response.mention_entity[rows], key[rows]
    cells = np.unique(np.stack((couple[response], key, response), axis=1), axis=0)
    shared = (cells[1:, :2] == cells[:-1, :2]).all(axis=1)
    return ~mark_rows(cells[1:, 0][shared], int(couple.max(initial=0)) + 1)


def count_links(prepared: Prepared) -> ArrayPair:
    """The number of correct links and of wrong links of each document."""
    response = prepared.response
    # Every link has two ends, so that the partners of all mentions count each one twice.
    correct = _sum_by(response, response.mention_document, count_partners(prepared)) // 2
    sizes = response.entity_sizes
    links = _sum_by(response, response.entity_document, sizes * (sizes - 1) // 2)
    return correct, links - correct


def _sum_by(corpus: Corpus, document: IntArray, values: IntArray) -> IntArray:
    sums = np.bincount(document, weights=values, minlength=len(corpus.documents))
    return integers(sums)


def count_totals(key: Corpus, response: Corpus) -> dict[str, int]:
    """What a response has in all: mentions, correct links and wrong links."""
    prepared = prepare(key, response)
    correct, wrong = (int(links.sum()) for links in count_links(prepared))
    mentions = prepared.response.n_mentions
    return {"mentions": mentions, "correct_links": correct, "wrong_links": wrong}


def check_share(share: float) -> None:
    """A UsageError unless the share is between 0 and 1."""
    if not 0 <= share <= 1:
        raise UsageError(f"share is a number from 0 to 1, not {share!r}")


def choose(number: int, share: float, generator: Generator) -> BoolArray:
    """Which of `number` things to take, a share of them at random.

    For one seed, a larger share has all of a smaller.

    >>> choose(4, 0.5, np.random.default_rng(0)).sum()
    np.int64(2)
    """
    check_share(share)
    picked: BoolArray = generator.permutation(number) < round(share * number)
    return picked


def shuffled_ranks(group: IntArray, generator: Generator) -> IntArray:
    """The place of each member in a random order of its group, from 0."""
    order = np.lexsort((generator.random(group.size), group))
    return ranks_in_runs(group, order)


def deal(takers: IntArray, offers: IntArray) -> IntArray:
    """For each taker the place of an offer of its group, none dealt twice; −1 when they run out.

    `takers` and `offers` are group numbers. Both keep groups together, and offers ascend.

    >>> deal(np.array([3, 3, 7]), np.array([3, 7, 7])).tolist()
    [0, -1, 1]
    """
    rank = ranks_in_runs(takers, np.arange(takers.size))
    begin = np.searchsorted(offers, takers)
    enough = np.searchsorted(offers, takers, side="right") - begin > rank
    return np.where(enough, begin + rank, -1)


def wrong_pairs(document: IntArray, entity: IntArray, generator: Generator) -> IntArray:
    """Put mentions into pairs that are not coreferent, as many as there can be in each document.

    Gives a number to each mention, equal for the two of a pair, −1 for those left over. All left
    over of a document are of one entity: with the largest entity in front and the others behind
    it, mention i and mention i + h are of different entities for h the larger of half of all and
    the size of the largest entity.

    >>> pairs = wrong_pairs(np.zeros(5, int), np.array([0, 0, 0, 1, 2]), np.random.default_rng(0))
    >>> sorted(pairs.tolist())
    [-1, 0, 0, 1, 1]
    """
    _, number, size = np.unique(entity, return_inverse=True, return_counts=True)
    number = number.reshape(-1)
    largest = all_zero(int(document.max(initial=0)) + 1)
    np.maximum.at(largest, document, size[number])
    total = np.bincount(document, minlength=largest.size)
    order = np.lexsort((generator.random(entity.size), number, -size[number], document))
    place = ranks_in_runs(document, order)
    step = np.maximum(total // 2, largest)[document]
    pairs = np.minimum(total // 2, total - largest)[document]
    which = np.where(place < pairs, place, place - step)
    paired = (which >= 0) & (which < pairs) & ((place < pairs) | (place >= step))
    codes = document * (entity.size + 1) + which
    return set_rows(
        paired, np.unique(codes[paired], return_inverse=True)[1].reshape(-1), entity.size
    )


def resolve_share(key: Corpus, share: float, growth: str, generator: Generator) -> BoolArray:
    """Which mentions are with others of their entity, so that a share of all links is there."""
    entity, sizes = key.mention_entity, key.entity_sizes
    rank = shuffled_ranks(entity, generator)
    offset = generator.random(sizes.size)[entity]
    steps = np.flatnonzero(rank > 0)
    if growth == "together":
        # The mention of rank r brings r links. It comes when its entity would have as large a part
        # of its links as all have on average; entities of two would all come late, so each comes
        # at a random time within the step that it takes.
        links = np.maximum(sizes * (sizes - 1) / 2, 1)[entity]
        when = (rank * (rank - 1) / 2 + offset * rank) / links
        steps = steps[stable_order(when[steps])]
    else:
        size = sizes[entity] * (-1 if growth == "largest" else 1)
        steps = steps[np.lexsort((rank[steps], entity[steps], offset[steps], size[steps]))]
    done = np.cumsum(rank[steps])
    used = steps[done - rank[steps] / 2 <= share * rank[steps].sum()]
    resolved = mark_rows(used, rank.size)
    started = mark_rows(entity[used], sizes.size)
    resolved |= (rank == 0) & started[entity]
    return resolved


def link_wrongly(key: Corpus, entity: IntArray, generator: Generator) -> IntArray:
    """Give the mentions without an entity (−1) one in which no mention is coreferent with them."""
    entity = entity.copy()
    open_rows = np.flatnonzero(entity < 0)
    pairs = wrong_pairs(key.mention_document[open_rows], key.mention_entity[open_rows], generator)
    entity[open_rows] = np.where(pairs >= 0, key.n_entities + pairs, -1)
    leftover = open_rows[pairs < 0]
    # All that is left over in a document is of one key entity: the entities that may take one
    # mention of it each are those without any of it.
    left = set_rows(
        key.mention_document[leftover], key.mention_entity[leftover], len(key.documents)
    )
    placed = np.flatnonzero(entity >= 0)
    number = int(entity.max(initial=-1)) + 1
    document = set_rows(entity[placed], key.mention_document[placed], number)
    closed = mark_rows(
        entity[placed][key.mention_entity[placed] == left[key.mention_document[placed]]], number
    )
    free = np.flatnonzero((document >= 0) & ~closed)
    free = free[np.lexsort((generator.random(free.size), document[free]))]
    place = deal(key.mention_document[leftover], document[free])
    entity[leftover] = number + np.arange(leftover.size)
    entity[leftover[place >= 0]] = free[place[place >= 0]]
    return entity


def choose_targets(corpus: Corpus, size: int | None, where: str, generator: Generator) -> ArrayPair:
    """The documents and numbers of the entities that grow; new numbers for new entities."""
    if size == 0:
        document = np.arange(1 if where == "one" else len(corpus.documents))
        return document, corpus.n_entities + document
    sizes = corpus.entity_sizes
    fits = np.flatnonzero(sizes > 0 if size is None else sizes == size)
    if not fits.size:
        known_sizes = ", ".join(map(str, np.unique(sizes[sizes > 0]).tolist())) or "none"
        raise UsageError(f"no entity has {size or 'any'} mentions: there are sizes {known_sizes}")
    if where == "all":
        return corpus.entity_document[fits], fits
    fits = generator.permutation(fits)
    if where == "one":
        return corpus.entity_document[fits[:1]], fits[:1]
    document, first = np.unique(corpus.entity_document[fits], return_index=True)
    return document, fits[first]


def regroup(corpus: Corpus, entity: IntArray, keep: BoolArray | None = None) -> Corpus:
    """The corpus with its mentions in other entities, and without those that are not kept.

    `entity` numbers may be any; mentions with the same one in the same document are an entity.
    """
    if keep is not None:
        corpus, entity = corpus.keep_mentions(keep), entity[keep]
    bare = replace(corpus, names=None, relations=NO_RELATIONS, notices=())
    return number_entities(bare, corpus.mention_document, entity)


def join(
    corpus: Corpus, entity: IntArray, source: Corpus, rows: IntArray, source_entity: IntArray
) -> Corpus:
    """The corpus with other entities, and with some mentions (`rows`) of a source besides.

    Corpus and source number their documents alike, and equal entity numbers are one entity.
    """
    stacked = stack_mentions(corpus, source.take_mentions(rows))
    entities = np.concatenate((entity, source_entity))
    return number_entities(stacked, stacked.mention_document, entities)


def fresh_mentions(key: Corpus, response: Corpus, document: IntArray, seed: int) -> Corpus:
    """New mentions: one for each document of `document`, which may have a document several times.

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
) -> ArrayPair:
    """Starts and ends that neither corpus has, in documents that ascend."""
    tokens = response.tokens or key.tokens
    places, starts, ends = (
        np.concatenate([getattr(corpus, name) for corpus in (key, response)])
        for name in ("mention_document", "mention_start", "mention_end")
    )
    if tokens is None:
        last = all_zero(len(response.documents))
        np.maximum.at(last, places, ends)
        start = last[document] + ranks_in_runs(document, np.arange(document.size))
        return start, start + 1
    start = unset(document.size)
    end = start.copy()
    stride = int(max(tokens.counts.max(initial=0), ends.max(initial=0))) + 1
    for length in range(1, stride):
        open_rows = np.flatnonzero(start < 0)
        if not open_rows.size:
            break
        crowded = np.unique(document[open_rows])
        room = np.maximum(tokens.counts[crowded] - length + 1, 0)
        codes = np.repeat(crowded * stride, room) + ragged_arange(np.zeros_like(room), room)
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

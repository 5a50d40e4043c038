"""Perturbations that bring mentions in: missing ones, extra ones, or all from the key."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from corefeval.checks import check_choice
from corefeval.diagnostics import UsageError
from corefeval.lab.declarations import find_missing, perturbation
from corefeval.lab.editing import (
    Generator,
    check_share,
    choose,
    deal,
    fresh_mentions,
    join,
    ranks_in_runs,
    regroup,
    shuffled_ranks,
)
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, IntArray
from corefeval.preparation import Prepared, prepare

Where = Literal["one", "document", "all"]


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
    largest = np.zeros(int(document.max(initial=0)) + 1, dtype=np.int64)
    np.maximum.at(largest, document, size[number])
    total = np.bincount(document, minlength=largest.size)
    order = np.lexsort((generator.random(entity.size), number, -size[number], document))
    place = ranks_in_runs(document, order)
    step = np.maximum(total // 2, largest)[document]
    pairs = np.minimum(total // 2, total - largest)[document]
    which = np.where(place < pairs, place, place - step)
    paired = (which >= 0) & (which < pairs) & ((place < pairs) | (place >= step))
    codes = document * (entity.size + 1) + which
    result = np.full(entity.size, -1, dtype=np.int64)
    result[paired] = np.unique(codes[paired], return_inverse=True)[1].reshape(-1)
    return result


@perturbation(
    correct_links="keeps",
    wrong_links="adds",
    mentions="adds",
    reference="Moosavi and Strube 2016, Section 2 (less precise a)",
)
def link_missing_pairwise(
    key: Corpus, response: Corpus, *, share: float = 1.0, seed: int = 0
) -> Corpus:
    """Add key mentions that the response lacks, as wrong entities of two.

    As many pairs as there can be in each document. What is left over (all of one key entity)
    stays out. `share` takes only some of the missing mentions.
    """
    prepared = prepare(key, response)
    generator = np.random.default_rng(seed)
    missing = find_missing(prepared)
    rows = missing[choose(missing.size, share, generator)]
    document, entity = prepared.key.mention_document, prepared.key.mention_entity
    pairs = wrong_pairs(document[rows], entity[rows], generator)
    return _with_missing(prepared, rows, pairs)


@perturbation(
    correct_links="keeps",
    wrong_links="adds",
    mentions="adds",
    reference="Moosavi and Strube 2016, Section 2 (less precise b)",
)
def link_missing_together(
    key: Corpus, response: Corpus, *, share: float = 1.0, seed: int = 0
) -> Corpus:
    """Add key mentions that the response lacks, as few large entities, all wrong.

    The first entity of a document has one missing mention of each key entity, the second another
    one of each that has more, and so on; a mention that would be alone stays out. So the entities
    are as large as they can be without a correct link.
    """
    prepared = prepare(key, response)
    generator = np.random.default_rng(seed)
    missing = find_missing(prepared)
    rows = missing[choose(missing.size, share, generator)]
    round_of = shuffled_ranks(prepared.key.mention_entity[rows], generator)
    codes = prepared.key.mention_document[rows] * (rows.size + 1) + round_of
    _, number, size = np.unique(codes, return_inverse=True, return_counts=True)
    number = number.reshape(-1)
    return _with_missing(prepared, rows, np.where(size[number] > 1, number, -1))


def _with_missing(prepared: Prepared, rows: IntArray, number: IntArray) -> Corpus:
    """The response with mentions of the key in new entities, by number; −1 stays out."""
    used = number >= 0
    entity = prepared.response.n_entities + number[used]
    response = prepared.response
    return join(response, response.mention_entity, prepared.key, rows[used], entity)


@perturbation(
    correct_links="keeps",
    wrong_links="adds",
    mentions="adds",
    reference="Moosavi and Strube 2016, Section 7.4",
)
def add_extra_mentions(
    key: Corpus,
    response: Corpus,
    *,
    number: int = 1,
    size: int | None = None,
    where: Where = "one",
    seed: int = 0,
) -> Corpus:
    """Add mentions that are in no key entity to an entity of some size, or to each other.

    `number` mentions go into an entity of `size` mentions (None: of any size); size 0 links them
    to each other. `where`: "one" entity of the whole corpus, one of each "document", or "all" such
    entities (for size 0 a new entity in each document).
    """
    if number < 1:
        raise UsageError(f"number is 1 or more, not {number!r}")
    check_choice("where", where, get_args(Where))
    prepared = prepare(key, response)
    changed = prepared.response
    generator = np.random.default_rng(seed)
    document, target = _targets(changed, size, where, generator)
    order = np.argsort(document, kind="stable")
    documents = np.repeat(document[order], number)
    extra = fresh_mentions(prepared.key, changed, documents, seed)
    rows = np.arange(extra.n_mentions)
    return join(changed, changed.mention_entity, extra, rows, np.repeat(target[order], number))


def _targets(
    corpus: Corpus, size: int | None, where: Where, generator: Generator
) -> tuple[IntArray, IntArray]:
    """The entities that grow, and their documents; new numbers for new entities."""
    if size == 0:
        document = np.arange(1 if where == "one" else len(corpus.documents))
        return document, corpus.n_entities + document
    sizes = corpus.entity_sizes
    fits = np.flatnonzero(sizes > 0 if size is None else sizes == size)
    if not fits.size:
        there = ", ".join(map(str, np.unique(sizes[sizes > 0]).tolist())) or "none"
        raise UsageError(f"no entity has {size or 'any'} mentions: there are sizes {there}")
    if where == "all":
        return corpus.entity_document[fits], fits
    fits = generator.permutation(fits)
    if where == "one":
        return corpus.entity_document[fits[:1]], fits[:1]
    document, first = np.unique(corpus.entity_document[fits], return_index=True)
    return document, fits[first]


Growth = Literal["together", "largest", "smallest"]


@perturbation(
    correct_links="either",
    wrong_links="either",
    mentions="either",
    reference="Moosavi and Strube 2016, Section 7.1",
)
def resolve_links(
    key: Corpus,
    response: Corpus,
    *,
    share: float = 1.0,
    wrong: bool = False,
    growth: Growth = "together",
    seed: int = 0,
) -> Corpus:
    """Resolve a share of the key's links, with no wrong ones, or with every other mention wrong.

    The response itself does not count, only the key. With `growth="together"` each entity of n
    mentions has about `share` of its n(n − 1)/2 links; with "largest" or "smallest" one entity is
    resolved after the other, by size. With the same seed a larger share has all links of a smaller.
    Without `wrong` only mentions with a correct link are in the response; with it all key mentions
    are, each of the others linked to mentions of other entities alone (alone with itself where its
    document has no other entity to join). Singletons of the key have no links, so they are always
    among the others.
    """
    check_choice("growth", growth, get_args(Growth))
    check_share(share)
    key = prepare(key, response).key
    generator = np.random.default_rng(seed)
    entity = np.where(_resolve(key, share, growth, generator), key.mention_entity, -1)
    if wrong:
        entity = _link_wrongly(key, entity, generator)
    return regroup(key, entity, entity >= 0).with_details(name=response.name)


def _resolve(key: Corpus, share: float, growth: Growth, generator: Generator) -> BoolArray:
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
        steps = steps[np.argsort(when[steps], kind="stable")]
    else:
        size = sizes[entity] * (-1 if growth == "largest" else 1)
        steps = steps[np.lexsort((rank[steps], entity[steps], offset[steps], size[steps]))]
    done = np.cumsum(rank[steps])
    used = steps[done - rank[steps] / 2 <= share * rank[steps].sum()]
    resolved = np.zeros(rank.size, dtype=np.bool_)
    resolved[used] = True
    started = np.zeros(sizes.size, dtype=np.bool_)
    started[entity[used]] = True
    resolved |= (rank == 0) & started[entity]
    return resolved


def _link_wrongly(key: Corpus, entity: IntArray, generator: Generator) -> IntArray:
    """Give the mentions without an entity (−1) one in which no mention is coreferent with them."""
    entity = entity.copy()
    open_rows = np.flatnonzero(entity < 0)
    pairs = wrong_pairs(key.mention_document[open_rows], key.mention_entity[open_rows], generator)
    entity[open_rows] = np.where(pairs >= 0, key.n_entities + pairs, -1)
    rest = open_rows[pairs < 0]
    # All that is left over in a document is of one key entity: the entities that may take one
    # mention of it each are those without any of it.
    left = np.full(len(key.documents), -1, dtype=np.int64)
    left[key.mention_document[rest]] = key.mention_entity[rest]
    placed = np.flatnonzero(entity >= 0)
    number = int(entity.max(initial=-1)) + 1
    document = np.full(number, -1, dtype=np.int64)
    document[entity[placed]] = key.mention_document[placed]
    closed = np.zeros(number, dtype=np.bool_)
    closed[entity[placed][key.mention_entity[placed] == left[key.mention_document[placed]]]] = True
    free = np.flatnonzero((document >= 0) & ~closed)
    free = free[np.lexsort((generator.random(free.size), document[free]))]
    place = deal(key.mention_document[rest], document[free])
    entity[rest] = number + np.arange(rest.size)
    entity[rest[place >= 0]] = free[place[place >= 0]]
    return entity

"""Perturbations that bring mentions in: missing ones, linked wrongly, and extra ones."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from corefeval.checks import check_choice
from corefeval.diagnostics import UsageError
from corefeval.lab.declarations import perturbation
from corefeval.lab.editing import (
    Generator,
    chosen,
    fresh_mentions,
    joined,
    ranks_in_runs,
    shuffled_ranks,
)
from corefeval.lab.sides import Sides, pair_sides
from corefeval.model import Corpus
from corefeval.model.arrays import IntArray

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
    sides = pair_sides(key, response)
    generator = np.random.default_rng(seed)
    rows = sides.missing[chosen(sides.missing.size, share, generator)]
    pairs = wrong_pairs(sides.key.mention_document[rows], sides.key.mention_entity[rows], generator)
    return _with_missing(sides, rows, pairs)


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
    sides = pair_sides(key, response)
    generator = np.random.default_rng(seed)
    rows = sides.missing[chosen(sides.missing.size, share, generator)]
    round_of = shuffled_ranks(sides.key.mention_entity[rows], generator)
    codes = sides.key.mention_document[rows] * (rows.size + 1) + round_of
    _, number, size = np.unique(codes, return_inverse=True, return_counts=True)
    number = number.reshape(-1)
    return _with_missing(sides, rows, np.where(size[number] > 1, number, -1))


def _with_missing(sides: Sides, rows: IntArray, number: IntArray) -> Corpus:
    """The response with mentions of the key in new entities, by number; −1 stays out."""
    used = number >= 0
    entity = sides.response.n_entities + number[used]
    return joined(sides.response, sides.response.mention_entity, sides.key, rows[used], entity)


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
    sides = pair_sides(key, response)
    changed = sides.response
    generator = np.random.default_rng(seed)
    document, target = _targets(changed, size, where, generator)
    order = np.argsort(document, kind="stable")
    documents = np.repeat(document[order], number)
    extra = fresh_mentions(sides.key, changed, documents, seed)
    rows = np.arange(extra.n_mentions)
    return joined(changed, changed.mention_entity, extra, rows, np.repeat(target[order], number))


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

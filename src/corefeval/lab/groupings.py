"""Perturbations that put the same mentions into other entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import numpy as np

from corefeval.checks import check_choice
from corefeval.diagnostics import UsageError
from corefeval.features import Features
from corefeval.lab.declarations import perturbation
from corefeval.lab.editing import chosen, regrouped, shuffled_ranks
from corefeval.lab.sides import Sides, pair_sides
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, IntArray

Split = Literal["any", "pure"]
Merged = Literal["any", "disjoint"]


@perturbation(correct_links="removes", wrong_links="removes", mentions="keeps")
def all_singletons(key: Corpus, response: Corpus) -> Corpus:
    """Make each mention of the response an entity of its own."""
    sides = pair_sides(key, response)
    return regrouped(sides.response, np.arange(sides.response.n_mentions))


@perturbation(correct_links="adds", wrong_links="adds", mentions="keeps")
def one_entity(key: Corpus, response: Corpus) -> Corpus:
    """Make all mentions of each document one entity."""
    sides = pair_sides(key, response)
    return regrouped(sides.response, np.zeros(sides.response.n_mentions, dtype=np.int64))


@perturbation(
    correct_links="removes",
    wrong_links="removes",
    mentions="keeps",
    reference="Moosavi and Strube 2016, Section 7.3",
)
def split_entities(
    key: Corpus,
    response: Corpus,
    *,
    parts: int = 2,
    share: float = 1.0,
    which: Split = "any",
    seed: int = 0,
) -> Corpus:
    """Split a share of the entities at random, so that no part is a single mention.

    Entities with fewer than two mentions for each part stay whole. `which="pure"` splits only
    those whose mentions are all of one key entity: then no wrong link goes.
    """
    if parts < 2:
        raise UsageError(f"parts is 2 or more, not {parts!r}")
    check_choice("which", which, get_args(Split))
    sides = pair_sides(key, response)
    entity = sides.response.mention_entity
    generator = np.random.default_rng(seed)
    fits = sides.response.entity_sizes >= 2 * parts
    if which == "pure":
        fits &= _is_pure(sides)
    rows = np.flatnonzero(fits)
    split = np.zeros(sides.response.n_entities, dtype=np.bool_)
    split[rows[chosen(rows.size, share, generator)]] = True
    rank = shuffled_ranks(entity, generator)
    part = np.where(rank < 2 * parts, rank // 2, generator.integers(parts, size=rank.size))
    return regrouped(sides.response, entity * parts + np.where(split[entity], part, 0))


@perturbation(
    correct_links="removes",
    wrong_links="removes",
    mentions="keeps",
    reference="Moosavi and Strube 2016, Figure 6",
)
def split_entity(
    key: Corpus, response: Corpus, *, sizes: Sequence[int] = (1, 1), seed: int = 0
) -> Corpus:
    """Split one entity into parts of given sizes: 18 and 2, say, an entity of 20 mentions.

    Which of the entities of that size, and which mentions go where, is up to the seed.
    """
    sides = pair_sides(key, response)
    entity = sides.response.mention_entity
    generator = np.random.default_rng(seed)
    fits = np.flatnonzero(sides.response.entity_sizes == sum(sizes))
    if not fits.size or min(sizes) < 1:
        raise UsageError(f"no entity has {sum(sizes)} mentions that can be split {tuple(sizes)}")
    members = np.flatnonzero(entity == generator.choice(fits))
    numbers = entity.copy()
    part = np.repeat(np.arange(len(sizes)), sizes)
    moved = generator.permutation(members)[part > 0]
    numbers[moved] = sides.response.n_entities + part[part > 0]
    return regrouped(sides.response, numbers)


@perturbation(correct_links="adds", wrong_links="adds", mentions="keeps")
def merge_entities(
    key: Corpus,
    response: Corpus,
    *,
    share: float = 1.0,
    which: Merged = "any",
    seed: int = 0,
) -> Corpus:
    """Merge a share of the entities of each document, two and two at random.

    `which="disjoint"` merges only two that have no key entity in common: then no correct link
    comes.
    """
    check_choice("which", which, get_args(Merged))
    sides = pair_sides(key, response)
    entity, document = sides.response.mention_entity, sides.response.entity_document
    generator = np.random.default_rng(seed)
    there = np.flatnonzero(sides.response.entity_sizes > 0)
    couple = np.full(document.size, -1, dtype=np.int64)
    rank = shuffled_ranks(document[there], generator)
    couple[there] = document[there] * (there.size + 1) + rank // 2
    _, couple = np.unique(couple, return_inverse=True)
    couple = couple.reshape(-1)
    merge = chosen(int(couple.max(initial=0)) + 1, share, generator)
    if which == "disjoint":
        merge &= _is_disjoint(sides, couple)
    numbers = np.where(merge[couple], couple, couple.size + np.arange(couple.size))
    return regrouped(sides.response, numbers[entity])


@perturbation(correct_links="either", wrong_links="either", mentions="keeps")
def reattach_pronouns(
    key: Corpus,
    response: Corpus,
    *,
    share: float = 1.0,
    seed: int = 0,
    features: Mapping[str, object] | None = None,
    tagset: object = None,
) -> Corpus:
    """Link pronouns to the nearest mention before them that is not coreferent in the key.

    A pronoun leaves its entity and joins that of its wrong antecedent, which may itself have
    moved; a pronoun with no such mention before it stays. Two pronouns that move to the same
    place may come together rightly, so links of both sorts come and go. Kinds of mentions come
    from tags, or are given as in `corefeval.score`.
    """
    sides = pair_sides(key, response)
    corpus = sides.response
    known = Features(corpus, texts=(sides.key, corpus), given=features, tagset=tagset)
    pronouns = np.flatnonzero(known("kind").where("pronoun".__eq__) & (sides.twin >= 0))
    pronouns = pronouns[chosen(pronouns.size, share, np.random.default_rng(seed))]
    target = np.arange(corpus.n_mentions)
    target[pronouns] = _nearest_wrong(sides, pronouns)
    target[target < 0] = np.flatnonzero(target < 0)
    # An antecedent may be a pronoun that moves too. Targets only go back, so following them ends.
    while (target[target] != target).any():
        target = target[target]
    return regrouped(corpus, corpus.mention_entity[target])


def _nearest_wrong(sides: Sides, rows: IntArray) -> IntArray:
    """The nearest mention before each one that is not of its key entity; −1 where none is."""
    document, entity = sides.response.mention_document, sides.key_entity
    found = rows - 1  # mentions stand in textual order
    while True:
        inside = (found >= 0) & (document[found] == document[rows])
        same = inside & (entity[found] == entity[rows])
        if not same.any():
            return np.where(inside, found, -1)
        found = np.where(same, found - 1, found)


def _is_pure(sides: Sides) -> BoolArray:
    """Which response entities have mentions of one key entity alone."""
    highest = np.full(sides.response.n_entities, -2, dtype=np.int64)
    lowest = np.full(sides.response.n_entities, sides.key.n_entities, dtype=np.int64)
    np.maximum.at(highest, sides.response.mention_entity, sides.key_entity)
    np.minimum.at(lowest, sides.response.mention_entity, sides.key_entity)
    pure: BoolArray = (highest == lowest) & (lowest >= 0)
    return pure


def _is_disjoint(sides: Sides, couple: IntArray) -> BoolArray:
    """Which couples of response entities have no key entity in common."""
    rows = np.flatnonzero(sides.twin >= 0)
    response, key = sides.response.mention_entity[rows], sides.key_entity[rows]
    cells = np.unique(np.stack((couple[response], key, response), axis=1), axis=0)
    same = (cells[1:, :2] == cells[:-1, :2]).all(axis=1)
    disjoint = np.ones(int(couple.max(initial=0)) + 1, dtype=np.bool_)
    disjoint[cells[1:, 0][same]] = False
    return disjoint

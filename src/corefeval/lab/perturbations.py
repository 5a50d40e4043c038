"""All perturbations; here those that regroup mentions or remove them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import numpy as np

from corefeval.checks import check_choice
from corefeval.diagnostics import UsageError
from corefeval.features import Features
from corefeval.lab.additions import (
    add_extra_mentions,
    link_missing_pairwise,
    link_missing_together,
    resolve_links,
)
from corefeval.lab.declarations import (
    PERTURBATIONS,
    Effect,
    Perturbation,
    compose,
    find_key_entities,
    find_twins,
    is_incorrectly_resolved,
    perturbation,
)
from corefeval.lab.editing import choose, regroup, shuffled_ranks
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, IntArray
from corefeval.preparation import Prepared, prepare

__all__ = [
    "PERTURBATIONS",
    "Effect",
    "Perturbation",
    "add_extra_mentions",
    "all_singletons",
    "compose",
    "drop_entities",
    "drop_mentions",
    "drop_twinless",
    "keep_entities",
    "link_missing_pairwise",
    "link_missing_together",
    "merge_entities",
    "one_entity",
    "reattach_pronouns",
    "remove_incorrectly_resolved",
    "resolve_links",
    "split_entities",
    "split_entity",
]

Split = Literal["any", "pure"]
Merged = Literal["any", "disjoint"]


@perturbation(correct_links="removes", wrong_links="removes", mentions="keeps")
def all_singletons(key: Corpus, response: Corpus) -> Corpus:
    """Make each mention of the response an entity of its own."""
    corpus = prepare(key, response).response
    return regroup(corpus, np.arange(corpus.n_mentions))


@perturbation(correct_links="adds", wrong_links="adds", mentions="keeps")
def one_entity(key: Corpus, response: Corpus) -> Corpus:
    """Make all mentions of each document one entity."""
    corpus = prepare(key, response).response
    return regroup(corpus, np.zeros(corpus.n_mentions, dtype=np.int64))


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
    prepared = prepare(key, response)
    entity = prepared.response.mention_entity
    generator = np.random.default_rng(seed)
    fits = prepared.response.entity_sizes >= 2 * parts
    if which == "pure":
        fits &= _is_pure(prepared)
    rows = np.flatnonzero(fits)
    split = np.zeros(prepared.response.n_entities, dtype=np.bool_)
    split[rows[choose(rows.size, share, generator)]] = True
    rank = shuffled_ranks(entity, generator)
    part = np.where(rank < 2 * parts, rank // 2, generator.integers(parts, size=rank.size))
    return regroup(prepared.response, entity * parts + np.where(split[entity], part, 0))


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
    prepared = prepare(key, response)
    entity = prepared.response.mention_entity
    generator = np.random.default_rng(seed)
    fits = np.flatnonzero(prepared.response.entity_sizes == sum(sizes))
    if not fits.size or min(sizes) < 1:
        raise UsageError(f"no entity has {sum(sizes)} mentions that can be split {tuple(sizes)}")
    members = np.flatnonzero(entity == generator.choice(fits))
    numbers = entity.copy()
    part = np.repeat(np.arange(len(sizes)), sizes)
    moved = generator.permutation(members)[part > 0]
    numbers[moved] = prepared.response.n_entities + part[part > 0]
    return regroup(prepared.response, numbers)


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
    prepared = prepare(key, response)
    entity, document = prepared.response.mention_entity, prepared.response.entity_document
    generator = np.random.default_rng(seed)
    there = np.flatnonzero(prepared.response.entity_sizes > 0)
    couple = np.full(document.size, -1, dtype=np.int64)
    rank = shuffled_ranks(document[there], generator)
    couple[there] = document[there] * (there.size + 1) + rank // 2
    _, couple = np.unique(couple, return_inverse=True)
    couple = couple.reshape(-1)
    merge = choose(int(couple.max(initial=0)) + 1, share, generator)
    if which == "disjoint":
        merge &= _is_disjoint(prepared, couple)
    numbers = np.where(merge[couple], couple, couple.size + np.arange(couple.size))
    return regroup(prepared.response, numbers[entity])


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
    prepared = prepare(key, response)
    corpus = prepared.response
    known = Features(corpus, texts=(prepared.key, corpus), given=features, tagset=tagset)
    pronouns = np.flatnonzero(known("kind").where("pronoun".__eq__) & (find_twins(prepared) >= 0))
    pronouns = pronouns[choose(pronouns.size, share, np.random.default_rng(seed))]
    target = np.arange(corpus.n_mentions)
    target[pronouns] = _nearest_wrong(prepared, pronouns)
    target[target < 0] = np.flatnonzero(target < 0)
    # An antecedent may be a pronoun that moves too. Targets only go back, so following them ends.
    while (target[target] != target).any():
        target = target[target]
    return regroup(corpus, corpus.mention_entity[target])


def _nearest_wrong(prepared: Prepared, rows: IntArray) -> IntArray:
    """The nearest mention before each one that is not of its key entity; −1 where none is."""
    document, entity = prepared.response.mention_document, find_key_entities(prepared)
    before = rows - 1  # mentions stand in textual order
    while True:
        inside = (before >= 0) & (document[before] == document[rows])
        same = inside & (entity[before] == entity[rows])
        if not same.any():
            return np.where(inside, before, -1)
        before = np.where(same, before - 1, before)


def _is_pure(prepared: Prepared) -> BoolArray:
    """Which response entities have mentions of one key entity alone."""
    entity, key_entity = prepared.response.mention_entity, find_key_entities(prepared)
    highest = np.full(prepared.response.n_entities, -2, dtype=np.int64)
    lowest = np.full(prepared.response.n_entities, prepared.key.n_entities, dtype=np.int64)
    np.maximum.at(highest, entity, key_entity)
    np.minimum.at(lowest, entity, key_entity)
    pure: BoolArray = (highest == lowest) & (lowest >= 0)
    return pure


def _is_disjoint(prepared: Prepared, couple: IntArray) -> BoolArray:
    """Which couples of response entities have no key entity in common."""
    key = find_key_entities(prepared)
    rows = np.flatnonzero(key >= 0)
    response, key = prepared.response.mention_entity[rows], key[rows]
    cells = np.unique(np.stack((couple[response], key, response), axis=1), axis=0)
    same = (cells[1:, :2] == cells[:-1, :2]).all(axis=1)
    disjoint = np.ones(int(couple.max(initial=0)) + 1, dtype=np.bool_)
    disjoint[cells[1:, 0][same]] = False
    return disjoint


@perturbation(
    correct_links="keeps",
    wrong_links="removes",
    mentions="removes",
    reference="Moosavi and Strube 2016, Section 2",
)
def remove_incorrectly_resolved(
    key: Corpus, response: Corpus, *, share: float = 1.0, seed: int = 0
) -> Corpus:
    """Remove mentions of both sides that have links in the response, but not one correct link.

    `share` removes only some of them. What was linked to them stays, if need be alone.
    """
    prepared = prepare(key, response)
    return _without(prepared, is_incorrectly_resolved(prepared), share, seed)


@perturbation(correct_links="removes", wrong_links="removes", mentions="removes")
def drop_mentions(key: Corpus, response: Corpus, *, share: float = 0.1, seed: int = 0) -> Corpus:
    """Remove a share of the response's mentions, whatever they are."""
    prepared = prepare(key, response)
    return _without(prepared, np.ones(prepared.response.n_mentions, dtype=np.bool_), share, seed)


@perturbation(
    correct_links="keeps",
    wrong_links="removes",
    mentions="removes",
    reference="Cai and Strube 2010, Section 3.2",
)
def drop_twinless(key: Corpus, response: Corpus, *, share: float = 1.0, seed: int = 0) -> Corpus:
    """Remove a share of the response's mentions that the key lacks."""
    prepared = prepare(key, response)
    return _without(prepared, find_twins(prepared) < 0, share, seed)


@perturbation(correct_links="removes", wrong_links="removes", mentions="removes")
def drop_entities(
    key: Corpus, response: Corpus, *, minimum: int = 1, maximum: int | None = 1
) -> Corpus:
    """Remove the response's entities that have from `minimum` to `maximum` mentions."""
    corpus = prepare(key, response).response
    return regroup(corpus, corpus.mention_entity, ~_of_size(corpus, minimum, maximum))


@perturbation(correct_links="removes", wrong_links="removes", mentions="removes")
def keep_entities(
    key: Corpus, response: Corpus, *, minimum: int = 2, maximum: int | None = None
) -> Corpus:
    """Keep only the response's entities that have from `minimum` to `maximum` mentions."""
    corpus = prepare(key, response).response
    return regroup(corpus, corpus.mention_entity, _of_size(corpus, minimum, maximum))


def _without(prepared: Prepared, which: BoolArray, share: float, seed: int) -> Corpus:
    """The response without a share of some of its mentions."""
    rows = np.flatnonzero(which)
    keep = np.ones(which.size, dtype=np.bool_)
    keep[rows[choose(rows.size, share, np.random.default_rng(seed))]] = False
    return regroup(prepared.response, prepared.response.mention_entity, keep)


def _of_size(corpus: Corpus, minimum: int, maximum: int | None) -> BoolArray:
    sizes = corpus.entity_sizes[corpus.mention_entity]
    return (sizes >= minimum) & (sizes <= (sizes.max(initial=0) if maximum is None else maximum))

"""Perturbations that take mentions and entities away."""

from __future__ import annotations

import numpy as np

from corefeval.lab.declarations import perturbation
from corefeval.lab.editing import chosen, regrouped
from corefeval.lab.sides import Sides, pair_sides
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray


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
    sides = pair_sides(key, response)
    return _without(sides, sides.incorrectly_resolved, share, seed)


@perturbation(correct_links="removes", wrong_links="removes", mentions="removes")
def drop_mentions(key: Corpus, response: Corpus, *, share: float = 0.1, seed: int = 0) -> Corpus:
    """Remove a share of the response's mentions, whatever they are."""
    sides = pair_sides(key, response)
    return _without(sides, np.ones(sides.twin.size, dtype=np.bool_), share, seed)


@perturbation(
    correct_links="keeps",
    wrong_links="removes",
    mentions="removes",
    reference="Cai and Strube 2010, Section 3.2",
)
def drop_twinless(key: Corpus, response: Corpus, *, share: float = 1.0, seed: int = 0) -> Corpus:
    """Remove a share of the response's mentions that the key lacks."""
    sides = pair_sides(key, response)
    return _without(sides, sides.twin < 0, share, seed)


@perturbation(correct_links="removes", wrong_links="removes", mentions="removes")
def drop_entities(
    key: Corpus, response: Corpus, *, minimum: int = 1, maximum: int | None = 1
) -> Corpus:
    """Remove the response's entities that have from `minimum` to `maximum` mentions."""
    corpus = pair_sides(key, response).response
    return regrouped(corpus, corpus.mention_entity, ~_of_size(corpus, minimum, maximum))


@perturbation(correct_links="removes", wrong_links="removes", mentions="removes")
def keep_entities(
    key: Corpus, response: Corpus, *, minimum: int = 2, maximum: int | None = None
) -> Corpus:
    """Keep only the response's entities that have from `minimum` to `maximum` mentions."""
    corpus = pair_sides(key, response).response
    return regrouped(corpus, corpus.mention_entity, _of_size(corpus, minimum, maximum))


def _without(sides: Sides, which: BoolArray, share: float, seed: int) -> Corpus:
    """The response without a share of some of its mentions."""
    rows = np.flatnonzero(which)
    keep = np.ones(sides.twin.size, dtype=np.bool_)
    keep[rows[chosen(rows.size, share, np.random.default_rng(seed))]] = False
    return regrouped(sides.response, sides.response.mention_entity, keep)


def _of_size(corpus: Corpus, minimum: int, maximum: int | None) -> BoolArray:
    sizes = corpus.entity_sizes[corpus.mention_entity]
    return (sizes >= minimum) & (sizes <= (sizes.max(initial=0) if maximum is None else maximum))

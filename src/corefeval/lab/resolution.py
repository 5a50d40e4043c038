"""The perturbation that makes a response from the key alone: so much is resolved, and no more."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from corefeval.checks import check_choice
from corefeval.lab.additions import wrong_pairs
from corefeval.lab.declarations import perturbation
from corefeval.lab.editing import Generator, check_share, dealt, selection, shuffled_ranks
from corefeval.lab.sides import pair_sides
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, IntArray

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
    key = pair_sides(key, response).key
    generator = np.random.default_rng(seed)
    resolved = _resolved(key, share, growth, generator)
    entity = np.where(resolved, key.mention_entity, -1)
    if wrong:
        entity = _wrongly_linked(key, entity, generator)
    rows = np.flatnonzero(entity >= 0)
    return selection(key, rows, entity[rows]).with_details(name=response.name)


def _resolved(key: Corpus, share: float, growth: Growth, generator: Generator) -> BoolArray:
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
    taken = steps[done - rank[steps] / 2 <= share * rank[steps].sum()]
    resolved = np.zeros(rank.size, dtype=np.bool_)
    resolved[taken] = True
    started = np.zeros(sizes.size, dtype=np.bool_)
    started[entity[taken]] = True
    resolved |= (rank == 0) & started[entity]
    return resolved


def _wrongly_linked(key: Corpus, entity: IntArray, generator: Generator) -> IntArray:
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
    taken = np.zeros(number, dtype=np.bool_)
    taken[entity[placed][key.mention_entity[placed] == left[key.mention_document[placed]]]] = True
    free = np.flatnonzero((document >= 0) & ~taken)
    free = free[np.lexsort((generator.random(free.size), document[free]))]
    place = dealt(key.mention_document[rest], document[free])
    entity[rest] = number + np.arange(rest.size)
    entity[rest[place >= 0]] = free[place[place >= 0]]
    return entity

"""Sets of antecedents: the entities that an entity stands for, down to those without a set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from corefeval.diagnostics import Notice, note
from corefeval.model.arrays import BoolArray, IntArray
from corefeval.model.corpus import NON_REFERRING, Corpus
from corefeval.model.relations import SPLIT


@dataclass(frozen=True, eq=False)
class EntitySets:
    """The sets of a corpus; entities with the same set are its owners together.

    `owner` has the set of each entity (−1 for one that has none). Leaf l, the entity `leaf[l]`,
    belongs to set `leaf_set[l]`; leaves are in the order of the sets, and sets in that of the
    first mentions of their owners, `first`. `circular` counts entities that are elements of
    themselves, and `empty` those of whose elements none has a mention.
    """

    owner: IntArray
    first: IntArray
    leaf_set: IntArray
    leaf: IntArray
    circular: int = 0
    empty: int = 0

    def __len__(self) -> int:
        return int(self.first.size)

    def notices(self, name: str) -> tuple[Notice, ...]:
        """What was left out of the sets of a corpus of that name."""
        circles = "with circular antecedents, which are cut"
        unmentioned = "with a set of antecedents that have no mentions, left out"
        return (
            *note("circular-sets", self.circular, "entity", circles, whose=name or "corpus"),
            *note("empty-sets", self.empty, "entity", unmentioned, whose=name or "corpus"),
        )

    def merge(self, entities: IntArray) -> IntArray:
        """The entities of some mentions, where the owners of a set are the first one of them."""
        mentioned = entities[self.first]
        owner = self.owner[entities]
        return np.where(owner >= 0, np.append(mentioned, -1)[owner], entities)


def find_sets(corpus: Corpus) -> EntitySets:
    """The sets of a corpus, resolved; they are looked for once.

    Elements that have sets are replaced by the elements of these, again and again; what leads back
    to itself and what nobody mentions is left out.

    >>> from corefeval.model import corpus_from_arrays
    >>> from corefeval.model.relations import Relation, Relations
    >>> corpus = corpus_from_arrays(entity=[0, 1, 2, 3], start=range(4))
    >>> relations = [Relation(SPLIT, (2, -1), ((0, -1), (1, -1)))]
    >>> relations += [Relation(SPLIT, (3, -1), ((2, -1), (3, -1)))]
    >>> sets = find_sets(corpus.with_details(relations=Relations.of(relations)))
    >>> sets.owner.tolist(), sets.leaf.tolist(), sets.circular
    ([-1, -1, 0, 0], [0, 1], 1)
    """
    return corpus.remember("sets of antecedents", lambda: _find_sets(corpus))


def _find_sets(corpus: Corpus) -> EntitySets:
    elements = find_elements(corpus)
    owner = np.full(corpus.n_entities, -1, dtype=np.int64)
    nothing = np.empty(0, dtype=np.int64)
    if not elements:
        return EntitySets(owner, nothing, nothing, nothing)
    circular = {entity for entity, parts in elements.items() if entity in parts}
    for entity in circular:
        elements[entity].discard(entity)
    elements = {entity: parts for entity, parts in elements.items() if parts}
    leaves_of = _find_leaves(elements, circular)
    mentioned, refers = corpus.entity_sizes > 0, ~non_referring(corpus)
    # By first mention, so that sets have an order that both formats and both sides share.
    scored = np.zeros(corpus.n_entities, dtype=np.bool_)
    scored[list(elements)] = True
    rows = np.flatnonzero((scored & refers)[corpus.mention_entity])
    entities, where = np.unique(corpus.mention_entity[rows], return_index=True)
    sets: dict[tuple[int, ...], int] = {}
    first: list[int] = []
    for row in np.sort(rows[where]).tolist():
        entity = int(corpus.mention_entity[row])
        leaves = tuple(leaf for leaf in sorted(leaves_of[entity]) if mentioned[leaf])
        if leaves:
            owner[entity] = sets.setdefault(leaves, len(sets))
            first += [row] if len(first) < len(sets) else []
    counts = [len(leaves) for leaves in sets]
    return EntitySets(
        owner,
        np.array(first, dtype=np.int64),
        np.repeat(np.arange(len(sets)), counts),
        np.array([leaf for leaves in sets for leaf in leaves], dtype=np.int64),
        int(np.count_nonzero(mentioned[list(circular)])),
        int(entities.size - np.count_nonzero(owner >= 0)),
    )


def find_elements(corpus: Corpus) -> dict[int, set[int]]:
    """What the source says each entity consists of."""
    relations = corpus.relations
    rows = np.flatnonzero(relations.kind.where(SPLIT.__eq__)) if len(relations) else ()
    elements: dict[int, set[int]] = {}
    for row in rows:
        parts = relations.antecedent_entity[relations.offsets[row] : relations.offsets[row + 1]]
        elements.setdefault(int(relations.entity[row]), set()).update(parts.tolist())
    return elements


def _find_leaves(elements: dict[int, set[int]], circular: set[int]) -> dict[int, set[int]]:
    """The leaves of each entity: the entities without elements that it leads to.

    Entities that lead to each other have the same leaves, and are done together, after all that
    they lead to (Tarjan 1972), so that sets in sets in sets are walked through once. They are added
    to `circular`.
    """
    leaves: dict[int, set[int]] = {}
    lowest: dict[int, int] = {}  # the first visit that each one is known to lead back to
    waiting: list[int] = []
    for root in elements:
        path = [] if root in lowest else [(root, len(lowest), iter(elements[root]))]
        while path:
            entity, number, parts = path[-1]
            if entity not in lowest:
                lowest[entity] = number
                waiting.append(entity)
            for part in parts:
                if part in elements and part not in lowest:
                    path.append((part, len(lowest), iter(elements[part])))
                    break
                if part in elements and part not in leaves:
                    lowest[entity] = min(lowest[entity], lowest[part])
            else:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[entity])
                if lowest[entity] == number:
                    _close(entity, waiting, elements, leaves, circular)
    return leaves


def _close(
    entity: int,
    waiting: list[int],
    elements: dict[int, set[int]],
    leaves: dict[int, set[int]],
    circular: set[int],
) -> None:
    """Note the leaves of an entity and of all that lead to it and back; they wait no longer."""
    together = [waiting.pop()]
    while together[-1] != entity:
        together.append(waiting.pop())
    leaves_of_all: set[int] = set()
    for part in set[int]().union(*(elements[member] for member in together)):
        leaves_of_all |= leaves.get(part, set() if part in elements else {part})
    leaves.update(dict.fromkeys(together, leaves_of_all))
    if len(together) > 1:
        circular.update(together)


def non_referring(corpus: Corpus) -> BoolArray:
    """Which entities refer to nothing."""
    if corpus.entity_layer is None:
        return np.zeros(corpus.n_entities, dtype=np.bool_)
    refers_not: BoolArray = corpus.entity_layer == NON_REFERRING
    return refers_not

"""Relations that are no identity: bridging, sets of antecedents, appositions.

`Relations` has them by number, as sources state them; `bridging_pairs` and `find_sets` say which
mentions and entities they are about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from corefeval.diagnostics import Notices, note
from corefeval.model.arrays import (
    ArrayPair,
    BoolArray,
    IntArray,
    all_zero,
    integers,
    looked_up,
    mark_rows,
    offsets_of,
    plain_rows,
    ragged_arange,
    stable_order,
    starts_of,
    unset,
)
from corefeval.model.categories import Categories

if TYPE_CHECKING:
    from corefeval.model.corpus import Corpus

BRIDGING, SPLIT = "bridging", "split-antecedent"  # kinds that are scored

_NONE: IntArray = unset(0)
_NOTHING = Categories(_NONE, ())


@dataclass(frozen=True, slots=True)
class Relation:
    """One relation of an anaphor to a set of antecedents, by numbers in a corpus.

    The anaphor and each antecedent are (entity, mention), with mention −1 where the source speaks
    of the entity as a whole.
    """

    kind: str
    anaphor: tuple[int, int]
    antecedents: tuple[tuple[int, int], ...]
    label: str = ""


@dataclass(frozen=True, eq=False)
class Relations:
    """All relations of a corpus, an array per property.

    Relation i is of `kind` (a value for each), has `label` (none for many), and relates the
    mention `mention[i]` of `entity[i]` (or the entity as a whole, mention −1) to its antecedents:
    `antecedent_entity` and `antecedent_mention` (or −1) from `offsets[i]` up to `offsets[i + 1]`.

    >>> relations = Relations.of([Relation("split-antecedent", (2, -1), ((0, -1), (1, -1)))])
    >>> relations.antecedent_entity.tolist(), relations.offsets.tolist(), len(relations)
    ([0, 1], [0, 2], 1)
    """

    kind: Categories = _NOTHING
    label: Categories = _NOTHING
    entity: IntArray = field(default_factory=_NONE.copy)
    mention: IntArray = field(default_factory=_NONE.copy)
    offsets: IntArray = field(default_factory=all_zero(1).copy)
    antecedent_entity: IntArray = field(default_factory=_NONE.copy)
    antecedent_mention: IntArray = field(default_factory=_NONE.copy)

    @staticmethod
    def of(relations: Iterable[Relation]) -> Relations:
        """Relations from single ones; an antecedent that is repeated counts once."""
        listed = list(relations)
        sets = [tuple(dict.fromkeys(relation.antecedents)) for relation in listed]
        return Relations(
            Categories.of([relation.kind for relation in listed]),
            Categories.of([relation.label or None for relation in listed]),
            *_pairs([relation.anaphor for relation in listed]),
            np.cumsum([0, *map(len, sets)]),
            *_pairs([antecedent for relation in sets for antecedent in relation]),
        )

    def __len__(self) -> int:
        return int(self.entity.size)

    def __iter__(self) -> Iterator[Relation]:
        anaphors = plain_rows(self.entity, self.mention)
        antecedents = list(plain_rows(self.antecedent_entity, self.antecedent_mention))
        bounds = self.offsets.tolist()
        kinds, labels = self.kind.values(), self.label.values()
        for index, anaphor in enumerate(anaphors):
            antecedents_of_anaphor = tuple(antecedents[bounds[index] : bounds[index + 1]])
            yield Relation(kinds[index] or "", anaphor, antecedents_of_anaphor, labels[index] or "")

    def take(self, rows: IntArray) -> Relations:
        """Some of the relations."""
        counts = np.diff(self.offsets)[rows]
        chosen = ragged_arange(self.offsets[rows], counts)
        return Relations(
            self.kind.take(rows),
            self.label.take(rows),
            self.entity[rows],
            self.mention[rows],
            offsets_of(counts),
            self.antecedent_entity[chosen],
            self.antecedent_mention[chosen],
        )

    def on_mentions(self, new: IntArray) -> Relations:
        """The relations after mentions got new rows, −1 for one that is gone.

        What a source says of a mention that is gone goes with it; what it says of entities stays.
        """
        if not len(self):
            return self
        moved = replace(
            self,
            mention=looked_up(new, self.mention),
            antecedent_mention=looked_up(new, self.antecedent_mention),
        )
        gone = (self.antecedent_mention >= 0) & (moved.antecedent_mention < 0)
        return moved._without(gone, (self.mention >= 0) & (moved.mention < 0))

    def on_entities(self, new: IntArray) -> Relations:
        """The relations after entities got new numbers, −1 for one that goes with its relations."""
        if not len(self):
            return self
        moved = replace(
            self,
            entity=looked_up(new, self.entity),
            antecedent_entity=looked_up(new, self.antecedent_entity),
        )
        return moved._without(moved.antecedent_entity < 0, moved.entity < 0)

    def _without(self, antecedents: np.ndarray, relations: np.ndarray) -> Relations:
        """The relations without some antecedents and relations, and without those left empty."""
        kept = self
        if antecedents.any():
            left = offsets_of(~antecedents)
            kept = replace(
                self,
                offsets=left[self.offsets],
                antecedent_entity=self.antecedent_entity[~antecedents],
                antecedent_mention=self.antecedent_mention[~antecedents],
            )
        gone = relations | (np.diff(kept.offsets) == 0)
        return kept.take(np.flatnonzero(~gone)) if gone.any() else kept

    @staticmethod
    def join(
        parts: Sequence[Relations], entity_shift: IntArray, mention_shift: IntArray
    ) -> Relations:
        """The relations of several corpora whose numbers go on from each other's."""
        if not any(map(len, parts)):
            return NO_RELATIONS
        moved = [
            (
                part.entity + entities,
                np.where(part.mention >= 0, part.mention + mentions, -1),
                np.diff(part.offsets),
                part.antecedent_entity + entities,
                np.where(part.antecedent_mention >= 0, part.antecedent_mention + mentions, -1),
            )
            for part, entities, mentions in zip(parts, entity_shift, mention_shift, strict=True)
        ]
        entity, mention, counts, *antecedents = map(np.concatenate, zip(*moved, strict=True))
        kinds = [kind for part in parts for kind in part.kind.values()]
        labels = [label for part in parts for label in part.label.values()]
        return Relations(
            Categories.of(kinds),
            Categories.of(labels),
            entity,
            mention,
            offsets_of(counts),
            *antecedents,
        )


def _pairs(values: Sequence[tuple[int, int]]) -> ArrayPair:
    columns = integers(values).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]


NO_RELATIONS = Relations()


@dataclass(frozen=True, eq=False)
class BridgingPairs:
    """Pairs of an anaphor and one of its antecedents, by their rows in a corpus.

    `entity` is the antecedent's, `label` the relation (none for many), `source` the number of the
    relation that says it, and `stated` whether the source names the antecedent's mention.
    """

    anaphor: IntArray
    antecedent: IntArray
    entity: IntArray
    label: Categories
    source: IntArray
    stated: BoolArray


def bridging_pairs(corpus: Corpus) -> BridgingPairs:
    """The bridging of a corpus, pair by pair, in the order of its relations.

    Of an antecedent that is an entity as a whole, it is the last mention that starts before the
    anaphor, or the first one where none does; of an anaphor that is one, it is the first mention.
    What has no mention is left out.
    """
    relations, sizes = corpus.relations, corpus.entity_sizes
    source = np.repeat(np.arange(len(relations)), np.diff(relations.offsets))
    chosen = relations.kind.where(BRIDGING.__eq__)[source]
    chosen &= sizes[relations.entity[source]] > 0
    chosen &= sizes[relations.antecedent_entity] > 0
    source, entity = source[chosen], relations.antecedent_entity[chosen]
    anaphor, stated = relations.mention[source], relations.antecedent_mention[chosen]
    if (anaphor < 0).any():
        order, first = _chains(corpus)
        anaphor = np.where(anaphor >= 0, anaphor, order[first[relations.entity[source]]])
    label = relations.label.take(source)
    pairs = BridgingPairs(anaphor, stated, entity, label, source, stated >= 0)
    if (stated >= 0).all():
        return pairs
    guess = guess_antecedents(corpus, pairs)
    return replace(pairs, antecedent=np.where(stated >= 0, stated, guess))


def guess_antecedents(corpus: Corpus, pairs: BridgingPairs) -> IntArray:
    """Of each antecedent entity the last mention that starts before the anaphor, else the first."""
    order, first = _chains(corpus)
    start = corpus.mention_start
    place = np.arange(corpus.n_mentions) if start is None else start
    width = int(place.max(initial=0)) + 1
    codes = corpus.mention_entity[order] * width + place[order]
    before = np.searchsorted(codes, pairs.entity * width + place[pairs.anaphor]) - 1
    return order[np.maximum(before, first[pairs.entity])]


def find_anchors(corpus: Corpus) -> dict[int, list[tuple[int, int, bool]]]:
    """For each bridging relation, by number: anaphor, antecedent and whether that is stated.

    Anaphors and antecedents are rows of the corpus.
    """
    pairs = bridging_pairs(corpus)
    anchors: dict[int, list[tuple[int, int, bool]]] = {}
    columns = (pairs.source, pairs.anaphor, pairs.antecedent, pairs.stated)
    for source, *pair in plain_rows(*columns):
        anchors.setdefault(source, []).append((pair[0], pair[1], pair[2]))
    return anchors


def _chains(corpus: Corpus) -> ArrayPair:
    """The mentions, entity by entity, and the place at which each entity's mentions begin."""
    order = stable_order(corpus.mention_entity)
    return order, starts_of(corpus.entity_sizes)


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

    def notices(self, name: str) -> Notices:
        """What was left out of the sets of a corpus of that name."""
        circles = "with circular antecedents, which are cut"
        unmentioned = "with a set of antecedents that have no mentions, left out"
        return (
            *note("circular-sets", self.circular, "entity", circles, whose=name or "corpus"),
            *note("empty-sets", self.empty, "entity", unmentioned, whose=name or "corpus"),
        )

    def merge(self, entities: IntArray) -> IntArray:
        """The entity of each mention, with all owners of a set as one: that of `first`.

        `entities` are those of all mentions of the corpus.
        """
        mentioned = entities[self.first]
        owner = self.owner[entities]
        return np.where(owner >= 0, looked_up(mentioned, owner), entities)


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
    """The sets that `find_sets` keeps."""
    elements = find_elements(corpus)
    owner = unset(corpus.n_entities)
    nothing = unset(0)
    if not elements:
        return EntitySets(owner, nothing, nothing, nothing)
    circular = {entity for entity, parts in elements.items() if entity in parts}
    for entity in circular:
        elements[entity].discard(entity)
    elements = {entity: parts for entity, parts in elements.items() if parts}
    leaves_of = _find_leaves(elements, circular)
    mentioned, refers = corpus.entity_sizes > 0, ~corpus.non_referring
    # By first mention, so that sets have an order that both formats and both sides share.
    scored = mark_rows(list(elements), corpus.n_entities)
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
        integers(first),
        np.repeat(np.arange(len(sets)), counts),
        integers([leaf for leaves in sets for leaf in leaves]),
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

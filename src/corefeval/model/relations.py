"""Relations that are no identity: bridging, split antecedents, appositions, by number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from corefeval.model.arrays import IntArray, looked_up, ragged_arange
from corefeval.model.categories import Categories

BRIDGING, SPLIT = "bridging", "split-antecedent"  # kinds that are scored

_NONE: IntArray = np.empty(0, dtype=np.int64)
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
    offsets: IntArray = field(default_factory=np.zeros(1, dtype=np.int64).copy)
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
        anaphors = zip(self.entity.tolist(), self.mention.tolist(), strict=True)
        antecedents = list(
            zip(self.antecedent_entity.tolist(), self.antecedent_mention.tolist(), strict=True)
        )
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
            np.concatenate(([0], np.cumsum(counts))),
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
            left = np.concatenate(([0], np.cumsum(~antecedents)))
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
            np.concatenate(([0], np.cumsum(counts))),
            *antecedents,
        )


NO_RELATIONS = Relations()


def _pairs(values: Sequence[tuple[int, int]]) -> tuple[IntArray, IntArray]:
    columns = np.array(values, dtype=np.int64).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]

"""Documents as version 1 of the Universal Anaphora scorer has them.

The program keeps entities in Python sets, and its LEA and BLANC depend on the order in which these
hand out their elements: by hashes of positions, as here. Only entities with sets of antecedents
are concerned.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from corefeval.model import BRIDGING, DEIXIS, NON_REFERRING, Corpus
from corefeval.model.arrays import plain_rows
from corefeval.model.relations import find_sets


@dataclass(frozen=True, eq=False)
class Element:
    """A mention, or a set of antecedents, whose `blocks` are tuples of mentions.

    Elements of the same `name` are the same; `code` is what the program hashes them by. A mention
    is the tokens from `start` to `end`, and the key's may state a minimum span.
    """

    name: Hashable
    code: int
    start: int = -1
    end: int = -1
    minimum: tuple[int, int] | None = None
    blocks: tuple[tuple[Element, ...], ...] = ()

    def __eq__(self, element: object) -> bool:
        return isinstance(element, Element) and self.name == element.name

    def __hash__(self) -> int:
        return self.code

    def covers(self, mention: Element) -> bool:
        """Whether a mention of the response counts as this mention of the key."""
        if self.minimum is None:
            return (self.start, self.end) == (mention.start, mention.end)
        first, last = self.minimum
        return self.start <= mention.start <= first and last <= mention.end <= self.end


Entity = list[Element]


@dataclass
class Scene:
    """One side of a document: its entities, what refers to nothing, and bridging."""

    entities: list[Entity] = field(default_factory=list)
    pseudo: list[Element] = field(default_factory=list)
    bridging: dict[Element, Element] = field(default_factory=dict)

    @property
    def owners(self) -> dict[Element, int]:
        """The entity of each element; the last one of those that have it."""
        return {
            element: number for number, entity in enumerate(self.entities) for element in entity
        }


def make_scenes(
    corpus: Corpus, *, deixis: bool, with_sets: bool, keeps_singletons: bool, uses_minima: bool
) -> list[Scene]:
    """What the program makes of each document."""
    layers = np.zeros(corpus.n_entities) if corpus.entity_layer is None else corpus.entity_layer
    mentions = _make_mentions(corpus, uses_minima)
    members: list[Entity] = [[] for _ in range(corpus.n_entities)]
    for mention, entity in plain_rows(mentions, corpus.mention_entity):
        members[entity].append(mention)
    sets = _make_sets(corpus, members) if with_sets else {}
    scenes = [Scene() for _ in corpus.documents]
    owners: dict[Element, set[Element]] = {}
    # In the order of their first mentions, in which the program meets entities.
    _, first = np.unique(corpus.mention_entity, return_index=True)
    for entity in corpus.mention_entity[np.sort(first)].tolist():
        scene = scenes[int(corpus.entity_document[entity])]
        elements, split = members[entity], sets.get(entity)
        # The program takes an entity whose name ends in `_pseudo` for one that refers.
        is_named_pseudo = corpus.names and corpus.names[entity].lower().endswith("_pseudo")
        refers = layers[entity] != NON_REFERRING or is_named_pseudo
        if not refers and not deixis:
            scene.pseudo.append(elements[0])
        elif refers and (layers[entity] == DEIXIS) == deixis:
            if split is not None and split in owners:
                owners[split].update([*elements, split])
            elif with_sets:
                members_as_set = {*elements} if split is None else {*elements, split}
                scene.entities.append(members_as_set)  # type: ignore[arg-type]
                owners |= {} if split is None else {split: members_as_set}
            elif keeps_singletons or len(elements) > 1:
                scene.entities.append(elements)
    for scene in scenes:
        scene.entities = [list(elements) for elements in scene.entities]
    if not deixis:
        _add_bridging(scenes, corpus, mentions)
    return scenes


def _make_mentions(corpus: Corpus, uses_minima: bool) -> list[Element]:
    """The mentions; of a mention in several parts the program keeps the last part."""
    starts, ends = (
        np.asarray(corpus.mention_start).tolist(),
        np.asarray(corpus.mention_end).tolist(),
    )
    documents = corpus.mention_document.tolist()
    mentions = []
    for row, (document, first, after) in enumerate(zip(documents, starts, ends, strict=True)):
        parts = corpus.gaps_of.get(row, ())
        start, end = parts[-1][1] if parts else first, after - 1
        minimum = _find_minimum(corpus, row, first, after) if uses_minima else None
        name: Hashable = document, start, end
        mention = Element(name, hash(frozenset((start, end))), start, end, minimum)
        if not mention.covers(mention):  # to the program it equals no mention, not even its twin
            mention = Element((name, row), mention.code, start, end, minimum)
        mentions.append(mention)
    return mentions


def _find_minimum(corpus: Corpus, row: int, first: int, after: int) -> tuple[int, int] | None:
    """The first and last token of a mention's minimum span; None where it states none."""
    inside, outside = corpus.features.get("minspan"), corpus.features.get("min_outside")
    if outside is not None and outside[row]:
        numbers = [int(number) for number in re.findall(r"[0-9]{1,9}", str(outside[row]))]
        return numbers[0] - 1, numbers[-1 if len(numbers) == 2 else 0] - 1
    if inside is None or not inside[row]:
        return None
    gaps = corpus.gaps_of.get(row, ())
    tokens = [t for t in range(first, after) if not any(a <= t < b for a, b in gaps)]
    numbers = [int(number) for number in str(inside[row]).split(",")]
    return tokens[min(numbers) - 1], tokens[max(numbers) - 1]


def _make_sets(corpus: Corpus, members: Sequence[Entity]) -> dict[int, Element]:
    """The set of each entity that has one."""
    sets = find_sets(corpus)
    bounds = np.searchsorted(sets.leaf_set, np.arange(len(sets) + 1)).tolist()
    elements = []
    for first, after in pairwise(bounds):
        blocks = frozenset(tuple(members[leaf]) for leaf in sets.leaf[first:after].tolist())
        name = frozenset(tuple(mention.name for mention in block) for block in blocks)
        elements.append(Element(("set", name), hash(blocks), blocks=(*blocks,)))
    return {int(entity): elements[sets.owner[entity]] for entity in np.flatnonzero(sets.owner >= 0)}


def _add_bridging(scenes: Sequence[Scene], corpus: Corpus, mentions: Sequence[Element]) -> None:
    """Add each anaphor with its antecedent: of several, the last one."""
    for relation in corpus.relations:
        anaphor = relation.anaphor[1]
        if relation.kind != BRIDGING or anaphor < 0:
            continue
        entity, row = relation.antecedents[-1]
        if row < 0:
            rows = np.flatnonzero(corpus.mention_entity == entity)
            before = rows[rows < anaphor]
            row = int(before[-1] if before.size else rows[0])
        scene = scenes[int(corpus.mention_document[anaphor])]
        scene.bridging[mentions[anaphor]] = mentions[row]

"""Version 1 of the Universal Anaphora scorer: its counts, with the order of Python's sets in them.

The program keeps entities in Python sets, and its LEA and BLANC depend on the order in which these
hand out their elements: by hashes of positions, as here. Only entities with sets of antecedents
are concerned. With minimum spans it takes mentions of other spans for the same in CEAF, in what
refers to nothing and in antecedents, and in nothing else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from corefeval.assignment import heaviest_matching
from corefeval.model import BRIDGING, DEIXIS, IDENTITY, NON_REFERRING, Corpus
from corefeval.model.sets import find_sets

Ratio = tuple[float, float]


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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Element) and self.name == other.name

    def __hash__(self) -> int:
        return self.code

    def covers(self, other: Element) -> bool:
        """Whether a mention of the response will do for this one of the key."""
        if self.minimum is None:
            return (self.start, self.end) == (other.start, other.end)
        first, last = self.minimum
        return self.start <= other.start <= first and last <= other.end <= self.end


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
        return {one: n for n, entity in enumerate(self.entities) for one in entity}


def make_scenes(
    corpus: Corpus, *, deixis: bool, with_sets: bool, keeps_singletons: bool, uses_minima: bool
) -> list[Scene]:
    """What the program makes of each document."""
    layer = DEIXIS if deixis else IDENTITY
    layers = np.zeros(corpus.n_entities) if corpus.entity_layer is None else corpus.entity_layer
    names = corpus.names
    mentions = _mentions(corpus, uses_minima)
    members: list[Entity] = [[] for _ in range(corpus.n_entities)]
    for one, entity in zip(mentions, corpus.mention_entity.tolist(), strict=True):
        members[entity].append(one)
    sets = _sets(corpus, members) if with_sets else {}
    scenes = [Scene() for _ in corpus.documents]
    merged: dict[Element, set[Element]] = {}
    # In the order of their first mentions, in which the program meets entities.
    _, first = np.unique(corpus.mention_entity, return_index=True)
    for entity in corpus.mention_entity[np.sort(first)].tolist():
        scene = scenes[int(corpus.entity_document[entity])]
        own, split = members[entity], sets.get(entity)
        # It knows pseudo entities by their names, and by one spelling of these.
        refers = layers[entity] != NON_REFERRING or (
            names is not None and names[entity].lower().endswith("_pseudo")
        )
        if not refers and layer == IDENTITY:
            scene.pseudo.append(own[0])
        elif refers and (layers[entity] == DEIXIS) == (layer == DEIXIS):
            if split is not None and split in merged:
                merged[split].update([*own, split])
            elif with_sets:
                made = {*own} if split is None else {*own, split}
                scene.entities.append(made)  # type: ignore[arg-type]
                merged |= {} if split is None else {split: made}
            elif keeps_singletons or len(own) > 1:
                scene.entities.append(own)
    for scene in scenes:
        scene.entities = [list(entity) for entity in scene.entities]
    if layer == IDENTITY:
        _add_bridging(scenes, corpus, mentions)
    return scenes


def _mentions(corpus: Corpus, uses_minima: bool) -> list[Element]:
    """The mentions; of one in several parts the program has the last."""
    starts, ends = (
        np.asarray(corpus.mention_start).tolist(),
        np.asarray(corpus.mention_end).tolist(),
    )
    minima = corpus.features.get("minspan") if uses_minima else None
    beyond = corpus.features.get("min_outside") if uses_minima else None
    documents = corpus.mention_document.tolist()
    mentions = []
    for row, (document, first, after) in enumerate(zip(documents, starts, ends, strict=True)):
        parts = corpus.gaps_of.get(row, ())
        start, end = parts[-1][1] if parts else first, after - 1
        minimum = None
        if minima is not None and minima[row]:
            positions = [p for p in range(first, after) if not any(a <= p < b for a, b in parts)]
            numbers = [int(number) for number in str(minima[row]).split(",")]
            minimum = positions[min(numbers) - 1], positions[max(numbers) - 1]
        if beyond is not None and beyond[row]:
            numbers = [int(number) for number in re.findall(r"[0-9]{1,9}", str(beyond[row]))]
            minimum = numbers[0] - 1, numbers[-1 if len(numbers) == 2 else 0] - 1
        name: Hashable = document, start, end
        one = Element(name, hash(frozenset((start, end))), start, end, minimum)
        if not one.covers(one):  # which then equals nothing, and not even its like
            one = Element((name, row), one.code, start, end, minimum)
        mentions.append(one)
    return mentions


def _sets(corpus: Corpus, members: Sequence[Entity]) -> dict[int, Element]:
    """The set of each entity that has one."""
    found = find_sets(corpus)
    bounds = np.searchsorted(found.leaf_set, np.arange(len(found) + 1)).tolist()
    leaves = [found.leaf[first:after].tolist() for first, after in pairwise(bounds)]
    elements = []
    for own in leaves:
        blocks = frozenset(tuple(members[leaf]) for leaf in own)
        name = frozenset(tuple(one.name for one in block) for block in blocks)
        elements.append(Element(("set", name), hash(blocks), blocks=(*blocks,)))
    return {
        int(entity): elements[found.owner[entity]] for entity in np.flatnonzero(found.owner >= 0)
    }


def _add_bridging(scenes: Sequence[Scene], corpus: Corpus, mentions: Sequence[Element]) -> None:
    """Anaphors and their antecedents: of several, the last one."""
    for one in corpus.relations:
        if one.kind != BRIDGING or one.anaphor[1] < 0:
            continue
        entity, row = one.antecedents[-1]
        if row < 0:
            rows = np.flatnonzero(corpus.mention_entity == entity)
            before = rows[rows < one.anaphor[1]]
            row = int(before[-1] if before.size else rows[0])
        scene = scenes[int(corpus.mention_document[one.anaphor[1]])]
        scene.bridging[mentions[one.anaphor[1]]] = mentions[row]


@dataclass(frozen=True)
class Pair:
    """Both sides of a document, and the sets that a metric aligned: partner, and what it is worth.

    `covers` says whether mentions of both sides are the same to CEAF.
    """

    key: list[Entity]
    response: list[Entity]
    aligned: dict[Element, tuple[Element, float]] = field(default_factory=dict)
    f1: dict[Element, tuple[Element, float]] = field(default_factory=dict)
    loose: bool = False

    @property
    def owners(self) -> dict[Element, int]:
        """The response entity of each element, its sets among them."""
        return Scene(self.response).owners


Counter_ = Callable[[Pair, bool], Ratio]


def _muc(pair: Pair, inside: bool) -> Ratio:
    owners, found, total = pair.owners, 0.0, 0.0
    for entity in pair.key:
        if inside and len(entity) == 1:
            total += 1
            found += _is_alone(entity[0], pair, owners)
            continue
        homes = [owners[one] for one in entity if not one.blocks and one in owners]
        found += len(homes) - len({*homes})
        for one in entity:
            if one.blocks and one in pair.aligned:
                other, worth = pair.aligned[one]
                found += worth if owners[other] in homes else 0.0
        total += len(entity) - 1
    return found, total


def _b3(pair: Pair, _: bool) -> Ratio:
    owners, found, total = pair.owners, 0.0, 0.0
    for entity in pair.key:
        shares: Counter[int] = Counter()
        for one in entity:
            if one.blocks:
                if one in pair.aligned:
                    other, worth = pair.aligned[one]
                    shares[owners[other]] += worth  # type: ignore[assignment]
            elif one in owners:
                shares[owners[one]] += 1
        found += sum(share * share for share in shares.values()) / len(entity)
        total += len(entity)
    return found, total


def _lea(pair: Pair, _: bool) -> Ratio:
    owners, found, total = pair.owners, 0.0, 0.0
    for entity in pair.key:
        total += len(entity)
        if len(entity) == 1:
            found += _is_alone(entity[0], pair, owners)
            continue
        if any(one.blocks for one in entity):
            links = _links_in_order(entity, owners, pair.aligned, sticky=True)
        else:
            homes = Counter(owners[one] for one in entity if one in owners)
            links = sum(n * (n - 1) / 2 for n in homes.values())
        found += len(entity) * links / (len(entity) * (len(entity) - 1) / 2)
    return found, total


def _is_alone(one: Element, pair: Pair, owners: dict[Element, int]) -> bool:
    return one in owners and len(pair.response[owners[one]]) == 1


def _links_in_order(
    entity: Entity,
    owners: dict[Element, int],
    aligned: dict[Element, tuple[Element, float]],
    *,
    sticky: bool,
) -> float:
    """Pairs of elements that are together on the other side, in the program's order.

    A set's worth stays with all pairs behind it where it is `sticky`; else a set that comes second
    counts only if the other side has the very same.
    """
    links = 0.0
    for place, one in enumerate(entity):
        first, worth = aligned.get(one, (one, 1.0))
        home = owners.get(first, -1)
        for other in entity[place + 1 :] if home >= 0 else ():
            second, share = aligned.get(other, (other, 1.0)) if sticky else (other, 1.0)
            worth *= share
            links += worth if owners.get(second, -2) == home else 0.0
    return links


def _ceaf(pair: Pair, by_entity: bool) -> list[float]:
    """Numerators and denominators of both sides, which share one alignment."""
    cells: Counter[tuple[int, int]] = Counter()
    holders: dict[Element, set[int]] = {}
    for number, entity in enumerate(pair.response):
        for one in entity:
            holders.setdefault(one, set()).add(number)
    mentions = [(one, n) for one, homes in holders.items() for n in homes if not one.blocks]
    for number, entity in enumerate(pair.key):
        for one in entity:
            if one.blocks:
                other, worth = pair.f1.get(one, (one, 0.0))
                homes = holders.get(other, set()) if worth else set()
            else:
                worth, homes = 1.0, holders.get(one, set())
                if pair.loose and one.minimum is not None:
                    homes = {n for m, n in mentions if one.covers(m)}
            for home in homes:
                cells[number, home] += worth  # type: ignore[assignment]
    keys, weights = list(cells), np.array(list(cells.values()), dtype=np.float64)
    if by_entity:
        sizes = [[len(entity) for entity in side] for side in (pair.key, pair.response)]
        weights *= [2 / (sizes[0][i] + sizes[1][j]) for i, j in keys]
    best = 0.0
    if keys:
        rows, columns = np.array(keys, dtype=np.int64).T
        best = float(weights[heaviest_matching(rows, columns, weights)].sum())
    totals = [len(s) if by_entity else sum(map(len, s)) for s in (pair.key, pair.response)]
    return [best, totals[0], best, totals[1]]


def _coreference(pair: Pair) -> list[float]:
    """BLANC's coreference links."""
    owners, common = pair.owners, 0.0
    for entity in pair.key:
        common += _links_in_order(entity, owners, pair.f1, sticky=False)
    return [common, _count_links(pair.key), common, _count_links(pair.response)]


def _non_coreference(pair: Pair) -> list[float]:
    """BLANC's other links: elements weigh, and sets weigh what they are worth."""
    owners = pair.owners
    groups: list[dict[Any, list[float]]] = [{}, {}, {}, {}]
    for number, entity in enumerate(pair.key):
        for one in entity:
            other, worth = pair.f1.get(one, (one, 1.0))
            if (home := owners.get(other)) is not None:
                names = None, number, home, (number, home)
                for group, name in zip(groups, names, strict=True):
                    group.setdefault(name, []).append(worth)
    every, mine, theirs, both = (
        sum((sum(w) ** 2 - sum(x * x for x in w)) / 2 for w in group.values()) for group in groups
    )
    common = every - mine - theirs + both
    totals = []
    for side in (pair.key, pair.response):
        size = sum(map(len, side))
        totals.append(size * (size - 1) / 2 - _count_links(side))
    return [common, totals[0], common, totals[1]]


def _count_links(entities: Iterable[Entity]) -> float:
    return sum(len(one) * (len(one) - 1) / 2 for one in entities)


_DIRECTED: dict[str, Counter_] = {"muc": _muc, "b3": _b3, "lea": _lea}
_JOINT: dict[str, Callable[[Pair], list[float]]] = {
    "ceafm": lambda pair: _ceaf(pair, False),
    "ceafe": lambda pair: _ceaf(pair, True),
    "coreference": _coreference,
    "non_coreference": _non_coreference,
}


def count_scenes(
    metric: str, key: Scene, response: Scene, *, loose: bool
) -> tuple[list[float], list[float]]:
    """The counts of a metric, or of a half of BLANC, and those of sets alone.

    Each are numerator and denominator of recall, then of precision. `loose` says that mentions of
    other spans may be the same where the program takes them for such.
    """
    sides = key.entities, response.entities
    sets = [[one for entity in side for one in entity if one.blocks] for side in sides]
    blocks = [[[list(block) for block in one.blocks] for one in side] for side in sets]
    alone = [
        [_count(metric, Pair(one, one), inside=True)[1] for one in of_side] for of_side in blocks
    ]
    counts = np.zeros((len(sets[0]), len(sets[1]), 4))
    for i, mine in enumerate(blocks[0]):
        for j, theirs in enumerate(blocks[1]):
            counts[i, j] = _count(metric, Pair(mine, theirs, loose=loose), inside=True)
    recall, precision = (
        np.divide(counts[..., n], counts[..., n + 1], out=np.zeros(counts.shape[:2]),
                  where=counts[..., n + 1] != 0)
        for n in (0, 2)
    )  # fmt: skip
    f1 = 2 * recall * precision / np.where(recall + precision == 0, 1, recall + precision)
    aligned = _align(f1) if f1.size else []
    worths = [
        {sets[0][i]: (sets[1][j], float(one[i, j])) for i, j in aligned if one[i, j] > 0}
        for one in (recall, f1)
    ]
    backward = {
        sets[1][j]: (sets[0][i], float(precision[i, j])) for i, j in aligned if precision[i, j] > 0
    }
    pair = Pair(*sides, worths[0], worths[1], loose)
    counted = _count(metric, pair, inside=False, backward=backward)
    inner = [0.0, float(sum(alone[0])), 0.0, float(sum(alone[1]))]
    for i, j in aligned:
        inner[0] += counts[i, j, 0]
        inner[2] += counts[i, j, 2]
    return counted, inner


def _align(f1: Any) -> list[tuple[int, int]]:
    """The best alignment of sets; of several the one that the program's solver gives."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(-f1)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def _count(
    metric: str,
    pair: Pair,
    *,
    inside: bool,
    backward: dict[Element, tuple[Element, float]] | None = None,
) -> list[float]:
    if metric in _JOINT:
        return _JOINT[metric](pair)
    other = Pair(pair.response, pair.key, backward or {})
    return [*_DIRECTED[metric](pair, inside), *_DIRECTED[metric](other, inside)]


def count_pseudo(key: Scene, response: Scene) -> list[float]:
    """What refers to nothing: found, of the key's; and of the response's."""
    found = sum(any(one.covers(other) for other in response.pseudo) for one in key.pseudo)
    spurious = sum(not any(one.covers(m) for one in key.pseudo) for m in response.pseudo)
    return [found, len(key.pseudo), found, found + spurious]


def count_bridging(key: Scene, response: Scene, level: str) -> list[float]:
    """Bridging pairs whose anaphors, mentions or entities are right."""
    owners, right = key.owners, 0
    for anaphor, antecedent in key.bridging.items():
        other = response.bridging.get(anaphor)
        if other is not None:
            same = antecedent.covers(other)
            if level == "entity":
                same |= owners.get(other, -1) == owners.get(antecedent, -2)
            right += same or level == "anaphor"
    return [right, len(key.bridging), right, len(response.bridging)]

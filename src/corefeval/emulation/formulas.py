"""The counts of each metric for one document, in the variants that programs have.

Both sides are lists of entities, and entities lists of mentions, which may be repeated. `Table` has
what the variants share: which entity a mention is looked up in, and how many mentions of each pair
of entities are the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from functools import cached_property
from itertools import combinations
from typing import Any

from corefeval.emulation.documents import Entities, Mention
from corefeval.protocol import Protocol

Ratio = tuple[float, float]
Owners = Mapping[Mention, int]


class Table:
    """Two sides, and what metrics look up in them: `swapped` exchanges them."""

    def __init__(self, mine: Entities, theirs: Entities, owner: str) -> None:
        self.mine, self.theirs, self.owner = mine, theirs, owner

    @cached_property
    def owners(self) -> Owners:
        """The entity of the other side in which a mention is looked up."""
        return _owners(self.theirs, self.owner)

    @cached_property
    def my_owners(self) -> Owners:
        """The same for my own side."""
        return _owners(self.mine, self.owner)

    @cached_property
    def sets(self) -> list[set[Mention]]:
        """My entities as sets."""
        return [set(entity) for entity in self.mine]

    @cached_property
    def shared(self) -> list[Counter[int]]:
        """For each of my entities, how many of its mentions are looked up in which of theirs."""
        owners = self.owners
        return [Counter(owners[m] for m in entity if m in owners) for entity in self.mine]

    @cached_property
    def swapped(self) -> Table:
        """The same with the sides exchanged."""
        other = Table(self.theirs, self.mine, self.owner)
        other.__dict__["swapped"] = self
        return other

    @cached_property
    def holders(self) -> dict[Mention, list[int]]:
        """All of their entities that have a mention, each once."""
        found: dict[Mention, list[int]] = {}
        for index, entity in enumerate(self.swapped.sets):
            for mention in entity:
                found.setdefault(mention, []).append(index)
        return found

    @cached_property
    def overlaps(self) -> list[Counter[int]]:
        """For each of my entities, how many mentions it shares with which of theirs, as sets."""
        holders = self.holders
        return [Counter(i for m in entity for i in holders.get(m, ())) for entity in self.sets]


def _owners(entities: Entities, owner: str) -> dict[Mention, int]:
    places = range(len(entities)) if owner == "last" else range(len(entities) - 1, -1, -1)
    return {mention: index for index in places for mention in entities[index]}


def count_muc(table: Table, protocol: Protocol) -> tuple[Ratio, Ratio]:
    """MUC: links that are left when an entity is split by the other side."""
    recall, precision = _muc(table), _muc(table.swapped)
    return (precision[0] if protocol.muc == "response" else recall[0], recall[1]), precision


def _muc(table: Table) -> Ratio:
    found = sum(shared.total() - len(shared) for shared in table.shared)
    return found, sum(len(entity) - 1 for entity in table.mine)


def count_b3(table: Table, protocol: Protocol) -> tuple[Ratio, Ratio]:
    """B³, with singletons or without."""
    skips = protocol.b3_singletons == "skip"
    if protocol.b3 in ("response", "unique"):
        return _b3_by_mention(table, skips, protocol.b3 == "unique")
    one = _b3_overlap if protocol.b3 == "overlap" else _b3_lookup
    return one(table, skips), one(table.swapped, skips)


def _b3_lookup(table: Table, skips: bool) -> Ratio:
    return _b3_sums(table, table.shared, table.mine, skips)


def _b3_overlap(table: Table, skips: bool) -> Ratio:
    return _b3_sums(table, table.overlaps, table.sets, skips)


def _b3_sums(
    table: Table, shares: Sequence[Counter[int]], wholes: Sequence[Sized], skips: bool
) -> Ratio:
    top = bottom = 0.0
    for entity, shared, whole in zip(table.mine, shares, wholes, strict=True):
        if skips and len(entity) == 1:
            continue
        counted = (n * n for i, n in shared.items() if not (skips and len(table.theirs[i]) == 1))
        top += sum(counted) / len(whole)
        bottom += len(entity)
    return top, bottom


def _b3_by_mention(table: Table, skips: bool, unique: bool) -> tuple[Ratio, Ratio]:
    """Both sums over the response's mentions: as they stand, or each once."""
    key, response = table, table.swapped
    if unique:
        placed = list(response.my_owners.items())
    else:
        placed = [(m, index) for index, entity in enumerate(response.mine) for m in entity]
    recall = precision = 0.0
    for mention, theirs in placed:
        mine = response.owners.get(mention)
        if mine is None:
            continue
        sizes = len(key.mine[mine]), len(response.mine[theirs])
        if skips and 1 in sizes:
            continue
        shared = key.overlaps[mine][theirs]
        recall += shared / sizes[0]
        precision += shared / sizes[1]
    bottoms = [
        sum(
            1 if unique else len(side.mine[index])
            for index in (side.my_owners.values() if unique else range(len(side.mine)))
            if not (skips and len(side.mine[index]) == 1)
        )
        for side in (key, response)
    ]
    return (recall, bottoms[0]), (precision, bottoms[1])


def count_lea(table: Table, protocol: Protocol) -> tuple[Ratio, Ratio]:
    """LEA: the share of links found, by the size of the entity."""
    skips = protocol.lea_singletons == "skip"
    links = _links_by_member if protocol.lea == "member" else _links_by_label
    return _lea(table, skips, links), _lea(table.swapped, skips, links)


def _lea(table: Table, skips: bool, links: Callable[[Table, int], float]) -> Ratio:
    top = bottom = 0.0
    for index, entity in enumerate(table.mine):
        size = len(entity)
        if size > 1:
            top += links(table, index) / (size * (size - 1) / 2) * size
        elif skips:
            continue
        else:
            owner = table.owners.get(entity[0])
            top += owner is not None and len(table.theirs[owner]) == 1
        bottom += size
    return top, bottom


def _links_by_label(table: Table, index: int) -> float:
    return sum(n * (n - 1) / 2 for n in table.shared[index].values())


def _links_by_member(table: Table, index: int) -> float:
    """Pairs in whose second mention's entity the first is."""
    if _is_unique(table):  # then a mention is only where it is looked up
        return _links_by_label(table, index)
    entity, owners, sets = table.mine[index], table.owners, table.swapped.sets
    return sum(
        one in sets[owners[two]]
        for place, two in enumerate(entity)
        if two in owners
        for one in entity[:place]
    )


def _is_unique(table: Table) -> bool:
    return len(table.owners) == sum(map(len, table.theirs))


def count_mentions(table: Table) -> tuple[Ratio, Ratio]:
    """Mentions that both sides have, each once."""
    mine, theirs = table.my_owners, table.swapped.my_owners
    common = float(sum(mention in theirs for mention in mine))
    return (common, float(len(mine))), (common, float(len(theirs)))


def count_links(table: Table, protocol: Protocol) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Coreference and non-coreference links: those of both sides, of the key, of the response.

    Links are pairs of mentions in an entity, and pairs in two. With `blanc:key` a mention that is
    repeated is a pair with itself, and a pair may be both; otherwise it is a link if it can.
    """
    key, response = table.swapped.holders, table.holders
    both = {m: [(i, j) for i in key[m] for j in response[m]] for m in key if m in response}
    links = [_count_together(groups.values()) for groups in (both, key, response)]
    if protocol.blanc == "key":
        apart = [
            _choose(len(both)) - _simple(key, both) - _simple(response, both) + _simple(both, both),
            _choose(len(key)) - _simple(key, key),
            _choose(len(response)) - _simple(response, response),
        ]
        twice = [_find_repeated(side) for side in (table.mine, table.theirs)]
        several = [{m for m, g in side.items() if len(g) > 1} for side in (key, response)]
        links = _plus_common(links, twice)
        return tuple(links), tuple(_plus_common(apart, several))
    either = sum(_count_together(side[m] for m in both) for side in (key, response)) - links[0]
    numbers = len(both), len(key), len(response)
    less = (either, links[1], links[2])
    return tuple(links), tuple(_choose(n) - m for n, m in zip(numbers, less, strict=True))


def _choose(number: int) -> float:
    return number * (number - 1) / 2


def _count_together(groups: Iterable[Sequence[Any]]) -> float:
    """How many pairs of mentions share a group."""
    listed = list(groups)
    sizes = Counter(one for own in listed for one in own)
    total = sum(map(_choose, sizes.values()))
    several = [set(own) for own in listed if len(own) > 1]
    return total - sum(max(len(a & b) - 1, 0) for a, b in combinations(several, 2))


def _simple(groups: Mapping[Mention, Sequence[Any]], chosen: Iterable[Mention]) -> float:
    """How many pairs of the chosen mentions are in one group and in no other."""
    alone = Counter(groups[m][0] for m in chosen if len(groups[m]) == 1)
    return sum(map(_choose, alone.values()))


def _find_repeated(entities: Entities) -> set[Mention]:
    return {
        m
        for entity in entities
        if len(set(entity)) < len(entity)
        for m, n in Counter(entity).items()
        if n > 1
    }


def _plus_common(counts: list[float], sides: Sequence[set[Mention]]) -> list[float]:
    """Counts with what both sides have, the key and the response."""
    numbers = len(sides[0] & sides[1]), len(sides[0]), len(sides[1])
    return [count + number for count, number in zip(counts, numbers, strict=True)]


Edge = tuple[int, int, float]


def weigh_pairs(table: Table, protocol: Protocol, metric: str) -> tuple[list[Edge], Ratio]:
    """For CEAF, what pairs of entities are worth, and what each side is worth in all."""
    if metric == "ceafe" and protocol.ceafe_singletons == "skip-response":
        kept = [entity for entity in table.theirs if len(entity) > 1]
        table = Table(table.mine, kept, table.owner) if len(kept) < len(table.theirs) else table
    sides: tuple[Entities, Entities] = table.mine, table.theirs
    if protocol.ceaf == "matrix":
        sides = _cut_wrongly(table.mine), [list(one) for one in table.swapped.sets]
        table = Table(*sides, table.owner)
    elif protocol.ceaf == "set":
        sides = [list(one) for one in table.sets], [list(one) for one in table.swapped.sets]
    shares = table.overlaps
    if protocol.ceaf == "list" and any(
        len(e) > len(s) for e, s in zip(sides[0], table.sets, strict=True)
    ):
        shares = [Counter(i for m in e for i in table.holders.get(m, ())) for e in table.mine]
    edges = _weigh(shares, sides, metric)
    if metric == "ceafm" and protocol.ceafm == "entities":
        return edges, (len(sides[0]), len(sides[1]))
    if protocol.ceaf == "matrix":
        key, response = (Table(side, side, table.owner) for side in sides)
        wholes = [_weigh(one.overlaps, (one.mine, one.mine), metric) for one in (key, response)]
        return edges, (sum(w for *_, w in wholes[0]), sum(w for *_, w in wholes[1]))
    if metric == "ceafm":
        return edges, (sum(map(len, sides[0])), sum(map(len, sides[1])))
    return edges, (len(sides[0]), len(sides[1]))


def _weigh(
    shares: Sequence[Counter[int]], sides: tuple[Entities, Entities], metric: str
) -> list[Edge]:
    sizes = [[*map(len, side)] for side in sides]
    return [
        (one, other, n if metric == "ceafm" else 2 * n / (sizes[0][one] + sizes[1][other]))
        for one, counts in enumerate(shares)
        for other, n in counts.items()
    ]


def _cut_wrongly(entities: Entities) -> Entities:
    """The rows of neleval's matrix: each ends after as many cells as there were new mentions."""
    cells = [mention for entity in entities for mention in dict.fromkeys(entity)]
    seen: set[Mention] = set()
    rows = []
    for entity in entities:
        start = len(seen)
        seen.update(entity)
        rows.append(cells[start : len(seen)])
    return rows

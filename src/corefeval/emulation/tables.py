"""Contingency tables as other programs fill them, and the counts of metrics in their variants.

Both sides are lists of entities, and entities lists of mentions, which may be repeated. A program
looks each mention of an entity up in the entities of the other side; what it finds there becomes an
alignment of all documents, on which `metrics.coreference` counts. Variants differ in where a
repeated mention is looked up and how often it counts, and in what becomes of singletons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain, combinations, repeat
from typing import Any

import numpy as np

from corefeval.alignment import Alignment, Overlap, Side
from corefeval.diagnostics import Notice, merge_notices
from corefeval.emulation.documents import Document
from corefeval.metrics import Metric, spell
from corefeval.metrics.coreference import (
    HALVES,
    Counts,
    Ratio,
    RatioOf,
    Weights,
    b3_recall,
    blanc,
    both_directions,
    count_ceaf,
    lea_recall,
    muc_recall,
    phi3,
    phi4,
    ratio_counts,
)
from corefeval.metrics.mentions import matched_recall
from corefeval.model.arrays import BoolArray, FloatArray, integers
from corefeval.protocol import Protocol
from corefeval.results import CountTable, Result

Mention = Any  # hashable
Entities = Sequence[Sequence[Mention]]
Sides = Sequence[tuple[Entities, Entities]]  # key and response of each document
Homes = Mapping[Any, Sequence[int]]  # of each mention, the numbers of entities that have it
Entry = tuple[int, int, float]  # a mention: its key entity, its response entity, and its weight
Image = Callable[[Any], tuple[Any, float]]  # what is looked up for a mention, and its weight

CONLL = CountTable("mean", parts=("muc", "b3", "ceafe"))


def make_result(
    protocol: Protocol,
    tables: Mapping[str, CountTable],
    document_ids: tuple[str, ...],
    *,
    sides: tuple[str, str],
    key_digest: str,
    notices: Iterable[Notice],
) -> Result:
    """A result from the counts of metrics; `sides` are the names of key and response."""
    return Result(
        tables=tables,
        document_ids=document_ids,
        protocol=protocol,
        key=sides[0],
        response=sides[1],
        key_digest=key_digest,
        notices=merge_notices(notices),
        spell=spell,
        titles={name: Metric.parse(name).title for name in tables},
    )


def find_homes(entities: Entities, which: str) -> Homes:
    """The numbers of the entities in which each mention is looked up.

    `which` of the entities that have it: the `first`, the `last`, or `all`.
    """
    homes: dict[Any, list[int]] = {}
    for number, entity in enumerate(entities):
        for mention in dict.fromkeys(entity):
            homes.setdefault(mention, []).append(number)
    if which == "all":
        return homes
    place = 0 if which == "first" else -1
    return {mention: [numbers[place]] for mention, numbers in homes.items()}


def look_up(entities: Entities, homes: Homes, image: Image | None = None) -> Iterator[Entry]:
    """An entry for each mention of an entity and each home of it on the other side.

    `image` says what is looked up for a mention, and its weight: the mention itself and 1 if there
    is none.
    """
    for number, entity in enumerate(entities):
        for mention in entity:
            sought, weight = (mention, 1.0) if image is None else image(mention)
            for home in homes.get(sought, ()) if weight else ():
                yield number, home, weight


def tabulate(documents: Iterable[tuple[Entities, Entities, Iterable[Entry]]]) -> Alignment:
    """The alignment of documents: the entities of both sides, and the entries of their cells."""
    sizes: tuple[list[int], list[int]] = ([], [])
    homes: tuple[list[int], list[int]] = ([], [])
    entries: list[Entry] = []
    number = -1
    for number, (key, response, new_entries) in enumerate(documents):
        first_key, first_response = len(sizes[0]), len(sizes[1])
        entries += [(first_key + i, first_response + j, weight) for i, j, weight in new_entries]
        for side, entities in enumerate((key, response)):
            sizes[side].extend(map(len, entities))
            homes[side].extend([number] * len(entities))
    rows, columns, weight = np.fromiter(chain(*entries), np.float64).reshape(-1, 3).T
    return Alignment.of_cells(
        number + 1,
        (integers(homes[0]), integers(homes[1])),
        (integers(sizes[0]), integers(sizes[1])),
        Overlap.of(integers(rows), integers(columns), weight, weight**2),
    )


def tabulate_sides(
    sides: Iterable[tuple[Entities, Entities]],
    which: str,
    images: Iterable[Image | None] = repeat(None),
) -> Alignment:
    """The alignment of documents in which mentions of one side are looked up in the other side.

    `which` is that of `find_homes`, and `images` has the images of each document.
    """
    return tabulate(
        (entities, opposite, look_up(entities, find_homes(opposite, which), image))
        for (entities, opposite), image in zip(sides, images, strict=False)
    )


def keep_cells(table: Alignment, kept: BoolArray) -> Alignment:
    """A table of the same entities with some of its cells."""
    cells = table.overlap
    return Alignment.of_cells(
        table.n_documents,
        (table.key.entity_document, table.response.entity_document),
        (table.key.sizes, table.response.sizes),
        Overlap(cells.key[kept], cells.response[kept], cells.count[kept], cells.squares[kept]),
    )


class Tables:
    """The contingency tables of documents.

    The protocol's `owner` says in which entity a mention of several is looked up.
    """

    def __init__(self, documents: Sequence[Document], protocol: Protocol) -> None:
        self.sides: Sides = [document.sides for document in documents]
        self.owner = protocol.owner

    @cached_property
    def recall(self) -> Alignment:
        """Mentions of the key's entities, as often as they are there, looked up in the response."""
        return tabulate_sides(self.sides, self.owner)

    @cached_property
    def precision(self) -> Alignment:
        """Mentions of the response's entities looked up in the key; the response is its `key`."""
        return tabulate_sides(self.exchanged, self.owner)

    @property
    def exchanged(self) -> Sides:
        """Response and key of each document."""
        return [(response, key) for key, response in self.sides]

    @cached_property
    def sets(self) -> Alignment:
        """Entities as sets of mentions, and what each two of them share."""
        sides = [(_as_sets(key), _as_sets(response)) for key, response in self.sides]
        return tabulate_sides(sides, "all")

    @cached_property
    def distinct(self) -> Alignment:
        """Each mention once, in the entity in which it is looked up."""
        sides = [
            (_keep_at_home(key, self.owner), _keep_at_home(response, self.owner))
            for key, response in self.sides
        ]
        return tabulate_sides(sides, self.owner)

    @property
    def has_repeats(self) -> bool:
        """Whether a mention is there twice on one side of a document."""
        lists, once = self.recall, self.distinct
        return bool(
            lists.key.sizes.sum() > once.key.sizes.sum()
            or lists.response.sizes.sum() > once.response.sizes.sum()
        )


def _as_sets(entities: Entities) -> Entities:
    return [list(dict.fromkeys(entity)) for entity in entities]


def _keep_at_home(entities: Entities, owner: str) -> Entities:
    homes = find_homes(entities, owner)
    return [
        [mention for mention in entity if homes[mention] == [number]]
        for number, entity in enumerate(_as_sets(entities))
    ]


def _count_mentions(tables: Tables, protocol: Protocol) -> Counts:
    """Mentions that both sides have, each once."""
    return both_directions(matched_recall, tables.distinct)


def _count_muc(tables: Tables, protocol: Protocol) -> Counts:
    recall, precision = muc_recall(tables.recall), muc_recall(tables.precision)
    if protocol.muc == "response":
        recall = precision[0], recall[1]
    return ratio_counts(recall, precision)


def _count_b3(tables: Tables, protocol: Protocol) -> Counts:
    skips = protocol.b3_singletons == "skip"
    if protocol.b3 in ("response", "unique"):
        return _b3_by_mention(tables, skips, is_unique=protocol.b3 == "unique")
    lists = tables.recall, tables.precision
    cells = (tables.sets, tables.sets.swapped) if protocol.b3 == "overlap" else lists
    return ratio_counts(_b3(cells[0], lists[0], skips), _b3(cells[1], lists[1], skips))


def _b3(table: Alignment, lists: Alignment, skips: bool) -> Ratio:
    """B³ on the cells of a table, over the mentions that lists have."""
    in_key, in_response = _are_counted(lists, skips)
    cells = table.overlap
    kept = keep_cells(table, in_key[cells.key] & in_response[cells.response])
    return b3_recall(kept)[0], lists.sums(lists.key.entity_document, lists.key.sizes * in_key)


def _are_counted(lists: Alignment, skips: bool) -> tuple[BoolArray, BoolArray]:
    """Which entities of the key and of the response count: all, or all but singletons."""
    return lists.key.sizes > skips, lists.response.sizes > skips


def _b3_by_mention(tables: Tables, skips: bool, *, is_unique: bool) -> Counts:
    """Both sums over the response's mentions: as they stand, or each once."""
    lists = tables.recall
    table = tables.distinct if is_unique else tables.precision.swapped
    in_key, in_response = _are_counted(lists, skips)
    cells = table.overlap
    kept = in_key[cells.key] & in_response[cells.response]
    key, response, count = cells.key[kept], cells.response[kept], cells.count[kept]
    shared = count * tables.sets.shared(key, response)
    document = lists.key.entity_document

    def total(side: Side, counted: BoolArray) -> FloatArray:
        return lists.sums(side.entity_document, side.sizes * counted)

    return ratio_counts(
        (lists.sums(document[key], shared / lists.key.sizes[key]), total(table.key, in_key)),
        (
            lists.sums(document[key], shared / lists.response.sizes[response]),
            total(table.response, in_response),
        ),
    )


def _count_lea(tables: Tables, protocol: Protocol) -> Counts:
    skips = protocol.lea_singletons == "skip"
    recall = partial(
        lea_recall,
        importance=lambda side: np.where(side.sizes > skips, side.sizes, 0),
    )
    if protocol.lea == "member":
        return ratio_counts(
            _lea_by_member(tables.recall, tables.sides, tables.owner, recall),
            _lea_by_member(tables.precision, tables.exchanged, tables.owner, recall),
        )
    return ratio_counts(recall(tables.recall), recall(tables.precision))


def _lea_by_member(table: Alignment, sides: Sides, owner: str, recall: RatioOf) -> Ratio:
    """LEA whose links are pairs in whose second mention's entity the first is."""
    resolved, total = recall(keep_cells(table, table.key.sizes[table.overlap.key] == 1))
    for document, (entities, opposite) in enumerate(sides):
        homes, members = find_homes(opposite, owner), [set(entity) for entity in opposite]
        for entity in entities:
            links = sum(
                first in members[homes[second][0]]
                for place, second in enumerate(entity)
                if second in homes
                for first in entity[:place]
            )
            resolved[document] += 2 * links / (len(entity) - 1) if links else 0
    return resolved, total


def _count_pairs(tables: Tables, protocol: Protocol) -> Counts:
    """Coreference links as recall and precision."""
    counts = _count_blanc(tables, protocol)
    common, key, response = (counts[f"coreference_{side}"] for side in _SIDES)
    return ratio_counts((common, key), (common, response))


_SIDES = ("common", "key", "response")


def _count_blanc(tables: Tables, protocol: Protocol) -> Counts:
    """Coreference and non-coreference links: those of both sides, of the key, of the response."""
    if not tables.has_repeats:
        return blanc(tables.sets)
    rows = [_count_links(key, response, protocol) for key, response in tables.sides]
    names = [f"{half}_{side}" for half in HALVES for side in _SIDES]
    return dict(zip(names, np.array(rows, dtype=np.float64).T, strict=True))


def _count_links(key: Entities, response: Entities, protocol: Protocol) -> list[float]:
    """The links of a document in which mentions are repeated.

    Links are pairs of mentions in an entity, and pairs in two. With `blanc:key` a mention that is
    repeated is a pair with itself, and a pair may be both; otherwise it is a link if it can.
    """
    in_key, in_response = find_homes(key, "all"), find_homes(response, "all")
    in_both: dict[Mention, list[tuple[int, int]]] = {
        mention: [(i, j) for i in in_key[mention] for j in in_response[mention]]
        for mention in in_key
        if mention in in_response
    }
    links = [_count_together(homes.values()) for homes in (in_both, in_key, in_response)]
    if protocol.blanc == "key":
        alone = [_count_alone(homes, in_both) for homes in (in_both, in_key, in_response)]
        apart = [
            _number_of_pairs(len(in_both)) - alone[1] - alone[2] + alone[0],
            _number_of_pairs(len(in_key)) - _count_alone(in_key, in_key),
            _number_of_pairs(len(in_response)) - _count_alone(in_response, in_response),
        ]
        repeated = [
            {m for entity in side for m, number in Counter(entity).items() if number > 1}
            for side in (key, response)
        ]
        in_several = [
            {mention for mention, numbers in homes.items() if len(numbers) > 1}
            for homes in (in_key, in_response)
        ]
        return [*_add_common(links, repeated), *_add_common(apart, in_several)]
    in_either = -links[0]
    for homes in (in_key, in_response):
        in_either += _count_together(homes[mention] for mention in in_both)
    numbers = len(in_both), len(in_key), len(in_response)
    linked = in_either, links[1], links[2]
    return [
        *links,
        *(_number_of_pairs(n) - pairs for n, pairs in zip(numbers, linked, strict=True)),
    ]


def _number_of_pairs(number: int) -> float:
    return number * (number - 1) / 2


def _count_together(groups: Iterable[Sequence[Any]]) -> float:
    """How many pairs of mentions share a group, where each mention is in a list of groups."""
    listed = list(groups)
    sizes = Counter(group for numbers in listed for group in numbers)
    several = [set(numbers) for numbers in listed if len(numbers) > 1]
    again = sum(max(len(a & b) - 1, 0) for a, b in combinations(several, 2))
    return sum(map(_number_of_pairs, sizes.values())) - again


def _count_alone(groups: Mapping[Any, Sequence[Any]], chosen: Iterable[Mention]) -> float:
    """How many pairs of the chosen mentions are in one group and in no other."""
    sizes = Counter(groups[mention][0] for mention in chosen if len(groups[mention]) == 1)
    return sum(map(_number_of_pairs, sizes.values()))


def _add_common(counts: list[float], sides: Sequence[set[Mention]]) -> list[float]:
    """Counts of both sides, of the key and of the response, with as many mentions more."""
    numbers = len(sides[0] & sides[1]), len(sides[0]), len(sides[1])
    return [count + number for count, number in zip(counts, numbers, strict=True)]


def _count_ceafm(tables: Tables, protocol: Protocol) -> Counts:
    counts = _count_ceaf(phi3, tables.sides, protocol)
    if protocol.ceafm == "entities":
        numbers = np.array([[len(key), len(response)] for key, response in tables.sides])
        counts["recall_denominator"], counts["precision_denominator"] = numbers.reshape(-1, 2).T
    return counts


def _count_ceafe(tables: Tables, protocol: Protocol) -> Counts:
    sides = tables.sides
    if protocol.ceafe_singletons == "skip-response":
        sides = [(key, [entity for entity in side if len(entity) > 1]) for key, side in sides]
    return _count_ceaf(phi4, sides, protocol)


def _count_ceaf(phi: Callable[[Alignment], Weights], sides: Sides, protocol: Protocol) -> Counts:
    """CEAF of entities as lists, whose repeats count in the key, as sets, or as neleval's rows."""
    if protocol.ceaf != "list":
        cut = _cut_wrongly if protocol.ceaf == "matrix" else _as_sets
        sides = [(cut(key), _as_sets(response)) for key, response in sides]
    table = _tabulate_all(sides, keeps_repeats=protocol.ceaf == "list")
    counts = count_ceaf(phi, table)
    if protocol.ceaf == "matrix":  # divided by the sum over all pairs of one side
        for side, rate in enumerate(("recall", "precision")):
            alone = _tabulate_all([(document[side], document[side]) for document in sides])
            counts[f"{rate}_denominator"] = alone.sums(alone.shares.group, phi(alone)[0])
    return counts


def _tabulate_all(sides: Sides, *, keeps_repeats: bool = False) -> Alignment:
    """Mentions of the key's entities looked up in all entities of the response that have them."""
    return tabulate(
        (key, response, look_up(key if keeps_repeats else _as_sets(key), homes))
        for key, response in sides
        for homes in [find_homes(response, "all")]
    )


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


COUNTERS: dict[str, Callable[[Tables, Protocol], Counts]] = {
    "mentions": _count_mentions,
    "muc": _count_muc,
    "b3": _count_b3,
    "ceafm": _count_ceafm,
    "ceafe": _count_ceafe,
    "blanc": _count_blanc,
    "lea": _count_lea,
    "links": _count_pairs,
}

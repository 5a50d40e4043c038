"""Contingency tables of entities that are lists of mentions, filled as a program fills them.

A program looks each mention of an entity up in the entities of the other side. What it finds there
becomes an alignment of all documents, on which `metrics.coreference` counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from corefeval.alignment import Alignment, Overlap
from corefeval.model.arrays import BoolArray

Lists = Sequence[Sequence[Any]]  # entities with their mentions, which can be hashed
Homes = Mapping[Any, Sequence[int]]
Entry = tuple[int, int, float]  # a mention: its key entity, its response entity, and its weight
Image = Callable[[Any], tuple[Any, float]]


def find_homes(entities: Lists, which: str) -> Homes:
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


def look_up(entities: Lists, homes: Homes, image: Image | None = None) -> Iterator[Entry]:
    """An entry for each mention of an entity and each home of it on the other side.

    `image` says what is looked up for a mention, and its weight: the mention itself and 1 if there
    is none.
    """
    for number, entity in enumerate(entities):
        for mention in entity:
            sought, weight = (mention, 1.0) if image is None else image(mention)
            for home in homes.get(sought, ()) if weight else ():
                yield number, home, weight


def tabulate(documents: Iterable[tuple[Lists, Lists, Iterable[Entry]]]) -> Alignment:
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
    rows, columns, weight = np.array(entries, dtype=np.float64).reshape(-1, 3).T
    return Alignment.of_cells(
        number + 1,
        (np.array(homes[0], dtype=np.int64), np.array(homes[1], dtype=np.int64)),
        (np.array(sizes[0], dtype=np.int64), np.array(sizes[1], dtype=np.int64)),
        Overlap.of(rows.astype(np.int64), columns.astype(np.int64), weight, weight**2),
    )


def tabulate_sides(
    sides: Iterable[tuple[Lists, Lists]], which: str, images: Iterable[Image | None] = repeat(None)
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

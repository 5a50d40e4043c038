"""What becomes of a response when errors are fixed (Kummerfeld and Klein 2013, §3).

A fix is a function from a partition of the items to another one. In their order:

1. `span`: mentions with a wrong span get the right one;
2. `conflated`: parts leave entities that are mostly another key entity's, each on its own;
3. `extra mention` and `extra entity`: mentions that stand for no key mention are removed;
4. `missing mention`: each joins the largest part of its entity; `missing entity`: introduced whole;
5. `divided`: the parts of each key entity join its largest.

After all of them the response is the key: every item then stands for a key mention, and two items
are together exactly when they mean the same entity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from corefeval.alignment import Alignment, Side
from corefeval.analysis.errors.classification import Classification, Parts, parts_of
from corefeval.analysis.errors.kinds import Kind
from corefeval.model.arrays import BoolArray, IntArray, dense_ranks, looked_up
from corefeval.model.categories import Categories


@dataclass(frozen=True, eq=False)
class Partition:
    """The items' entities (−1: not there), and whether spans are right by now."""

    owner: IntArray
    spans_are_right: bool = False


def fixed(errors: Classification, kinds: Sequence[Kind]) -> Alignment:
    """Key and response aligned after these kinds of errors have been fixed, one by one."""
    partition = Partition(errors.items.owner)
    for kind in kinds:
        partition = _fixed(errors, partition, kind)
    return _aligned(errors, partition)


def _fixed(errors: Classification, partition: Partition, kind: Kind) -> Partition:
    if kind == "span":
        return replace(partition, spans_are_right=True)
    owner = partition.owner
    if kind in ("extra mention", "extra entity"):
        return replace(partition, owner=np.where(errors.of_kind(kind), -1, owner))
    new = int(owner.max(initial=-1)) + 1  # entities of this number and above are new ones
    parts = parts_of(errors.items, owner, new, errors.alignment.key.sizes.size)
    if kind == "conflated":
        owner = _split(owner, parts, new)
    elif kind == "divided":
        owner = _merged(owner, parts)
    else:
        owner = _introduced(owner, errors.items.meaning, errors.of_kind(kind), parts, new)
    return replace(partition, owner=owner)


def _split(owner: IntArray, parts: Parts, new: int) -> IntArray:
    """Each part but an entity's largest gets an entity of its own; extra mentions stay."""
    main = looked_up(parts.main_of_response, owner)
    leaves = (parts.of_item >= 0) & (parts.of_item != main)
    return np.where(leaves, new + parts.of_item, owner)


def _merged(owner: IntArray, parts: Parts) -> IntArray:
    """The parts of a key entity go to where its largest is, out of whatever they were in."""
    meaning = looked_up(parts.key, parts.of_item)
    home = looked_up(parts.response, looked_up(parts.main_of_key, meaning))
    return np.where(parts.of_item >= 0, home, owner)


def _introduced(
    owner: IntArray, meaning: IntArray, which: BoolArray, parts: Parts, new: int
) -> IntArray:
    """Missing mentions join the largest part of their entity, or make a new entity together."""
    home = looked_up(parts.response, looked_up(parts.main_of_key, meaning))
    return np.where(which, np.where(home >= 0, home, new + meaning), owner)


def _aligned(errors: Classification, partition: Partition) -> Alignment:
    items = errors.items
    place = items.right_place if partition.spans_are_right else items.place
    rows = np.flatnonzero(partition.owner >= 0)
    rows = rows[np.argsort(place[rows], kind="stable")]
    entity, distinct = dense_ranks(partition.owner[rows])
    entity_document = np.zeros(distinct.size, dtype=np.int64)
    entity_document[entity] = items.document[rows]
    key_row = items.key_row[rows]
    if not partition.spans_are_right:
        key_row = np.where(items.wrong[rows], -1, key_row)
    matched = np.flatnonzero(key_row >= 0)
    response = _side(errors, rows, entity_document, entity, key_row)
    return Alignment(
        errors.alignment.n_documents, errors.alignment.key, response, key_row[matched], matched
    )


def _side(
    errors: Classification,
    rows: IntArray,
    entity_document: IntArray,
    entity: IntArray,
    key_row: IntArray,
) -> Side:
    key, response = errors.alignment.key, errors.alignment.response

    def feature(name: str) -> Categories:
        """The key's value for mentions that the key has, the response's own for the rest."""
        values = Categories.concatenate(key.feature(name), response.feature(name))
        return values.take(np.where(key_row >= 0, key_row, key.mention_entity.size + rows))

    return Side(entity_document, entity, feature)

"""Metrics of entities with split antecedents, from their definitions, in plain Python.

An entity is a set of mentions, and may have a set of antecedents: blocks of mentions of other
entities. A set counts as one more element of its entity, right as far as its blocks are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

METRICS = ("muc", "b3", "ceafm", "ceafe", "lea")
Blocks = list[frozenset]


@dataclass(frozen=True)
class Entity:
    mentions: frozenset
    blocks: frozenset | None = None

    @property
    def size(self) -> int:
        return len(self.mentions) + (self.blocks is not None)


def accommodate(mentions: Sequence[frozenset], split: Mapping[int, Sequence[int]]) -> list[Entity]:
    """Entities with the blocks of their leaves; those with the same leaves are one."""

    def leaves(number: int) -> set[int]:
        if number not in split:
            return {number}
        return set().union(*map(leaves, split[number]))

    made: dict[object, Entity] = {}
    for number, own in enumerate(mentions):
        key = frozenset(leaves(number)) if number in split else number
        blocks = frozenset(mentions[leaf] for leaf in key) if number in split else None
        before = made[key].mentions if key in made else frozenset()
        made[key] = Entity(before | own, blocks)
    return list(made.values())


def count(metric: str, key: Sequence[Entity], response: Sequence[Entity]) -> list[float]:
    """The numerator and the denominator of recall, then those of precision."""
    rows, columns = ([n for n, one in enumerate(side) if one.blocks] for side in (key, response))
    inner = {
        (i, j): _compare_blocks(metric, list(key[i].blocks), list(response[j].blocks))
        for i in rows
        for j in columns
    }
    table = np.array([[inner[i, j][2] for j in columns] for i in rows]).reshape(len(rows), -1)
    pairs = zip(*linear_sum_assignment(-table), strict=True) if table.size else ()
    aligned = {
        (rows[i], columns[j]): inner[rows[i], columns[j]] for i, j in pairs if table[i, j] > 0
    }
    return _count(metric, key, response, aligned)


def _compare_blocks(metric: str, key: Blocks, response: Blocks) -> tuple[float, float, float]:
    """Recall, precision and F1 of two sets."""
    sides = [[Entity(block) for block in side] for side in (key, response)]
    counts = _count(metric, *sides, {}, single_links=True)
    recall, precision = (counts[at] / counts[at + 1] for at in (0, 2))
    return recall, precision, 2 * recall * precision / (recall + precision) if recall else 0.0


def _count(metric, key, response, aligned, *, single_links=False) -> list[float]:
    if metric in ("ceafm", "ceafe"):
        weight = np.zeros((len(key), len(response)))
        owner = {m: j for j, other in enumerate(response) for m in other.mentions}
        for i, one in enumerate(key):
            for mention in one.mentions & owner.keys():
                weight[i, owner[mention]] += 1
        for pair, (_, _, credit) in aligned.items():
            weight[pair] += credit
        if metric == "ceafe":
            sizes = [np.array([entity.size for entity in side]) for side in (key, response)]
            weight *= 2 / np.add.outer(*sizes)
        total = float(weight[linear_sum_assignment(-weight)].sum())
        sizes = [len(s) if metric == "ceafe" else sum(e.size for e in s) for s in (key, response)]
        return [total, sizes[0], total, sizes[1]]
    swapped = {(j, i): values for (i, j), values in aligned.items()}
    halves = (key, response, aligned, 0), (response, key, swapped, 1)
    counts: list[float] = []
    for mine, theirs, pairs, which in halves:
        owner = {m: j for j, other in enumerate(theirs) for m in other.mentions}
        total = [0.0, 0.0]
        for i, one in enumerate(mine):
            cells: dict[int, int] = {}
            for mention in one.mentions:
                if mention in owner:
                    cells[owner[mention]] = cells.get(owner[mention], 0) + 1
            credit = {j: values[which] for (k, j), values in pairs.items() if k == i}
            is_kept = one.size == 1 and any(theirs[j].size == 1 for j in cells)
            terms = _add_entity(metric, one.size, cells, credit, is_kept, single_links)
            total = [a + b for a, b in zip(total, terms, strict=True)]
        counts += total
    return counts


def _add_entity(metric, size, cells, credit, is_kept, single_links) -> tuple[float, float]:
    if metric == "muc":
        if single_links and size == 1:
            return float(is_kept), 1.0
        links = sum(n - 1 for n in cells.values())
        return links + sum(value for j, value in credit.items() if j in cells), size - 1.0
    if metric == "b3":
        shares = [cells.get(j, 0) + credit.get(j, 0.0) for j in {*cells, *credit}]
        return sum(share**2 for share in shares) / size, size
    if size == 1:
        return float(is_kept), 1.0
    links = sum(n * (n - 1) / 2 + credit.get(j, 0.0) * n for j, n in cells.items())
    return size * links / (size * (size - 1) / 2), size

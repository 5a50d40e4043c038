"""Metrics of entities with split antecedents, from their definitions, in plain Python.

An entity is a set of mentions, and may have a set of antecedents: blocks of mentions of other
entities. A set counts as one more element of its entity, right as far as its blocks are. Numbers
are fractions, so that what is equal is equal; alignments are tried one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

import corefeval
from corefeval import corpus_from_arrays
from corefeval.model import Relation, Relations

METRICS = ("muc", "b3", "ceafm", "ceafe", "lea")
Blocks = frozenset
Worth = tuple[Fraction, Fraction, Fraction]  # recall, precision and F1 of a pair of sets
Aligned = Mapping[tuple[int, int], Worth]


@dataclass(frozen=True)
class Entity:
    mentions: frozenset
    blocks: Blocks | None = None

    @property
    def size(self) -> int:
        return len(self.mentions) + (self.blocks is not None)


def accommodate(mentions: Sequence[frozenset], split: Mapping[int, Sequence[int]]) -> list[Entity]:
    """Entities with the blocks of their leaves; those with the same leaves are one."""

    def leaves(number: int, path: tuple[int, ...]) -> set[int]:
        parts = [one for one in split.get(number, ()) if one != number]
        if not parts:
            return {number}
        nested = (leaves(one, (*path, number)) for one in parts if one not in path)
        return set().union(*nested)

    made: dict[object, Entity] = {}
    for number, own in enumerate(mentions):
        found = leaves(number, ()) - {number}
        key = frozenset(found) if found else number
        blocks = frozenset(mentions[leaf] for leaf in found) if found else None
        before = made[key].mentions if key in made else frozenset()
        made[key] = Entity(before | own, blocks)
    return list(made.values())


def count(metric: str, key: Sequence[Entity], response: Sequence[Entity]) -> list[float]:
    """The numerator and the denominator of recall, then those of precision; BLANC has six."""
    aligned = align(metric, key, response)
    if metric == "blanc":
        return list(map(float, _blanc(key, response, aligned)))
    return list(map(float, _count(metric, key, response, aligned)))


def count_sets(metric: str, key: Sequence[Entity], response: Sequence[Entity]) -> list[float]:
    """The same of sets alone."""
    commons, wholes = ((0, 3), ((1, 4), (2, 5))) if metric == "blanc" else ((0, 2), ((1,), (3,)))
    total = [Fraction(0)] * (6 if metric == "blanc" else 4)
    for i, j in align(metric, key, response):
        counts = _inner(metric, key[i].blocks, response[j].blocks)
        for place in commons:
            total[place] += counts[place]
    for side, places in zip((key, response), wholes, strict=True):
        for entity in side:
            if entity.blocks:
                own = _inner(metric, entity.blocks, frozenset())
                for place, there in zip(places, wholes[0], strict=True):
                    total[place] += own[there]
    return list(map(float, total))


def align(metric: str, key: Sequence[Entity], response: Sequence[Entity]) -> dict:
    """The best alignment of sets: by F1, then by mentions in common, then by place."""
    rows, columns = ([n for n, one in enumerate(side) if one.blocks] for side in (key, response))
    inner = {
        (i, j): compare(metric, key[i].blocks, response[j].blocks) for i in rows for j in columns
    }

    def rank(pairs: tuple[tuple[int, int], ...]) -> tuple:
        shared = sum(len(key[i].mentions & response[j].mentions) for i, j in pairs)
        places = sorted(
            (min(rows.index(i), columns.index(j)), max(rows.index(i), columns.index(j)), i)
            for i, j in pairs
        )
        return -sum(inner[pair][2] for pair in pairs), -shared, places

    useful = [pair for pair, worth in inner.items() if worth[2] > 0]
    best = min((rank(pairs), pairs) for pairs in _matchings(useful))[1]
    return {pair: inner[pair] for pair in best}


def _matchings(pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[tuple[int, int], ...]]:
    """All one-to-one choices of pairs that take no more."""
    for number in range(len(pairs), -1, -1):
        for chosen in combinations(pairs, number):
            if len({i for i, _ in chosen}) == len({j for _, j in chosen}) == number:
                yield chosen


def compare(metric: str, key: Blocks, response: Blocks) -> Worth:
    """Recall, precision and F1 of two sets."""
    counts = _inner(metric, key, response)
    if metric == "blanc":
        halves = [counts[:3], counts[3:]]
        known = [2 * c / (k + r) for c, k, r in halves if k + r]
        f1 = sum(known) / len(known) if known else Fraction(0)
        return f1, f1, f1
    recall, precision = (Fraction(counts[at]) / counts[at + 1] for at in (0, 2))
    both = recall + precision
    return recall, precision, 2 * recall * precision / both if both else Fraction(0)


def _inner(metric: str, key: Blocks, response: Blocks) -> list[Fraction]:
    sides = [[Entity(block) for block in side] for side in (key, response)]
    if metric == "blanc":
        return _blanc(*sides, {})
    return _count(metric, *sides, {}, single_links=True)


def _count(metric, key, response, aligned: Aligned, *, single_links=False) -> list[Fraction]:
    if metric in ("ceafm", "ceafe"):
        weight = {}
        for i, one in enumerate(key):
            for j, other in enumerate(response):
                shared = Fraction(len(one.mentions & other.mentions))
                shared += aligned.get((i, j), (0, 0, 0))[2]
                weight[i, j] = shared
                if metric == "ceafe":
                    weight[i, j] = 2 * shared / (one.size + other.size)
        total = _heaviest(weight, len(key), len(response))
        sizes = [len(s) if metric == "ceafe" else sum(e.size for e in s) for s in (key, response)]
        return [total, Fraction(sizes[0]), total, Fraction(sizes[1])]
    swapped = {(j, i): values for (i, j), values in aligned.items()}
    counts: list[Fraction] = []
    for mine, theirs, pairs, which in ((key, response, aligned, 0), (response, key, swapped, 1)):
        total = [Fraction(0), Fraction(0)]
        for i, one in enumerate(mine):
            cells = {j: len(one.mentions & other.mentions) for j, other in enumerate(theirs)}
            cells = {j: n for j, n in cells.items() if n}
            credit = {j: values[which] for (k, j), values in pairs.items() if k == i}
            is_kept = one.size == 1 and any(theirs[j].size == 1 for j in cells)
            terms = _add_entity(metric, one.size, cells, credit, is_kept, single_links)
            total = [a + b for a, b in zip(total, terms, strict=True)]
        counts += total
    return counts


def _heaviest(weight: Mapping[tuple[int, int], Fraction], rows: int, columns: int) -> Fraction:
    """The heaviest assignment, row by row, by what columns are left."""
    best = {0: Fraction(0)}
    for row in range(rows):
        after = dict(best)
        for used, total in best.items():
            for column in range(columns):
                if not used >> column & 1 and weight[row, column]:
                    now = used | 1 << column
                    after[now] = max(after.get(now, Fraction(0)), total + weight[row, column])
        best = after
    return max(best.values())


def _add_entity(metric, size, cells, credit, is_kept, single_links) -> tuple[Fraction, Fraction]:
    size = Fraction(size)
    if metric == "muc":
        if single_links and size == 1:
            return Fraction(is_kept), Fraction(1)
        links = Fraction(sum(n - 1 for n in cells.values()))
        return links + sum(value for j, value in credit.items() if j in cells), size - 1
    if metric == "b3":
        shares = [cells.get(j, 0) + credit.get(j, Fraction(0)) for j in {*cells, *credit}]
        return sum((share**2 for share in shares), Fraction(0)) / size, size
    if size == 1:
        return Fraction(is_kept), Fraction(1)
    links = sum(Fraction(n * (n - 1), 2) + credit.get(j, 0) * n for j, n in cells.items())
    return size * links / (size * (size - 1) / 2), size


def _blanc(key, response, aligned: Aligned) -> list[Fraction]:
    """BLANC's links, one by one: common, of the key and of the response, for either kind."""
    owner = {m: j for j, other in enumerate(response) for m in other.mentions}
    elements = [
        (i, owner[m], Fraction(1)) for i, one in enumerate(key) for m in one.mentions if m in owner
    ] + [(i, j, worth[2]) for (i, j), worth in aligned.items()]
    common = [Fraction(0), Fraction(0)]
    for (i, j, worth), (k, r, other) in combinations(elements, 2):
        if i == k and j == r:
            common[0] += worth * other
        elif i != k and j != r:
            common[1] += worth * other
    counts = [[common[0]], [common[1]]]
    for side in (key, response):
        links = sum(Fraction(one.size * (one.size - 1), 2) for one in side)
        size = sum(one.size for one in side)
        counts[0].append(Fraction(links))
        counts[1].append(Fraction(size * (size - 1), 2) - links)
    return [*counts[0], *counts[1]]


def build(documents, ids=()):
    """A corpus of (entities, split) for each document, mentions being token positions."""
    entity, start, document, relations, first = [], [], [], [], 0
    for number, (groups, split) in enumerate(documents):
        for index, mentions in enumerate(groups):
            entity += [first + index] * len(mentions)
            start += mentions
            document += [number] * len(mentions)
        for whole, parts in split.items():
            antecedents = tuple((first + int(part), -1) for part in parts)
            relations.append(Relation("split-antecedent", (first + int(whole), -1), antecedents))
        first += len(groups)
    arrays = {"entity": entity, "start": start, "document": document}
    corpus = corpus_from_arrays(
        **{name: np.array(values, dtype=np.int64) for name, values in arrays.items()},
        document_ids=ids or [*map(str, range(len(documents)))],
    )
    return corpus.with_details(relations=Relations.of(relations))


def rows(result, metric):
    """A metric's counts, a list for each document."""
    return result.tables[str(corefeval.Metric.parse(metric))].values.tolist()

"""Annotations for tests of consensus, audits and ceilings: made, drawn, and brute force."""

from __future__ import annotations

import json
from itertools import combinations
from math import comb
from pathlib import Path

from hypothesis import strategies as st

import corefeval

DATA = Path(__file__).parent.parent / "data" / "merge"


def cases_of(name: str) -> list[dict]:
    return json.loads((DATA / f"{name}.json").read_text())


def make_corpus(documents: dict, heads: dict | None = None, name: str = "") -> corefeval.Corpus:
    """A corpus of documents with entities of [start, end] mentions."""
    rows = [
        (place, number, *mention, (heads or {}).get((document, *mention), -1))
        for place, (document, entities) in enumerate(documents.items())
        for number, entity in enumerate(entities)
        for mention in entity
    ]
    place, entity, start, end, head = zip(*rows, strict=True) if rows else [()] * 5
    return corefeval.corpus_from_arrays(
        entity=entity,
        start=start,
        end=end,
        document=place,
        document_ids=list(documents),
        head=head if heads else None,
        name=name,
    )


def make_sides(documents: dict, heads: dict | None = None) -> dict:
    """Corpora by the names of annotators or responses."""
    return {name: make_corpus(side, heads, name) for name, side in documents.items()}


def cost_of(annotations, partition) -> tuple[int, int]:
    """Overruled votes and links of a partition of mentions, pair by pair."""
    place = {m: number for number, entity in enumerate(partition) for m in entity}
    cost = links = 0
    for a, b in combinations(place, 2):
        voters = [side for side in annotations if a in side and b in side]
        votes = sum(side[a] == side[b] for side in voters)
        together = place[a] == place[b]
        cost += len(voters) - votes if together else votes
        links += together
    return cost, links


def partitions_of(items: list):
    """All partitions of a list."""
    if not items:
        yield []
        return
    first, *further = items
    for partition in partitions_of(further):
        yield [[first], *partition]
        for number, entity in enumerate(partition):
            yield [*partition[:number], [first, *entity], *partition[number + 1 :]]


def entities_of(side: dict) -> list[list]:
    """A mapping from mentions to labels, as entities."""
    return [[m for m in side if side[m] == label] for label in sorted(set(side.values()))]


def count_links(entities) -> int:
    return sum(comb(len(entity), 2) for entity in entities)


MENTIONS = [(number, number + 1) for number in range(7)]
SIDE = st.dictionaries(st.sampled_from(MENTIONS), st.integers(0, 3))
ANNOTATIONS = st.lists(SIDE, min_size=1, max_size=4)

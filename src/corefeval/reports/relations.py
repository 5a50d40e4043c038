"""Sets of antecedents and bridging as the page shows them, by numbers in each document."""

from __future__ import annotations

from typing import Any

import numpy as np

from corefeval.alignment import Alignment
from corefeval.beyond import FullSide
from corefeval.metrics.anaphora import right_pairs
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, IntArray
from corefeval.model.relations import bridging_pairs, find_elements

Json = dict[str, Any]


def describe_relations(
    alignment: Alignment, corpora: tuple[Corpus, Corpus]
) -> tuple[list[Json], list[Json]]:
    """Of each document of the key and of the response its sets and bridging, where it has any.

    `sets` are an entity and its elements; `bridging` an anaphor, its antecedent, the relation and,
    in the response, whether it is right at the level of entities. Entities and mentions have the
    numbers that the page gives them; what is not scored is left out.
    """
    full_sides = alignment.aside
    if full_sides is None:
        return [{} for _ in corpora[0].documents], [{} for _ in corpora[1].documents]
    return (
        _describe_side(full_sides.key, corpora[0], None),
        _describe_side(full_sides.response, corpora[1], right_pairs(alignment)),
    )


def _describe_side(side: FullSide, scored: Corpus, right: BoolArray | None) -> list[Json]:
    shown: list[Json] = [{} for _ in scored.documents]
    counts = np.bincount(scored.entity_document, minlength=len(shown))
    first_entity = (np.cumsum(counts) - counts).tolist()
    row = np.full(side.corpus.n_mentions + 1, -1, dtype=np.int64)
    row[side.rows] = np.arange(side.rows.size)
    document = side.corpus.entity_document
    entities, rows = np.unique(side.corpus.mention_entity, return_index=True)
    owner: IntArray = np.full(side.corpus.n_entities, -1, dtype=np.int64)
    owner[entities] = side.entity[rows]
    for set_entity, parts in find_elements(side.corpus).items():
        elements = [int(owner[part]) for part in sorted(parts) if owner[part] >= 0]
        if owner[set_entity] >= 0 and elements:
            index = int(document[set_entity])
            shift = first_entity[index]
            numbers = [
                int(owner[set_entity]) - shift,
                sorted({element - shift for element in elements}),
            ]
            shown[index].setdefault("sets", []).append(numbers)
    pairs = bridging_pairs(side.corpus)
    columns = (row[pairs.anaphor].tolist(), row[pairs.antecedent].tolist())
    marks = [None] * len(columns[0]) if right is None else right.tolist()
    owners = side.corpus.mention_document[pairs.anaphor].tolist()
    labels = pairs.label.values()
    for anaphor, antecedent, label, mark, index in zip(
        *columns, labels, marks, owners, strict=True
    ):
        if anaphor >= 0 and antecedent >= 0:
            shift = int(scored.mention_offsets[index])
            numbers = [anaphor - shift, antecedent - shift, label or ""]
            shown[index].setdefault("bridging", []).append(
                numbers + ([] if mark is None else [mark])
            )
    return shown

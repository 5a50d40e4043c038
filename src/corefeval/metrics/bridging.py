"""Bridging, and mentions that refer to nothing: both are counted beside coreference."""

from __future__ import annotations

import numpy as np

from corefeval.alignment import Alignment
from corefeval.beyond import FullSide
from corefeval.metrics.counting import Counts, ratio_counts
from corefeval.model.arrays import BoolArray, FloatArray, IntArray
from corefeval.model.bridging import bridging_pairs
from corefeval.model.sets import non_referring


def bridging(alignment: Alignment, *, level: str = "entity", typed: str = "false") -> Counts:
    """Anaphors of bridging that both sides have, with antecedents that are right.

    An anaphor of the response is right if all of its antecedents are: each is one of those that the
    key has for it (`mention`), or a mention of one of their entities in the key (`entity`).
    """
    sides = alignment.beyond
    key, response = (bridging_pairs(side.corpus) for side in sides)
    right = right_pairs(alignment, level=level, typed=typed == "true")
    anaphors, place = np.unique(response.anaphor, return_inverse=True)
    right_anaphors = anaphors[np.bincount(place[~right], minlength=anaphors.size) == 0]
    partners = sides.swapped.partner[right_anaphors]
    return _counts(alignment, np.unique(key.anaphor), partners, anaphors, right_anaphors)


def right_pairs(alignment: Alignment, *, level: str = "entity", typed: bool = False) -> BoolArray:
    """Which of the response's pairs, in the order of `bridging_pairs`, the key has."""
    key, response = (bridging_pairs(side.corpus) for side in alignment.beyond)
    in_key = alignment.beyond.swapped.partner
    anaphor, antecedent = in_key[response.anaphor], in_key[response.antecedent]
    relations = [np.zeros_like(key.anaphor), np.zeros_like(response.anaphor)]
    if typed:
        names = tuple(dict.fromkeys((*key.label.names, *response.label.names)))
        relations = [pairs.label.recoded(names).codes + 1 for pairs in (key, response)]

    def are_in_key(key_column: IntArray, column: IntArray) -> BoolArray:
        """Whether the key has the anaphor with a value, of the same relation if that counts."""
        width = max(int(codes.max(initial=0)) for codes in relations) + 1
        height = max(int(codes.max(initial=0)) for codes in (key_column, column)) + 1
        codes = (anaphor * height + column) * width + relations[1]
        key_codes = (key.anaphor * height + key_column) * width + relations[0]
        is_known: BoolArray = np.isin(codes, key_codes[key_column >= 0])
        return is_known & (anaphor >= 0) & (column >= 0)

    if level == "anaphor":
        return are_in_key(np.zeros_like(key.anaphor), np.zeros_like(anaphor))
    right = are_in_key(key.antecedent, antecedent)
    if level == "entity":
        entity = np.append(alignment.beyond.key.entity, -1)
        right |= are_in_key(entity[key.antecedent], entity[antecedent])
    return right


def refers_not(alignment: Alignment) -> Counts:
    """Mentions that refer to nothing on both sides."""
    sides = alignment.beyond
    in_key, in_response = (
        np.flatnonzero(non_referring(side.corpus)[side.corpus.mention_entity]) for side in sides
    )
    right = in_response[np.isin(sides.swapped.partner[in_response], in_key)]
    return _counts(alignment, in_key, sides.swapped.partner[right], in_response, right)


def _counts(
    alignment: Alignment, key: IntArray, matched: IntArray, response: IntArray, right: IntArray
) -> Counts:
    """Counts of mentions of either side, and of those that are right, by their groups."""
    sides = alignment.beyond

    def count(side: FullSide, rows: IntArray) -> FloatArray:
        group = side.document[rows]
        if alignment.n_values > 1:
            group = group * alignment.n_values + (0 if side.value is None else side.value[rows])
        return alignment.sums(group)

    return ratio_counts(
        (count(sides.key, matched), count(sides.key, key)),
        (count(sides.response, right), count(sides.response, response)),
    )

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
    beyond = alignment.beyond
    key, response = (bridging_pairs(side.corpus) for side in beyond)
    right = right_pairs(alignment, level=level, typed=typed == "true")
    anaphors, place = np.unique(response.anaphor, return_inverse=True)
    found = anaphors[np.bincount(place[~right], minlength=anaphors.size) == 0]
    partners = beyond.swapped.partner[found]
    return _counts(alignment, np.unique(key.anaphor), partners, anaphors, found)


def right_pairs(alignment: Alignment, *, level: str = "entity", typed: bool = False) -> BoolArray:
    """Which of the response's pairs, in the order of `bridging_pairs`, the key has."""
    key, response = (bridging_pairs(side.corpus) for side in alignment.beyond)
    back = alignment.beyond.swapped.partner
    anaphor, antecedent = back[response.anaphor], back[response.antecedent]
    names = dict.fromkeys((*key.label.names, *response.label.names))
    labels = [one.label.recoded(tuple(names)).codes + 1 for one in (key, response)]
    kinds = labels if typed else [np.zeros_like(one) for one in labels]
    nothing = [np.zeros_like(one) for one in labels]

    def among(mine: IntArray, theirs: IntArray) -> BoolArray:
        """Whether the key has the anaphor with something, of the same relation if that counts."""
        width, height = len(names) + 1, int(max(mine.max(initial=0), theirs.max(initial=0))) + 1
        codes = [
            np.where((one >= 0) & (what >= 0), (one * height + what) * width + kind, -1)
            for one, what, kind in ((key.anaphor, mine, kinds[0]), (anaphor, theirs, kinds[1]))
        ]
        there: BoolArray = np.isin(codes[1], codes[0]) & (codes[1] >= 0)
        return there

    if level == "anaphor":
        return among(nothing[0], nothing[1])
    right = among(key.antecedent, antecedent)
    if level == "entity":
        entity = np.append(alignment.beyond.key.entity, -1)
        right |= among(entity[key.antecedent], entity[antecedent])
    return right


def refers_not(alignment: Alignment) -> Counts:
    """Mentions that refer to nothing on both sides."""
    beyond = alignment.beyond
    mine, theirs = (
        np.flatnonzero(non_referring(side.corpus)[side.corpus.mention_entity]) for side in beyond
    )
    found = theirs[np.isin(beyond.swapped.partner[theirs], mine)]
    return _counts(alignment, mine, beyond.swapped.partner[found], theirs, found)


def _counts(
    alignment: Alignment, key: IntArray, found: IntArray, response: IntArray, right: IntArray
) -> Counts:
    """Counts of mentions of either side, and of those that are right, by their groups."""
    sides = alignment.beyond

    def count(side: FullSide, rows: IntArray) -> FloatArray:
        group = side.document[rows]
        if alignment.n_values > 1:
            group = group * alignment.n_values + (0 if side.value is None else side.value[rows])
        return alignment.sums(group)

    return ratio_counts(
        (count(sides.key, found), count(sides.key, key)),
        (count(sides.response, right), count(sides.response, response)),
    )

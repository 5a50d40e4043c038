"""Sets of antecedents in MUC, B³, CEAF, LEA and BLANC, and the score of sets alone.

A set counts as one more element of its entity, and a pair of aligned sets (`set_alignment`) counts
as far as it is right. Everything else is the ordinary metric on entities that are larger by one
where they have a set, so that a few additions for the pairs are all that sets cost (Yu et al. 2021;
Paun et al. 2023).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corefeval.alignment import Alignment, Overlap, Side
from corefeval.assignment import heaviest_matching
from corefeval.diagnostics import UndefinedMetricError
from corefeval.metrics import links, mentions
from corefeval.metrics.counting import Counts, count_links, ratio_counts
from corefeval.metrics.set_alignment import HALVES, OF_BLOCKS, align_sets, pair_sets
from corefeval.model.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Credit:
    """What sets are worth in one direction: pairs of entities, what each is worth, and its F1.

    `shared` says how many mentions the entities of each pair share; `alignment` has entities that
    are larger by one where they have a set.
    """

    alignment: Alignment
    entity: IntArray
    other: IntArray
    worth: FloatArray
    f1: FloatArray
    shared: IntArray

    @property
    def document(self) -> IntArray:
        """The document of each pair."""
        return self.alignment.key.entity_document[self.entity]


def _credits(alignment: Alignment, metric: str) -> tuple[Credit, Credit]:
    """What sets are worth to recall and to precision."""
    aligned = align_sets(alignment, metric)
    beyond = alignment.beyond
    entities = [side.set_entities for side in beyond]
    resized = _resize(alignment, entities)
    key, response = entities[0][aligned.key], entities[1][aligned.response]
    if metric == "blanc":
        recall = precision = aligned.f1
    else:
        recall, precision = aligned.share("recall"), aligned.share("precision")
    pairs = pair_sets(alignment)
    shared = alignment.remember(
        "shared by owners of sets",
        lambda: alignment.shared(entities[0][pairs.key], entities[1][pairs.response]),
    )[aligned.pair]
    return (
        Credit(resized, key, response, recall, aligned.f1, shared),
        Credit(resized.swapped, response, key, precision, aligned.f1, shared),
    )


def _resize(alignment: Alignment, entities: list[IntArray]) -> Alignment:
    """The alignment in which sets count in the sizes of their entities; made once."""

    def resize(side: Side, owners: IntArray) -> Side:
        larger = replace(side)
        owned = np.bincount(owners, minlength=side.entity_document.size)
        vars(larger)["sizes"] = side.sizes + owned
        return larger

    def make() -> Alignment:
        sides = [
            resize(side, owners)
            for side, owners in zip((alignment.key, alignment.response), entities, strict=True)
        ]
        made = replace(
            alignment, key=sides[0], response=sides[1], derived={}, scores_sets=False, aside=None
        )
        vars(made)["overlap"] = alignment.overlap
        vars(made)["shares"] = alignment.shares
        vars(made.swapped)["shares"] = alignment.swapped.shares
        return made

    return alignment.remember("with sets in sizes", make)


def _add(counts: Counts, credits: tuple[Credit, Credit], worths: list[FloatArray]) -> Counts:
    """Counts with something added to the numerators, pair by pair."""
    for side, credit, worth in zip(("recall", "precision"), credits, worths, strict=True):
        counts[f"{side}_numerator"] += credit.alignment.sums(credit.document, worth)
    return counts


def muc(alignment: Alignment) -> Counts:
    """MUC: a set that is aligned is a link, where its entities share a mention."""
    credits = _credits(alignment, "muc")
    worths = [np.where(one.shared > 0, one.worth, 0.0) for one in credits]
    return _add(links.muc(credits[0].alignment), credits, worths)


def b3(alignment: Alignment, *, twinless: str = "none") -> Counts:
    """B³: a set that is aligned is a mention in part, with all that its entities share."""
    _refuse_twinless("b3", twinless)
    credits = _credits(alignment, "b3")
    worths = [
        (2 * one.shared + one.worth) * one.worth / one.alignment.key.sizes[one.entity]
        for one in credits
    ]
    return _add(mentions.b3(credits[0].alignment), credits, worths)


def ceafm(alignment: Alignment, *, twinless: str = "none") -> Counts:
    """CEAF with φ3: a set that is aligned adds its F1 to what its entities share."""
    return _ceaf(alignment, "ceafm", twinless)


def ceafe(alignment: Alignment, *, twinless: str = "none") -> Counts:
    """CEAF with φ4, with sets in the sizes of entities and in what they share."""
    return _ceaf(alignment, "ceafe", twinless)


def _ceaf(alignment: Alignment, metric: str, twinless: str) -> Counts:
    _refuse_twinless(metric, twinless)
    credit = _credits(alignment, metric)[0]
    one = credit.alignment
    cells, weight = _cells_with_sets(credit)
    sizes: list[NDArray[Any]] = [one.key.sizes, one.response.sizes]
    if metric == "ceafe":
        weight = 2 * weight / (sizes[0][cells.key] + sizes[1][cells.response])
        sizes = [size > 0 for size in sizes]
    chosen = heaviest_matching(cells.key, cells.response, weight)
    best = one.sums(one.key.entity_document[cells.key[chosen]], weight[chosen])
    return ratio_counts(
        (best, one.sums(one.key.entity_document, sizes[0])),
        (best.copy(), one.sums(one.response.entity_document, sizes[1])),
    )


def _cells_with_sets(credit: Credit) -> tuple[Overlap, FloatArray]:
    """The overlap table with a cell for each pair of sets, and what each cell shares with them."""
    cells, new = credit.alignment.overlap, credit.shared == 0
    key = np.concatenate((cells.key, credit.entity[new]))
    response = np.concatenate((cells.response, credit.other[new]))
    count = np.concatenate((cells.count.astype(np.float64), credit.f1[new]))
    place, _ = credit.alignment._find_cells(
        credit.entity[~new] * credit.alignment._width + credit.other[~new]
    )
    count[place] += credit.f1[~new]
    return Overlap(key, response, cells.count), count


def lea(alignment: Alignment, *, importance: links.Importance = "size") -> Counts:
    """LEA: a set that is aligned is linked in part to all mentions that its entities share."""
    credits = _credits(alignment, "lea")
    weigh = links.importance_function(importance)
    worths = [
        weigh(one.alignment.key)[one.entity]
        * (one.worth * one.shared)
        / count_links(one.alignment.key.sizes[one.entity])
        for one in credits
    ]
    return _add(links.lea(credits[0].alignment, importance=importance), credits, worths)


def blanc(alignment: Alignment) -> Counts:
    """BLANC in which a set that is aligned is a mention of the weight of its F1 (ours).

    A link weighs the product of its ends. No paper defines this, and no other program has it.
    """
    credit, other = _credits(alignment, "blanc")
    one, worth, shared = credit.alignment, credit.f1, credit.shared
    counts = links.blanc(one)
    overlap = one.overlap
    common = one.sums(one.key.entity_document[overlap.key], overlap.count)
    matched = [
        np.bincount(side, overlap.count, minlength=size)
        for side, size in (
            (overlap.key, one.key.entity_document.size),
            (overlap.response, one.response.entity_document.size),
        )
    ]
    total, squares = one.sums(credit.document, worth), one.sums(credit.document, worth**2)
    together = matched[0][credit.entity] + matched[1][other.entity] - shared
    counts["coreference_common"] += one.sums(credit.document, worth * shared)
    counts["non_coreference_common"] += (
        common * total + (total**2 - squares) / 2 - one.sums(credit.document, worth * together)
    )
    return counts


def _refuse_twinless(metric: str, twinless: str) -> None:
    if twinless != "none":
        raise UndefinedMetricError(
            f"{metric}(twinless={twinless}) has no definition with sets of antecedents: leave out "
            "split score"
        )


def split(alignment: Alignment, *, metric: str = "muc") -> Counts:
    """The score of sets alone: what the metric counts in aligned sets, over all sets."""
    aligned = align_sets(alignment, metric)
    beyond = alignment.beyond
    pairs = pair_sets(alignment)
    documents = [side.document[side.sets.first] for side in beyond]
    counts = {
        name: alignment.sums(documents[0][aligned.key], one) for name, one in aligned.counts.items()
    }
    nothing = np.empty(0, dtype=np.int64)
    for document, blocks, theirs, name in zip(
        documents, pairs.sides, ("recall", "precision"), ("key", "response"), strict=True
    ):
        alone, _ = blocks.repeat(np.arange(document.size))
        empty = Side(nothing, nothing)
        of_all = OF_BLOCKS[metric](Alignment(document.size, alone, empty, nothing, nothing))
        wholes = [(f"{theirs}_denominator", "recall_denominator")]
        if metric == "blanc":
            wholes = [(f"{half}_{name}", f"{half}_key") for half in HALVES]
        for whole, own in wholes:
            counts[whole] = alignment.sums(document, of_all[own])
    return counts

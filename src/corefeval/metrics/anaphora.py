"""Beyond identity: sets of antecedents, bridging, and mentions that refer to nothing.

A set counts as one more element of its entity, and a pair of aligned sets counts as far as it is
right: as an element of that weight which both entities have. MUC, B³, CEAF, LEA and BLANC count on
these cells as on any others (Yu et al. 2021; Paun et al. 2023).

Two sets are compared by the metric itself, applied to their blocks: the entities that a set
consists of. The sets of a document are aligned one to one so that the F1 of pairs add up to most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from corefeval.alignment import Alignment, Overlap
from corefeval.assignment import heaviest_matching
from corefeval.diagnostics import UndefinedMetricError
from corefeval.full_sides import FullSide, FullSides
from corefeval.metrics import coreference
from corefeval.metrics.coreference import HALVES, Counts, both_directions, ratio_counts
from corefeval.model.arrays import (
    ArrayPair,
    BoolArray,
    FloatArray,
    IntArray,
    dense_ranks,
    find_places,
    ragged_arange,
    stable_order,
    starts_of,
    unset,
)
from corefeval.model.relations import bridging_pairs

# The weight of a mention that the owners of two sets share: it only decides between alignments
# that are equally good.
_TIE_BREAK = 1e-8
# In a set, a block of one mention has a link to itself.
_COMPARE_BLOCKS: dict[str, Callable[[Alignment], Counts]] = {
    "muc": partial(both_directions, partial(coreference.muc_recall, self_links=True)),
    "b3": coreference.b3,
    "ceafm": coreference.ceafm,
    "ceafe": coreference.ceafe,
    "lea": coreference.lea,
    "blanc": coreference.blanc,
}


def weigh_sets(
    alignment: Alignment, metric: str, twinless: str = "none"
) -> tuple[Alignment, Alignment]:
    """Alignments for recall and for precision in which sets are elements of their entities.

    A pair of aligned sets weighs its recall in one, its precision in the other; for CEAF and BLANC,
    which count on one alignment, it weighs its F1. For BLANC no paper defines this. Raises an
    UndefinedMetricError for policies of twinless mentions.
    """
    if twinless != "none":
        raise UndefinedMetricError(
            f"{metric}(twinless={twinless}) has no definition with sets of antecedents: leave out "
            "split score"
        )
    aligned = align_sets(alignment, metric)
    owners = [side.set_entities for side in alignment.full_sides]
    sides = alignment.key, alignment.response
    sizes = [
        side.sizes + np.bincount(entities, minlength=side.sizes.size)
        for side, entities in zip(sides, owners, strict=True)
    ]
    cells = alignment.overlap
    key = np.concatenate((cells.key, owners[0][aligned.key]))
    response = np.concatenate((cells.response, owners[1][aligned.response]))

    def weigh(worth: FloatArray) -> Alignment:
        count = np.concatenate((cells.count, worth))
        squares = np.concatenate((cells.count, worth**2))
        return Alignment.of_cells(
            alignment.n_documents,
            (sides[0].entity_document, sides[1].entity_document),
            (sizes[0], sizes[1]),
            Overlap.of(key, response, count, squares),
        )

    if metric in ("ceafm", "ceafe", "blanc"):
        by_f1 = weigh(aligned.f1)
        return by_f1, by_f1
    recall, precision = (
        aligned.counts[f"{rate}_numerator"] / aligned.counts[f"{rate}_denominator"]
        for rate in ("recall", "precision")
    )
    return weigh(recall), weigh(precision)


def split(alignment: Alignment, *, metric: str = "muc") -> Counts:
    """The score of sets alone: what the metric counts in aligned sets, over all sets."""
    aligned = align_sets(alignment, metric)
    documents = [side.document[side.sets.first] for side in alignment.full_sides]
    counts = {
        name: alignment.sums(documents[0][aligned.key], count)
        for name, count in aligned.counts.items()
    }
    for document, full, rate, side in zip(
        documents, alignment.full_sides, ("recall", "precision"), ("key", "response"), strict=True
    ):
        totals = _COMPARE_BLOCKS[metric](_list_blocks(full))
        names = {f"{rate}_denominator": "recall_denominator"}
        if metric == "blanc":
            names = {f"{half}_{side}": f"{half}_key" for half in HALVES}
        for name, name_of_total in names.items():
            counts[name] = alignment.sums(document, totals[name_of_total])
    return counts


def _list_blocks(side: FullSide) -> Alignment:
    """A key whose documents are the sets of a side, and an empty response."""
    nothing = unset(0)
    sizes = side.corpus.entity_sizes[side.sets.leaf]
    no_cells = Overlap(nothing, nothing, nothing, nothing)
    owners = side.sets.leaf_set, nothing
    return Alignment.of_cells(len(side.sets), owners, (sizes, nothing), no_cells)


@dataclass(frozen=True, eq=False)
class SetPairs:
    """Pairs of a key set and a response set that share mentions, each an aligned document.

    `shared` says how many mentions their owners have in common. The entities of a document of
    `alignment` are the blocks of both sets.
    """

    key: IntArray
    response: IntArray
    shared: IntArray
    alignment: Alignment


def pair_sets(full_sides: FullSides) -> SetPairs:
    """All pairs of sets that share a mention."""
    entities = [
        side.corpus.mention_entity[rows]
        for side, rows in zip(full_sides, full_sides.matches, strict=True)
    ]
    one_each = np.ones(entities[0].size, dtype=np.int64)
    cells = Overlap.of(entities[0], entities[1], one_each, one_each)
    # Entities may be blocks of several sets: each cell counts once for every pair of blocks.
    cell, key_block = _find_blocks(cells.key, full_sides.key)
    again, response_block = _find_blocks(cells.response[cell], full_sides.response)
    cell, key_block = cell[again], key_block[again]
    key_set, response_set = full_sides.key.sets.leaf_set, full_sides.response.sets.leaf_set
    width = len(full_sides.response.sets) + 1
    pair, codes = dense_ranks(key_set[key_block] * width + response_set[response_block])
    key, response = np.divmod(codes, width)
    key_document, key_sizes, key_shift = _repeat_blocks(full_sides.key, key)
    response_document, response_sizes, response_shift = _repeat_blocks(
        full_sides.response, response
    )
    count = cells.count[cell]
    pairs = Alignment.of_cells(
        codes.size,
        (key_document, response_document),
        (key_sizes, response_sizes),
        Overlap(key_shift[pair] + key_block, response_shift[pair] + response_block, count, count),
    )
    return SetPairs(key, response, _count_shared(full_sides, entities, key, response), pairs)


def _find_blocks(entity: IntArray, side: FullSide) -> ArrayPair:
    """The places of entities that are blocks of sets, and the blocks: a row for each."""
    order = stable_order(side.sets.leaf)
    leaves = side.sets.leaf[order]
    first = np.searchsorted(leaves, entity)
    counts = np.searchsorted(leaves, entity, side="right") - first
    return np.repeat(np.arange(entity.size), counts), order[ragged_arange(first, counts)]


def _repeat_blocks(side: FullSide, sets: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """The blocks of sets as entities of documents, each set a document: their documents and sizes.

    Block b of document d is entity shift[d] + b; the shift comes last.
    """
    bounds = np.searchsorted(side.sets.leaf_set, np.arange(len(side.sets) + 1))
    counts = np.diff(bounds)[sets]
    blocks = ragged_arange(bounds[sets], counts)
    return (
        np.repeat(np.arange(sets.size), counts),
        side.corpus.entity_sizes[side.sets.leaf[blocks]],
        starts_of(counts) - bounds[sets],
    )


def _count_shared(
    full_sides: FullSides, entities: list[IntArray], key: IntArray, response: IntArray
) -> IntArray:
    """How many mentions the owners of sets share, for each pair of sets."""
    sets = [side.sets.owner[entity] for side, entity in zip(full_sides, entities, strict=True)]
    (owned,) = ((sets[0] >= 0) & (sets[1] >= 0)).nonzero()
    numbers = [np.arange(len(side.sets)) for side in full_sides]
    one_each = np.ones(owned.size, dtype=np.int64)
    cells = Overlap.of(sets[0][owned], sets[1][owned], one_each, one_each)
    owners = Alignment.of_cells(1, (numbers[0], numbers[1]), (numbers[0], numbers[1]), cells)
    return owners.shared(key, response)


@dataclass(frozen=True, eq=False)
class AlignedSets:
    """The sets that a metric aligns, by number, what it counts for each pair, and its F1."""

    key: IntArray
    response: IntArray
    f1: FloatArray
    counts: Counts


def align_sets(alignment: Alignment, metric: str) -> AlignedSets:
    """The sets of both sides that belong together as a metric sees them; made once.

    Of alignments that are equally good, the one whose owners share most mentions, then the one
    whose pairs come first, each pair by its earlier and then by its later place.
    """
    return alignment.remember(("aligned sets", metric), lambda: _align_sets(alignment, metric))


def _align_sets(alignment: Alignment, metric: str) -> AlignedSets:
    """The aligned sets that `align_sets` keeps."""
    pairs = alignment.remember("pairs of sets", lambda: pair_sets(alignment.full_sides))
    counts = _COMPARE_BLOCKS[metric](pairs.alignment)
    f1 = _blanc_f1(counts) if metric == "blanc" else _f1(counts)
    documents = [side.document[side.sets.first] for side in alignment.full_sides]
    document = documents[0][pairs.key]
    (rivals,) = ((f1 > 0) & (document == documents[1][pairs.response])).nonzero()
    key, response, document = pairs.key[rivals], pairs.response[rivals], document[rivals]
    # Places in the document, so that exchanged sides have the same order.
    places = (
        key - np.searchsorted(documents[0], document),
        response - np.searchsorted(documents[1], document),
    )
    order = np.lexsort((places[0], np.maximum(*places), np.minimum(*places), document))
    weight = f1[rivals] + _TIE_BREAK * pairs.shared[rivals]
    chosen = rivals[heaviest_matching(key, response, weight, order=find_places(order, rivals.size))]
    return AlignedSets(
        pairs.key[chosen],
        pairs.response[chosen],
        f1[chosen],
        {name: count[chosen] for name, count in counts.items()},
    )


def _f1(counts: Counts) -> FloatArray:
    """The F1 of each pair."""
    recall, precision = (
        counts[f"{side}_numerator"] / np.maximum(counts[f"{side}_denominator"], 1e-300)
        for side in ("recall", "precision")
    )
    f1: FloatArray = 2 * recall * precision / np.maximum(recall + precision, 1e-300)
    return f1


def _blanc_f1(counts: Counts) -> FloatArray:
    """The mean F1 of the halves that exist; 0 for sets of one mention, which have no links."""
    total, number = np.zeros((2, counts["coreference_key"].size))
    for half in HALVES:
        links = counts[f"{half}_key"] + counts[f"{half}_response"]
        total += 2 * counts[f"{half}_common"] / np.maximum(links, 1)
        number += links > 0
    f1: FloatArray = total / np.maximum(number, 1)
    return f1


def bridging(alignment: Alignment, *, level: str = "entity", typed: str = "false") -> Counts:
    """Anaphors of bridging that both sides have, with antecedents that are right.

    An anaphor of the response is right if all of its antecedents are: each is one of those that the
    key has for it (`mention`), or a mention of one of their entities in the key (`entity`).
    """
    sides = alignment.full_sides
    key, response = (bridging_pairs(side.corpus) for side in sides)
    right = right_pairs(alignment, level=level, typed=typed == "true")
    anaphors, place = np.unique(response.anaphor, return_inverse=True)
    right_anaphors = anaphors[np.bincount(place[~right], minlength=anaphors.size) == 0]
    partners = sides.swapped.partner[right_anaphors]
    return _count_mentions(alignment, np.unique(key.anaphor), partners, anaphors, right_anaphors)


def right_pairs(alignment: Alignment, *, level: str = "entity", typed: bool = False) -> BoolArray:
    """Which of the response's pairs, in the order of `bridging_pairs`, the key has."""
    key, response = (bridging_pairs(side.corpus) for side in alignment.full_sides)
    in_key = alignment.full_sides.swapped.partner
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
        entity = np.append(alignment.full_sides.key.entity, -1)
        right |= are_in_key(entity[key.antecedent], entity[antecedent])
    return right


def refers_not(alignment: Alignment) -> Counts:
    """Mentions that refer to nothing on both sides."""
    sides = alignment.full_sides
    in_key, in_response = (
        np.flatnonzero(side.corpus.non_referring[side.corpus.mention_entity]) for side in sides
    )
    right = in_response[np.isin(sides.swapped.partner[in_response], in_key)]
    return _count_mentions(alignment, in_key, sides.swapped.partner[right], in_response, right)


def _count_mentions(
    alignment: Alignment, key: IntArray, matched: IntArray, response: IntArray, right: IntArray
) -> Counts:
    """Counts of mentions of either side, and of those that are right, by their groups."""
    sides = alignment.full_sides

    def count(side: FullSide, rows: IntArray) -> FloatArray:
        group = side.document[rows]
        if alignment.n_values > 1:
            group = group * alignment.n_values + (0 if side.value is None else side.value[rows])
        return alignment.sums(group)

    return ratio_counts(
        (count(sides.key, matched), count(sides.key, key)),
        (count(sides.response, right), count(sides.response, response)),
    )

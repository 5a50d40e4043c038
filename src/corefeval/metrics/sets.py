"""Sets of antecedents in MUC, B³, CEAF, LEA and BLANC, and the score of sets alone.

A set counts as one more element of its entity. Two sets are compared by the metric itself, applied
to their blocks: the entities that a set consists of. The sets of a document are aligned one to one
so that the F1 of pairs add up to most; a pair then counts as far as it is right. Everything else
is the ordinary metric on entities that are larger by one where they have a set, so that a few
additions for the pairs are all that sets cost (Yu et al. 2021; Paun et al. 2023).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from corefeval.alignment import Alignment, Overlap, Side
from corefeval.assignment import heaviest_matching
from corefeval.beyond import Beyond, FullSide
from corefeval.diagnostics import UndefinedMetricError
from corefeval.metrics import links, mentions
from corefeval.metrics.counting import Counts, both_directions, count_links, ratio_counts
from corefeval.model.arrays import FloatArray, IntArray, ragged_arange

# Mentions that the owners of two sets share decide between alignments that are equally good.
_SHARED = 1e-8
_HALVES = ("coreference", "non_coreference")


def _muc_of_blocks(alignment: Alignment) -> Counts:
    """MUC in which a block of one mention has a link, as in LEA."""

    def recall(one: Alignment) -> tuple[FloatArray, FloatArray]:
        cells, sizes, others = one.overlap, one.key.sizes, one.response.sizes
        single = (sizes[cells.key] == 1) & (others[cells.response] == 1)
        return (
            one.sums(one.key.entity_document[cells.key], cells.count - 1 + single),
            one.sums(one.key.entity_document, np.maximum(sizes - 1, 1)),
        )

    return both_directions(alignment, recall)


_OF_BLOCKS = {
    "muc": _muc_of_blocks,
    "b3": mentions.b3,
    "ceafm": mentions.ceafm,
    "ceafe": mentions.ceafe,
    "lea": links.lea,
    "blanc": links.blanc,
}


@dataclass(frozen=True, eq=False)
class Blocks:
    """One side's sets: the mention `row` is in block `block` of set `owner`, in this order.

    `blocks` and `entries` say where each set's blocks and mentions begin, and their ends; mentions
    of both sides that are the same have the same number, `mention`, below `width`, and others −1.
    """

    block: IntArray
    owner: IntArray
    mention: IntArray
    blocks: IntArray
    entries: IntArray
    width: int

    @staticmethod
    def of(side: FullSide, matched: IntArray) -> Blocks:
        """The sets of a side, of which mention `matched[m]` is the mention m of both sides."""
        sets, corpus = side.sets, side.corpus
        mention = np.full(corpus.n_mentions, -1, dtype=np.int64)
        mention[matched] = np.arange(matched.size)
        wanted = np.zeros(corpus.n_entities, dtype=np.bool_)
        wanted[sets.leaf] = True
        rows = np.flatnonzero(wanted[corpus.mention_entity])
        rows = rows[np.argsort(corpus.mention_entity[rows], kind="stable")]
        entity = corpus.mention_entity[rows]
        first = np.searchsorted(entity, sets.leaf)
        counts = np.searchsorted(entity, sets.leaf, side="right") - first
        block = np.repeat(np.arange(sets.leaf.size), counts)
        owner = sets.leaf_set[block]
        bounds = np.arange(len(sets) + 1)
        return Blocks(
            block,
            owner,
            mention[rows[ragged_arange(first, counts)]],
            np.searchsorted(sets.leaf_set, bounds),
            np.searchsorted(owner, bounds),
            max(matched.size, 1),
        )

    def repeat(self, sets: IntArray) -> tuple[Side, IntArray]:
        """A side whose document d is set `sets[d]`, with a code for each mention of a document."""
        n_blocks, n_entries = np.diff(self.blocks)[sets], np.diff(self.entries)[sets]
        rows = ragged_arange(self.entries[sets], n_entries)
        shift = np.cumsum(n_blocks) - n_blocks - self.blocks[sets]
        document = np.arange(sets.size)
        side = Side(np.repeat(document, n_blocks), self.block[rows] + np.repeat(shift, n_entries))
        mention = self.mention[rows]
        code = np.repeat(document, n_entries) * self.width + mention
        return side, np.where(mention >= 0, code, -1)


@dataclass(frozen=True, eq=False)
class SetPairs:
    """Pairs of a key set and a response set that share mentions, each an aligned document.

    `shared` says how many mentions their owners have in common.
    """

    key: IntArray
    response: IntArray
    shared: IntArray
    alignment: Alignment
    sides: tuple[Blocks, Blocks]


def _pair_sets(beyond: Beyond) -> SetPairs:
    """All pairs of sets that share a mention."""
    mine, theirs = beyond.matches
    sides = Blocks.of(beyond.key, mine), Blocks.of(beyond.response, theirs)
    known = [np.flatnonzero(side.mention >= 0) for side in sides]
    order = known[1][np.argsort(sides[1].mention[known[1]], kind="stable")]
    there, here = sides[1].mention[order], sides[0].mention[known[0]]
    first = np.searchsorted(there, here)
    counts = np.searchsorted(there, here, side="right") - first
    width = sides[1].blocks.size
    codes = np.repeat(sides[0].owner[known[0]], counts) * width
    codes += sides[1].owner[order[ragged_arange(first, counts)]]
    key, response = np.divmod(np.unique(codes), width)
    (key_side, key_codes), (response_side, codes) = sides[0].repeat(key), sides[1].repeat(response)
    rows = [np.flatnonzero(one >= 0) for one in (key_codes, codes)]
    _, one, other = np.intersect1d(
        key_codes[rows[0]], codes[rows[1]], assume_unique=True, return_indices=True
    )
    made = Alignment(key.size, key_side, response_side, rows[0][one], rows[1][other])
    return SetPairs(key, response, _count_shared(beyond, key, response), made, sides)


@dataclass(frozen=True, eq=False)
class AlignedSets:
    """The sets that a metric aligns, by number, what it counts for each pair, and its F1.

    `pair` says which of all pairs of sets each is.
    """

    pair: IntArray
    key: IntArray
    response: IntArray
    f1: FloatArray
    counts: Counts

    def share(self, side: str) -> FloatArray:
        """What each pair is worth to recall or to precision."""
        worth: FloatArray = self.counts[f"{side}_numerator"] / self.counts[f"{side}_denominator"]
        return worth


def align_sets(alignment: Alignment, metric: str) -> AlignedSets:
    """The sets of both sides that belong together as a metric sees them.

    Of alignments that are equally good, the one whose owners share most mentions, then the one
    whose pairs come first, each pair by its earlier and then by its later place.
    """
    beyond = alignment.beyond

    def align() -> AlignedSets:
        pairs = alignment.remember("pairs of sets", lambda: _pair_sets(beyond))
        counts = _OF_BLOCKS[metric](pairs.alignment)
        f1 = _f1(counts)
        document = [
            side.document[side.sets.first[own]]
            for side, own in zip(beyond, (pairs.key, pairs.response), strict=True)
        ]
        (some,) = ((f1 > 0) & (document[0] == document[1])).nonzero()
        key, response = pairs.key[some], pairs.response[some]
        # Places in the document, so that exchanged sides have the same order.
        places = [
            own - np.searchsorted(side.document[side.sets.first], document[0][some])
            for side, own in ((beyond.key, key), (beyond.response, response))
        ]
        order = np.empty(some.size, dtype=np.int64)
        order[
            np.lexsort((places[0], np.maximum(*places), np.minimum(*places), document[0][some]))
        ] = np.arange(some.size)
        weight = f1[some] + _SHARED * pairs.shared[some]
        best = heaviest_matching(key, response, weight, order=order)
        chosen = some[best]
        return AlignedSets(
            chosen,
            pairs.key[chosen],
            pairs.response[chosen],
            f1[chosen],
            {name: one[chosen] for name, one in counts.items()},
        )

    return alignment.remember(("aligned sets", metric), align)


def _count_shared(beyond: Beyond, key: IntArray, response: IntArray) -> IntArray:
    """How many mentions the owners of sets share."""
    mine, theirs = (
        side.sets.owner[side.corpus.mention_entity[rows]]
        for side, rows in zip(beyond, beyond.matches, strict=True)
    )
    both = (mine >= 0) & (theirs >= 0)
    width = len(beyond.response.sets) + 1
    codes, counts = np.unique(mine[both] * width + theirs[both], return_counts=True)
    where = np.searchsorted(codes, key * width + response)
    found = np.append(codes, -1)[where] == key * width + response
    return np.where(found, np.append(counts, 0)[where], 0)


def _f1(counts: Counts) -> FloatArray:
    """The F1 of each pair."""
    if "recall_numerator" not in counts:
        return _blanc_f1(counts)
    recall, precision = (
        counts[f"{side}_numerator"] / np.maximum(counts[f"{side}_denominator"], 1e-300)
        for side in ("recall", "precision")
    )
    f1: FloatArray = 2 * recall * precision / np.maximum(recall + precision, 1e-300)
    return f1


def _blanc_f1(counts: Counts) -> FloatArray:
    """The mean of the halves that exist; sets of one mention alone have no links, and none."""
    total, number = np.zeros((2, counts["coreference_key"].size))
    for kind in _HALVES:
        links_of_both = counts[f"{kind}_key"] + counts[f"{kind}_response"]
        total += 2 * counts[f"{kind}_common"] / np.maximum(links_of_both, 1)
        number += links_of_both > 0
    f1: FloatArray = total / np.maximum(number, 1)
    return f1


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
    pairs = alignment.remember("pairs of sets", lambda: _pair_sets(beyond))
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
    _refuse_twinless("ceafm", twinless)
    credit = _credits(alignment, "ceafm")[0]
    key, response = credit.alignment.key, credit.alignment.response
    cells, count = _cells_with_sets(credit)
    one = credit.alignment
    best = _best(one, cells, count)
    return ratio_counts(
        (best, one.sums(key.entity_document, key.sizes)),
        (best.copy(), one.sums(response.entity_document, response.sizes)),
    )


def ceafe(alignment: Alignment, *, twinless: str = "none") -> Counts:
    """CEAF with φ4, with sets in the sizes of entities and in what they share."""
    _refuse_twinless("ceafe", twinless)
    credit = _credits(alignment, "ceafe")[0]
    key, response = credit.alignment.key, credit.alignment.response
    cells, count = _cells_with_sets(credit)
    one = credit.alignment
    best = _best(one, cells, 2 * count / (key.sizes[cells.key] + response.sizes[cells.response]))
    return ratio_counts(
        (best, one.sums(key.entity_document, key.sizes > 0)),
        (best.copy(), one.sums(response.entity_document, response.sizes > 0)),
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


def _best(alignment: Alignment, cells: Overlap, weight: FloatArray) -> FloatArray:
    chosen = heaviest_matching(cells.key, cells.response, weight)
    return alignment.sums(alignment.key.entity_document[cells.key[chosen]], weight[chosen])


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
    pairs = alignment.remember("pairs of sets", lambda: _pair_sets(beyond))
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
        of_all = _OF_BLOCKS[metric](Alignment(document.size, alone, empty, nothing, nothing))
        wholes = [(f"{theirs}_denominator", "recall_denominator")]
        if metric == "blanc":
            wholes = [(f"{half}_{name}", f"{half}_key") for half in _HALVES]
        for whole, own in wholes:
            counts[whole] = alignment.sums(document, of_all[own])
    return counts

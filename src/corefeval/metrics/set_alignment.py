"""Sets of antecedents aligned one to one, as a metric sees them.

Two sets are compared by the metric itself, applied to their blocks: the entities that a set
consists of. The sets of a document are aligned so that the F1 of pairs add up to most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from corefeval.alignment import Alignment, Side
from corefeval.assignment import heaviest_matching
from corefeval.beyond import Beyond, FullSide
from corefeval.metrics import links, mentions
from corefeval.metrics.counting import Counts, both_directions
from corefeval.model.arrays import FloatArray, IntArray, ragged_arange

HALVES = ("coreference", "non_coreference")
# Mentions that the owners of two sets share decide between alignments that are equally good.
_SHARED = 1e-8


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


OF_BLOCKS = {
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


def pair_sets(alignment: Alignment) -> SetPairs:
    """All pairs of sets that share a mention; made once."""
    return alignment.remember("pairs of sets", lambda: _pair_sets(alignment.beyond))


def _pair_sets(beyond: Beyond) -> SetPairs:
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
        pairs = pair_sets(alignment)
        counts = OF_BLOCKS[metric](pairs.alignment)
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
    for kind in HALVES:
        links_of_both = counts[f"{kind}_key"] + counts[f"{kind}_response"]
        total += 2 * counts[f"{kind}_common"] / np.maximum(links_of_both, 1)
        number += links_of_both > 0
    f1: FloatArray = total / np.maximum(number, 1)
    return f1

"""Overlapping mentions: candidates for a match, weighed by what they have in common."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from corefeval.matching.resolution import Candidates, Mentions
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, FloatArray, IntArray, distinct, ragged_arange

Pairs = tuple[IntArray, IntArray]


def bounds(corpus: Corpus, rows: IntArray) -> Pairs:
    """Start and end (exclusive) of some mentions; nothing where mentions have only labels."""
    start, end = corpus.mention_start, corpus.mention_end
    if start is None or end is None:  # a corpus has either labels or positions
        return rows[:0], rows[:0]
    return start[rows], end[rows]


def sizes(corpus: Corpus, rows: IntArray) -> IntArray:
    """The number of tokens of some mentions."""
    start, end = bounds(corpus, rows)
    size = end - start
    if corpus.gaps.size:
        _, place, gap_start, gap_end = _gaps(corpus, rows)
        size = size - _sum_at(gap_end - gap_start, place, rows.size)
    return size


def common_tokens(one: Corpus, rows: IntArray, other: Corpus, others: IntArray) -> IntArray:
    """How many tokens the mentions of some pairs have in common.

    Those between the later start and the earlier end, less what is in the gaps of either; what is
    in the gaps of both was then taken away twice.
    """
    (start, end), (begin, stop) = bounds(one, rows), bounds(other, others)
    low, high = np.maximum(start, begin), np.minimum(end, stop)
    common: IntArray = np.maximum(high - low, 0)
    gaps = [
        _gaps(corpus, own) if corpus.gaps.size else None
        for corpus, own in ((one, rows), (other, others))
    ]
    for found in gaps:
        if found is not None:
            _, place, gap_start, gap_end = found
            lost = np.minimum(gap_end, high[place]) - np.maximum(gap_start, low[place])
            common -= _sum_at(np.maximum(lost, 0), place, rows.size)
    if gaps[0] is not None and gaps[1] is not None:
        (_, place, gap_start, gap_end), (counts, _, their_start, their_end) = gaps[0], gaps[1]
        # Each gap of the one beside each gap of the other.
        number = counts[place]
        at = np.repeat(np.arange(place.size), number)
        beside = ragged_arange((np.cumsum(counts) - counts)[place], number)
        first = np.maximum(np.maximum(gap_start[at], their_start[beside]), low[place[at]])
        last = np.minimum(np.minimum(gap_end[at], their_end[beside]), high[place[at]])
        common += _sum_at(np.maximum(last - first, 0), place[at], rows.size)
    return common


def common_share(one: Corpus, rows: IntArray, other: Corpus, others: IntArray) -> FloatArray:
    """The Dice overlap of pairs of mentions: twice the common tokens over the tokens of both."""
    common = common_tokens(one, rows, other, others)
    share: FloatArray = 2.0 * common / np.maximum(sizes(one, rows) + sizes(other, others), 1)
    return share


def contain(corpus: Corpus, rows: IntArray, tokens: IntArray) -> BoolArray:
    """Whether each of some mentions contains the token beside it, a position in its document."""
    start, end = bounds(corpus, rows)
    inside: BoolArray = (start <= tokens) & (tokens < end)
    if corpus.gaps.size:
        _, place, gap_start, gap_end = _gaps(corpus, rows)
        lost = (gap_start <= tokens[place]) & (tokens[place] < gap_end)
        inside[place[lost]] = False
    return inside


def _gaps(corpus: Corpus, rows: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """The gaps of some mentions, in their order: how many each has, whose each is, start, end."""
    gaps = corpus.gaps[np.argsort(corpus.gaps[:, 0], kind="stable")]
    first = np.searchsorted(gaps[:, 0], rows, side="left")
    counts = np.searchsorted(gaps[:, 0], rows, side="right") - first
    chosen = ragged_arange(first, counts)
    return counts, np.repeat(np.arange(rows.size), counts), gaps[chosen, 1], gaps[chosen, 2]


def _sum_at(values: IntArray, place: IntArray, number: int) -> IntArray:
    return np.bincount(place, weights=values, minlength=number).astype(np.int64)


_CROWD = 64  # where more mentions than these are in the way, only the nearest are looked at:
_NEIGHBOURS = 16  # so many before and behind by their starts, and by their ends;
_FEWER = 2  # so many, where more mentions are in crowds than
_MANY = 1 << 17


def find_overlaps(
    key: Mentions,
    key_rows: IntArray,
    response: Mentions,
    response_rows: IntArray,
    *,
    heads: tuple[IntArray, IntArray] | None = None,
    groups: tuple[IntArray, IntArray] | None = None,
) -> Candidates:
    """Pairs of some mentions of key and response that overlap, weighed by their Dice overlap.

    With `heads` (the position of each mention's head on both sides, −1 where it is not known) they
    must have the same head, too; with `groups` the same number, which no two documents share. Two
    mentions that both overlap more than 64 of the other side are compared only where one is among
    those nearest to the other, by their starts or by their ends, so that the time stays in
    proportion to the mentions. That is the same from either side.
    """
    if key.corpus.labels is not None or response.corpus.labels is not None:
        return Candidates(key_rows[:0], response_rows[:0], np.zeros(0))
    stride = stride_of(key.corpus, response.corpus)
    if heads is not None:
        sides = (key.corpus, heads[0]), (response.corpus, heads[1])
        mine, theirs = (
            np.where(head >= 0, head + corpus.mention_document * stride, -1)
            for corpus, head in sides
        )
        groups = mine, theirs
    if groups is not None:
        key_rows = key_rows[groups[0][key_rows] >= 0]
        response_rows = response_rows[groups[1][response_rows] >= 0]
    left, right = _find_pairs(
        _Places.of(response, response_rows, stride, None if groups is None else groups[1]),
        _Places.of(key, key_rows, stride, None if groups is None else groups[0]),
    )
    one, other = response_rows[left], key_rows[right]
    share = common_share(response.corpus, one, key.corpus, other)
    real = share > 0  # a mention may lie in the gap of another
    return Candidates(other[real], one[real], share[real])


class _Places(NamedTuple):
    """Where mentions are, numbered through all documents, and what they must have in common.

    Their cores must overlap: the number of a group, such as the head token, or the whole span.
    """

    start: IntArray
    end: IntArray
    core: IntArray
    core_end: IntArray
    group: IntArray

    @staticmethod
    def of(side: Mentions, rows: IntArray, stride: int, groups: IntArray | None) -> _Places:
        shift = side.corpus.mention_document[rows] * stride
        start, end = (bound + shift for bound in bounds(side.corpus, rows))
        if groups is None:
            return _Places(start, end, start, end, np.zeros_like(start))
        group = groups[rows]
        return _Places(start, end, group, group + 1, group)

    def take(self, rows: IntArray) -> _Places:
        columns = self.start, self.end, self.core, self.core_end, self.group
        return _Places(*(column[rows] for column in columns))


def _find_pairs(mine: _Places, theirs: _Places) -> Pairs:
    """Pairs whose cores overlap: all of them, but in a crowd only those with the nearest spans."""
    crowded = _are_crowded(mine, theirs)
    if not crowded.any():
        return _find_overlapping(mine, theirs)
    their_crowded = _are_crowded(theirs, mine)
    reach = _NEIGHBOURS if crowded.sum() + their_crowded.sum() <= _MANY else _FEWER
    width, codes = theirs.core.size, []
    for find, which in ((_find_overlapping, False), (partial(_find_nearest, reach=reach), True)):
        rows, their_rows = np.flatnonzero(crowded == which), np.flatnonzero(their_crowded == which)
        left, right = find(mine.take(rows), theirs)
        codes.append(rows[left] * width + right)
        right, left = find(theirs.take(their_rows), mine)
        codes.append(left * width + their_rows[right])
    left, right = np.divmod(distinct(np.concatenate(codes)), width)
    return left, right


def _are_crowded(mine: _Places, theirs: _Places) -> BoolArray:
    """Which mentions overlap too many of the other side."""
    started = np.searchsorted(np.sort(theirs.core), mine.core_end, side="left")
    over = np.searchsorted(np.sort(theirs.core_end), mine.core, side="right")
    crowded: BoolArray = started - over > _CROWD
    return crowded


def _find_overlapping(mine: _Places, theirs: _Places) -> Pairs:
    """All pairs of overlapping cores, found by where one of them begins inside the other."""
    order, their_order = (np.argsort(one.core, kind="stable") for one in (mine, theirs))
    begins, their_begins = mine.core[order], theirs.core[their_order]
    low = np.searchsorted(their_begins, mine.core, side="left")
    high = np.searchsorted(their_begins, mine.core_end, side="left")
    left = np.repeat(np.arange(mine.core.size), high - low)
    right = their_order[ragged_arange(low, high - low)]
    # The other way round only those that begin later, so that no pair comes twice.
    low = np.searchsorted(begins, theirs.core, side="right")
    high = np.maximum(np.searchsorted(begins, theirs.core_end, side="left"), low)
    left = np.concatenate((left, order[ragged_arange(low, high - low)]))
    right = np.concatenate((right, np.repeat(np.arange(theirs.core.size), high - low)))
    return left, right


def _find_nearest(mine: _Places, theirs: _Places, *, reach: int) -> Pairs:
    """For each of some mentions those that overlap it and start, or end, next to where it does."""
    n_mine, n_theirs = mine.core.size, theirs.core.size
    both = (mine.group, theirs.group), (mine.start, theirs.start), (mine.end, theirs.end)
    group, start, end = map(np.concatenate, both)
    codes = []
    for first, second in ((start, -end), (end, -start)):
        order = np.lexsort((second, first, group))
        is_theirs = order >= n_mine
        before = np.cumsum(is_theirs)[~is_theirs]
        low = np.maximum(before - reach, 0)
        high = np.minimum(before + reach, n_theirs)
        near = np.repeat(order[~is_theirs], high - low)
        other = order[is_theirs][ragged_arange(low, high - low)] - n_mine
        overlap = mine.core[near] < theirs.core_end[other]
        overlap &= theirs.core[other] < mine.core_end[near]
        codes.append(near[overlap] * n_theirs + other[overlap])
    left, right = np.divmod(distinct(np.concatenate(codes)), n_theirs)
    return left, right


def stride_of(*corpora: Corpus) -> int:
    """More than any position: what keeps the positions of two documents apart."""
    ends = [corpus.mention_end for corpus in corpora if corpus.mention_end is not None]
    return 1 + max((int(end.max(initial=0)) for end in ends), default=0)

"""Overlapping mentions: candidates for a match, weighed by what they have in common."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from corefeval.matching.resolution import Candidates, Mentions
from corefeval.matching.spans import Pairs, bounds, common_share
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, IntArray, ragged_arange

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


@dataclass(frozen=True, slots=True)
class _Places:
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
        return _overlapping(mine, theirs)
    their_crowded = _are_crowded(theirs, mine)
    reach = _NEIGHBOURS if crowded.sum() + their_crowded.sum() <= _MANY else _FEWER
    width, codes = theirs.core.size, []
    for find, which in ((_overlapping, False), (partial(_nearest, reach=reach), True)):
        rows, their_rows = np.flatnonzero(crowded == which), np.flatnonzero(their_crowded == which)
        left, right = find(mine.take(rows), theirs)
        codes.append(rows[left] * width + right)
        right, left = find(theirs.take(their_rows), mine)
        codes.append(left * width + their_rows[right])
    left, right = np.divmod(np.unique(np.concatenate(codes)), width)
    return left, right


def _are_crowded(mine: _Places, theirs: _Places) -> BoolArray:
    """Which mentions overlap too many of the other side."""
    started = np.searchsorted(np.sort(theirs.core), mine.core_end, side="left")
    over = np.searchsorted(np.sort(theirs.core_end), mine.core, side="right")
    crowded: BoolArray = started - over > _CROWD
    return crowded


def _overlapping(mine: _Places, theirs: _Places) -> Pairs:
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


def _nearest(mine: _Places, theirs: _Places, *, reach: int) -> Pairs:
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
    left, right = np.divmod(np.unique(np.concatenate(codes)), n_theirs)
    return left, right


def stride_of(*corpora: Corpus) -> int:
    """More than any position: what keeps the positions of two documents apart."""
    ends = [corpus.mention_end for corpus in corpora if corpus.mention_end is not None]
    return 1 + max((int(end.max(initial=0)) for end in ends), default=0)

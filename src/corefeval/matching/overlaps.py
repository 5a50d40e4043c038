"""Overlapping mentions: candidates for a match, weighed by what they have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from corefeval.matching.resolution import Candidates, Mentions
from corefeval.model import Corpus, Mention
from corefeval.model.arrays import FloatArray, IntArray, ragged_arange

Pairs = tuple[IntArray, IntArray]

_CROWD = 64  # where more mentions than these are in the way, only the nearest are looked at:
_NEIGHBOURS = 16  # so many before and behind by their starts, and by their ends


def find_overlaps(
    key: Mentions,
    key_rows: IntArray,
    response: Mentions,
    response_rows: IntArray,
    *,
    heads: tuple[IntArray, IntArray] | None = None,
) -> Candidates:
    """Pairs of some mentions of key and response that overlap, weighed by their Dice overlap.

    With `heads` (the position of each mention's head on both sides, −1 where it is not known) they
    must have the same head, too. A response mention that more than 64 others overlap is compared
    with those nearest to it alone, by their starts and by their ends, so that the time stays in
    proportion to the mentions.
    """
    if key.corpus.labels is not None or response.corpus.labels is not None:
        return Candidates(key_rows[:0], response_rows[:0], np.zeros(0))
    stride = 1 + max(_last(response.corpus), _last(key.corpus))
    key_heads, response_heads = heads if heads is not None else (None, None)
    if heads is not None:
        key_rows, response_rows = (
            key_rows[heads[0][key_rows] >= 0],
            response_rows[heads[1][response_rows] >= 0],
        )
    left, right = _find_pairs(
        _Places.of(response, response_rows, stride, response_heads),
        _Places.of(key, key_rows, stride, key_heads),
    )
    one, other = response_rows[left], key_rows[right]
    share = common_share(response.corpus, one, key.corpus, other)
    real = share > 0  # a mention may lie in the gap of another
    return Candidates(other[real], one[real], share[real])


@dataclass(frozen=True, slots=True)
class _Places:
    """Where mentions are, numbered through all documents, and what they must have in common.

    Their cores must overlap: the head token, or the whole span. `group` is the head, 0 for spans.
    """

    start: IntArray
    end: IntArray
    core: IntArray
    core_end: IntArray
    group: IntArray

    @staticmethod
    def of(side: Mentions, rows: IntArray, stride: int, heads: IntArray | None) -> _Places:
        shift = side.corpus.mention_document[rows] * stride
        start, end = (bound + shift for bound in _bounds(side.corpus, rows))
        if heads is None:
            return _Places(start, end, start, end, np.zeros_like(start))
        head = heads[rows] + shift
        return _Places(start, end, head, head + 1, head)

    def take(self, rows: IntArray) -> _Places:
        columns = self.start, self.end, self.core, self.core_end, self.group
        return _Places(*(column[rows] for column in columns))


def _find_pairs(mine: _Places, theirs: _Places) -> Pairs:
    """Pairs whose cores overlap: all of them, but in a crowd only those with the nearest spans."""
    started = np.searchsorted(np.sort(theirs.core), mine.core_end, side="left")
    over = np.searchsorted(np.sort(theirs.core_end), mine.core, side="right")
    crowded = started - over > _CROWD
    few, many = np.flatnonzero(~crowded), np.flatnonzero(crowded)
    left, right = _overlapping(mine.take(few), theirs)
    left = few[left]
    if not many.size:
        return left, right
    near, other = _nearest(mine.take(many), theirs)
    return np.concatenate((left, many[near])), np.concatenate((right, other))


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


def _nearest(mine: _Places, theirs: _Places) -> Pairs:
    """For each of some mentions those that overlap it and start, or end, next to where it does."""
    n_mine, n_theirs = mine.core.size, theirs.core.size
    both = (mine.group, theirs.group), (mine.start, theirs.start), (mine.end, theirs.end)
    group, start, end = map(np.concatenate, both)
    codes = []
    for first, second in ((start, -end), (end, -start)):
        order = np.lexsort((second, first, group))
        is_theirs = order >= n_mine
        before = np.cumsum(is_theirs)[~is_theirs]
        low = np.maximum(before - _NEIGHBOURS, 0)
        high = np.minimum(before + _NEIGHBOURS, n_theirs)
        near = np.repeat(order[~is_theirs], high - low)
        other = order[is_theirs][ragged_arange(low, high - low)] - n_mine
        overlap = mine.core[near] < theirs.core_end[other]
        overlap &= theirs.core[other] < mine.core_end[near]
        codes.append(near[overlap] * n_theirs + other[overlap])
    left, right = np.divmod(np.unique(np.concatenate(codes)), n_theirs)
    return left, right


def _last(corpus: Corpus) -> int:
    return int(corpus.mention_end.max(initial=0)) if corpus.mention_end is not None else 0


def _bounds(corpus: Corpus, rows: IntArray) -> Pairs:
    start, end = corpus.mention_start, corpus.mention_end
    if start is None or end is None:  # a corpus has either labels or positions
        return rows[:0], rows[:0]
    return start[rows], end[rows]


def common_share(one: Corpus, rows: IntArray, other: Corpus, others: IntArray) -> FloatArray:
    """The Dice overlap of pairs of mentions: twice the common tokens over the tokens of both."""
    (start, end), (begin, stop) = _bounds(one, rows), _bounds(other, others)
    common = np.minimum(end, stop) - np.maximum(start, begin)
    share: FloatArray = 2.0 * common / np.maximum((end - start) + (stop - begin), 1)
    if one.gaps.size or other.gaps.size:
        interrupted = np.isin(rows, one.gaps[:, 0]) | np.isin(others, other.gaps[:, 0])
        for place in np.flatnonzero(interrupted).tolist():  # rare
            left, right = _parts(one, int(rows[place])), _parts(other, int(others[place]))
            both = sum(max(0, min(b, d) - max(a, c)) for a, b in left for c, d in right)
            size = sum(b - a for a, b in (*left, *right))
            share[place] = 2.0 * both / size
    return share


def _parts(corpus: Corpus, row: int) -> list[tuple[int, int]]:
    return Mention(corpus[int(corpus.mention_document[row])], row).parts

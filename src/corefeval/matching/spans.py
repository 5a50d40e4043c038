"""Mentions as sets of tokens, gaps and all: sizes, common tokens, what contains what."""

from __future__ import annotations

import numpy as np

from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, FloatArray, IntArray, ragged_arange

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
        size = size - _summed(gap_end - gap_start, place, rows.size)
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
            common -= _summed(np.maximum(lost, 0), place, rows.size)
    if gaps[0] is not None and gaps[1] is not None:
        (_, place, gap_start, gap_end), (counts, _, their_start, their_end) = gaps[0], gaps[1]
        # Each gap of the one beside each gap of the other.
        number = counts[place]
        at = np.repeat(np.arange(place.size), number)
        beside = ragged_arange((np.cumsum(counts) - counts)[place], number)
        first = np.maximum(np.maximum(gap_start[at], their_start[beside]), low[place[at]])
        last = np.minimum(np.minimum(gap_end[at], their_end[beside]), high[place[at]])
        common += _summed(np.maximum(last - first, 0), place[at], rows.size)
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


def _summed(values: IntArray, place: IntArray, number: int) -> IntArray:
    return np.bincount(place, weights=values, minlength=number).astype(np.int64)

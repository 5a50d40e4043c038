"""Wrong spans: extra mentions that stand in the place of missing ones."""

from __future__ import annotations

import numpy as np

from corefeval.features.sides import SideFeatures
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, FloatArray, IntArray, ragged_arange
from corefeval.protocol import WrongSpans

Pairs = tuple[IntArray, IntArray]


def wrong_spans(
    response: SideFeatures,
    extra: IntArray,
    key: SideFeatures,
    missing: IntArray,
    policy: WrongSpans,
) -> Pairs:
    """Response and key rows of mentions that are meant to be the same, one to one.

    Both must overlap. By `head` they also have the same head token, as Kummerfeld and Klein demand;
    by `overlap` the largest share of common tokens decides; `auto` goes by head where both heads
    are known. Among several the largest share of common tokens comes first, then the text's order.
    """
    nothing = extra[:0], missing[:0]
    if key.corpus.labels is not None or response.corpus.labels is not None:
        return nothing
    one, other = _overlapping(response.corpus, extra, key.corpus, missing)
    if policy != "overlap" and one.size:
        heads = response.head_positions[one], key.head_positions[other]
        fits = _same_heads(*heads, strict=policy == "head")
        one, other = one[fits], other[fits]
    share = _common_share(response.corpus, one, key.corpus, other)
    real = share > 0  # a mention may lie in the gap of another
    return _one_to_one(one[real], other[real], share[real])


def _overlapping(one: Corpus, rows: IntArray, other: Corpus, others: IntArray) -> Pairs:
    """All pairs of overlapping mentions, found by where one of them begins inside the other."""
    stride = 1 + max(_last(one), _last(other))
    start, end = _places(one, rows, stride)
    begin, stop = _places(other, others, stride)
    in_order, in_other_order = np.argsort(start, kind="stable"), np.argsort(begin, kind="stable")
    low = np.searchsorted(begin[in_other_order], start, side="left")
    high = np.searchsorted(begin[in_other_order], end, side="left")
    inside = ragged_arange(low, high - low)
    left, right = np.repeat(np.arange(rows.size), high - low), in_other_order[inside]
    # The other way round only those that begin later, so that no pair comes twice.
    low = np.searchsorted(start[in_order], begin, side="right")
    high = np.maximum(np.searchsorted(start[in_order], stop, side="left"), low)
    inside = ragged_arange(low, high - low)
    left = np.concatenate((left, in_order[inside]))
    right = np.concatenate((right, np.repeat(np.arange(others.size), high - low)))
    return rows[left], others[right]


def _last(corpus: Corpus) -> int:
    return int(corpus.mention_end.max(initial=0)) if corpus.mention_end is not None else 0


def _places(corpus: Corpus, rows: IntArray, stride: int) -> Pairs:
    """Starts and ends, numbered through all documents."""
    start, end = _bounds(corpus, rows)
    shift = corpus.mention_document[rows] * stride
    return start + shift, end + shift


def _bounds(corpus: Corpus, rows: IntArray) -> Pairs:
    start, end = corpus.mention_start, corpus.mention_end
    if start is None or end is None:  # a corpus has either labels or positions
        return rows[:0], rows[:0]
    return start[rows], end[rows]


def _same_heads(one: IntArray, other: IntArray, *, strict: bool) -> BoolArray:
    known = (one >= 0) & (other >= 0)
    same: BoolArray = known & (one == other)
    return same if strict else same | ~known


def _common_share(one: Corpus, rows: IntArray, other: Corpus, others: IntArray) -> FloatArray:
    """Twice the common tokens over the tokens of both."""
    (start, end), (begin, stop) = _bounds(one, rows), _bounds(other, others)
    common = np.minimum(end, stop) - np.maximum(start, begin)
    share: FloatArray = 2.0 * common / np.maximum((end - start) + (stop - begin), 1)
    if one.gaps.size or other.gaps.size:
        interrupted = np.isin(rows, one.gaps[:, 0]) | np.isin(others, other.gaps[:, 0])
        for place in np.flatnonzero(interrupted).tolist():  # rare
            left, right = _tokens(one, int(rows[place])), _tokens(other, int(others[place]))
            share[place] = 2.0 * len(left & right) / (len(left) + len(right))
    return share


def _tokens(corpus: Corpus, row: int) -> set[int]:
    start, end = _bounds(corpus, np.array([row]))
    gaps = corpus.gaps[corpus.gaps[:, 0] == row]
    between = {token for _, a, b in gaps.tolist() for token in range(a, b)}
    return set(range(int(start[0]), int(end[0]))) - between


def _one_to_one(one: IntArray, other: IntArray, share: FloatArray) -> Pairs:
    """Greedy: the best pair first. A pair that is the best for both its ends can be taken at once,
    so a few rounds over all pairs do what a loop over single pairs would.
    """
    order = np.lexsort((other, one, -share))
    one, other = one[order], other[order]
    taken: list[Pairs] = []
    while one.size:
        best = _is_first(one) & _is_first(other)
        taken.append((one[best], other[best]))
        left = ~(np.isin(one, one[best]) | np.isin(other, other[best]))
        one, other = one[left], other[left]
    left_rows = np.concatenate([pair[0] for pair in taken] or [one])
    right_rows = np.concatenate([pair[1] for pair in taken] or [other])
    in_order = np.argsort(left_rows, kind="stable")
    return left_rows[in_order], right_rows[in_order]


def _is_first(values: IntArray) -> BoolArray:
    """Which values were not there before."""
    first = np.zeros(values.size, dtype=np.bool_)
    first[np.unique(values, return_index=True)[1]] = True
    return first

"""Candidates for a match, weighed by what mentions share, and one-to-one matches of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from corefeval.assignment import heaviest_matching
from corefeval.model import Corpus
from corefeval.model.arrays import (
    ArrayPair,
    BoolArray,
    FloatArray,
    IntArray,
    distinct,
    find_places,
    integers,
    ragged_arange,
    stable_order,
    starts_of,
    unset,
)


class Mentions(NamedTuple):
    """One side as matchers see it: a corpus, and a code for each of its mentions.

    Codes are equal where mentions of the two sides have the same tokens (or labels), and different
    for the mentions of a side. Some matchers need further fields: `heads` are the positions of
    heads in their documents (−1 where not known), `cores` the tokens that a mention must keep, and
    `minima` numbers that are equal where minimum spans are (−1 where not known).
    """

    corpus: Corpus
    codes: IntArray
    heads: IntArray | None = None
    cores: TokenSets | None = None
    minima: IntArray | None = None


class TokenSets(NamedTuple):
    """Some tokens of each mention: `counts` of them, and their positions, mention by mention."""

    counts: IntArray
    tokens: IntArray

    def of(self, rows: IntArray) -> ArrayPair:
        """The tokens of some mentions, and the place in `rows` that each belongs to."""
        counts = self.counts[rows]
        first = starts_of(self.counts)[rows]
        place = np.repeat(np.arange(rows.size), counts)
        return self.tokens[ragged_arange(first, counts)], place


class Candidates(NamedTuple):
    """Pairs that may be matched: a key row, a response row and a weight above 0 for each."""

    key: IntArray
    response: IntArray
    weight: FloatArray


@dataclass(frozen=True, eq=False)
class Matches:
    """Which mentions are the same: `key[m]` of the key is `response[m]` of the response.

    Rows are one-to-one. Both are None where the sides have the same mentions in the same rows,
    and `weight` is None where every match weighs 1.
    """

    key: IntArray | None = None
    response: IntArray | None = None
    weight: FloatArray | None = None

    def rows(self, number: int) -> ArrayPair:
        """Both sides' rows, of `number` mentions where the sides are the same."""
        if self.key is None or self.response is None:
            every = np.arange(number)
            return every, every
        return self.key, self.response

    def partners_of_response(self, number: int) -> IntArray:
        """The key's row for each of `number` response mentions; −1 for one that the key lacks."""
        if self.key is None or self.response is None:
            return np.arange(number)
        partner = unset(number)
        partner[self.response] = self.key
        return partner


def bounds(corpus: Corpus, rows: IntArray) -> ArrayPair:
    """Start and end (exclusive) of some mentions; empty arrays where mentions have only labels."""
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


def common_tokens(
    left: Corpus, left_rows: IntArray, right: Corpus, right_rows: IntArray
) -> IntArray:
    """How many tokens the mentions of some pairs have in common.

    Mention `left_rows[n]` of one corpus pairs with `right_rows[n]` of the other.
    """
    (_, place, start, end), (counts, _, right_start, right_end) = (
        _list_parts(side, side_rows) for side, side_rows in ((left, left_rows), (right, right_rows))
    )
    # Each part of a left mention with each part of its right mention.
    number = counts[place]
    part = np.repeat(np.arange(place.size), number)
    right_part = ragged_arange(starts_of(counts)[place], number)
    low = np.maximum(start[part], right_start[right_part])
    high = np.minimum(end[part], right_end[right_part])
    return _sum_at(np.maximum(high - low, 0), place[part], left_rows.size)


def _list_parts(corpus: Corpus, rows: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """The parts of some mentions between their gaps: how many each mention has, then of each part
    its place in `rows`, start and end.
    """
    start, end = bounds(corpus, rows)
    counts, place = np.ones_like(rows), np.arange(rows.size)
    if corpus.gaps.size:
        n_gaps, gap_place, gap_start, gap_end = _gaps(corpus, rows)
        counts, place = counts + n_gaps, np.concatenate((place, gap_place))
        start, end = (
            bound[np.lexsort((bound, place))]
            for bound in (np.concatenate((start, gap_end)), np.concatenate((end, gap_start)))
        )
        place = np.sort(place)
    return counts, place, start, end


def common_share(
    left: Corpus, left_rows: IntArray, right: Corpus, right_rows: IntArray
) -> FloatArray:
    """The Dice overlap of pairs of mentions: twice the common tokens over the tokens of both."""
    common = common_tokens(left, left_rows, right, right_rows)
    share: FloatArray = (
        2.0 * common / np.maximum(sizes(left, left_rows) + sizes(right, right_rows), 1)
    )
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
    """The gaps of some mentions: how many each mention has, then of each gap its place in `rows`,
    start and end.
    """
    gaps = corpus.gaps[stable_order(corpus.gaps[:, 0])]
    first = np.searchsorted(gaps[:, 0], rows, side="left")
    counts = np.searchsorted(gaps[:, 0], rows, side="right") - first
    chosen = ragged_arange(first, counts)
    return counts, np.repeat(np.arange(rows.size), counts), gaps[chosen, 1], gaps[chosen, 2]


def _sum_at(values: IntArray, place: IntArray, number: int) -> IntArray:
    return integers(np.bincount(place, weights=values, minlength=number))


# A mention that overlaps more than _CROWD mentions is compared only with the nearest: _NEIGHBOURS
# before it and after it, by their starts and by their ends. If there are more than _MANY such
# mentions in all, it is _FEWER of them.
_CROWD, _NEIGHBOURS = 64, 16
_MANY, _FEWER = 1 << 17, 2


def find_overlaps(
    key: Mentions,
    key_rows: IntArray,
    response: Mentions,
    response_rows: IntArray,
    *,
    heads: ArrayPair | None = None,
    groups: ArrayPair | None = None,
) -> Candidates:
    """Pairs of some mentions of key and response that overlap, weighed by their Dice overlap.

    With `heads` (the position of each mention's head on both sides, −1 where it is not known) they
    must have the same head, too; with `groups` the same number, which no two documents share. Two
    mentions that both overlap more than 64 of the other side are compared only where one is among
    those nearest to the other, by their starts or by their ends, so that the time stays in
    proportion to the mentions. The result does not depend on which side is the key.
    """
    if key.corpus.labels is not None or response.corpus.labels is not None:
        return Candidates(key_rows[:0], response_rows[:0], np.zeros(0))
    stride = stride_of(key.corpus, response.corpus)
    if heads is not None:
        sides = (key.corpus, heads[0]), (response.corpus, heads[1])
        key_groups, response_groups = (
            np.where(head >= 0, head + corpus.mention_document * stride, -1)
            for corpus, head in sides
        )
        groups = key_groups, response_groups
    if groups is not None:
        key_rows = key_rows[groups[0][key_rows] >= 0]
        response_rows = response_rows[groups[1][response_rows] >= 0]
    left, right = _find_pairs(
        _Places.of(response, response_rows, stride, None if groups is None else groups[1]),
        _Places.of(key, key_rows, stride, None if groups is None else groups[0]),
    )
    paired_responses, paired_keys = response_rows[left], key_rows[right]
    share = common_share(response.corpus, paired_responses, key.corpus, paired_keys)
    real = share > 0  # a mention may lie in the gap of another
    return Candidates(paired_keys[real], paired_responses[real], share[real])


class _Places(NamedTuple):
    """Where mentions are, with positions numbered through all documents.

    Mentions can only pair if their cores, from `core` to `core_end`, overlap. A core is the whole
    span; with groups it is the number of the group, such as the position of the head token.
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


def _find_pairs(places: _Places, other_places: _Places) -> ArrayPair:
    """Pairs whose cores overlap: all of them, but in a crowd only those with the nearest spans."""
    crowded = _are_crowded(places, other_places)
    if not crowded.any():
        return _find_overlapping(places, other_places)
    other_crowded = _are_crowded(other_places, places)
    reach = _NEIGHBOURS if crowded.sum() + other_crowded.sum() <= _MANY else _FEWER
    width, codes = other_places.core.size, []
    find_nearest = partial(_find_nearest, reach=reach)
    for find, chosen, other_chosen in (
        (_find_overlapping, ~crowded, ~other_crowded),
        (find_nearest, crowded, other_crowded),
    ):
        rows, other_rows = np.flatnonzero(chosen), np.flatnonzero(other_chosen)
        left, right = find(places.take(rows), other_places)
        codes.append(rows[left] * width + right)
        right, left = find(other_places.take(other_rows), places)
        codes.append(left * width + other_rows[right])
    left, right = np.divmod(distinct(np.concatenate(codes)), width)
    return left, right


def _are_crowded(places: _Places, other_places: _Places) -> BoolArray:
    """Which mentions overlap too many of the other side."""
    started = np.searchsorted(np.sort(other_places.core), places.core_end, side="left")
    over = np.searchsorted(np.sort(other_places.core_end), places.core, side="right")
    crowded: BoolArray = started - over > _CROWD
    return crowded


def _find_overlapping(places: _Places, other_places: _Places) -> ArrayPair:
    """All pairs of overlapping cores, found by where one of them begins inside the other."""
    order, other_order = (stable_order(side.core) for side in (places, other_places))
    begins, other_begins = places.core[order], other_places.core[other_order]
    low = np.searchsorted(other_begins, places.core, side="left")
    high = np.searchsorted(other_begins, places.core_end, side="left")
    left = np.repeat(np.arange(places.core.size), high - low)
    right = other_order[ragged_arange(low, high - low)]
    # In the other direction only those that begin later, so that no pair comes twice.
    low = np.searchsorted(begins, other_places.core, side="right")
    high = np.maximum(np.searchsorted(begins, other_places.core_end, side="left"), low)
    left = np.concatenate((left, order[ragged_arange(low, high - low)]))
    right = np.concatenate((right, np.repeat(np.arange(other_places.core.size), high - low)))
    return left, right


def _find_nearest(places: _Places, other_places: _Places, *, reach: int) -> ArrayPair:
    """Pairs of overlapping cores, for each mention only those that start or end nearest to it."""
    n_places, n_others = places.core.size, other_places.core.size
    columns = (
        (places.group, other_places.group),
        (places.start, other_places.start),
        (places.end, other_places.end),
    )
    group, start, end = map(np.concatenate, columns)
    codes = []
    for first, second in ((start, -end), (end, -start)):
        order = np.lexsort((second, first, group))
        is_other = order >= n_places
        before = np.cumsum(is_other)[~is_other]
        low = np.maximum(before - reach, 0)
        high = np.minimum(before + reach, n_others)
        near = np.repeat(order[~is_other], high - low)
        neighbour = order[is_other][ragged_arange(low, high - low)] - n_places
        overlap = places.core[near] < other_places.core_end[neighbour]
        overlap &= other_places.core[neighbour] < places.core_end[near]
        codes.append(near[overlap] * n_others + neighbour[overlap])
    left, right = np.divmod(distinct(np.concatenate(codes)), n_others)
    return left, right


def stride_of(*corpora: Corpus) -> int:
    """A number above all positions, by which positions of different documents are kept apart."""
    ends = [corpus.mention_end for corpus in corpora if corpus.mention_end is not None]
    return 1 + max((int(end.max(initial=0)) for end in ends), default=0)


def resolve(candidates: Candidates, key: Mentions, response: Mentions) -> Matches:
    """The heaviest one-to-one matches among candidates.

    Of several that are equally heavy, those whose pairs, in order, come first; a pair is compared
    by the earlier start of its two mentions, the later start, the earlier end and the later end.
    The result does not depend on which side is the key.
    """
    chosen = heaviest_matching(
        candidates.key,
        candidates.response,
        candidates.weight,
        order=_rank_pairs(candidates, key, response),
    )
    chosen = chosen[stable_order(candidates.key[chosen])]
    return Matches(candidates.key[chosen], candidates.response[chosen], candidates.weight[chosen])


def _rank_pairs(candidates: Candidates, key: Mentions, response: Mentions) -> IntArray:
    """The rank of each pair in the order of the text: see `resolve`."""
    columns = [key.corpus.mention_document[candidates.key]]
    for in_key, in_response in (
        (key.corpus.mention_start, response.corpus.mention_start),
        (key.corpus.mention_end, response.corpus.mention_end),
        (key.codes, response.codes),
    ):
        if in_key is not None and in_response is not None:
            key_values, response_values = in_key[candidates.key], in_response[candidates.response]
            columns += [
                np.minimum(key_values, response_values),
                np.maximum(key_values, response_values),
            ]
    return find_places(np.lexsort(columns[::-1]), candidates.key.size)

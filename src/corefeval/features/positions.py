"""Where mentions stand: in the tokens of all documents, in their entities, and inside others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from corefeval.features.declarations import Bin, MissingFeatureError, bin_name
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, IntArray, is_sorted, ragged_arange, stable_order
from corefeval.model.categories import Categories


@dataclass(frozen=True, eq=False)
class TokenSpans:
    """The mentions' tokens, numbered through all documents; documents begin at `offsets`.

    `start` and `end` (exclusive) are those of the mentions; `gaps` has rows of mention, start, end.
    """

    offsets: IntArray
    document: IntArray
    start: IntArray
    end: IntArray
    gaps: IntArray

    @staticmethod
    def of(corpus: Corpus, counts: Sequence[IntArray], feature: str) -> TokenSpans:
        """Of a corpus whose documents have as many tokens as the longest of the texts says."""
        if corpus.mention_start is None or corpus.mention_end is None:
            raise MissingFeatureError(
                feature,
                "needs token positions, and plain Python mentions have none",
                fix=f"state the {feature} of each mention, or score files or spans of tokens",
            )
        ends = np.zeros(len(corpus.documents), dtype=np.int64)
        if corpus.n_mentions:
            np.maximum.at(ends, corpus.mention_document, corpus.mention_end)
        for count in counts:
            ends = np.maximum(ends, count)
        offsets = np.concatenate(([0], np.cumsum(ends)))
        shift = offsets[corpus.mention_document]
        gaps = corpus.gaps
        if gaps.size:
            gaps = gaps + np.outer(shift[gaps[:, 0]], [0, 1, 1])
        return TokenSpans(
            offsets,
            corpus.mention_document,
            corpus.mention_start + shift,
            corpus.mention_end + shift,
            gaps,
        )

    @property
    def n_tokens(self) -> int:
        """How many tokens there are in all documents together."""
        return int(self.offsets[-1])

    @cached_property
    def length(self) -> IntArray:
        """The number of tokens of each mention, gaps left out."""
        length = self.end - self.start
        if self.gaps.size:
            np.subtract.at(length, self.gaps[:, 0], self.gaps[:, 2] - self.gaps[:, 1])
        return length

    def take(self, rows: IntArray) -> TokenSpans:
        """Some of the mentions, without gaps."""
        some = self.document[rows], self.start[rows], self.end[rows]
        return TokenSpans(self.offsets, *some, self.gaps[:0])

    def contain(self, tokens: IntArray) -> BoolArray:
        """Whether each mention contains the token beside it."""
        inside: BoolArray = (self.start <= tokens) & (tokens < self.end)
        if self.gaps.size:
            token = tokens[self.gaps[:, 0]]
            inside[self.gaps[(self.gaps[:, 1] <= token) & (token < self.gaps[:, 2]), 0]] = False
        return inside

    @cached_property
    def many(self) -> IntArray:
        """The mentions of more than one token."""
        return np.flatnonzero(self.length > 1)

    @cached_property
    def inside(self) -> IntArray:
        """The tokens that are in a mention, in ascending order."""
        return self.list_tokens(np.arange(self.start.size))

    @cached_property
    def inside_many(self) -> IntArray:
        """The tokens that are in a mention of more than one token, in ascending order."""
        return self.list_tokens(self.many)

    def list_tokens(self, rows: IntArray) -> IntArray:
        """The tokens from the start to the end of some mentions, each once, in ascending order."""
        start, end = self.start[rows], self.end[rows]
        if not is_sorted(start):
            order = stable_order(start)
            start, end = start[order], end[order]
        reach = np.maximum.accumulate(end)
        apart = np.flatnonzero(start[1:] >= reach[:-1]) + 1
        first = np.concatenate(([0], apart))[: start.size]
        last = np.append(apart, start.size)[: start.size] - 1
        return ragged_arange(start[first], reach[last] - start[first])

    def tokens(
        self, rows: IntArray, *, reach: int | None = None
    ) -> tuple[IntArray, IntArray, IntArray]:
        """The tokens of some mentions one after the other, gaps left out.

        Returns the tokens, the place in `rows` that each belongs to, and where each one begins.
        With a reach, tokens that are so far or farther from the start of their mention are left
        out: thousands of mentions inside each other have millions of tokens.
        """
        length = self.end[rows] - self.start[rows]
        if reach is not None:
            length = np.minimum(length, reach)
        tokens = ragged_arange(self.start[rows], length)
        place = np.repeat(np.arange(rows.size), length)
        if self.gaps.size:
            keep = self._without_gaps(rows, length, tokens.size)
            tokens, place = tokens[keep], place[keep]
        return tokens, place, np.searchsorted(place, np.arange(rows.size))

    def _without_gaps(self, rows: IntArray, length: IntArray, size: int) -> BoolArray:
        keep = np.ones(size, dtype=np.bool_)
        place = np.full(self.start.size, -1, dtype=np.int64)
        place[rows] = np.arange(rows.size)
        gaps = self.gaps[place[self.gaps[:, 0]] >= 0]
        mention = place[gaps[:, 0]]
        begin = (np.cumsum(length) - length)[mention]
        first, last = (
            begin + np.minimum(bound - self.start[gaps[:, 0]], length[mention])
            for bound in (gaps[:, 1], gaps[:, 2])
        )
        keep[ragged_arange(first, last - first)] = False
        return keep


def find_spans(start: IntArray, end: IntArray, wanted: tuple[IntArray, IntArray]) -> IntArray:
    """The first of some spans that equals each of the wanted ones; −1 for none.

    >>> starts, ends = np.array([4, 0, 4]), np.array([6, 2, 5])
    >>> find_spans(starts, ends, (np.array([4, 0]), np.array([5, 1]))).tolist()
    [2, -1]
    """
    if not start.size or not wanted[0].size:
        return np.full(wanted[0].size, -1, dtype=np.int64)
    width = 1 + max(int((end - start).max()), int((wanted[1] - wanted[0]).max()))
    known = start * width + (end - start)
    asked = wanted[0] * width + (wanted[1] - wanted[0])
    order = stable_order(known)
    place = np.minimum(np.searchsorted(known, asked, sorter=order), known.size - 1)
    row = order[place]
    return np.where(known[row] == asked, row, -1)


def number_in_chains(entity: IntArray) -> IntArray:
    """1 for the first mention of each entity, 2 for the second, and so on.

    >>> number_in_chains(np.array([4, 4, 1, 4])).tolist()
    [1, 2, 1, 3]
    """
    order = stable_order(entity)
    ordered = entity[order]
    new = np.flatnonzero(np.diff(ordered, prepend=-1))
    counts = np.diff(np.append(new, ordered.size))
    position = np.empty(entity.size, dtype=np.int64)
    position[order] = np.arange(entity.size) - np.repeat(new, counts) + 1
    return position


def find_antecedents(entity: IntArray) -> IntArray:
    """The mention before each one in its entity; −1 for first mentions.

    >>> find_antecedents(np.array([4, 4, 1, 4])).tolist()
    [-1, 0, -1, 1]
    """
    order = stable_order(entity)
    before = np.full(entity.size, -1, dtype=np.int64)
    same = entity[order[1:]] == entity[order[:-1]]
    before[order[1:][same]] = order[:-1][same]
    return before


def find_nested(spans: TokenSpans) -> BoolArray:
    """Which mentions lie inside another one that is longer. Mentions are in textual order."""
    start, end = spans.start, spans.end
    if not start.size:
        return np.zeros(0, dtype=np.bool_)
    new = np.ones(start.size, dtype=np.bool_)
    new[1:] = (start[1:] != start[:-1]) | (end[1:] != end[:-1])
    ends = end[new]  # of each span once: a mention that appears twice is not inside itself
    inside = np.zeros(ends.size, dtype=np.bool_)
    inside[1:] = np.maximum.accumulate(ends)[:-1] >= ends[1:]
    result: BoolArray = inside[np.cumsum(new) - 1]
    return result


def put_into_bins(
    values: IntArray, bins: Sequence[Bin], known: BoolArray | None = None
) -> Categories:
    """Each value's bin; none where it is in no bin, or not known. Bins without values go."""
    lows = np.array([low for low, _ in bins], dtype=np.int64)
    highs = np.array([np.iinfo(np.int64).max if h is None else h for _, h in bins], dtype=np.int64)
    place = np.searchsorted(lows, values, side="right") - 1
    inside = (place >= 0) & (values <= highs[place])
    codes = np.where(inside if known is None else inside & known, place, -1)
    present = np.bincount(codes + 1, minlength=len(bins) + 1)[1:] > 0
    rank = np.append(np.cumsum(present) - 1, -1)
    names = tuple(bin_name(one) for one, there in zip(bins, present.tolist(), strict=True) if there)
    return Categories(rank[codes], names)

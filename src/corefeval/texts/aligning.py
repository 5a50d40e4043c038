"""Two texts laid on each other by their characters: what both have, in the order of both.

Stretches of characters that both texts have once are anchors; between them, words that are alike go
together. A stretch that only one text has stays unaligned, instead of being smeared over the other.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel, LCSseq, Postfix, Prefix

from corefeval.model.arrays import (
    BoolArray,
    IntArray,
    all_false,
    begin_runs,
    find_runs,
    plain_rows,
    starts_of,
    unset,
)

UNKNOWN = "\ue000"  # what stands for a word that a tokeniser did not know: like nothing else
ALIKE = 0.6  # the share of characters in common from which on words are alike
_ANCHORS = (24, 12)  # characters of an anchor, first over the whole text, then between anchors
_CELLS = (100, 100, 400)  # pairs of words in a gap, above which anchors or windows are tried
_MOST_CELLS = 10_000  # pairs of words in a gap that are compared at all
_WINDOW = 1 << 14  # characters at a time where no anchor is
_DENSE = 0.3  # the share of a passage that must be common where there are no anchors
# Of how many words a group on either side may be: up to four are alike to one.
_SHAPES = ((1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (3, 1), (4, 1))
_ONE_BY_ONE = 3  # words that may take the place of as many others
_PASSAGE = 12  # words from which on a gap is a passage, not a few changed words
_SLIDE = 2_000  # characters by which a cut may be moved to the end of a sentence

Block = tuple[int, int, int]  # where it begins in both texts, and its length


@dataclass(frozen=True, slots=True)
class TextAlignment:
    """Which tokens of two texts have characters in common, and how much of the text that is.

    `pieces` has a row for each pair of tokens, in order, of shape (n, 2). `is_alike` says of each
    whether it is for their characters; else they only stand in the same place. `share` is the part
    of the shorter text that was found in the other, from 0 to 1.
    """

    pieces: IntArray
    is_alike: BoolArray
    share: float


class _Text:
    """A text made of folded tokens, and where tokens and words begin in it."""

    def __init__(self, tokens: Sequence[str], continues: Sequence[bool]) -> None:
        self.text = "".join(tokens)
        lengths = np.fromiter(map(len, tokens), dtype=np.int64, count=len(tokens))
        self.token = np.repeat(np.arange(len(tokens)), lengths)  # of each character
        self.lengths = lengths
        starts = starts_of(lengths)
        self.is_edge = all_false(len(self.text) + 1)
        self.is_edge[starts] = self.is_edge[-1] = True
        opens = lengths > 0
        if len(continues):
            opens &= ~np.asarray(continues, dtype=np.bool_)
        self.word_starts: list[int] = starts[opens].tolist()

    @cached_property
    def codes(self) -> NDArray[np.uint32]:
        return np.frombuffer(self.text.encode("utf-32-le", "surrogatepass"), np.uint32)

    def word_edges(self, low: int, high: int) -> list[int]:
        """Where the words of a stretch begin, and its end."""
        first, last = bisect_right(self.word_starts, low), bisect_left(self.word_starts, high)
        return [low, *self.word_starts[first:last], high]


class _Gap(NamedTuple):
    """A stretch of each text, from one character or word up to another."""

    low: int
    high: int
    other_low: int
    other_high: int

    @property
    def is_one_sided(self) -> bool:
        return self.low == self.high or self.other_low == self.other_high


def align_tokens(
    first: Sequence[str],
    second: Sequence[str],
    first_continues: Sequence[bool] = (),
    second_continues: Sequence[bool] = (),
) -> TextAlignment:
    """Align two texts, given as folded tokens, one to one and in order.

    The flags say which tokens continue the word before them, as BERT's `##` pieces do. Exchanging
    the texts exchanges the columns of the pieces, and nothing else.

    >>> align_tokens(["do", "n't", "go"], ["don't", "go"]).pieces.tolist()
    [[0, 0], [1, 0], [2, 1]]
    """
    sides = _Text(first, first_continues), _Text(second, second_continues)
    lengths = [len(side.text) for side in sides]
    swapped = (lengths[1], sides[1].text) < (lengths[0], sides[0].text)
    short, long = sides[::-1] if swapped else sides
    layout = _Layout(short, long)
    layout.lay()
    characters = np.flatnonzero(layout.partner >= 0)
    pairs = np.stack((short.token[characters], long.token[layout.partner[characters]]), axis=1)
    is_new = begin_runs(*pairs.T)
    pieces = pairs[is_new]
    aligned_length = int(short.lengths[np.unique(pieces[:, 0])].sum())
    return TextAlignment(
        pieces[:, ::-1].copy() if swapped else pieces,
        ~layout.is_unlike[characters][is_new],
        aligned_length / len(short.text) if short.text else 1.0,
    )


class _Layout:
    """The shorter text on the longer one: for each character its partner there, −1 for none."""

    def __init__(self, short: _Text, long: _Text) -> None:
        self.short, self.long = short, long
        self.partner = unset(len(short.text))
        self.is_unlike = all_false(len(short.text))

    def lay(self) -> None:
        """Find the partners of all characters."""
        gaps = [(_Gap(0, len(self.short.text), 0, len(self.long.text)), 0)]
        blocks: list[Block] = []
        words: list[_Gap] = []
        while gaps:
            gap, level = gaps.pop()
            gap = self._trim(gap, blocks)
            if gap.is_one_sided:
                continue
            cells = math.prod(len(edges) - 1 for edges in self._word_edges(gap))
            if level < len(_CELLS) and cells > _CELLS[level]:
                chain = (
                    self._find_anchors(gap, _ANCHORS[level])
                    if level < len(_ANCHORS)
                    else self._find_in_windows(gap)
                )
                blocks += chain
                gaps += [(inner, level + 1) for inner in _between(gap, chain)]
            elif cells <= _MOST_CELLS:
                words.append(gap)
        blocks.sort()
        self._slide_to_sentences(blocks)
        for low, other_low, length in blocks:
            self.partner[low : low + length] = np.arange(other_low, other_low + length)
        for gap in words:
            self._lay_words(gap)

    def _word_edges(self, gap: _Gap) -> tuple[list[int], list[int]]:
        """Where the words of a gap begin in both texts, and its ends."""
        return (
            self.short.word_edges(gap.low, gap.high),
            self.long.word_edges(gap.other_low, gap.other_high),
        )

    def _cut_to_tokens(self, block: Block) -> Block:
        """The part of a block that is whole tokens of both texts."""
        low, other_low, length = block
        edges = np.flatnonzero(
            self.short.is_edge[low : low + length + 1]
            & self.long.is_edge[other_low : other_low + length + 1]
        )
        if edges.size < 2:
            return low, other_low, 0
        start, end = int(edges[0]), int(edges[-1])
        return low + start, other_low + start, end - start

    def _trim(self, gap: _Gap, blocks: list[Block]) -> _Gap:
        """The gap without what both texts have at its beginning, then at its end: a cut is late."""
        low, high, other_low, other_high = gap
        text, other_text = self._texts(gap)
        if common := int(Prefix.similarity(text, other_text)):
            begin = self._cut_to_tokens((low, other_low, common))
            if begin[2] and begin[0] == low:
                blocks.append(begin)
                low, other_low = low + begin[2], other_low + begin[2]
                text, other_text = text[begin[2] :], other_text[begin[2] :]
        if common := int(Postfix.similarity(text, other_text)):
            end = self._cut_to_tokens((high - common, other_high - common, common))
            if end[2] and end[0] + end[2] == high:
                blocks.append(end)
                high, other_high = high - end[2], other_high - end[2]
        return _Gap(low, high, other_low, other_high)

    def _find_anchors(self, gap: _Gap, size: int) -> list[Block]:
        """Blocks around runs of `size` characters that both stretches have once, in order."""
        grams, places = _grams_once(self.short.codes[gap.low : gap.high], size)
        other_grams, other_places = _grams_once(
            self.long.codes[gap.other_low : gap.other_high], size
        )
        _, rows, other_rows = np.intersect1d(
            grams, other_grams, assume_unique=True, return_indices=True
        )
        if not rows.size:
            return []
        order = np.argsort(places[rows])
        starts = places[rows][order] + gap.low
        other_starts = other_places[other_rows][order] + gap.other_low
        steps = np.arange(starts.size)
        begins, counts = find_runs(starts - steps, other_starts - steps)
        runs = plain_rows(starts[begins], other_starts[begins], counts)
        return self._without_overlap(
            (low, other_low, count + size - 1) for low, other_low, count in _heaviest(list(runs))
        )

    def _without_overlap(self, chain: Iterator[Block]) -> list[Block]:
        """Blocks cut to whole tokens; characters that two of them claim are the first one's."""
        blocks: list[Block] = []
        end = other_end = 0
        for low, other_low, length in chain:
            over = max(end - low, other_end - other_low, 0)
            if over < length:
                block = self._cut_to_tokens((low + over, other_low + over, length - over))
                if block[2]:
                    blocks.append(block)
                    end, other_end = block[0] + block[2], block[1] + block[2]
        return blocks

    def _find_in_windows(self, gap: _Gap) -> list[Block]:
        """Common blocks where no anchor is, as in a text that repeats itself, window by window."""
        low, high, other_low, other_high = gap
        chain: list[Block] = []
        while low < high and other_low < other_high:
            ends = min(low + _WINDOW, high), min(other_low + _WINDOW, other_high)
            text, other_text = self._texts(_Gap(low, ends[0], other_low, ends[1]))
            equal = (
                (low + code.src_start, other_low + code.dest_start, code.src_end - code.src_start)
                for code in Indel.opcodes(text, other_text)
                if code.tag == "equal"
            )
            blocks = self._without_overlap(equal)
            is_last = ends == (high, other_high)
            if sum(block[2] for block in blocks) < _DENSE * min(len(text), len(other_text)):
                blocks = []  # some words in common make no copy
            elif not is_last:  # what is near the end of a window may belong behind it
                limit = low + 3 * len(text) // 4
                blocks = [block for block in blocks if block[0] < limit]
            chain += blocks
            if is_last:
                break
            if blocks:
                low, other_low = blocks[-1][0] + blocks[-1][2], blocks[-1][1] + blocks[-1][2]
            else:
                low, other_low = ends
        return chain

    def _slide_to_sentences(self, blocks: list[Block]) -> None:
        """Cut out whole sentences where a stretch that one text lacks could be cut elsewhere."""
        for index in range(len(blocks) - 1):
            (low, other_low, length), (next_low, other_next, next_length) = blocks[
                index : index + 2
            ]
            if (low + length == next_low) == (other_low + length == other_next):
                continue
            text, start, end = self.long, other_low + length, other_next
            if next_low > low + length:
                text, start, end = self.short, low + length, next_low
            for shift in range(min(length, _SLIDE)):
                cut = low + length - shift, other_low + length - shift
                if (
                    text.text[start - shift - 1] in ".!?"
                    and text.text[end - shift - 1] in ".!?"
                    and self.short.is_edge[cut[0]]
                    and self.long.is_edge[cut[1]]
                    and text.is_edge[end - shift]
                ):
                    blocks[index] = low, other_low, length - shift
                    blocks[index + 1] = next_low - shift, other_next - shift, next_length + shift
                    break
                if text.text[start - shift - 1] != text.text[end - shift - 1]:
                    break

    def _lay_words(self, gap: _Gap) -> None:
        """Align what is alike between two blocks, and a few words that take others' places."""
        edges, other_edges = self._word_edges(gap)
        size, other_size = len(edges) - 1, len(other_edges) - 1
        few, many = sorted((size, other_size))
        if many > 4 * few + 16:
            return
        groups = _alike_groups(self.short.text, edges, self.long.text, other_edges)
        if few > _PASSAGE:
            ranges = [group[:2] if size == few else group[2:] for group in groups]
            if sum(high - low for low, high in ranges) < _DENSE * few:
                return
        row = column = 0
        for group in [*groups, _Gap(size, size, other_size, other_size)]:
            if group.low - row == group.other_low - column <= _ONE_BY_ONE:
                for word, other_word in zip(
                    pairwise(edges[row : group.low + 1]),
                    pairwise(other_edges[column : group.other_low + 1]),
                    strict=True,
                ):
                    self._put_in_place(_Gap(*word, *other_word))
            ends = other_edges[group.other_low], other_edges[group.other_high]
            self._lay_common(_Gap(edges[group.low], edges[group.high], *ends))
            row, column = group.high, group.other_high

    def _lay_common(self, gap: _Gap) -> None:
        """Align the characters of a longest common subsequence."""
        for code in LCSseq.opcodes(*self._texts(gap)):
            if code.tag == "equal":
                places = slice(gap.low + code.src_start, gap.low + code.src_end)
                self.partner[places] = gap.other_low + np.arange(code.dest_start, code.dest_end)

    def _put_in_place(self, gap: _Gap) -> None:
        """Align a word with one unlike it; a word never with punctuation."""
        text, other_text = self._texts(gap)
        is_word, is_other_word = (any(map(str.isalnum, side)) for side in (text, other_text))
        if is_word == is_other_word or UNKNOWN in (text, other_text):
            size = min(len(text), len(other_text))
            steps = np.arange(size)
            places = gap.low + steps * len(text) // size
            self.partner[places] = gap.other_low + steps * len(other_text) // size
            self.is_unlike[places] = True

    def _texts(self, gap: _Gap) -> tuple[str, str]:
        return self.short.text[gap.low : gap.high], self.long.text[gap.other_low : gap.other_high]


def _between(gap: _Gap, blocks: Sequence[Block]) -> Iterator[_Gap]:
    """The gaps before, between and behind some blocks."""
    low, other_low = gap.low, gap.other_low
    for start, other_start, length in blocks:
        yield _Gap(low, start, other_low, other_start)
        low, other_low = start + length, other_start + length
    yield _Gap(low, gap.high, other_low, gap.other_high)


def hash_runs(numbers: NDArray[np.integer], size: int) -> NDArray[np.uint64]:
    """A hash of each run of `size` numbers."""
    mixed = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    count = max(numbers.size - size + 1, 0)
    hashes = np.zeros(count, dtype=np.uint64)
    for shift in range(size):
        hashes = hashes * np.uint64(0xBF58476D1CE4E5B9) + mixed[shift : shift + count]
    return hashes


def _grams_once(codes: NDArray[np.uint32], size: int) -> tuple[NDArray[np.uint64], IntArray]:
    """The runs of some characters that are there once, as sorted hashes, and where they begin."""
    grams, places, counts = np.unique(hash_runs(codes, size), return_index=True, return_counts=True)
    return grams[counts == 1], places[counts == 1]


def _heaviest(runs: list[Block]) -> list[Block]:
    """The runs, in order of the first text, that are in order in the second one and longest."""
    ends: list[int] = []  # in the second text, of chains worth keeping: later ones weigh more
    weights: list[int] = []
    last_runs: list[int] = []
    before: list[int] = []
    for index, (_, other_low, length) in enumerate(runs):
        spot = bisect_right(ends, other_low)
        before.append(last_runs[spot - 1] if spot else -1)
        weight, end = length + (weights[spot - 1] if spot else 0), other_low + length
        spot = bisect_right(ends, end)
        if spot and weights[spot - 1] >= weight:
            continue
        spot = bisect_left(ends, end)
        stop = spot
        while stop < len(ends) and weights[stop] <= weight:
            stop += 1
        ends[spot:stop], weights[spot:stop], last_runs[spot:stop] = [end], [weight], [index]
    chain, index = [], last_runs[-1]
    while index >= 0:
        chain.append(runs[index])
        index = before[index]
    return chain[::-1]


def _alike_groups(
    text: str, edges: Sequence[int], other_text: str, other_edges: Sequence[int]
) -> list[_Gap]:
    """Groups of words that are alike, as ranges of words of both, with most characters in common.

    A group has one word on one side at least, unless both sides have the same characters. Of
    equally good ones the smallest and then the earliest are taken.
    """
    size, other_size = len(edges) - 1, len(other_edges) - 1
    worth = [[0.0] * (other_size + 1) for _ in range(size + 1)]
    choice: dict[tuple[int, int], tuple[int, int]] = {}
    for row in range(size - 1, -1, -1):
        for column in range(other_size - 1, -1, -1):
            best, step = worth[row + 1][column], (1, 0)
            if worth[row][column + 1] > best:
                best, step = worth[row][column + 1], (0, 1)
            low, other_low = edges[row], other_edges[column]
            shapes: tuple[tuple[int, int], ...] = _SHAPES
            if text[low] == other_text[other_low]:
                rest, other_rest = edges[row:], other_edges[column:]
                shapes = (*_SHAPES, *_equal_words(text, rest, other_text, other_rest))
            for shape in shapes:
                end, other_end = row + shape[0], column + shape[1]
                if end > size or other_end > other_size:
                    continue
                length, other_length = edges[end] - low, other_edges[other_end] - other_low
                together = length + other_length
                if together - abs(length - other_length) < ALIKE * together:
                    continue
                part = text[low : edges[end]]
                other_part = other_text[other_low : other_edges[other_end]]
                common = LCSseq.similarity(part, other_part)
                if 2 * common < ALIKE * together:
                    continue
                value = common - (together - 2 * common) / 1024 + worth[end][other_end]
                if value > best or (value == best and min(step) == 0):
                    best, step = value, shape
            worth[row][column], choice[row, column] = best, step
    groups = []
    row = column = 0
    while row < size and column < other_size:
        step = choice[row, column]
        if min(step):
            groups.append(_Gap(row, row + step[0], column, column + step[1]))
        row, column = row + step[0], column + step[1]
    return groups


def _equal_words(
    text: str, edges: Sequence[int], other_text: str, other_edges: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """How many words of both sides are the first that have the same characters together, if any."""
    sides = text[edges[0] : edges[-1]], other_text[other_edges[0] : other_edges[-1]]
    common = Prefix.similarity(*sides)
    for count, edge in enumerate(other_edges[1:], 1):
        length = edge - other_edges[0]
        if length > common:
            return
        if edges[0] + length in edges:
            yield edges.index(edges[0] + length), count
            return

"""The words of an answer laid upon the words of the key.

Runs of words that the key has once are seeds; the heaviest chain of seeds in the order of both
texts is what the answer copied; what lies between is laid with small tables. A preamble, a loop,
another document or the rest behind a cut stay unlaid, instead of being smeared over the key.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from corefeval.formats.answers.table import EQUAL, Gap, Likeness, align_gaps
from corefeval.model.arrays import BoolArray, IntArray

SEED = 6  # words in a seed
_CELLS = 60_000  # in a table at most
_DENSE = 0.3  # of the words that must be there in a row where there are no seeds
_JUMP = 3  # what a block must be worth beyond the words it covers


@dataclass(slots=True)
class Laid:
    """For each atom of the answer its atom of the key, −1 for none, and what kind of pair it is."""

    to_key: IntArray
    kind: IntArray


def align(a: IntArray, k: IntArray, breaks: BoolArray, likeness: Likeness) -> Laid:
    """Lay the atoms `a` of an answer upon the atoms `k` of a key, both as numbers of a vocabulary.

    `breaks` says before which atoms of the key a sentence begins; it has one place more than `k`.
    """
    to_key = np.full(a.size, -1, dtype=np.int64)
    kind = np.zeros(a.size, dtype=np.int64)
    small: list[Gap] = []
    elsewhere = _loops(a, k)  # copies of what was laid before
    waiting = [(Gap(0, a.size, 0, k.size, left=False, right=False), SEED)]
    while waiting:
        gap, n = waiting.pop()
        if n < SEED and gap.left != gap.right:
            gap = _before_copies(gap, elsewhere)
        if not gap.cells:
            continue
        if n < SEED and gap.cells <= _CELLS and (gap.left or gap.right):
            small.append(gap)
            continue
        if n == 0:
            small += _edges(gap)
            continue
        blocks = _chain_in(gap, a, k, n, breaks, elsewhere)
        if n < SEED and not gap.left and not gap.right:
            size = min(gap.a1 - gap.a0, gap.k1 - gap.k0)
            if sum(length for *_, length in blocks) < _DENSE * size:
                blocks = []  # some words in common make no copy
        for low_a, low_k, length in blocks:
            to_key[low_a : low_a + length] = np.arange(low_k, low_k + length)
            kind[low_a : low_a + length] = EQUAL
        if n == SEED:
            elsewhere &= to_key < 0
        less = {SEED: 3, 3: 2, 2: 1, 1: 0}[n]
        inner_gaps = _between(gap, blocks)
        waiting += [(inner, less if inner.left == inner.right else 0) for inner in inner_gaps]
    rows, columns, kinds = align_gaps(small, a, k, likeness)
    to_key[rows], kind[rows] = columns, kinds
    return Laid(to_key, kind)


def _loops(a: IntArray, k: IntArray) -> BoolArray:
    """Which atoms of an answer belong to a loop: they repeat what comes before, unlike the key.

    A seed that comes back at a distance and goes on to do so over that distance is a loop, unless
    the key has the seed before it too, in which one copy ends and the next one begins.
    """
    is_loop = np.zeros(a.size, dtype=np.bool_)
    grams = grams_of(a, SEED)
    order = np.argsort(grams, kind="stable")
    is_repeat = grams[order[1:]] == grams[order[:-1]]
    distance = np.zeros(grams.size, dtype=np.int64)  # from the same seed before; 0 for none
    distance[order[1:][is_repeat]] = (order[1:] - order[:-1])[is_repeat]
    edges = np.flatnonzero(np.diff(distance, prepend=-1, append=-1))
    low, high = edges[:-1], edges[1:]
    period = distance[low]
    long = np.flatnonzero((period > 0) & (period <= high - low + SEED) & (low > 0))
    new = long[~np.isin(grams[low[long] - 1], grams_of(k, SEED))]
    for run in new.tolist():
        is_loop[low[run] : high[run] + SEED - 1] = True
    return is_loop


def _before_copies(gap: Gap, elsewhere: BoolArray) -> Gap:
    """A gap open on one side, cut where the answer copies what it also has elsewhere."""
    copies = np.flatnonzero(elsewhere[gap.a0 : gap.a1])
    if not copies.size:
        return gap
    if gap.left:
        return replace(gap, a1=gap.a0 + int(copies[0]))
    return replace(gap, a0=gap.a0 + int(copies[-1]) + 1)


def _between(gap: Gap, blocks: list[tuple[int, int, int]]) -> Iterator[Gap]:
    """The gaps before, between and behind the blocks within a gap."""
    a, k, left = gap.a0, gap.k0, gap.left
    for low_a, low_k, length in blocks:
        yield Gap(a, low_a, k, low_k, left, True)
        a, k, left = low_a + length, low_k + length, True
    yield Gap(a, gap.a1, k, gap.k1, left, gap.right)


def _edges(gap: Gap) -> Iterator[Gap]:
    """The ends of a gap that is too large for a table, next to the words that anchor them."""
    rows, columns = gap.a1 - gap.a0, gap.k1 - gap.k0
    short = min(rows, columns, 200)
    r, c = min(rows, max(2 * short, 32)), min(columns, max(2 * short, 32))
    if gap.left and gap.right:
        r, c = min(r, rows // 2), min(c, columns // 2)
    if gap.left:
        yield Gap(gap.a0, gap.a0 + r, gap.k0, gap.k0 + c, True, False)
    if gap.right:
        yield Gap(gap.a1 - r, gap.a1, gap.k1 - c, gap.k1, False, True)


def _chain_in(
    gap: Gap, a: IntArray, k: IntArray, n: int, breaks: BoolArray, elsewhere: BoolArray
) -> list[tuple[int, int, int]]:
    """The blocks (answer, key, length) of equal words in a gap that belong together."""
    answer_part, key_part = a[gap.a0 : gap.a1], k[gap.k0 : gap.k1]
    starts_a, starts_k, counts = _seeds(answer_part, key_part, n)
    if not counts.size:
        return []
    if n == SEED:
        for low, count in zip(starts_a.tolist(), counts.tolist(), strict=True):
            elsewhere[low : low + count + n - 1] = True
    chosen = _heaviest_chain(starts_a, starts_k, counts, n)
    blocks: list[tuple[int, int, int]] = []
    for low_a, low_k, count in chosen:
        _append(blocks, (low_a + gap.a0, low_k + gap.k0, count + n - 1), breaks)
    return blocks


def _append(
    blocks: list[tuple[int, int, int]], block: tuple[int, int, int], breaks: BoolArray
) -> None:
    """Add a block behind others; words that two of them share stay with one of them."""
    low_a, low_k, length = block
    while blocks:
        last_a, last_k, last = blocks[-1]
        over = max(last_a + last - low_a, last_k + last - low_k)
        if over <= 0:
            break
        kept = _cut(over, last_k + last, low_k, breaks)
        drop = over - kept  # the last words of the block before
        if last > drop and length > kept:
            blocks[-1] = last_a, last_k, last - drop
            low_a, low_k, length = low_a + kept, low_k + kept, length - kept
            break
        if last >= length:
            return
        blocks.pop()
    blocks.append((low_a, low_k, length))


def _cut(over: int, end: int, start: int, breaks: BoolArray) -> int:
    """How many of the words that two blocks share the first one keeps: best up to a sentence's end.

    The first block ends at `end` of the key, the second one begins at `start`.
    """
    best, most = over, -1
    for kept in range(over, -1, -1):
        good = int(breaks[max(end - over + kept, 0)]) + int(
            breaks[min(start + kept, breaks.size - 1)]
        )
        if good > most:
            best, most = kept, good
    return best


def grams_of(numbers: IntArray, n: int) -> NDArray[np.uint64]:
    """A hash of each run of n words."""
    mixed = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    size = max(numbers.size - n + 1, 0)
    grams = np.zeros(size, dtype=np.uint64)
    for shift in range(n):
        grams = grams * np.uint64(0xBF58476D1CE4E5B9) + mixed[shift : shift + size]
    return grams


def _once(grams: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], IntArray]:
    """The grams that are there once, sorted, and where."""
    order = np.argsort(grams, kind="stable")
    ordered = grams[order]
    new = np.ones(ordered.size + 1, dtype=np.bool_)
    new[1:-1] = ordered[1:] != ordered[:-1]
    single = new[:-1] & new[1:]
    return ordered[single], order[single]


def _seeds(a: IntArray, k: IntArray, n: int) -> tuple[IntArray, IntArray, IntArray]:
    """Runs of seeds on a diagonal: where they begin in answer and key, and how many seeds.

    Long seeds are those that the key has once, wherever the answer has them; short ones must be
    there once on both sides.
    """
    grams, sought = grams_of(a, n), grams_of(k, n)
    unique, places = _once(sought)
    if not unique.size or not grams.size:
        return (np.empty(0, dtype=np.int64),) * 3
    spot = np.minimum(np.searchsorted(unique, grams), unique.size - 1)
    is_seed = unique[spot] == grams
    if n < SEED:
        single = np.zeros(grams.size, dtype=np.bool_)
        single[_once(grams)[1]] = True
        is_seed &= single
    in_a = np.flatnonzero(is_seed)
    in_k = places[spot[in_a]]
    if not in_a.size:
        return (np.empty(0, dtype=np.int64),) * 3
    first = np.concatenate(([True], (np.diff(in_a) != 1) | (np.diff(in_k) != 1)))
    begin = np.flatnonzero(first)
    return in_a[begin], in_k[begin], np.diff(np.append(begin, in_a.size))


def _heaviest_chain(
    a: IntArray, k: IntArray, counts: IntArray, n: int
) -> list[tuple[int, int, int]]:
    """The runs of seeds that are in the same order on both sides and cover most words.

    A run may be cut where the one before it reaches into it; of equal chains the earlier one wins.
    """
    ends = k + counts
    if (k[1:] >= ends[:-1]).all():
        return list(zip(a.tolist(), k.tolist(), counts.tolist(), strict=True))
    order = np.argsort(ends, kind="stable")
    sorted_ends = ends[order]
    rank = np.empty(ends.size, dtype=np.int64)
    rank[order] = np.arange(ends.size)
    below = np.searchsorted(sorted_ends, k, side="right").tolist()  # those that end before it
    uncut, part = _Maxima(ends.size), _Maxima(ends.size)
    total, before = [0.0] * ends.size, [-1] * ends.size
    places, finish, sizes, spots = k.tolist(), ends.tolist(), counts.tolist(), rank.tolist()
    for run in range(ends.size):
        value, previous = max((0.0, -1), uncut.best(0, below[run]))
        total[run], before[run] = value + sizes[run] + n - 1 - _JUMP, previous
        value, previous = part.best(below[run], spots[run])
        if previous >= 0 and finish[run] > finish[previous]:
            cut = value + finish[run] + n - 1 - _JUMP
            if cut > total[run]:
                total[run], before[run] = cut, previous
        uncut.put(spots[run], total[run], run)
        part.put(spots[run], total[run] - finish[run], run)
    last = max(range(ends.size), key=lambda run: (total[run], -run))
    chain: list[tuple[int, int, int]] = []
    while last >= 0:
        previous = before[last]
        shift = max(finish[previous] - places[last], 0) if previous >= 0 else 0
        chain.append((int(a[last]) + shift, places[last] + shift, sizes[last] - shift))
        last = previous
    return chain[::-1]


class _Maxima:
    """The largest values in ranges of places, where values come one by one (a segment tree)."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.tree: list[tuple[float, int]] = [(-1e18, -1)] * (2 * size)

    def put(self, place: int, value: float, name: int) -> None:
        """Set a value."""
        place += self.size
        entry = (value, -name)
        while place and self.tree[place] < entry:
            self.tree[place] = entry
            place //= 2

    def best(self, low: int, high: int) -> tuple[float, int]:
        """The largest value in [low, high) and its name, of equals the smallest; −1 for none."""
        best = (-1e18, 1)
        low, high = low + self.size, high + self.size
        while low < high:
            if low & 1:
                best = max(best, self.tree[low]) if self.tree[low][0] > -1e18 else best
                low += 1
            if high & 1:
                high -= 1
                best = max(best, self.tree[high]) if self.tree[high][0] > -1e18 else best
            low, high = low // 2, high // 2
        return best[0], -best[1]

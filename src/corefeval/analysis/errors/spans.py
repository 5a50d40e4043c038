"""Wrong spans: extra mentions that stand in the place of missing ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from corefeval.diagnostics import Notice, plural
from corefeval.features.errors import MissingFeatureError
from corefeval.features.later import LaterFeatures
from corefeval.model import Corpus, Mention
from corefeval.model.arrays import BoolArray, FloatArray, IntArray, ragged_arange

WrongSpans = Literal["auto", "head", "overlap"]
Rule = Literal["head", "overlap"]
Pairs = tuple[IntArray, IntArray]

_CROWD = 64  # where more mentions than these are in the way, only the nearest are looked at:
_NEIGHBOURS = 16  # so many before and behind by their starts, and by their ends
_ROUNDS = 16


@dataclass(frozen=True, slots=True)
class Decision:
    """What tells wrong spans (None where mentions have no spans), and why, where it is no wish."""

    rule: Rule | None
    notices: tuple[Notice, ...] = ()


def decided(key: LaterFeatures, response: LaterFeatures, policy: WrongSpans) -> Decision:
    """What tells wrong spans; `auto` are heads where those of all mentions are known.

    By `head`, mentions without a known head are never wrong spans, and a notice counts them. Where
    no mention of several tokens has one, `MissingFeatureError` says what is missing.
    """
    if key.corpus.labels is not None or response.corpus.labels is not None:
        return Decision(None)
    if policy == "overlap":
        return Decision("overlap")
    try:
        unknown = sum(int((side.head_positions < 0).sum()) for side in (key, response))
    except MissingFeatureError as error:
        if policy == "head":
            raise
        return Decision("overlap", (by_overlap(str(error).splitlines()[0]),))
    if not unknown:
        return Decision("head")
    count = plural(unknown, "mention")
    if policy == "auto":
        return Decision("overlap", (by_overlap(f"the heads of {count} are not known", unknown),))
    if not any(map(_knows_heads, (key, response))):
        for side in (key, response):
            side.features.analysis.heads("--wrong-spans head")  # says what is missing
    message = f"{count} without a known head, which are never taken for wrong spans"
    return Decision("head", (Notice("wrong-spans", message, unknown),))


def _knows_heads(side: LaterFeatures) -> bool:
    """Whether the head of any mention of several tokens is known; of one token it always is."""
    start, end = _bounds(side.corpus, np.arange(side.corpus.n_mentions))
    return bool(((side.head_positions >= 0) & (end - start > 1)).any())


def by_overlap(why: str, count: int = 1) -> Notice:
    """The notice that heads do not tell wrong spans, and why."""
    message = f"{why}, so any overlap makes a wrong span; with heads there may be fewer"
    return Notice("wrong-spans", message, count)


def wrong_spans(
    response: LaterFeatures,
    extra: IntArray,
    key: LaterFeatures,
    missing: IntArray,
    rule: Rule | None,
) -> Pairs:
    """Response and key rows of mentions that are meant to be the same, one to one.

    Both must overlap; by `head` they also have the same head token, as Kummerfeld and Klein demand.
    Among several the largest share of common tokens comes first, then the text's order. An extra
    mention that could stand for more than 64 missing ones is compared with those nearest to it
    alone, by their starts and by their ends, so that the time stays in proportion to the mentions.
    """
    if rule is None:
        return extra[:0], missing[:0]
    stride = 1 + max(_last(response.corpus), _last(key.corpus))
    if rule == "head":
        extra, missing = (
            rows[side.head_positions[rows] >= 0]
            for side, rows in ((response, extra), (key, missing))
        )
    mine, theirs = (
        _Places.of(side, rows, stride, rule) for side, rows in ((response, extra), (key, missing))
    )
    left, right = _candidates(mine, theirs)
    one, other = extra[left], missing[right]
    share = _common_share(response.corpus, one, key.corpus, other)
    real = share > 0  # a mention may lie in the gap of another
    return _one_to_one(one[real], other[real], share[real])


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
    def of(side: LaterFeatures, rows: IntArray, stride: int, rule: Rule) -> _Places:
        shift = side.corpus.mention_document[rows] * stride
        start, end = (bound + shift for bound in _bounds(side.corpus, rows))
        if rule == "overlap":
            return _Places(start, end, start, end, np.zeros_like(start))
        head = side.head_positions[rows] + shift
        return _Places(start, end, head, head + 1, head)

    def take(self, rows: IntArray) -> _Places:
        columns = self.start, self.end, self.core, self.core_end, self.group
        return _Places(*(column[rows] for column in columns))


def _candidates(mine: _Places, theirs: _Places) -> Pairs:
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


def _common_share(one: Corpus, rows: IntArray, other: Corpus, others: IntArray) -> FloatArray:
    """Twice the common tokens over the tokens of both."""
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


def _one_to_one(one: IntArray, other: IntArray, share: FloatArray) -> Pairs:
    """Greedy: the best pair first. A pair that is the best for both its ends can be taken at once,
    so a few rounds over all pairs do nearly all that a loop over single pairs would.
    """
    order = np.lexsort((other, one, -share))
    one, other = one[order], other[order]
    pairs: list[Pairs] = []
    for _ in range(_ROUNDS):
        if not one.size:
            break
        best = _is_first(one) & _is_first(other)
        pairs.append((one[best], other[best]))
        left = ~(np.isin(one, one[best]) | np.isin(other, other[best]))
        one, other = one[left], other[left]
    pairs.append(_taken_singly(one, other))
    left_rows, right_rows = (np.concatenate(rows) for rows in zip(*pairs, strict=True))
    in_order = np.argsort(left_rows, kind="stable")
    return left_rows[in_order], right_rows[in_order]


def _taken_singly(one: IntArray, other: IntArray) -> Pairs:
    """The same for what rounds leave over: a chain in which every pair waits for the next."""
    left: dict[int, int] = {}
    right: set[int] = set()
    for mine, theirs in zip(one.tolist(), other.tolist(), strict=True):
        if mine not in left and theirs not in right:
            left[mine] = theirs
            right.add(theirs)
    return np.array([*left], dtype=np.int64), np.array([*left.values()], dtype=np.int64)


def _is_first(values: IntArray) -> BoolArray:
    """Which values were not there before."""
    first = np.zeros(values.size, dtype=np.bool_)
    first[np.unique(values, return_index=True)[1]] = True
    return first

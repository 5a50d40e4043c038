"""The matchers: by the same tokens, by heads, by parts, by minimum spans and by overlap."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np

from corefeval.checks import import_place, split_call
from corefeval.matching.candidates import (
    Candidates,
    Matches,
    Mentions,
    TokenSets,
    bounds,
    common_share,
    common_tokens,
    contain,
    find_overlaps,
    resolve,
    sizes,
    stride_of,
)
from corefeval.model.arrays import (
    ArrayPair,
    BoolArray,
    IntArray,
    all_true,
    distinct,
    is_sorted,
    mark_rows,
    ragged_arange,
    stable_order,
)
from corefeval.protocol import MATCHERS

Matcher = Callable[[Mentions, Mentions], Matches]
Resolver = Callable[[Candidates, Mentions, Mentions], Matches]


def matcher(match: str) -> Matcher:
    """The matcher that a value of the protocol's choice stands for: `head`, `overlap(0.5)`."""
    name, share = split_call(match)
    function: Callable[..., Matches] = import_place(MATCHERS[name].function)
    return function if share is None else partial(function, share=float(share))


def find_candidates(match: str, key: Mentions, response: Mentions) -> Candidates:
    """All pairs that a matcher, other than `exact`, would match if there were no others."""
    match_all: Callable[..., Matches] = matcher(match)
    matches = match_all(key, response, resolver=lambda candidates, *_: Matches(*candidates))
    rows = matches.rows(0)
    return Candidates(*rows, np.ones(rows[0].size) if matches.weight is None else matches.weight)


def match_exactly(key: Mentions, response: Mentions) -> Matches:
    """The mentions whose codes are the same."""
    if key.codes.size == response.codes.size and np.array_equal(key.codes, response.codes):
        return Matches()
    return Matches(*common_rows(key.codes, response.codes))


def common_rows(key: IntArray, response: IntArray) -> ArrayPair:
    """The rows of the codes that both sides have.

    Codes are unique within a side. Both sides are mostly in textual order, so that a merge of the
    two sorted runs finds the pairs without a search.

    >>> common_rows(np.array([1, 4, 6]), np.array([4, 5, 6]))
    (array([1, 2]), array([0, 2]))
    """
    key_order = None if is_sorted(key) else stable_order(key)
    response_order = None if is_sorted(response) else stable_order(response)
    left = key if key_order is None else key[key_order]
    right = response if response_order is None else response[response_order]
    # The lowest bit tells the sides apart. numpy's stable sort finds the two runs and merges them.
    merged = np.concatenate((left << 1, (right << 1) | 1))
    merged.sort(kind="stable")
    (pair_places,) = (merged[1:] ^ merged[:-1] == 1).nonzero()
    merged &= 1
    from_response = merged.cumsum()[pair_places]
    key_rows, response_rows = pair_places - from_response, from_response
    if key_order is not None:
        key_rows = key_order[key_rows]
    if response_order is not None:
        response_rows = response_order[response_rows]
    return key_rows, response_rows


T = TypeVar("T")
Finder = Callable[[IntArray, IntArray], Candidates]

# Of more than _CROWD mentions that may lie inside a key mention, only the _NEIGHBOURS nearest by
# their starts and by their ends are tried.
_CROWD, _NEIGHBOURS = 64, 16


def match_heads(key: Mentions, response: Mentions, *, resolver: Resolver = resolve) -> Matches:
    """Mentions that have the same head token.

    The same tokens with another head are no match. A mention whose head is not known is matched
    with one of the same tokens alone.
    """
    heads = _require(key.heads), _require(response.heads)
    twins = common_rows(key.codes, response.codes)
    key_heads, response_heads = heads[0][twins[0]], heads[1][twins[1]]
    agree = (key_heads == response_heads) | (key_heads < 0) | (response_heads < 0)

    def find(key_rows: IntArray, response_rows: IntArray) -> Candidates:
        return find_overlaps(key, key_rows, response, response_rows, heads=heads)

    return _complete(key, response, (twins[0][agree], twins[1][agree]), find, resolver)


def match_partially(key: Mentions, response: Mentions, *, resolver: Resolver = resolve) -> Matches:
    """Response mentions that lie inside a key mention and contain its core: its minimum, or head.

    A key mention without a core is matched with one of the same tokens alone.
    """
    cores = _require(key.cores)

    def find(key_rows: IntArray, response_rows: IntArray) -> Candidates:
        return _find_inside(key, key_rows, cores, response, response_rows)

    return _complete(key, response, common_rows(key.codes, response.codes), find, resolver)


def match_minima(key: Mentions, response: Mentions, *, resolver: Resolver = resolve) -> Matches:
    """Where the key states a minimum, as `match_partially`; else mentions of equal minimum spans.

    A key mention without any minimum is matched with one of the same tokens alone.
    """
    cores, minima = _require(key.cores), (_require(key.minima), _require(response.minima))

    def find(key_rows: IntArray, response_rows: IntArray) -> Candidates:
        stated = cores.counts[key_rows] > 0
        inside = _find_inside(key, key_rows[stated], cores, response, response_rows)
        equal = find_overlaps(key, key_rows[~stated], response, response_rows, groups=minima)
        return Candidates(
            np.concatenate((inside.key, equal.key)),
            np.concatenate((inside.response, equal.response)),
            np.concatenate((inside.weight, equal.weight)),
        )

    return _complete(key, response, common_rows(key.codes, response.codes), find, resolver)


def match_overlapping(
    key: Mentions, response: Mentions, *, share: float, resolver: Resolver = resolve
) -> Matches:
    """Mentions whose Dice overlap is at least `share`."""

    def find(key_rows: IntArray, response_rows: IntArray) -> Candidates:
        overlaps = find_overlaps(key, key_rows, response, response_rows)
        enough = overlaps.weight >= share - 1e-12
        return Candidates(overlaps.key[enough], overlaps.response[enough], overlaps.weight[enough])

    return _complete(key, response, common_rows(key.codes, response.codes), find, resolver)


def _complete(
    key: Mentions, response: Mentions, twins: ArrayPair, find: Finder, resolver: Resolver
) -> Matches:
    """The twins (mentions of the same tokens), and the heaviest matches of all other mentions."""
    sizes_of_sides = key.codes.size, response.codes.size
    unmatched = [all_true(size) for size in sizes_of_sides]
    for is_unmatched, rows in zip(unmatched, twins, strict=True):
        is_unmatched[rows] = False
    if not all(is_unmatched.any() for is_unmatched in unmatched):
        return _keep_twins(key, response, twins)
    key_rows, response_rows = map(np.flatnonzero, unmatched)
    matches = resolver(find(key_rows, response_rows), key, response)
    if (
        matches.key is None
        or matches.response is None
        or matches.weight is None
        or not matches.key.size
    ):
        return _keep_twins(key, response, twins)
    key_rows = np.concatenate((twins[0], matches.key))
    order = stable_order(key_rows)
    response_rows = np.concatenate((twins[1], matches.response))[order]
    weight = np.concatenate((np.ones(twins[0].size), matches.weight))[order]
    return Matches(key_rows[order], response_rows, weight)


def _keep_twins(key: Mentions, response: Mentions, twins: ArrayPair) -> Matches:
    """Matches of twins alone; rows are not listed where they are the same on both sides."""
    is_complete = twins[0].size == key.codes.size == response.codes.size
    return Matches() if is_complete and np.array_equal(*twins) else Matches(*twins)


def _find_inside(
    key: Mentions, key_rows: IntArray, cores: TokenSets, response: Mentions, rows: IntArray
) -> Candidates:
    """Pairs in which the response mention lies inside the key mention and contains its core.

    A response mention that does so begins between the key mention's start and its core's first
    token, and ends between the core's last token and the key mention's end. Whichever of these two
    stretches has fewer mentions is gone through; where both have more than 64, the 16 that begin
    first in the one and the 16 that end last in the other.
    """
    key_rows = key_rows[cores.counts[key_rows] > 0]
    stride = stride_of(key.corpus, response.corpus)
    shift = key.corpus.mention_document[key_rows] * stride
    start, end = (bound + shift for bound in bounds(key.corpus, key_rows))
    tokens, _ = cores.of(key_rows)
    edge = np.cumsum(cores.counts[key_rows]) - cores.counts[key_rows]
    first = (np.minimum.reduceat(tokens, edge) if edge.size else tokens) + shift
    last = (np.maximum.reduceat(tokens, edge) if edge.size else tokens) + shift
    moved = response.corpus.mention_document[rows] * stride
    starts, ends = (bound + moved for bound in bounds(response.corpus, rows))
    windows = []
    for values, low, high in ((starts, start, first), (ends, last + 1, end)):
        order = stable_order(values)
        begin = np.searchsorted(values[order], low, side="left")
        windows.append((order, begin, np.searchsorted(values[order], high, side="right") - begin))
    pairs = [_list_window(windows, which) for which in (0, 1)]
    width = max(rows.size, 1)
    left, right = np.divmod(distinct(np.concatenate([k * width + r for k, r in pairs])), width)
    outer, inner = key_rows[left], rows[right]
    real = common_tokens(key.corpus, outer, response.corpus, inner) == sizes(response.corpus, inner)
    real[real] = _contain_cores(cores, outer[real], response, inner[real])
    outer, inner = outer[real], inner[real]
    return Candidates(outer, inner, common_share(key.corpus, outer, response.corpus, inner))


def _list_window(windows: list[tuple[IntArray, IntArray, IntArray]], which: int) -> ArrayPair:
    """The places of key mentions and of response mentions that one of two windows contributes."""
    order, begin, number = windows[which]
    other_number = windows[1 - which][2]
    smaller = (number < other_number) | ((number == other_number) & (which == 0))
    crowded = np.minimum(number, other_number) > _CROWD
    count = np.where(crowded, np.minimum(number, _NEIGHBOURS), np.where(smaller, number, 0))
    # The nearest to the bound of the key mention: the first by starts, the last by ends.
    begin = begin if which == 0 else np.where(crowded, begin + number - count, begin)
    return np.repeat(np.arange(count.size), count), order[ragged_arange(begin, count)]


def _contain_cores(
    cores: TokenSets, key_rows: IntArray, response: Mentions, rows: IntArray
) -> BoolArray:
    """Whether each response mention has all tokens of the core of the key mention beside it."""
    tokens, place = cores.of(key_rows)
    lacking = ~contain(response.corpus, rows[place], tokens)
    return ~mark_rows(place[lacking], rows.size)


def _require(value: T | None) -> T:
    if value is None:
        raise TypeError("mentions without what this matcher needs")
    return value

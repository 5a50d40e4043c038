"""The head token of each mention: as stated, else by dependencies, constituents or tags."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

import numpy as np

from corefeval.features.brackets import regions
from corefeval.features.spans import Spans, find_spans
from corefeval.features.tagsets import TagSet
from corefeval.features.trees import constituent_heads
from corefeval.model.arrays import BoolArray, IntArray
from corefeval.model.categories import Categories

_NOWHERE = np.iinfo(np.int64).max
_REACH = 256  # a head is looked for in so many tokens from the start of its mention
_AT_ONCE = 1 << 17  # so many tokens that the arrays on the way stay small

Columns = ParamSpec("Columns")
Finder = Callable[Concatenate[Spans, IntArray, Columns], IntArray]


def _in_pieces(find: Finder[Columns]) -> Finder[Columns]:
    """The same for a part of the mentions at a time."""

    @wraps(find)
    def found(
        spans: Spans, rows: IntArray, /, *columns: Columns.args, **more: Columns.kwargs
    ) -> IntArray:
        length = np.minimum(spans.end[rows] - spans.start[rows], _REACH)
        bounds = np.flatnonzero(np.diff(np.cumsum(length) // _AT_ONCE)) + 1
        parts = np.split(rows, bounds)
        return np.concatenate([find(spans, part, *columns, **more) for part in parts])

    return found


@_in_pieces
def dependency_heads(
    spans: Spans,
    rows: IntArray,
    numbers: Categories,
    governors: Categories,
    sentences: IntArray,
    suits: BoolArray | None = None,
) -> IntArray:
    """The first token of each of some mentions that depends on none of the others; −1 for none.

    Tokens and their governors are numbered within the sentence. Empty nodes (`7.1`) are no heads.
    A span that is no subtree has several such tokens (`the Union` in `the Union forces`); of these
    the first that `suits` counts, where there is one.
    """
    tokens, place, begin = spans.tokens(rows, reach=_REACH)
    number = _as_numbers(numbers, tokens)
    governor = _as_numbers(governors, tokens)
    sentence = np.searchsorted(sentences, tokens, side="right")
    width = 1 + int(max(number.max(initial=0), governor.max(initial=0)))
    group = (place * (int(sentence.max(initial=0)) + 1) + sentence) * width
    real = number > 0
    known = np.sort((group + number)[real], kind="stable")
    asked = group + governor
    found = np.minimum(np.searchsorted(known, asked), max(known.size - 1, 0))
    inside = known[found] == asked if known.size else real
    top = real & (governor >= 0) & ~inside
    head = _first(tokens, begin, top)
    if suits is None:
        return head
    better = _first(tokens, begin, top & suits[tokens])
    return np.where(better >= 0, better, head)


def _as_numbers(cells: Categories, tokens: IntArray) -> IntArray:
    """Cells as numbers; −1 for what is none."""
    plain = [name.isascii() and name.isdigit() and len(name) < 10 for name in cells.names]
    table = [int(name) if ok else -1 for name, ok in zip(cells.names, plain, strict=True)]
    return np.array([*table, -1], dtype=np.int64)[cells.codes[tokens]]


def parsed_heads(
    spans: Spans, rows: IntArray, parse: Categories, tags: Categories, sentences: IntArray
) -> IntArray:
    """The heads of those of some mentions that are constituents (English rules); −1 for others."""
    tokens = spans.inside_many
    region = regions(tokens, sentences)
    nodes, heads = constituent_heads(parse.take(tokens), tags.take(tokens), tokens, region)
    node = find_spans(nodes.start, nodes.end, (spans.start[rows], spans.end[rows]))
    head = np.append(heads, -1)[node]
    return np.where(spans.length[rows] == spans.end[rows] - spans.start[rows], head, -1)


@_in_pieces
def tagged_heads(spans: Spans, rows: IntArray, tags: Categories, tagset: TagSet) -> IntArray:
    """The heads of some mentions by their tags alone.

    The last noun before the core of the phrase ends: before the first preposition, comma, relative
    pronoun or verb that comes behind a noun. Before all nouns, a partitive is the head (`three of
    the men`). Without a noun, the first pronoun; without that, the last token that may be a head.
    """
    tokens, place, begin = spans.tokens(rows, reach=_REACH)
    tag = Categories(tags.codes[tokens], tags.names)
    noun, stop = tag.where(tagset.is_noun), tag.where(tagset.is_stop)
    first_noun = _first(tokens, begin, noun)
    behind = tokens > np.where(first_noun < 0, _NOWHERE, first_noun)[place]
    end = _first(tokens, begin, stop & behind)
    core = tokens < np.where(end < 0, _NOWHERE, end)[place]
    head = _last(tokens, begin, noun & core)
    unseen = tokens < np.where(first_noun < 0, _NOWHERE, first_noun)[place]
    part = _first(tokens, begin, _is_partitive(tag, tagset, place) & unseen)
    head = np.where(part >= 0, part, head)
    others = (
        _first(tokens, begin, tag.where(tagset.is_pronoun)),
        _last(tokens, begin, ~tag.where(tagset.is_skipped)),
        spans.end[rows] - 1,
    )
    for other in others:
        head = np.where(head < 0, other, head)
    return head


def _is_partitive(tag: Categories, tagset: TagSet, place: IntArray) -> BoolArray:
    """Which tokens of mentions stand before a preposition and have a tag of partitives."""
    found = np.zeros(place.size, dtype=np.bool_)
    preposition = tag.where(tagset.is_preposition)
    found[:-1] = preposition[1:] & (place[1:] == place[:-1])
    return found & tag.where(tagset.is_partitive)


def _first(tokens: IntArray, begin: IntArray, holds: BoolArray) -> IntArray:
    """The first token of each mention for which something holds; −1 for none."""
    if not begin.size:
        return begin
    found = np.minimum.reduceat(np.where(holds, tokens, _NOWHERE), begin)
    return np.where(found == _NOWHERE, -1, found)


def _last(tokens: IntArray, begin: IntArray, holds: BoolArray) -> IntArray:
    """The last token of each mention for which something holds; −1 for none."""
    if not begin.size:
        return begin
    found: IntArray = np.maximum.reduceat(np.where(holds, tokens, -1), begin)
    return found

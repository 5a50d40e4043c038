"""Mentions on other positions, after tokens were left out or put in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corefeval.model.arrays import BoolArray, IntArray, ragged_arange
from corefeval.model.categories import LazyArray, LazyColumns
from corefeval.model.construction import in_textual_order
from corefeval.model.corpus import Corpus

# The property of a mention that states its minimum span: the numbers of tokens in it, from 1.
MINIMUM = "minspan"
_LONGEST = 10  # digits: no mention has so many tokens


def parse_minimum(text: object) -> list[int]:
    """The numbers of a stated minimum, each once; 0, which no token has, for what is no number.

    >>> parse_minimum("2,1;x"), parse_minimum(None), parse_minimum("9" * 5000)
    ([0, 1, 2], [], [0])
    """
    parts = [] if text in (None, "", "_") else str(text).replace(";", ",").split(",")
    digits = (part.strip() for part in parts)
    plain = (d if d.isascii() and d.isdigit() and len(d) < _LONGEST else "0" for d in digits if d)
    return sorted(set(map(int, plain)))


def move_mentions(
    corpus: Corpus, offsets: IntArray, new: IntArray, new_offsets: IntArray
) -> Corpus:
    """The corpus with its mentions on other positions.

    `new` is the new place of each token, −1 for one that is left out; `offsets` and `new_offsets`
    are where each document's tokens begin in the old and the new numbering. A mention stays the
    set of its tokens: what stands between them on the new axis is a gap. Mentions of no token that
    is left are dropped; a head that is left out is not known any more, and a stated minimum span
    has what is left of its tokens, by their new numbers.
    """
    if corpus.mention_start is None or corpus.mention_end is None:
        return corpus
    document = corpus.mention_document
    base, new_base = offsets[document], new_offsets[document]
    first, last = base + corpus.mention_start, base + corpus.mention_end - 1
    # How often up to each token the new places did not simply count on.
    breaks = np.cumsum(np.diff(new, prepend=-2) != 1)
    broken = (breaks[first] != breaks[last]) | (new[first] < 0)
    start, end = new[first] - new_base, new[last] + 1 - new_base
    head = corpus.mention_head
    if head is not None:  # which may be dear to find, and is often not asked for
        head = LazyArray(partial(_move_heads, head, new, base, new_base))
    gaps = corpus.gaps
    if gaps.size:
        gaps = gaps[~broken[gaps[:, 0]]].copy()
        owner = gaps[:, 0]
        gaps[:, 1:] += (new[first] - first - new_base + base)[owner][:, None]
    if broken.any():
        rows = np.flatnonzero(broken)
        owner, places = _new_places(corpus, rows, new, base, new_base)
        start[rows], end[rows], new_gaps = _spans(rows, owner, places)
        gaps = np.concatenate((gaps, new_gaps))
        gaps = gaps[np.argsort(gaps[:, 0], kind="stable")]
    moved = replace(corpus, mention_start=start, mention_end=end, mention_head=head, gaps=gaps)
    if broken.any():
        disturbed = (places < 0) | (np.diff(places, prepend=-1) < 0) & ~_begins(owner)
        if disturbed.any() and (isinstance(corpus.features, LazyColumns) or corpus.features):
            chosen = np.isin(owner, owner[disturbed])
            renumber = partial(_renumber, corpus.features, rows[owner[chosen]], places[chosen])
            moved = replace(moved, features=LazyColumns(renumber))
        kept = end > start
        moved = in_textual_order(moved if kept.all() else moved.keep_mentions(kept))
    return moved


def _new_places(
    corpus: Corpus, rows: IntArray, new: IntArray, base: IntArray, new_base: IntArray
) -> tuple[IntArray, IntArray]:
    """The mention of each token of some mentions, in the old order, and the token's new place.

    A place is −1 for a token that is left out.
    """
    starts, ends = np.asarray(corpus.mention_start), np.asarray(corpus.mention_end)
    lengths = ends[rows] - starts[rows]
    tokens = ragged_arange(starts[rows], lengths)
    owner = np.repeat(np.arange(rows.size), lengths)
    if corpus.gaps.size:
        inside = np.ones(tokens.size, dtype=np.bool_)
        place = np.full(corpus.n_mentions, -1, dtype=np.int64)
        place[rows] = np.arange(rows.size)
        gaps = corpus.gaps[place[corpus.gaps[:, 0]] >= 0]
        begin = (np.cumsum(lengths) - lengths)[place[gaps[:, 0]]]
        shift = begin + gaps[:, 1] - starts[gaps[:, 0]]
        inside[ragged_arange(shift, gaps[:, 2] - gaps[:, 1])] = False
        owner, tokens = owner[inside], tokens[inside]
    places = new[base[rows][owner] + tokens]
    return owner, np.where(places < 0, -1, places - new_base[rows][owner])


def _begins(owner: IntArray) -> BoolArray:
    """Which tokens are the first of their mentions."""
    begins: BoolArray = np.diff(owner, prepend=-1) != 0
    return begins


def _spans(
    rows: IntArray, owner: IntArray, places: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Starts, ends and gaps of some mentions, from the new places of all of their tokens."""
    owner, places = owner[places >= 0], places[places >= 0]
    order = np.lexsort((places, owner))
    owner, places = owner[order], places[order]
    start, end = np.zeros(rows.size, dtype=np.int64), np.zeros(rows.size, dtype=np.int64)
    end[owner] = places + 1
    start[owner[::-1]] = places[::-1]
    hole = np.flatnonzero((owner[1:] == owner[:-1]) & (places[1:] > places[:-1] + 1))
    gaps = np.stack((rows[owner[hole]], places[hole] + 1, places[hole + 1]), axis=1)
    return start, end, gaps


def _renumber(
    features: Mapping[str, NDArray[Any]], owner: IntArray, places: IntArray
) -> Mapping[str, NDArray[Any]]:
    """The properties of mentions, with stated minimum spans in the new numbers of tokens.

    `places` are the new ones of all tokens of some mentions, in their old order, and `owner` says
    whose. What was no number of a token becomes 0, which still is none.
    """
    if MINIMUM not in features:
        return features
    texts = features[MINIMUM].astype(object)
    first = np.flatnonzero(_begins(owner))
    for row, new_places in zip(owner[first].tolist(), np.split(places, first[1:]), strict=True):
        ranks = dict(zip(sorted(new_places[new_places >= 0].tolist()), count(1)))
        old = [
            new_places[n - 1] if 0 < n <= new_places.size else None
            for n in parse_minimum(texts[row])
        ]
        texts[row] = ",".join(str(ranks.get(place, 0)) for place in old if place != -1)
    return {**features, MINIMUM: texts}


def _move_heads(
    heads: IntArray | LazyArray, new: IntArray, base: IntArray, new_base: IntArray
) -> IntArray:
    """Where the heads stand now; −1 for one that is left out, or was not known."""
    old = np.asarray(heads)
    has_head = np.flatnonzero(old >= 0)
    moved = np.full(old.size, -1, dtype=np.int64)
    places = new[base[has_head] + old[has_head]]
    moved[has_head] = np.where(places >= 0, places - new_base[has_head], -1)
    return moved

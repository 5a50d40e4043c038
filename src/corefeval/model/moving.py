"""Mentions on other positions: after tokens were put in or left out, or on an axis of two texts."""

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
from corefeval.model.token_tables import place_tokens
from corefeval.model.tokens import NO_ROW, documents_of_tokens

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
        owner, tokens = list_tokens(corpus, rows)
        places = np.maximum(new[base[rows][owner] + tokens] - new_base[rows][owner], -1)
        start[rows], end[rows], new_gaps = span_places(rows, owner, places)
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


def list_tokens(corpus: Corpus, rows: IntArray) -> tuple[IntArray, IntArray]:
    """All tokens of some mentions, in order: the place in `rows` of each, and its position."""
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
    return owner, tokens


def _begins(owner: IntArray) -> BoolArray:
    """Which tokens are the first of their mentions."""
    begins: BoolArray = np.diff(owner, prepend=-1) != 0
    return begins


def span_places(
    rows: IntArray, owner: IntArray, places: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Starts, ends and gaps of some mentions, from the new places of all of their tokens.

    `owner` has the place in `rows` of each; a place of −1 is none.
    """
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


def show_on_key(key: Corpus, corpus: Corpus) -> Corpus:
    """A side with its mentions on the key's own tokens, for people to read; `own_text` is gone.

    A mention of the response is on the tokens that its pieces belong to. One without pieces is on
    none: it starts and ends behind the last token of the key that is aligned before it.
    """
    if key.own_text is None or corpus.own_text is None:
        return corpus
    text = key.own_text.tokens
    start, end, gaps = corpus.own_text.start, corpus.own_text.end, corpus.own_text.gaps
    if corpus.own_text.tokens is not text:
        start, end, gaps = _places_in_key(key, corpus)
    # The tokens of the response stand behind those of the key: only the key's are left.
    is_kept = text.rows() != NO_ROW
    before = np.concatenate(([0], np.cumsum(is_kept)))
    offsets, document = text.offsets, corpus.mention_document

    def renumber(positions: IntArray, documents: IntArray) -> IntArray:
        numbers: IntArray = before[offsets[documents] + positions] - before[offsets[documents]]
        return numbers

    owners = document[gaps[:, 0]]
    gaps = np.stack((gaps[:, 0], *(renumber(side, owners) for side in gaps[:, 1:].T)), axis=1)
    tokens = place_tokens(
        text, np.flatnonzero(is_kept), np.diff(before[offsets]), before[text.starts]
    )
    return replace(
        corpus,
        mention_start=renumber(start, document),
        mention_end=renumber(end, document),
        gaps=gaps,
        tokens=tokens,
        own_text=None,
    )


def _places_in_key(key: Corpus, response: Corpus) -> tuple[IntArray, IntArray, IntArray]:
    """Start, end and gaps of each mention of the response, in the key's own text."""
    if key.own_text is None or response.own_text is None or key.tokens is None:
        raise ValueError("the sides are on no common axis")
    own_text, axis = key.own_text, key.tokens.offsets
    token = np.repeat(np.arange(own_text.piece_counts.size), own_text.piece_counts)
    document = documents_of_tokens(own_text.tokens.offsets, token)
    key_token = np.full(int(axis[-1]), -1, dtype=np.int64)
    key_token[axis[document] + own_text.piece_places] = token - own_text.tokens.offsets[document]
    last = np.maximum.accumulate(np.where(key_token >= 0, np.arange(key_token.size), -1))
    start, end = response.own_text.start.copy(), response.own_text.end.copy()
    rows = np.flatnonzero(response.own_text.is_aligned[response.mention_document])
    owner, places = list_tokens(response, rows)
    base = axis[response.mention_document[rows]]
    start[rows], end[rows], gaps = span_places(rows, owner, key_token[base[owner] + places])
    bare = np.flatnonzero(end[rows] == 0)
    before = last[base[bare] + np.asarray(response.mention_start)[rows[bare]]]
    start[rows[bare]] = np.where(before >= base[bare], key_token[before] + 1, 0)
    end[rows[bare]] = start[rows[bare]]
    kept = response.own_text.gaps[~np.isin(response.own_text.gaps[:, 0], rows)]
    gaps = np.concatenate((kept, gaps))
    return start, end, gaps[np.argsort(gaps[:, 0], kind="stable")]

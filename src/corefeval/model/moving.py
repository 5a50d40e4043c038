"""Mentions on other positions: after tokens were put in or left out, or on an axis of two texts.

An axis has the pieces of text that key and response have in common: see `pairing.axis`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corefeval.model.arrays import (
    ArrayPair,
    IntArray,
    all_true,
    begin_runs,
    find_places,
    offsets_of,
    plain_rows,
    ragged_arange,
    set_rows,
    stable_order,
    starts_of,
    unset,
)
from corefeval.model.categories import LazyArray, LazyColumns
from corefeval.model.construction import in_textual_order
from corefeval.model.corpus import Corpus
from corefeval.model.token_tables import place_tokens
from corefeval.model.tokens import NO_ROW, NODE_ROW, Tokens


class OwnText(NamedTuple):
    """The mentions of a side on its own tokens, while they are compared on an axis of two texts.

    `corpus` has the same mentions in the same rows. In documents whose tokens differ it has room
    for the tokens of both sides, the key's before the response's, so that a position never means
    a token of either; the tokens of the other side are missing there. `places` has a row for each
    token, of three positions on the axis: where its pieces begin, where they end, and where its
    unit begins. A token without pieces ends where it begins.
    """

    corpus: Corpus
    places: IntArray

    @property
    def tokens(self) -> Tokens:
        """The tokens of the text."""
        assert self.corpus.tokens is not None
        return self.corpus.tokens

    def find_units(self, document: IntArray, position: IntArray) -> IntArray:
        """The unit of each token, as a position on the axis; −1 for one without pieces."""
        first, end, unit = self.places[self.tokens.offsets[document] + np.maximum(position, 0)].T
        return np.where((position >= 0) & (end > first), unit, -1)

    def list_pieces(self, document: IntArray, position: IntArray) -> ArrayPair:
        """How many pieces each of some tokens has, and the positions of all of these."""
        first, end, _ = self.places[self.tokens.offsets[document] + position].T
        return end - first, ragged_arange(first, end - first)

    def take(self, rows: IntArray) -> OwnText:
        """The mentions of these rows."""
        return self._replace(corpus=self.corpus.take_mentions(rows))

    def select(self, documents: IntArray) -> OwnText:
        """Some documents, in this order, −1 for one that is not there."""
        present = documents[documents >= 0]
        token = ragged_arange(self.tokens.offsets[present], self.tokens.counts[present])
        return OwnText(self.corpus.select_documents(documents), self.places[token])


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
    corpus: Corpus,
    offsets: IntArray,
    new: IntArray,
    counts: IntArray,
    starts: IntArray | None = None,
    *,
    row_of_new: int = NODE_ROW,
) -> Corpus:
    """The corpus with its tokens, if it has any, and its mentions on other positions.

    `offsets` are where each document's tokens begin; for the rest see `place_tokens`. A mention
    stays the set of its tokens: what stands between them on the new axis is a gap. Mentions of no
    token that is left are dropped; a head that is left out is not known any more, and a stated
    minimum span has what is left of its tokens, by their new numbers.
    """
    new_offsets = offsets_of(counts)
    if corpus.tokens is not None:
        tokens = place_tokens(corpus.tokens, new, counts, starts, row_of_new=row_of_new)
        corpus, new_offsets = replace(corpus, tokens=tokens), tokens.offsets
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
    shift = (start - corpus.mention_start)[corpus.gaps[:, 0]]
    gaps = corpus.gaps + np.outer(shift, [0, 1, 1])
    moved = replace(corpus, mention_start=start, mention_end=end, mention_head=head, gaps=gaps)
    if not broken.any():
        return moved
    rows = np.flatnonzero(broken)
    owner, positions = list_tokens(corpus, rows)
    places = np.maximum(new[base[rows][owner] + positions] - new_base[rows][owner], -1)
    return _move_broken(moved, rows, owner, places)


def _move_broken(corpus: Corpus, rows: IntArray, owner: IntArray, places: IntArray) -> Corpus:
    """The corpus with mentions whose tokens do not follow each other any more, as `respan` says.

    Their stated minimum spans move along; those without any token are dropped.
    """
    moved = respan(corpus, rows, owner, places)
    disturbed = (places < 0) | (np.diff(places, prepend=-1) < 0) & ~begin_runs(owner)
    if disturbed.any() and (isinstance(corpus.features, LazyColumns) or corpus.features):
        chosen = np.isin(owner, owner[disturbed])
        renumber = partial(_renumber, corpus.features, rows[owner[chosen]], places[chosen])
        moved = replace(moved, features=LazyColumns(renumber))
    kept = np.asarray(moved.mention_end) > np.asarray(moved.mention_start)
    return in_textual_order(moved if kept.all() else moved.keep_mentions(kept))


def list_tokens(corpus: Corpus, rows: IntArray) -> ArrayPair:
    """All tokens of some mentions, in order: the place in `rows` of each, and its position."""
    spans = np.asarray(corpus.mention_start), np.asarray(corpus.mention_end)
    return list_span_tokens(*spans, corpus.gaps, rows)


def list_span_tokens(
    start: IntArray, end: IntArray, gaps: IntArray, rows: IntArray, reach: int | None = None
) -> ArrayPair:
    """All tokens of some spans without their gaps: the place in `rows` of each, and its position.

    With a reach, tokens that are so far or farther from the start of their span are left out.
    """
    lengths = end[rows] - start[rows]
    if reach is not None:
        lengths = np.minimum(lengths, reach)
    tokens = ragged_arange(start[rows], lengths)
    owner = np.repeat(np.arange(rows.size), lengths)
    if gaps.size:
        is_inside = all_true(tokens.size)
        place = find_places(rows, start.size)
        gaps = gaps[place[gaps[:, 0]] >= 0]
        span = place[gaps[:, 0]]
        begin = starts_of(lengths)[span]
        first, last = (
            begin + np.minimum(bound - start[gaps[:, 0]], lengths[span]) for bound in gaps[:, 1:].T
        )
        is_inside[ragged_arange(first, last - first)] = False
        owner, tokens = owner[is_inside], tokens[is_inside]
    return owner, tokens


def respan(corpus: Corpus, rows: IntArray, owner: IntArray, places: IntArray) -> Corpus:
    """The corpus with some mentions on other places, given for all of their tokens.

    `owner` has the place in `rows` of each; a place of −1 is none, and a mention without any
    starts and ends at 0.
    """
    owner, places = rows[owner[places >= 0]], places[places >= 0]
    order = np.lexsort((places, owner))
    owner, places = owner[order], places[order]
    start, end = np.array(corpus.mention_start), np.array(corpus.mention_end)
    start[rows] = end[rows] = 0
    end[owner] = places + 1
    start[owner[::-1]] = places[::-1]
    hole = np.flatnonzero((owner[1:] == owner[:-1]) & (places[1:] > places[:-1] + 1))
    new_gaps = np.stack((owner[hole], places[hole] + 1, places[hole + 1]), axis=1)
    gaps = np.concatenate((corpus.gaps[~np.isin(corpus.gaps[:, 0], rows)], new_gaps))
    gaps = gaps[stable_order(gaps[:, 0])]
    return replace(corpus, mention_start=start, mention_end=end, gaps=gaps)


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
    first = np.flatnonzero(begin_runs(owner))
    for row, new_places in plain_rows(owner[first], np.split(places, first[1:])):
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
    moved = unset(old.size)
    places = new[base[has_head] + old[has_head]]
    moved[has_head] = np.where(places >= 0, places - new_base[has_head], -1)
    return moved


def show_on_key(key: Corpus, corpus: Corpus) -> Corpus:
    """A side with its mentions on the key's own tokens, for people to read; `own_text` is gone.

    A mention of the response is on the tokens that its pieces belong to. One without pieces is on
    none: it starts and ends behind the last token of the key that is aligned before it.
    """
    if key.own_text is None or corpus.own_text is None or key.tokens is None:
        return corpus
    text, is_aligned = key.own_text.tokens, key.is_aligned
    document = np.repeat(np.arange(len(key)), text.counts)
    # The tokens of the response stand behind those of the key: only the key's are left.
    is_kept = (text.rows() != NO_ROW) | ~is_aligned[document]
    before = offsets_of(is_kept)
    counts = np.diff(before[text.run_offsets])
    new = np.where(is_kept, before[:-1], -1)
    if corpus is key:
        return move_mentions(key.on_own_text, text.offsets, new, counts)
    tokens = place_tokens(text, new, counts)
    first, end, _ = key.own_text.places.T
    axis = key.tokens.offsets
    pieces = ragged_arange(axis[document] + first, end - first)
    key_token = set_rows(
        pieces, np.repeat(before[:-1] - before[text.offsets[document]], end - first), int(axis[-1])
    )
    rows = np.flatnonzero(is_aligned[corpus.mention_document])
    owner, places = list_tokens(corpus, rows)
    base = axis[corpus.mention_document[rows]]
    shown = respan(corpus, rows, owner, key_token[base[owner] + places])
    start, end = np.asarray(shown.mention_start), np.asarray(shown.mention_end)
    bare = np.flatnonzero(end[rows] == 0)
    last = np.maximum.accumulate(np.where(key_token >= 0, np.arange(key_token.size), -1))
    before = last[base[bare] + np.asarray(corpus.mention_start)[rows[bare]]]
    start[rows[bare]] = np.where(before >= base[bare], key_token[before] + 1, 0)
    end[rows[bare]] = start[rows[bare]]
    return replace(shown, mention_start=start, mention_end=end, tokens=tokens, own_text=None)

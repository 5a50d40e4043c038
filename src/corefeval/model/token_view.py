"""Tokens on another axis: some of a text's own left out, some that only another text has put in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, partial
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corefeval.model.arrays import BoolArray, IntArray, ragged_arange
from corefeval.model.categories import Categories, LazyArray, LazyColumns
from corefeval.model.construction import in_textual_order
from corefeval.model.corpus import Corpus
from corefeval.model.tokens import Tokens

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


class TokenView(Tokens):
    """A view of other tokens.

    `rows` has the own token, numbered through, for each token of the view; −1 for a token that
    these tokens lack: it has no word and no line. `foreign` is what `empty` says of these: they are
    empty nodes of another text, unless it is nothing. `counts` are the view's tokens of each
    document, and `sentence_places` the token of the view at which each of the own sentences begins;
    a sentence of no token is not there.
    """

    def __init__(
        self,
        tokens: Tokens,
        rows: IntArray,
        counts: IntArray,
        sentence_places: IntArray,
        *,
        foreign: str = "1",
    ) -> None:
        self.tokens = tokens
        self.rows = rows
        self.counts = counts
        self.sentence_places = sentence_places
        self.foreign = foreign

    @cached_property
    def _has_foreign(self) -> bool:
        return bool((self.rows < 0).any())

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the tokens; `empty` in any case where some are nodes of another text."""
        columns, more = self.tokens.columns, bool(self.foreign) and self._has_foreign
        return (*columns, "empty") if more and "empty" not in columns else columns

    @property
    def partial_columns(self) -> tuple[str, ...]:
        """The columns that only some documents have."""
        return self.tokens.partial_columns

    @property
    def source(self) -> str | None:
        """The file that the tokens come from, where there is one."""
        return self.tokens.source

    def column(self, document: int, name: str | int) -> list[str]:
        """One column of one document, a string per token."""
        foreign = self.foreign if name == "empty" else ""
        known = name != "empty" or name in self.tokens.columns
        cells = self.tokens.column(document, name) if known else None
        own = self._own_positions(document).tolist()
        return [foreign if place < 0 else cells[place] if cells else "" for place in own]

    def coded(self, name: str | int, tokens: IntArray | None = None) -> Categories:
        """One column of all documents, or of some tokens of all; none for foreign tokens."""
        rows = self.rows if tokens is None else self.rows[tokens]
        if not self._has_foreign:
            return self.tokens.coded(name, rows)
        own = rows >= 0
        codes = np.full(rows.size, -1, dtype=np.int64)
        if name != "empty" or not self.foreign:
            values = self.tokens.coded(name, rows[own])
            codes[own] = values.codes
            return Categories(codes, values.names)
        codes[~own] = 1
        codes[own] = (
            self.tokens.coded(name, rows[own]).where(bool) if name in self.tokens.columns else 0
        )
        return Categories(codes, ("", "1"))

    def sentence_starts(self, document: int) -> list[int]:
        """The token positions at which the sentences of a document begin."""
        begin, end = self.offsets[document : document + 2].tolist()
        starts = self.starts
        inside = starts[np.searchsorted(starts, begin) : np.searchsorted(starts, end)]
        return [start - begin for start in inside.tolist()]

    def all_sentence_starts(self) -> IntArray:
        """The tokens at which sentences begin, over all documents, tokens numbered through."""
        starts: IntArray = self.sentence_places[self._sentences_left]
        return starts

    def sentence_comments(self, key: str) -> Categories | None:
        """What a comment says of each sentence that has a token left."""
        found = self.tokens.sentence_comments(key)
        return None if found is None else found.take(self._sentences_left)

    @cached_property
    def _sentences_left(self) -> IntArray:
        return np.flatnonzero(np.diff(np.append(self.sentence_places, self.rows.size)))

    def line(self, document: int, position: int) -> int | None:
        """The line of the file on which a token stands; None for one that the file lacks."""
        own = self.own_position(document, position)
        return None if own < 0 else self.tokens.line(document, own)

    def own_position(self, document: int, position: int) -> int:
        """The position of a token in the document as the file has it; −1 where it lacks it."""
        return int(self._own_positions(document)[position])

    def select(self, documents: IntArray) -> TokenView:
        """The same tokens for other documents; −1 is a document without tokens."""
        chosen = self.tokens.select(documents)
        present = np.flatnonzero(documents >= 0)
        old = documents[present]
        counts = np.zeros(documents.size, dtype=np.int64)
        counts[present] = self.counts[old]
        rows = self.rows[ragged_arange(self.offsets[old], self.counts[old])]
        shift = np.repeat(chosen.offsets[present] - self.tokens.offsets[old], self.counts[old])
        sentences = np.searchsorted(self.tokens.starts, self.tokens.offsets)
        lengths = np.diff(sentences)[old]
        places = self.sentence_places[ragged_arange(sentences[old], lengths)]
        begin = np.concatenate(([0], np.cumsum(counts)))[present] - self.offsets[old]
        return TokenView(
            chosen,
            np.where(rows >= 0, rows + shift, -1),
            counts,
            places + np.repeat(begin, lengths),
            foreign=self.foreign,
        )

    def _own_positions(self, document: int) -> IntArray:
        begin, end = self.offsets[document : document + 2].tolist()
        rows = self.rows[begin:end]
        return np.where(rows >= 0, rows - int(self.tokens.offsets[document]), -1)


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
        start[rows], end[rows], found = _spans(rows, owner, places)
        gaps = np.concatenate((gaps, found))
        gaps = gaps[np.argsort(gaps[:, 0], kind="stable")]
    moved = replace(corpus, mention_start=start, mention_end=end, mention_head=head, gaps=gaps)
    if broken.any():
        disturbed = (places < 0) | (np.diff(places, prepend=-1) < 0) & ~_begins(owner)
        if disturbed.any() and (isinstance(corpus.features, LazyColumns) or corpus.features):
            chosen = np.isin(owner, owner[disturbed])
            made = partial(_renumber, corpus.features, rows[owner[chosen]], places[chosen])
            moved = replace(moved, features=LazyColumns(made))
        kept = end > start
        moved = in_textual_order(moved if kept.all() else moved.keep_mentions(kept))
    return moved


def _new_places(
    corpus: Corpus, rows: IntArray, new: IntArray, base: IntArray, new_base: IntArray
) -> tuple[IntArray, IntArray]:
    """The new places of all tokens of some mentions in their old order, and whose they are.

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
    """The properties with the numbers of stated minimum spans that the tokens have now.

    `places` are the new ones of all tokens of some mentions, in their old order, and `owner` says
    whose. What was no number of a token becomes 0, which still is none.
    """
    if MINIMUM not in features:
        return features
    texts = features[MINIMUM].astype(object)
    first = np.flatnonzero(_begins(owner))
    for row, own in zip(owner[first].tolist(), np.split(places, first[1:]), strict=True):
        ranks = dict(zip(sorted(own[own >= 0].tolist()), count(1)))
        old = [own[n - 1] if 0 < n <= own.size else None for n in parse_minimum(texts[row])]
        texts[row] = ",".join(str(ranks.get(place, 0)) for place in old if place != -1)
    return {**features, MINIMUM: texts}


def _move_heads(
    heads: IntArray | LazyArray, new: IntArray, base: IntArray, new_base: IntArray
) -> IntArray:
    """Where the heads stand now; −1 for one that is left out, or was not known."""
    old = np.asarray(heads)
    known = np.flatnonzero(old >= 0)
    moved = np.full(old.size, -1, dtype=np.int64)
    places = new[base[known] + old[known]]
    moved[known] = np.where(places >= 0, places - new_base[known], -1)
    return moved

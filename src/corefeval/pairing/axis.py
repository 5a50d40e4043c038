"""Documents whose tokens differ, put on one axis: the pieces of text that both sides have.

A piece is a token of the key and one of the response that have characters in common; pieces that
are linked by a common token are a unit. Each piece is a position on the axis, and so is each token
that has none. A mention is the set of its pieces. Nothing depends on which side is the key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np

from corefeval.diagnostics import Notice, PairingError, excerpt, note
from corefeval.model import Corpus, Tokens
from corefeval.model.arrays import BoolArray, IntArray, distinct, ragged_arange
from corefeval.model.categories import LazyArray
from corefeval.model.identity import mention_codes
from corefeval.model.moving import list_tokens, span_places
from corefeval.model.own_text import OwnText
from corefeval.model.token_tables import place_tokens, select_tokens
from corefeval.model.tokens import NO_ROW, documents_of_tokens
from corefeval.pairing.node_pieces import pair_nodes
from corefeval.protocol import Zeros
from corefeval.texts import align_tokens, continues_word, fold_token

# The kinds of notices.
ALIGNED = ("aligned-tokens", "unaligned-tokens", "unaligned-mentions", "widened-pairs")
LEAST_SHARE = 0.5  # of the shorter text: with less in common, texts are not the same text


@dataclass(frozen=True, eq=False)
class Pieces:
    """The pieces of all documents whose tokens differ, tokens numbered through on either side.

    Those of words come first, in order, then those of empty nodes. `unit` is the number of the
    first piece of each one's unit, and `document` where each is.
    """

    key: IntArray
    response: IntArray
    unit: IntArray
    document: IntArray

    @property
    def of_sides(self) -> tuple[IntArray, IntArray]:
        """The tokens of the key and of the response."""
        return self.key, self.response


def put_on_axis(
    key: Corpus, response: Corpus, documents: IntArray, zeros: Zeros
) -> tuple[Corpus, Corpus, list[Notice]]:
    """Both sides with the positions of one axis in some documents, whose tokens differ.

    Raises a PairingError for a document that has another text, not only other tokens.
    """
    pieces, n_words = find_pieces(key, response, documents, zeros)
    sides = [
        _Side(corpus, documents, tokens)
        for corpus, tokens in zip((key, response), pieces.of_sides, strict=True)
    ]
    piece_place = _lay_axis(sides, pieces, n_words)
    for side in sides:
        side.collapse()
    n_widened = _widen(sides, piece_place, pieces.unit)
    counts_of_sides = key_counts, response_counts = _tokens(key).counts, _tokens(response).counts
    is_aligned = np.isin(np.arange(len(key)), documents)
    room = np.where(is_aligned, key_counts + response_counts, 0)
    begins = np.zeros_like(room), np.where(is_aligned, key_counts, 0)
    moved = [
        side.move(np.where(is_aligned, room, counts), begin, piece_place)
        for side, counts, begin in zip(sides, counts_of_sides, begins, strict=True)
    ]
    return moved[0], moved[1], list(_describe(sides, documents, n_widened))


def find_pieces(
    key: Corpus, response: Corpus, documents: IntArray, zeros: Zeros
) -> tuple[Pieces, int]:
    """The pieces of some documents, and how many of them are of words."""
    texts = [_fold(_tokens(corpus), documents) for corpus in (key, response)]
    pairs, places = [np.empty((0, 2), dtype=np.int64)], []
    for document in documents.tolist():
        begins = [int(_tokens(corpus).offsets[document]) for corpus in (key, response)]
        (words, continues), (response_words, response_continues) = (
            text[document] for text in texts
        )
        alignment = align_tokens(words, response_words, continues, response_continues)
        if alignment.share < LEAST_SHARE:
            raise _another_text(key, response, document, alignment.share)
        pairs.append(alignment.pieces + begins)
        places.append(np.full(len(alignment.pieces), document, dtype=np.int64))
    of_words = np.concatenate(pairs)
    linked = np.zeros(len(of_words), dtype=np.bool_)
    linked[1:] = (of_words[1:] == of_words[:-1]).any(1)
    unit = np.maximum.accumulate(np.where(linked, 0, np.arange(linked.size)))
    of_nodes = pair_nodes(_tokens(key), _tokens(response), of_words, unit, documents, zeros)
    every = np.concatenate((of_words, of_nodes))
    node_units = len(of_words) + np.arange(len(of_nodes))
    node_documents = documents_of_tokens(_tokens(key).offsets, of_nodes[:, 0])
    document = np.concatenate((*places, node_documents))
    units = np.concatenate((unit, node_units))
    return Pieces(every[:, 0], every[:, 1], units, document), len(of_words)


def _tokens(corpus: Corpus) -> Tokens:
    if corpus.tokens is None:
        raise ValueError("only documents with tokens can be aligned")
    return corpus.tokens


def _fold(tokens: Tokens, documents: IntArray) -> dict[int, tuple[list[str], list[bool]]]:
    """The folded words of some documents, and which continue the word before them.

    Empty nodes are no text.
    """
    chosen = select_tokens(tokens, documents)
    words = chosen.coded("word")
    names = {code: words.names[code] for code in np.unique(words.codes).tolist() if code >= 0}
    folded = {code: fold_token(name) for code, name in names.items()}
    continuing = {code for code, name in names.items() if continues_word(name)}
    codes = words.codes
    if "empty" in chosen.columns:
        codes = np.where(chosen.coded("empty").where(bool), -1, codes)
    texts = {}
    for place, document in enumerate(documents.tolist()):
        part = codes[chosen.offsets[place] : chosen.offsets[place + 1]].tolist()
        continues = [code in continuing for code in part] if continuing else []
        texts[document] = [folded.get(code, "") for code in part], continues
    return texts


def _another_text(key: Corpus, response: Corpus, document: int, share: float) -> PairingError:
    return PairingError(
        f"document {excerpt(str(key.documents[document]))} has another text than in the key",
        file=_tokens(response).source or response.name or None,
        found=f"{100 * share:.1f} % of its text in the key",
        expected=f"at least {100 * LEAST_SHARE:.0f} %",
        fix="pair the right documents, leave it out with --documents, or use --tokens ignore",
    )


class _Side:
    """One side on its way to the axis.

    `token`, `place`, `unit` and `is_piece` have an entry for each piece of a token and for each
    token without any, token by token: where it is on the axis of its document. `rows` are the
    mentions of the documents; `owner` and `entry` list the entries of each, by its number there.
    """

    moved: Corpus  # with its mentions on the axis
    axis_counts: IntArray  # how many positions each document has

    def __init__(self, corpus: Corpus, documents: IntArray, piece_tokens: IntArray) -> None:
        self.corpus, self.tokens = corpus, _tokens(corpus)
        self.rows = np.flatnonzero(np.isin(corpus.mention_document, documents))
        self.documents = documents
        every = ragged_arange(self.tokens.offsets[documents], self.tokens.counts[documents])
        self.unaligned = np.setdiff1d(every, piece_tokens, assume_unique=False)

    def lay(self, tokens: IntArray, places: IntArray, units: IntArray, n_pieces: int) -> None:
        """Keep where pieces and then unaligned tokens are, and which places are in mentions."""
        order = np.lexsort((places, tokens))
        self.token, self.place, self.unit = tokens[order], places[order], units[order]
        self.is_piece = order < n_pieces
        counts = np.bincount(self.token, minlength=int(self.tokens.offsets[-1]))
        first = np.cumsum(counts) - counts
        owner, position = list_tokens(self.corpus, self.rows)
        document = self.corpus.mention_document[self.rows][owner]
        token = self.tokens.offsets[document] + position
        self.entry = ragged_arange(first[token], counts[token])
        self.owner = np.repeat(owner, counts[token])
        n_rows = self.rows.size
        self.n_unaligned = np.bincount(self.owner[~self.is_piece[self.entry]], minlength=n_rows)
        self.has_piece = np.bincount(self.owner[self.is_piece[self.entry]], minlength=n_rows) > 0
        self.keeps_own = ~self.has_piece  # whether unaligned tokens are part of the set

    def on_axis(self, keeps_own: BoolArray) -> Corpus:
        """The mentions on the axis: sets of pieces, of some mentions with unaligned tokens."""
        is_kept = self.is_piece[self.entry] | keeps_own[self.owner]
        places = self.place[self.entry[is_kept]]
        return self.respan(self.corpus, np.arange(self.rows.size), self.owner[is_kept], places)

    def respan(
        self, corpus: Corpus, numbers: IntArray, owner: IntArray, places: IntArray
    ) -> Corpus:
        """A corpus in which some of the mentions have these places instead."""
        start, end = np.array(corpus.mention_start), np.array(corpus.mention_end)
        rows = self.rows[numbers]
        start[rows], end[rows], new_gaps = span_places(rows, owner, places)
        kept = corpus.gaps[~np.isin(corpus.gaps[:, 0], rows)]
        gaps = np.concatenate((kept, new_gaps))
        gaps = gaps[np.argsort(gaps[:, 0], kind="stable")]
        return replace(corpus, mention_start=start, mention_end=end, gaps=gaps)

    def collapse(self) -> None:
        """Keep unaligned tokens where different mentions would otherwise become the same."""
        self.moved = bare = self.on_axis(self.keeps_own)
        if not (self.n_unaligned > 0).any():
            return
        full = self.on_axis(np.ones_like(self.keeps_own))
        codes, full_codes = (mention_codes(c, c)[0][self.rows] for c in (bare, full))
        start = np.asarray(self.corpus.mention_start)[self.rows]
        end = np.asarray(self.corpus.mention_end)[self.rows]
        order = np.lexsort((full_codes, end, start, self.n_unaligned, codes))
        is_first = np.diff(codes[order], prepend=-1) != 0
        best = full_codes[order][np.flatnonzero(is_first)][np.cumsum(is_first) - 1]
        is_lost = np.zeros(self.rows.size, dtype=np.bool_)
        is_lost[order] = full_codes[order] != best
        if is_lost.any():
            self.keeps_own = self.keeps_own | is_lost
            self.moved = self.on_axis(self.keeps_own)

    def move(self, own_counts: IntArray, begin: IntArray, piece_place: IntArray) -> Corpus:
        """The corpus on the axis, with the tokens of both sides side by side as its own text.

        `own_counts` are the tokens of each document in that text, of which those of this side
        follow `begin` others.
        """
        corpus, tokens = self.corpus, self.tokens
        is_aligned = np.isin(np.arange(len(corpus)), self.documents)
        axis_counts = np.where(is_aligned, self.axis_counts, tokens.counts)
        n_tokens = int(tokens.offsets[-1])
        document = np.repeat(np.arange(len(corpus)), tokens.counts)
        position = np.arange(n_tokens) - tokens.offsets[document]
        first = position.copy()
        first[self.token[::-1]] = self.place[::-1]  # of several places the first one stays
        shift = begin[corpus.mention_document]
        head = corpus.mention_head
        entry_counts = np.ones(n_tokens, dtype=np.int64)
        entry_counts[is_aligned[document]] = 0
        np.add.at(entry_counts, self.token[self.is_piece], 1)
        own_offsets = np.concatenate(([0], np.cumsum(own_counts)))
        own_token = own_offsets[document] + begin[document] + position
        piece_counts = np.zeros(int(own_offsets[-1]), dtype=np.int64)
        piece_counts[own_token] = entry_counts
        piece_token = np.repeat(np.arange(n_tokens), entry_counts)
        piece_places, piece_units = position[piece_token], position[piece_token]
        of_aligned = is_aligned[document[piece_token]]
        piece_places[of_aligned] = self.place[self.is_piece]
        piece_units[of_aligned] = piece_place[self.unit[self.is_piece]]
        own_text = OwnText(
            _view(tokens, own_counts, begin[document] + position),
            np.asarray(corpus.mention_start) + shift,
            np.asarray(corpus.mention_end) + shift,
            corpus.gaps + np.outer(shift[corpus.gaps[:, 0]], [0, 1, 1]),
            None if head is None else LazyArray(partial(_shift_heads, head, shift)),
            is_aligned,
            piece_counts,
            piece_places,
            piece_units,
        )
        if head is not None:
            head = LazyArray(partial(_heads_on_axis, own_text, corpus.mention_document))
        axis_tokens = _view(tokens, axis_counts, first)
        return replace(self.moved, tokens=axis_tokens, mention_head=head, own_text=own_text)


def _shift_heads(heads: IntArray | LazyArray, shift: IntArray) -> IntArray:
    positions = np.asarray(heads)
    return np.where(positions >= 0, positions + shift, -1)


def _heads_on_axis(own_text: OwnText, document: IntArray) -> IntArray:
    return own_text.find_units(document, np.asarray(own_text.head))


def _view(tokens: Tokens, counts: IntArray, position: IntArray) -> Tokens:
    """Tokens with other numbers in their documents, among some that they lack."""
    offsets = np.concatenate(([0], np.cumsum(counts)))
    document = np.repeat(np.arange(counts.size), tokens.counts)
    new = offsets[document] + position
    places = np.full(int(offsets[-1]), -1, dtype=np.int64)
    places[new] = np.arange(new.size)
    starts = np.maximum.accumulate(new[tokens.starts]) if tokens.starts.size else tokens.starts
    return place_tokens(tokens, places, counts, starts, row_of_new=NO_ROW)


def _lay_axis(sides: Sequence[_Side], pieces: Pieces, n_words: int) -> IntArray:
    """Order pieces and unaligned tokens as the texts do; returns the places of all pieces."""
    n_pieces = pieces.key.size
    before = [
        np.searchsorted(tokens[:n_words], np.concatenate((tokens[n_words:], side.unaligned)))
        for side, tokens in zip(sides, pieces.of_sides, strict=True)
    ]
    n_nodes = n_pieces - n_words
    node_rank = 2 * np.minimum(before[0][:n_nodes], before[1][:n_nodes])
    ranks = [2 * np.arange(n_words) + 1, node_rank, *(2 * part[n_nodes:] for part in before)]
    documents = [documents_of_tokens(side.tokens.offsets, side.unaligned) for side in sides]
    document = np.concatenate((pieces.document, *documents))
    which = np.repeat([0, 0, 1], [n_pieces, *(side.unaligned.size for side in sides)])
    token = np.concatenate((pieces.key, *(side.unaligned for side in sides)))
    order = np.lexsort((token, which, np.concatenate(ranks), document))
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size) - np.searchsorted(document[order], document[order])
    n_documents = len(sides[0].corpus)
    end = n_pieces
    for side, tokens in zip(sides, pieces.of_sides, strict=True):
        own_places = place[end : end + side.unaligned.size]
        end += side.unaligned.size
        side.axis_counts = np.bincount(document, minlength=n_documents)
        side.lay(
            np.concatenate((tokens, side.unaligned)),
            np.concatenate((place[:n_pieces], own_places)),
            np.concatenate((pieces.unit, np.full(own_places.size, -1))),
            n_pieces,
        )
    return place[:n_pieces]


_Sets = dict[int, tuple[int, tuple[int, ...], tuple[int, ...]]]


def _list_sets(side: _Side, codes: IntArray) -> _Sets:
    """Of each code of a side the document, the places, and the units that these are in."""
    is_kept = side.is_piece[side.entry] | side.keeps_own[side.owner]
    owner, entry = side.owner[is_kept], side.entry[is_kept]
    order = np.lexsort((side.place[entry], owner))
    places, units = side.place[entry[order]].tolist(), side.unit[entry[order]].tolist()
    ends = np.cumsum(np.bincount(owner, minlength=side.rows.size)).tolist()
    documents = side.corpus.mention_document[side.rows].tolist()
    sets, begin = {}, 0
    for code, document, end in zip(codes.tolist(), documents, ends, strict=True):
        sets[code] = document, tuple(places[begin:end]), tuple(sorted(set(units[begin:end])))
        begin = end
    return sets


def _widen(sides: Sequence[_Side], piece_place: IntArray, unit: IntArray) -> int:
    """Make mentions the same that differ only within units; returns how many pairs there are.

    A side cannot mark what is only a part of its token: *Mary* where *Mary's* is one token.
    """
    codes = [
        part[side.rows]
        for part, side in zip(mention_codes(sides[0].moved, sides[1].moved), sides, strict=True)
    ]
    sets = [_list_sets(side, part) for side, part in zip(sides, codes, strict=True)]
    existing = {(d, places): code for part in sets for code, (d, places, _) in part.items()}
    groups: list[dict[tuple[int, ...], list[int]]] = [{}, {}]
    for number, (side, part) in enumerate(zip(sides, codes, strict=True)):
        for code in distinct(part[~side.keeps_own]).tolist():
            if code not in sets[1 - number]:
                groups[number].setdefault(sets[number][code][2], []).append(code)
    sizes = np.bincount(unit, minlength=unit.size)
    chosen: list[dict[int, IntArray]] = [{}, {}]
    for units in groups[0].keys() & groups[1].keys():
        pair = _choose_pair(sets, groups[0][units], groups[1][units])
        if pair is None:
            continue
        first = np.array(units)
        places = np.sort(piece_place[ragged_arange(first, sizes[first])])
        document = sets[0][pair[0]][0]
        if existing.get((document, tuple(places.tolist())), pair[0]) in pair:
            for widened, code in zip(chosen, pair, strict=True):
                widened[code] = places
    for side, side_codes, widened in zip(sides, codes, chosen, strict=True):
        numbers = np.flatnonzero(np.isin(side_codes, list(widened)))
        new = [widened[code] for code in side_codes[numbers].tolist()]
        if new:
            owner = np.repeat(np.arange(numbers.size), [places.size for places in new])
            side.moved = side.respan(side.moved, numbers, owner, np.concatenate(new))
    return len(chosen[0])


def _choose_pair(
    sets: Sequence[_Sets], key_codes: Sequence[int], response_codes: Sequence[int]
) -> tuple[int, int] | None:
    """The two mentions of the same units with most pieces in common; None if none has any."""
    best: tuple[tuple[int, ...], tuple[int, int]] | None = None
    for pair in product(key_codes, response_codes):
        places = [set(part[code][1]) for part, code in zip(sets, pair, strict=True)]
        n_common = len(places[0] & places[1])
        rank = -n_common, len(places[0]) + len(places[1]), min(pair), max(pair)
        if n_common and (best is None or rank < best[0]):
            best = rank, pair
    return None if best is None else best[1]


def _describe(sides: Sequence[_Side], documents: IntArray, n_widened: int) -> Iterator[Notice]:
    """Notices on what was aligned, and on what has no counterpart."""
    corpus, name = sides[0].corpus, sides[1].corpus.name or "response"
    names = tuple(str(corpus.documents[document]) for document in documents.tolist())
    text = f"{name}: {{n}} with other tokens, aligned with the key's: {{items}}"
    yield Notice("aligned-tokens", text, len(names), names, "document")
    yield from note_parts(
        "unaligned-tokens",
        f"{name}: {{n}} without a counterpart: {{parts}}",
        "token",
        [side.unaligned.size for side in sides],
    )
    yield from note_parts(
        "unaligned-mentions",
        f"{name}: {{n}} in text that the other side lacks: {{parts}}",
        "mention",
        [int((~side.has_piece).sum()) for side in sides],
    )
    outcome = "matched to whole tokens of the other side"
    yield from note("widened-pairs", n_widened, "mention", outcome, whose=name)


def note_parts(kind: str, text: str, noun: str, counts: Sequence[int]) -> Iterator[Notice]:
    """A notice that counts something of the key and of the response, if there is any."""
    if any(counts):
        parts = tuple(zip(("of the key", "of the response"), counts, strict=True))
        yield Notice(kind, text, sum(counts), noun=noun, parts=parts)

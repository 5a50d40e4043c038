"""Documents whose tokens differ, put on one axis: the pieces of text that both sides have.

A piece is a token of the key and one of the response that have characters in common; pieces that
are linked by a common token are a unit. Each piece is a position on the axis, and so is each token
that has none; the pieces of a token, and those of a unit, follow each other. A mention is the set
of its pieces. Nothing depends on which side is the key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise, product
from typing import NamedTuple

import numpy as np

from corefeval.diagnostics import Notice, note
from corefeval.model import Corpus, Tokens
from corefeval.model.arrays import (
    ArrayPair,
    IntArray,
    all_false,
    find_places,
    plain_rows,
    ragged_arange,
    starts_of,
)
from corefeval.model.moving import OwnText, list_tokens, move_mentions, respan
from corefeval.model.token_tables import place_tokens, select_tokens
from corefeval.model.tokens import NO_ROW, documents_of_tokens
from corefeval.pairing.node_alignment import pair_nodes
from corefeval.pairing.texts import another_text
from corefeval.protocol import Zeros
from corefeval.texts import align_tokens, continues_word, fold_token

# The kinds of notices.
ALIGNED = ("aligned-tokens", "unaligned-tokens", "unaligned-mentions", "widened-pairs")
LEAST_SHARE = 0.5  # of the shorter text: with less in common, texts are not the same text

_Set = tuple[int, ...]  # positions on the axis, ascending


class _Axis(NamedTuple):
    """The positions of all documents whose tokens differ, numbered through.

    `tokens` has the token of the key and that of the response at each, −1 for none; `unit` is the
    first position of each one's unit, and `document` where each is.
    """

    tokens: IntArray
    unit: IntArray
    document: IntArray


def put_on_axis(
    key: Corpus, response: Corpus, documents: IntArray, zeros: Zeros
) -> tuple[Corpus, Corpus, list[Notice]]:
    """Both sides with the positions of one axis in some documents, whose tokens differ.

    Raises a PairingError for a document that has another text, not only other tokens.
    """
    corpora, sides = (key, response), (_tokens(key), _tokens(response))
    pieces, unit = _align_words(key, response, documents)
    nodes = pair_nodes(sides, pieces, unit, documents, zeros)
    axis = _lay_axis(sides, documents, pieces, unit, nodes)
    rows = [np.flatnonzero(np.isin(corpus.mention_document, documents)) for corpus in corpora]
    places = [_place_tokens(side, axis, column) for column, side in enumerate(sides)]
    listed = [_list_sets(*entry, axis) for entry in zip(corpora, rows, places, strict=True)]
    kept = [_keep_apart(mentions) for mentions in listed]
    sets, n_widened = _widen(kept, [[bare for bare, _ in part] for part in listed], axis.unit)
    room = np.zeros_like(sides[0].counts)
    room[documents] = (sides[0].counts + sides[1].counts)[documents]
    begins = 0 * room, np.where(room > 0, sides[0].counts, 0)
    moved = [
        _move(*entry, axis, room) for entry in zip(corpora, rows, sets, places, begins, strict=True)
    ]
    lone = [(axis.tokens[:, 1 - column] < 0).sum() for column in (0, 1)]
    bare = [sum(not part for part, _ in mentions) for mentions in listed]
    return moved[0], moved[1], list(_describe(key, response, documents, lone, bare, n_widened))


def _move(
    corpus: Corpus,
    rows: IntArray,
    sets: Sequence[_Set],
    places: IntArray,
    begin: IntArray,
    axis: _Axis,
    room: IntArray,
) -> Corpus:
    """A side with some mentions as sets of positions on the axis, and with its own text besides.

    In its own text, each document has `room` tokens: its own stand behind `begin` missing ones.
    """
    side = _tokens(corpus)
    own_counts = np.maximum(room, side.counts)
    new = ragged_arange(starts_of(own_counts) + begin, side.counts)
    own_corpus = move_mentions(corpus, side.offsets, new, own_counts, row_of_new=NO_ROW)
    own_places = np.zeros((int(own_counts.sum()), 3), dtype=np.int64)
    own_places[new] = places
    owner = np.repeat(np.arange(rows.size), list(map(len, sets)))
    at = np.fromiter(chain.from_iterable(sets), np.int64, owner.size)
    at -= np.searchsorted(axis.document, axis.document[at])
    lengths = np.bincount(axis.document, minlength=room.size)
    counts = np.where(room > 0, lengths, side.counts)
    new = np.repeat(starts_of(counts), side.counts) + places[:, 0]
    return replace(
        respan(corpus, rows, owner, at),
        tokens=place_tokens(side, new, counts, row_of_new=NO_ROW),
        mention_head=None,
        own_text=OwnText(own_corpus, own_places),
    )


def _tokens(corpus: Corpus) -> Tokens:
    if corpus.tokens is None:
        raise ValueError("only documents with tokens can be aligned")
    return corpus.tokens


def _align_words(key: Corpus, response: Corpus, documents: IntArray) -> ArrayPair:
    """The pieces of words, a row of key token and response token for each, and their units.

    Tokens are numbered through. A unit is the number of its first piece.
    """
    sides = _tokens(key), _tokens(response)
    texts = zip(*(_fold(side, documents) for side in sides), strict=True)
    parts = [np.empty((0, 2), dtype=np.int64)]
    for document, ((words, continues), (response_words, response_continues)) in plain_rows(
        documents, texts
    ):
        alignment = align_tokens(words, response_words, continues, response_continues)
        if alignment.share < LEAST_SHARE:
            raise another_text(
                key.documents[document],
                sides[1].source or response.name or None,
                f"only {100 * alignment.share:.1f} % of its text is in the key",
                f"at least {100 * LEAST_SHARE:.0f} %",
                "pair the right documents, leave it out with --documents, or use --tokens ignore",
            )
        parts.append(alignment.pieces + np.array([side.offsets[document] for side in sides]))
    pieces = np.concatenate(parts)
    is_linked = all_false(len(pieces))
    is_linked[1:] = (pieces[1:] == pieces[:-1]).any(1)
    return pieces, np.maximum.accumulate(np.where(is_linked, 0, np.arange(is_linked.size)))


def _fold(tokens: Tokens, documents: IntArray) -> Iterator[tuple[list[str], list[bool]]]:
    """The folded words of each document, and which continue the word before them.

    Empty nodes are no text.
    """
    chosen = select_tokens(tokens, documents)
    words = chosen.coded("word")
    codes = words.codes
    names = {code: words.names[code] for code in np.unique(codes).tolist() if code >= 0}
    folded = {code: fold_token(name) for code, name in names.items()}
    continuing = {code for code, name in names.items() if continues_word(name)}
    if "empty" in chosen.columns:
        codes = np.where(chosen.coded("empty").where(bool), -1, codes)
    for begin, end in pairwise(chosen.offsets.tolist()):
        part = codes[begin:end].tolist()
        continues = [code in continuing for code in part] if continuing else []
        yield [folded.get(code, "") for code in part], continues


def _lay_axis(
    sides: Sequence[Tokens], documents: IntArray, pieces: IntArray, unit: IntArray, nodes: IntArray
) -> _Axis:
    """Pieces of words, pairs of nodes and unaligned tokens, in the order of the texts."""
    parts = [pieces, nodes]
    for column, side in enumerate(sides):
        every = ragged_arange(side.offsets[documents], side.counts[documents])
        lone = np.setdiff1d(every, np.concatenate((pieces[:, column], nodes[:, column])))
        parts.append(np.insert(np.full((lone.size, 1), -1), column, lone, axis=1))
    tokens, size = np.concatenate(parts), len(pieces)
    # What is no piece of words stands behind the unit of the last one before it.
    before = np.max(
        [np.searchsorted(pieces[:, c], tokens[size:, c]) for c in (0, 1)], axis=0, initial=0
    )
    behind = np.searchsorted(unit, np.append(-1, unit)[before], side="right")
    rank = np.concatenate((2 * np.arange(size) + 1, 2 * behind))
    document = np.maximum(
        *(documents_of_tokens(side.offsets, tokens[:, c]) for c, side in enumerate(sides))
    )
    order = np.lexsort((tokens[:, 1], tokens[:, 0], tokens[:, 0] < 0, rank, document))
    position = find_places(order, order.size)
    units = np.concatenate((position[unit], position[size:]))
    return _Axis(tokens[order], units[order], document[order])


def _place_tokens(side: Tokens, axis: _Axis, column: int) -> IntArray:
    """For each token what `OwnText.places` has: where its pieces begin and end, and its unit."""
    document = np.repeat(np.arange(side.counts.size), side.counts)
    position = np.arange(document.size) - side.offsets[document]
    places = np.stack((position, position + 1, position), axis=1)
    at = np.flatnonzero(axis.tokens[:, column] >= 0)
    token, is_piece = axis.tokens[at, column], axis.tokens[at, 1 - column] >= 0
    begin = np.searchsorted(axis.document, axis.document[at])
    places[token[::-1], 0] = (at - begin)[::-1]  # of several pieces the first one stays
    places[token, 1] = at - begin + is_piece
    places[token, 2] = axis.unit[at] - begin
    return places


def _list_sets(
    corpus: Corpus, rows: IntArray, places: IntArray, axis: _Axis
) -> list[tuple[_Set, _Set]]:
    """Of each mention the set of its pieces, and this set with its unaligned tokens."""
    owner, position = list_tokens(corpus, rows)
    document = corpus.mention_document[rows][owner]
    first, end, _ = places[_tokens(corpus).offsets[document] + position].T
    counts = np.maximum(end - first, 1)
    at = ragged_arange(first + np.searchsorted(axis.document, document), counts)
    owner = np.repeat(owner, counts)
    order = np.lexsort((at, owner))
    at, owner = at[order], owner[order]
    is_piece = (axis.tokens[at] >= 0).all(1)
    bare, full = (
        [
            tuple(part.tolist())
            for part in np.split(
                at[chosen], np.searchsorted(owner[chosen], np.arange(1, rows.size))
            )
        ]
        for chosen in (is_piece, slice(None))
    )
    return list(zip(bare, full, strict=True))[: rows.size]


def _keep_apart(mentions: Sequence[tuple[_Set, _Set]]) -> list[_Set]:
    """The sets of mentions, with unaligned tokens where others would be the same without them."""
    best: dict[_Set, _Set] = {}
    for bare, full in sorted(
        mentions, key=lambda sets: (len(sets[1]) - len(sets[0]), sets[1][0], sets[1][-1], sets[1])
    ):
        best.setdefault(bare, full)
    return [bare if bare and best[bare] == full else full for bare, full in mentions]


def _widen(
    sets: Sequence[list[_Set]], bare_sets: Sequence[list[_Set]], unit: IntArray
) -> tuple[list[list[_Set]], int]:
    """The sets, the same where mentions differ only within units, and how many pairs these are.

    A side cannot mark what is only a part of its token: *Mary* where *Mary's* is one token.
    """
    units, existing = unit.tolist(), [set(part) for part in sets]
    groups: list[dict[_Set, set[_Set]]] = [{}, {}]
    for number, (part, bare_part) in enumerate(zip(sets, bare_sets, strict=True)):
        for places in set(part).intersection(bare_part) - existing[1 - number]:
            touched = tuple(dict.fromkeys(units[place] for place in places))
            groups[number].setdefault(touched, set()).add(places)
    sizes = np.bincount(unit, minlength=unit.size)
    widened: list[dict[_Set, _Set]] = [{}, {}]
    for touched in groups[0].keys() & groups[1].keys():
        pairs = product(groups[0][touched], groups[1][touched])
        ranked = [(rank, pair) for pair in pairs if (rank := _rank(*pair)) is not None]
        if not ranked:
            continue
        _, pair = min(ranked)
        first = np.array(touched)
        every = tuple(ragged_arange(first, sizes[first]).tolist())
        if every in pair or not any(every in part for part in existing):
            widened[0][pair[0]] = widened[1][pair[1]] = every
    return [
        [changes.get(places, places) for places in part]
        for part, changes in zip(sets, widened, strict=True)
    ], len(widened[0])


def _rank(places: _Set, response_places: _Set) -> tuple[object, ...] | None:
    """What orders pairs: most pieces in common, fewest together, first; None if none is common."""
    n_common = len(set(places).intersection(response_places))
    sides = sorted((places, response_places))
    return (-n_common, len(places) + len(response_places), *sides) if n_common else None


def _describe(
    key: Corpus,
    response: Corpus,
    documents: IntArray,
    lone: Sequence[int],
    bare: Sequence[int],
    n_widened: int,
) -> Iterator[Notice]:
    """Notices on what was aligned, and on what has no counterpart."""
    name = response.name or "response"
    names = tuple(str(key.documents[document]) for document in documents.tolist())
    text = f"{name}: {{n}} whose tokens differ, aligned with the key's: {{items}}"
    yield Notice("aligned-tokens", text, len(names), names, "document")
    for kind, noun, outcome, counts in (
        ("unaligned-tokens", "token", "without a counterpart on the other side", lone),
        ("unaligned-mentions", "mention", "in text that the other side lacks", bare),
    ):
        if any(counts):
            parts = tuple(zip(("of the key", "of the response"), map(int, counts), strict=True))
            text = f"{name}: {{n}} {outcome}: {{parts}}"
            yield Notice(kind, text, int(sum(counts)), noun=noun, parts=parts)
    outcome = "with an edge inside a token of the other side, compared by whole tokens"
    yield from note("widened-pairs", n_widened, "mention", outcome, whose=name)

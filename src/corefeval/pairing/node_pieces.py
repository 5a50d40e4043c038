"""Which empty nodes of two texts are the same, where the words around them were aligned."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corefeval.model import Tokens
from corefeval.model.arrays import BoolArray, IntArray, all_false, integers, plain_rows, unset
from corefeval.model.categories import Categories
from corefeval.model.tokens import documents_of_tokens
from corefeval.pairing.node_alignment import (
    NodeTable,
    align_nodes,
    encode_id,
    find_twins,
    join_left,
)
from corefeval.protocol import Zeros


def pair_nodes(
    sides: Sequence[Tokens], pieces: IntArray, unit: IntArray, documents: IntArray, zeros: Zeros
) -> IntArray:
    """Pairs of empty nodes, a row of key token and response token for each.

    `pieces` are those of words, and `unit` the first piece of each one's unit. The k-th node behind
    a word is the k-th behind the word that has the last piece of that word, if that is mutual; with
    `zeros` "align", nodes whose dependencies are alike go together first, their parents compared by
    units.
    """
    nodes = [np.flatnonzero(_is_node(side, documents)) for side in sides]
    if not all(part.size for part in nodes):
        return np.empty((0, 2), dtype=np.int64)
    places = [_find_places(side, nodes[c], pieces[:, c], c) for c, side in enumerate(sides)]
    _, ranks = np.unique(np.concatenate(places), axis=0, return_inverse=True)
    places = np.split(ranks.ravel(), [nodes[0].size])
    partner = unset(nodes[1].size)
    if zeros == "align" and all({"deps", "number"} <= {*side.columns} for side in sides):
        sentences = _join_sentences(sides, pieces)
        partner, _ = align_nodes(
            *(
                _list_dependencies(side, nodes[c], places[c], sentences[c], c, pieces, unit)
                for c, side in enumerate(sides)
            )
        )
    partner = join_left(partner, find_twins(*places))
    return np.stack((nodes[0][partner], nodes[1]), axis=1)[partner >= 0]


def _is_node(tokens: Tokens, documents: IntArray) -> BoolArray:
    """Which tokens are empty nodes of some documents."""
    if "empty" not in tokens.columns:
        return all_false(int(tokens.offsets[-1]))
    is_chosen = np.isin(np.arange(tokens.counts.size), documents)
    return tokens.coded("empty").where(bool) & np.repeat(is_chosen, tokens.counts)


def _find_places(tokens: Tokens, nodes: IntArray, aligned: IntArray, side: int) -> IntArray:
    """Rows of numbers that order nodes, equal on both sides for nodes behind the same word.

    `aligned` are the tokens of the pieces of this side.
    """
    document = documents_of_tokens(tokens.offsets, nodes)
    words = np.arange(int(tokens.offsets[-1]))
    words[nodes] = -1
    before = tokens.offsets[document] - 1
    word = np.maximum(np.maximum.accumulate(words)[nodes], before)
    n_pieces = np.searchsorted(aligned, nodes)
    is_aligned = word == np.maximum(np.append(aligned, -1)[n_pieces - 1], before)
    # Behind a word without a counterpart nothing is the same place.
    state, rank = np.where(is_aligned, (0 * nodes, nodes - word), (0 * nodes + 1 + side, nodes))
    return np.stack((document + n_pieces, state, rank), axis=1)


def _join_sentences(sides: Sequence[Tokens], pieces: IntArray) -> list[IntArray]:
    """A number for each sentence of either side, equal where sentences share words."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    left, right = (side.sentence_of(pieces[:, c]) for c, side in enumerate(sides))
    n_key, size = sides[0].starts.size, sides[0].starts.size + sides[1].starts.size
    graph = coo_array((np.ones(left.size), (left, right + n_key)), shape=(size, size))
    number = integers(connected_components(graph, directed=False)[1])
    return np.split(number, [n_key])


def _list_dependencies(
    tokens: Tokens,
    nodes: IntArray,
    places: IntArray,
    sentences: IntArray,
    side: int,
    pieces: IntArray,
    unit: IntArray,
) -> NodeTable:
    """The nodes of a side with dependencies whose parents are numbered by units."""
    sentence = tokens.sentence_of(nodes)
    members = np.flatnonzero(np.isin(tokens.sentence_of(np.arange(tokens.offsets[-1])), sentence))
    # Two sides never give the same number to words without a counterpart.
    names = dict(plain_rows(members, map(str, unit.size + 2 * members + side + 1)))
    names |= plain_rows(pieces[::-1, side], map(str, unit[::-1] + 1))
    names |= ((node, f"{node + 1}.1") for node in nodes.tolist())
    numbers = tokens.coded("number", members).values()
    owners = tokens.sentence_of(members).tolist()
    ids = dict(
        zip(zip(owners, numbers, strict=True), map(names.get, members.tolist()), strict=True)
    )
    cells = []
    for owner, cell in plain_rows(sentence, tokens.coded("deps", nodes).values()):
        entries = (entry.partition(":") for entry in (cell or "").split("|"))
        renamed = (f"{ids.get((owner, parent), parent)}:{name}" for parent, _, name in entries)
        cells.append("|".join(renamed))
    identities = integers([encode_id(names[node]) for node in nodes.tolist()])
    return NodeTable(sentences[sentence], places, identities, Categories.of(cells))

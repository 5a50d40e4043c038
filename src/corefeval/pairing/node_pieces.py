"""Which empty nodes of two texts are the same, where the words around them were aligned."""

from __future__ import annotations

import numpy as np

from corefeval.model import Tokens
from corefeval.model.arrays import BoolArray, IntArray, dense_ranks
from corefeval.model.categories import Categories
from corefeval.model.tokens import documents_of_tokens
from corefeval.pairing.node_alignment import NodeTable, align_nodes, encode_id
from corefeval.protocol import Zeros


def pair_nodes(
    key: Tokens,
    response: Tokens,
    pieces: IntArray,
    unit: IntArray,
    documents: IntArray,
    zeros: Zeros,
) -> IntArray:
    """Pairs of empty nodes, a row of key token and response token for each, in order of the key.

    `pieces` are those of words, and `unit` the first piece of each one's unit. The k-th node behind
    a word is the k-th behind the word that has the last piece of that word, if that is mutual; with
    `zeros` "align", nodes whose dependencies are alike go together first, their parents compared by
    units.
    """
    nodes = [_find_nodes(side, documents) for side in (key, response)]
    if not all(part.size for part in nodes):
        return np.empty((0, 2), dtype=np.int64)
    places = [
        _number_places(side, part, pieces[:, column], column)
        for column, (side, part) in enumerate(zip((key, response), nodes, strict=True))
    ]
    ranks, _ = dense_ranks(np.concatenate(places))
    places = [ranks[: nodes[0].size], ranks[nodes[0].size :]]
    partner = np.full(nodes[1].size, -1, dtype=np.int64)
    has_dependencies = all({"deps", "number"} <= {*side.columns} for side in (key, response))
    if zeros == "align" and has_dependencies:
        sentences = _join_sentences(key, response, pieces)
        tables = [
            _list_dependencies(side, part, place, sentence, column, pieces, unit)
            for column, (side, part, place, sentence) in enumerate(
                zip((key, response), nodes, places, sentences, strict=True)
            )
        ]
        partner = align_nodes(tables[0], tables[1])
    is_free = ~np.isin(np.arange(nodes[0].size), partner)
    left = np.flatnonzero(is_free)
    right = np.flatnonzero(partner < 0)
    _, left_rows, right_rows = np.intersect1d(
        places[0][left], places[1][right], assume_unique=True, return_indices=True
    )
    partner[right[right_rows]] = left[left_rows]
    rows = np.flatnonzero(partner >= 0)
    pairs = np.stack((nodes[0][partner[rows]], nodes[1][rows]), axis=1)
    return pairs[np.argsort(pairs[:, 0], kind="stable")]


def _is_node(tokens: Tokens) -> BoolArray:
    if "empty" not in tokens.columns:
        return np.zeros(int(tokens.offsets[-1]), dtype=np.bool_)
    return tokens.coded("empty").where(bool)


def _find_nodes(tokens: Tokens, documents: IntArray) -> IntArray:
    nodes = np.flatnonzero(_is_node(tokens))
    return nodes[np.isin(documents_of_tokens(tokens.offsets, nodes), documents)]


def _number_places(tokens: Tokens, nodes: IntArray, aligned: IntArray, side: int) -> IntArray:
    """Numbers of the places of nodes, equal on both sides for nodes behind the same word.

    `aligned` are the tokens of the pieces of this side.
    """
    document = documents_of_tokens(tokens.offsets, nodes)
    is_word = ~_is_node(tokens)
    words = np.flatnonzero(is_word)
    n_before = np.cumsum(is_word)[nodes]
    word = np.where(n_before > 0, np.append(words, -1)[n_before - 1], -1)
    word = np.where(word >= tokens.offsets[document], word, -1)
    n_pieces = np.searchsorted(aligned, nodes)
    last = np.where(n_pieces > 0, np.append(aligned, -1)[n_pieces - 1], -1)
    last = np.where(last >= tokens.offsets[document], last, -1)
    ordinal = nodes - np.maximum(word + 1, tokens.offsets[document])
    # Behind a word without a counterpart nothing is the same place.
    state = np.where(word == last, 0, 1 + side)
    rank = np.where(word == last, ordinal, nodes)
    return ((document + n_pieces) * 3 + state) * (1 << 32) + rank


def _join_sentences(key: Tokens, response: Tokens, pieces: IntArray) -> list[IntArray]:
    """A number for each sentence of either side, equal where sentences share words."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n_key, n_response = key.starts.size, response.starts.size
    left = key.sentence_of(pieces[:, 0])
    right = response.sentence_of(pieces[:, 1]) + n_key
    size = n_key + n_response
    graph = coo_array((np.ones(left.size), (left, right)), shape=(size, size))
    number = connected_components(graph, directed=False)[1].astype(np.int64)
    return [number[:n_key], number[n_key:]]


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
    numbers = tokens.coded("number", members).values()
    owners = tokens.sentence_of(members).tolist()
    unit_of = dict(zip(pieces[::-1, side].tolist(), unit[::-1].tolist(), strict=True))
    are_nodes = _is_node(tokens)[members].tolist()
    ids = {}
    for token, owner, number, is_node in zip(
        members.tolist(), owners, numbers, are_nodes, strict=True
    ):
        # Two sides never give the same number to words without a counterpart.
        word = unit_of.get(token, unit.size + 2 * token + side)
        ids[owner, number] = f"{token + 1}.1" if is_node else str(word + 1)
    cells = []
    for owner, cell in zip(sentence.tolist(), tokens.coded("deps", nodes).values(), strict=True):
        entries = (entry.partition(":") for entry in (cell or "").split("|"))
        renamed = ((ids.get((owner, parent), parent), relation) for parent, _, relation in entries)
        cells.append("|".join(f"{parent}:{relation}" for parent, relation in renamed))
    identities = np.array([encode_id(f"{token + 1}.1") for token in nodes.tolist()], np.int64)
    return NodeTable(sentences[sentence], places, identities, Categories.of(cells))

"""Which empty node of one side is which of the other: sentence by sentence, by their dependencies.

Two nodes of a sentence weigh 10 · Dice of their sets of (parent, relation) and Dice of their sets
of parents, from the enhanced dependencies (DEPS). The heaviest one-to-one assignment is taken;
where several are heaviest, the one with more nodes at the same place, then the one whose nodes come
first. Everything in that order is the same when the sides are exchanged.

A parent that is an empty node is the same parent if it is aligned with that of the other side, or
if both were left over and stand at the same place. So the assignment depends on itself: it begins
with every node at its place, and is made again from what it was until it stays the same. Chains of
empty nodes need a round for each link; cycles may never settle, so there is a limit.

In sentences in which more than `CROWDED` pairs of nodes share a parent, which no language has, none
are aligned: their places must do.

Where the tokens of two texts differ, `pair_nodes` finds nodes by the words that were aligned.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from corefeval.assignment import heaviest_matching
from corefeval.model import Tokens
from corefeval.model.arrays import (
    ArrayPair,
    BoolArray,
    FloatArray,
    IntArray,
    all_false,
    begin_runs,
    dense_ranks,
    find_places,
    integers,
    plain_rows,
    ragged_arange,
    stable_order,
    starts_of,
    unset,
)
from corefeval.model.categories import Categories
from corefeval.model.tokens import documents_of_tokens
from corefeval.protocol import Zeros

CROWDED = 256
_ROUNDS = 16
_ID = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9}))?")
STRIDE = 10**9 + 1  # more than the second part of an id can be
_FULL = 10.0  # how much more (parent, relation) weighs than the parent alone


def encode_id(text: str) -> int:
    """The id of a word (5) or an empty node (5.10) as one number; −1 for other text.

    >>> encode_id("5.10") > encode_id("5.1") > encode_id("5") > encode_id("_")
    True
    """
    match = _ID.fullmatch(text)
    return -1 if match is None else int(match[1]) * STRIDE + (int(match[2]) + 1 if match[2] else 0)


def parse_dependencies(text: str) -> frozenset[tuple[int, str]]:
    """The (parent, relation) pairs of a DEPS cell; malformed entries are skipped.

    >>> parse_dependencies("3:nsubj|what|x:dep") == {(encode_id("3"), "nsubj")}
    True
    """
    entries = (entry.partition(":") for entry in text.split("|"))
    pairs = ((encode_id(parent), relation) for parent, colon, relation in entries if colon)
    return frozenset(pair for pair in pairs if pair[0] >= 0)


@dataclass(frozen=True, slots=True, eq=False)
class NodeTable:
    """The empty nodes of one side.

    `sentence` and `place` are numbers that mean the same on both sides; no two nodes of a side
    have the same place, and places ascend with the text. `id` is what `encode_id` makes of the
    node's id, and `dependencies` its DEPS cell; a node without any has no code.
    """

    sentence: IntArray
    place: IntArray
    id: IntArray
    dependencies: Categories


@dataclass(frozen=True, slots=True, eq=False)
class _Links:
    """The dependencies of one side: a row for each (parent, relation) of each node.

    `word` ranks the parents' ids and `relation` the relations, on both sides alike. `node` is the
    parent where it is an empty node that is there, else −1; `first` marks the first row of each
    parent of a node. `content` ranks nodes by their whole DEPS cells, on both sides alike.
    """

    table: NodeTable
    owner: IntArray
    word: IntArray
    node: IntArray
    relation: IntArray
    first: BoolArray
    content: IntArray

    @property
    def sentence(self) -> IntArray:
        """The sentence of each row."""
        return self.table.sentence[self.owner]

    def take(self, rows: BoolArray) -> _Links:
        """Some of the rows."""
        names = ("owner", "word", "node", "relation", "first")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})


def align_nodes(key: NodeTable, response: NodeTable) -> tuple[IntArray, ArrayPair]:
    """For each node of the response the node of the key that it is aligned with, or −1.

    Nodes that share no parent are never aligned, even at the same place. Also returns what ranks
    the nodes of each side by their dependencies, on both sides alike.
    """
    by_place = find_twins(key.place, response.place)
    key_links, response_links = _link(key, response)
    contents = key_links.content, response_links.content
    partner = _assign(key_links, response_links, by_place)
    deep = np.concatenate(
        [links.sentence[links.node >= 0] for links in (key_links, response_links)]
    )
    if not deep.size:
        return partner, contents
    # Further rounds can only change sentences in which parents are empty nodes.
    key_links, response_links = (
        links.take(np.isin(links.sentence, deep)) for links in (key_links, response_links)
    )
    changing = np.isin(response.sentence, deep)
    for _ in range(_ROUNDS):
        again = _assign(key_links, response_links, align_remaining(partner, by_place))
        if np.array_equal(again[changing], partner[changing]):
            break
        partner = np.where(changing, again, partner)
    return partner, contents


def align_remaining(partner: IntArray, by_place: IntArray) -> IntArray:
    """The alignment, in which unaligned nodes at the same place on both sides are aligned, too."""
    free = ~np.isin(by_place, partner[partner >= 0])
    return np.where((partner < 0) & free, by_place, partner)


def find_twins(key: IntArray, response: IntArray) -> IntArray:
    """For each value of the response its index in the key, −1 where the key lacks it.

    The values of a side are all different.
    """
    twins = unset(response.size)
    _, at_key, at_response = np.intersect1d(key, response, assume_unique=True, return_indices=True)
    twins[at_response] = at_key
    return twins


def _link(key: NodeTable, response: NodeTable) -> tuple[_Links, _Links]:
    """The dependencies of both sides, each distinct cell parsed once."""
    names = sorted({*key.dependencies.names, *response.dependencies.names})
    cells = [tuple(sorted(parse_dependencies(name))) for name in names]
    contents = {cell: rank for rank, cell in enumerate(sorted(set(cells)))}
    relations = {name: rank for rank, name in enumerate(sorted({r for c in cells for _, r in c}))}
    pairs = [(parent, relations[relation]) for cell in cells for parent, relation in cell]
    flat = integers(pairs).reshape(-1, 2)
    words, _ = dense_ranks(flat[:, 0])
    content = integers([contents[cell] for cell in cells])
    lengths = integers([len(cell) for cell in cells])
    begin = starts_of(lengths)
    number = {name: rank for rank, name in enumerate(names)}

    def links(table: NodeTable) -> _Links:
        codes = np.array([*(number[name] for name in table.dependencies.names), -1])
        cell = codes[table.dependencies.codes]
        having = np.flatnonzero(cell >= 0)
        cell = cell[having]
        owner, rows = np.repeat(having, lengths[cell]), ragged_arange(begin[cell], lengths[cell])
        parent, ranks = flat[rows, 0], unset(table.place.size)
        ranks[having] = content[cell]
        first = begin_runs(owner, parent)
        node = _find_parents(table, table.sentence[owner], parent)
        return _Links(table, owner, words[rows], node, flat[rows, 1], first, ranks)

    return links(key), links(response)


def _find_parents(table: NodeTable, sentence: IntArray, parent: IntArray) -> IntArray:
    """The node that has an id in a sentence, the first where several have it; −1 for none."""
    identified = np.flatnonzero(table.id >= 0)
    ids, distinct_ids = dense_ranks(np.concatenate((table.id[identified], parent)))
    codes = np.concatenate((table.sentence[identified], sentence)) * max(distinct_ids.size, 1) + ids
    node_codes, parent_codes = codes[: identified.size], codes[identified.size :]
    distinct, first = np.unique(node_codes, return_index=True)
    if not distinct.size:
        return unset(parent.size)
    at = np.minimum(np.searchsorted(distinct, parent_codes), distinct.size - 1)
    return np.where(distinct[at] == parent_codes, identified[first[at]], -1)


def _assign(key: _Links, response: _Links, partner: IntArray) -> IntArray:
    """The alignment, with parents that are empty nodes compared by an earlier one, `partner`."""
    n_key, n_response = key.table.place.size, partner.size
    alone = np.arange(n_key, n_key + n_response)
    classes = np.arange(n_key), np.where(partner >= 0, partner, alone)
    parents = _code_parents((key, response), classes)
    crowded = _find_crowded(key, response, parents)
    aligned = unset(n_response)
    if crowded.size:
        few = [~np.isin(links.sentence, crowded) for links in (key, response)]
        key, response = key.take(few[0]), response.take(few[1])
        parents = [codes[rows] for codes, rows in zip(parents, few, strict=True)]
    rows, columns, weights = _weigh(key, response, parents)
    if rows.size:
        order = _order_edges(key, response, rows, columns)
        chosen = heaviest_matching(rows, columns, weights, order=order)
        aligned[columns[chosen]] = rows[chosen]
    return aligned


def _code_parents(sides: Sequence[_Links], classes: Sequence[IntArray]) -> list[IntArray]:
    """A number for each row's parent, the same for the same parent on both sides.

    Words, and ids that nothing has, are told apart by their sentences; the numbers of nodes are
    negative.
    """
    width = 1 + max(int(links.word.max(initial=0)) for links in sides)
    return [
        np.where(
            links.node >= 0, -1 - side_classes[links.node], links.sentence * width + links.word
        )
        for links, side_classes in zip(sides, classes, strict=True)
    ]


def _find_crowded(key: _Links, response: _Links, parents: Sequence[IntArray]) -> IntArray:
    """The sentences in which more than `CROWDED` pairs of nodes share a parent."""
    key_parents, response_parents = parents[0][key.first], np.sort(parents[1][response.first])
    low = np.searchsorted(response_parents, key_parents)
    shared = np.searchsorted(response_parents, key_parents, side="right") - low
    ranks, sentences = dense_ranks(key.sentence[key.first])
    crowded: IntArray = sentences[np.bincount(ranks, shared, minlength=sentences.size) > CROWDED]
    return crowded


def _weigh(
    key: _Links, response: _Links, parents: Sequence[IntArray]
) -> tuple[IntArray, IntArray, FloatArray]:
    """Nodes of the key and of the response that share a parent, and the weights of the pairs."""
    width = 1 + max(int(links.relation.max(initial=0)) for links in (key, response))
    sides = list(zip((key, response), parents, strict=True))
    n = response.table.place.size
    full, dice = _dice([(links.owner, codes * width + links.relation) for links, codes in sides], n)
    pairs, weights = _dice(
        [(links.owner[links.first], codes[links.first]) for links, codes in sides], n
    )
    weights[np.searchsorted(pairs, full)] += _FULL * dice
    return pairs // n, pairs % n, weights


def _dice(sides: Sequence[ArrayPair], n: int) -> tuple[IntArray, FloatArray]:
    """Pairs of owners with a code in common, as key owner · n + response owner, and their Dice.

    A side is the owner and the code of each member of its sets, no code twice in a set.
    """
    (key_owners, key_codes), (response_owners, response_codes) = sides
    order = stable_order(response_codes)
    ascending = response_codes[order]
    begin = np.searchsorted(ascending, key_codes)
    lengths = np.searchsorted(ascending, key_codes, side="right") - begin
    met = np.repeat(key_owners, lengths) * n + response_owners[order[ragged_arange(begin, lengths)]]
    pairs, common = np.unique(met, return_counts=True)
    key_sizes = np.bincount(key_owners, minlength=1)
    response_sizes = np.bincount(response_owners, minlength=1)
    return pairs, 2 * common / (key_sizes[pairs // n] + response_sizes[pairs % n])


def _order_edges(key: _Links, response: _Links, rows: IntArray, columns: IntArray) -> IntArray:
    """The rank of each pair among equals: by place, and by content where places are exchanged."""
    key_places, response_places = key.table.place[rows], response.table.place[columns]
    contents = key.content[rows], response.content[columns]
    before = key_places <= response_places
    keys = (
        key_places,
        np.where(before, contents[1], contents[0]),
        np.where(before, contents[0], contents[1]),
        np.maximum(key_places, response_places),
        np.minimum(key_places, response_places),
        key_places != response_places,
    )
    return find_places(np.lexsort(keys), rows.size)


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
    partner = align_remaining(partner, find_twins(*places))
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

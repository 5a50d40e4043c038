"""Which empty node of one side is which of the other: sentence by sentence, by their dependencies.

Two nodes of a sentence weigh 10 · Dice of their sets of (parent, relation) and Dice of their sets
of parents, from the enhanced dependencies (DEPS). The heaviest one-to-one assignment is taken;
where several are heaviest, the one with more nodes at the same place, then the one whose nodes come
first. Everything in that order is the same when the sides are exchanged.

A parent that is an empty node is the same parent if it is aligned with that of the other side, or
if both were left over and stand at the same place. So the assignment depends on itself: it begins
with every node at its place, and is made again from what it was until it stays the same. Chains of
empty nodes need a round for each link; cycles may never settle, so there is a limit.

In sentences in which more than `CROWDED` pairs of nodes share a parent, which no language has, no
assignment is made: nodes of the very same dependencies are aligned, those at the same place first,
then in their order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from corefeval.assignment import heaviest_matching
from corefeval.model.arrays import BoolArray, FloatArray, IntArray, dense_ranks, ragged_arange
from corefeval.model.categories import Categories

CROWDED = 256
_ROUNDS = 16
_ID = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9}))?")
_STRIDE = 10**9 + 1  # more than the second part of an id can be
_FULL = 10.0  # how much more (parent, relation) weighs than the parent alone


def encode_id(text: str) -> int:
    """The id of a word (5) or an empty node (5.10) as one number; −1 for what is none.

    >>> encode_id("5.10") > encode_id("5.1") > encode_id("5") > encode_id("_")
    True
    """
    match = _ID.fullmatch(text)
    return -1 if match is None else int(match[1]) * _STRIDE + (int(match[2]) + 1 if match[2] else 0)


def parse_dependencies(text: str) -> frozenset[tuple[int, str]]:
    """The (parent, relation) pairs of a DEPS cell; entries that are none are passed over.

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
    node's own id, and `dependencies` what DEPS says of it; a node without any has no code.
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
    parent of a node. `content` ranks nodes by all that their DEPS say, on both sides alike.
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
        owner, word, node, relation = (
            column[rows] for column in (self.owner, self.word, self.node, self.relation)
        )
        return _Links(self.table, owner, word, node, relation, self.first[rows], self.content)


def align_nodes(key: NodeTable, response: NodeTable) -> IntArray:
    """For each node of the response the node of the key that it is aligned with, or −1.

    Nodes that share no parent are never aligned, be they at the same place.
    """
    by_place = find_twins(key.place, response.place)
    mine, theirs = _link(key, response)
    partner = _assign(mine, theirs, by_place)
    deep = np.concatenate([links.sentence[links.node >= 0] for links in (mine, theirs)])
    if not deep.size:
        return partner
    # Only where parents are empty nodes can another round say anything else.
    mine, theirs = (links.take(np.isin(links.sentence, deep)) for links in (mine, theirs))
    changing = np.isin(response.sentence, deep)
    for _ in range(_ROUNDS):
        again = _assign(mine, theirs, join_left(partner, by_place))
        if np.array_equal(again[changing], partner[changing]):
            break
        partner = np.where(changing, again, partner)
    return partner


def rank_dependencies(
    key: NodeTable, response: NodeTable, rows: Sequence[IntArray]
) -> tuple[IntArray, IntArray]:
    """What DEPS say of some nodes of each side, as ranks that both sides share."""
    both = Categories.concatenate(
        key.dependencies.take(rows[0]), response.dependencies.take(rows[1])
    )
    rank = {name: number for number, name in enumerate(sorted(both.names))}
    ranks = np.array([*(rank[name] for name in both.names), -1], dtype=np.int64)[both.codes]
    return ranks[: rows[0].size], ranks[rows[0].size :]


def join_left(partner: IntArray, by_place: IntArray) -> IntArray:
    """The alignment with nodes that were left over on both sides joined where they stand."""
    free = ~np.isin(by_place, partner[partner >= 0])
    return np.where((partner < 0) & free, by_place, partner)


def find_twins(mine: IntArray, theirs: IntArray) -> IntArray:
    """For each of their values, all different, where it is among mine; −1 where it is not."""
    twins = np.full(theirs.size, -1, dtype=np.int64)
    _, at_mine, at_theirs = np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)
    twins[at_theirs] = at_mine
    return twins


def _link(key: NodeTable, response: NodeTable) -> tuple[_Links, _Links]:
    """The dependencies of both sides, each distinct cell parsed once."""
    names = sorted({*key.dependencies.names, *response.dependencies.names})
    cells = [tuple(sorted(parse_dependencies(name))) for name in names]
    contents = {cell: rank for rank, cell in enumerate(sorted(set(cells)))}
    relations = {name: rank for rank, name in enumerate(sorted({r for c in cells for _, r in c}))}
    pairs = [(parent, relations[relation]) for cell in cells for parent, relation in cell]
    flat = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    words, _ = dense_ranks(flat[:, 0])
    content = np.array([contents[cell] for cell in cells], dtype=np.int64)
    lengths = np.array([len(cell) for cell in cells], dtype=np.int64)
    begin = np.cumsum(lengths) - lengths
    number = {name: rank for rank, name in enumerate(names)}

    def links(table: NodeTable) -> _Links:
        codes = np.array([*(number[name] for name in table.dependencies.names), -1])
        cell = codes[table.dependencies.codes]
        having = np.flatnonzero(cell >= 0)
        cell = cell[having]
        owner, rows = np.repeat(having, lengths[cell]), ragged_arange(begin[cell], lengths[cell])
        parent, ranks = flat[rows, 0], np.full(table.place.size, -1, dtype=np.int64)
        ranks[having] = content[cell]
        first = np.ones(owner.size, dtype=np.bool_)
        first[1:] = (owner[1:] != owner[:-1]) | (parent[1:] != parent[:-1])
        node = _find_parents(table, table.sentence[owner], parent)
        return _Links(table, owner, words[rows], node, flat[rows, 1], first, ranks)

    return links(key), links(response)


def _find_parents(table: NodeTable, sentence: IntArray, parent: IntArray) -> IntArray:
    """The node that has an id in a sentence, the first where several have it; −1 for none."""
    own = np.flatnonzero(table.id >= 0)
    ids, known = dense_ranks(np.concatenate((table.id[own], parent)))
    codes = np.concatenate((table.sentence[own], sentence)) * max(known.size, 1) + ids
    mine, wanted = codes[: own.size], codes[own.size :]
    distinct, first = np.unique(mine, return_index=True)
    if not distinct.size:
        return np.full(parent.size, -1, dtype=np.int64)
    at = np.minimum(np.searchsorted(distinct, wanted), distinct.size - 1)
    return np.where(distinct[at] == wanted, own[first[at]], -1)


def _assign(key: _Links, response: _Links, partner: IntArray) -> IntArray:
    """The alignment, with parents that are empty nodes compared through another one."""
    n_key, n_response = key.table.place.size, partner.size
    alone = np.arange(n_key, n_key + n_response)
    classes = np.arange(n_key), np.where(partner >= 0, partner, alone)
    parents = _code_parents((key, response), classes)
    crowded = _find_crowded(key, response, parents)
    aligned = np.full(n_response, -1, dtype=np.int64)
    if crowded.size:
        aligned = _align_same(key, response, crowded)
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
        np.where(links.node >= 0, -1 - one[links.node], links.sentence * width + links.word)
        for links, one in zip(sides, classes, strict=True)
    ]


def _find_crowded(key: _Links, response: _Links, parents: Sequence[IntArray]) -> IntArray:
    """The sentences in which more pairs share a parent than an assignment is made of."""
    mine, theirs = parents[0][key.first], np.sort(parents[1][response.first])
    shared = np.searchsorted(theirs, mine, side="right") - np.searchsorted(theirs, mine)
    ranks, sentences = dense_ranks(key.sentence[key.first])
    crowded: IntArray = sentences[np.bincount(ranks, shared, minlength=sentences.size) > CROWDED]
    return crowded


def _align_same(key: _Links, response: _Links, sentences: IntArray) -> IntArray:
    """Nodes of the same dependencies: those at the same place, then the others in their order."""
    rows = [np.unique(links.owner[np.isin(links.sentence, sentences)]) for links in (key, response)]
    tables = [links.table for links in (key, response)]
    partner = np.full(tables[1].place.size, -1, dtype=np.int64)
    width = 1 + max(int(links.content.max(initial=0)) for links in (key, response))
    groups = [
        table.sentence[own] * width + links.content[own]
        for table, links, own in zip(tables, (key, response), rows, strict=True)
    ]
    at = find_twins(tables[0].place[rows[0]], tables[1].place[rows[1]])
    same = (at >= 0) & (groups[0][at] == groups[1])
    partner[rows[1][same]] = rows[0][at[same]]
    left = [np.ones(own.size, dtype=np.bool_) for own in rows]
    left[0][at[same]] = False
    left[1][same] = False
    rows = [own[rest] for own, rest in zip(rows, left, strict=True)]
    groups = [group[rest] for group, rest in zip(groups, left, strict=True)]
    # The first of a group with the first, the second with the second.
    ranks, _ = dense_ranks(np.concatenate(groups))
    width = ranks.size + 1
    codes = [
        group * width + _count_within(group, table.place[own])
        for group, table, own in zip(np.split(ranks, [rows[0].size]), tables, rows, strict=True)
    ]
    at = find_twins(*codes)
    partner[rows[1][at >= 0]] = rows[0][at[at >= 0]]
    return partner


def _count_within(group: IntArray, place: IntArray) -> IntArray:
    """The how-manieth of its group each node is, from 0, in the order of places."""
    order = np.lexsort((place, group))
    ascending = group[order]
    count = np.empty(group.size, dtype=np.int64)
    count[order] = np.arange(group.size) - np.searchsorted(ascending, ascending)
    return count


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


def _dice(sides: Sequence[tuple[IntArray, IntArray]], n: int) -> tuple[IntArray, FloatArray]:
    """Pairs of owners with a code in common, as key owner · n + response owner, and their Dice.

    A side is the owner and the code of each member of its sets, no code twice in a set.
    """
    (mine, my_codes), (theirs, their_codes) = sides
    order = np.argsort(their_codes, kind="stable")
    ascending = their_codes[order]
    begin = np.searchsorted(ascending, my_codes)
    lengths = np.searchsorted(ascending, my_codes, side="right") - begin
    met = np.repeat(mine, lengths) * n + theirs[order[ragged_arange(begin, lengths)]]
    pairs, common = np.unique(met, return_counts=True)
    sizes = np.bincount(mine, minlength=1)[pairs // n] + np.bincount(theirs, minlength=1)[pairs % n]
    return pairs, 2 * common / sizes


def _order_edges(key: _Links, response: _Links, rows: IntArray, columns: IntArray) -> IntArray:
    """The rank of each pair among equals: by place, and by content where places are exchanged."""
    mine, theirs = key.table.place[rows], response.table.place[columns]
    contents = key.content[rows], response.content[columns]
    before = mine <= theirs
    keys = (
        mine,
        np.where(before, contents[1], contents[0]),
        np.where(before, contents[0], contents[1]),
        np.maximum(mine, theirs),
        np.minimum(mine, theirs),
        mine != theirs,
    )
    order = np.empty(rows.size, dtype=np.int64)
    order[np.lexsort(keys)] = np.arange(rows.size)
    return order

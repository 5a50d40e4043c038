"""Heads of constituents, for all trees at once."""

from __future__ import annotations

import numpy as np

from corefeval.features.brackets import Nodes, Places, match_labels
from corefeval.features.head_rules import RankTable
from corefeval.model.arrays import IntArray
from corefeval.model.categories import Categories


def constituent_heads(
    parse: Categories, tags: Categories, tokens: IntArray, region: IntArray
) -> tuple[Nodes, IntArray]:
    """The constituents in the parse bits of some tokens, and the head token of each.

    Which child is the head follows from labels alone, so that it is settled for all constituents
    together; heads are then handed up, one depth after the other.
    """
    nodes, places = match_labels(parse, tokens, region)
    node_parent = _parents(nodes, nodes.depth - 1, nodes.opening, nodes.closing)
    token_parent = _parents(nodes, places.depth, places.bracket, places.bracket - 1)
    head_child = _head_children(nodes, tags, tokens, (node_parent, token_parent), places)
    heads = np.full(nodes.start.size, -1, dtype=np.int64)
    is_token = head_child >= nodes.start.size
    heads[is_token] = tokens[head_child[is_token] - nodes.start.size]
    levels = np.flatnonzero(np.diff(nodes.depth)) + 1
    for level in reversed(np.split(np.arange(nodes.start.size), levels)):
        upper = level[~is_token[level]]
        heads[upper] = heads[head_child[upper]]
    return nodes, heads


def _parents(nodes: Nodes, depth: IntArray, bracket: IntArray, last: IntArray) -> IntArray:
    """The constituent of some depth around each of some places; −1 for none.

    A place is behind all brackets before `bracket`, and goes on to the bracket `last`.
    """
    if not nodes.start.size:
        return np.full(depth.size, -1, dtype=np.int64)
    width = 1 + int(nodes.closing.max(initial=0)) + 1
    low = min(int(nodes.depth.min()), int(depth.min(initial=0)))
    known = (nodes.depth - low) * width + nodes.opening
    asked = (depth - low) * width + np.minimum(bracket, width - 1)
    place = np.searchsorted(known, asked) - 1
    inside = (place >= 0) & (nodes.depth[place] == depth) & (nodes.closing[place] > last)
    return np.where(inside, place, -1)


def _head_children(
    nodes: Nodes,
    tags: Categories,
    tokens: IntArray,
    parents: tuple[IntArray, IntArray],
    places: Places,
) -> IntArray:
    """The child of each constituent that is its head: a constituent, or behind them all a token."""
    symbols = {name: code for code, name in enumerate(nodes.names)}
    tag_symbol = [symbols.setdefault(tag, len(symbols)) for tag in (*tags.names, "")]
    table = RankTable.of(nodes.names, tuple(symbols))
    parent = np.concatenate(parents)
    child = np.flatnonzero(parent >= 0)
    parent = parent[child]
    symbol = np.concatenate((nodes.label, np.array(tag_symbol, dtype=np.int64)[tags.codes]))[child]
    place = np.concatenate((nodes.start, tokens))[child] - nodes.start[parent]
    rank, from_left = table.look_up(nodes.label[parent], symbol)
    width = int((nodes.end - nodes.start).max(initial=0)) + 1
    score = rank * width + np.where(from_left, place, width - 1 - place)
    best = np.full(nodes.start.size, np.iinfo(np.int64).max, dtype=np.int64)
    np.minimum.at(best, parent, score)
    chosen = score == best[parent]
    # A constituent always has a child: at least the token that its first bracket stands on, or
    # one that begins there.
    head_child = np.zeros(nodes.start.size, dtype=np.int64)
    head_child[parent[chosen]] = child[chosen]
    return head_child

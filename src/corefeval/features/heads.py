"""The head token of each mention: by dependencies, English constituents or tags.

Which child of an English constituent is its head follows from rules after Collins (1999) and
Magerman. A rule is a list of steps; a step is a direction and some labels or tags, and the first
child in that direction that has one of them is the head. NP searches for any of a step's labels at
once; the other tables search for one label after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, Literal, ParamSpec

import numpy as np
from numpy.typing import NDArray

from corefeval.features.brackets import Nodes, Places, match_labels, number_regions
from corefeval.features.tagsets import TagSet, tag_matcher
from corefeval.features.token_columns import TokenSpans, find_spans
from corefeval.model.arrays import (
    ArrayPair,
    BoolArray,
    IntArray,
    all_false,
    all_zero,
    begin_runs,
    integers,
    looked_up,
    set_rows,
    stable_order,
    unset,
)
from corefeval.model.categories import Categories

_NOWHERE = np.iinfo(np.int64).max
_REACH = 256  # a head is looked for in so many tokens from the start of its mention
_AT_ONCE = 1 << 17  # so many tokens that the arrays on the way stay small
_BITS = 62  # of a number for all cells of a mention
_FACTOR = np.uint64(0x9E3779B97F4A7C15)

Columns = ParamSpec("Columns")
Finder = Callable[Concatenate[TokenSpans, IntArray, Columns], IntArray]


def _in_pieces(find: Finder[Columns]) -> Finder[Columns]:
    """A finder of heads that looks at a part of the mentions at a time, for large corpora."""

    @wraps(find)
    def find_in_pieces(
        spans: TokenSpans, rows: IntArray, /, *columns: Columns.args, **options: Columns.kwargs
    ) -> IntArray:
        length = np.minimum(spans.end[rows] - spans.start[rows], _REACH)
        bounds = np.flatnonzero(np.diff(np.cumsum(length) // _AT_ONCE)) + 1
        parts = np.split(rows, bounds)
        return np.concatenate([find(spans, part, *columns, **options) for part in parts])

    return find_in_pieces


@_in_pieces
def find_dependency_heads(
    spans: TokenSpans,
    rows: IntArray,
    numbers: Categories,
    governors: Categories,
    sentences: IntArray,
    suits: BoolArray | None = None,
) -> IntArray:
    """The first token of each of some mentions that depends on none of the others; −1 for none.

    Tokens and their governors are numbered within the sentence. Empty nodes (`7.1`) are no heads.
    A span that is no subtree has several such tokens (`the Union` in `the Union forces`); of these
    the first that `suits` counts, where there is one.
    """
    tokens, place, begin = spans.tokens(rows, reach=_REACH)
    number = _as_numbers(numbers, tokens)
    governor = _as_numbers(governors, tokens)
    sentence = np.searchsorted(sentences, tokens, side="right")
    width = 1 + int(max(number.max(initial=0), governor.max(initial=0)))
    group = (place * (int(sentence.max(initial=0)) + 1) + sentence) * width
    real = number > 0
    numbered = np.sort((group + number)[real], kind="stable")
    governed = group + governor
    nearest = np.minimum(np.searchsorted(numbered, governed), max(numbered.size - 1, 0))
    inside = numbered[nearest] == governed if numbered.size else real
    top = real & (governor >= 0) & ~inside
    head = _first(tokens, begin, top)
    if suits is None:
        return head
    better = _first(tokens, begin, top & suits[tokens])
    return np.where(better >= 0, better, head)


def _as_numbers(cells: Categories, tokens: IntArray) -> IntArray:
    """Cells as numbers; −1 for what is none."""
    plain = [name.isascii() and name.isdigit() and len(name) < 10 for name in cells.names]
    table = [int(name) if ok else -1 for name, ok in zip(cells.names, plain, strict=True)]
    return integers([*table, -1])[cells.codes[tokens]]


def find_parsed_heads(
    spans: TokenSpans, rows: IntArray, parse: Categories, tags: Categories, sentences: IntArray
) -> IntArray:
    """The heads of those of some mentions that are constituents (English rules); −1 for others.

    Whether a mention is one, and which of its tokens is the head, follows from its own cells: of
    all mentions that have the same cells only one is looked at.
    """
    heads_of_rows = unset(rows.size)
    unbroken = np.flatnonzero(spans.length[rows] == spans.end[rows] - spans.start[rows])
    start, length = spans.start[rows[unbroken]], spans.length[rows[unbroken]]
    first, alike = _group_alike(start, length, parse, tags, sentences)
    tokens = spans.list_tokens(rows[unbroken[first]])
    region = number_regions(tokens, sentences)
    nodes, heads = find_constituent_heads(parse.take(tokens), tags.take(tokens), tokens, region)
    node = find_spans(nodes.start, nodes.end, (start[first], start[first] + length[first]))
    place = np.where(node >= 0, looked_up(heads, node) - start[first], -1)[alike]
    heads_of_rows[unbroken] = np.where(place >= 0, start + place, -1)
    return heads_of_rows


def _group_alike(
    start: IntArray, length: IntArray, parse: Categories, tags: Categories, sentences: IntArray
) -> ArrayPair:
    """An example of each group of mentions with equal cells, and the group of each mention.

    A short mention becomes one integer, to which each token adds some bits; a long one is a group
    of its own. Integers are sorted by 32 bits of a hash, and neighbours that are equal are a group:
    where hashes collide, equal mentions may be in two groups, but no group has unequal ones.
    """
    width = len(parse.names) + 1
    bits = (2 * width * (len(tags.names) + 1)).bit_length()
    begins = all_false(tags.codes.size)
    begins[sentences[sentences < begins.size]] = True  # the last documents may have no tokens
    code = -1 - np.arange(start.size)  # long ones are like no other
    short = np.flatnonzero(length <= _BITS // bits)
    code[short] = 0
    for step in range(int(length[short].max(initial=0))):
        short = short[length[short] > step]
        token = start[short] + step
        cells = ((tags.codes[token] + 1) * width + parse.codes[token] + 1) * 2
        code[short] = (code[short] << bits) + cells + (begins[token] if step else 0) + 1
    order = stable_order((code.view(np.uint64) * _FACTOR >> np.uint64(32)).view(np.int64))
    code = code[order]
    new = begin_runs(code)
    group = set_rows(order, np.cumsum(new) - 1, code.size)
    return order[new], group


@_in_pieces
def find_tagged_heads(
    spans: TokenSpans, rows: IntArray, tags: Categories, tagset: TagSet
) -> IntArray:
    """The heads of some mentions by their tags alone.

    The last noun before the core of the phrase ends: before the first preposition, comma, relative
    pronoun or verb that comes behind a noun. Before all nouns, a partitive is the head (`three of
    the men`). Without a noun, the first pronoun; without that, the last token that may be a head.
    """
    tokens, place, begin = spans.tokens(rows, reach=_REACH)
    tag = Categories(tags.codes[tokens], tags.names)
    noun, stop = tag.where(tagset.is_noun), tag.where(tag_matcher(tagset.stop))
    first_noun = _first(tokens, begin, noun)
    behind = tokens > np.where(first_noun < 0, _NOWHERE, first_noun)[place]
    end = _first(tokens, begin, stop & behind)
    core = tokens < np.where(end < 0, _NOWHERE, end)[place]
    head = _last(tokens, begin, noun & core)
    unseen = tokens < np.where(first_noun < 0, _NOWHERE, first_noun)[place]
    part = _first(tokens, begin, _is_partitive(tag, tagset, place) & unseen)
    head = np.where(part >= 0, part, head)
    fallbacks = (
        _first(tokens, begin, tag.where(tagset.is_pronoun)),
        _last(tokens, begin, ~tag.where(tag_matcher(tagset.skip))),
        spans.end[rows] - 1,
    )
    for fallback in fallbacks:
        head = np.where(head < 0, fallback, head)
    return head


def _is_partitive(tag: Categories, tagset: TagSet, place: IntArray) -> BoolArray:
    """Which tokens of mentions stand before a preposition and have a tag of partitives."""
    before_preposition = all_false(place.size)
    preposition = tag.where(tag_matcher(tagset.preposition))
    before_preposition[:-1] = preposition[1:] & (place[1:] == place[:-1])
    return before_preposition & tag.where(tag_matcher(tagset.partitive))


def _first(tokens: IntArray, begin: IntArray, holds: BoolArray) -> IntArray:
    """The first token of each mention for which something holds; −1 for none."""
    if not begin.size:
        return begin
    token = np.minimum.reduceat(np.where(holds, tokens, _NOWHERE), begin)
    return np.where(token == _NOWHERE, -1, token)


def _last(tokens: IntArray, begin: IntArray, holds: BoolArray) -> IntArray:
    """The last token of each mention for which something holds; −1 for none."""
    if not begin.size:
        return begin
    token: IntArray = np.maximum.reduceat(np.where(holds, tokens, -1), begin)
    return token


def find_constituent_heads(
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
    heads = unset(nodes.start.size)
    is_token = head_child >= nodes.start.size
    heads[is_token] = tokens[head_child[is_token] - nodes.start.size]
    levels = np.flatnonzero(np.diff(nodes.depth)) + 1
    for level in reversed(np.split(np.arange(nodes.start.size), levels)):
        upper = level[~is_token[level]]
        heads[upper] = heads[head_child[upper]]
    return nodes, heads


def _parents(nodes: Nodes, depth: IntArray, bracket: IntArray, last: IntArray) -> IntArray:
    """The constituent of the given depth around each of some stretches of brackets; −1 for none.

    A stretch begins with the bracket number `bracket` and ends with the bracket `last`.
    """
    if not nodes.start.size:
        return unset(depth.size)
    width = 1 + int(nodes.closing.max(initial=0)) + 1
    low = min(int(nodes.depth.min()), int(depth.min(initial=0)))
    openings = (nodes.depth - low) * width + nodes.opening
    codes = (depth - low) * width + np.minimum(bracket, width - 1)
    place = np.searchsorted(openings, codes) - 1
    inside = (place >= 0) & (nodes.depth[place] == depth) & (nodes.closing[place] > last)
    return np.where(inside, place, -1)


def _head_children(
    nodes: Nodes,
    tags: Categories,
    tokens: IntArray,
    parents: ArrayPair,
    places: Places,
) -> IntArray:
    """The head child of each constituent: a constituent, or a token, numbered after all of them."""
    symbols = {name: code for code, name in enumerate(nodes.names)}
    tag_symbol = [symbols.setdefault(tag, len(symbols)) for tag in (*tags.names, "")]
    table = RankTable.of(nodes.names, tuple(symbols))
    parent = np.concatenate(parents)
    child = np.flatnonzero(parent >= 0)
    parent = parent[child]
    symbol = np.concatenate((nodes.label, integers(tag_symbol)[tags.codes]))[child]
    place = np.concatenate((nodes.start, tokens))[child] - nodes.start[parent]
    rank, from_left = table.look_up(nodes.label[parent], symbol)
    width = int((nodes.end - nodes.start).max(initial=0)) + 1
    score = rank * width + np.where(from_left, place, width - 1 - place)
    best = np.full(nodes.start.size, np.iinfo(np.int64).max, dtype=np.int64)
    np.minimum.at(best, parent, score)
    chosen = score == best[parent]
    # A constituent always has a child: at least the token that its first bracket stands on, or
    # one that begins there.
    head_child = all_zero(nodes.start.size)
    head_child[parent[chosen]] = child[chosen]
    return head_child


Direction = Literal["left", "right"]  # from the left, from the right
Step = tuple[Direction, frozenset[str]]

PUNCTUATION = frozenset((",", ".", ":", "``", "''", '"', "-LRB-", "-RRB-", "(", ")", "NFP", "POS"))


def _steps(*steps: tuple[Direction, str]) -> tuple[Step, ...]:
    """Steps that each look for any of some labels, in a direction."""
    return tuple((direction, frozenset(labels.split())) for direction, labels in steps)


def _one_by_one(direction: Direction, labels: str) -> tuple[Step, ...]:
    """A step for each label, in their order."""
    return tuple((direction, frozenset((label,))) for label in labels.split())


# A possessive ’s is never a head here, as it is none of a mention. Pronouns come before numbers
# and adjectives ("us three", "you all"), which Collins' NPs leave to chance.
_NOUN_PHRASE = _steps(
    ("right", "NN NNP NNPS NNS NX NML JJR"),
    ("left", "NP"),
    ("left", "PRP WP EX WHNP"),
    ("right", "$ ADJP PRN"),
    ("right", "CD"),
    ("right", "JJ JJS RB QP"),
)
RULES: dict[str, tuple[Step, ...]] = {
    **dict.fromkeys(("NP", "NX", "NML"), _NOUN_PHRASE),
    "ADJP": _one_by_one(
        "left", "NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB"
    ),
    "ADVP": _one_by_one("right", "RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN"),
    "CONJP": _one_by_one("right", "CC RB IN"),
    "NAC": _one_by_one("left", "NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW"),
    "PP": _one_by_one("right", "IN TO VBG VBN RP FW"),
    "PRT": _one_by_one("right", "RP"),
    "QP": _one_by_one("left", "$ IN NNS NN JJ RB DT CD NCD QP JJR JJS"),
    "RRC": _one_by_one("right", "VP NP ADVP ADJP PP"),
    "S": _one_by_one("left", "TO IN VP S SBAR ADJP UCP NP"),
    "SBAR": _one_by_one("left", "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG"),
    "SBARQ": _one_by_one("left", "SQ S SINV SBARQ FRAG"),
    "SINV": _one_by_one("left", "VBZ VBD VBP VB MD VP S SINV ADJP NP"),
    "SQ": _one_by_one("left", "VBZ VBD VBP VB MD VP SQ"),
    "VP": _one_by_one("left", "TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP"),
    "WHADJP": _one_by_one("left", "CC WRB JJ ADJP"),
    "WHADVP": _one_by_one("right", "CC WRB"),
    "WHNP": _one_by_one("left", "NN NNS NNP NNPS NP WDT WP WP$ WHADJP WHPP WHNP"),
    "WHPP": _one_by_one("right", "IN TO FW"),
}
# Where no step finds a head: the first child from there that is no punctuation.
DEFAULT: dict[str, Direction] = {
    **dict.fromkeys(
        ("ADJP", "INTJ", "NAC", "PRN", "QP", "S", "SBAR", "SBARQ", "SINV", "SQ", "VP"), "left"
    ),
    **dict.fromkeys(("WHADJP", "WHNP", "TOP"), "left"),
}


def _strip_function(label: str) -> str:
    """A label without its function: `NP-SBJ` and `NP=2` are NPs; `-LRB-` stays as it is."""
    if label.startswith("-"):
        return label
    return label.partition("-")[0].partition("=")[0]


def find_rank(parent: str, child: str) -> tuple[int, Direction]:
    """The step of the parent's rule that finds a child, from 0, and its direction."""
    steps = RULES.get(parent, ())
    for number, (direction, labels) in enumerate(steps):
        if child in labels:
            return number, direction
    rank = len(steps) + (child in PUNCTUATION)
    return rank, DEFAULT.get(parent, "right")


@dataclass(frozen=True, eq=False)
class RankTable:
    """`find_rank` for all pairs of some labels and symbols."""

    rank: NDArray[np.int64]
    from_left: NDArray[np.bool_]

    @staticmethod
    def of(parents: Sequence[str], symbols: Sequence[str]) -> RankTable:
        """The table, in which every pair is looked up once."""
        plain = [_strip_function(symbol) for symbol in symbols]
        ranks = [
            [find_rank(_strip_function(parent), child) for child in plain] for parent in parents
        ]
        shape = (len(parents), len(symbols))
        return RankTable(
            integers([[r for r, _ in row] for row in ranks]).reshape(shape),
            np.array([[d == "left" for _, d in row] for row in ranks], np.bool_).reshape(shape),
        )

    def look_up(self, parent: IntArray, symbol: IntArray) -> tuple[IntArray, BoolArray]:
        """The rank and the direction of some pairs."""
        return self.rank[parent, symbol], self.from_left[parent, symbol]

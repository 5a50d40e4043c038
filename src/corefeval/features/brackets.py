"""Labelled brackets in token cells: `(NP(NP*`, `*`, `*))`, `(PERSON*`, `(GPE)`; and `B-PER`.

And minimum spans in parse trees: what a mention cannot do without (MINA, Moosavi et al. 2019). A
mention's tree is the smallest constituent that begins where it does and covers it, cut off at its
end, or a new noun phrase over what it covers where there is no such constituent. Words of a
constituent that nothing interrupts are one terminal; it is good if one of its words has a letter, a
digit or a per cent sign, and is no bracket, conjunction, determiner or preposition. The minimum
span of a tree are the good terminals that hang directly on its root; else those of its nominal (or
verbal) constituents, of each the nearest to its top, where below them only constituents of the same
kind are entered; else, in what is no noun or verb phrase itself, those of the nearest nominal or
verbal constituents inside; else all words. A clause is verbal. So *the old man of the sea* is *the
old man*, but *old man* is another.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from corefeval.features.lookup import Features
from corefeval.features.token_columns import WORD
from corefeval.model.arrays import (
    ArrayPair,
    BoolArray,
    IntArray,
    all_false,
    all_true,
    all_zero,
    begin_runs,
    find_runs,
    integers,
    looked_up,
    plain_rows,
    ragged_arange,
    stable_order,
    starts_of,
    unset,
)
from corefeval.model.categories import Categories
from corefeval.model.moving import OwnText

_BRACKET = re.compile(r"\(\s*([^()*|\s]+)|(\))")
_PREFIXED = re.compile(r"([BIESLU])-(.+)", re.DOTALL)
_OUTSIDE = frozenset(("", "-", "_", "*", "O"))


@dataclass(frozen=True, eq=False)
class Nodes:
    """Labelled spans of tokens that nest, by depth and then by place.

    Spans of one depth never overlap. `opening` and `closing` number the brackets of all tokens.
    """

    start: IntArray
    end: IntArray
    label: IntArray
    depth: IntArray
    opening: IntArray
    closing: IntArray
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Places:
    """Where tokens stand among the brackets: how deep, and behind how many opening ones."""

    depth: IntArray
    bracket: IntArray


def match_labels(cells: Categories, tokens: IntArray, region: IntArray) -> tuple[Nodes, Places]:
    """Match the brackets of some tokens, in ascending order; none reaches into another region.

    Each distinct cell is read once. A bracket that opens makes depth d; it belongs to the next one
    that closes depth d, so that a sort by depth brings partners together. Brackets without a
    partner are left aside.
    """
    tables = [_BRACKET.findall(name) for name in cells.names]
    labels = [[label for label, _ in brackets if label] for brackets in tables]
    closes = [sum(1 for _, close in brackets if close) for brackets in tables]
    distinct: dict[str, int] = {}
    flat = [distinct.setdefault(label, len(distinct)) for group in labels for label in group]
    n_open = integers([*map(len, labels), 0])
    n_close = integers([*closes, 0])
    begin = starts_of(n_open)
    opened, closed = n_open[cells.codes], n_close[cells.codes]
    total = opened + closed
    first = starts_of(total)
    place = ragged_arange(all_zero(total.size), total)
    owner = np.repeat(np.arange(total.size), total)
    is_open = place < opened[owner]
    after = np.cumsum(np.where(is_open, 1, -1))
    before_token = np.concatenate(([0], after))[first]
    base = _base(before_token, region)
    depth = after + ~is_open - base[owner]
    opening, closing = _pairs(depth, is_open, region[owner])
    label_place = (begin[cells.codes][owner] + place)[opening]
    nodes = Nodes(
        tokens[owner[opening]],
        tokens[owner[closing]] + 1,
        integers(flat)[label_place],
        depth[opening],
        opening,
        closing,
        tuple(distinct),
    )
    return nodes, Places(before_token + opened - base, first + opened)


def _base(before_token: IntArray, region: IntArray) -> IntArray:
    """The depth at which each token's region begins."""
    first, lengths = find_runs(region)
    return np.repeat(before_token[first], lengths)


def _pairs(depth: IntArray, is_open: BoolArray, region: IntArray) -> ArrayPair:
    """The brackets that open and those that close them, by depth and then by place."""
    narrow = np.clip(depth, -30_000, 30_000).astype(np.int16)  # sorts in linear time
    order = stable_order(narrow)
    left, right = order[:-1], order[1:]
    pair = is_open[left] & ~is_open[right] & (depth[left] == depth[right])
    pair &= region[left] == region[right]
    return left[pair], right[pair]


def are_brackets(cells: Categories) -> bool:
    """Whether the cells of a column are brackets, some of them at least."""
    return any("(" in name or ")" in name or name == "*" for name in cells.names)


def find_named_spans(cells: Categories, tokens: IntArray, region: IntArray) -> Nodes:
    """The spans in a column of named entities, in whichever way they are written.

    Brackets, prefixes (`B-PER`, `I-PER`, also E, S, L, U) or plain classes for each token.
    """
    if are_brackets(cells):
        return match_labels(cells, tokens, region)[0]
    parsed = [_PREFIXED.fullmatch(name) for name in cells.names]
    prefixed = any(parsed)
    classes: list[str | None] = []
    begins = []
    for name, match in zip(cells.names, parsed, strict=True):
        outside = name in _OUTSIDE or (prefixed and match is None)
        classes.append(None if outside else match[2] if match else name)
        begins.append(match is not None and match[1] in "BSU")
    values = Categories.of(classes)
    code = looked_up(values.codes, cells.codes)
    fresh = np.array([*begins, False], dtype=np.bool_)[cells.codes]
    new = begin_runs(code, region) | fresh
    starts = np.flatnonzero(new)
    ends = np.append(starts[1:], code.size) - 1
    real = code[starts] >= 0
    first, last = starts[real], ends[real]
    return Nodes(
        tokens[first],
        tokens[last] + 1,
        code[first],
        np.ones(first.size, dtype=np.int64),
        first,
        last,
        values.names,
    )


def number_regions(tokens: IntArray, breaks: IntArray | None = None) -> IntArray:
    """Number the runs of tokens that follow each other; `breaks` are tokens that begin a new one.

    >>> number_regions(np.array([3, 4, 7, 8, 9]), np.array([0, 9])).tolist()
    [0, 0, 1, 1, 2]
    """
    new = np.diff(tokens, prepend=tokens[:1] - 1) > 1
    if breaks is not None and tokens.size:
        # A token that follows another one begins a region where it is a break itself.
        is_break = all_false(int(tokens[-1]) + 1)
        is_break[breaks[breaks < is_break.size]] = True
        new |= is_break[tokens]
        new[0] = False
    number: IntArray = np.cumsum(new, dtype=np.int64)
    return number


LONGEST = 1000  # tokens; longer mentions, which are none but by mistake, are their own minimum

# Labels are compared by their first two letters; functions are left out (`S-ADV`, `NP-SBJ`).
_LETTERS = re.compile("[A-Za-z]*")
_NOMINAL = frozenset(("NP", "NM", "QP", "NX"))
_CLAUSES = frozenset(("TO", "RO", "S", "SB", "SI", "SQ"))  # TOP, ROOT, S, SBAR, SINV, SQ
_VERBAL = frozenset(("VP",)) | _CLAUSES
_DECISIVE = frozenset(("NP", "NM", "VP"))
_NO_CONTENT = frozenset(("CC", "DT", "IN"))
_BRACKETS = frozenset(("-LRB-", "-RRB-"))


@dataclass(slots=True)
class Node:
    """A constituent of a mention's tree: constituents and terminals (tuples of tokens) in order."""

    label: str
    end: int
    children: list[Node | tuple[int, ...]] = field(default_factory=list)


class Trees:
    """The parse trees of all sentences, from which those of mentions are cut."""

    def __init__(self, features: Features, index: int) -> None:
        columns = features.columns("match min")
        spans = columns.spans
        tokens = np.arange(spans.n_tokens)
        cells = columns.cells(index, "parse", tokens)
        starts = columns.sentence_starts()
        breaks = spans.offsets[:-1] if starts is None else np.union1d(starts, spans.offsets[:-1])
        nodes, _ = match_labels(cells, tokens, number_regions(tokens, breaks))
        order = stable_order(nodes.opening)
        self.start: list[int] = nodes.start[order].tolist()
        self.end: list[int] = nodes.end[order].tolist()
        short = [_LETTERS.match(name)[0][:2] for name in nodes.names]  # type: ignore[index]
        self.label = [short[code] for code in nodes.label[order].tolist()]
        self.opens = cells.where(lambda cell: "(" in cell)
        self.closes = cells.where(lambda cell: ")" in cell)
        self.good = _good_words(columns.column(*WORD), columns.column("tag"), tokens.size)

    def minimum(self, start: int, end: int) -> tuple[int, ...]:
        """The tokens of the minimum span of the tokens from `start` up to `end`."""
        root = self._cut(start, end)
        terminals = self._terminals(root)
        if not terminals:
            terminals = self._inside(root)
        return tuple(sorted(t for terminal in terminals for t in terminal)) or tuple(
            range(start, end)
        )

    def _cut(self, start: int, end: int) -> Node:
        """The tree of a mention."""
        low, high = bisect_left(self.start, start), bisect_left(self.start, start + 1)
        around = [at for at in range(low, high) if self.end[at] >= end]
        exact = [at for at in around if self.end[at] == end]
        top = (exact or around[-1:] or [-1])[0 if exact else -1]
        root = Node("NP" if top < 0 else self.label[top], end)
        at = low if top < 0 else top + 1
        stack = [root]
        run: list[int] = []
        for token in range(start, end):
            if run and self.opens[token]:
                run = _close_run(stack, run)
            while at < len(self.start) and self.start[at] == token:
                stack.append(Node(self.label[at], self.end[at]))
                stack[-2].children.append(stack[-1])
                at += 1
            run.append(token)
            if self.closes[token]:
                run = _close_run(stack, run)
                while len(stack) > 1 and stack[-1].end <= token + 1:
                    stack.pop()
        _close_run(stack, run)
        return root

    def _terminals(self, node: Node) -> list[tuple[int, ...]]:
        """The good terminals that hang directly on a constituent."""
        return [
            child
            for child in node.children
            if isinstance(child, tuple) and any(self.good[token] for token in child)
        ]

    def _inside(self, root: Node) -> list[tuple[int, ...]]:
        """The good terminals nearest to the root, in constituents of its kind if it has any."""
        children = _constituents([root])
        kind = _kind_of(root.label, (child.label for child in children))
        chosen = [child for child in children if child.label in kind]
        if chosen:
            return [terminal for child in chosen for terminal in self._nearest([child], kind)]
        if root.label in _DECISIVE:  # it has nothing of its own kind
            return []
        level = children
        while level and not any(node.label in _DECISIVE for node in level):
            level = _constituents(level)
        first = next((node.label for node in level if node.label in _DECISIVE), "NP")
        kind = _VERBAL if first == "VP" else _NOMINAL
        return self._nearest([node for node in level if node.label in kind], kind)

    def _nearest(self, level: list[Node], kind: frozenset[str]) -> list[tuple[int, ...]]:
        """The good terminals at the smallest depth below some constituents of one kind."""
        while level:
            terminals = [terminal for node in level for terminal in self._terminals(node)]
            if terminals:
                return terminals
            level = [node for node in _constituents(level) if node.label in kind]
        return []


def _kind_of(root: str, children: Iterable[str]) -> frozenset[str]:
    """The labels of constituents that may hold what a mention is about."""
    if root in _VERBAL:
        return _VERBAL
    labels = set(children)
    only_verbal = "VP" in labels and not labels & {"NP", "NM"}
    return _VERBAL if only_verbal and root not in ("NP", "NM") else _NOMINAL


def _constituents(nodes: Sequence[Node]) -> list[Node]:
    return [child for node in nodes for child in node.children if isinstance(child, Node)]


def _close_run(stack: list[Node], run: list[int]) -> list[int]:
    """Add the words that were read to the constituent that is open; returns an empty run."""
    if run:
        stack[-1].children.append(tuple(run))
    return []


def _good_words(words: Categories | None, tags: Categories | None, number: int) -> list[bool]:
    """Which tokens make a terminal good."""
    good = all_true(number)
    if words is not None:
        good &= words.where(
            lambda word: word not in _BRACKETS and any(c.isalnum() or c == "%" for c in word)
        )
    if tags is not None:
        good &= ~tags.where(lambda tag: tag in _NO_CONTENT)
    flags: list[bool] = good.tolist()
    return flags


def minimum_spans(
    sides: Sequence[Features], rows: Sequence[IntArray], own_texts: Sequence[OwnText | None]
) -> list[IntArray] | None:
    """Numbers of some mentions of each corpus, equal where minimum spans are; −1 for others.

    The trees are those of the first text that has any; None where no text has. Spans in
    `own_texts` are compared by their pieces.
    """
    numbers: dict[tuple[int, ...], int] = {}
    numbers_of_sides = []
    for side, rows_of_side, own_text in zip(sides, rows, own_texts, strict=True):
        place = side.columns("match min").find(("parse",))
        if place is None:
            return None
        trees = Trees(side, place[0])
        numbers_of_sides.append(_number(side, trees, rows_of_side, numbers, own_text))
    return numbers_of_sides


def _number(
    features: Features,
    trees: Trees,
    rows: IntArray,
    numbers: dict[tuple[int, ...], int],
    own_text: OwnText | None,
) -> IntArray:
    """A number for the minimum span of each mention in `rows`; −1 for one without any."""
    spans = features.columns("match min").spans
    codes = unset(spans.start.size)
    minima: dict[tuple[int, int], tuple[int, ...]] = {}
    gaps = features.corpus.gaps_of
    columns = spans.start, spans.end, spans.document, spans.offsets[spans.document]
    table = plain_rows(rows, *(column[rows] for column in columns))
    for row, start, end, document, base in table:
        if end - start > LONGEST:
            continue
        if (start, end) not in minima:
            minima[start, end] = trees.minimum(start, end)
        tokens = minima[start, end]
        if row in gaps:
            inside = [t for t in tokens if not any(a <= t - base < b for a, b in gaps[row])]
            tokens = tuple(inside) or (start,)
        places = [token - base for token in tokens]
        if own_text is not None:
            places = own_text.list_pieces(np.array(document), np.array(places))[1].tolist()
        if places:
            codes[row] = numbers.setdefault((document, *places), len(numbers))
    return codes

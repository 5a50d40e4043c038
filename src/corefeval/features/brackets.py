"""Labelled brackets in token cells: `(NP(NP*`, `*`, `*))`, `(PERSON*`, `(GPE)`; and `B-PER`."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from corefeval.model.arrays import BoolArray, IntArray, ragged_arange
from corefeval.model.categories import Categories

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
    n_open = np.array([*map(len, labels), 0], dtype=np.int64)
    n_close = np.array([*closes, 0], dtype=np.int64)
    begin = np.cumsum(n_open) - n_open
    opened, closed = n_open[cells.codes], n_close[cells.codes]
    total = opened + closed
    first = np.cumsum(total) - total
    place = ragged_arange(np.zeros(total.size, dtype=np.int64), total)
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
        np.array(flat, dtype=np.int64)[label_place],
        depth[opening],
        opening,
        closing,
        tuple(distinct),
    )
    return nodes, Places(before_token + opened - base, first + opened)


def _base(before_token: IntArray, region: IntArray) -> IntArray:
    """The depth at which each token's region begins."""
    if not region.size:
        return before_token
    starts = np.flatnonzero(np.diff(region, prepend=region[0] - 1))
    return np.repeat(before_token[starts], np.diff(np.append(starts, region.size)))


def _pairs(depth: IntArray, is_open: BoolArray, region: IntArray) -> tuple[IntArray, IntArray]:
    """The brackets that open and those that close them, by depth and then by place."""
    narrow = np.clip(depth, -30_000, 30_000).astype(np.int16)  # sorts in linear time
    order = np.argsort(narrow, kind="stable")
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
    code = np.append(values.codes, -1)[cells.codes]
    fresh = np.array([*begins, False], dtype=np.bool_)[cells.codes]
    new: BoolArray = np.ones(code.size, dtype=np.bool_)
    new[1:] = (code[1:] != code[:-1]) | fresh[1:] | (region[1:] != region[:-1])
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
        is_break = np.zeros(int(tokens[-1]) + 1, dtype=np.bool_)
        is_break[breaks[breaks < is_break.size]] = True
        new |= is_break[tokens]
        new[0] = False
    number: IntArray = np.cumsum(new, dtype=np.int64)
    return number

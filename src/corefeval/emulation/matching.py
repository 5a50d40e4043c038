"""Which mentions corefud-scorer 1.2 takes for the same: zeros, then identities, then the rest.

Zeros and the rest are matched by the heaviest assignment over the whole document at once, solved by
scipy on a dense matrix whose rows and columns are sorted mentions. Where there are several heaviest
assignments, which one comes out depends on all other rows and columns, also on those that match
nothing. No other rule describes it, so that the matrix has to be made; but not where each connected
part of it has a single heaviest assignment, which then is the one.

Mentions that the sort does not tell apart stand as they come out of Python sets. So these are made
in the program's own steps: copies and differences of sets may have another order than the sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from scipy.optimize import linear_sum_assignment

from corefeval.diagnostics import InputError
from corefeval.emulation.mentions import Entities, Mention
from corefeval.emulation.sentences import Place

Pair = tuple[Mention, Mention]
Edge = tuple[int, int, float]  # a row, a column, and what they weigh together: more than 0

SMALL = 1 << 14  # a matrix of so many cells is made without asking whether it has to be
_SMALL_PART = 1 << 8  # of a part of more edges nobody asks whether its optimum is the only one
MOST_EDGES = 2_000_000
MOST_CELLS = 400_000_000  # 3.2 GB, twice
_ROUNDING = 1e-9


def match_mentions(key: Entities, response: Entities, match: str, zeros: str) -> list[Pair]:
    """The pairs of a document, one-to-one; a mention that is in several entities stands once.

    `match` is exact, partial or head; `zeros` is place or align.
    """
    key_set = {mention for entity in key for mention in entity}
    response_set = {mention for entity in response for mention in entity}
    key_left, response_left = key_set.copy(), response_set.copy()
    zero_pairs: list[Pair] = []
    if zeros == "align":
        key_zeros = {mention for mention in key_set if mention.is_zero}
        response_zeros = {mention for mention in response_set if mention.is_zero}
        if key_zeros and response_zeros:
            zero_pairs = _assign(key_zeros, response_zeros, "zeros")
            key_left = key_left - {one for one, _ in zero_pairs}
            response_left = response_left - {one for _, one in zero_pairs}
    same_key = {mention: mention for mention in key_left if mention in response_left}
    same_response = {mention: mention for mention in response_left if mention in key_left}
    same = [(mention, same_response[mention]) for mention in same_key]
    key_left = key_left - set(same_key)
    response_left = response_left - set(same_response)
    if match == "exact" or not key_left or not response_left:
        return same + zero_pairs
    # Anew, one by one: a difference may be a copy with holes, in another order.
    key_left, response_left = set(iter(key_left)), set(iter(response_left))
    return same + _assign(key_left, response_left, match) + zero_pairs


def _assign(key: set[Mention], response: set[Mention], match: str) -> list[Pair]:
    """The heaviest assignment, that of the program among equals."""
    rows = sorted(key, key=lambda mention: mention.order)
    columns = sorted(response, key=lambda mention: mention.order)
    edges = list(islice(_EDGES[match](rows, columns), MOST_EDGES + 1))
    if len(edges) > MOST_EDGES:
        raise _too_many(rows[0].file, f"more than {MOST_EDGES:,} pairs of mentions could match")
    cells = _unique_optimum(edges) if len(rows) * len(columns) > SMALL else None
    if cells is None:
        cells = _solve(edges, len(rows), len(columns))
    return [(rows[row], columns[column]) for row, column in cells]


def _solve(edges: Sequence[Edge], n_rows: int, n_columns: int) -> list[tuple[int, int]]:
    """The cells of a heaviest assignment on the dense matrix, those that weigh anything."""
    if n_rows * n_columns > MOST_CELLS:
        raise _too_many("", f"{n_rows:,} and {n_columns:,} mentions are left to match")
    matrix = np.zeros((n_rows, n_columns))
    for row, column, weight in edges:
        matrix[row, column] = weight
    chosen = zip(*(one.tolist() for one in linear_sum_assignment(-matrix)), strict=True)
    return [(row, column) for row, column in chosen if matrix[row, column] > 0]


def _too_many(file: str, found: str) -> InputError:
    return InputError(
        "the document is too large for the way in which corefud-scorer matches mentions",
        file=file or None,
        found=found,
        fix="cut it into several documents, or score without the emulation",
    )


def _unique_optimum(edges: Sequence[Edge]) -> list[tuple[int, int]] | None:
    """The cells of the heaviest assignment; None where there may be another as heavy."""
    chosen: list[tuple[int, int]] = []
    for part in _find_parts(edges):
        if len(part) > _SMALL_PART:
            return None
        cells = _solve_alone(part)
        best = _total(part, cells)
        for cell in cells if len(part) > 1 else ():
            others = [edge for edge in part if edge[:2] != cell]
            if best - _total(others, _solve_alone(others)) < _ROUNDING:
                return None
        chosen += cells
    return sorted(chosen)


def _solve_alone(edges: Sequence[Edge]) -> list[tuple[int, int]]:
    """The cells of a heaviest assignment of these edges, without rows and columns between."""
    if len({row for row, _, _ in edges}) == 1 or len({column for _, column, _ in edges}) == 1:
        row, column, _ = max(edges, key=lambda edge: edge[2])
        return [(row, column)]
    rows, columns = sorted({row for row, _, _ in edges}), sorted({edge[1] for edge in edges})
    row_of, column_of = ({old: new for new, old in enumerate(side)} for side in (rows, columns))
    small = [(row_of[row], column_of[column], weight) for row, column, weight in edges]
    return [(rows[row], columns[column]) for row, column in _solve(small, len(rows), len(columns))]


def _total(edges: Sequence[Edge], cells: Sequence[tuple[int, int]]) -> float:
    weights = {edge[:2]: edge[2] for edge in edges}
    return sum(weights[cell] for cell in cells)


def _find_parts(edges: Sequence[Edge]) -> Iterator[list[Edge]]:
    """The edges of each connected part."""
    at: dict[tuple[int, int], list[Edge]] = {}  # by (0, row) and (1, column)
    for edge in edges:
        for side in (0, 1):
            at.setdefault((side, int(edge[side])), []).append(edge)
    seen: set[tuple[int, int]] = set()
    for start in at:
        if start in seen:
            continue
        part: dict[tuple[int, int], Edge] = {}
        waiting = [start]
        seen.add(start)
        while waiting:
            for edge in at[waiting.pop()]:
                part[edge[:2]] = edge
                for end in ((0, edge[0]), (1, edge[1])):
                    if end not in seen:
                        seen.add(end)
                        waiting.append(end)
        yield list(part.values())


def _head_edges(key: Sequence[Mention], response: Sequence[Mention]) -> Iterator[Edge]:
    """Equal heads: what the response has of the key's places."""
    by_head: dict[Place, list[int]] = {}
    for column, mention in enumerate(response):
        by_head.setdefault(mention.head, []).append(column)
    for row, mention in enumerate(key):
        for column in by_head.get(mention.head, ()):
            common = len(mention.span & response[column].span)
            if common:
                yield row, column, common * 1.0 / len(mention.span)


def _partial_edges(key: Sequence[Mention], response: Sequence[Mention]) -> Iterator[Edge]:
    """A response that lies in the key and has the key's head: its share of the key."""
    heads = {mention.head for mention in key}
    with_head: dict[Place, list[int]] = {}
    for column, mention in enumerate(response):
        for place in heads & mention.span:
            with_head.setdefault(place, []).append(column)
    for row, mention in enumerate(key):
        for column in with_head.get(mention.head, ()):
            inside = response[column].span
            if inside <= mention.span:
                yield row, column, len(inside) * 1.0 / len(mention.span)


def _zero_edges(key: Sequence[Mention], response: Sequence[Mention]) -> Iterator[Edge]:
    """Zeros of one sentence by the dependencies of their heads, whatever else they span."""
    by_sentence: dict[int, list[int]] = {}
    for column, mention in enumerate(response):
        by_sentence.setdefault(mention.head[0], []).append(column)
    for row, mention in enumerate(key):
        for column in by_sentence.get(mention.head[0], ()):
            weight = _zero_weight(mention, response[column])
            if weight:
                yield row, column, weight


def _zero_weight(key: Mention, response: Mention) -> float:
    """10 · F of parents with relations + F of parents alone."""
    for mention in (key, response):
        if not mention.dependencies:
            raise InputError(
                "corefud-scorer divides by 0 where a zero without DEPS meets another one",
                file=mention.file,
                line=mention.line,
                expected="enhanced dependencies of the empty node, such as 3:nsubj",
                fix="add them, or match zeros by place (--zeros place, the program's -z linear)",
            )
    parents = [frozenset(place for place, _ in one.dependencies) for one in (key, response)]
    return 10 * _f_score(key.dependencies, response.dependencies) + _f_score(*parents)


def _f_score(some: frozenset[object], others: frozenset[object]) -> float:
    common = len(some & others)
    precision, recall = common / len(some), common / len(others)
    return 2 * precision * recall / (precision + recall) if common else 0.0


_EDGES = {"zeros": _zero_edges, "head": _head_edges, "partial": _partial_edges}

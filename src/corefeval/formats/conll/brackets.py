"""Opening and closing brackets joined into mentions."""

from __future__ import annotations

import numpy as np

from corefeval.model.arrays import BoolArray, IntArray


def match_brackets(
    entity: IntArray, opens: BoolArray, closes: BoolArray
) -> tuple[IntArray, IntArray]:
    """For each bracket that opens, the index of the one that closes it; also the unmatched ones.

    Brackets of one entity nest: what was opened last closes first. A bracket that opens and closes
    (`(5)`) matches itself. The first array has −1 where a bracket does not open or is unmatched.
    """
    closing = np.where(opens & closes, np.arange(entity.size), -1)
    halves = np.flatnonzero(opens != closes)
    if not halves.size:
        return closing, halves
    order = _by_entity(entity[halves])
    halves = halves[order]
    group = entity[halves]
    plain = _plain_groups(group, opens[halves])
    simple = halves[plain]
    closing[simple[0::2]] = simple[1::2]
    nested = halves[~plain]
    unmatched = _match_nested(closing, nested, entity, opens) if nested.size else nested
    return closing, unmatched


def _by_entity(entity: IntArray) -> IntArray:
    """A stable order by entity: the index rides in the low bits, so that a plain sort will do."""
    bits = int(entity.size).bit_length()
    if int(entity.max()).bit_length() + bits > 62:
        return np.argsort(entity, kind="stable")
    packed = np.sort((entity << bits) | np.arange(entity.size))
    return packed & ((1 << bits) - 1)


def _plain_groups(group: IntArray, opens: BoolArray) -> BoolArray:
    """Where a bracket's entity opens and closes in turns, without nesting or mistakes."""
    first = np.flatnonzero(np.concatenate(([True], group[1:] != group[:-1])))
    size = np.diff(np.append(first, group.size))
    place = np.arange(group.size) - np.repeat(first, size)
    in_turn = opens == (place % 2 == 0)
    good = np.logical_and.reduceat(in_turn, first) & (size % 2 == 0)
    return np.repeat(good, size)


def _match_nested(
    closing: IntArray, rows: IntArray, entity: IntArray, opens: BoolArray
) -> IntArray:
    """Match the few entities that nest in themselves, one bracket at a time."""
    unmatched: list[int] = []
    stack: list[int] = []
    current = -1
    members = zip(rows.tolist(), entity[rows].tolist(), opens[rows].tolist(), strict=True)
    for row, group, is_open in members:
        if group != current:
            unmatched += stack
            stack, current = [], group
        if is_open:
            stack.append(row)
        elif stack:
            closing[stack.pop()] = row
        else:
            unmatched.append(row)
    return np.array(unmatched + stack, dtype=np.int64)

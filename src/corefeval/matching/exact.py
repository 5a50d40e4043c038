"""Exact matching: the same token positions, or the same label."""

from __future__ import annotations

import numpy as np

from corefeval.matching.resolution import Matches, Mentions
from corefeval.model.arrays import IntArray, is_sorted


def match_exactly(key: Mentions, response: Mentions) -> Matches:
    """The mentions whose codes are the same."""
    if key.codes.size == response.codes.size and np.array_equal(key.codes, response.codes):
        return Matches()
    return Matches(*common_rows(key.codes, response.codes))


def common_rows(key: IntArray, response: IntArray) -> tuple[IntArray, IntArray]:
    """The rows of the codes that both sides have.

    Codes are unique within a side. Both sides are mostly in textual order, so that a merge of the
    two sorted runs finds the pairs without a search.

    >>> common_rows(np.array([1, 4, 6]), np.array([4, 5, 6]))
    (array([1, 2]), array([0, 2]))
    """
    key_order = None if is_sorted(key) else np.argsort(key, kind="stable")
    response_order = None if is_sorted(response) else np.argsort(response, kind="stable")
    left = key if key_order is None else key[key_order]
    right = response if response_order is None else response[response_order]
    # The lowest bit tells the sides apart. numpy's stable sort finds the two runs and merges them.
    merged = np.concatenate((left << 1, (right << 1) | 1))
    merged.sort(kind="stable")
    found = np.flatnonzero(merged[1:] ^ merged[:-1] == 1)
    from_response = np.cumsum(merged & 1)[found]
    key_rows, response_rows = found - from_response, from_response
    if key_order is not None:
        key_rows = key_order[key_rows]
    if response_order is not None:
        response_rows = response_order[response_rows]
    return key_rows, response_rows

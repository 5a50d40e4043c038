"""What to do with twinless mentions, those that only one side has (Cai and Strube 2010).

A policy makes of one alignment two, one for recall and one for precision, and the ordinary metric
runs on them. Key mentions are never dropped; response mentions may be, and twinless mentions of
either side may be put into the other one as singletons.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from corefeval.alignment import Alignment, Side
from corefeval.model.arrays import IntArray
from corefeval.model.categories import Categories

Twinless = Literal["none", "0", "all", "rn", "sys"]
Dropped = Literal["nothing", "singletons", "everything"]


def under(policy: Twinless, alignment: Alignment, *, ceaf: bool = False) -> tuple[Alignment, ...]:
    """The alignments for recall and for precision under a policy; one and the same where it can."""
    if policy == "none":
        return alignment, alignment
    if policy == "0":
        both = _edited(alignment, "everything")
        return both, both
    if policy == "sys":
        return (
            _edited(alignment, "everything", key_mentions=True),
            _edited(alignment, "singletons", key_mentions=True, response_mentions=True),
        )
    dropped: Dropped = "singletons" if policy == "rn" else "nothing"
    if policy == "rn" and ceaf:
        both = _edited(alignment, dropped)
        return both, both
    return (
        _edited(alignment, dropped, key_mentions=True),
        _edited(alignment, dropped, response_mentions=True),
    )


def _edited(
    alignment: Alignment,
    dropped: Dropped,
    *,
    key_mentions: bool = False,
    response_mentions: bool = False,
) -> Alignment:
    """Drop twinless response mentions, then put twinless mentions into the other side.

    Several metrics ask for the same, so each edition is made once.
    """
    name = ("twinless", dropped, key_mentions, response_mentions)
    return alignment.remember(
        name, lambda: _edition(alignment, dropped, key_mentions, response_mentions)
    )


def _edition(
    alignment: Alignment, dropped: Dropped, key_mentions: bool, response_mentions: bool
) -> Alignment:
    key, response = alignment.key, alignment.response
    key_twinless = np.flatnonzero(alignment.partner < 0)
    response_twinless = alignment.swapped.partner < 0
    drop = response_twinless & (dropped == "everything")
    if dropped == "singletons":
        drop |= response_twinless & (response.sizes[response.mention_entity] == 1)
    response_twinless &= ~drop
    kept = np.flatnonzero(~drop)
    to_response = key_twinless if key_mentions else key_twinless[:0]
    to_key = np.flatnonzero(response_twinless) if response_mentions else kept[:0]

    new_row = np.full(drop.size, -1, dtype=np.int64)
    new_row[kept] = np.arange(kept.size)
    twins = np.flatnonzero(alignment.partner >= 0)
    n_key = key.mention_entity.size
    return Alignment(
        alignment.n_documents,
        _with_singletons(key, np.arange(n_key), response, to_key),
        _with_singletons(response, kept, key, to_response),
        np.concatenate((twins, to_response, n_key + np.arange(to_key.size))),
        np.concatenate(
            (
                new_row[alignment.partner[twins]],
                kept.size + np.arange(to_response.size),
                new_row[to_key],
            )
        ),
    )


def _with_singletons(side: Side, kept: IntArray, other: Side, added: IntArray) -> Side:
    """Some of a side's mentions, and after them mentions of the other side, each alone."""
    n_entities = side.entity_document.size
    added_document = other.entity_document[other.mention_entity[added]]

    def feature(name: str) -> Categories:
        mine, theirs = side.feature(name), other.feature(name)
        return Categories.concatenate(mine.take(kept), theirs.take(added))

    return Side(
        np.concatenate((side.entity_document, added_document)),
        np.concatenate((side.mention_entity[kept], n_entities + np.arange(added.size))),
        feature,
    )

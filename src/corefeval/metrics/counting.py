"""What the metrics share: the shape of counts, precision from recall, and twinless mentions.

Twinless mentions are those that only one side has (Cai and Strube 2010). A policy makes of one
alignment two, one for recall and one for precision, and the ordinary metric runs on them. Key
mentions are never dropped; response mentions may be, and twinless mentions of either side may be
put into the other one as singletons.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from corefeval.alignment import Alignment, Side, count_link_ends
from corefeval.model.arrays import FloatArray, IntArray
from corefeval.model.categories import Categories

Counts = dict[str, FloatArray]
Ratio = tuple[FloatArray, FloatArray]
RatioOf = Callable[[Alignment], Ratio]


def both_directions(
    recall: RatioOf, alignment: Alignment, for_precision: Alignment | None = None
) -> Counts:
    """Counts of a metric whose precision is its recall with the sides exchanged.

    Precision may be counted on another alignment than recall.
    """
    return ratio_counts(recall(alignment), recall((for_precision or alignment).swapped))


def ratio_counts(recall: Ratio, precision: Ratio) -> Counts:
    """The counts of a metric whose recall and precision are fractions."""
    return {
        "recall_numerator": recall[0],
        "recall_denominator": recall[1],
        "precision_numerator": precision[0],
        "precision_denominator": precision[1],
    }


def count_links(size: NDArray[Any]) -> FloatArray:
    """The number of pairs among `size` mentions."""
    return count_link_ends(size, size, size)


Twinless = Literal["none", "0", "all", "rn", "sys"]
Dropped = Literal["nothing", "singletons", "everything"]


def apply_policy(
    policy: Twinless, alignment: Alignment, *, ceaf: bool = False
) -> tuple[Alignment, Alignment]:
    """The alignments on which a policy counts recall and precision; one twice where it can."""
    if policy == "none":
        return alignment, alignment
    if policy == "0":
        edition = _edit(alignment, "everything")
        return edition, edition
    if policy == "sys":
        return (
            _edit(alignment, "everything", key_mentions=True),
            _edit(alignment, "singletons", key_mentions=True, response_mentions=True),
        )
    dropped: Dropped = "singletons" if policy == "rn" else "nothing"
    if policy == "rn" and ceaf:
        edition = _edit(alignment, dropped)
        return edition, edition
    return (
        _edit(alignment, dropped, key_mentions=True),
        _edit(alignment, dropped, response_mentions=True),
    )


def _edit(
    alignment: Alignment,
    dropped: Dropped,
    *,
    key_mentions: bool = False,
    response_mentions: bool = False,
) -> Alignment:
    """An alignment without twinless response mentions, or with twinless mentions as singletons.

    It is made once for all metrics. `key_mentions` puts those of the key into the response,
    `response_mentions` those of the response, unless they are dropped, into the key.
    """
    name = ("twinless", dropped, key_mentions, response_mentions)
    return alignment.remember(
        name, lambda: _make_edition(alignment, dropped, key_mentions, response_mentions)
    )


def _make_edition(
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


def _with_singletons(side: Side, kept: IntArray, origin: Side, added: IntArray) -> Side:
    """A side with its mentions `kept`, then the mentions `added` of `origin`, each alone."""
    n_entities = side.entity_document.size
    added_document = origin.entity_document[origin.mention_entity[added]]

    def feature(name: str) -> Categories:
        kept_values, added_values = side.feature(name), origin.feature(name)
        return Categories.concatenate(kept_values.take(kept), added_values.take(added))

    return Side(
        np.concatenate((side.entity_document, added_document)),
        np.concatenate((side.mention_entity[kept], n_entities + np.arange(added.size))),
        feature,
    )

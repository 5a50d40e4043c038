"""Linguistically aware metrics (Chen and Ng 2013): a link weighs by its most informative end.

Every weight is that of a heaviest spanning tree, and needs no tree. Links fall into three classes:
those with a name, those with a nominal but no name, those between pronouns. All links of a class
weigh the same, so Kruskal's algorithm takes the classes from the heaviest to the lightest, and from
each as many links as it adds to the rank: to the number of vertices less the number of connected
components. That rank is known from counts alone:

- one name is linked to everything, so with links of the first class all vertices are connected;
- one nominal is linked to everything but names, so with the second class all vertices that have a
  nominal or a pronoun are connected;
- with the third class all vertices that have a pronoun are connected;
- a class without its most informative end has no links.

This holds for any weights, in whatever order, and also where a vertex is a set of mentions that are
joined already, as the parts of a response entity are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from corefeval.alignment import Alignment, Side
from corefeval.diagnostics import UndefinedMetricError
from corefeval.metrics.coreference import (
    Counts,
    Ratio,
    Twinless,
    Weights,
    choose_alignments,
    count_ceaf,
    ratio_counts,
)
from corefeval.model.arrays import FloatArray, IntArray, all_zero

KINDS = ("name", "nominal", "pronoun")


@dataclass(frozen=True, slots=True)
class LinkWeights:
    """What a link weighs by its most informative end, and what a singleton weighs."""

    name: float = 1.0
    nominal: float = 0.75
    pronoun: float = 0.5
    singleton: float = 1.0


def lmuc(alignment: Alignment, *, twinless: Twinless = "none", **weights: float) -> Counts:
    """LMUC: the weight of common links over the weight of a side's links."""
    return _count(_by_link, choose_alignments(alignment, "lmuc", twinless), weights)


def lb3(alignment: Alignment, *, twinless: Twinless = "none", **weights: float) -> Counts:
    """LB³: for each mention the weight of what is with it over the weight of its entity."""
    return _count(_by_mention, choose_alignments(alignment, "lb3", twinless), weights)


def lceafm(alignment: Alignment, *, twinless: Twinless = "none", **weights: float) -> Counts:
    """LCEAFm: the weight of common links of the best one-to-one alignment."""
    weigh = partial(weigh_links, weights=LinkWeights(**weights))
    return count_ceaf(weigh, *choose_alignments(alignment, "lceafm", twinless))


def lceafe(alignment: Alignment, *, twinless: Twinless = "none", **weights: float) -> Counts:
    """LCEAFe: the best alignment by twice the common weight over the weights of both entities."""

    def weigh(edition: Alignment) -> Weights:
        overlap = edition.overlap
        common, of_key, of_response = weigh_links(edition, LinkWeights(**weights))
        dice = 2.0 * common / (of_key[overlap.key] + of_response[overlap.response])
        return dice, edition.key.sizes > 0, edition.response.sizes > 0

    return count_ceaf(weigh, *choose_alignments(alignment, "lceafe", twinless))


def _count(
    recall_of: Callable[[Alignment, FloatArray, FloatArray], Ratio],
    alignments: tuple[Alignment, Alignment],
    weights: dict[str, float],
) -> Counts:
    """Counts by recall from the weights of cells and of the key's entities."""
    for_recall, for_precision = alignments
    common, of_key, _ = weigh_links(for_recall, LinkWeights(**weights))
    common_in_precision, _, of_response = weigh_links(for_precision, LinkWeights(**weights))
    return ratio_counts(
        recall_of(for_recall, common, of_key),
        recall_of(for_precision.swapped, common_in_precision, of_response),
    )


def _by_link(alignment: Alignment, common: FloatArray, of_entity: FloatArray) -> Ratio:
    group = alignment.key.entity_group
    return (
        alignment.sums(group[alignment.overlap.key], common),
        alignment.sums(group, of_entity),
    )


def _by_mention(alignment: Alignment, common: FloatArray, of_entity: FloatArray) -> Ratio:
    share, in_key = alignment.shares, alignment.key.shares
    together = common / of_entity[alignment.overlap.key]
    return (
        alignment.sums(share.group, share.count * together[share.whole]),
        alignment.sums(in_key.group, in_key.count),
    )


def weigh_links(alignment: Alignment, weights: LinkWeights) -> Weights:
    """The weight of the links in each cell, key entity and response entity; made once."""

    def make() -> Weights:
        overlap, key, response = alignment.overlap, alignment.key, alignment.response
        key_kinds, response_kinds = _kinds(key), _kinds(response)
        in_cell = _tally(alignment.cell, key_kinds[alignment.matched[0]], overlap.count.size)
        common = _tree(in_cell.sum(axis=1), in_cell, weights)
        alone = (key.sizes[overlap.key] == 1) & (response.sizes[overlap.response] == 1)
        in_key = _tally(key.mention_entity, key_kinds, key.sizes.size)
        of_key = _tree(key.sizes, in_key, weights)
        inside = np.bincount(overlap.response, common, minlength=response.sizes.size)
        of_response = inside + _joining_links(alignment, in_cell, response_kinds, weights)
        return (
            np.where(alone, weights.singleton, common),
            np.where(key.sizes == 1, weights.singleton, of_key),
            np.where(response.sizes == 1, weights.singleton, of_response),
        )

    return alignment.remember(("link weights", weights), make)


def _joining_links(
    alignment: Alignment, in_cell: IntArray, response_kinds: IntArray, weights: LinkWeights
) -> FloatArray:
    """For each response entity the heaviest links that join its parts into one tree.

    Its parts are its shares of key entities, and each of its twinless mentions.
    """
    overlap, response = alignment.overlap, alignment.response
    n_entities = response.sizes.size
    twinless = alignment.swapped.partner < 0
    alone = np.zeros((int(twinless.sum()), len(KINDS)), dtype=np.int64)
    alone[np.arange(alone.shape[0]), response_kinds[twinless]] = 1
    part_of = np.concatenate((overlap.response, response.mention_entity[twinless]))
    has = np.concatenate((in_cell, alone)) > 0
    having = np.stack(
        [np.bincount(part_of[has[:, kind]], minlength=n_entities) for kind in range(len(KINDS))],
        axis=1,
    )
    no_name_needed = np.bincount(part_of[has[:, 1] | has[:, 2]], minlength=n_entities)
    parts = np.bincount(part_of, minlength=n_entities)
    return _tree(parts, having, weights, no_name_needed)


def _tree(
    vertices: IntArray, having: IntArray, weights: LinkWeights, beyond_names: IntArray | None = None
) -> FloatArray:
    """The weight of heaviest spanning trees; see the head of this module.

    `having` is the number of vertices that have a name, a nominal, a pronoun; `beyond_names` of
    those that have a nominal or a pronoun, which is the sum where a vertex is one mention.
    """
    if beyond_names is None:
        beyond_names = having[:, 1] + having[:, 2]
    connected = vertices, beyond_names, having[:, 2]
    ranks = [
        np.where(having[:, kind] > 0, np.maximum(reached - 1, 0), 0)
        for kind, reached in enumerate(connected)
    ]
    heaviest_first = sorted(range(len(KINDS)), key=lambda kind: -getattr(weights, KINDS[kind]))
    total = np.zeros(vertices.size)
    rank = all_zero(vertices.size)
    for kind in heaviest_first:
        # What a more informative class connects includes what a less informative one does.
        reached_rank = np.maximum(rank, ranks[kind])
        total += getattr(weights, KINDS[kind]) * (reached_rank - rank)
        rank = reached_rank
    return total


def _tally(owner: IntArray, kinds: IntArray, n_owners: int) -> IntArray:
    """How many mentions of each kind each cell or entity has."""
    counts = np.bincount(owner * len(KINDS) + kinds, minlength=n_owners * len(KINDS))
    return counts.reshape(n_owners, len(KINDS))


def _kinds(side: Side) -> IntArray:
    """The kind of each mention as a number."""
    kinds = side.feature("kind")
    if not set(kinds.names) <= set(KINDS) or bool((kinds.codes < 0).any()):
        raise UndefinedMetricError(
            "the kind of every mention must be one of "
            + ", ".join(KINDS)
            + f"; there are {', '.join(kinds.names)}"
        )
    return kinds.recoded(KINDS).codes

"""Bridging as pairs of mentions, whatever a source speaks of."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from corefeval.model.arrays import BoolArray, IntArray
from corefeval.model.categories import Categories
from corefeval.model.corpus import Corpus
from corefeval.model.relations import BRIDGING


@dataclass(frozen=True, eq=False)
class BridgingPairs:
    """Pairs of an anaphor and one of its antecedents, by their rows in a corpus.

    `entity` is the antecedent's, `label` the relation (none for many), `source` the number of the
    relation that says it, and `stated` whether the source names the antecedent's mention.
    """

    anaphor: IntArray
    antecedent: IntArray
    entity: IntArray
    label: Categories
    source: IntArray
    stated: BoolArray


def bridging_pairs(corpus: Corpus) -> BridgingPairs:
    """The bridging of a corpus, pair by pair, in the order of its relations.

    Of an antecedent that is an entity as a whole, it is the last mention that starts before the
    anaphor, or the first one where none does; of an anaphor that is one, it is the first mention.
    What has no mention is left out.
    """
    relations, sizes = corpus.relations, corpus.entity_sizes
    source = np.repeat(np.arange(len(relations)), np.diff(relations.offsets))
    chosen = relations.kind.where(BRIDGING.__eq__)[source]
    chosen &= sizes[relations.entity[source]] > 0
    chosen &= sizes[relations.antecedent_entity] > 0
    source, entity = source[chosen], relations.antecedent_entity[chosen]
    anaphor, stated = relations.mention[source], relations.antecedent_mention[chosen]
    if (anaphor < 0).any():
        order, first = _chains(corpus)
        anaphor = np.where(anaphor >= 0, anaphor, order[first[relations.entity[source]]])
    label = relations.label.take(source)
    pairs = BridgingPairs(anaphor, stated, entity, label, source, stated >= 0)
    if (stated >= 0).all():
        return pairs
    guess = guess_antecedents(corpus, pairs)
    return replace(pairs, antecedent=np.where(stated >= 0, stated, guess))


def guess_antecedents(corpus: Corpus, pairs: BridgingPairs) -> IntArray:
    """Of each antecedent entity the last mention that starts before the anaphor, else the first."""
    order, first = _chains(corpus)
    start = corpus.mention_start
    place = np.arange(corpus.n_mentions) if start is None else start
    width = int(place.max(initial=0)) + 1
    codes = corpus.mention_entity[order] * width + place[order]
    before = np.searchsorted(codes, pairs.entity * width + place[pairs.anaphor]) - 1
    return order[np.maximum(before, first[pairs.entity])]


def find_anchors(corpus: Corpus) -> dict[int, list[tuple[int, int, bool]]]:
    """For each bridging relation, by number: anaphor, antecedent and whether that is stated.

    Anaphors and antecedents are rows of the corpus.
    """
    pairs = bridging_pairs(corpus)
    anchors: dict[int, list[tuple[int, int, bool]]] = {}
    columns = (pairs.source, pairs.anaphor, pairs.antecedent, pairs.stated)
    for source, *pair in zip(*(column.tolist() for column in columns), strict=True):
        anchors.setdefault(source, []).append((pair[0], pair[1], pair[2]))
    return anchors


def _chains(corpus: Corpus) -> tuple[IntArray, IntArray]:
    """The mentions, entity by entity, and the place at which each entity's mentions begin."""
    order = np.argsort(corpus.mention_entity, kind="stable")
    return order, np.cumsum(corpus.entity_sizes) - corpus.entity_sizes

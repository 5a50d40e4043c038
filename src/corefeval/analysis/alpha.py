"""Krippendorff's α over chains, from additive counts per document, with Passonneau's distances.

A distance is a similarity from 0 to 1 here: a function of the number of mentions that two chains
share and of their sizes, as arrays. It is only asked about chains that share something: chains
that do not are at distance 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, combinations
from typing import Any, Literal, get_args

import numpy as np

from corefeval.diagnostics import UsageError
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, FloatArray, IntArray, all_zero, dense_ranks, set_rows
from corefeval.protocol import Unmarked

Distance = Literal["passonneau", "jaccard", "masi", "dice"]
Similarity = Callable[[IntArray, IntArray, IntArray], FloatArray]


def monotonicity(shared: IntArray, first_size: IntArray, second_size: IntArray) -> FloatArray:
    """1 for the same chain, 2/3 where one chain contains the other, 1/3 where they overlap.

    One less this is the distance of Passonneau (2004): 0, 1/3, 2/3, and 1 for disjoint chains.

    >>> monotonicity(np.array([2, 2, 1]), np.array([2, 2, 2]), np.array([2, 4, 3])).round(2)
    array([1.  , 0.67, 0.33])
    """
    is_equal = shared == np.maximum(first_size, second_size)
    is_contained = shared == np.minimum(first_size, second_size)
    return np.select([is_equal, is_contained], [1.0, 2 / 3], 1 / 3)


def jaccard(shared: IntArray, first_size: IntArray, second_size: IntArray) -> FloatArray:
    """The shared mentions among all mentions of the two chains."""
    ratio: FloatArray = shared / (first_size + second_size - shared)
    return ratio


def masi(shared: IntArray, first_size: IntArray, second_size: IntArray) -> FloatArray:
    """Jaccard times monotonicity (Passonneau 2006).

    >>> masi(np.array([2]), np.array([2]), np.array([4])).round(4)
    array([0.3333])
    """
    return jaccard(shared, first_size, second_size) * monotonicity(shared, first_size, second_size)


def dice(shared: IntArray, first_size: IntArray, second_size: IntArray) -> FloatArray:
    """The shared mentions among the mean size of the two chains."""
    ratio: FloatArray = 2 * shared / (first_size + second_size)
    return ratio


SIMILARITIES: dict[str, Similarity] = {
    "passonneau": monotonicity,
    "jaccard": jaccard,
    "masi": masi,
    "dice": dice,
}


def parse_distances(distances: str | Iterable[str]) -> tuple[str, ...]:
    """The distances that a text or list asks for, each one once.

    >>> parse_distances("MASI, dice"), len(parse_distances("all"))
    (('masi', 'dice'), 4)
    """
    items: Iterable[Any] = distances.split(",") if isinstance(distances, str) else distances
    available_names = get_args(Distance)
    names: list[str] = []
    for item in items:
        name = str(item).strip().lower()
        if name not in (*available_names, "all"):
            raise UsageError(
                f"there is no distance {item!r}: there are {', '.join(available_names)}, all"
            )
        names += available_names if name == "all" else (name,)
    if not names:
        raise UsageError(f"no distance was asked for: there are {', '.join(available_names)}, all")
    return tuple(dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's α = 1 − observed / expected, both mean distances between chains.

    1 is agreement, 0 what chance would give, below 0 is worse than chance. Where nothing
    disagrees α is 1, also if there is only one chain to choose (nothing is expected to disagree
    then); without two values to compare it is not a number.
    """

    alpha: float
    observed: float
    expected: float

    def as_dict(self) -> dict[str, float | None]:
        """The three numbers, for JSON: what is not a number is None."""
        values = {"alpha": self.alpha, "observed": self.observed, "expected": self.expected}
        return {name: None if np.isnan(value) else value for name, value in values.items()}


@dataclass(frozen=True, eq=False)
class AlphaCounts:
    """What α follows from, a number per document each; the counts of documents add up.

    `values` counts the chains that annotators gave to mentions of two or more annotators,
    `disagreement` sums the distances between the chains of a mention, each divided by the number
    of chains that a chain is compared with; `likeness` sums 1 − distance over all ordered pairs of
    values.
    Chains of different documents share nothing, so that pairs across documents add no likeness.
    """

    values: FloatArray
    disagreement: FloatArray
    likeness: FloatArray

    @property
    def total(self) -> Alpha:
        """α over the mentions of all documents together."""
        return measure_alpha(*(float(part.sum()) for part in self._parts))

    def document(self, index: int) -> Alpha:
        """α of one document alone."""
        return measure_alpha(*(float(part[index]) for part in self._parts))

    @property
    def _parts(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self.values, self.disagreement, self.likeness


def measure_alpha(values: float, disagreement: float, likeness: float) -> Alpha:
    """α from the numbers that `AlphaCounts` has, summed over documents."""
    if values < 2:
        return Alpha(np.nan, np.nan, np.nan)
    observed = disagreement / values
    expected = (values * values - likeness) / (values * (values - 1))
    return Alpha(1 - observed / expected if observed else 1.0, observed, expected)


@dataclass(frozen=True, eq=False)
class Coding:
    """The mentions of all annotators: the code of each, its annotator, entity and document.

    A unit is a mention that anybody marked; it has the same code for all. Entities are numbered
    through all annotators.
    """

    code: IntArray
    annotator: IntArray
    entity: IntArray
    document: IntArray
    n_annotators: int
    n_documents: int
    unmarked: Unmarked

    @cached_property
    def unit(self) -> IntArray:
        """The unit of each mention."""
        return dense_ranks(self.code)[0]

    @cached_property
    def unit_document(self) -> IntArray:
        """The document of each unit."""
        return set_rows(self.unit, self.document, int(self.unit.max(initial=-1)) + 1)

    @cached_property
    def chain(self) -> IntArray:
        """The chain that each annotator (rows) gives to each unit, −1 for none."""
        chain = np.full((self.n_annotators, self.unit_document.size), -1, dtype=np.int64)
        chain[self.annotator, self.unit] = self.entity
        if self.unmarked == "singleton":
            empty = chain < 0
            chain[empty] = int(self.entity.max(initial=-1)) + 1 + np.arange(int(empty.sum()))
        return chain

    @cached_property
    def has_value(self) -> BoolArray:
        """Where there is a value."""
        return self.chain >= 0

    @cached_property
    def units(self) -> IntArray:
        """How many units each document has."""
        return np.bincount(self.unit_document, minlength=self.n_documents)

    @cached_property
    def sizes(self) -> IntArray:
        """How many mentions each chain has."""
        return np.bincount(self.chain[self.has_value])

    @cached_property
    def weights(self) -> FloatArray:
        """1 / (values − 1) for each unit, and 0 where there is no second value to compare."""
        comparisons = self.has_value.sum(axis=0) - 1.0
        weights: FloatArray = np.divide(
            1.0, comparisons, out=np.zeros_like(comparisons), where=comparisons > 0
        )
        return weights

    @cached_property
    def pairable(self) -> IntArray:
        """How often each chain is a value that can be compared with another annotator's."""
        used = self.has_value & (self.weights > 0)
        return np.bincount(self.chain[used], minlength=self.sizes.size)

    @staticmethod
    def of(corpora: Sequence[Corpus], codes: Sequence[IntArray], unmarked: Unmarked) -> Coding:
        """The coding of corpora that number their documents alike.

        `codes` are equal where mentions are the same, across all corpora, and each is there once
        in a corpus.
        """
        entities = list(accumulate((c.n_entities for c in corpora), initial=0))
        sides = zip(corpora, entities, strict=False)
        return Coding(
            np.concatenate(codes),
            np.repeat(np.arange(len(corpora)), [corpus.n_mentions for corpus in corpora]),
            np.concatenate([corpus.mention_entity + shift for corpus, shift in sides]),
            np.concatenate([corpus.mention_document for corpus in corpora]),
            len(corpora),
            len(corpora[0].documents),
            unmarked,
        )


def count_alpha(coding: Coding, distances: Iterable[str]) -> dict[str, AlphaCounts]:
    """Count what α needs for each distance.

    The chains of one annotator are disjoint, and most chains of two annotators are, too. So only
    pairs of chains that share a mention are looked at: the cells of the contingency table of two
    annotators, found by one sort. Everything else is at distance 1.
    """
    values = coding.pairable
    # A chain without mentions is no value: its document does not matter.
    document = all_zero(values.size)
    document[coding.chain[coding.has_value]] = np.broadcast_to(
        coding.unit_document, coding.chain.shape
    )[coding.has_value]

    def by_document(place: IntArray, numbers: IntArray | FloatArray) -> FloatArray:
        sums = np.bincount(place, weights=numbers, minlength=coding.n_documents)
        return sums.astype(np.float64, copy=False)

    names = tuple(distances)
    n_values = by_document(document, values)
    disagreement = {name: np.zeros(coding.n_documents) for name in names}
    likeness = {name: by_document(document, values * values) for name in names}
    for first_annotator, second_annotator in combinations(range(len(coding.chain)), 2):
        first, second, shared, weight = _cells(coding, first_annotator, second_annotator)
        for name in names:
            alike = SIMILARITIES[name](shared, coding.sizes[first], coding.sizes[second])
            disagreement[name] += by_document(document[first], 2 * weight * (1 - alike))
            likeness[name] += by_document(
                document[first], 2.0 * values[first] * values[second] * alike
            )
    return {name: AlphaCounts(n_values, disagreement[name], likeness[name]) for name in names}


def _cells(
    coding: Coding, first_annotator: int, second_annotator: int
) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Pairs of chains that share mentions: first chain, second chain, how many, their weight."""
    common_units = np.flatnonzero(
        coding.has_value[first_annotator] & coding.has_value[second_annotator]
    )
    width = coding.sizes.size
    pairs = (
        coding.chain[first_annotator, common_units] * width
        + coding.chain[second_annotator, common_units]
    )
    cell, distinct = dense_ranks(pairs)
    first, second = np.divmod(distinct, max(width, 1))
    shared = np.bincount(cell, minlength=distinct.size)
    weight = np.bincount(cell, weights=coding.weights[common_units], minlength=distinct.size)
    return first, second, shared, weight.astype(np.float64, copy=False)

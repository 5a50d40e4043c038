"""The alignment: what every metric counts on."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import UndefinedMetricError
from corefeval.matching import Matches
from corefeval.model import Corpus
from corefeval.model.arrays import (
    ArrayPair,
    BoolArray,
    FloatArray,
    IntArray,
    all_zero,
    dense_ranks,
    find_previous,
    find_runs,
    is_sorted,
    looked_up,
    set_rows,
    stable_order,
    unset,
)
from corefeval.model.categories import Categories

if TYPE_CHECKING:
    from corefeval.full_sides import FullSides

T = TypeVar("T")

FeatureLookup = Callable[[str], Categories]
Index = IntArray | slice

_EVERYTHING = slice(None)
# Cached properties that stay the same when mentions are divided into groups.
_UNDIVIDED = "overlap", "partner", "cell", "matched", "shared_chains"


def refuse_feature(feature: str) -> Categories:
    """Raise the error for a feature of a side whose mentions are not known, only its entities."""
    raise UndefinedMetricError(f"{feature} of the mentions is not known here")


def count_link_ends(count: NDArray[Any], total: NDArray[Any], squares: NDArray[Any]) -> FloatArray:
    """Half of the ends that links of a whole (a cell, entity or document) have in a group of it.

    So groups share the links of the whole: a link within the group counts 1, one to a mention
    outside of it ½. A link weighs the product of the weights of its ends. `count` is the weight of
    the mentions of the group, `total` that of all mentions of the whole, and `squares` the sum of
    the squared weights of the group: its number of mentions where each weighs 1.
    """
    ends: FloatArray = (count * total - squares) / 2
    return ends


@dataclass(frozen=True, eq=False)
class Shares:
    """How many mentions of each whole (a cell or an entity) belong to each group.

    Row s is about whole `whole[s]` and group `group[s]`. `count` is the weight of these mentions,
    and `squares` the sum of their squared weights: both are their number where each weighs 1.
    """

    whole: Index
    group: IntArray
    count: NDArray[Any]
    squares: NDArray[Any]

    def link_ends(self, totals: NDArray[Any]) -> FloatArray:
        """What each row has of the links of its whole; `totals` is the weight of each whole."""
        return count_link_ends(self.count, totals[self.whole], self.squares)


@dataclass(frozen=True, eq=False)
class Side:
    """One side's entities and mentions; the mentions of an entity stand in textual order.

    An entity without mentions (all of them dropped) counts as no entity. `feature` says what the
    mentions are (`side.feature("kind")`), and `corpus` has their tokens, for metrics that count
    these. Counts are summed by document, or by `mention_group` where the mentions of a document are
    divided further.
    """

    entity_document: IntArray
    mention_entity: IntArray
    feature: FeatureLookup = refuse_feature
    mention_group: IntArray | None = None
    corpus: Corpus | None = None

    @cached_property
    def sizes(self) -> IntArray:
        """The number of mentions of each entity."""
        return np.bincount(self.mention_entity, minlength=self.entity_document.size)

    @cached_property
    def group(self) -> IntArray:
        """The group of each mention: its document, or a part of it."""
        if self.mention_group is not None:
            return self.mention_group
        return self.entity_document[self.mention_entity]

    @cached_property
    def entity_group(self) -> IntArray:
        """The group of each entity, where all mentions of an entity are in one."""
        if self.mention_group is None:
            return self.entity_document
        group = all_zero(self.entity_document.size)
        group[self.mention_entity] = self.mention_group
        return group

    def split_by_origin(self) -> Side:
        """The side with its entities split by the document that a mention came from."""
        corpus = self.corpus
        if corpus is None or corpus.mention_origin is None:
            return self
        width = int(corpus.mention_origin.max(initial=0)) + 1
        entity, distinct = dense_ranks(self.mention_entity * width + corpus.mention_origin)
        return replace(
            self, entity_document=self.entity_document[distinct // width], mention_entity=entity
        )

    @cached_property
    def shares(self) -> Shares:
        """How many mentions of each entity are in each group."""
        if self.mention_group is None:
            return Shares(_EVERYTHING, self.entity_document, self.sizes, self.sizes)
        return _count_shares(self.mention_entity, self.mention_group)

    @cached_property
    def chain(self) -> IntArray:
        """The mentions, entity by entity, each entity's in textual order."""
        return stable_order(self.mention_entity)

    @cached_property
    def previous(self) -> IntArray:
        """The mention before each one in its entity; −1 for first mentions."""
        return find_previous(self.mention_entity)


@dataclass(frozen=True, eq=False)
class Overlap:
    """The cells of the contingency table that are not empty.

    Cell c says that key entity `key[c]` and response entity `response[c]` share mentions of the
    weight `count[c]`; `squares[c]` is the sum of their squared weights. Both are the number of
    these mentions unless some weigh more or less than 1.
    """

    key: IntArray
    response: IntArray
    count: NDArray[Any]
    squares: NDArray[Any]

    @staticmethod
    def of(
        key: IntArray, response: IntArray, weight: NDArray[Any], squares: NDArray[Any]
    ) -> Overlap:
        """The cells of these entries; entries of the same two entities are added up."""
        width = int(response.max(initial=0)) + 1
        cell, codes = dense_ranks(key * width + response)
        count, squares = (
            np.bincount(cell, values, minlength=codes.size) for values in (weight, squares)
        )
        return Overlap(*np.divmod(codes, width), count, squares)


@dataclass(frozen=True, eq=False)
class Alignment:
    """Key and response side by side: their entities, and which mentions are the same.

    Mention `key_rows[m]` of the key is mention `response_rows[m]` of the response; where both are
    None, the sides have the same mentions in the same rows. Counts are summed by document, or by
    each of `n_values` groups of its mentions. `scores_sets` says that sets of antecedents count.
    `prepared_sides` are both sides in full as preparation made them: None where neither relations
    nor layers are known.
    """

    n_documents: int
    key: Side
    response: Side
    key_rows: IntArray | None
    response_rows: IntArray | None
    n_values: int = 1
    derived: dict[object, Any] = field(default_factory=dict, repr=False)
    scores_sets: bool = False
    prepared_sides: FullSides | None = None

    @staticmethod
    def of_cells(
        n_documents: int,
        documents: ArrayPair,
        sizes: ArrayPair,
        overlap: Overlap,
    ) -> Alignment:
        """An alignment of cells alone, and of the documents and sizes of both sides' entities.

        Metrics that need no more than these count on it.
        """
        nothing = unset(0)
        sides = [Side(document, nothing) for document in documents]
        for side, size in zip(sides, sizes, strict=True):
            vars(side)["sizes"] = size
        alignment = Alignment(n_documents, sides[0], sides[1], nothing, nothing)
        vars(alignment)["overlap"] = overlap
        return alignment

    @property
    def n_groups(self) -> int:
        """The number of groups by which counts are summed."""
        return self.n_documents * self.n_values

    @property
    def _original(self) -> Alignment | None:
        """The alignment whose sides were exchanged to make this one, as long as it exists."""
        maker = vars(self).get("_maker")
        return None if maker is None else maker()

    @property
    def swapped(self) -> Alignment:
        """This alignment with the sides exchanged: recall of it is precision."""
        mirror = self._original or vars(self).get("_mirror")
        if mirror is not None:
            return mirror
        mirror = replace(
            self,
            key=self.response,
            response=self.key,
            key_rows=self.response_rows,
            response_rows=self.key_rows,
            derived={},
            prepared_sides=None if self.prepared_sides is None else self.prepared_sides.swapped,
        )
        # Fill in the cached property, so that one table serves both directions.
        cells = self.overlap
        vars(mirror)["overlap"] = Overlap(cells.response, cells.key, cells.count, cells.squares)
        vars(mirror)["_maker"] = weakref.ref(self)  # a cycle would keep both corpora in memory
        vars(self)["_mirror"] = mirror
        return mirror

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_maker"}

    def split_by_origin(self) -> Alignment:
        """An alignment in which entities do not span the documents that were joined."""
        key, response = self.key.split_by_origin(), self.response.split_by_origin()
        return replace(self, key=key, response=response, derived={})

    @property
    def is_divided(self) -> bool:
        """Whether counts are summed by parts of documents."""
        return self.key.mention_group is not None

    @cached_property
    def full_sides(self) -> FullSides:
        """Both sides with the mentions that take no part in coreference; see `FullSides`."""
        if self.prepared_sides is not None:
            return self.prepared_sides
        from corefeval.full_sides import FullSide, FullSides  # rarely needed

        sides = []
        for side in (self.key, self.response):
            if side.corpus is None:
                raise UndefinedMetricError("the corpora of the mentions are not known here")
            rows = np.arange(side.mention_entity.size)
            document = side.entity_document[side.mention_entity]
            sides.append(FullSide(side.corpus, rows, rows, side.mention_entity, document))
        return FullSides(sides[0], sides[1], Matches(self.key_rows, self.response_rows))

    @cached_property
    def overlap(self) -> Overlap:
        """The sparse table of shared mentions, one sort over the whole corpus."""
        codes = np.sort(self._cell_codes())
        first, count = find_runs(codes)
        key_entity, response_entity = np.divmod(codes[first], self._width)
        return Overlap(key_entity, response_entity, count, count)

    @cached_property
    def matched(self) -> tuple[Index, Index]:
        """The rows of the mentions that both sides have, for each side."""
        if self.key_rows is None or self.response_rows is None:
            return _EVERYTHING, _EVERYTHING
        return self.key_rows, self.response_rows

    @cached_property
    def partner(self) -> IntArray:
        """The response's row for each mention of the key; −1 for one that it lacks."""
        if self.key_rows is None or self.response_rows is None:
            return np.arange(self.key.mention_entity.size)
        return set_rows(self.key_rows, self.response_rows, self.key.mention_entity.size)

    @cached_property
    def cell(self) -> IntArray:
        """The cell of each matched mention, in the order of `matched`."""
        original = self._original
        if original is not None:
            return original.cell  # they are in the same order
        return self._find_cells(self._cell_codes())[0]

    @cached_property
    def shared_chains(self) -> ArrayPair:
        """The key's matched mentions, cell by cell in textual order, and the cell of each."""
        cell = set_rows(self.matched[0], self.cell, self.key.mention_entity.size)
        rows = np.flatnonzero(cell >= 0)
        order = stable_order(cell[rows])
        return rows[order], cell[rows[order]]

    @cached_property
    def shares(self) -> Shares:
        """How many mentions of each cell are in each of the key's groups."""
        if self.key.mention_group is None:
            group = self.key.entity_document[self.overlap.key]
            return Shares(_EVERYTHING, group, self.overlap.count, self.overlap.squares)
        return _count_shares(self.cell, self.key.mention_group[self.matched[0]])

    def shared(self, key: IntArray, response: IntArray) -> IntArray:
        """How many mentions each of some pairs of entities shares."""
        cell, exists = self._find_cells(key * self._width + response)
        return np.where(exists, np.append(self.overlap.count, 0)[cell], 0)

    def sums(self, group: IntArray, values: NDArray[Any] | None = None) -> FloatArray:
        """Sum values by group; without values, how many are in each."""
        sums = np.bincount(group, weights=values, minlength=self.n_groups)
        return sums.astype(np.float64, copy=False)

    def in_document(self, sums: FloatArray) -> FloatArray:
        """For each group, the sum over all groups of its document."""
        if self.n_values == 1:
            return sums
        return np.repeat(sums.reshape(self.n_documents, -1).sum(axis=1), self.n_values)

    def divided(
        self,
        key: IntArray,
        response: IntArray,
        number: int,
        prepared_sides: FullSides | None = None,
    ) -> Alignment:
        """An alignment in which each document's mentions are divided by values below `number`.

        Value v of document d is group d · number + v. `prepared_sides` have the values of all
        mentions, also of those that take no part in coreference.
        """
        prepared_sides = prepared_sides or self.prepared_sides
        sides = [
            replace(side, mention_group=side.entity_document[side.mention_entity] * number + value)
            for side, value in ((self.key, key), (self.response, response))
        ]
        for old, new in zip((self.key, self.response), sides, strict=True):
            _copy_cached(old, new, ("sizes", "chain", "previous"))
        key_side, response_side = sides
        divided = replace(
            self,
            n_values=number,
            key=key_side,
            response=response_side,
            derived={},
            prepared_sides=prepared_sides,
        )
        _copy_cached(self, divided, _UNDIVIDED)
        if "_mirror" in vars(self):
            _copy_cached(self.swapped, divided.swapped, _UNDIVIDED)
        return divided

    def remember(self, name: object, make: Callable[[], T]) -> T:
        """What `make` returns, made once and kept under a name for all metrics."""
        if name not in self.derived:
            self.derived[name] = make()
        value: T = self.derived[name]
        return value

    @property
    def _width(self) -> int:
        """A number above those of response entities: cell (k, r) has the code k · width + r."""
        return max(self.response.entity_document.size, 1)

    def _find_cells(self, codes: IntArray) -> tuple[IntArray, BoolArray]:
        """The cell of each code, and whether there is a cell of that code."""
        cell_codes = self.overlap.key * self._width + self.overlap.response
        # The cells of a swapped table are not in order.
        order = None if is_sorted(cell_codes) else stable_order(cell_codes)
        last = max(cell_codes.size - 1, 0)
        cell = np.minimum(np.searchsorted(cell_codes, codes, sorter=order), last)
        cell = cell if order is None else order[cell]
        exists: BoolArray = looked_up(cell_codes, cell) == codes
        return cell, exists

    def _cell_codes(self) -> IntArray:
        """The code of the cell of each matched mention."""
        key, response = self.key.mention_entity, self.response.mention_entity
        if self.key_rows is not None and self.response_rows is not None:
            key, response = key[self.key_rows], response[self.response_rows]
        codes: IntArray = key * self._width
        codes += response
        return codes


def _count_shares(owner: IntArray, group: IntArray) -> Shares:
    """The shares of mentions, given by the whole (`owner`) and the group of each mention."""
    width = int(group.max(initial=0)) + 1
    codes, count = np.unique(owner * width + group, return_counts=True)
    wholes, groups = np.divmod(codes, width)
    return Shares(wholes, groups, count, count)


def _copy_cached(old: object, new: object, names: tuple[str, ...]) -> None:
    """Copy the cached properties of these names, as far as they were worked out."""
    vars(new).update({name: vars(old)[name] for name in names if name in vars(old)})

"""Both sides in full, with the mentions that take no part in coreference, for sets and bridging.

Coreference leaves out mentions that refer to nothing, and singletons where these are dropped. Such
mentions may still be elements of sets, anaphors and antecedents. Everything here is worked out when
it is first asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from corefeval.checks import split_call
from corefeval.diagnostics import Notice
from corefeval.display import PlainState
from corefeval.matching import Matches, Mentions, matcher
from corefeval.model import Corpus
from corefeval.model.arrays import ArrayPair, IntArray, all_true, set_rows
from corefeval.model.relations import EntitySets, bridging_pairs, find_sets


@dataclass(frozen=True, eq=False)
class FullSide(PlainState):
    """One side with all mentions of its layer, and which of them are scored.

    Mention `rows[s]` of `corpus` is the scored mention s, and belongs to the entity
    `scored_entity[s]`; where sets count, entities with the same set are one. `codes` and `document`
    have a number for each mention of `corpus`: its code (see `mention_codes`), and its document, or
    its segment where a document was cut. Where documents are divided by a feature, `value` is the
    number of each mention's value.
    """

    corpus: Corpus
    codes: IntArray
    rows: IntArray
    scored_entity: IntArray
    document: IntArray
    value: IntArray | None = None

    @cached_property
    def entity(self) -> IntArray:
        """The scored entity of each mention; −1 for one that is no part of coreference."""
        return set_rows(self.rows, self.scored_entity, self.corpus.n_mentions)

    @property
    def set_entities(self) -> IntArray:
        """The scored entity of each set."""
        return self.scored_entity[np.searchsorted(self.rows, self.sets.first)]

    @property
    def sets(self) -> EntitySets:
        """The sets of antecedents."""
        return find_sets(self.corpus)


@dataclass(frozen=True, eq=False)
class FullSides(PlainState):
    """Both sides in full, and which of their mentions are the same.

    `scored` are the matches of coreference, by the rows of what is scored. `match`, `tagset` and
    `own_tokens` say how mentions that are not scored are matched; a `mirror` has these matches.
    """

    key: FullSide
    response: FullSide
    scored: Matches
    match: str = "exact"
    tagset: object = None
    own_tokens: bool = True
    mirror: FullSides | None = None

    @cached_property
    def matches(self) -> ArrayPair:
        """The rows of both corpora that are the same mention, key rows and response rows.

        Scored mentions keep their matches. Of the others, mentions that refer to nothing are
        matched with each other first, then all that are left on either side.
        """
        if self.mirror is not None:
            return self.mirror.matches[1], self.mirror.matches[0]
        key_rows, response_rows = self.scored.rows(self.key.rows.size)
        pairs = [(self.key.rows[key_rows], self.response.rows[response_rows])]
        sides = self.key, self.response
        if all(side.rows.size == side.corpus.n_mentions for side in sides):
            return pairs[0]
        free = [all_true(side.corpus.n_mentions) for side in sides]
        free[1] &= self.response.codes >= 0  # mentions that were lost match nothing
        refers_not = [s.corpus.non_referring[s.corpus.mention_entity] for s in sides]
        for candidates in (refers_not, [np.ones_like(is_free) for is_free in free]):
            for taken, rows in zip(free, pairs[-1], strict=True):
                taken[rows] = False
            left = [
                _distinct(np.flatnonzero(is_free & is_candidate), side.codes)
                for is_free, is_candidate, side in zip(free, candidates, sides, strict=True)
            ]
            nothing = left[0][:0], left[1][:0]
            pairs.append(self._match(left) if left[0].size and left[1].size else nothing)
        return np.concatenate([p[0] for p in pairs]), np.concatenate([p[1] for p in pairs])

    @cached_property
    def partner(self) -> IntArray:
        """The response's row for each mention of the key; −1 for one that it lacks."""
        return set_rows(self.matches[0], self.matches[1], self.key.corpus.n_mentions)

    def with_sides(
        self, key: FullSide, response: FullSide, scored: Matches | None = None
    ) -> FullSides:
        """A copy with other sides of the same mentions, which keep their matches."""
        scored = self.scored if scored is None else scored
        copy = FullSides(key, response, scored, self.match, self.tagset, self.own_tokens)
        vars(copy)["matches"] = self.matches
        return copy

    @cached_property
    def swapped(self) -> FullSides:
        """Both sides exchanged."""
        return self.mirror or FullSides(self.response, self.key, self.scored, mirror=self)

    def notices(self, metrics: Collection[str]) -> Iterator[Notice]:
        """Notices on odd relations, of the kinds that the named metrics count."""
        for side in self:
            name = side.corpus.name or "corpus"
            if "split" in metrics:
                yield from side.sets.notices(name)
            if "bridging" in metrics:
                pairs = bridging_pairs(side.corpus)
                is_own_entity = side.corpus.mention_entity[pairs.anaphor] == pairs.entity
                text = f"{name}: {{n}} of bridging within one entity, scored like any other"
                if is_own_entity.any():
                    yield Notice("self-bridging", text, int(is_own_entity.sum()), noun="pair")

    def _match(self, rows: list[IntArray]) -> ArrayPair:
        """The matches among some rows of either side."""
        key, response = (
            Mentions(side.corpus.take_mentions(side_rows), side.codes[side_rows])
            for side, side_rows in zip((self.key, self.response), rows, strict=True)
        )
        match = self.match
        if match != "exact":
            from corefeval.features.declarations import MissingFeatureError
            from corefeval.matching.evidence import gather

            try:
                name = split_call(match)[0]
                evidence = gather(key, response, name, self.tagset, own_tokens=self.own_tokens)
                key, response = evidence.key, evidence.response
            except MissingFeatureError:  # which these mentions lack, though others have it
                match = "exact"
        key_rows, response_rows = matcher(match)(key, response).rows(rows[0].size)
        return rows[0][key_rows], rows[1][response_rows]

    def __iter__(self) -> Iterator[FullSide]:
        return iter((self.key, self.response))


def _distinct(rows: IntArray, codes: IntArray) -> IntArray:
    """The first row of each code; rows whose mentions were lost have none and are left out."""
    rows = rows[codes[rows] >= 0] if rows.size else rows
    return rows[np.sort(np.unique(codes[rows], return_index=True)[1])]

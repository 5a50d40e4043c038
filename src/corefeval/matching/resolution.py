"""From candidate pairs with weights to one-to-one matches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corefeval.assignment import heaviest_matching
from corefeval.model import Corpus
from corefeval.model.arrays import FloatArray, IntArray, ragged_arange


class Mentions(NamedTuple):
    """One side as matchers see it: a corpus, and a code for each of its mentions.

    Codes are equal where mentions of the two sides have the same tokens (or labels), and different
    for the mentions of a side. Some matchers need further fields: `heads` are the positions of
    heads in their documents (−1 where not known), `cores` the tokens that a mention must keep, and
    `minima` numbers that are equal where minimum spans are (−1 where not known).
    """

    corpus: Corpus
    codes: IntArray
    heads: IntArray | None = None
    cores: TokenSets | None = None
    minima: IntArray | None = None


class TokenSets(NamedTuple):
    """Some tokens of each mention: `counts` of them, and their positions, mention by mention."""

    counts: IntArray
    tokens: IntArray

    def of(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """The tokens of some mentions, and the place in `rows` that each belongs to."""
        counts = self.counts[rows]
        first = (np.cumsum(self.counts) - self.counts)[rows]
        place = np.repeat(np.arange(rows.size), counts)
        return self.tokens[ragged_arange(first, counts)], place


class Candidates(NamedTuple):
    """Pairs that may be matched: a key row, a response row and a weight above 0 for each."""

    key: IntArray
    response: IntArray
    weight: FloatArray


@dataclass(frozen=True, eq=False)
class Matches:
    """Which mentions are the same: `key[m]` of the key is `response[m]` of the response.

    Rows are one-to-one. Both are None where the sides have the same mentions in the same rows,
    and `weight` is None where every match weighs 1.
    """

    key: IntArray | None = None
    response: IntArray | None = None
    weight: FloatArray | None = None

    def rows(self, number: int) -> tuple[IntArray, IntArray]:
        """Both sides' rows, of `number` mentions where the sides are the same."""
        if self.key is None or self.response is None:
            every = np.arange(number)
            return every, every
        return self.key, self.response

    def partners_of_response(self, number: int) -> IntArray:
        """The key's row for each of `number` response mentions; −1 for one that the key lacks."""
        if self.key is None or self.response is None:
            return np.arange(number)
        partner = np.full(number, -1, dtype=np.int64)
        partner[self.response] = self.key
        return partner


def resolve(candidates: Candidates, key: Mentions, response: Mentions) -> Matches:
    """The heaviest one-to-one matches among candidates.

    Of several that are equally heavy, those whose pairs, in order, come first; a pair is compared
    by the earlier start of its two mentions, the later start, the earlier end and the later end.
    The result does not depend on which side is the key.
    """
    chosen = heaviest_matching(
        candidates.key,
        candidates.response,
        candidates.weight,
        order=_order(candidates, key, response),
    )
    chosen = chosen[np.argsort(candidates.key[chosen], kind="stable")]
    return Matches(candidates.key[chosen], candidates.response[chosen], candidates.weight[chosen])


def _order(candidates: Candidates, key: Mentions, response: Mentions) -> IntArray:
    """The rank of each pair."""
    sides = [
        (side.corpus.mention_start, side.corpus.mention_end, side.codes, rows)
        for side, rows in ((key, candidates.key), (response, candidates.response))
    ]
    columns = [key.corpus.mention_document[candidates.key]]
    for which in range(3):
        values = [side[which] for side in sides]
        if values[0] is not None and values[1] is not None:
            key_values, response_values = values[0][sides[0][3]], values[1][sides[1][3]]
            columns += [
                np.minimum(key_values, response_values),
                np.maximum(key_values, response_values),
            ]
    rank = np.empty(candidates.key.size, dtype=np.int64)
    rank[np.lexsort(columns[::-1])] = np.arange(rank.size)
    return rank

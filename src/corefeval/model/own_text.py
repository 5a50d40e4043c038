"""Where the mentions of a corpus stand in its own text, while they are compared on another axis."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from corefeval.model.arrays import BoolArray, IntArray, ragged_arange
from corefeval.model.categories import LazyArray
from corefeval.model.token_tables import merge_tokens, select_tokens
from corefeval.model.tokens import Tokens


@dataclass(frozen=True, eq=False)
class OwnText:
    """The tokens of one side, and the positions of its mentions there, row by row.

    In documents whose tokens differ (`is_aligned`), `tokens` have those of the key first and those
    of the response behind them; each side lacks the other's, so that no position means two things.
    Token t has `piece_counts[t]` pieces on the common axis, none if it is unaligned. Pieces are
    listed token by token: `piece_places` are their positions on the axis, `piece_units` those of
    the first piece of their units.
    """

    tokens: Tokens
    start: IntArray
    end: IntArray
    gaps: IntArray
    head: IntArray | LazyArray | None
    is_aligned: BoolArray
    piece_counts: IntArray
    piece_places: IntArray
    piece_units: IntArray

    def find_units(self, document: IntArray, position: IntArray) -> IntArray:
        """The unit of each token, as a position on the axis; −1 for one without pieces."""
        token = self.tokens.offsets[document] + np.maximum(position, 0)
        first = (np.cumsum(self.piece_counts) - self.piece_counts)[token]
        has_unit = (position >= 0) & (self.piece_counts[token] > 0)
        return np.where(has_unit, np.append(self.piece_units, -1)[first], -1)

    def list_pieces(self, document: IntArray, position: IntArray) -> tuple[IntArray, IntArray]:
        """How many pieces each of some tokens has, and the positions of all of these."""
        token = self.tokens.offsets[document] + position
        counts = self.piece_counts[token]
        first = (np.cumsum(self.piece_counts) - self.piece_counts)[token]
        return counts, self.piece_places[ragged_arange(first, counts)]

    def take(self, rows: IntArray) -> OwnText:
        """The mentions of these rows."""
        head = None if self.head is None else self.head[rows]
        gaps = take_gaps(self.gaps, self.start.size, rows)
        return replace(self, start=self.start[rows], end=self.end[rows], gaps=gaps, head=head)

    def select(self, documents: IntArray) -> OwnText:
        """The tokens of some documents, in this order, −1 for none; mentions stay as they are."""
        present = documents[documents >= 0]
        token = ragged_arange(self.tokens.offsets[present], self.tokens.counts[present])
        counts = self.piece_counts[token]
        piece = ragged_arange((np.cumsum(self.piece_counts) - self.piece_counts)[token], counts)
        return replace(
            self,
            tokens=select_tokens(self.tokens, documents),
            is_aligned=np.append(self.is_aligned, False)[documents],
            piece_counts=counts,
            piece_places=self.piece_places[piece],
            piece_units=self.piece_units[piece],
        )

    def merge(
        self, mention_document: IntArray, lengths: IntArray, bounds: IntArray, shift: IntArray
    ) -> OwnText:
        """The documents from each of `bounds` up to the next one as one document.

        `lengths` is how many tokens each has on the axis, and `shift` where it begins there.
        """
        room = np.where(self.is_aligned, self.tokens.counts, lengths)
        begin = np.cumsum(room) - room
        counts = np.zeros(int(room.sum()), dtype=np.int64)
        counts[ragged_arange(begin, self.tokens.counts)] = self.piece_counts
        group = np.repeat(np.arange(bounds.size - 1), np.diff(bounds))
        moved = (begin - np.append(begin, 0)[bounds[group]])[mention_document]
        piece_shift = np.repeat(np.repeat(shift, self.tokens.counts), self.piece_counts)
        return replace(
            self,
            tokens=merge_tokens(self.tokens, room, bounds),
            start=self.start + moved,
            end=self.end + moved,
            gaps=self.gaps + np.outer(moved[self.gaps[:, 0]], [0, 1, 1]),
            head=None if self.head is None else _shift(np.asarray(self.head), moved),
            is_aligned=np.bincount(group, self.is_aligned, minlength=bounds.size - 1) > 0,
            piece_counts=counts,
            piece_places=self.piece_places + piece_shift,
            piece_units=self.piece_units + piece_shift,
        )


def _shift(positions: IntArray, shift: IntArray) -> IntArray:
    return np.where(positions >= 0, positions + shift, -1)


def take_gaps(gaps: IntArray, number: int, rows: IntArray) -> IntArray:
    """The gaps of some of `number` mentions, by their new rows."""
    if not gaps.size:
        return gaps
    new_row = np.full(number, -1, dtype=np.int64)
    new_row[rows] = np.arange(rows.size)
    taken = gaps[new_row[gaps[:, 0]] >= 0].copy()
    taken[:, 0] = new_row[taken[:, 0]]
    return taken[np.argsort(taken[:, 0], kind="stable")]

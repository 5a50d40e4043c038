"""A column of all tokens of a CoNLL file as codes, from its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corefeval.formats.conll.bitmaps import Bitmap, nth_set
from corefeval.formats.conll.distinct import coded_cells
from corefeval.formats.conll.windows import BLANK_BYTE
from corefeval.model.arrays import BoolArray, ByteArray, IntArray
from corefeval.model.categories import Categories

if TYPE_CHECKING:
    from corefeval.formats.conll.tokens import ConllTokens


def blank_bitmap(data: ByteArray) -> Bitmap:
    """Where the blanks of a file are."""
    return Bitmap(data, _is_blank)


def _is_blank(characters: ByteArray) -> BoolArray:
    return characters <= BLANK_BYTE


def coded_column(tokens: ConllTokens, rows: IntArray, number: int) -> Categories:
    """The cells of one column, counted from 1, on some token lines; nothing on shorter lines.

    Cells are separated by runs of blanks. A line begins behind a newline, which is a blank too, so
    that a cell begins wherever a run of blanks ends.
    """
    origin, blank = tokens.origin, tokens.blanks

    def bounds(some: slice) -> tuple[IntArray, IntArray]:
        chosen = rows[some]
        limit = tokens.line_end[chosen]
        start = nth_set(blank.ends_of_runs, tokens.line_start[chosen], limit, number - 1)
        return start, nth_set(blank.after, start, limit, 0)

    def decode(texts: list[bytes], cells: list[int]) -> list[str]:
        return origin.decode_all(texts, lambda place: tokens.line_number[rows[cells[place]]] + 1)

    return coded_cells(origin.data, rows.size, bounds, decode)

"""A column of all tokens of a CoNLL-U file as codes, from its bytes."""

from __future__ import annotations

import numpy as np

from corefeval.formats.conll.bitmaps import Bitmap, nth_set
from corefeval.formats.conll.columns import coded_cells
from corefeval.formats.conllu.scan import N_COLUMNS, TAB, Scan
from corefeval.formats.source import Source
from corefeval.model.arrays import BoolArray, ByteArray, IntArray
from corefeval.model.categories import Categories


def tab_bitmap(data: ByteArray) -> Bitmap:
    """Where the tabs of a file are."""
    return Bitmap(data, _is_tab)


def _is_tab(characters: ByteArray) -> BoolArray:
    flags: BoolArray = characters == TAB
    return flags


def coded_column(
    origin: Source, scan: Scan, tabs: Bitmap, rows: IntArray, index: int
) -> Categories:
    """The cells of one column, counted from 0, of some tokens; all lines have nine tabs."""

    def bounds(some: slice) -> tuple[IntArray, IntArray]:
        chosen = rows[some]
        lines = scan.token_line[chosen]
        limit = scan.line_end[lines]
        if index == N_COLUMNS - 1:
            return scan.last_column[chosen], limit
        start = scan.line_start[lines]
        if index:
            start = nth_set(tabs.after, start, limit, index - 1) + 1
        return start, nth_set(tabs.after, start, limit, 0)

    def decode(texts: list[bytes], cells: list[int]) -> list[str]:
        return origin.decode_all(texts, lambda number: scan.token_line[rows[cells[number]]])

    return coded_cells(scan.data, rows.size, bounds, decode)


def coded_empty(empty: BoolArray) -> Categories:
    """The column `empty`: "1" for empty nodes, nothing for other tokens."""
    if not empty.any():
        return Categories(np.zeros(empty.size, dtype=np.int64), ("",) if empty.size else ())
    return Categories(empty.astype(np.int64), ("", "1"))

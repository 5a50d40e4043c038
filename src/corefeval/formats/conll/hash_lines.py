"""Lines that begin with `#`: comments, or tokens whose first cell happens to begin so."""

from __future__ import annotations

import re

import numpy as np

from corefeval.formats.conll.lines import BLANKS, COMMENT, MARKED, UNMARKED, Lines, split_cells
from corefeval.formats.source import Source

# Possessive (`++`), so that no text makes the pattern try again and again.
_COREFERENCE = re.compile(rb"[-_]|\|*+(?:\([^()|]++\)?+\|*+|[^()|]++\)\|*+)++")


def find_hash_tokens(
    source: Source, lines: Lines, candidates: list[int], begin: list[int], end: list[int]
) -> None:
    """Give `#` lines that are tokens their kind.

    A comment may be anything, so a token is a line whose last cell could be coreference and which
    has as many columns as the token line next to it in its document. Where a document has nothing
    but such lines, they are tokens if they all have the same number of columns.
    """
    promising = [
        (line, cells)
        for line in candidates
        if len(cells := _cells(source, lines, line)) > 1 and is_coreference(cells[-1])
    ]
    if not promising:
        return
    token_lines = np.flatnonzero(lines.kind > COMMENT)
    alone: dict[int, list[tuple[int, list[bytes]]]] = {}
    for line, cells in promising:
        document = int(np.searchsorted(begin, line)) - 1
        if document < 0 or line >= end[document]:
            continue
        place = int(np.searchsorted(token_lines, line))
        neighbours = [
            int(token_lines[index])
            for index in (place - 1, place)
            if 0 <= index < token_lines.size
            and begin[document] < token_lines[index] < end[document]
        ]
        if not neighbours:
            alone.setdefault(document, []).append((line, cells))
        elif len(cells) in {len(_cells(source, lines, other)) for other in neighbours}:
            _make_token(source, lines, line, cells)
    for members in alone.values():
        if len({len(cells) for _, cells in members}) == 1:
            for line, cells in members:
                _make_token(source, lines, line, cells)


def is_coreference(cell: bytes) -> bool:
    """Whether a cell could be the last one of a token's line."""
    return _COREFERENCE.fullmatch(cell) is not None


def _make_token(source: Source, lines: Lines, line: int, cells: list[bytes]) -> None:
    text = source.data[lines.start[line] : lines.end[line]].tobytes()
    lines.end[line] = lines.start[line] + len(text.rstrip(BLANKS))
    lines.cell[line] = lines.end[line] - len(cells[-1])
    lines.kind[line] = UNMARKED if cells[-1] in (b"-", b"_") else MARKED


def _cells(source: Source, lines: Lines, line: int) -> list[bytes]:
    return split_cells(source.data[lines.start[line] : lines.end[line]].tobytes())

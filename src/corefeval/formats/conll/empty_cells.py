"""Files that write nothing where there is no coreference.

Then the last text of a line is another column, which may look like anything, brackets included.
The number of columns tells: lines without a coreference cell have one less. Sentences may have
different numbers of columns (CoNLL-2012 has one per predicate), so a line is compared with its own
sentence first.
"""

from __future__ import annotations

import numpy as np

from corefeval.formats.conll.lines import NEWLINE, RETURN, TAB
from corefeval.formats.conll.tokens import ConllTokens
from corefeval.model.arrays import BoolArray, IntArray


def with_trailing_blanks(tokens: ConllTokens, rows: IntArray) -> IntArray:
    """The rows whose line goes on after its last cell: the real last cell may be empty."""
    behind = tokens.origin.data[tokens.line_end[rows]]
    trailing: IntArray = rows[(behind != NEWLINE) & (behind != RETURN)]
    return trailing


def rows_without_cell(
    tokens: ConllTokens, marked: IntArray, odd: IntArray, unreadable: bool
) -> IntArray:
    """The rows whose coreference cell is empty.

    `marked` are the rows whose last text is no `-` or `_`; `odd` those of them in which it is no
    coreference (`unreadable`), or has no partner.
    """
    n_cells = tokens.n_cells(np.arange(tokens.line_start.size))
    narrow = n_cells < _sentence_widths(tokens, n_cells)
    suspects = marked
    if unreadable and odd.size > n_cells.size - marked.size:
        # More lines leave the cell empty than write `-`: this file does so for all of them. Whole
        # sentences may, so they are compared with the file, if all of it has one width.
        width = int(n_cells.max())
        if bool(((n_cells == width) | (n_cells == width - 1)).all()):
            narrow = n_cells < width
        suspects = np.arange(n_cells.size)
    elif not narrow[odd].any():
        suspects = with_trailing_blanks(tokens, marked)
    empty = suspects[narrow[suspects]]
    behind = tokens.origin.data[tokens.line_end[odd]]
    return np.union1d(empty, odd[unreadable & (behind == TAB)])


def _sentence_widths(tokens: ConllTokens, n_cells: IntArray) -> IntArray:
    """The widest line of each row's sentence."""
    starts: BoolArray = np.ones(n_cells.size, dtype=np.bool_)
    starts[1:] = np.diff(tokens.line_number) > 1
    starts[tokens.first[tokens.counts > 0]] = True
    first = np.flatnonzero(starts)
    widest = np.maximum.reduceat(n_cells, first)
    return np.repeat(widest, np.diff(np.append(first, n_cells.size)))

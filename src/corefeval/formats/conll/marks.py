"""The mentions of a CoNLL file: its coreference cells read, and their brackets joined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import InputError, excerpt
from corefeval.formats.conll.bitmaps import BLANK_BYTE
from corefeval.formats.conll.cells import (
    Brackets,
    match_brackets,
    parse_cells,
    rows_without_cell,
    with_trailing_blanks,
)
from corefeval.formats.conll.repair import (
    Outline,
    Repair,
    bracket_text,
    document_of,
    empty_unreadable,
    no_coreference_cell,
    unmatched_bracket,
)
from corefeval.formats.conll.tokens import ConllLines
from corefeval.model.arrays import IntArray, dense_ranks
from corefeval.model.construction import textual_order

_MANY = 20  # unbalanced brackets of one cell, which become one repair


class Mentions(NamedTuple):
    """The mentions of a file, in textual order.

    `start` and `end` count tokens within the document. Each entity has its document, and the place
    and length of its id in the file. `overlapping` are the tokens of the file on which a longer
    mention ends and another one of its entity begins: a scorer that opens all brackets of a cell
    before it closes any, as v8.01 does, reads different mentions there.
    """

    start: IntArray
    end: IntArray
    entity: IntArray
    entity_document: IntArray
    name_start: IntArray
    name_length: IntArray
    overlapping: IntArray


@dataclass(frozen=True, slots=True)
class _Marks:
    """The brackets of a file, each with its token, document, entity and closing bracket."""

    brackets: Brackets
    token: IntArray
    document: IntArray
    entity: IntArray
    entity_document: IntArray
    closing: IntArray


@dataclass(frozen=True, slots=True)
class _Mistakes:
    """The tokens whose cells are unreadable; if all are readable, those of unmatched brackets.

    In the second case there are also the marks of the file, and the indices of those unmatched.
    """

    token: IntArray
    marks: _Marks | None = None
    unmatched: IntArray | None = None

    @property
    def unreadable(self) -> bool:
        """Whether cells could not be read at all."""
        return self.marks is None


def read_mentions(
    outline: Outline,
    tokens: ConllLines,
    marked: IntArray,
    text: NDArray[np.uint64],
    repairs: list[Repair] | None,
    *,
    is_plain: bool,
) -> Mentions:
    """Read the coreference cells of the tokens that have one, and join their brackets.

    `text` has the last eight bytes of each cell. In plain files no line begins or ends with blanks.
    Where coreference is left empty, the last text of a line is another column. A cell that seems
    odd is therefore checked again, with the columns counted, before it is called a mistake.
    """
    marks = _try_to_read_marks(tokens, marked, text, is_plain)
    seems_odd = isinstance(marks, _Mistakes)
    if seems_odd or (not is_plain and with_trailing_blanks(tokens, marked).size):
        odd, unreadable = marked[:0], False
        if isinstance(marks, _Mistakes):
            odd, unreadable = marks.token, marks.unreadable
        empty = rows_without_cell(tokens, marked, odd, unreadable)
        if empty.size:
            tokens.prefix_end[empty] = tokens.line_end[empty]
            marked = np.setdiff1d(marked, empty)
            marks = _try_to_read_marks(tokens, marked)
    if isinstance(marks, _Mistakes):
        if repairs is None:
            raise _first_error(outline, tokens, marks)
        marks = _repaired_marks(outline, tokens, marked, marks, repairs)
    return _make_mentions(tokens, marks)


def _make_mentions(tokens: ConllLines, marks: _Marks) -> Mentions:
    """The mentions that brackets make."""
    opening = np.flatnonzero(marks.closing >= 0)
    start, end = marks.token[opening], marks.token[marks.closing[opening]] + 1
    order = textual_order(None, start, end)
    if order is not None:
        opening, start, end = opening[order], start[order], end[order]
    shift = tokens.first[marks.document[opening]]
    example = np.empty(marks.entity_document.size, dtype=np.int64)
    example[marks.entity] = np.arange(marks.entity.size)
    return Mentions(
        start - shift,
        end - shift,
        marks.entity[opening],
        marks.entity_document,
        marks.brackets.position[example],
        marks.brackets.length[example],
        _find_overlapping(marks),
    )


def _try_to_read_marks(
    tokens: ConllLines,
    marked: IntArray,
    text: NDArray[np.uint64] | None = None,
    is_plain: bool = False,
) -> _Marks | _Mistakes:
    start, end = tokens.prefix_end[marked], tokens.line_end[marked]
    brackets, bad = parse_cells(tokens.origin.data, start, end, text)
    single = _find_single_cells(tokens, marked, is_plain, start)
    bad = np.union1d(bad, single) if single.size else bad
    if bad.size:
        return _Mistakes(marked[bad])
    token = marked[brackets.cell]
    bounds = np.append(np.searchsorted(token, tokens.first), token.size)
    document = np.arange(bounds.size - 1).repeat(np.diff(bounds))
    width = int(brackets.entity.max(initial=0)) + 1
    entity = document * width
    entity += brackets.entity
    entity, codes = dense_ranks(entity)
    closing, unmatched = match_brackets(entity, brackets.opens, brackets.closes)
    marks = _Marks(brackets, token, document, entity, codes // width, closing)
    return _Mistakes(token[unmatched], marks, unmatched) if unmatched.size else marks


def _find_single_cells(
    tokens: ConllLines, marked: IntArray, is_plain: bool, start: IntArray
) -> IntArray:
    """Which marked rows consist of a single cell; the last cell of each begins at `start`."""
    line_start = tokens.line_start[marked]
    single = np.flatnonzero(start == line_start)
    if is_plain:
        return single
    indented = np.flatnonzero(tokens.origin.data[line_start] <= BLANK_BYTE)
    if not indented.size:
        return single
    return np.union1d(single, indented[tokens.n_cells(marked[indented]) == 1])


def _first_error(outline: Outline, tokens: ConllLines, mistakes: _Mistakes) -> InputError:
    if mistakes.marks is None or mistakes.unmatched is None:
        return no_coreference_cell(tokens, int(mistakes.token[0]))
    marks = mistakes.marks
    row = int(mistakes.unmatched.min())
    return unmatched_bracket(outline, tokens, marks.token, marks.brackets, row)


def _repaired_marks(
    outline: Outline,
    tokens: ConllLines,
    marked: IntArray,
    mistakes: _Mistakes,
    repairs: list[Repair],
) -> _Marks:
    """The marks without unreadable cells, and without brackets that have no partner."""
    if mistakes.marks is None:
        empty_unreadable(outline, tokens, mistakes.token, repairs)
        marks = _try_to_read_marks(tokens, np.setdiff1d(marked, mistakes.token))
        if isinstance(marks, _Marks):
            return marks
        mistakes = marks
    if mistakes.marks is None or mistakes.unmatched is None:
        raise _first_error(outline, tokens, mistakes)
    marks, unmatched = mistakes.marks, np.sort(mistakes.unmatched)
    rows, hidden_counts = _select_reported(unmatched, marks.token[unmatched])
    for row, n_hidden in zip(rows.tolist(), hidden_counts.tolist(), strict=True):
        error = unmatched_bracket(outline, tokens, marks.token, marks.brackets, row, n_hidden)
        done = f"left out {excerpt(bracket_text(tokens.origin, marks.brackets, row))}"
        done += f" and {n_hidden:,} others" if n_hidden else ""
        document = str(document_of(outline, tokens, int(marks.token[row])))
        repairs.append(Repair("unbalanced-bracket", error, done, document))
    return marks


def _select_reported(brackets: IntArray, token: IntArray) -> tuple[IntArray, IntArray]:
    """The brackets to report, and how many further brackets of its token each stands for.

    All are reported, but of a token with more than twenty only the first.
    """
    first = np.searchsorted(token, token, side="left")
    place, size = np.arange(token.size) - first, np.searchsorted(token, token, side="right") - first
    many = size > _MANY
    shown = ~many | (place == 0)
    return brackets[shown], np.where(many, size - 1, 0)[shown]


def _find_overlapping(marks: _Marks) -> IntArray:
    token, opens, closes = marks.token, marks.brackets.opens, marks.brackets.closes
    if not (token[1:] == token[:-1]).any():
        return token[:0]
    rows: IntArray = np.flatnonzero(opens != closes)
    turns = closes[rows[:-1]] & opens[rows[1:]] & (token[rows[:-1]] == token[rows[1:]])
    if not turns.any():
        return rows[:0]
    tokens: IntArray = np.unique(token[rows[:-1][turns]])
    rows = rows[np.isin(token[rows], tokens)]
    partner = np.full(token.size, -1, dtype=np.int64)
    matched = np.flatnonzero(marks.closing >= 0)
    partner[matched], partner[marks.closing[matched]] = marks.closing[matched], matched
    # Mentions of the token alone stay what they are, and may stand between the two.
    rows = rows[(partner[rows] >= 0) & (token[partner[rows]] != token[rows])]
    rows = rows[np.lexsort((marks.entity[rows], token[rows]))]
    earlier, later = rows[:-1], rows[1:]
    meet = (token[earlier] == token[later]) & (marks.entity[earlier] == marks.entity[later])
    return np.unique(token[earlier[meet & closes[earlier] & opens[later]]])

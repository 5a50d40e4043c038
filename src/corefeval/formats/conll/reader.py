"""Reading CoNLL-2011/2012: bytes in, corpus out, without looking at more than is needed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import InputError, Notice, excerpt
from corefeval.formats.conll.bitmaps import BLANK_BYTE
from corefeval.formats.conll.cells import (
    Brackets,
    match_brackets,
    parse_cells,
    rows_without_cell,
    with_trailing_blanks,
)
from corefeval.formats.conll.layout import Layout
from corefeval.formats.conll.lines import COMMENT, MARKED, first_control, split_lines
from corefeval.formats.conll.repair import (
    Outline,
    Repair,
    bracket_text,
    control_character,
    decodable,
    document_of,
    empty_unreadable,
    no_coreference_cell,
    no_document,
    read_outline,
    stray_token,
    unmatched_bracket,
)
from corefeval.formats.conll.tokens import ConllTokens
from corefeval.formats.source import Source
from corefeval.model import Corpus
from corefeval.model.arrays import IntArray, dense_ranks
from corefeval.model.categories import LazyNames
from corefeval.model.construction import textual_order

_MANY = 20  # unbalanced brackets of one cell, which become one repair


def read_conll(
    source: Source,
    *,
    name: str = "",
    word_column: int | None = None,
    layout: Layout | None = None,
    repairs: list[Repair] | None = None,
) -> Corpus:
    """Read the documents, tokens and mentions of a CoNLL file.

    `word_column`, counted from 1, says which column has the words, if it is not to be told by what
    is in it; `layout` says it of all columns, where this is a part of a file. A mistake is an
    error, unless there is a list of repairs: then it is mended, and the repair put into the list.
    """
    if repairs is not None:
        source = decodable(source, repairs)
    elif (place := first_control(source.data)) >= 0:
        whole = source.data.tobytes()
        newline = b"\n" if b"\n" in whole else b"\r"
        line = whole.count(newline, 0, place)
        raise control_character(source, line, whole.split(newline, line + 1)[line])
    data, lines = split_lines(source.data)
    source = replace(source, data=data)
    comments = np.flatnonzero(lines.kind == COMMENT).tolist()
    outline = read_outline(source, lines, comments, repairs)
    token_line = np.flatnonzero(lines.kind > COMMENT)
    first, count = _tokens_of_documents(source, outline, token_line)
    marked = np.flatnonzero(lines.kind[token_line] == MARKED)
    # One piece of fresh memory costs less than three: the system hands it out in larger pages.
    line_start, line_end, prefix_end = np.empty((3, token_line.size), dtype=np.int64)
    np.add(np.take(lines.before, token_line, out=line_start, mode="clip"), 1, out=line_start)
    np.subtract(np.take(lines.end, token_line, out=line_end, mode="clip"), 1, out=prefix_end)
    prefix_end[marked], text = lines.cells(data, token_line[marked])
    tokens = ConllTokens(
        origin=source,
        line_start=line_start,
        line_end=line_end,
        prefix_end=prefix_end,
        line_number=token_line,
        first=first,
        counts=count,
        word_column=word_column,
        shared_layout=layout,
        underscores=lines.underscores,
    )
    marks = _read_marks(outline, tokens, marked, text, repairs, is_plain=lines.is_plain)
    return _corpus(source, outline, tokens, marks, name)


@dataclass(frozen=True, slots=True)
class _Marks:
    """The brackets of a file, each with its token, document and entity, and what closes it."""

    brackets: Brackets
    token: IntArray
    document: IntArray
    entity: IntArray
    entity_document: IntArray
    closing: IntArray


@dataclass(frozen=True, slots=True)
class _Mistakes:
    """The tokens whose cells are unreadable; else those of brackets without a partner.

    For the latter there are also the marks as they are, and which of their brackets are unmatched.
    """

    token: IntArray
    marks: _Marks | None = None
    unmatched: IntArray | None = None

    @property
    def unreadable(self) -> bool:
        """Whether cells could not be read at all."""
        return self.marks is None


def _tokens_of_documents(
    source: Source, outline: Outline, token_line: IntArray
) -> tuple[IntArray, IntArray]:
    """Each document's first token and number of tokens; every token must be in a document."""
    begin = np.array(outline.begin, dtype=np.int64)
    end = np.array(outline.end, dtype=np.int64)
    first = np.searchsorted(token_line, begin)
    count = np.searchsorted(token_line, end) - first
    if int(count.sum()) == token_line.size and begin.size:
        return first, count
    if not token_line.size:
        raise no_document(source)
    inside = np.zeros(token_line.size + 1, dtype=np.int64)
    np.add.at(inside, first, 1)
    np.add.at(inside, first + count, -1)
    stray = int(token_line[np.argmax(np.cumsum(inside)[:-1] == 0)])
    raise stray_token(source, stray, source.data.tobytes().split(b"\n", stray + 1)[stray])


def _read_marks(
    outline: Outline,
    tokens: ConllTokens,
    marked: IntArray,
    text: NDArray[np.uint64],
    repairs: list[Repair] | None,
    *,
    is_plain: bool,
) -> _Marks:
    """Read the coreference cells of the tokens that have one, and join their brackets.

    `text` has the last eight bytes of each cell.
    Where coreference is left empty, the last text of a line is another column. What seems odd is
    therefore looked at again, with the columns counted, before it is called a mistake. In plain
    files no line begins or ends with blanks.
    """
    marks = _try_to_read_marks(outline, tokens, marked, text, is_plain)
    seems_odd = isinstance(marks, _Mistakes)
    if seems_odd or (not is_plain and with_trailing_blanks(tokens, marked).size):
        odd, unreadable = marked[:0], False
        if isinstance(marks, _Mistakes):
            odd, unreadable = marks.token, marks.unreadable
        empty = rows_without_cell(tokens, marked, odd, unreadable)
        if empty.size:
            tokens.prefix_end[empty] = tokens.line_end[empty]
            marked = np.setdiff1d(marked, empty)
            marks = _try_to_read_marks(outline, tokens, marked)
    if isinstance(marks, _Mistakes) and repairs is not None:
        return _repaired_marks(outline, tokens, marked, marks, repairs)
    if isinstance(marks, _Mistakes):
        raise _first_error(outline, tokens, marks)
    return marks


def _try_to_read_marks(
    outline: Outline,
    tokens: ConllTokens,
    marked: IntArray,
    text: NDArray[np.uint64] | None = None,
    is_plain: bool = False,
) -> _Marks | _Mistakes:
    start, end = tokens.prefix_end[marked], tokens.line_end[marked]
    brackets, bad = parse_cells(tokens.origin.data, start, end, text)
    alone = _alone(tokens, marked, is_plain, start, spare=end)
    bad = np.union1d(bad, alone) if alone.size else bad
    if bad.size:
        return _Mistakes(marked[bad])
    token = marked[brackets.cell]
    bounds = np.searchsorted(token, np.append(tokens.first, tokens.line_start.size))
    document = np.arange(bounds.size - 1).repeat(np.diff(bounds))
    width = int(brackets.entity.max(initial=0)) + 1
    entity = document * width
    entity += brackets.entity
    entity, codes = dense_ranks(entity)
    closing, unmatched = match_brackets(entity, brackets.opens, brackets.closes)
    marks = _Marks(brackets, token, document, entity, codes // width, closing)
    return _Mistakes(token[unmatched], marks, unmatched) if unmatched.size else marks


def _alone(
    tokens: ConllTokens, marked: IntArray, is_plain: bool, start: IntArray, spare: IntArray
) -> IntArray:
    """Which of some rows have no cell before the last one, which begins at `start`.

    `spare` is memory as large, of which nobody needs what is in it.
    """
    begin = np.take(tokens.line_start, marked, out=spare, mode="clip")
    alone = np.flatnonzero(start == begin)
    if is_plain:
        return alone
    indented = np.flatnonzero(tokens.origin.data[begin] <= BLANK_BYTE)
    if not indented.size:
        return alone
    return np.union1d(alone, indented[tokens.n_cells(marked[indented]) == 1])


def _first_error(outline: Outline, tokens: ConllTokens, mistakes: _Mistakes) -> InputError:
    if mistakes.marks is None or mistakes.unmatched is None:
        return no_coreference_cell(tokens, int(mistakes.token[0]))
    marks = mistakes.marks
    row = int(mistakes.unmatched.min())
    return unmatched_bracket(outline, tokens, marks.token, marks.brackets, row)


def _repaired_marks(
    outline: Outline,
    tokens: ConllTokens,
    marked: IntArray,
    mistakes: _Mistakes,
    repairs: list[Repair],
) -> _Marks:
    """The marks without unreadable cells, and without brackets that have no partner."""
    if mistakes.marks is None:
        empty_unreadable(outline, tokens, mistakes.token, repairs)
        marks = _try_to_read_marks(outline, tokens, np.setdiff1d(marked, mistakes.token))
        if isinstance(marks, _Marks):
            return marks
        mistakes = marks
    if mistakes.marks is None or mistakes.unmatched is None:
        raise _first_error(outline, tokens, mistakes)
    marks, unmatched = mistakes.marks, np.sort(mistakes.unmatched)
    rows, others = _select_told(unmatched, marks.token[unmatched])
    for row, more in zip(rows.tolist(), others.tolist(), strict=True):
        error = unmatched_bracket(outline, tokens, marks.token, marks.brackets, row, more)
        done = f"left out {excerpt(bracket_text(tokens.origin, marks.brackets, row))}"
        done += f" and {more:,} others" if more else ""
        document = str(document_of(outline, tokens, int(marks.token[row])))
        repairs.append(Repair("unbalanced-bracket", error, done, document))
    return marks


def _select_told(brackets: IntArray, token: IntArray) -> tuple[IntArray, IntArray]:
    """All brackets, but of a token with many the first alone; and for how many others it stands."""
    first = np.searchsorted(token, token, side="left")
    place, size = np.arange(token.size) - first, np.searchsorted(token, token, side="right") - first
    many = size > _MANY
    shown = ~many | (place == 0)
    return brackets[shown], np.where(many, size - 1, 0)[shown]


def _corpus(
    source: Source, outline: Outline, tokens: ConllTokens, marks: _Marks, name: str
) -> Corpus:
    """Put the mentions into textual order."""
    opening = np.flatnonzero(marks.closing >= 0)
    start, end = marks.token[opening], marks.token[marks.closing[opening]] + 1
    order = textual_order(None, start, end)
    if order is not None:
        opening, start, end = opening[order], start[order], end[order]
    shift = tokens.first[marks.document[opening]]
    return Corpus(
        documents=tuple(outline.identifiers),
        entity_document=marks.entity_document,
        mention_entity=marks.entity[opening],
        mention_start=start - shift,
        mention_end=end - shift,
        tokens=tokens,
        names=LazyNames(partial(_entity_names, source, marks)),
        names_hold=True,
        name=name or source.file,
        notices=_notices(source, outline, tokens, marks),
    )


def _entity_names(source: Source, marks: _Marks) -> list[str]:
    example = np.empty(marks.entity_document.size, dtype=np.int64)
    example[marks.entity] = np.arange(marks.entity.size)
    brackets = marks.brackets
    view = source.data.data
    begin, length = brackets.position[example].tolist(), brackets.length[example].tolist()
    return [
        bytes(view[start : start + size]).decode(source.encoding, "replace")
        for start, size in zip(begin, length, strict=True)
    ]


def _notices(
    source: Source, outline: Outline, tokens: ConllTokens, marks: _Marks
) -> tuple[Notice, ...]:
    """What was guessed about a file, or is likely to be wrong with it."""
    found = [] if tokens.layout.notice is None else [tokens.layout.notice]
    if source.places is None:
        found += unfinished_notices(source.file, outline)
    overlapping = _overlapping(marks)
    if overlapping.size:
        line = source.line(tokens.line_number[overlapping[0]])
        text = f"{source.file}: {{n}} where a mention ends and another one of its entity "
        text += "begins, like ‘0)|(0’ (first on {items}): read as written; the official "
        text += "scorer v8.01 reads the opening first, and gets other mentions"
        where = (f"line {line}",)
        found.append(Notice("overlapping-mentions", text, overlapping.size, where, "cell"))
    return tuple(found)


def unfinished_notices(file: str, outline: Outline) -> list[Notice]:
    """Which documents of a file do not end."""
    found = []
    if outline.unfinished:
        text = f"{file}: {{n}} without ‘#end document’ before the next one began; taken to "
        text += "end there"
        found.append(Notice("unfinished-documents", text, outline.unfinished, noun="document"))
    if outline.cut_short:
        last = excerpt(str(outline.identifiers[-1]))
        message = f"{file}: the file ends inside document {last}, without "
        found.append(Notice("unfinished-file", message + "‘#end document’: it may be cut short"))
    return found


def _overlapping(marks: _Marks) -> IntArray:
    """The tokens on which a mention from before ends and one of its entity begins that goes on.

    Whoever opens all brackets of a cell before closing any, as v8.01 does, has others there.
    """
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
    one, other = rows[:-1], rows[1:]
    meet = (token[one] == token[other]) & (marks.entity[one] == marks.entity[other])
    return np.unique(token[one[meet & closes[one] & opens[other]]])

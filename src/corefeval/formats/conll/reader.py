"""Reading CoNLL-2011/2012: lines first, then documents, tokens and mentions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import InputError, Notice, Notices, excerpt
from corefeval.formats.conll.cells import (
    Brackets,
    match_brackets,
    parse_cells,
    rows_without_cell,
    with_trailing_blanks,
)
from corefeval.formats.conll.layout import Layout
from corefeval.formats.conll.lines import (
    BLANK_BYTE,
    COMMENT,
    MARKED,
    Lines,
    Outline,
    find_cells,
    find_hash_tokens,
    first_control,
    outline_of,
    split_lines,
)
from corefeval.formats.conll.repair import (
    Repair,
    adopt_strays,
    bracket_text,
    control_character,
    decodable,
    document_of,
    empty_unreadable,
    no_coreference_cell,
    no_document,
    rename_repeated,
    stray_token,
    unmatched_bracket,
)
from corefeval.formats.conll.tokens import ConllLines
from corefeval.formats.source import Source
from corefeval.model import Corpus
from corefeval.model.arrays import (
    ArrayPair,
    IntArray,
    all_zero,
    dense_ranks,
    find_places,
    integers,
    plain_rows,
    unset,
)
from corefeval.model.categories import LazyNames
from corefeval.model.construction import textual_order


def read_conll(
    source: Source,
    *,
    name: str = "",
    word_column: int | None = None,
    layout: Layout | None = None,
    repairs: list[Repair] | None = None,
) -> Corpus:
    """Read the documents, tokens and mentions of a CoNLL file.

    `word_column`, counted from 1, is the column of the words; without it, it is found by the
    contents of the columns. `layout` has all columns, where this is a part of a file. A mistake
    raises InputError, unless there is a list of repairs: then it is mended, and the repair put
    into the list.
    """
    if repairs is not None:
        source = decodable(source, repairs)
    elif (place := first_control(source.data)) >= 0:
        raise _control_error(source, place)
    data, lines = split_lines(source.data)
    source = replace(source, data=data)
    comments = np.flatnonzero(lines.kind == COMMENT).tolist()
    outline = _read_outline(source, lines, comments, repairs)
    token_lines, marked, text = _find_tokens(source, lines, outline, word_column, layout)
    marks = _read_marks(outline, token_lines, marked, text, repairs, is_plain=lines.is_plain)
    entity, start, end = _make_mentions(token_lines, marks)
    example = find_places(marks.entity, marks.entity_document.size)
    names = partial(
        _entity_names, source, marks.brackets.position[example], marks.brackets.length[example]
    )
    return Corpus(
        documents=tuple(outline.identifiers),
        entity_document=marks.entity_document,
        mention_entity=entity,
        mention_start=start,
        mention_end=end,
        tokens=token_lines.tokens(),
        names=LazyNames(names),
        names_hold=True,
        name=name or source.file,
        notices=_notices(source, outline, token_lines, marks),
    )


def _read_outline(
    source: Source, lines: Lines, comments: list[int], repairs: list[Repair] | None = None
) -> Outline:
    """Find the documents; `#` lines that turn out to be tokens change their kind in `lines`."""
    repeated: list[tuple[int, InputError]] | None = None if repairs is None else []
    view = source.data.data
    starts, ends = (lines.before[comments] + 1).tolist(), lines.end[comments].tolist()
    texts = [view[start:end].tobytes() for start, end in zip(starts, ends, strict=True)]
    outline = outline_of(source, zip(comments, texts, strict=True), lines.kind.size, repeated)
    if repairs is not None and repeated is not None:
        rename_repeated(outline, repeated, repairs)
        adopt_strays(source, lines, outline, repairs)
    if outline.plain_comments:
        find_hash_tokens(source, lines, outline.plain_comments, outline.begin, outline.end)
    return outline


def _control_error(source: Source, place: int) -> InputError:
    """An error about the control character at a place of the file."""
    content = source.data.tobytes()
    newline = b"\n" if b"\n" in content else b"\r"
    line = content.count(newline, 0, place)
    return control_character(source, line, content.split(newline, line + 1)[line])


def _find_tokens(
    source: Source, lines: Lines, outline: Outline, word_column: int | None, layout: Layout | None
) -> tuple[ConllLines, IntArray, NDArray[np.uint64]]:
    """Token lines, the rows of those with coreference, and the last eight bytes of their cells."""
    token_line = np.flatnonzero(lines.kind > COMMENT)
    first, count = _tokens_of_documents(source, outline, token_line)
    marked = np.flatnonzero(lines.kind[token_line] == MARKED)
    line_end = lines.end[token_line]
    prefix_end = line_end - 1
    cell, text = lines.cell, lines.text
    if cell.size != marked.size:  # further lines became MARKED at second sight
        rows = token_line[marked]
        cell, text = find_cells(source.data, lines.before[rows] + 1, lines.end[rows])
    prefix_end[marked] = cell
    token_lines = ConllLines(
        origin=source,
        line_start=lines.before[token_line] + 1,
        line_end=line_end,
        prefix_end=prefix_end,
        line_number=token_line,
        first=first,
        counts=count,
        word_column=word_column,
        stated_layout=layout,
        underscores=lines.underscores,
    )
    return token_lines, marked, text


def _tokens_of_documents(source: Source, outline: Outline, token_line: IntArray) -> ArrayPair:
    """Each document's first token and number of tokens; every token must be in a document."""
    begin = integers(outline.begin)
    end = integers(outline.end)
    first = np.searchsorted(token_line, begin)
    count = np.searchsorted(token_line, end) - first
    if int(count.sum()) == token_line.size and begin.size:
        return first, count
    if not token_line.size:
        raise no_document(source)
    inside = all_zero(token_line.size + 1)
    np.add.at(inside, first, 1)
    np.add.at(inside, first + count, -1)
    stray = int(token_line[np.argmax(np.cumsum(inside)[:-1] == 0)])
    raise stray_token(source, stray, source.data.tobytes().split(b"\n", stray + 1)[stray])


def _make_mentions(tokens: ConllLines, marks: _Marks) -> tuple[IntArray, IntArray, IntArray]:
    """Entity, start and end of the mentions that brackets make; tokens count in the document."""
    opening = np.flatnonzero(marks.closing >= 0)
    start, end = marks.token[opening], marks.token[marks.closing[opening]] + 1
    order = textual_order(None, start, end)
    if order is not None:
        opening, start, end = opening[order], start[order], end[order]
    first = tokens.first[marks.document[opening]]
    return marks.entity[opening], start - first, end - first


def _entity_names(source: Source, begin: IntArray, length: IntArray) -> list[str]:
    """The ids of entities, each of which stands somewhere in the file."""
    view = source.data.data
    return [
        bytes(view[start : start + size]).decode(source.encoding, "replace")
        for start, size in plain_rows(begin, length)
    ]


def _notices(source: Source, outline: Outline, token_lines: ConllLines, marks: _Marks) -> Notices:
    """Notices of what was guessed about a file, or is likely to be wrong with it."""
    notices = [] if token_lines.layout.notice is None else [token_lines.layout.notice]
    if source.places is None:
        notices += unfinished_notices(source.file, outline)
    overlapping = _find_overlapping(marks)
    if overlapping.size:
        line = source.line(token_lines.line_number[overlapping[0]])
        text = f"{source.file}: {{n}} where a mention ends and another one of its entity "
        text += "begins, like ‘0)|(0’ (first on {items}): read as written; the official "
        text += "scorer v8.01 reads the opening first, and gets other mentions"
        where = (f"line {line}",)
        notices.append(Notice("overlapping-mentions", text, overlapping.size, where, "cell"))
    return tuple(notices)


def unfinished_notices(file: str, outline: Outline) -> list[Notice]:
    """Notices of documents that have no end."""
    notices = []
    if outline.unfinished:
        text = f"{file}: {{n}} without ‘#end document’ before the next one began; taken to "
        text += "end there"
        notices.append(Notice("unfinished-documents", text, outline.unfinished, noun="document"))
    if outline.cut_short:
        last = excerpt(str(outline.identifiers[-1]))
        message = f"{file}: the file ends inside document {last}, without "
        notices.append(Notice("unfinished-file", message + "‘#end document’: it may be cut short"))
    return notices


_MANY = 20  # unbalanced brackets of one cell, which become one repair


@dataclass(frozen=True, slots=True)
class _Marks:
    """The brackets of a file, each with its token, document, entity and closing bracket.

    `unreadable` are the tokens whose cells are no coreference, `unmatched` the brackets that have
    no partner.
    """

    brackets: Brackets
    token: IntArray
    document: IntArray
    entity: IntArray
    entity_document: IntArray
    closing: IntArray
    unreadable: IntArray
    unmatched: IntArray


def _read_marks(
    outline: Outline,
    tokens: ConllLines,
    marked: IntArray,
    text: NDArray[np.uint64],
    repairs: list[Repair] | None,
    *,
    is_plain: bool,
) -> _Marks:
    """Read the coreference cells of the tokens that have one, and match their brackets.

    `text` has the last eight bytes of each cell. In plain files no line begins or ends with blanks.
    Where coreference is left empty, the last text of a line is another column. A cell that seems
    odd is therefore checked again, with the columns counted, before it is called a mistake.
    """
    marks = _find_marks(tokens, marked, text, is_plain)
    is_unreadable = marks.unreadable.size > 0
    odd = marks.unreadable if is_unreadable else marks.token[marks.unmatched]
    if odd.size or (not is_plain and with_trailing_blanks(tokens, marked).size):
        empty = rows_without_cell(tokens, marked, odd, is_unreadable)
        if empty.size:
            tokens.prefix_end[empty] = tokens.line_end[empty]
            marked = np.setdiff1d(marked, empty)
            marks = _find_marks(tokens, marked)
    if not marks.unreadable.size and not marks.unmatched.size:
        return marks
    if repairs is None:
        raise _first_error(outline, tokens, marks)
    return _repair_marks(outline, tokens, marked, marks, repairs)


def _find_marks(
    tokens: ConllLines,
    marked: IntArray,
    text: NDArray[np.uint64] | None = None,
    is_plain: bool = False,
) -> _Marks:
    """The brackets of the marked lines; a line of a single cell is unreadable, too."""
    start, end = tokens.prefix_end[marked], tokens.line_end[marked]
    brackets, bad = parse_cells(tokens.origin.data, start, end, text)
    line_start = tokens.line_start[marked]
    is_single = start == line_start
    if not is_plain:
        indented = np.flatnonzero(tokens.origin.data[line_start] <= BLANK_BYTE)
        is_single[indented] |= tokens.n_cells(marked[indented]) == 1
    if is_single.any():
        bad = np.union1d(bad, np.flatnonzero(is_single))
    token = marked[brackets.cell]
    bounds = np.append(np.searchsorted(token, tokens.first), token.size)
    document = np.arange(bounds.size - 1).repeat(np.diff(bounds))
    width = int(brackets.entity.max(initial=0)) + 1
    entity = document * width
    entity += brackets.entity
    entity, codes = dense_ranks(entity)
    closing, unmatched = match_brackets(entity, brackets.opens, brackets.closes)
    return _Marks(
        brackets, token, document, entity, codes // width, closing, marked[bad], unmatched
    )


def _first_error(outline: Outline, tokens: ConllLines, marks: _Marks) -> InputError:
    if marks.unreadable.size:
        return no_coreference_cell(tokens, int(marks.unreadable[0]))
    row = int(marks.unmatched.min())
    return unmatched_bracket(outline, tokens, marks.token, marks.brackets, row)


def _repair_marks(
    outline: Outline,
    tokens: ConllLines,
    marked: IntArray,
    marks: _Marks,
    repairs: list[Repair],
) -> _Marks:
    """The marks without unreadable cells, and without brackets that have no partner."""
    if marks.unreadable.size:
        empty_unreadable(outline, tokens, marks.unreadable, repairs)
        marks = _find_marks(tokens, np.setdiff1d(marked, marks.unreadable))
        if marks.unreadable.size:
            raise _first_error(outline, tokens, marks)
    unmatched = np.sort(marks.unmatched)
    rows, hidden_counts = _select_reported(unmatched, marks.token[unmatched])
    for row, n_hidden in plain_rows(rows, hidden_counts):
        error = unmatched_bracket(outline, tokens, marks.token, marks.brackets, row, n_hidden)
        done = f"left out {excerpt(bracket_text(tokens.origin, marks.brackets, row))}"
        done += f" and {n_hidden:,} others" if n_hidden else ""
        document = str(document_of(outline, tokens, int(marks.token[row])))
        repairs.append(Repair("unbalanced-bracket", error, done, document))
    return marks


def _select_reported(brackets: IntArray, token: IntArray) -> ArrayPair:
    """The brackets to report, and how many further brackets of its token each stands for.

    All are reported, but of a token with more than twenty only the first.
    """
    first = np.searchsorted(token, token, side="left")
    place, size = np.arange(token.size) - first, np.searchsorted(token, token, side="right") - first
    many = size > _MANY
    shown = ~many | (place == 0)
    return brackets[shown], np.where(many, size - 1, 0)[shown]


def _find_overlapping(marks: _Marks) -> IntArray:
    """The tokens of the file on which a mention ends and another one of its entity begins.

    Both are longer than the token: a scorer that opens all brackets of a cell before it closes any,
    as v8.01 does, reads different mentions there.
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
    partner = unset(token.size)
    matched = np.flatnonzero(marks.closing >= 0)
    partner[matched], partner[marks.closing[matched]] = marks.closing[matched], matched
    # Mentions of the token alone stay what they are, and may stand between the two.
    rows = rows[(partner[rows] >= 0) & (token[partner[rows]] != token[rows])]
    rows = rows[np.lexsort((marks.entity[rows], token[rows]))]
    earlier, later = rows[:-1], rows[1:]
    meet = (token[earlier] == token[later]) & (marks.entity[earlier] == marks.entity[later])
    return np.unique(token[earlier[meet & closes[earlier] & opens[later]]])

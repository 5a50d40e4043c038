"""Reading CoNLL-2011/2012: bytes in, corpus out, without looking at more than is needed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from corefeval.diagnostics import InputError, Notice, excerpt, plural
from corefeval.formats.conll.brackets import match_brackets
from corefeval.formats.conll.cells import Brackets, parse_cells
from corefeval.formats.conll.empty_cells import rows_without_cell, with_trailing_blanks
from corefeval.formats.conll.hash_lines import is_coreference
from corefeval.formats.conll.headers import Outline, read_outline
from corefeval.formats.conll.lines import COMMENT, MARKED, split_lines
from corefeval.formats.conll.tokens import ConllTokens
from corefeval.formats.source import Source
from corefeval.model import Corpus
from corefeval.model.arrays import IntArray, dense_ranks
from corefeval.model.construction import textual_order

CELL_EXAMPLES = "‘-’, ‘_’, nothing, or brackets such as ‘(12’, ‘12)’, ‘(12)’, ‘(3|(12)’"


def read_conll(source: Source, *, name: str = "") -> Corpus:
    """Read the documents, tokens and mentions of a CoNLL file."""
    data, lines = split_lines(source.data)
    source = Source(data, source.file, source.encoding)
    outline = read_outline(source, lines, np.flatnonzero(lines.kind == COMMENT).tolist())
    token_line = np.flatnonzero(lines.kind > COMMENT)
    first, count = _tokens_of_documents(source, outline, token_line)
    marked = np.flatnonzero(lines.kind[token_line] == MARKED)
    tokens = ConllTokens(
        origin=source,
        line_start=lines.start[token_line],
        line_end=lines.end[token_line],
        prefix_end=lines.cell[token_line],
        line_number=token_line,
        first=first,
        counts=count,
    )
    return _corpus(source, outline, tokens, _read_marks(outline, tokens, marked), name)


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
    """The first mistake as an error, and the tokens of all: unreadable, or without a partner."""

    error: InputError
    token: IntArray
    unreadable: bool


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
        raise InputError(
            "there is no document in the file",
            file=source.file,
            expected="‘#begin document (id); part 000’ and a line for each token",
            fix="check that this is the file you mean, and its format",
        )
    inside = np.zeros(token_line.size + 1, dtype=np.int64)
    np.add.at(inside, first, 1)
    np.add.at(inside, first + count, -1)
    stray = int(token_line[np.argmax(np.cumsum(inside)[:-1] == 0)])
    text = _line_text(source, stray)
    raise InputError(
        "a token outside of any document",
        file=source.file,
        line=stray + 1,
        found=excerpt(text),
        expected="tokens only between ‘#begin document (id); part 000’ and ‘#end document’",
        fix="put the document's first line before its tokens, or check the format of the file",
    )


def _line_text(source: Source, line: int) -> str:
    rows = source.data.tobytes().split(b"\n", line + 1)
    return rows[line].decode(source.encoding, "replace").strip()


def _read_marks(outline: Outline, tokens: ConllTokens, marked: IntArray) -> _Marks:
    """Read the coreference cells of the tokens that have one, and join their brackets.

    Where coreference is left empty, the last text of a line is another column. What seems odd is
    therefore looked at again, with the columns counted, before it is called a mistake.
    """
    marks = _try_to_read_marks(outline, tokens, marked)
    if isinstance(marks, _Mistakes) or with_trailing_blanks(tokens, marked).size:
        odd, unreadable = marked[:0], False
        if isinstance(marks, _Mistakes):
            odd, unreadable = marks.token, marks.unreadable
        empty = rows_without_cell(tokens, marked, odd, unreadable)
        if empty.size:
            tokens.prefix_end[empty] = tokens.line_end[empty]
            marks = _try_to_read_marks(outline, tokens, np.setdiff1d(marked, empty))
    if isinstance(marks, _Mistakes):
        raise marks.error
    return marks


def _try_to_read_marks(
    outline: Outline, tokens: ConllTokens, marked: IntArray
) -> _Marks | _Mistakes:
    data = tokens.origin.data
    brackets, bad = parse_cells(data, tokens.prefix_end[marked], tokens.line_end[marked])
    alone = np.flatnonzero(tokens.prefix_end[marked] == tokens.line_start[marked])
    bad = np.union1d(bad, alone) if alone.size else bad
    if bad.size:
        error = _no_coreference_cell(tokens, int(marked[bad[0]]))
        return _Mistakes(error, marked[bad], unreadable=True)
    token = marked[brackets.cell]
    document = np.repeat(np.arange(len(outline.identifiers)), tokens.counts)[token]
    width = int(brackets.entity.max(initial=0)) + 1
    entity, codes = dense_ranks(document * width + brackets.entity)
    closing, unmatched = match_brackets(entity, brackets.opens, brackets.closes)
    if unmatched.size:
        error = _unmatched(outline, tokens, token, brackets, int(unmatched.min()))
        return _Mistakes(error, token[unmatched], unreadable=False)
    return _Marks(brackets, token, document, entity, codes // width, closing)


def _no_coreference_cell(tokens: ConllTokens, token: int) -> InputError:
    cells = tokens.cells(token)
    if len(cells) == 1 and is_coreference(cells[0].encode()):
        return InputError(
            "there is coreference, but no token",
            file=tokens.origin.file,
            line=int(tokens.line_number[token]) + 1,
            found=excerpt(cells[0]) + " as the only column",
            expected="two columns or more, coreference in the last",
            fix="put the token before its coreference",
        )
    return InputError(
        "the last column is no coreference column",
        file=tokens.origin.file,
        line=int(tokens.line_number[token]) + 1,
        found=excerpt(cells[-1]) + (" as the only column" if len(cells) == 1 else ""),
        expected=CELL_EXAMPLES,
        fix="coreference must be the last column of every token line",
    )


def _corpus(
    source: Source, outline: Outline, tokens: ConllTokens, marks: _Marks, name: str
) -> Corpus:
    """Put the mentions into textual order."""
    opening = np.flatnonzero(marks.brackets.opens)
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
        entity_names=lambda: _entity_names(source, marks),
        name=name or source.file,
        notices=_notices(source, outline),
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


def _notices(source: Source, outline: Outline) -> tuple[Notice, ...]:
    if not outline.unfinished:
        return ()
    return (
        Notice(
            "unfinished-documents",
            f"{source.file}: {plural(outline.unfinished, 'document')} without ‘#end document’ "
            "before the next one began; taken to end there",
            outline.unfinished,
        ),
    )


def _unmatched(
    outline: Outline,
    tokens: ConllTokens,
    token: IntArray,
    brackets: Brackets,
    row: int,
) -> InputError:
    source = tokens.origin
    begin, length = int(brackets.position[row]), int(brackets.length[row])
    identifier = source.data[begin : begin + length].tobytes().decode(source.encoding, "replace")
    opens = bool(brackets.opens[row])
    document = int(np.searchsorted(tokens.first, token[row], side="right")) - 1
    where = excerpt(str(outline.identifiers[document]))
    return InputError(
        f"a mention of entity {excerpt(identifier)} in document {where} never "
        + ("closes" if opens else "opens"),
        file=source.file,
        line=int(tokens.line_number[token[row]]) + 1,
        found=excerpt(f"({identifier}" if opens else f"{identifier})"),
        expected=excerpt(f"{identifier})" if opens else f"({identifier}")
        + (" on this line or a later one" if opens else " on this line or an earlier one"),
        fix="add the missing bracket, or remove this one",
    )

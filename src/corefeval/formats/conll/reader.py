"""Reading CoNLL-2011/2012: bytes in, corpus out, without looking at more than is needed."""

from __future__ import annotations

import numpy as np

from corefeval.diagnostics import InputError, Notice, excerpt, plural
from corefeval.formats.conll.brackets import match_brackets
from corefeval.formats.conll.cells import Brackets, cell_starts, parse_cells
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
    line_start, line_end = lines.start[token_line], lines.end[token_line]
    prefix_end = line_end - 1
    prefix_end[marked] = cell_starts(data, line_start[marked], line_end[marked])
    tokens = ConllTokens(
        origin=source,
        line_start=line_start,
        line_end=line_end,
        prefix_end=prefix_end,
        line_number=token_line,
        first=first,
        counts=count,
    )
    brackets, bad = parse_cells(data, prefix_end[marked], line_end[marked])
    if bad.size:
        marked = _without_empty_cells(tokens, marked, marked[bad])
        brackets, _ = parse_cells(data, prefix_end[marked], line_end[marked])
    return _corpus(source, outline, tokens, marked[brackets.cell], brackets, name)


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


def _without_empty_cells(tokens: ConllTokens, marked: IntArray, odd: IntArray) -> IntArray:
    """Sort out lines whose last cell is no coreference: an empty cell, or a mistake.

    Where coreference is empty, the last text of a line is another column, which may look like
    anything. Such lines have a column less than the others of the file.
    """
    width = tokens.width(odd)
    documents = np.unique(np.searchsorted(tokens.first, odd, side="right") - 1)
    in_question = np.concatenate(
        [np.arange(tokens.first[d], tokens.first[d] + tokens.counts[d]) for d in documents.tolist()]
    )
    short = in_question[tokens.n_cells(in_question) == width - 1]
    mistakes = np.setdiff1d(odd, short)
    if mistakes.size:
        raise _no_coreference_cell(tokens, int(mistakes[0]))
    tokens.prefix_end[short] = tokens.line_end[short]
    return np.setdiff1d(marked, short)


def _no_coreference_cell(tokens: ConllTokens, token: int) -> InputError:
    cells = tokens.cells(token)
    return InputError(
        "the last column is no coreference column",
        file=tokens.origin.file,
        line=int(tokens.line_number[token]) + 1,
        found=excerpt(cells[-1]) + (" as the only column" if len(cells) == 1 else ""),
        expected=CELL_EXAMPLES,
        fix="coreference must be the last column of every token line",
    )


def _corpus(
    source: Source,
    outline: Outline,
    tokens: ConllTokens,
    token: IntArray,
    brackets: Brackets,
    name: str,
) -> Corpus:
    """Join the brackets into mentions, and number entities through all documents."""
    document = np.repeat(np.arange(len(outline.identifiers)), tokens.counts)[token]
    width = int(brackets.entity.max(initial=0)) + 1
    entity, codes = dense_ranks(document * width + brackets.entity)
    closing, unmatched = match_brackets(entity, brackets.opens, brackets.closes)
    if unmatched.size:
        raise _unmatched(source, outline, tokens, token, brackets, int(unmatched.min()))
    opening = np.flatnonzero(brackets.opens)
    start, end = token[opening], token[closing[opening]] + 1
    order = textual_order(None, start, end)
    if order is not None:
        opening, start, end = opening[order], start[order], end[order]
    shift = tokens.first[document[opening]]
    return Corpus(
        documents=tuple(outline.identifiers),
        entity_document=codes // width,
        mention_entity=entity[opening],
        mention_start=start - shift,
        mention_end=end - shift,
        tokens=tokens,
        entity_names=lambda: _entity_names(source, brackets, entity, codes.size),
        name=name or source.file,
        notices=_notices(source, outline),
    )


def _entity_names(
    source: Source, brackets: Brackets, entity: IntArray, n_entities: int
) -> list[str]:
    example = np.empty(n_entities, dtype=np.int64)
    example[entity] = np.arange(entity.size)
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
    source: Source,
    outline: Outline,
    tokens: ConllTokens,
    token: IntArray,
    brackets: Brackets,
    row: int,
) -> InputError:
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

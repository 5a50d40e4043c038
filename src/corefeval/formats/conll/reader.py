"""Reading CoNLL-2011/2012: lines first, then documents, tokens and mentions."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import Notice, excerpt
from corefeval.formats.conll.layout import Layout
from corefeval.formats.conll.lines import COMMENT, MARKED, Lines, first_control, split_lines
from corefeval.formats.conll.marks import Mentions, read_mentions
from corefeval.formats.conll.repair import (
    Outline,
    Repair,
    control_character,
    decodable,
    no_document,
    read_outline,
    stray_token,
)
from corefeval.formats.conll.tokens import ConllLines
from corefeval.formats.source import Source
from corefeval.model import Corpus
from corefeval.model.arrays import IntArray
from corefeval.model.categories import LazyNames


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
    if repairs is None:
        _check_controls(source)
    else:
        source = decodable(source, repairs)
    data, lines = split_lines(source.data)
    source = replace(source, data=data)
    comments = np.flatnonzero(lines.kind == COMMENT).tolist()
    outline = read_outline(source, lines, comments, repairs)
    token_lines, marked, text = _find_tokens(source, lines, outline, word_column, layout)
    mentions = read_mentions(outline, token_lines, marked, text, repairs, is_plain=lines.is_plain)
    return Corpus(
        documents=tuple(outline.identifiers),
        entity_document=mentions.entity_document,
        mention_entity=mentions.entity,
        mention_start=mentions.start,
        mention_end=mentions.end,
        tokens=token_lines.tokens(),
        names=LazyNames(partial(_entity_names, source, mentions)),
        names_hold=True,
        name=name or source.file,
        notices=_notices(source, outline, token_lines, mentions),
    )


def _check_controls(source: Source) -> None:
    """Raise InputError for the first control character."""
    place = first_control(source.data)
    if place < 0:
        return
    content = source.data.tobytes()
    newline = b"\n" if b"\n" in content else b"\r"
    line = content.count(newline, 0, place)
    raise control_character(source, line, content.split(newline, line + 1)[line])


def _find_tokens(
    source: Source, lines: Lines, outline: Outline, word_column: int | None, layout: Layout | None
) -> tuple[ConllLines, IntArray, NDArray[np.uint64]]:
    """Token lines, the rows of those with coreference, and the last eight bytes of their cells."""
    token_line = np.flatnonzero(lines.kind > COMMENT)
    first, count = _tokens_of_documents(source, outline, token_line)
    marked = np.flatnonzero(lines.kind[token_line] == MARKED)
    line_end = lines.end[token_line]
    prefix_end = line_end - 1
    prefix_end[marked], text = lines.cells(source.data, token_line[marked])
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


def _entity_names(source: Source, mentions: Mentions) -> list[str]:
    view = source.data.data
    begin, length = mentions.name_start.tolist(), mentions.name_length.tolist()
    return [
        bytes(view[start : start + size]).decode(source.encoding, "replace")
        for start, size in zip(begin, length, strict=True)
    ]


def _notices(
    source: Source, outline: Outline, token_lines: ConllLines, mentions: Mentions
) -> tuple[Notice, ...]:
    """Notices of what was guessed about a file, or is likely to be wrong with it."""
    notices = [] if token_lines.layout.notice is None else [token_lines.layout.notice]
    if source.places is None:
        notices += unfinished_notices(source.file, outline)
    overlapping = mentions.overlapping
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

"""Documents of a CoNLL file; mistakes in it, raised as errors with their place or mended."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import count
from typing import NamedTuple

import numpy as np

from corefeval.diagnostics import InputError, excerpt, plural
from corefeval.formats.conll.cells import Brackets
from corefeval.formats.conll.lines import (
    COMMENT,
    TAB,
    Lines,
    Outline,
    first_control,
    is_coreference,
)
from corefeval.formats.conll.tokens import ConllLines
from corefeval.formats.source import Source
from corefeval.model import DocumentId
from corefeval.model.arrays import IntArray

CELL_EXAMPLES = "‘-’, ‘_’, nothing, or brackets such as ‘(12’, ‘12)’, ‘(12)’, ‘(3|(12)’"


def no_document(source: Source) -> InputError:
    """An error about a file without documents and tokens."""
    return source.error(
        "there is no document in the file",
        expected="‘#begin document (id); part 000’ and a line for each token",
        fix="check that this is the right file, and its format",
    )


def control_character(source: Source, line: int, text: bytes) -> InputError:
    """An error about a line (counted from 0) with a control character."""
    return source.error(
        "a control character, which would shift the columns of its line",
        source.line(line),
        found=excerpt(text.decode(source.encoding, "replace").strip(" \r")),
        expected="text: no NUL, nor any other byte below the tab",
        fix="remove the character, or name the file's encoding with --encoding",
    )


def stray_token(source: Source, line: int, text: bytes) -> InputError:
    """An error about a token outside of documents, on a line (counted from 0) of this text."""
    return source.error(
        "a token outside any document",
        source.line(line),
        found=excerpt(text.decode(source.encoding, "replace").strip()),
        expected="tokens only between ‘#begin document (id); part 000’ and ‘#end document’",
        fix="put the document's first line before its tokens, or check the format of the file",
    )


def no_coreference_cell(tokens: ConllLines, token: int) -> InputError:
    """An error about a token line whose last cell is no coreference, or its only cell."""
    cells, line = tokens.cells(token), tokens.find_line(token)
    if len(cells) == 1 and is_coreference(cells[0].encode()):
        return tokens.origin.error(
            "there is coreference, but no token",
            line,
            found=excerpt(cells[0]) + " as the only column",
            expected="two columns or more, coreference in the last",
            fix="put the token before its coreference",
        )
    return tokens.origin.error(
        "the last column is not a coreference column",
        line,
        found=excerpt(cells[-1]) + (" as the only column" if len(cells) == 1 else ""),
        expected=CELL_EXAMPLES,
        fix="coreference must be the last column of every token line",
    )


def bracket_text(source: Source, brackets: Brackets, row: int) -> str:
    """A bracket as it is written: `(12` or `12)`."""
    begin, length = int(brackets.position[row]), int(brackets.length[row])
    identifier = source.data[begin : begin + length].tobytes().decode(source.encoding, "replace")
    return f"({identifier}" if brackets.opens[row] else f"{identifier})"


def document_of(outline: Outline, tokens: ConllLines, token: int) -> DocumentId:
    """The document in which a token stands."""
    documents, first = tokens.with_tokens
    place = int(np.searchsorted(first, token, side="right")) - 1
    return outline.identifiers[int(documents[place])]


def unmatched_bracket(
    outline: Outline,
    tokens: ConllLines,
    token: IntArray,
    brackets: Brackets,
    row: int,
    n_hidden: int = 0,
) -> InputError:
    """An error about a bracket without partner, and `n_hidden` further ones of its cell."""
    source, opens = tokens.origin, bool(brackets.opens[row])
    text = bracket_text(source, brackets, row)
    where = f"in document {excerpt(str(document_of(outline, tokens, int(token[row]))))} "
    further = f", and {n_hidden:,} other brackets of its cell have no partner either"
    line = tokens.find_line(int(token[row]))
    return source.bracket_error(line, text.strip("()"), opens, where, further * (n_hidden > 0))


_REPLACED = dict.fromkeys(range(TAB), "�")


class Repair(NamedTuple):
    """A mistake that was mended: its kind, the error that would have been raised, what was done.

    Kinds: `wrong-encoding`, `repeated-document`, `stray-tokens`, `unreadable-cell`,
    `unbalanced-bracket`.
    """

    kind: str
    error: InputError
    done: str
    document: str | None = None


def decodable(source: Source, repairs: list[Repair]) -> Source:
    """The source with replacement characters where its bytes are no text."""
    data = source.data.tobytes()
    has_controls = first_control(source.data) >= 0
    try:
        source.decode(data)
    except InputError:
        pass
    else:
        if not has_controls:
            return source
    newline = b"\n" if b"\n" in data else b"\r"
    lines = data.split(newline)
    for index, line in enumerate(lines):
        try:
            text = source.decode(line, index)
        except InputError as error:
            text = line.decode(source.encoding, "replace")
            repairs.append(Repair("wrong-encoding", error, "replaced invalid bytes with �"))
        if has_controls and min(line, default=TAB) < TAB:
            text = text.translate(_REPLACED)
            control = control_character(source, index, line)
            repairs.append(Repair("wrong-encoding", control, "replaced invalid bytes with �"))
        lines[index] = text.encode(errors="backslashreplace")
    mended = np.frombuffer(newline.join(lines), dtype=np.uint8)
    return replace(source, data=mended, encoding="utf-8")


def rename_repeated(
    outline: Outline, repeated: Sequence[tuple[int, InputError]], repairs: list[Repair]
) -> None:
    """Give documents whose id is taken the first part that is free."""
    taken = set(outline.identifiers)
    for index, error in repeated:
        old = outline.identifiers[index]
        new = outline.identifiers[index] = _first_free_part(old.name, taken)
        taken.add(new)
        done = f"renamed the second to {excerpt(str(new))}"
        repairs.append(Repair("repeated-document", error, done, str(old)))


def adopt_strays(source: Source, lines: Lines, outline: Outline, repairs: list[Repair]) -> None:
    """Make documents, named by the file, of tokens that stand outside of documents."""
    token_lines = np.flatnonzero(lines.kind > COMMENT)
    taken = set(outline.identifiers)
    declared = list(zip(outline.identifiers, outline.begin, outline.end, strict=True))
    strays = []
    before = -1
    for _, begin, end in (*declared, (None, lines.kind.size, 0)):
        first, last = np.searchsorted(token_lines, (before, begin)).tolist()
        if last > first:
            name = DocumentId(source.stem)
            name = name if name not in taken else _first_free_part(source.stem, taken)
            taken.add(name)
            strays.append((name, before, begin))
            line = int(token_lines[first])
            error = stray_token(source, line, lines.read_line(source.data, line))
            done = f"put {plural(last - first, 'token')} into a document {excerpt(str(name))}"
            repairs.append(Repair("stray-tokens", error, done, str(name)))
        before = end
    everything = sorted((*declared, *strays), key=lambda document: document[1:])
    outline.identifiers[:] = [identifier for identifier, _, _ in everything]
    outline.begin = array("q", [begin for _, begin, _ in everything])
    outline.end = array("q", [end for _, _, end in everything])


def _first_free_part(name: str, taken: Collection[DocumentId]) -> DocumentId:
    """The id of this name with the lowest part that is not taken."""
    parts = (DocumentId(name, part) for part in count(1))
    return next(identifier for identifier in parts if identifier not in taken)


def empty_unreadable(
    outline: Outline, tokens: ConllLines, rows: IntArray, repairs: list[Repair]
) -> None:
    """Treat cells that are no coreference as empty, and note a repair for each.

    The only cell of a line is its token. Where most lines have no coreference in their last
    column, that column is kept as one of the token's.
    """
    is_column = 2 * rows.size > tokens.line_start.size
    for row in rows.tolist():
        error = no_coreference_cell(tokens, row)
        cells = tokens.cells(row)
        is_token = len(cells) == 1 and not is_coreference(cells[0].encode())
        if is_token or (is_column and len(cells) > 1):
            tokens.prefix_end[row] = tokens.line_end[row]
            done = f"kept {excerpt(cells[-1])} as another column, without coreference"
        else:
            done = f"left out {excerpt(cells[-1])}"
        document = str(document_of(outline, tokens, row))
        repairs.append(Repair("unreadable-cell", error, done, document))

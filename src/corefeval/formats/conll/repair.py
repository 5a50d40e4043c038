"""Going on where a CoNLL file is broken: what is left out or renamed, and a record of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from corefeval.diagnostics import InputError, excerpt, plural
from corefeval.formats.conll.hash_lines import is_coreference
from corefeval.formats.conll.lines import COMMENT, TAB, Lines, first_control
from corefeval.formats.conll.mistakes import (
    control_character,
    document_of,
    no_coreference_cell,
    stray_token,
)
from corefeval.formats.conll.tokens import ConllTokens
from corefeval.formats.source import Source
from corefeval.model import DocumentId
from corefeval.model.arrays import IntArray

if TYPE_CHECKING:
    from corefeval.formats.conll.headers import Outline


_REPLACED = dict.fromkeys(range(TAB), "�")


@dataclass(frozen=True, slots=True)
class Repair:
    """A mistake that was mended: its kind, the error that it would have been, what was done.

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
            text = source.decode(line, index + 1)
        except InputError as error:
            text = line.decode(source.encoding, "replace")
            repairs.append(Repair("wrong-encoding", error, "replaced what is no text with �"))
        if has_controls and min(line, default=TAB) < TAB:
            text = text.translate(_REPLACED)
            control = control_character(source, index, line)
            repairs.append(Repair("wrong-encoding", control, "replaced what is no text with �"))
        lines[index] = text.encode(errors="backslashreplace")
    mended = np.frombuffer(newline.join(lines), dtype=np.uint8)
    return replace(source, data=mended, encoding="utf-8")


def rename_repeated(
    outline: Outline, repeated: Sequence[tuple[int, InputError]], repairs: list[Repair]
) -> None:
    """Give later documents of an id that is taken a part that is free."""
    taken = set(outline.identifiers)
    for index, error in repeated:
        old = outline.identifiers[index]
        new = outline.identifiers[index] = _free(old.name, taken)
        taken.add(new)
        done = f"renamed the second to {excerpt(str(new))}"
        repairs.append(Repair("repeated-document", error, done, str(old)))


def adopt_strays(source: Source, lines: Lines, outline: Outline, repairs: list[Repair]) -> None:
    """Make documents, named by the file, of tokens that stand outside of documents."""
    token_lines = np.flatnonzero(lines.kind > COMMENT)
    taken = set(outline.identifiers)
    known = list(zip(outline.identifiers, outline.begin, outline.end, strict=True))
    strays = []
    before = -1
    for _, begin, end in (*known, (None, lines.start.size, 0)):
        first, last = np.searchsorted(token_lines, (before, begin)).tolist()
        if last > first:
            name = DocumentId(source.stem)
            name = name if name not in taken else _free(source.stem, taken)
            taken.add(name)
            strays.append((name, before, begin))
            line = int(token_lines[first])
            text = source.data[lines.start[line] : lines.end[line]].tobytes()
            error = stray_token(source, line, text)
            done = f"put {plural(last - first, 'token')} into a document {excerpt(str(name))}"
            repairs.append(Repair("stray-tokens", error, done, str(name)))
        before = end
    everything = sorted((*known, *strays), key=lambda document: document[1:])
    outline.identifiers[:] = [identifier for identifier, _, _ in everything]
    outline.begin[:] = [begin for _, begin, _ in everything]
    outline.end[:] = [end for _, _, end in everything]


def _free(name: str, taken: Collection[DocumentId]) -> DocumentId:
    """A document of this name with the first part that no other has."""
    parts = (DocumentId(name, part) for part in count(1))
    return next(identifier for identifier in parts if identifier not in taken)


def empty_unreadable(
    outline: Outline, tokens: ConllTokens, rows: IntArray, repairs: list[Repair]
) -> None:
    """Take cells that are no coreference for nothing.

    A cell that is all that its line has is the token. Where most lines have no coreference in
    their last column, that column is another one, and stays.
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

"""Documents of a CoNLL file; mistakes in it, raised as errors with their place or mended."""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import NamedTuple

import numpy as np

from corefeval.diagnostics import InputError, excerpt, plural
from corefeval.formats.conll.cells import Brackets
from corefeval.formats.conll.lines import (
    COMMENT,
    TAB,
    Lines,
    find_hash_tokens,
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
        fix="remove the character, or name the file's encoding with --encoding / encoding=…",
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


# Nearly all files write it just so; the looser patterns below are for the few that do not.
_BEGIN = rb"#begin document \(([^()\n]+)\); part (\d{1,18})"
_USUAL = re.compile(_BEGIN)
_USUAL_DOCUMENT = re.compile(rb"^%b\n#end document\n" % _BEGIN, re.MULTILINE)
_USUAL_END = b"#end document"
_END = DocumentId("#end document")  # compared by identity
_DOCUMENT_LINE = re.compile(rb"#\s*(begin|end)\s+document\b\s*(.*)", re.IGNORECASE | re.DOTALL)
_PART = re.compile(r"[0-9]{1,18}")


@dataclass(slots=True)
class Outline:
    """The documents of a file, and the lines between which each stands.

    `unfinished` documents end where the next one begins; `cut_short`: the last one does not end.
    `plain_comments` are lines that begin with `#`, and neither begin nor end a document.
    """

    identifiers: list[DocumentId] = field(default_factory=list)
    begin: array[int] = field(default_factory=partial(array, "q"))
    end: array[int] = field(default_factory=partial(array, "q"))
    unfinished: int = 0
    cut_short: bool = False
    plain_comments: list[int] = field(default_factory=list)


def read_outline(
    source: Source, lines: Lines, comments: list[int], repairs: list[Repair] | None = None
) -> Outline:
    """Find the documents; `#` lines that turn out to be tokens change their kind in `lines`."""
    repeated: list[tuple[int, InputError]] | None = None if repairs is None else []
    view = source.data.data
    starts, ends = (lines.before[comments] + 1).tolist(), lines.end[comments].tolist()
    texts = [view[start:end].tobytes() for start, end in zip(starts, ends, strict=True)]
    outline = _usual_outline(source, comments, texts)
    if outline is None:
        outline = outline_of(source, zip(comments, texts, strict=True), lines.kind.size, repeated)
    if repairs is not None and repeated is not None:
        rename_repeated(outline, repeated, repairs)
        adopt_strays(source, lines, outline, repairs)
    if outline.plain_comments:
        find_hash_tokens(source, lines, outline.plain_comments, outline.begin, outline.end)
    return outline


def _usual_outline(source: Source, comments: list[int], texts: list[bytes]) -> Outline | None:
    """The documents, if all begin and end in the usual form and have distinct ids; else None.

    One pattern reads all lines that begin with `#`: a loop would stop other threads for longer.
    """
    text = b"\n".join([*texts, b""])
    headers = _USUAL_DOCUMENT.findall(text)
    if 2 * len(headers) != len(comments) or not text.isascii():
        return None
    names, parts = zip(*headers, strict=True) if headers else ((), ())
    stripped = [name.strip() or source.stem for name in b"\n".join(names).decode().split("\n")]
    identifiers = list(map(DocumentId, stripped, map(int, parts)))
    if len(set(identifiers)) < len(identifiers):
        return None
    return Outline(identifiers, array("q", comments[::2]), array("q", comments[1::2]))


def outline_of(
    source: Source,
    marks: Iterable[tuple[int, bytes]],
    size: int,
    repeated: list[tuple[int, InputError]] | None = None,
) -> Outline:
    """The documents that lines beginning with `#` declare; `marks` has places and texts, in order.

    Places are line numbers counted from 0, or whatever `source.line` translates to lines. An id
    that appears twice raises InputError, unless there is a list `repeated` for such errors.
    """
    outline = Outline()
    seen: dict[DocumentId, int] = {}
    is_open = False
    for line, text in marks:
        identifier = _read_document_line(source, text, line)
        if identifier is None:
            outline.plain_comments.append(line)
        elif identifier is _END:
            if is_open:
                outline.end[-1] = line
            is_open = False
        else:
            if seen.setdefault(identifier, line) != line:
                error = source.repetition_error(identifier, seen[identifier], line)
                if repeated is None:
                    raise error
                repeated.append((len(outline.identifiers), error))
            if is_open:
                outline.unfinished += 1
                outline.end[-1] = line
            outline.identifiers.append(identifier)
            outline.begin.append(line)
            outline.end.append(size)
            is_open = True
    outline.cut_short = is_open
    return outline


def _read_document_line(source: Source, text: bytes, line: int) -> DocumentId | None:
    """The id of the document that a line begins, `_END` if it ends a document, else None."""
    if text == _USUAL_END:
        return _END
    usual = _USUAL.fullmatch(text)
    if usual is not None:
        name = source.decode(usual[1], line).strip() or source.stem
        return DocumentId(name, int(usual[2]))
    match = _DOCUMENT_LINE.match(text)
    if match is None:
        return None
    return _END if match[1][0] in b"eE" else _parse_identifier(source, match[2], line)


def _parse_identifier(source: Source, text: bytes, line: int) -> DocumentId:
    """The id that `(name); part 000` states; the part may be missing."""
    name = source.decode(text, line).strip()
    part = None
    words = name.rsplit(None, 1)
    if len(words) == 2 and _PART.fullmatch(words[1]) and words[0].lower().endswith("part"):
        before = words[0][: -len("part")].rstrip()
        if before.endswith((";", ")")):
            name, part = before, int(words[1])
    name = name.removesuffix(";").rstrip()
    if name.startswith("(") and name.endswith(")"):
        name = name[1:-1].strip()
    return DocumentId(name or source.stem, part)

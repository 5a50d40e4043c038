"""Document lines: `#begin document (id); part 000`, `#end document`, and everything like them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from corefeval.diagnostics import InputError
from corefeval.formats.conll.lines import Lines, find_hash_tokens
from corefeval.formats.conll.repair import Repair, adopt_strays, rename_repeated, repeated_document
from corefeval.formats.source import Source
from corefeval.model import DocumentId

# Nearly all files write it just so; the other patterns are for the rest.
_USUAL = re.compile(rb"#begin document \(([^()]+)\); part (\d{1,18})")
_DOCUMENT_LINE = re.compile(rb"#\s*(begin|end)\s+document\b\s*(.*)", re.IGNORECASE | re.DOTALL)
_PART = re.compile(r"[0-9]{1,18}")


@dataclass(slots=True)
class Outline:
    """The documents of a file, and the lines between which each stands.

    `unfinished` documents end where the next one begins; `cut_short`: the last one does not end.
    `others` are lines that begin with `#` and tell of no document.
    """

    identifiers: list[DocumentId] = field(default_factory=list)
    begin: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    unfinished: int = 0
    cut_short: bool = False
    others: list[int] = field(default_factory=list)


def read_outline(
    source: Source, lines: Lines, comments: list[int], repairs: list[Repair] | None = None
) -> Outline:
    """Find the documents; `#` lines that turn out to be tokens change their kind in `lines`."""
    view = source.data.data
    starts, ends = lines.start[comments].tolist(), lines.end[comments].tolist()
    marks = (
        (line, view[start:end]) for line, start, end in zip(comments, starts, ends, strict=True)
    )
    repeated: list[tuple[int, InputError]] | None = None if repairs is None else []
    outline = outline_of(source, marks, len(lines.start), repeated)
    if repairs is not None and repeated is not None:
        rename_repeated(outline, repeated, repairs)
        adopt_strays(source, lines, outline, repairs)
    find_hash_tokens(source, lines, outline.others, outline.begin, outline.end)
    return outline


def outline_of(
    source: Source,
    marks: Iterable[tuple[int, bytes | memoryview]],
    size: int,
    repeated: list[tuple[int, InputError]] | None = None,
) -> Outline:
    """The documents that lines beginning with `#` tell of: each a place and its text, in order.

    Places are lines counted from 0, or whatever `source.line` makes a line of. An id that is there
    twice is an error, unless there is a list for such.
    """
    outline = Outline()
    seen: dict[DocumentId, int] = {}
    is_open = False
    for line, text in marks:
        usual = _USUAL.fullmatch(text)
        match = usual or _DOCUMENT_LINE.match(text)
        if match is None:
            outline.others.append(line)
        elif usual is None and match[1][0] in b"eE":
            if is_open:
                outline.end[-1] = line
            is_open = False
        else:
            if usual is not None:
                name = source.decode(usual[1], line).strip() or source.stem
                identifier = DocumentId(name, int(usual[2]))
            else:
                identifier = _identifier(source, match[2], line)
            if seen.setdefault(identifier, line) != line:
                error = repeated_document(source, identifier, seen[identifier], line)
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


def _identifier(source: Source, text: bytes, line: int) -> DocumentId:
    """Name and part from `(name); part 000`, where only the name must be there."""
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

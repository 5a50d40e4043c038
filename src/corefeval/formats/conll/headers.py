"""Document lines: `#begin document (id); part 000`, `#end document`, and everything like them."""

from __future__ import annotations

import re
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
    """

    identifiers: list[DocumentId] = field(default_factory=list)
    begin: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    unfinished: int = 0
    cut_short: bool = False


def read_outline(
    source: Source, lines: Lines, comments: list[int], repairs: list[Repair] | None = None
) -> Outline:
    """Find the documents; `#` lines that turn out to be tokens change their kind in `lines`."""
    outline = Outline()
    seen: dict[DocumentId, int] = {}
    repeated: list[tuple[int, InputError]] = []
    is_open = False
    maybe_tokens: list[int] = []
    view = source.data.data
    starts, ends = lines.start[comments].tolist(), lines.end[comments].tolist()
    for line, start, end in zip(comments, starts, ends, strict=True):
        usual = _USUAL.fullmatch(view[start:end])
        match = usual or _DOCUMENT_LINE.match(view[start:end])
        if match is None:
            maybe_tokens.append(line)
        elif usual is None and match[1][0] in b"eE":
            if is_open:
                outline.end[-1] = line
            is_open = False
        else:
            if usual is not None:
                name = source.decode(usual[1], line + 1).strip() or source.stem
                identifier = DocumentId(name, int(usual[2]))
            else:
                identifier = _identifier(source, match[2], line)
            if seen.setdefault(identifier, line) != line:
                error = repeated_document(source, identifier, seen[identifier], line)
                if repairs is None:
                    raise error
                repeated.append((len(outline.identifiers), error))
            if is_open:
                outline.unfinished += 1
                outline.end[-1] = line
            outline.identifiers.append(identifier)
            outline.begin.append(line)
            outline.end.append(len(lines.start))
            is_open = True
    outline.cut_short = is_open
    if repairs is not None:
        rename_repeated(outline, repeated, repairs)
        adopt_strays(source, lines, outline, repairs)
    find_hash_tokens(source, lines, maybe_tokens, outline.begin, outline.end)
    return outline


def _identifier(source: Source, text: bytes, line: int) -> DocumentId:
    """Name and part from `(name); part 000`, where only the name must be there."""
    name = source.decode(text, line + 1).strip()
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

"""Document lines: `#begin document (id); part 000`, `#end document`, and everything like them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from corefeval.diagnostics import InputError, excerpt
from corefeval.formats.conll.lines import COMMENT, MARKED, UNMARKED, Lines, split_cells
from corefeval.formats.source import Source
from corefeval.model import DocumentId

# Nearly all files write it just so; the other patterns are for the rest.
_USUAL = re.compile(rb"#begin document \(([^()]+)\); part (\d{1,18})")
_DOCUMENT_LINE = re.compile(rb"#\s*(begin|end)\s+document\b\s*(.*)", re.IGNORECASE | re.DOTALL)
_NAME = re.compile(r"\((.*)\)\s*;?\s*(?:part\s+(\d{1,18}))?\s*", re.IGNORECASE | re.DOTALL)
_BARE_NAME = re.compile(r"(.*?)\s*;?\s*(?:;\s*part\s+(\d{1,18}))?\s*", re.IGNORECASE | re.DOTALL)
_COREFERENCE = re.compile(rb"[-_]|\|*(?:\([^()|]+\)?\|*|[^()|]+\)\|*)+")


@dataclass(slots=True)
class Outline:
    """The documents of a file, and the lines between which each stands."""

    identifiers: list[DocumentId] = field(default_factory=list)
    begin: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    unfinished: int = 0


def read_outline(source: Source, lines: Lines, comments: list[int]) -> Outline:
    """Find the documents; `#` lines that turn out to be tokens change their kind in `lines`."""
    outline = Outline()
    seen: dict[DocumentId, int] = {}
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
            if identifier in seen:
                raise _repeated(source, identifier, seen[identifier], line)
            seen[identifier] = line
            if is_open:
                outline.unfinished += 1
                outline.end[-1] = line
            outline.identifiers.append(identifier)
            outline.begin.append(line)
            outline.end.append(len(lines.start))
            is_open = True
    _find_hash_tokens(source, lines, maybe_tokens)
    return outline


def _identifier(source: Source, text: bytes, line: int) -> DocumentId:
    name = source.decode(text, line + 1).strip()
    match = _NAME.fullmatch(name) or _BARE_NAME.fullmatch(name)
    if match is None:
        return DocumentId(name or source.stem)
    part = int(match[2]) if match[2] else None
    return DocumentId(match[1].strip() or source.stem, part)


def _repeated(source: Source, identifier: DocumentId, first: int, again: int) -> InputError:
    return InputError(
        f"document {excerpt(str(identifier))} is there twice",
        file=source.file,
        line=again + 1,
        found=f"a second ‘#begin document’ for it (the first is on line {first + 1})",
        expected="one document for each id and part",
        fix="rename or remove one of the two, or number them with ‘part’",
    )


def _find_hash_tokens(source: Source, lines: Lines, candidates: list[int]) -> None:
    """Tell tokens such as `# NN -` from comments: they look like the token line before them.

    A comment line may be anything, so a token is a line with as many columns as the one before it
    and a last cell that could be coreference.
    """
    for line in candidates:
        cells = _cells(source, lines, line)
        if (
            len(cells) > 1
            and _COREFERENCE.fullmatch(cells[-1])
            and line
            and lines.kind[line - 1] > COMMENT
        ):
            before = _cells(source, lines, line - 1)
            if len(before) == len(cells):
                lines.cell[line] = lines.end[line] - len(cells[-1])
                lines.kind[line] = UNMARKED if cells[-1] in (b"-", b"_") else MARKED


def _cells(source: Source, lines: Lines, line: int) -> list[bytes]:
    return split_cells(source.data[lines.start[line] : lines.end[line]].tobytes())

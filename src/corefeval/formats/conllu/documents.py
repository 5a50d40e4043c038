"""The documents of a CoNLL-U file: their names, metadata, tokens, and the fields of `Entity`."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from corefeval.diagnostics import InputError, excerpt
from corefeval.formats.conllu.entity_attribute import Header
from corefeval.formats.conllu.scan import Scan
from corefeval.formats.source import Source
from corefeval.model import DocumentId
from corefeval.model.arrays import IntArray

TELLING = (b"# newdoc", b"# global.Entity", b"# meta::")


@dataclass(slots=True)
class Documents:
    """One entry for each document; `header` is None where no order of fields was declared."""

    identifiers: list[DocumentId] = field(default_factory=list)
    metadata: list[dict[str, str]] = field(default_factory=list)
    headers: list[Header | None] = field(default_factory=list)
    first: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    counts: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))


def find_documents(source: Source, found: Scan) -> Documents:
    """Read the comments that speak of documents; tokens before them make one without a name."""
    documents = Documents()
    begin: list[int] = []
    seen: dict[DocumentId, int] = {}
    telling = [
        (line, *read_comment(source.decode(found.text(line), line)))
        for line in _telling_comments(found)
    ]
    named = [line for line, key, _ in telling if key in ("newdoc", "newdoc id")]
    if found.token_line.size and (not named or found.token_line[0] < named[0]):
        telling.insert(0, (0, "newdoc", ""))
    header: Header | None = None
    metadata: dict[str, str] = {}
    for line, key, value in telling:
        if key in ("newdoc", "newdoc id"):
            number = len(documents.identifiers)
            fallback = source.stem + (f"_{number + 1}" if number else "")
            identifier = DocumentId.parse(value) if value else DocumentId(fallback)
            if identifier in seen:
                raise repetition_error(source, identifier, seen[identifier], line)
            seen[identifier] = line
            metadata = {}
            documents.identifiers.append(identifier)
            documents.metadata.append(metadata)
            documents.headers.append(header)
            begin.append(line)
        elif key == "global.Entity":
            header = Header.parse(value)
            documents.headers[-1:] = [header] if documents.headers else []
        else:
            metadata[key.removeprefix("meta::")] = value
    documents.first = np.searchsorted(found.token_line, begin)
    documents.counts = np.diff(np.append(documents.first, found.token_line.size))
    return documents


def read_comment(comment: str) -> tuple[str, str]:
    """The key and value of a comment."""
    key, _, value = comment.lstrip("# ").partition("=")
    return key.strip(), value.strip()


def _telling_comments(found: Scan) -> list[int]:
    """The comment lines that speak of documents, found by their third byte first."""
    start = np.minimum(found.line_start[found.comments] + 2, found.data.size - 1)
    third = found.data[start]
    some = found.comments[np.isin(third, np.frombuffer(b"ngm", dtype=np.uint8))]
    return [line for line in some.tolist() if found.text(line).startswith(TELLING)]


def repetition_error(source: Source, identifier: DocumentId, first: int, again: int) -> InputError:
    """Two documents of one id, by the lines (counted from 0) on which they begin."""
    return InputError(
        f"document {excerpt(str(identifier))} is there twice",
        file=source.file,
        line=source.line(again),
        found=f"a second ‘# newdoc id’ for it (the first is on line {source.line(first)})",
        expected="one document for each id",
        fix="rename or remove one of the two",
    )

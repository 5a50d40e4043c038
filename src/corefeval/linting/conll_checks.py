"""What only CoNLL files can have: mistakes that were mended in reading, and odd document lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from corefeval.diagnostics import excerpt
from corefeval.formats.conll.repair import Repair
from corefeval.formats.source import Source
from corefeval.linting.findings import Finding, from_error

# A document line as corefeval reads it, and the little that the official scorer insists on.
_DOCUMENT_LINE = re.compile(rb"(?im)^#[^\S\n]*begin[^\S\n]+document\b[^\n]*")
_END_LINE = re.compile(rb"(?i)#\s*end\s+document\b")
_OFFICIAL = re.compile(rb"#\s*begin document ")


def conll_findings(source: Source, repairs: Iterable[Repair]) -> Iterator[tuple[Finding, str]]:
    """The mistakes of a file and its document lines that others do not read, and what to do."""
    for repair in repairs:
        yield from_error(repair.error, repair.kind, document=repair.document), repair.done
    data = source.data.tobytes()
    yield from _unfinished(source, data)
    line, seen = 1, 0
    for match in _DOCUMENT_LINE.finditer(data):
        if not _OFFICIAL.match(match[0]):
            line += data.count(b"\n", seen, match.start())
            seen = match.start()
            text = excerpt(match[0].decode(source.encoding, "replace").strip())
            finding = Finding("document-line", f"found {text}", source.file, line)
            yield finding, "written as the official scorer reads it"


def _unfinished(source: Source, data: bytes) -> Iterator[tuple[Finding, str]]:
    """A file whose last document does not end, which may mean that the file was cut."""
    last = data.rstrip().rpartition(b"\n")[2]
    if last and not _END_LINE.match(last):
        text = excerpt(last.decode(source.encoding, "replace").strip())
        line = data.rstrip().count(b"\n") + 1
        finding = Finding("unfinished-file", f"the last line is {text}", source.file, line)
        yield finding, "an ‘#end document’ line added"

"""Files checked in pieces: what is odd about each, told with the lines of the file."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace

from corefeval.diagnostics import InputError, Notice
from corefeval.files import current_limit, unpack_limit
from corefeval.formats.ranges import Excerpt
from corefeval.formats.registry import find_format
from corefeval.linting import Inspection
from corefeval.linting.findings import Finding
from corefeval.linting.inspection import grade, inspect_source
from corefeval.linting.oddities import Contents, whole_file_findings
from corefeval.model.corpus import match_documents
from corefeval.pieces import Cutting
from corefeval.pieces.execution import map_pieces
from corefeval.pieces.index import Reading, index_side
from corefeval.pieces.planning import cut_side
from corefeval.pieces.scoring import read_notices


@dataclass(frozen=True, slots=True)
class _Part:
    excerpt: Excerpt
    size: int
    is_last: bool


@dataclass(frozen=True, slots=True)
class _Share:
    findings: tuple[Finding, ...]
    contents: Contents | None
    notices: tuple[Notice, ...]


def check_file(
    path: str, reading: Reading, cutting: Cutting, documents: str = "*"
) -> Inspection | None:
    """What was found in a file; None where it is to be read whole.

    That is so for folders, whose files are looked at one by one, and for files of which documents
    or lines cannot even be told apart.
    """
    with tempfile.TemporaryDirectory(prefix="corefeval-") as folder:
        try:
            side = index_side(path, reading, piece_size=cutting.bytes, folder=folder)
        except InputError:
            return None
        file = side.files[0]
        if side.several or file.ranges is None:
            return None
        rows = match_documents(side.documents, documents, side.name)
        runs = list(cut_side(side, rows, cutting.bytes))
        parts = [
            _Part(file.ranges.only(rows.tolist()), int(side.sizes[rows].sum()), rows is runs[-1])
            for rows in runs
        ]
        if len(parts) < 2:
            return None
        shares = map_pieces(
            _check, parts, current_limit(), executor=cutting.executor, progress=cutting.progress
        )
    # The whole is told of up to the first mistake behind which it cannot be read.
    broken = next((share for share in shares if share.contents is None), None)
    told_of = shares if broken is None else [broken]
    findings = [finding for share in told_of for finding in share.findings]
    contents = None
    if broken is None:
        contents = Contents.total([one.contents for one in shares if one.contents is not None])
        told = read_notices([n for share in shares for n in share.notices], side.notes)
        findings += whole_file_findings(file.file, contents, told)
        if contents.tokens != 1:  # the only token of a piece, and not of the file
            findings = [_in_larger_file(finding) for finding in findings]
    return Inspection(
        file.file, tuple(grade(findings)), find_format(file.ranges.format), contents=contents
    )


def _check(part: _Part, limit: int) -> _Share:
    with unpack_limit(limit):
        source = part.excerpt.source()
        format = find_format(part.excerpt.format)
        options = dict(part.excerpt.options) if format.has_columns else {}
        inspection = inspect_source(source, format, **options)
    # A document that does not end is followed by another one, but for the last of the file.
    findings = [
        finding
        for finding in inspection.findings
        if finding.kind not in _OF_FILE and (part.is_last or finding.kind != "unfinished-file")
    ]
    notices = () if inspection.corpus is None else inspection.corpus.notices
    return _Share(tuple(findings), inspection.contents, notices)


_OF_FILE = ("reading-notice", "no-mentions", "singletons")


def _in_larger_file(finding: Finding) -> Finding:
    if finding.kind != "one-token-file":
        return finding
    return replace(finding, kind="one-token-document", message="one token")

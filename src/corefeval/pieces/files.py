"""Files looked at in pieces: what is in them, and what is odd about each, with the file's lines."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar, cast

from corefeval.analysis.statistics import Statistics, count_contents, total
from corefeval.diagnostics import InputError, Notices
from corefeval.formats.ranges import Excerpt
from corefeval.formats.registry import find_format
from corefeval.linting import Inspection
from corefeval.linting.findings import Contents, Finding, whole_file_findings
from corefeval.linting.inspection import grade, inspect_source
from corefeval.model.corpus import match_documents
from corefeval.pieces import Cutting
from corefeval.pieces.execution import map_pieces
from corefeval.pieces.planning import Portion, Side, cut_side, index_side
from corefeval.pieces.scoring import read_notices
from corefeval.request import Reading

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class _Part:
    portion: Portion
    size: int
    is_last: bool


@dataclass(frozen=True, slots=True)
class _Share:
    findings: tuple[Finding, ...]
    contents: Contents | None
    notices: Notices


def count_files(
    path: str, reading: Reading, cutting: Cutting, documents: str = "*"
) -> tuple[Statistics, Notices] | None:
    """The statistics of files in pieces, and the notices; None where they are one piece."""
    with tempfile.TemporaryDirectory(prefix="corefeval-") as folder:
        side = index_side(path, reading, piece_size=cutting.bytes, folder=folder)
        shares = _map_parts(_count, side, cutting, documents)
    if shares is None:
        return None
    notices = [notice for _, part_notices in shares for notice in part_notices]
    return total([part for part, _ in shares]), tuple(read_notices(notices, side.notes))


def check_file(
    path: str, reading: Reading, cutting: Cutting, documents: str = "*"
) -> Inspection | None:
    """The inspection of a file in pieces; None where it is to be read whole.

    None comes back for folders, whose files are inspected one by one, and for files whose
    documents or lines cannot be told apart.
    """
    with tempfile.TemporaryDirectory(prefix="corefeval-") as folder:
        try:
            side = index_side(path, reading, piece_size=cutting.bytes, folder=folder)
        except InputError:
            return None
        file = side.files[0]
        if side.several or file.ranges is None:
            return None
        shares = _map_parts(_check, side, cutting, documents)
    if shares is None:
        return None
    # As in a file that is read whole, findings end with the first mistake that stops reading.
    broken = next((share for share in shares if share.contents is None), None)
    shown = [broken] if broken else shares
    findings = list(dict.fromkeys(finding for share in shown for finding in share.findings))
    contents = None
    if broken is None:
        contents = Contents.total(
            [share.contents for share in shares if share.contents is not None]
        )
        notices = read_notices([n for share in shares for n in share.notices], side.notes)
        findings += whole_file_findings(file.file, contents, notices)
        if contents.tokens != 1:  # the only token of a piece, and not of the file
            findings = [_in_larger_file(finding) for finding in findings]
    return Inspection(
        file.file, tuple(grade(findings)), find_format(file.ranges.format), contents=contents
    )


def _map_parts(
    function: Callable[[_Part], R], side: Side, cutting: Cutting, documents: str
) -> list[R] | None:
    """What a function gives for each part of a side; None where there is only one."""
    runs = [*cut_side(side, match_documents(side.documents, documents, side.name), cutting.bytes)]
    if len(runs) < 2:
        return None
    parts = [_Part(side.only(rows), int(side.sizes[rows].sum()), rows is runs[-1]) for rows in runs]
    return map_pieces(function, parts, cutting)


def _count(part: _Part) -> tuple[Statistics, Notices]:
    corpus = part.portion.read()
    return replace(count_contents(corpus), corpus=None), corpus.notices


def _check(part: _Part) -> _Share:
    excerpt = cast("Excerpt", part.portion.reads[0])  # of a file that is cut, and no other
    format = find_format(excerpt.origin.format)
    options = dict(excerpt.origin.options) if format.has_columns else {}
    inspection = inspect_source(excerpt.source(), format, **options)
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

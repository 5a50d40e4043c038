"""Checking files: each is read, however broken, and looked at."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from corefeval.diagnostics import InputError
from corefeval.formats import annotates_nothing
from corefeval.formats.conll.repair import Repair
from corefeval.formats.paths import files_of
from corefeval.formats.registry import (
    HEAD,
    Format,
    UnknownFormatError,
    detected,
    load,
    named,
)
from corefeval.formats.source import Source, read_source
from corefeval.linting.conll_checks import conll_findings
from corefeval.linting.document_checks import document_findings
from corefeval.linting.findings import Finding, Locator, from_error
from corefeval.linting.key_checks import check_against_key
from corefeval.linting.kinds import KINDS, SEVERITIES
from corefeval.linting.mention_checks import mention_findings
from corefeval.model import Corpus, join


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was found in a file; `mended` says what a reader that goes on did about mistakes.

    There is no corpus where the file could not be read at all, and no format where it has none.
    """

    file: str
    findings: tuple[Finding, ...]
    format: Format | None = None
    corpus: Corpus | None = None
    source: Source | None = None
    mended: tuple[tuple[Finding, str], ...] = ()

    @property
    def has_errors(self) -> bool:
        """Whether anything stops scoring or loses mentions."""
        return any(finding.severity == "error" for finding in self.findings)


def check_corpus(
    corpus: Corpus, *, against: Corpus | None = None, file: str | None = None
) -> list[Finding]:
    """What is odd about a corpus, the grave first; also how it fits a key."""
    return _graded(_corpus_findings(Locator(corpus, file or corpus.name or None), against))


def inspect(
    path: str | os.PathLike[str],
    *,
    against: Corpus | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
) -> list[Inspection]:
    """Check a file, or each file of a folder or pattern; also how they fit a key.

    The files of a folder are compared with the key together, and their documents with each other.
    """
    files, several = files_of(path)
    if not several:
        return [_inspect_file(files[0], format, encoding, against)]
    inspections = [_inspect_file(file, format, encoding, None) for file in files]
    together = _graded(_folder_findings(os.fspath(path), inspections, against))
    by_file = {inspection.file: inspection for inspection in inspections}
    for file, inspection in by_file.items():
        own = (*inspection.findings, *(finding for finding in together if finding.file == file))
        by_file[file] = replace(inspection, findings=tuple(_graded(own)))
    rest = tuple(finding for finding in together if finding.file not in by_file)
    return [*by_file.values(), *([Inspection(os.fspath(path), rest)] if rest else [])]


def _inspect_file(
    file: str, format: str | None, encoding: str, against: Corpus | None
) -> Inspection:
    chosen = named(format) if format else None
    try:
        source = read_source(file, encoding=encoding)
        if not source.data.size and annotates_nothing(file):
            chosen = chosen or named("brat")
        elif not source.data.size:
            raise InputError("the file is empty", file=source.file, fix="check the path")
        chosen = chosen or detected(source.data[:HEAD].tobytes(), source.file)
    except InputError as error:
        if isinstance(error, UnknownFormatError):  # the list of all formats is long
            error = InputError(error.problem, file=error.file, found=error.found, fix=error.fix)
        name = "standard input" if file == "-" else file
        return Inspection(name, (from_error(error, file=name),), chosen)
    return inspect_source(source, chosen, against)


def inspect_source(source: Source, format: Format, against: Corpus | None = None) -> Inspection:
    """Check what was read from a file already."""
    corpus = None
    mended: list[tuple[Finding, str]] = []
    findings: list[Finding] = []
    try:
        corpus, mended = _read(source, format)
        findings += [finding for finding, _ in mended]
        findings += _corpus_findings(Locator(corpus, source.file), against)
    except InputError as error:
        findings.append(from_error(error, file=source.file))
    graded = tuple(_graded(findings))
    return Inspection(source.file, graded, format, corpus, source, tuple(mended))


def _read(source: Source, format: Format) -> tuple[Corpus, list[tuple[Finding, str]]]:
    """Read a file; behind each mistake of a broken CoNLL file reading goes on."""
    if format.name != "conll":
        return load(format.reader)(source, name=""), []
    from corefeval.formats.conll.reader import read_conll

    repairs: list[Repair] = []
    corpus = read_conll(source, repairs=repairs)
    return corpus, list(conll_findings(source, repairs))


def _corpus_findings(locator: Locator, against: Corpus | None) -> Iterator[Finding]:
    yield from mention_findings(locator)
    yield from document_findings(locator)
    if against is not None:
        yield from check_against_key(locator, against)


def _folder_findings(
    folder: str, inspections: Sequence[Inspection], against: Corpus | None
) -> Iterator[Finding]:
    """What the files of a folder are together."""
    read = [(i.file, i.corpus) for i in inspections if i.corpus is not None]
    try:
        corpus = join([corpus for _, corpus in read], name=folder) if read else None
    except InputError as error:
        yield from_error(error, "repeated-document")
        return
    if corpus is not None and against is not None:
        files = [file for file, one in read for _ in one.documents]
        yield from check_against_key(Locator(corpus, folder, files), against)


def _graded(findings: Iterator[Finding] | Sequence[Finding]) -> list[Finding]:
    """Errors first, kinds together, in the order of lines."""
    rank = {name: number for number, name in enumerate(KINDS)}
    return sorted(
        findings,
        key=lambda f: (SEVERITIES.index(f.severity), rank[f.kind], f.line or 0),
    )

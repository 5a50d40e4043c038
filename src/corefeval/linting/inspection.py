"""Checking files: each is read, however broken, looked at, and held against a key."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from corefeval.archives import list_samples
from corefeval.diagnostics import (
    InputError,
    Notice,
    PairingError,
    excerpt,
    list_names,
    memory_for,
    plural,
)
from corefeval.files import PathLike
from corefeval.formats import files_of, format_of, read, reader_options
from corefeval.formats.conll.layout import Layout
from corefeval.formats.conll.repair import Repair
from corefeval.formats.declarations import Format
from corefeval.formats.registry import UnknownFormatError, find_format
from corefeval.formats.source import Oddity, Source, read_source
from corefeval.linting.findings import (
    KINDS,
    SEVERITIES,
    Contents,
    Finding,
    Locator,
    answer_findings,
    conll_findings,
    document_findings,
    find_unaligned,
    from_error,
)
from corefeval.linting.oddities import matching_findings, mention_findings, relation_findings
from corefeval.model import Corpus, DocumentId, TokenDifference, find_difference, join
from corefeval.model.arrays import IntArray, integers, set_rows
from corefeval.model.corpus import match_documents
from corefeval.model.identity import mention_codes
from corefeval.pairing.documents import find_partners, find_similar, unify_positions
from corefeval.pairing.mismatches import ENOUGH, MISMATCH, advise, find_suspects
from corefeval.pairing.texts import describe_difference, find_differing_documents
from corefeval.protocol import Protocol, TokenRule


@dataclass(frozen=True, slots=True)
class Inspection:
    """The findings about a file; `mended` has those that reading corrected, and how.

    There is no corpus where the file could not be read at all, and no format where it has none.
    """

    file: str
    findings: tuple[Finding, ...]
    format: Format | None = None
    corpus: Corpus | None = None
    source: Source | None = None
    mended: tuple[tuple[Finding, str], ...] = ()
    contents: Contents | None = None

    def fails(self, strict: bool = False) -> bool:
        """Whether there are errors or, with `strict`, warnings."""
        grave = ("error", "warning") if strict else ("error",)
        return any(finding.severity in grave for finding in self.findings)


def check_corpus(
    corpus: Corpus, *, against: Corpus | None = None, file: str | None = None
) -> list[Finding]:
    """Findings about a corpus, errors first, also about how it fits a key."""
    return grade(_corpus_findings(Locator(corpus, file or corpus.name or None), against))


def inspect(
    path: PathLike,
    *,
    against: Corpus | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    word_column: int | None = None,
    layer: str | None = None,
    documents: str = "*",
    tokens: TokenRule = "same",
    skipped: Collection[str] = (),
    **answers: Any,
) -> list[Inspection]:
    """Check a file, or each file of a folder or pattern; also how they fit a key.

    The files of a folder are compared with the key together, and their documents with each other.
    `documents` is a glob: only documents whose id it matches are looked at, and only files that
    have any; a PairingError says that none has. With `tokens` "align", texts that differ from the
    key's are aligned, and findings say what has no counterpart.
    Findings of the kinds in `skipped` are left out, which may save time.
    Answers of language models need a key; findings say what became of their mentions. `answers` are
    keywords of `read_answers`.
    """
    if format is None and ("answer_at" in answers or list_samples(os.fspath(path)) is not None):
        format = "llm"
    if format is not None and find_format(format).needs_key:
        return [_inspect_answers(os.fspath(path), find_format(format), encoding, against, answers)]
    files, several = files_of(path)
    reading = (format, encoding, word_column, layer, None if several else against, answers)
    checks: dict[str, Any] = {"documents": documents, "tokens": tokens, "skipped": skipped}
    inspections = _inspect_files([partial(_inspect_file, f, *reading, **checks) for f in files])
    if not inspections:
        problem = f"no document of {os.fspath(path)} matches {documents!r}"
        raise PairingError(problem, fix="`*` stands for any text: 'bc/*', '*_0001; part 000'")
    if not several:
        return inspections
    return _add_shared(os.fspath(path), inspections, against, tokens)


def _inspect_files(tasks: Iterable[Callable[[], Inspection]]) -> list[Inspection]:
    """The inspections of files that have documents, or could not be read.

    As in scoring, files of no known format are left out where others can be read.
    """
    inspections, unknown = [], []
    for inspect_file in tasks:
        try:
            inspections.append(inspect_file())
        except UnknownFormatError as error:
            unknown.append(error)
    kind = "reading-notice" if inspections else ""
    inspections += [Inspection(str(e.file), (from_error(e, kind),)) for e in unknown]
    return [i for i in inspections if i.corpus is None or i.corpus.documents]


def _add_shared(
    path: str, inspections: Sequence[Inspection], against: Corpus | None, tokens: TokenRule
) -> list[Inspection]:
    """Inspections of the files of a folder, with findings that depend on all of them."""
    together = grade(_folder_findings(path, inspections, against, tokens))
    by_file = {inspection.file: inspection for inspection in inspections}
    for file, inspection in by_file.items():
        shared = [finding for finding in together if finding.file == file]
        findings = tuple(grade([*inspection.findings, *shared]))
        by_file[file] = replace(inspection, findings=findings)
    of_folder = tuple(finding for finding in together if finding.file not in by_file)
    return [*by_file.values(), *([Inspection(path, of_folder)] if of_folder else ())]


def _inspect_file(
    file: str,
    format: str | None,
    encoding: str,
    word_column: int | None,
    layer: str | None,
    against: Corpus | None,
    answers: Mapping[str, Any],
    **checks: Any,
) -> Inspection:
    """Check one file, of any format; what stops reading it is a finding.

    `checks` are keywords of `inspect_source`.
    """
    form = find_format(format) if format else None
    try:
        with memory_for(file):
            source = read_source(file, encoding=encoding)
        form = format_of(source, file, form)
        if form.needs_key:
            return _inspect_answers(file, form, encoding, against, answers)
    except UnknownFormatError:
        raise
    except InputError as error:
        name = "standard input" if file == "-" else file
        return Inspection(name, (from_error(error, file=name),), form)
    options = reader_options(form, source.file, word_column, layer)
    return inspect_source(source, form, against, **options, **checks)


def _inspect_answers(
    path: str, format: Format, encoding: str, against: Corpus | None, answers: Mapping[str, Any]
) -> Inspection:
    """Check answers of language models, which cannot be read without their key."""
    try:
        corpus = read(path, format=format.name, encoding=encoding, key=against, **answers)
    except InputError as error:
        return Inspection(path, (from_error(error, file=path),), format)
    findings = [] if corpus.ledger is None else list(answer_findings(corpus.ledger, path))
    ledger_kinds = {finding.kind for finding in findings}
    further_notices = tuple(notice for notice in corpus.notices if notice.kind not in ledger_kinds)
    locator = Locator(corpus.with_details(notices=further_notices), path)
    # The tokens are the key's, so their lines are not those of this file.
    findings += [replace(finding, line=None) for finding in _corpus_findings(locator, against)]
    return Inspection(path, tuple(grade(findings)), format, corpus)


def inspect_source(
    source: Source,
    format: Format,
    against: Corpus | None = None,
    *,
    layout: Layout | None = None,
    documents: str = "*",
    tokens: TokenRule = "same",
    skipped: Collection[str] = (),
    **options: Any,
) -> Inspection:
    """Check the content of a file; `layout` is its layout where the source is a part of a file.

    `options` are those of the format's reader, such as `word_column=`.
    """
    corpus = None
    mended: list[tuple[Finding, str]] = []
    findings: list[Finding] = []
    try:
        with memory_for(source.file):
            corpus, mended = _read(source, format, options, layout)
            if documents != "*":
                rows = match_documents(corpus.documents, documents, source.file, may_be_empty=True)
                corpus = corpus.select_documents(rows)
                names = {None, *map(str, corpus.documents)}
                mended = [(finding, done) for finding, done in mended if finding.document in names]
            findings += [finding for finding, _ in mended]
            locator = Locator(corpus, source.file, skipped=skipped)
            findings += _corpus_findings(locator, against, tokens)
    except InputError as error:
        findings.append(from_error(error, file=source.file))
    graded = tuple(finding for finding in grade(findings) if finding.kind not in skipped)
    contents = None if corpus is None else Contents.of(corpus)
    return Inspection(source.file, graded, format, corpus, source, tuple(mended), contents)


def _read(
    source: Source, format: Format, options: dict[str, Any], layout: Layout | None = None
) -> tuple[Corpus, list[tuple[Finding, str]]]:
    """Read a file; reading a broken CoNLL file goes on after each mistake."""
    if format.name in ("conllua", "corefud"):
        return _read_with_oddities(source, format)
    if format.name != "conll":
        return format.read(source, **options), []
    from corefeval.formats.conll.reader import read_conll

    repairs: list[Repair] = []
    corpus = read_conll(source, **options, layout=layout, repairs=repairs)
    return corpus, list(conll_findings(source, repairs))


# Kinds of notices whose details readers also list line by line.
_BY_LINE = frozenset(
    ("contradictory-anchors", "minimum-outside", "repeated-markables", "unresolved-relations")
)


def _read_with_oddities(source: Source, format: Format) -> tuple[Corpus, list[tuple[Finding, str]]]:
    """Read a file whose reader lists what it leaves out, with the lines where that stands."""
    oddities: list[Oddity] = []
    corpus = format.read(source, oddities=oddities)
    findings = [
        Finding(oddity.kind, oddity.message, source.file, oddity.line) for oddity in oddities
    ]
    notices = tuple(notice for notice in corpus.notices if notice.kind not in _BY_LINE)
    return corpus.with_details(notices=notices), [(finding, "left out") for finding in findings]


def _corpus_findings(
    locator: Locator, against: Corpus | None, tokens: TokenRule = "same"
) -> Iterator[Finding]:
    yield from mention_findings(locator)
    yield from matching_findings(locator)
    yield from relation_findings(locator)
    yield from document_findings(locator)
    if against is not None:
        yield from comparison_findings(locator, against, tokens)


def _folder_findings(
    folder: str, inspections: Sequence[Inspection], against: Corpus | None, tokens: TokenRule
) -> Iterator[Finding]:
    """Findings about the files of a folder together: repeated documents, and how they fit a key."""
    corpora = [(i.file, i.corpus) for i in inspections if i.corpus is not None]
    try:
        corpus = join([corpus for _, corpus in corpora], name=folder) if corpora else None
    except InputError as error:
        yield from_error(error, "repeated-document")
        return
    if corpus is not None and against is not None:
        files = [file for file, part in corpora for _ in part.documents]
        yield from comparison_findings(Locator(corpus, folder, files), against, tokens)


def grade(findings: Iterator[Finding] | Sequence[Finding]) -> list[Finding]:
    """The findings with errors first, by kind, and by line within a kind."""
    rank = {name: number for number, name in enumerate(KINDS)}
    return sorted(findings, key=lambda f: (SEVERITIES.index(f.severity), rank[f.kind], f.line or 0))


_SIMILAR = 0.6


def comparison_findings(
    locator: Locator, key: Corpus, rule: TokenRule = "same"
) -> Iterator[Finding]:
    """Findings about documents, texts and mentions that do not fit the key."""
    corpus = locator.corpus
    pairs = find_partners(key.documents, corpus.documents)
    paired = set(pairs.values())
    missing = [d for index, d in enumerate(key.documents) if index not in pairs]
    extra = [index for index in range(len(corpus.documents)) if index not in paired]
    if not pairs:
        names, key_names = (list_names([*map(str, side.documents)]) for side in (corpus, key))
        message = f"{names or 'nothing'} here, {key_names or 'nothing'} in the key"
        yield locator.about_file("nothing-pairs", message)
        return
    extra_documents = [corpus.documents[index] for index in extra]
    for identifier in missing:
        message = f"in {key.name or 'the key'}, but not here{_hint(identifier, extra_documents)}"
        yield Finding("missing-document", message, locator.file, document=str(identifier))
    for index in extra:
        hint = _hint(corpus.documents[index], missing)
        message = f"not in {key.name or 'the key'}{hint}"
        yield locator.about_document("extra-document", index, message, 0)
    indices = integers(list(pairs))
    file_index = set_rows(indices, list(pairs.values()), len(key.documents))
    placed = corpus.select_documents(file_index, key.documents)
    if key.tokens is not None and corpus.tokens is not None:
        is_aligned = rule == "align"
        protocol = Protocol.of(tokens="align" if is_aligned else "ignore")
        try:
            key, placed, _, notices = unify_positions(key, placed, indices, protocol)
        except PairingError as error:
            yield from_error(error, "differing-tokens", file=locator.file)
            return
        if is_aligned:
            yield from find_unaligned(locator, key, placed)
        else:
            yield from _text_findings(locator, key, placed, file_index, notices)
    yield from _mention_findings(locator, key, placed, file_index)


def _hint(identifier: DocumentId, candidates: Sequence[DocumentId]) -> str:
    close = find_similar(identifier, candidates, _SIMILAR)
    return "" if close is None else f"; did you mean {excerpt(close)}?"


def _text_findings(
    locator: Locator, key: Corpus, placed: Corpus, file_index: IntArray, notices: Sequence[Notice]
) -> Iterator[Finding]:
    """What was noticed, and the first difference of each document, in the order of the key.

    `placed` has the key's documents in the key's order, and `file_index` their indices in the file,
    −1 for documents that the file lacks, and from now on for those that differ.
    """
    for notice in notices:
        if not notice.items:
            yield locator.about_file("reading-notice", notice.message)
        elif notice.kind != "other-tokens":
            for identifier in notice.items:
                message = "the text differs from the key's words"
                yield Finding("differing-tokens", message, locator.file, document=identifier)
    if not any(notice.kind == "other-tokens" for notice in notices):
        return
    if key.tokens is None or placed.tokens is None:
        return
    indices = np.flatnonzero(file_index >= 0)
    for index in find_differing_documents(key.tokens, placed.tokens, indices):
        n_key, n_tokens = int(key.tokens.counts[index]), int(placed.tokens.counts[index])
        difference = find_difference(key.tokens, placed.tokens, [index])
        counts = f"{plural(n_tokens, 'token')} of the key's {n_key:,}"
        if _is_truncated(difference, n_key, n_tokens):
            message, kind, position = f"{counts}, then it ends", "truncated-document", n_tokens - 1
        elif difference is not None:
            message = ", not ".join(describe_difference(difference, key.tokens))
            message += f"; {counts}" if n_key != n_tokens else ""
            kind, position = "differing-tokens", difference.position
        else:
            message, kind, position = counts, "differing-tokens", n_key
        yield locator.about_document(kind, int(file_index[index]), message, max(position, 0))
        file_index[index] = -1  # differing tokens explain why its mentions are not the key's


def _mention_findings(
    locator: Locator, key: Corpus, placed: Corpus, file_index: IntArray
) -> Iterator[Finding]:
    """Findings about documents with hardly a mention in common with the key."""
    if (key.labels is None) != (placed.labels is None):
        return
    if not key.n_mentions or not placed.n_mentions:
        return
    key_codes, codes = mention_codes(key, placed)
    common = np.flatnonzero(np.isin(key_codes, codes))
    suspects = find_suspects(key, placed, common)
    for index, size, n_common in zip(
        suspects.documents, suspects.sizes, suspects.common, strict=True
    ):
        if file_index[index] >= 0 and (size >= ENOUGH or not common.size):
            message = f"{n_common:,} of {plural(size, 'mention')} in common with the key: "
            message += advise([suspects])
            yield locator.about_document(MISMATCH, int(file_index[index]), message)


def _is_truncated(difference: TokenDifference | None, n_key: int, n_tokens: int) -> bool:
    """Whether a document is the beginning of the key's; its last word may be cut."""
    agrees = difference is None or (
        difference.position == n_tokens - 1
        and difference.key_word.startswith(difference.response_word)
    )
    return n_tokens < n_key and agrees

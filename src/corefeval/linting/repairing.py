"""Repaired copies of files."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from corefeval.diagnostics import InputError, Notices, UsageError, plural
from corefeval.files import PathLike, is_stream
from corefeval.formats import files_of, write
from corefeval.formats.declarations import Format
from corefeval.formats.registry import find_format
from corefeval.formats.source import Source
from corefeval.linting.findings import Finding
from corefeval.linting.inspection import Inspection, inspect, inspect_source
from corefeval.linting.oddities import first_copies
from corefeval.model import Corpus
from corefeval.model.identity import mention_codes


@dataclass(frozen=True, slots=True)
class Change:
    """A difference of the new file from the old one: its kind, its line, and what was done."""

    kind: str
    done: str
    line: int | None = None
    finding: Finding | None = None


@dataclass(frozen=True, slots=True)
class FileRepair:
    """A repaired copy of a file: the changes, and the inspection of the new file."""

    file: str
    target: str
    format: str
    changes: tuple[Change, ...]
    after: tuple[Inspection, ...]


def repair_file(
    path: PathLike,
    target: PathLike,
    *,
    against: Corpus | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    word_column: int | None = None,
    layer: str | None = None,
) -> FileRepair:
    """Write a repaired copy of a file, in the same format and UTF-8.

    What may be intended stays: a span in two entities, nesting, mentions across sentences (unless
    the format cannot express them). A file that cannot be read at all is an error, and the input
    is never overwritten. The new file is checked, and compared with a key if there is one.
    """
    if files_of(path)[1]:
        raise UsageError(
            f"only single files can be repaired, not {os.fspath(path)}: repair each file by "
            "itself, as in for file in *.conll; do corefeval check $file --fix fixed/$file; done"
        )
    _refuse_to_overwrite(os.fspath(path), os.fspath(target))
    (before,) = inspect(
        path, format=format, encoding=encoding, word_column=word_column, layer=layer
    )
    if before.corpus is None or before.format is None or before.source is None:
        error = before.findings[0]
        raise InputError(
            f"the file cannot be repaired: {error.message}",
            file=error.file,
            line=error.line,
            fix=error.advice,
        )
    corpus, changes = _without_copies(before.corpus, before.findings)
    form = _form(before.format, before.source)
    notices, after = _write(corpus, os.fspath(target), form, against)
    changes += [Change(f.kind, done, f.line, f) for f, done in before.mended]
    changes.sort(key=lambda change: change.line or 0)
    changes += [Change(notice.kind, notice.message) for notice in notices]
    return FileRepair(before.file, os.fspath(target), form, tuple(changes), tuple(after))


def _write(
    corpus: Corpus, target: str, form: str, against: Corpus | None
) -> tuple[Notices, Sequence[Inspection]]:
    """Write the corpus, and check what was written."""
    if target != "-" and not is_stream(target):
        notices = write(corpus, target, format=form)
        return notices, inspect(target, against=against, format=form)
    stream = io.BytesIO()
    notices = write(corpus, stream, format=form)
    write(corpus, target, format=form)
    data = np.frombuffer(stream.getvalue(), dtype=np.uint8)
    name = "standard output" if target == "-" else target
    return notices, [inspect_source(Source(data, name), find_format(form), against)]


def _refuse_to_overwrite(path: str, target: str) -> None:
    """The target must not be the input, nor a folder that may hold it."""
    if not os.path.exists(path) or not os.path.exists(target):
        return
    inside = os.path.isdir(target) and Path(path).resolve().is_relative_to(Path(target).resolve())
    if inside or os.path.samefile(path, target):
        raise UsageError(f"the repaired file would overwrite its input: {target}")


def _without_copies(corpus: Corpus, findings: tuple[Finding, ...]) -> tuple[Corpus, list[Change]]:
    """The corpus without repeated mentions of an entity, and the changes."""
    if not corpus.n_mentions:
        return corpus, []
    codes, _ = mention_codes(corpus, corpus)
    keep = first_copies(corpus, codes)
    changes = [
        Change(finding.kind, "kept the first", finding.line, finding)
        for finding in findings
        if finding.kind == "repeated-mention"
    ]
    return corpus.keep_mentions(keep), changes


def _form(format: Format, source: Source) -> str:
    """The format to write; for JSON of any kind, the kind that the records have."""
    if format.name != "json":
        return format.name
    from corefeval.formats.json.records import kind_of, records_of

    kinds = list(dict.fromkeys(kind_of(record) for record in records_of(source)))
    if len(kinds) != 1:
        raise InputError(
            f"the file has records of {plural(len(kinds), 'kind')}, but can only be written as one",
            file=source.file,
            found=", ".join(kinds),
            fix="put the records of each kind into a separate file",
        )
    return kinds[0]

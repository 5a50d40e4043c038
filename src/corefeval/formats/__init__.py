"""The formats: one module each, found by name or by looking at the content.

Only what detection needs is here; readers and writers are imported when a file asks for them.
"""

from __future__ import annotations

import gzip
import importlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from corefeval.diagnostics import InputError, Notice, UsageError, excerpt

if TYPE_CHECKING:
    from corefeval.model import Corpus

_HEAD = 1 << 16


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: its name, how to recognise it, and where its reader and writer are."""

    name: str
    summary: str
    looks_like: Callable[[bytes], bool]
    reader: str
    writer: str


def _looks_like_conll(head: bytes) -> bool:
    if re.search(rb"(?im)^#\s*begin\s+document\b", head):
        return True
    lines = [line.split() for line in head.splitlines()[:200] if line.strip()]
    cells = [line[-1] for line in lines if len(line) > 1]
    marks = [cell for cell in cells if cell in (b"-", b"_") or b"(" in cell or b")" in cell]
    return bool(marks) and len(marks) > 0.8 * len(lines)


FORMATS = {
    "conll": Format(
        "conll",
        "CoNLL-2011/2012: a token per line, coreference as brackets in the last column",
        _looks_like_conll,
        "corefeval.formats.conll.reader:read_conll",
        "corefeval.formats.conll.writer:write_conll",
    ),
}


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    encoding: str = "utf-8",
    name: str = "",
) -> Corpus:
    """Read a corpus from a file, packed with gzip or not; `-` is standard input.

    The format is told by the content unless `format` names it.
    """
    from corefeval.formats.source import read_source

    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"a file is named by its path, not by {path!r:.60}")
    source = read_source(path, encoding=encoding)
    if not source.data.size:
        raise InputError("the file is empty", file=source.file, fix="check the path")
    chosen = _named(format) if format else _detected(source.data[:_HEAD].tobytes(), source.file)
    corpus: Corpus = _load(chosen.reader)(source, name=name)
    return corpus


def read_ahead(jobs: Sequence[Callable[[], Corpus]]) -> Iterator[Corpus]:
    """Do reading jobs in order, the next one in the background while one is being worked on.

    Reading is most of the time, and mostly array operations, which let another thread run.
    """
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        upcoming = [pool.submit(job) for job in jobs[1:2]]
        if jobs:
            yield jobs[0]()
        for index in range(1, len(jobs)):
            corpus = upcoming.pop().result()
            upcoming += [pool.submit(job) for job in jobs[index + 1 : index + 2]]
            yield corpus


def write(
    corpus: Corpus, target: str | os.PathLike[str] | IO[bytes], *, format: str = "conll"
) -> tuple[Notice, ...]:
    """Write a corpus to a file or binary stream; what the format cannot carry comes back.

    A path that ends in `.gz` is packed; `-` is standard output.
    """
    from corefeval.model import Corpus

    if not isinstance(corpus, Corpus):
        raise UsageError(f"a Corpus can be written, not {corpus!r:.60}")
    if not isinstance(target, str | os.PathLike) and not hasattr(target, "write"):
        raise UsageError(f"a corpus is written to a path or a binary stream, not {target!r:.60}")
    buffer = io.BytesIO()
    notices: tuple[Notice, ...] = _load(_named(format).writer)(corpus, buffer)
    data = buffer.getvalue()
    if not isinstance(target, str | os.PathLike):
        try:
            target.write(data)
        except TypeError:
            raise UsageError("a corpus is written as bytes: use a binary stream") from None
        return notices
    if os.fspath(target) == "-":
        sys.stdout.buffer.write(data)
        return notices
    try:
        with open(target, "wb") as stream:
            stream.write(gzip.compress(data) if str(target).endswith(".gz") else data)
    except OSError as error:
        raise InputError(
            f"the file cannot be written: {error.strerror}", file=os.fspath(target)
        ) from None
    return notices


def _named(name: str) -> Format:
    if not isinstance(name, str) or name not in FORMATS:
        raise UsageError(f"there is no format {name!r}: there are {', '.join(FORMATS)}")
    return FORMATS[name]


def _detected(head: bytes, file: str) -> Format:
    for candidate in FORMATS.values():
        if candidate.looks_like(head):
            return candidate
    first = head.lstrip().split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    raise InputError(
        "this is no format that corefeval knows",
        file=file,
        line=1,
        found=excerpt(first),
        expected="; ".join(f"{known.name} ({known.summary})" for known in FORMATS.values()),
        fix="name the format with --key-format or --response-format if you know better",
    )


def _load(path: str) -> Callable[..., Any]:
    module, _, function = path.partition(":")
    loaded: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return loaded

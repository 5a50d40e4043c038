"""Which formats there are, and how to tell them apart by their content.

Only what detection needs is here; readers and writers are imported when a file asks for them.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from corefeval.diagnostics import InputError, Notice, UsageError, excerpt


class UnknownFormatError(InputError):
    """A file whose format nobody recognises."""


HEAD = 1 << 16  # so many bytes are looked at to tell the format


@dataclass(frozen=True, slots=True)
class Written:
    """What a writer made: the content of files by name, and what the format could not carry.

    A format of one file uses the empty name, which stands for the target itself; a format with
    files for each document names them, and the target is their folder.
    """

    files: dict[str, bytes]
    notices: tuple[Notice, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: its name, how to recognise it, and where its reader and writer are.

    `looks_like` sees the first bytes of a file and its name. The reader is a function from a
    `Source` (and `name=`) to a `Corpus`, the writer one from a `Corpus` to `Written`.
    """

    name: str
    summary: str
    looks_like: Callable[[bytes, str], bool]
    reader: str
    writer: str


def _looks_like_conll(head: bytes, file: str) -> bool:
    if re.search(rb"(?im)^#\s*begin\s+document\b", head):
        return True
    lines = [line.split() for line in head.splitlines()[:200] if line.strip()]
    cells = [line[-1] for line in lines if len(line) > 1]
    marks = [cell for cell in cells if cell in (b"-", b"_") or b"(" in cell or b")" in cell]
    return bool(marks) and len(marks) > 0.8 * len(lines)


# The order is the order in which formats are tried: those that are recognised for sure come first.
FORMATS = {
    known.name: known
    for known in (
        Format(
            "conll",
            "CoNLL-2011/2012: a token per line, coreference as brackets in the last column",
            _looks_like_conll,
            "corefeval.formats.conll.reader:read_conll",
            "corefeval.formats.conll.writer:write_conll",
        ),
    )
}


def named(name: str) -> Format:
    """The format of a name."""
    if not isinstance(name, str) or name not in FORMATS:
        raise UsageError(f"there is no format {name!r}: there are {', '.join(FORMATS)}")
    return FORMATS[name]


def detected(head: bytes, file: str) -> Format:
    """The format that a file seems to have."""
    for candidate in FORMATS.values():
        if candidate.looks_like(head, file):
            return candidate
    first = head.lstrip().split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    raise UnknownFormatError(
        "this is no format that corefeval knows",
        file=file,
        line=1,
        found=excerpt(first),
        expected="; ".join(f"{known.name} ({known.summary})" for known in FORMATS.values()),
        fix="convert the file to one of these, or name its format if you know better",
    )


def load(path: str) -> Callable[..., Any]:
    """The function behind `module:function`."""
    module, _, function = path.partition(":")
    loaded: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return loaded

"""Formats by their names, by the endings of files, and by the content of files."""

from __future__ import annotations

import os

from corefeval.diagnostics import InputError, UsageError, excerpt
from corefeval.formats.declarations import ANSWERS, FORMATS, Format, Written

__all__ = [
    "ANSWERS",
    "FORMATS",
    "HEAD",
    "Format",
    "UnknownFormatError",
    "Written",
    "detect_format",
    "find_format",
    "format_for",
]

HEAD = 1 << 16  # so many bytes are looked at to tell the format


class UnknownFormatError(InputError):
    """A file whose format nobody recognises."""


def format_for(name: str) -> Format:
    """The format that a file of this name is written in; a UsageError where it does not say.

    >>> format_for("out/key.jsonl.gz").name, format_for("train.v4_gold_conll").name
    ('e2e', 'conll')
    """
    plain = os.path.basename(name).removesuffix(".gz").lower()
    for format in FORMATS.values():
        if plain.endswith(format.endings):
            return format
    if not os.path.splitext(plain)[1]:
        return FORMATS["conll"]
    endings = (f"{', '.join(f.endings)} ({f.name})" for f in FORMATS.values() if f.endings)
    writable = (format.name for format in FORMATS.values() if format.writer)
    raise UsageError(
        f"{name} does not show which format to write: end it in {', '.join(endings)}\n"
        f"  or name it with format=… / --to: {', '.join(writable)}"
    )


def find_format(name: str) -> Format:
    """The format of a name; a UsageError that lists all of them where none has it."""
    formats = FORMATS | ANSWERS
    if isinstance(name, str) and name in formats:
        return formats[name]
    import difflib

    text = str(name).lower().lstrip("._")
    by_ending = {end.lstrip("._"): f.name for f in FORMATS.values() for end in f.endings}
    similar = [by_ending[text]] if text in by_ending else difflib.get_close_matches(text, formats)
    hint = f": did you mean {similar[0]!r}?" if similar else ""
    raise UsageError(f"there is no format {name!r:.60}{hint}\n  there are: {', '.join(formats)}")


def detect_format(head: bytes, file: str) -> Format:
    """The format that a file seems to have."""
    if head.startswith(b'{"corefeval_results":'):
        raise UnknownFormatError(
            "these are saved results, not documents",
            file=file,
            fix="name the files that were scored; score, compare and explain --results take "
            "saved results",
        )
    for candidate in (ANSWERS["llm"], *FORMATS.values()):  # which is JSON, too
        if candidate.looks_like(head):
            return candidate
    if not head.strip():
        raise UnknownFormatError("there is only white space", file=file, fix="check the path")
    first = head.lstrip().split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    raise UnknownFormatError(
        f"this is not in a format that corefeval knows: {excerpt(first)}",
        file=file,
        line=1,
        fix=f"name its format if it is one of {', '.join(FORMATS)}, or llm for answers of a "
        "language model; or convert it",
    )

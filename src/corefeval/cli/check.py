"""`corefeval check`: what is odd about files, before they are scored."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from corefeval.cli.arguments import FLAG, file_parameter, tell
from corefeval.diagnostics import UsageError
from corefeval.files import is_stream

if TYPE_CHECKING:
    from corefeval.linting import Inspection, Restoration

_FILE = file_parameter("check")


def check(
    file: Annotated[str, _FILE(help="A file, folder or pattern; `-` is standard input.")],
    /,
    *more: Annotated[str, _FILE(name="MORE", help="More of them.")],
    against: Annotated[str | None, _FILE()] = None,
    fix: Annotated[str | None, _FILE()] = None,
    format: Annotated[Literal["text", "json"], Parameter(alias="-f")] = "text",
    show_all: Annotated[bool, FLAG(name="--all")] = False,
    input_format: str | None = None,
    key_format: str | None = None,
    encoding: str = "utf-8",
    word_column: int | None = None,
) -> int:
    """Look for mistakes and oddities in files, alone or against their key.

    ```
    corefeval check response.conll
    corefeval check response.conll --against key.conll
    corefeval check broken.conll --fix repaired.conll
    corefeval check corpus/ --format json
    ```

    The exit status is 1 where there is an error: something that stops scoring or loses mentions.

    Parameters
    ----------
    against
        The key that the files are responses to: documents and tokens are compared with it.
    fix
        Write the file here (one file) without what can be mended, and list every repair.
    format
        How to print; `json` has all findings.
    show_all
        Print all findings of a kind, not only the first five.
    input_format
        The files' format, if it is not to be told by their content.
    key_format
        The key's format, if it is not to be told by its content.
    encoding
        The files' character encoding.
    word_column
        Which column of CoNLL files is the words, counted from 1, if it is not to be told by what is
        in it.
    """
    from corefeval.formats import read
    from corefeval.linting import inspect, restore

    paths = (file, *more)
    if [*paths, against].count("-") > 1:
        raise UsageError("standard input (-) can be read only once")
    if fix is not None and more:
        raise UsageError("one file can be repaired at a time")
    key = None
    if against is not None:
        key = read(against, format=key_format, encoding=encoding, word_column=word_column)
        tell(key.notices)
    restoration = None
    if fix is not None:
        restoration = restore(
            file, fix, format=input_format, encoding=encoding, word_column=word_column
        )
    if restoration is None:
        look = partial(
            inspect, against=key, format=input_format, encoding=encoding, word_column=word_column
        )
        inspections = [inspection for path in paths for inspection in look(path)]
    elif key is None:
        inspections = list(restoration.after)
    elif fix == "-" or is_stream(restoration.target):
        inspections = [one.compared(key) for one in restoration.after]
    else:
        inspections = inspect(restoration.target, against=key, format=restoration.format)
    _print(inspections, restoration, format, show_all)
    return int(any(inspection.has_errors for inspection in inspections))


def _print(
    inspections: list[Inspection], restoration: Restoration | None, format: str, show_all: bool
) -> None:
    """Print the report; to the error stream where standard output is the repaired file."""
    from corefeval.linting.report import render_json, render_text

    taken = restoration is not None and restoration.target in ("-", "/dev/stdout")
    stream = sys.stderr if taken else sys.stdout
    if format == "json":
        stream.write(render_json(inspections, restoration))
        return
    color = stream.isatty() and not os.environ.get("NO_COLOR")
    stream.write(render_text(inspections, restoration, all=show_all, color=color))

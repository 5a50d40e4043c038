"""`corefeval check`: what is odd about files, before they are scored."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from corefeval.cli.arguments import FLAG, file_parameter
from corefeval.diagnostics import UsageError
from corefeval.files import is_stream

if TYPE_CHECKING:
    from corefeval.linting import FileRepair, Inspection

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
    """
    from corefeval.formats import read
    from corefeval.linting import inspect, repair_file

    paths = (file, *more)
    if [*paths, against].count("-") > 1:
        raise UsageError("standard input (-) can be read only once")
    if fix is not None and more:
        raise UsageError("one file can be repaired at a time")
    repair = None
    if fix is not None:
        repair = repair_file(file, fix, format=input_format, encoding=encoding)
    key = None
    if against is not None:
        key = read(against, format=key_format, encoding=encoding)
    if repair is None:
        look = partial(inspect, against=key, format=input_format, encoding=encoding)
        inspections = [inspection for path in paths for inspection in look(path)]
    elif key is None:
        inspections = list(repair.after)
    elif fix == "-" or is_stream(repair.target):
        inspections = [one.compare(key) for one in repair.after]
    else:
        inspections = inspect(repair.target, against=key, format=repair.format)
    _print(inspections, repair, format, show_all)
    return int(any(inspection.has_errors for inspection in inspections))


def _print(
    inspections: list[Inspection], repair: FileRepair | None, format: str, show_all: bool
) -> None:
    """Print the report; to the error stream where standard output is the repaired file."""
    from corefeval.linting.report import render_json, render_text

    occupied = repair is not None and repair.target in ("-", "/dev/stdout")
    stream = sys.stderr if occupied else sys.stdout
    if format == "json":
        stream.write(render_json(inspections, repair))
        return
    color = stream.isatty() and not os.environ.get("NO_COLOR")
    stream.write(render_text(inspections, repair, all=show_all, color=color))

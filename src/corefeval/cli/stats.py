"""`corefeval stats`: what is in a file."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from corefeval.cli.arguments import file_parameter

if TYPE_CHECKING:
    from corefeval.analysis.statistics import Statistics

_FILE = file_parameter("stats")

_LABELS = {
    "documents": "Documents",
    "sentences": "Sentences",
    "tokens": "Tokens",
    "empty_nodes": "  empty nodes",
    "mentions": "Mentions",
    "nested": "  nested",
    "discontinuous": "  discontinuous",
    "zeros": "  zeros",
    "repeated": "  repeated",
    "mean_mention_length": "  mean length",
    "entities": "Entities",
    "singletons": "  singletons",
    "mean_entity_size": "  mean size",
    "largest_entity": "  largest",
}


def stats(
    file: Annotated[str, _FILE()],
    /,
    *more: Annotated[str, _FILE(name="MORE")],
    format: Annotated[Literal["text", "json"], Parameter(alias="-f")] = "text",
    input_format: str | None = None,
    encoding: str = "utf-8",
) -> None:
    """Count what is in files: documents, tokens, mentions, entities and their sizes.

    Parameters
    ----------
    file
        A file, a folder, or a pattern in quotes.
    more
        More of them, each a column of the table.
    format
        How to print.
    input_format
        The files' format, if it is not to be told by their content.
    encoding
        The files' character encoding.
    """
    from corefeval.analysis.statistics import statistics
    from corefeval.formats import read

    found = [
        statistics(read(path, format=input_format, encoding=encoding)) for path in (file, *more)
    ]
    if format == "json":
        text = json.dumps([one.as_dict() for one in found], ensure_ascii=False, indent=2) + "\n"
        sys.stdout.write(text)
    else:
        sys.stdout.write(_table(found))


def _table(found: list[Statistics]) -> str:
    rows = [("", *(one.name.rsplit("/", 1)[-1] for one in found))]
    rows += [
        (label, *(_number(getattr(one, name)) for one in found))
        for name, label in _LABELS.items()
        if any(getattr(one, name) is not None for one in found)
    ]
    rows += [
        (f"  of size {size}", *(_number(one.sizes[size]) for one in found))
        for size in found[0].sizes
    ]
    for kind in dict.fromkeys(name for one in found for name in one.kinds):
        rows.append((kind, *("" for _ in found)))
        values = dict.fromkeys(value for one in found for value in one.kinds.get(kind, {}))
        rows += [
            (
                f"  {value or '(none)'}",
                *(_number(one.kinds.get(kind, {}).get(value, 0)) for one in found),
            )
            for value in values
        ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "".join(map(_line, rows, [widths] * len(rows)))


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    cells = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
    return "  ".join((row[0].ljust(widths[0]), *cells)).rstrip() + "\n"


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"

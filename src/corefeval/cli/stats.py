"""`corefeval stats`: what is in a file."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from corefeval.cli.arguments import check_paths, file_parameter, show

_FILE = file_parameter("stats")


def stats(
    file: Annotated[str, _FILE()],
    /,
    *more: Annotated[str, _FILE(name="MORE")],
    format: Annotated[
        Literal["text", "json", "csv", "markdown", "latex"], Parameter(alias="-f")
    ] = "text",
    output: Annotated[str | None, Parameter(alias="-o")] = None,
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
    output
        Write to this file instead of the terminal.
    input_format
        The files' format, if it is not to be told by their content.
    encoding
        The files' character encoding.
    """
    from corefeval.analysis.statistics import statistics
    from corefeval.formats import read

    check_paths([], [file, *more], output)
    many = [
        statistics(read(path, format=input_format, encoding=encoding)) for path in (file, *more)
    ]
    show(many, output, format=format)

"""`corefeval agree`: two or more annotators of the same documents, and how far they agree."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from cyclopts import Parameter

from corefeval.cli.arguments import (
    FLAG,
    check_paths,
    file_parameter,
    label,
    names_of,
    show,
    tell,
)
from corefeval.cli.reading import AGREEMENT, AgreementReading
from corefeval.diagnostics import UsageError

_FILE = file_parameter("agree")

OutputFormat = Literal["text", "json", "csv", "markdown", "latex"]


def agree(
    file: Annotated[str, _FILE(help="One annotator's file, folder or pattern, or NAME=PATH.")],
    other: Annotated[str, _FILE(help="Another annotator's.")],
    /,
    *more: Annotated[str, _FILE(name="MORE", help="More annotators.")],
    metrics: Annotated[str, Parameter(alias="-m")] = "standard",
    distances: str = "all",
    by_document: Annotated[bool, FLAG()] = False,
    format: Annotated[OutputFormat, Parameter(alias="-f")] = "text",
    output: Annotated[str | None, Parameter(alias="-o")] = None,
    file_format: str | None = None,
    reading: AgreementReading = AGREEMENT,
) -> None:
    """Measure the agreement between annotators: F1 of each pair, and Krippendorff's α over chains.

    ```
    corefeval agree ann.conll bob.conll
    corefeval agree ann=a.conll bob=b.conll cleo=c.conll --metrics conll,lea
    corefeval agree ann/ bob/ --distances masi --unmarked missing --by-document
    ```

    Parameters
    ----------
    metrics
        Metrics and presets, separated by commas. `corefeval metrics` lists them.
    distances
        Distances between chains for α, separated by commas: `passonneau`, `jaccard`, `masi`,
        `dice`, or `all`.
    by_document
        Show each document's agreement too.
    format
        How to print.
    output
        Write to this file instead of the terminal.
    file_format
        The files' format (conll, corefud, e2e, …); by default it is recognised by their content.
    """
    from corefeval.analysis.agreement import agree
    from corefeval.formats import read, read_ahead

    labels = [label(argument) for argument in (file, other, *more)]
    paths = [path for _, path in labels]
    _check(labels, paths, output)
    names = names_of(labels)
    jobs = [
        partial(read, path, name=name, **{**reading.of_key, "format": file_format})
        for path, name in zip(paths, names, strict=True)
    ]
    agreement = agree(
        dict(zip(names, read_ahead(jobs), strict=True)),
        metrics=metrics,
        distances=distances,
        **reading.policies,
    )
    show(agreement, output, format=format, by_document=by_document)
    if not reading.quiet:
        tell(agreement.notices)


def _check(labels: list[tuple[str | None, str]], paths: list[str], output: str | None) -> None:
    titles = [name or path for name, path in labels]
    twice = max(titles, key=titles.count)
    if titles.count(twice) > 1 and twice != "-":
        raise UsageError(f"two annotators are called {twice!r}: name them, as in NAME={twice}")
    check_paths(labels, paths, output)

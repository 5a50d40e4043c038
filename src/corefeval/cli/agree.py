"""`corefeval agree`: two or more annotators of the same documents, and how far they agree."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

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
from corefeval.diagnostics import UsageError

if TYPE_CHECKING:
    from corefeval.analysis.agreement import Agreement

_FILE = file_parameter("agree")

OutputFormat = Literal["text", "json", "csv", "markdown", "latex"]


def agree(
    file: Annotated[str, _FILE(help="One annotator's file, folder or pattern, or NAME=PATH.")],
    other: Annotated[str, _FILE(help="Another annotator's.")],
    /,
    *more: Annotated[str, _FILE(name="MORE", help="More annotators.")],
    metrics: Annotated[str, Parameter(alias="-m")] = "standard",
    distances: str = "all",
    unmarked: Literal["singleton", "missing"] = "singleton",
    by_document: Annotated[bool, FLAG()] = False,
    format: Annotated[OutputFormat, Parameter(alias="-f")] = "text",
    output: Annotated[str | None, Parameter(alias="-o")] = None,
    singletons: Literal["keep", "drop"] = "keep",
    duplicates: Literal["first", "last", "error"] = "first",
    documents: str | None = None,
    ignore_tokens: Annotated[bool, FLAG()] = False,
    file_format: str | None = None,
    encoding: str = "utf-8",
    word_column: int | None = None,
    quiet: Annotated[bool, FLAG(alias="-q")] = False,
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
    unmarked
        For α, a mention that an annotator did not mark is a singleton of theirs, or missing.
    by_document
        Show each document's agreement too.
    format
        How to print.
    output
        Write to this file instead of the terminal.
    singletons
        Keep entities of one mention, or drop them for all annotators.
    duplicates
        Which of repeated mentions stays, or whether they are an error.
    documents
        Compare only documents whose id matches this glob.
    ignore_tokens
        Go on where the annotators' tokens are not the same.
    file_format
        The files' format (conll, corefud, e2e, …), if it is not to be told by their content.
    encoding
        The files' character encoding.
    word_column
        Which column of CoNLL files is the words, counted from 1, if it is not to be told by what is
        in it.
    quiet
        Print no notices.
    """
    from corefeval.analysis.agreement import agree
    from corefeval.formats import read, read_ahead

    labelled = [label(argument) for argument in (file, other, *more)]
    paths = [path for _, path in labelled]
    _check(labelled, paths, output)
    names = names_of(labelled)
    jobs = [
        partial(
            read, path, format=file_format, encoding=encoding, word_column=word_column, name=name
        )
        for path, name in zip(paths, names, strict=True)
    ]
    agreement = agree(
        dict(zip(names, read_ahead(jobs), strict=True)),
        metrics=metrics,
        distances=distances,
        unmarked=unmarked,
        singletons=singletons,
        duplicates=duplicates,
        documents=documents,
        ignore_tokens=ignore_tokens,
    )
    show(partial(_rendered, agreement, format, by_document), output)
    if not quiet:
        tell(agreement.notices)


def _check(labelled: list[tuple[str | None, str]], paths: list[str], output: str | None) -> None:
    named = [name or path for name, path in labelled]
    twice = max(named, key=named.count)
    if named.count(twice) > 1 and twice != "-":
        raise UsageError(f"two annotators are called {twice!r}: name them, as in NAME={twice}")
    check_paths(labelled, paths, output)


def _rendered(agreement: Agreement, format: str, by_document: bool, color: bool) -> str:
    from corefeval.output.agreement import render_agreement

    return render_agreement(agreement, format=format, by_document=by_document, color=color)

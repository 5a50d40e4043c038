"""`corefeval errors`: what is wrong with responses, where it is and what it costs."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from corefeval.cli.arguments import FLAG, file_parameter
from corefeval.cli.score import _label, _names, _same_file, _short, _tracked
from corefeval.diagnostics import InputError, UsageError

if TYPE_CHECKING:
    from corefeval.analysis.errors import ErrorAnalysis

_FILE = file_parameter(
    "errors",
    (
        *("--metrics", "--list", "--top", "--by", "--wrong-spans", "--format", "--output"),
        *("--singletons", "--duplicates", "--documents", "--ignore-tokens", "--tagset"),
        *("--key-format", "--response-format", "--encoding", "--quiet"),
    ),
)

OutputFormat = Literal["text", "json", "csv", "markdown", "latex"]


def errors(
    key: Annotated[str, _FILE(help="The key: a file, folder or pattern; `-` is standard input.")],
    response: Annotated[str, _FILE(help="A response, as PATH or NAME=PATH.")],
    /,
    *more: Annotated[str, _FILE(name="MORE", help="More responses.")],
    metrics: Annotated[str, Parameter(alias="-m")] = "conll, lea",
    list: Annotated[str, Parameter(alias="-l")] = "",
    top: Annotated[int, Parameter(alias="-n")] = 5,
    by: Annotated[str, Parameter(alias="-b")] = "kind",
    wrong_spans: Literal["auto", "head", "overlap"] = "auto",
    format: Annotated[OutputFormat, Parameter(alias="-f")] = "text",
    output: Annotated[str | None, Parameter(alias="-o")] = None,
    singletons: Literal["keep", "drop"] = "keep",
    duplicates: Literal["first", "last", "error"] = "first",
    documents: str | None = None,
    ignore_tokens: Annotated[bool, FLAG()] = False,
    tagset: str | None = None,
    key_format: str | None = None,
    response_format: str | None = None,
    encoding: str = "utf-8",
    quiet: Annotated[bool, FLAG(alias="-q")] = False,
) -> None:
    """Show what is wrong with responses, and what each kind of error costs.

    ```
    corefeval errors key.conll response.conll
    corefeval errors key.conll old=a.conll new=b.conll --metrics conll,lea --top 0
    corefeval errors key.conll response.conll --list divided
    corefeval errors key.conll response.conll --list all --format csv -o errors.csv
    ```

    Parameters
    ----------
    metrics
        Metrics and presets, separated by commas. `corefeval metrics` lists them.
    list
        List all errors of these kinds, separated by commas: `span`, `conflated`, `extra mention`,
        `extra entity`, `missing mention`, `missing entity`, `divided`, or `all`.
    top
        How many of the most expensive mentions and entities to show.
    by
        The feature of mentions by which links are told apart.
    wrong_spans
        An extra mention that overlaps a missing one is that mention with a wrong span if both have
        the same head, in any case (overlap), or by the head where heads are known (auto).
    format
        How to print.
    output
        Write to this file instead of the terminal.
    singletons
        Keep entities of one mention, or drop them on both sides.
    duplicates
        Which of repeated mentions stays, or whether they are an error.
    documents
        Look only at documents whose id matches this glob.
    ignore_tokens
        Go on where the response's tokens are not the key's.
    tagset
        What tags mean (penn, upos, stts, or a JSON file of your own), if they do not tell.
    key_format
        The key's format (conll, corefud, e2e, …), if it is not to be told by its content.
    response_format
        The responses' format, if it is not to be told by their content.
    encoding
        The files' character encoding.
    quiet
        Print no notices and no progress.
    """
    from corefeval.analysis.errors import analyse
    from corefeval.analysis.errors.kinds import KINDS, error_kind
    from corefeval.formats import read, read_ahead

    asked = [part for part in list.split(",") if part.strip()]
    kinds = KINDS if "all" in map(str.strip, asked) else tuple(map(error_kind, asked))
    labelled = [_label(argument) for argument in (response, *more)]
    paths = [key, *(path for _, path in labelled)]
    _check(labelled, paths, output)
    names = _names(labelled)
    formats = [key_format, *[response_format] * len(labelled)]
    corpora = read_ahead(
        [
            partial(read, path, format=one_format, encoding=encoding, name=name)
            for path, name, one_format in zip(paths, [_short(key), *names], formats, strict=True)
        ]
    )
    key_corpus = next(corpora)
    analyses = [
        analyse(
            key_corpus,
            corpus,
            metrics=metrics,
            by=by,
            wrong_spans=wrong_spans,
            singletons=singletons,
            duplicates=duplicates,
            documents=documents,
            ignore_tokens=ignore_tokens,
            tagset=tagset,
        )
        for corpus in _tracked(corpora, len(names), paths, quiet)
    ]
    _print(analyses, format, kinds, top, output)
    if not quiet:
        for message in dict.fromkeys(str(one) for each in analyses for one in each.notices):
            sys.stderr.write(f"note: {message}\n")


def _check(labelled: list[tuple[str | None, str]], paths: list[str], output: str | None) -> None:
    if paths.count("-") > 1:
        raise UsageError("standard input (-) can be read only once")
    labels = [label for label, _ in labelled if label]
    if len(set(labels)) < len(labels):
        raise UsageError(f"two responses are called {max(labels, key=labels.count)!r}")
    if output is not None and any(_same_file(output, path) for path in paths):
        raise UsageError(f"the output would overwrite an input: {output}")


def _print(
    analyses: list[ErrorAnalysis],
    format: str,
    kinds: tuple[str, ...],
    top: int,
    output: str | None,
) -> None:
    from corefeval.output.errors import render_errors

    color = output is None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    text = render_errors(analyses, format=format, kinds=kinds, top=top, color=color)
    if output is None:
        sys.stdout.write(text)
        return
    try:
        with open(output, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
    except OSError as error:
        message = f"the output cannot be written: {error.strerror or error}"
        raise InputError(message, file=output) from None

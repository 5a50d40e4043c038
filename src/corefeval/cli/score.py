"""`corefeval score`: one key, one or more responses, a table."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from cyclopts import Parameter

from corefeval.cli.arguments import FLAG, file_parameter
from corefeval.diagnostics import InputError, UsageError

if TYPE_CHECKING:
    from corefeval.results import Result

T = TypeVar("T")

_LONG_WORK = 30_000_000  # bytes; below that a progress bar would only flicker


_FILE = file_parameter(
    "score",
    (
        *("--metrics", "--by-document", "--format", "--output", "--singletons", "--duplicates"),
        *("--aggregate", "--documents", "--ignore-tokens", "--key-format", "--response-format"),
        *("--encoding", "--quiet", "--by", "--tagset"),
    ),
)

OutputFormat = Literal["text", "json", "csv", "markdown", "latex", "conll"]


def score(
    key: Annotated[str, _FILE(help="The key: a file, folder or pattern; `-` is standard input.")],
    response: Annotated[str, _FILE(help="A response, as PATH or NAME=PATH.")],
    /,
    *more: Annotated[str, _FILE(name="MORE", help="More responses.")],
    metrics: Annotated[str, Parameter(alias="-m")] = "standard",
    by: Annotated[str, Parameter(alias="-b")] = "",
    by_document: Annotated[bool, FLAG()] = False,
    format: Annotated[OutputFormat, Parameter(alias="-f")] = "text",
    output: Annotated[str | None, Parameter(alias="-o")] = None,
    singletons: Literal["keep", "drop"] = "keep",
    duplicates: Literal["first", "last", "error"] = "first",
    aggregate: Literal["micro", "macro"] = "micro",
    documents: str | None = None,
    ignore_tokens: Annotated[bool, FLAG()] = False,
    tagset: str | None = None,
    key_format: str | None = None,
    response_format: str | None = None,
    encoding: str = "utf-8",
    quiet: Annotated[bool, FLAG(alias="-q")] = False,
) -> None:
    """Score responses against a key.

    ```
    corefeval score key.conll response.conll
    corefeval score key.conll old=a.conll new=b.conll --metrics muc,b3,lea
    corefeval score key.conll response.conll --metrics papers --by kind,genre
    corefeval score key.conll response.conll --by-document --format csv -o out.csv
    corefeval score key.conll - --documents 'bc/*' < response.conll
    ```

    Parameters
    ----------
    metrics
        Metrics and presets, separated by commas; parameters in parentheses, as in
        `lea(importance=one)`. Presets: `standard`, `papers`, `all`. `corefeval metrics` lists them.
    by
        Features, separated by commas, to show scores by: `genre`, `entity_class`, `size`, `kind`,
        `tag`, `distance(sentences)`, … `corefeval features` lists them.
    by_document
        Show each document's scores too.
    format
        How to print; `conll` is what the official scorer prints.
    output
        Write to this file instead of the terminal.
    singletons
        Keep entities of one mention, or drop them on both sides.
    duplicates
        Which of repeated mentions stays, or whether they are an error.
    aggregate
        Rates of all documents' counts together (micro), or means over documents (macro).
    documents
        Score only documents whose id matches this glob.
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
    from corefeval.formats import read, read_ahead
    from corefeval.metrics import requested

    wanted = [request.metric for request in requested(metrics)]
    if format == "conll":  # it prints mentions with every metric
        wanted = [request.metric for request in requested(["mentions", *wanted])]
    labelled = [_label(argument) for argument in (response, *more)]
    if [key, *(path for _, path in labelled)].count("-") > 1:
        raise UsageError("standard input (-) can be read only once")
    labels = [label for label, _ in labelled if label]
    if len(set(labels)) < len(labels):
        raise UsageError(f"two responses are called {max(labels, key=labels.count)!r}")
    names = _names(labelled)
    paths = [key, *(path for _, path in labelled)]
    if output is not None and any(_same_file(output, path) for path in paths):
        raise UsageError(f"the output would overwrite an input: {output}")
    formats = [key_format, *[response_format] * len(labelled)]
    corpora = read_ahead(
        [
            partial(read, path, format=one_format, encoding=encoding, name=name)
            for path, name, one_format in zip(paths, [_short(key), *names], formats, strict=True)
        ]
    )
    key_corpus = next(corpora)
    results = [
        _score(
            key_corpus,
            corpus,
            metrics=metrics if format != "conll" else wanted,
            singletons=singletons,
            duplicates=duplicates,
            aggregate=aggregate,
            documents=documents,
            ignore_tokens=ignore_tokens,
            by=by,
            tagset=tagset,
        )
        for corpus in _tracked(corpora, len(names), paths, quiet)
    ]
    _print(results, format, by_document, output)
    if not quiet:
        _print_notices(results)
        if format == "conll":
            _print_left_out(results[0])


def _score(key: object, response: object, **options: object) -> Result:
    from corefeval.evaluation import score

    return score(key, response, **options)  # type: ignore[arg-type]


def _same_file(one: str, other: str) -> bool:
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)


def _label(argument: str) -> tuple[str | None, str]:
    """Tell `NAME=PATH` from a path that has an equals sign in it."""
    name, equals, path = argument.partition("=")
    if equals and name and not os.path.exists(argument):
        return name, path
    return None, argument


def _names(labelled: Sequence[tuple[str | None, str]]) -> list[str]:
    """Labels, else file names, else whole paths where file names are the same."""
    short = [label or _short(path) for label, path in labelled]
    return [
        name if short.count(name) == 1 else label or path
        for name, (label, path) in zip(short, labelled, strict=True)
    ]


def _short(path: str) -> str:
    return "standard input" if path == "-" else Path(path).name or path


def _tracked(corpora: Iterator[T], number: int, paths: Iterable[str], quiet: bool) -> Iterator[T]:
    """The corpora, with a progress bar where work is long and somebody is watching."""
    size = sum(os.path.getsize(path) for path in paths if os.path.isfile(path))
    if quiet or size < _LONG_WORK or not sys.stderr.isatty():
        yield from corpora
        return
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    yield from track(corpora, description="Scoring", total=number, console=console, transient=True)


def _print(
    results: Sequence[Result], format: OutputFormat, by_document: bool, output: str | None
) -> None:
    from corefeval.output import render

    colors = output is None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    if format == "text" and colors:
        from corefeval.output.text import render_text

        text = render_text(results, by_document=by_document, color=True)
    else:
        text = render(results, format=format, by_document=by_document)
    if output is None:
        sys.stdout.write(text)
        return
    try:
        with open(output, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
    except OSError as error:
        message = f"the output cannot be written: {error.strerror or error}"
        raise InputError(message, file=output) from None


def _print_left_out(result: Result) -> None:
    from corefeval.output.conll import NAMES

    left_out = [name for name in result.metrics if name not in (*NAMES, "mentions", "conll")]
    if left_out:
        sys.stderr.write(f"note: not in the official scorer's form: {', '.join(left_out)}\n")


def _print_notices(results: Sequence[Result]) -> None:
    for message in dict.fromkeys(notice.message for result in results for notice in result.notices):
        sys.stderr.write(f"note: {message}\n")

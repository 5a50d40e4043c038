"""`corefeval score`: one key, one or more responses, a table."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from corefeval.cli.arguments import (
    FLAG,
    file_parameter,
    label,
    names_of,
    same_file,
    short,
    write_text,
)
from corefeval.cli.responses import tracked

if TYPE_CHECKING:
    from corefeval.results import Result

# For commands that still take them from here.
_label, _names, _same_file, _short, _tracked = label, names_of, same_file, short, tracked

_FILE = file_parameter(
    "score",
    (
        *("--metrics", "--by-document", "--format", "--output", "--singletons", "--duplicates"),
        *("--aggregate", "--documents", "--ignore-tokens", "--key-format", "--response-format"),
        *("--encoding", "--quiet", "--by", "--tagset", "--ci", "--samples", "--seed", "--level"),
        *("--segments", "--save", "--fail-under"),
    ),
)

OutputFormat = Literal["text", "json", "csv", "markdown", "latex", "conll"]


def score(
    key: Annotated[
        str,
        _FILE(help="The key: a file, folder or pattern; `-` is standard input. Or a saved file."),
    ],
    /,
    *response: Annotated[
        str, _FILE(name="RESPONSE", help="Responses, each as PATH or NAME=PATH; or saved files.")
    ],
    metrics: Annotated[str | None, Parameter(alias="-m")] = None,
    by: Annotated[str, Parameter(alias="-b")] = "",
    by_document: Annotated[bool, FLAG()] = False,
    ci: Annotated[bool, FLAG()] = False,
    samples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    segments: int = 20,
    format: Annotated[OutputFormat, Parameter(alias="-f")] = "text",
    output: Annotated[str | None, Parameter(alias="-o")] = None,
    save: str | None = None,
    fail_under: Annotated[list[str] | None, Parameter(negative=())] = None,
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
) -> int:
    """Score responses against a key.

    ```
    corefeval score key.conll response.conll
    corefeval score key.conll old=a.conll new=b.conll --metrics muc,b3,lea
    corefeval score key.conll response.conll --metrics papers --by kind,genre
    corefeval score key.conll response.conll --by-document --format csv -o out.csv
    corefeval score key.conll - --documents 'bc/*' < response.conll
    corefeval score key.conll response.conll --ci --save kept.json.gz
    corefeval score key.conll response.conll --fail-under conll=60,lea.recall=40
    ```

    The exit status is 3 where a score is under its limit.

    Parameters
    ----------
    metrics
        Metrics and presets, separated by commas; parameters in parentheses, as in
        `lea(importance=one)`. Presets: `standard` (the default), `papers`, `all`.
        `corefeval metrics` lists them.
    by
        Features, separated by commas, to show scores by: `genre`, `entity_class`, `size`, `kind`,
        `tag`, `distance(sentences)`, … `corefeval features` lists them.
    by_document
        Show each document's scores too.
    ci
        Show intervals, from a bootstrap over documents.
    samples
        How many samples the bootstrap draws.
    seed
        Where the random numbers begin.
    level
        How much of the samples an interval holds.
    segments
        Into how many segments to cut a single document for its intervals.
    format
        How to print; `conll` is what the official scorer prints.
    output
        Write to this file instead of the terminal.
    save
        Keep the counts of each document in this file (.gz: compressed), to be scored and compared
        later without the data.
    fail_under
        Fail (exit status 3) where a score is under this: METRIC=NUMBER in per cent, or
        METRIC.recall=NUMBER; several with commas.
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
    from corefeval.cli.gates import check_limits, parse_limits
    from corefeval.cli.responses import Request, results_of
    from corefeval.metrics import requested

    limits = parse_limits(fail_under or ())
    wanted = None if metrics is None else [one.metric for one in requested(metrics)]
    if format == "conll":  # it prints mentions with every metric
        rest = wanted if wanted is not None else ["standard"]
        wanted = [one.metric for one in requested(["mentions", *rest])]
    request = Request(
        command="score",
        metrics=wanted if format == "conll" else metrics,
        default="standard",
        options={
            "singletons": singletons,
            "duplicates": duplicates,
            "aggregate": aggregate,
            "documents": documents,
            "ignore_tokens": ignore_tokens,
            "by": by,
            "tagset": tagset,
            **({"ci": level, "samples": samples, "seed": seed, "segments": segments} if ci else {}),
        },
        key_format=key_format,
        response_format=response_format,
        encoding=encoding,
        quiet=quiet,
        targets=(output, save),
    )
    results = results_of(key, response, request)
    if save is not None:
        from corefeval.results import save as save_results

        save_results(results, save)
    _print(results, format, by_document, output)
    if not quiet:
        _print_notices(results)
        if format == "conll":
            _print_left_out(results[0])
    return check_limits(results, limits)


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
    write_text(text, output)


def _print_left_out(result: Result) -> None:
    from corefeval.output.conll import NAMES

    left_out = [name for name in result.metrics if name not in (*NAMES, "mentions", "conll")]
    if left_out:
        sys.stderr.write(f"note: not in the official scorer's form: {', '.join(left_out)}\n")


def _print_notices(results: Sequence[Result]) -> None:
    for message in dict.fromkeys(notice.message for result in results for notice in result.notices):
        sys.stderr.write(f"note: {message}\n")

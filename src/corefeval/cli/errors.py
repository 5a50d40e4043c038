"""`corefeval errors`: what is wrong with responses, where it is and what it costs."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from corefeval.cli.arguments import check_paths, file_parameter, label, names_of, show, tell
from corefeval.cli.reading import ERRORS, ErrorReading
from corefeval.diagnostics import UsageError

_FILE = file_parameter("errors")

_WHOLE = ("set", "bridging")  # which stand for missed, spurious and wrong ones

OutputFormat = Literal["text", "json", "csv", "markdown", "latex"]


def errors(
    key: Annotated[str, _FILE(help="The key: a file, folder or pattern; `-` is standard input.")],
    response: Annotated[str, _FILE(help="A response, as PATH or NAME=PATH.")],
    /,
    *more: Annotated[str, _FILE(name="MORE", help="More responses.")],
    metrics: Annotated[str, Parameter(alias="-m")] = "conll, lea",
    list: Annotated[str, Parameter(alias="-l", show_default=False)] = "",
    top: Annotated[int, Parameter(alias="-n")] = 5,
    by: Annotated[str, Parameter(alias="-b")] = "kind",
    format: Annotated[OutputFormat, Parameter(alias="-f")] = "text",
    output: Annotated[str | None, Parameter(alias="-o")] = None,
    reading: ErrorReading = ERRORS,
) -> None:
    """Show what is wrong with responses, and what each kind of error costs.

    ```
    corefeval errors key.conll response.conll
    corefeval errors key.conll old=a.conll new=b.conll --metrics conll,lea --top 0
    corefeval errors key.conll response.conll --list divided
    corefeval errors key.conll response.conll --list all -f csv -o errors.csv
    ```

    Parameters
    ----------
    metrics
        Metrics and presets, separated by commas. `corefeval metrics` lists them.
    list
        List all errors of these kinds, separated by commas: `span`, `conflated`, `extra mention`,
        `extra entity`, `missing mention`, `missing entity`, `divided`, `missed set`,
        `spurious set`, `wrong set`, or `set` for all three, the same with `bridging`, or `all`.
    top
        How many of the most expensive mentions and entities to show.
    by
        The feature of mentions by which links are told apart.
    format
        How to print.
    output
        Write to this file instead of the terminal.
    """
    from corefeval.analysis.errors import analyse, judge_alike
    from corefeval.analysis.errors.classification import KINDS, OTHERS, error_kind
    from corefeval.cli.responses import read_all

    if top < 0:
        raise UsageError(f"--top is a number from 0, not {top}")
    parts = [part for part in list.split(",") if part.strip()]
    asked = [*map(str.strip, parts)]
    kinds: tuple[str, ...] = (*KINDS, *OTHERS)
    if "all" not in asked:
        named = {what: [kind for kind in OTHERS if kind.endswith(what)] for what in _WHOLE}
        kinds = tuple(k for part in asked for k in named.get(part) or [error_kind(part)])
    labels = [label(argument) for argument in (response, *more)]
    paths = [path for _, path in labels]
    check_paths(labels, [key, *paths], output)
    key_corpus, corpora = read_all(key, [*zip(names_of(labels), paths, strict=True)], reading)
    analyses = judge_alike(
        [
            analyse(key_corpus, corpus, metrics=metrics, by=by, **reading.policies)
            for corpus in corpora
        ]
    )
    # Features that cannot be had are an error before anything is written.
    notices = [notice for analysis in analyses for notice in analysis.notices]
    show(analyses, output, format=format, kinds=kinds, top=top)
    if not reading.quiet:
        tell([*notices, *(notice for analysis in analyses for notice in analysis.notices)])

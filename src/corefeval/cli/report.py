"""`corefeval report`: one HTML file that shows where the points went."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from corefeval.cli.arguments import FLAG, Level, Metrics, Seed, file_parameter
from corefeval.cli.printing import check_paths, label, names_of, plain_names, tell
from corefeval.cli.reading import ERRORS, ErrorReading
from corefeval.diagnostics import InputError, UsageError
from corefeval.display import visible

_FILE = file_parameter("report")


def report(
    key: Annotated[str, _FILE(help="The key: a file, folder or pattern; `-` is standard input.")],
    response: Annotated[str, _FILE(help="A response, as PATH or NAME=PATH.")],
    /,
    *more: Annotated[str, _FILE(name="MORE", help="More responses.")],
    output: Annotated[str, Parameter(alias="-o")] = "report.html",
    metrics: Metrics = "standard",
    by: Annotated[str | None, Parameter(alias="-b")] = None,
    no_text: Annotated[bool, FLAG()] = False,
    title: str | None = None,
    no_ci: Annotated[bool, FLAG()] = False,
    samples: int = 1000,
    seed: Seed = 0,
    level: Level = 0.95,
    explain: Annotated[bool, FLAG()] = False,
    sort: Literal["score", "given"] = "score",
    reading: ErrorReading = ERRORS,
) -> None:
    """Make a report on responses: one HTML file that opens anywhere, without a network.

    ```
    corefeval report key.conll response.conll
    corefeval report key.conll old=a.conll new=b.conll --output report.html
    corefeval report key.conll response.conll --no-text
    ```

    Parameters
    ----------
    output
        The file to write.
    by
        Features, separated by commas, to show scores by; by default genre, kind, entity_class,
        size, distance and nested. `corefeval features` lists them.
    no_text
        Leave out the words of the corpus, for texts that may not be shared.
    title
        The title of the report; by default the name of the key.
    no_ci
        Show no intervals.
    samples
        How many samples the bootstrap draws.
    explain
        Also show how much scores depend on the choices that scorers make.
    sort
        Sort responses by score, best first, or keep the order given.
    """
    from corefeval.checks import split_list
    from corefeval.cli.responses import make_request, read_all
    from corefeval.reports import DEFAULT_FEATURES
    from corefeval.reports import report as make
    from corefeval.reports.page import check_library

    check_library()
    labels = [label(argument) for argument in (response, *more)]
    paths = [path for _, path in labels]
    check_paths(labels, [key, *paths], output)
    titles = [name or path for name, path in labels]
    if len(set(titles)) < len(titles):
        twice = max(titles, key=titles.count)
        raise UsageError(f"{twice} appears twice: give each a name, as in first={twice}")
    names = plain_names(names_of(labels, key), {name for name, _ in labels})
    wishes: dict[str, Any] = {"by": DEFAULT_FEATURES if by is None else [*split_list(by)]}
    wishes |= {"ci": None if no_ci else level, "samples": samples, "seed": seed, **reading.policies}
    matches: list[str | None] = [*split_list(wishes.get("match") or "")]
    requests = [
        make_request(metrics, {**wishes, "match": match}, reading) for match in matches or [None]
    ]
    files = [*zip(names, paths, strict=True)]
    key_corpus, corpora = read_all(key, files, requests[0], quiet=reading.quiet)
    try:
        page = make(
            key_corpus,
            dict(zip(names, corpora, strict=True)),
            metrics=metrics,
            text=not no_text,
            title=title,
            explain=explain,
            sort=sort,
            **wishes,
        )
    except InputError as error:  # a page has its own names for responses
        for name, path in zip(names, paths, strict=True):
            if error.file == name or f"{error.file}".startswith(f"{name} ("):
                raise error.of_file(path) from None
        raise
    page.save(output)
    size = os.path.getsize(output) / 1_000_000
    sys.stdout.write(f"{visible(output)}: {page.summary}, {size:.1f} MB\n")
    tell(page.notices, quiet=reading.quiet)

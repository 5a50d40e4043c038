"""`corefeval score`: one key, one or more responses, a table."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from corefeval.cli.arguments import FLAG, TABLES, Level, Output, Seed, TableOptions, file_parameter
from corefeval.cli.pieces import PIECES, PieceOptions
from corefeval.cli.reading import READING, Reading
from corefeval.cli.scoring import OutputFormat, run_score

_FILE = file_parameter("score")


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
    by: Annotated[str, Parameter(alias="-b", show_default=False)] = "",
    by_document: Annotated[bool, FLAG()] = False,
    ci: Annotated[bool, FLAG()] = False,
    samples: int = 1000,
    seed: Seed = 0,
    level: Level = 0.95,
    segments: int = 20,
    format: Annotated[OutputFormat, Parameter(alias="-f")] = "text",
    output: Output = None,
    save: str | None = None,
    fail_under: Annotated[list[str] | None, Parameter(negative=())] = None,
    tables: TableOptions = TABLES,
    pieces: PieceOptions = PIECES,
    reading: Reading = READING,
) -> int:
    """Score responses against a key.

    ```
    corefeval score key.conll response.conll
    corefeval score key.conll old=a.conll new=b.conll --metrics muc,b3,lea
    corefeval score key.conll response.conll --metrics papers --by kind,genre
    corefeval score key.conll response.conll --by-document --format csv -o out.csv
    corefeval score key.conll - --documents 'bc/*' < response.conll
    corefeval score key.conll response.conll --match exact,head,partial
    corefeval score key.conll response.conll --ci --save kept.json.gz
    corefeval score huge.conll huge-response.conll --jobs 8 --resume finished/
    corefeval score key.conll response.conll --fail-under conll=60,lea.recall=40
    corefeval score key.conll a.conll b.conll -f latex --digits 1 --width column
    ```

    The exit status is 3 if a score is under its limit.

    Parameters
    ----------
    metrics
        Metrics and presets, separated by commas; parameters in parentheses, as in
        `lea(importance=one)`. Presets: `standard` (the default), `papers`, `anaphora`, `all`.
        `corefeval metrics` lists them. `my_module:my_metric` is your own function.
    by
        Features, separated by commas, to show scores by: `genre`, `entity_class`, `size`, `kind`,
        `tag`, `distance(sentences)`, … `corefeval features` lists them. `genre*kind` crosses two.
    by_document
        Show each document's scores too.
    ci
        Show intervals, from a bootstrap over documents.
    samples
        How many samples the bootstrap draws.
    segments
        How many segments to cut a single document into for its intervals.
    format
        How to print; `conll`, `coval` and `corefud` print like the official scorer, coval and
        corefud-scorer.
    save
        Keep the counts of each document in this file (.gz: compressed), to score and compare
        later without the data.
    fail_under
        Fail (exit status 3) if a score is under a limit: METRIC=NUMBER in percent, or
        METRIC.recall=NUMBER; separate several by commas.
    """
    return run_score(
        key,
        response,
        metrics=metrics,
        by=by,
        by_document=by_document,
        ci=ci,
        samples=samples,
        seed=seed,
        level=level,
        segments=segments,
        format=format,
        output=output,
        save=save,
        fail_under=fail_under,
        reading=reading,
        tables=tables.wishes,
        pieces=pieces,
    )

"""`corefeval compare`: several responses to one key, and whether their differences are real."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from cyclopts import Parameter

from corefeval.cli.arguments import (
    FLAG,
    TABLES,
    Level,
    Output,
    Seed,
    TableFormat,
    TableOptions,
    file_parameter,
)
from corefeval.cli.pieces import PIECES, PieceOptions
from corefeval.cli.printing import label, plain_names, show, show_trials, tell
from corefeval.cli.reading import READING, Reading
from corefeval.diagnostics import UsageError

_FILE = file_parameter("compare")


def compare(
    key: Annotated[
        str,
        _FILE(help="The key: a file, folder or pattern; `-` is standard input. Or a saved file."),
    ],
    /,
    *response: Annotated[
        str,
        _FILE(name="RESPONSE", help="Two responses or more, PATH or NAME=PATH; or saved files."),
    ],
    metrics: Annotated[str | None, Parameter(alias="-m")] = None,
    rate: Literal["f1", "recall", "precision", "accuracy"] = "f1",
    test: Literal["randomization", "bootstrap", "exact"] = "randomization",
    trials: int | None = None,
    seed: Seed = 0,
    correction: Literal["holm", "bonferroni", "none"] = "holm",
    alpha: float = 0.05,
    level: Level = 0.95,
    samples: int | None = None,
    baseline: str | None = None,
    segments: int = 20,
    by: Annotated[str, Parameter(alias="-b", show_default=False)] = "",
    pairs: Annotated[bool, FLAG()] = False,
    differences: Annotated[bool, FLAG()] = False,
    agreement: Annotated[bool, FLAG()] = False,
    power: Annotated[bool, FLAG()] = False,
    metric: str | None = None,
    sort: Literal["score", "given"] = "score",
    format: Annotated[TableFormat, Parameter(alias="-f")] = "text",
    output: Output = None,
    save: str | None = None,
    fail_if_worse: str | None = None,
    tables: TableOptions = TABLES,
    pieces: PieceOptions = PIECES,
    reading: Reading = READING,
) -> int:
    """Compare responses to a key: which one is better, and whether the difference is real.

    ```
    corefeval compare key.conll old=a.conll new=b.conll
    corefeval compare key.conll a.conll b.conll c.conll -f latex -o table.tex
    corefeval compare key.conll a.conll b.conll -f latex --rates P,R,F1 --digits 1
    corefeval compare key.conll a.conll b.conll --differences --power --by genre
    corefeval compare old.json.gz new.json.gz
    corefeval compare key.conll old.json.gz new=b.conll --fail-if-worse old.conll
    ```

    The exit status is 3 if a response is significantly worse than `--fail-if-worse`.

    Parameters
    ----------
    metrics
        Metrics and presets, separated by commas; by default muc, b3, ceafe, conll and lea.
    rate
        Which rate of each metric to compare.
    test
        Paired approximate randomization, paired bootstrap, or an exact test (20 documents at most).
    trials
        How many trials the test has, 10,000 by default; not for the exact test.
    correction
        The correction of p-values for many pairs, for each metric.
    alpha
        The largest p-value that counts as significant.
    samples
        How many samples the bootstrap of intervals draws, 1,000 by default.
    baseline
        Compare all others with this response only.
    segments
        How many segments to cut a single document into, as one document cannot be tested.
    by
        Features, separated by commas: compare within each of their values too.
    pairs
        Show every pair's difference, interval, p-value and effect sizes (always with two).
    differences
        Show in which documents and slices the best response and the others differ.
    agreement
        Show how well the metrics agree on the order of the responses (Kendall's τ).
    power
        Show how many documents it would take to make the other differences significant.
    metric
        The main metric, for sorting, `--differences` and `--power`; by default conll, or else the
        first.
    sort
        Sort responses by score, best first, or keep the order given.
    format
        How to print; `csv` has one table: documents (`--differences`), `--pairs`, or scores.
    save
        Keep the counts of each document in this file (.gz: compressed), to compare later
        without the data.
    fail_if_worse
        Fail (exit status 3) if a response is significantly worse than this one by any metric.
    """
    from corefeval.cli.gates import check_not_worse
    from corefeval.cli.responses import Request, keep, results_of
    from corefeval.evaluation import COMPARED, common_metrics
    from corefeval.stats import compare
    from corefeval.stats.resampling import name_results
    from corefeval.stats.significance import Options

    tables.check(format, rate)
    if baseline is not None and fail_if_worse not in (None, baseline):
        raise UsageError("--fail-if-worse needs its own comparisons: leave out --baseline")
    request = Request(
        command="compare",
        metrics=metrics,
        default=COMPARED,
        options={
            **reading.policies,
            "by": by,
            "segments": segments,
            "as_segments": True,
        },
        reading=reading,
        pieces=pieces,
        targets=(output, save),
    )
    testing: dict[str, Any] = {"rate": rate, "test": test, "trials": trials, "seed": seed}
    testing |= {"correction": correction, "alpha": alpha, "level": level, "samples": samples}
    Options.of(**testing)  # which refuses what is out of range before anything is read
    results = results_of(key, response, request)
    systems = name_results(results)
    labels = {label(argument)[0] for argument in (key, *response)}
    plain = dict(zip(systems, plain_names([*systems], labels), strict=True))
    systems = {plain[name]: result for name, result in systems.items()}
    baseline, fail_if_worse = (
        None if name is None else plain.get(name, name) for name in (baseline, fail_if_worse)
    )
    for option, name in (("baseline", baseline), ("fail-if-worse", fail_if_worse)):
        if name is not None and name not in systems:
            raise UsageError(f"--{option} {name}: the responses are {', '.join(systems)}")
    with show_trials(reading.quiet):
        comparison = compare(
            systems,
            metrics=None if metrics is None else common_metrics(results, metrics, rate),
            by=by,
            baseline=baseline,
            **testing,
        )
        main = comparison.main_metric(metric)  # what is misspelt is told before it is written
        comparison = comparison.order_by(main) if sort == "score" else comparison
        _ = comparison.slices  # which have trials of their own
    show(
        comparison,
        output,
        format=format,
        pairs=pairs,
        differences=differences,
        agreement=agreement,
        power=power,
        metric=metric,
        **tables.wishes,
    )
    if save is not None:
        keep(results, save, quiet=reading.quiet)
    tell(comparison.notices, quiet=reading.quiet)
    return 0 if fail_if_worse is None else check_not_worse(comparison, fail_if_worse, metrics)

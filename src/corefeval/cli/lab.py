"""`corefeval lab`: experiments on metrics, on the papers' data or on yours."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from corefeval.cli.arguments import Format, file_parameter
from corefeval.cli.printing import check_paths, label, short, show, show_progress, tell
from corefeval.cli.reading import SIDES, SideReading
from corefeval.diagnostics import Notice, UsageError, plural
from corefeval.display import csv_text, json_text
from corefeval.files import write_folder

if TYPE_CHECKING:
    from corefeval.figures import FigureFormat
    from corefeval.lab import ExperimentResult
    from corefeval.model import Corpus

_FILE = file_parameter("lab")


def lab(
    experiment: Annotated[str, _FILE(help="An experiment, or `list`.")] = "list",
    key: Annotated[str | None, _FILE(help="Your own key, instead of the papers'.")] = None,
    response: Annotated[str | None, _FILE(help="Your own response, as PATH or NAME=PATH.")] = None,
    /,
    *,
    metrics: Annotated[str | None, Parameter(alias="-m")] = None,
    seed: int = 0,
    output: Annotated[str | None, Parameter(alias="-o")] = None,
    format: Format = "text",
    figures: str = "svg,png,html",
    tagset: str | None = None,
    reading: SideReading = SIDES,
) -> None:
    """Find out what metrics reward: run an experiment, on the papers' data or on your own.

    ```
    corefeval lab list
    corefeval lab splits
    corefeval lab mention-identification key.conll response.conll -m conll,lea
    corefeval lab trust --output trust/
    ```

    Parameters
    ----------
    metrics
        Metrics and presets, separated by commas. `corefeval metrics` lists them. By default, all
        that the data allows are measured, and tables show those that most papers report.
    seed
        The seed of the random numbers.
    output
        Write data (CSV, JSON) and figures into this folder, which is created if needed.
    figures
        Formats of figures, separated by commas: `svg`, `png`, `html`, or `none`.
    tagset
        The tagset (penn, upos, stts, or your own JSON file), if the tags do not show it.
    """
    from corefeval.lab import experiment as find_experiment

    if experiment == "list":
        if key is not None or response is not None:
            raise UsageError("corefeval lab list takes no files")
        sys.stdout.write(_list(format))
        return
    trial = find_experiment(experiment)
    forms = _forms(figures)
    paths = [label(path)[1] for path in (key, response) if path is not None]
    check_paths([], paths)
    corpora = [
        None if path is None else _read(path, options)
        for path, options in ((key, reading.of_key), (response, reading.of_response))
    ]
    with show_progress(experiment, reading.quiet) as progress:
        result = trial.run(*corpora, metrics=metrics, seed=seed, progress=progress, tagset=tagset)
    show(result, None, format=format, everything=metrics is not None)
    # Nobody who brings no data is to be told what it lacks.
    notices = [notice for corpus in corpora if corpus is not None for notice in corpus.notices]
    notices += result.notices if key is not None else ()
    if output is not None:
        notices += _write(result, Path(output), forms, paths, reading.quiet)
    tell(notices, quiet=reading.quiet)


def _list(format: str) -> str:
    """A list of all experiments: names, summaries and references."""
    from corefeval.lab import EXPERIMENTS

    rows = [
        {"name": experiment.name, "summary": experiment.summary, "reference": experiment.reference}
        for experiment in EXPERIMENTS.values()
    ]
    if format == "json":
        return json_text(rows)
    if format == "csv":
        return csv_text(list(rows[0]), (row.values() for row in rows))
    width = max(len(row["name"]) for row in rows) + 2
    lines = []
    for experiment, row in zip(EXPERIMENTS.values(), rows, strict=True):
        takes = " ".join(
            f"[{name.upper()}]"
            for name, need in (("key", experiment.key), ("response", experiment.response))
            if need == "optional"
        )
        lines += [f"{row['name']:{width}}{row['summary']}"]
        lines += [" " * width + "; ".join(part for part in (row["reference"], takes) if part)]
    return "\n".join(lines) + "\n"


def _forms(figures: str) -> list[FigureFormat]:
    """The formats that --figures names, in the order of FORMATS; an unknown one is refused."""
    from corefeval.figures import FORMATS

    parts = [part.strip() for part in figures.split(",") if part.strip() not in ("", "none")]
    for form in parts:
        if form not in FORMATS:
            formats = ", ".join(FORMATS)
            raise UsageError(f"there is no figure format {form!r}: there are {formats}, or none")
    return [form for form in FORMATS if form in parts]


def _read(argument: str, options: dict[str, Any]) -> Corpus:
    from corefeval.formats import read

    name, path = label(argument)
    return read(path, name=name or short(path), **options)


def _write(
    result: ExperimentResult,
    folder: Path,
    forms: list[FigureFormat],
    inputs: list[str],
    quiet: bool,
) -> list[Notice]:
    """Write data and figures into a folder; return notices about what was written."""
    from corefeval.figures import MISSING, can_draw, figures
    from corefeval.output import render

    contents: dict[str, bytes] = {
        f"{result.name}.csv": render(result, format="csv").encode(),
        f"{result.name}.json": render(result, format="json").encode(),
        f"{result.name}.txt": render(result, everything=True).encode(),
    }
    notices = []
    if forms and not can_draw():
        notices.append(Notice("no-figures", MISSING))
        forms = []
    pictures = figures(result) if forms else []
    with show_progress("figures", quiet) as progress:
        for done, figure in enumerate(pictures):
            if progress is not None:
                progress(figure.name, done, len(pictures))
            contents |= {f"{figure.name}.{form}": figure.render(form) for form in forms}
    if os.path.isdir(folder):
        check_paths([], inputs, *(os.fspath(folder / name) for name in contents))
    write_folder(folder, contents, problem="the output cannot be written")
    message = f"{plural(len(contents), 'file')} in {folder}: {', '.join(contents)}"
    return [*notices, Notice("written", message, len(contents), tuple(contents))]

"""`corefeval lab`: experiments on metrics, on the papers' data or on yours."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corefeval.cli.parsing import ParsedOptions
from corefeval.cli.printing import check_paths, label, short, show, show_progress, tell
from corefeval.diagnostics import Notice, UsageError, plural
from corefeval.display import csv_text, json_text
from corefeval.files import write_folder

if TYPE_CHECKING:
    from corefeval.figures import FigureFormat
    from corefeval.lab import ExperimentResult
    from corefeval.model import Corpus


def lab(options: ParsedOptions) -> None:
    """Run an experiment on metrics, on the papers' data or on the user's own."""
    from corefeval.lab import experiment as find_experiment

    key, response, output = options.key, options.response, options.output
    if options.experiment == "list":
        if key is not None or response is not None:
            raise UsageError("corefeval lab list takes no files")
        sys.stdout.write(_list(options.format))
        return
    trial = find_experiment(options.experiment)
    forms = _forms(options.figures)
    paths = [label(path)[1] for path in (key, response) if path is not None]
    check_paths([], paths)
    corpora = [
        None if path is None else _read(path, keywords)
        for path, keywords in ((key, options.of_key), (response, options.of_response))
    ]
    metrics, seed, tagset = options.metrics, options.seed, options.tagset
    with show_progress(options.experiment, options.quiet) as progress:
        result = trial.run(*corpora, metrics=metrics, seed=seed, progress=progress, tagset=tagset)
    show(result, None, format=options.format, everything=metrics is not None)
    # Nobody who brings no data is to be told what it lacks.
    notices = [notice for corpus in corpora if corpus is not None for notice in corpus.notices]
    notices += result.notices if key is not None else ()
    if output is not None:
        notices += _write(result, Path(output), forms, paths, options.quiet)
    tell(notices, quiet=options.quiet)


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


def _read(argument: str, keywords: dict[str, Any]) -> Corpus:
    from corefeval.formats import read

    name, path = label(argument)
    return read(path, name=name or short(path), **keywords)


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

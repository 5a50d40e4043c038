"""What lies behind numbers: `corefeval errors`, `agree`, `merge`, `audit`, `explain` and others."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corefeval.cli.options import REQUEST_OPTIONS
from corefeval.cli.parsing import ParsedOptions
from corefeval.cli.printing import (
    check_paths,
    label,
    names_of,
    put,
    short,
    show,
    show_progress,
    show_trials,
    tell,
)
from corefeval.cli.responses import make_request, name_responses, name_systems, read_all
from corefeval.diagnostics import InputError, Notice, UsageError, plural
from corefeval.display import csv_text, distinct_names, json_text, visible
from corefeval.files import write_folder

if TYPE_CHECKING:
    from corefeval.analysis.explanation import ResultDifference
    from corefeval.figures import FigureFormat
    from corefeval.lab import ExperimentResult
    from corefeval.model import Corpus
    from corefeval.pieces import NamedFile
    from corefeval.reports import Report

_FAMILIES = ("set", "bridging")  # of kinds: each stands for missed, spurious and wrong ones


def errors(options: ParsedOptions) -> None:
    """Show what is wrong with responses, and what each kind of error costs."""
    from corefeval.analysis.errors import analyse_prepared, judge_alike
    from corefeval.evaluation import prepare_nearest

    for name in ("top", "entities"):
        if getattr(options, name) < 0:
            raise UsageError(f"--{name} must be 0 or more, not {getattr(options, name)}")
    kinds = _parse_kinds(options.list)
    files = name_responses(options)
    request = make_request(options, options.metrics, (options.by,), nearest=True)
    key_corpus, corpora = read_all(options.key, files, request, quiet=options.quiet)
    prepared = (prepare_nearest(key_corpus, corpus, request) for corpus in corpora)
    analyses = judge_alike(
        [analyse_prepared(side, request.metrics, by=options.by) for side in prepared]
    )
    # Features that cannot be had are an error before anything is written.
    notices = [notice for analysis in analyses for notice in analysis.notices]
    shown = {"kinds": kinds, "top": options.top, "entities": options.entities}
    show(analyses, options.output, format=options.format, **shown)
    notices += [notice for analysis in analyses for notice in analysis.notices]
    tell(notices, quiet=options.quiet)


def _parse_kinds(text: str) -> tuple[str, ...]:
    """The kinds of errors that `--list` names; `all` and families stand for several kinds."""
    from corefeval.analysis.errors.classification import KINDS, OTHERS, error_kind

    names = [part.strip() for part in text.split(",") if part.strip()]
    if "all" in names:
        return (*KINDS, *OTHERS)
    families = {family: [kind for kind in OTHERS if kind.endswith(family)] for family in _FAMILIES}
    return tuple(kind for name in names for kind in families.get(name) or [error_kind(name)])


def agree(options: ParsedOptions) -> None:
    """Measure the agreement between annotators."""
    from corefeval.analysis.agreement import agree as measure_agreement

    if options.ci and not options.response:
        raise UsageError("--ci is about responses: add --response NAME=PATH")
    arguments, responses = (options.file, options.other, *options.more), options.response or ()
    annotators, systems = name_annotators(arguments, responses, options.output)
    names = ("distances", "ci", "samples", "seed", "level")
    with show_trials(options.quiet):
        agreement = measure_agreement(
            annotators, systems or None, **read_keywords(options), **options.given(*names)
        )
    show(agreement, options.output, format=options.format, by_document=options.by_document)
    tell(agreement.notices, quiet=options.quiet)


def name_annotators(
    arguments: Sequence[str], further: Sequence[str], *targets: str | None
) -> list[dict[str, NamedFile]]:
    """The files of annotators, and further ones, by their names; no target is among them."""
    from corefeval.pieces import NamedFile

    sides = [[label(argument) for argument in side] for side in (arguments, further)]
    labels = [*sides[0], *sides[1]]
    titles = [name or path for name, path in labels]
    twice = max(titles, key=titles.count)
    if titles.count(twice) > 1 and twice != "-":
        raise UsageError(f"two annotators are called {twice!r}: name them, as in NAME={twice}")
    check_paths(labels, [path for _, path in labels], *targets)
    return [
        {name: NamedFile(path, name) for name, (_, path) in zip(names_of(side), side, strict=True)}
        for side in sides
    ]


def read_keywords(options: ParsedOptions) -> dict[str, Any]:
    """What `agree` and `merge` take of options: metrics, the protocol, and how files are read."""
    keywords = options.given("metrics", "file_layer", *REQUEST_OPTIONS)
    return keywords | {"format": options.file_format}


def merge(options: ParsedOptions) -> None:
    """Merge annotations, and write the consensus and what is contested."""
    from corefeval.consensus import VOTES
    from corefeval.consensus import merge as merge_files
    from corefeval.consensus.decisions import make_table
    from corefeval.formats import write

    if options.to is not None and options.output is None:
        raise UsageError("--to is the format of the consensus: add -o FILE")
    is_printed = options.output == "-"
    targets = options.given("contested", "page", "votes", *(() if is_printed else ("output",)))
    decisions = options.given("decisions")
    arguments = (options.file, *options.more)
    files, _ = name_annotators(arguments, [*decisions.values()], *targets.values())
    merged = merge_files(files, **decisions, **read_keywords(options))
    notices = list(merged.notices)
    if options.output is not None:
        notices += write(merged.corpus, options.output, format=options.to)
    if options.contested is not None:
        put(make_table(merged.rows()), options.contested)
    if options.votes is not None:
        put(make_table(merged.votes, VOTES), options.votes)
    if options.page is not None:
        from corefeval.reports.decisions import make_decision_page

        make_decision_page(merged).save(options.page)
    if not is_printed:  # else standard output is the consensus
        show(merged, None, format=options.format)
    tell(notices, quiet=options.quiet)


def audit(options: ParsedOptions) -> None:
    """Find annotations of a key that look wrong."""
    from corefeval.analysis.auditing import audit as find_errors
    from corefeval.pieces import NamedFile

    if options.top < 0:
        raise UsageError(f"--top must be 0 or more, not {options.top}")
    files = {name: NamedFile(path, name) for name, path in name_responses(options)}
    key, keywords = NamedFile(options.key, short(options.key)), options.given(*REQUEST_OPTIONS)
    findings = find_errors(key, files, plant=options.plant, seed=options.seed, **keywords)
    show(findings, options.output, format=options.format, top=options.top)
    tell(findings.notices, quiet=options.quiet)


def explain(options: ParsedOptions) -> None:
    """Explain why numbers differ: by which choices, and how much."""
    from corefeval.analysis.explanation import explain as explain_numbers
    from corefeval.pieces import NamedFile

    responses = [options.response, *options.more]
    labels = [label(response) for response in responses if response is not None]
    paths = [*([] if options.key is None else [options.key]), *(path for _, path in labels)]
    check_paths(labels, [*paths, *(options.results or ())], options.output)
    if options.from_ is not None and options.protocol is not None:
        raise UsageError("--from and --protocol are the same here: leave one of them out")
    style = options.given("digits", "caption", "label", "width")
    if options.results is not None:
        conflicts = {"--from": options.from_, "--to": options.to}
        conflicts |= {"--metrics": options.metrics, "MORE": options.more}
        for name, value in conflicts.items():
            if value:
                raise UsageError(f"--results does not go with {name}: leave it out")
        difference = _explain_results(options.results, paths, _explain_keywords(options))
        show(difference, options.output, format=options.format, **style)
        notices = difference.explanation.notices if difference.explanation is not None else ()
    else:
        if options.key is None or not labels:
            raise UsageError("nothing to explain: write corefeval explain KEY RESPONSE…")
        names, key = names_of(labels, options.key), NamedFile(options.key, short(options.key))
        files = [NamedFile(path, name) for name, (_, path) in zip(names, labels, strict=True)]
        keywords = {"from_": options.from_, "to": options.to, "metrics": options.metrics}
        keywords |= _explain_keywords(options)
        explanation = explain_numbers(key, *files, **keywords)
        show(explanation, options.output, format=options.format, **style)
        notices = explanation.notices
    tell(notices, quiet=options.quiet)


def _explain_keywords(options: ParsedOptions) -> dict[str, Any]:
    """The choices, and how files are read, as keywords of `explain` and `explain_results`."""
    if options.features is not None:
        raise UsageError("no choice depends on features: leave out --features")
    return options.given(*REQUEST_OPTIONS)


def _explain_results(
    results: Sequence[str], paths: Sequence[str], keywords: dict[str, Any]
) -> ResultDifference:
    """What differs between two saved results, by the names of their files."""
    from corefeval.analysis.explanation import explain_results
    from corefeval.evaluation import load

    if len(paths) == 1:
        raise UsageError(f"{paths[0]} is a key without a RESPONSE: give both, or none")
    if len(results) != 2:
        raise UsageError("--results takes two files that --save wrote: --results a.json b.json")
    names = distinct_names([short(path) for path in results], results)
    first, second = (load(path).rename(name) for path, name in zip(results, names, strict=True))
    return explain_results(first, second, *paths, **keywords)


def report(options: ParsedOptions) -> None:
    """Make a report on responses: one HTML file."""
    files = name_systems(options)
    labels = [label(argument) for argument in (options.response, *options.more)]
    titles = [name or path for name, path in labels]
    if len(set(titles)) < len(titles):
        twice = max(titles, key=titles.count)
        raise UsageError(f"{twice} appears twice: give each a name, as in first={twice}")
    page = _make_report(files, options)
    page.save(options.output)
    size = os.path.getsize(options.output) / 1_000_000
    sys.stdout.write(f"{visible(options.output)}: {page.summary}, {size:.1f} MB\n")
    tell(page.notices, quiet=options.quiet)


def _make_report(paths: dict[str, str], options: ParsedOptions) -> Report:
    """The report on the files of responses by their names; errors name files by their paths."""
    from corefeval.checks import split_list
    from corefeval.pieces import NamedFile
    from corefeval.reports import DEFAULT_FEATURES, report

    try:
        return report(
            NamedFile(options.key, short(options.key)),
            {name: NamedFile(path, name) for name, path in paths.items()},
            metrics=options.metrics,
            by=DEFAULT_FEATURES if options.by is None else [*split_list(options.by)],
            text=not options.no_text,
            title=options.title,
            ci=None if options.no_ci else options.level,
            samples=options.samples,
            seed=options.seed,
            explain=options.explain,
            sort=options.sort,
            **options.given(*REQUEST_OPTIONS),
        )
    except InputError as error:  # a page has its own names for responses
        for name, path in paths.items():
            if error.file == name or f"{error.file}".startswith(f"{name} ("):
                raise error.of_file(path) from None
        raise


def lab(options: ParsedOptions) -> None:
    """Run an experiment on metrics, on the papers' data or on the user's own."""
    from corefeval.lab import experiment as find_experiment

    key, response, output = options.key, options.response, options.output
    if options.experiment == "list":
        if key is not None or response is not None:
            raise UsageError("corefeval lab list takes no files")
        sys.stdout.write(_list_experiments(options.format))
        return
    trial = find_experiment(options.experiment)
    forms = _parse_figure_formats(options.figures)
    paths = [label(path)[1] for path in (key, response) if path is not None]
    check_paths([], paths)
    corpora = [
        None if path is None else _read_argument(path, keywords)
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
        notices += _write_experiment(result, Path(output), forms, paths, options.quiet)
    tell(notices, quiet=options.quiet)


def _list_experiments(format: str) -> str:
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


def _parse_figure_formats(figures: str) -> list[FigureFormat]:
    """The formats that --figures names, in the order of FORMATS; an unknown one is refused."""
    from corefeval.figures import FORMATS

    parts = [part.strip() for part in figures.split(",") if part.strip() not in ("", "none")]
    for form in parts:
        if form not in FORMATS:
            formats = ", ".join(FORMATS)
            raise UsageError(f"there is no figure format {form!r}: there are {formats}, or none")
    return [form for form in FORMATS if form in parts]


def _read_argument(argument: str, keywords: dict[str, Any]) -> Corpus:
    """The corpus of a PATH or NAME=PATH."""
    from corefeval.formats import read

    name, path = label(argument)
    return read(path, name=name or short(path), **keywords)


def _write_experiment(
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

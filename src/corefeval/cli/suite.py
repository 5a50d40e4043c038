"""The commands of `corefeval suite`: many corpora, many systems."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from corefeval.cli.options import TABLE_OPTIONS
from corefeval.cli.parsing import ParsedOptions
from corefeval.cli.pieces import open_cutting
from corefeval.cli.printing import check_paths, fail, label, put, show, show_trials, tell
from corefeval.cli.responses import tell_words
from corefeval.cli.suite_commands import TEST_OPTIONS
from corefeval.diagnostics import UsageError
from corefeval.display import visible
from corefeval.files import write_file

if TYPE_CHECKING:
    from corefeval.suites.outcome import SuiteResult


def run(options: ParsedOptions) -> int:
    """Score all systems on all corpora and show the table; the exit status is 3 without a key."""
    from corefeval.suites.definition import read_suite
    from corefeval.suites.running import run_suite

    check_paths([], [options.suite], options.output, options.save)
    if options.no_cache and options.cache is not None:
        raise UsageError("--no-cache and --cache: use one of them")
    tests = _test_keywords(options)
    if options.no_tests and tests:
        raise UsageError(f"--no-tests and --{next(iter(tests))}: use one of them")
    _check_drawing(options)
    definition = read_suite(options.suite)
    folder = options.cache or f"{os.path.splitext(options.suite)[0]}.cache"
    folder = None if options.no_cache else folder
    for target in filter(None, (options.output, options.save)):
        if folder is not None and os.path.abspath(folder) == os.path.abspath(target):
            raise UsageError(f"{target} is the cache folder: write to another file")
    with open_cutting(options, "cells") as cutting, show_trials(options.quiet):
        outcome = run_suite(
            definition,
            cache=folder,
            piece_size=cutting.size,
            executor=cutting.executor,
            progress=cutting.progress,
            **({} if options.no_tests else {"trials": 10_000, **tests}),
        )
    _show(outcome, options)  # which may refuse the metric or the rates
    if options.save is not None:
        outcome.save(options.save)
        tell_words([] if options.quiet else outcome.scored, options.save)
    grave = ("broken-key", "no-result") if options.strict else ("broken-key",)
    reasons = [notice.message for notice in outcome.notices if notice.kind in grave]
    return max((fail([reason]) for reason in reasons), default=0)  # on a line each


def _test_keywords(options: ParsedOptions) -> dict[str, Any]:
    """The options of tests that were given, as `compare_corpora` takes them."""
    from corefeval.checks import split_list

    keywords = options.given(*TEST_OPTIONS.split())
    if "resample" in keywords:
        keywords["resample"] = tuple(split_list(keywords["resample"]))
    return keywords


def _draw_keywords(options: ParsedOptions) -> dict[str, Any]:
    """What the table shows, and how it is set, as `render` takes it."""
    content = {"metric": options.metric, "averages": options.averages, "sort": options.sort}
    return {**content, "rows_of": options.rows, **options.given(*TABLE_OPTIONS.split())}


def _check_drawing(options: ParsedOptions) -> None:
    """Refuse what cannot be drawn before work is done; rates are in JSON and CSV, too."""
    from corefeval.output.tables import Style
    from corefeval.suites.tables import SuiteDrawing

    style = options.given(*(name for name in TABLE_OPTIONS.split() if name != "rates"))
    Style.of(options.format, style)
    drawing = _draw_keywords(options)
    SuiteDrawing((), **{name: value for name, value in drawing.items() if name not in style})


def table(options: ParsedOptions) -> None:
    """Show a table of saved results of a suite."""
    from corefeval.suites.outcome import load_suite

    check_paths([], [options.results], options.output)
    _show(load_suite(options.results), options)


def _show(outcome: SuiteResult, options: ParsedOptions) -> None:
    """Print the table and the notices; if the suite has tests, the metric shown is tested too."""
    from corefeval.suites.statistics import with_tests

    with show_trials(options.quiet):
        tested = with_tests(outcome, options.metric)
    show(tested, options.output, format=options.format, **_draw_keywords(options))
    tell(outcome.notices, quiet=options.quiet)


def init(options: ParsedOptions) -> None:
    """Write a first suite file from folders of keys and of systems' responses."""
    from corefeval.suites.checking import write_suite

    output = options.output
    if output != "-" and os.path.exists(output) and not options.force:
        raise UsageError(f"{output} already exists: choose another with -o, or add --force")
    labels = [label(argument) for argument in (options.path, *options.more)]
    check_paths(labels, [location for _, location in labels], None if output == "-" else output)
    text = write_suite(labels, "suite.toml" if output == "-" else output)
    if output == "-":
        sys.stdout.write(text)
        return
    write_file(output, text, problem="the suite cannot be written")
    corpora, systems = (text.count(f"[[{table}]]") for table in ("corpora", "systems"))
    sys.stdout.write(f"{visible(output)}: corpora: {corpora}, systems: {systems}\n")


def check(options: ParsedOptions) -> int:
    """Check all files of a suite: one line for each; the exit status is 1 if one fails."""
    from corefeval.checks import split_list
    from corefeval.suites.checking import check_suite
    from corefeval.suites.definition import read_suite

    check_paths([], [options.suite], options.output)
    systems = split_list(options.systems)
    report = check_suite(read_suite(options.suite), strict=options.strict, systems=systems)
    if options.format != "text":
        show(report, options.output, format=options.format)
    else:
        lines = (*(verdict.line for verdict in report.verdicts), report.summary)
        put("".join(f"{line}\n" for line in lines), options.output)
    return int(report.has_failed)


def compare(options: ParsedOptions) -> None:
    """Compare the systems of a suite over its corpora."""
    from corefeval.output.tables import Style
    from corefeval.suites.outcome import load_suite
    from corefeval.suites.statistics import with_statistics

    check_paths([], [options.results], options.output)
    style = options.given(*TABLE_OPTIONS.split())
    Style.of(options.format, style)  # which refuses what cannot be drawn
    outcome = load_suite(options.results)
    name = outcome.metric(options.metric)
    with show_trials(options.quiet):
        comparison = with_statistics(outcome, [name], **_test_keywords(options))
    standing = comparison.standing(name, options.group)
    drawing = {"metric": standing.metric, "group": standing.group, **style}
    show(comparison, options.output, format=options.format, **drawing)
    tell(comparison.notices, quiet=options.quiet)


def page(options: ParsedOptions) -> None:
    """Make a leaderboard of a suite: one HTML file."""
    from corefeval.reports.leaderboard import make_leaderboard
    from corefeval.suites.outcome import load_suite

    output = options.output
    check_paths([], [options.results], output)
    outcome = load_suite(options.results)
    keywords = {"title": options.title, "reports": options.reports, "beside": output}
    with show_trials(options.quiet):
        leaderboard = make_leaderboard(outcome, **keywords, **_test_keywords(options))
    leaderboard.save(output)
    size = os.path.getsize(output) / 1_000_000
    sys.stdout.write(f"{visible(output)}: {leaderboard.summary}, {size:.2f} MB\n")
    tell(leaderboard.notices, quiet=options.quiet)

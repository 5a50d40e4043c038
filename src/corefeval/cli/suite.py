"""The commands of `corefeval suite`, declared and run: many corpora, many systems."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from corefeval.cli.options import TABLE_FORMATS, TABLE_OPTIONS, take
from corefeval.cli.parsing import Argument, Command, ParsedOptions
from corefeval.cli.printing import check_paths, fail, label, put, show, show_trials, tell
from corefeval.cli.responses import open_cutting, tell_words
from corefeval.diagnostics import Notice, UsageError, plural
from corefeval.display import visible
from corefeval.files import write_file

if TYPE_CHECKING:
    from corefeval.suites.definition import Suite
    from corefeval.suites.outcome import SuiteResult

_SUITE = Argument("SUITE", "The suite's file (TOML).")
_SUITE_RESULTS = Argument("RESULTS", "What `suite run --save` wrote.")
# What differs where suites are tested: the suite's file may say otherwise.
TEST_OPTIONS = "trials seed alpha level correction combination resample"
_TESTED: dict[str, str | dict[str, Any]] = {
    "trials": "How many trials tests on a corpus and the bootstrap over corpora have.",
    "seed": {"default": None},
    "alpha": {"default": None, "usual": "0.05", "rare": True},
    "level": {"default": None, "usual": "0.95"},
    "correction": {"default": None, "usual": "holm"},
}
_SHOWN: dict[str, str | dict[str, Any]] = {
    "sort": {
        "help": "Sort systems by score, or as in the suite's file.",
        "choices": ("score", "file"),
    },
    "format": {
        "help": "How to print; `codabench` is a scores.json for its leaderboards.",
        "choices": (*TABLE_FORMATS, "codabench"),
    },
}

SUITE_COMMANDS = (
    Command(
        "suite run",
        "suite:run",
        "Score all systems of a suite on all its corpora, and show the table.",
        (_SUITE,),
        take(
            "systems corpora cache no_cache no_tests strict metric averages sort rows format "
            "output save quiet "
            f"{TABLE_OPTIONS} {TEST_OPTIONS} unpack_limit jobs piece_size scheduler",
            systems="Score only these systems; names separated by commas.",
            strict="Fail (exit status 3) also if a response is missing or broken.",
            save="Keep all results in this file (.gz: compressed), for `suite table`, `compare` "
            "and `page`.",
            **_SHOWN,
            **_TESTED,
        ),
        """\
corefeval suite run suite.toml
corefeval suite run suite.toml --jobs 8 --save results.json.gz
corefeval suite run suite.toml --rates r,p,f1 --averages macro,micro -f latex""",
        "A response that is missing or broken is named and does not stop the others. Systems are "
        "compared by the headline metric: a superscript names the systems that one is "
        "significantly better than, and systems of the same rank do not differ significantly. The "
        "exit status is 3 if a key is broken.",
    ),
    Command(
        "suite init",
        "suite:init",
        "Write a first suite file from folders of keys and of systems' responses.",
        (
            Argument(
                "PATH",
                "Keys: a folder of them or several files; then systems' folders, each as FOLDER or "
                "NAME=FOLDER.",
            ),
            Argument("[MORE...]", "More of them."),
        ),
        take(
            "output force quiet",
            quiet="Print nothing, not even which files have no place in the suite.",
            output={
                "help": "The file to write; `-` is standard output.",
                "default": "suite.toml",
                "is_file": True,
            },
        ),
        """\
corefeval suite init keys/ mine/ theirs/
corefeval suite init keys/*.conll systems/ -o dev.toml
corefeval suite init keys/ mine=runs/2024-05-01 -o -""",
        "Corpora are named after the keys, and responses should have these names in theirs. If "
        "files differ in a number, it is the seed.",
    ),
    Command(
        "suite check",
        "suite:check",
        "Check all files of a suite: one line for each, with a verdict.",
        (_SUITE,),
        take(
            "strict systems corpora format output quiet unpack_limit",
            corpora="Check only these corpora; names separated by commas.",
            quiet="Print only the files that are not ok.",
            strict="Fail files with warnings, such as missing documents, too.",
            format={"choices": ("text", "json", "csv")},
        ),
        """\
corefeval suite check suite.toml
corefeval suite check suite.toml --strict --systems mine""",
        "The exit status is 1 if a file fails: it is missing, stops scoring or loses mentions.",
    ),
    Command(
        "suite table",
        "suite:table",
        "Show a table of saved results of a suite.",
        (_SUITE_RESULTS,),
        take(
            f"metric averages sort rows format output quiet {TABLE_OPTIONS} unpack_limit",
            quiet="Print no notices.",
            **_SHOWN,
        ),
        """\
corefeval suite table results.json.gz --metric lea
corefeval suite table results.json.gz --rows corpora --rates p,r,f1
corefeval suite table results.json.gz -f latex --width column --digits 1""",
    ),
    Command(
        "suite compare",
        "suite:compare",
        "Compare the systems of a suite over its corpora: by how much, and on how many, one is "
        "better.",
        (_SUITE_RESULTS,),
        take(
            "metric group format output quiet digits caption label width "
            f"{TEST_OPTIONS} unpack_limit",
            quiet="Print no notices.",
            **_TESTED,
        ),
        """\
corefeval suite compare results.json.gz
corefeval suite compare results.json.gz --metric lea --combination fisher
corefeval suite compare results.json.gz --resample documents,seeds -f json
corefeval suite compare results.json.gz -f latex --width page --digits 1""",
    ),
    Command(
        "suite page",
        "suite:page",
        "Make a leaderboard of a suite: one HTML file that opens anywhere, without a network.",
        (_SUITE_RESULTS,),
        take(
            f"output title reports quiet {TEST_OPTIONS} unpack_limit",
            output={"help": "The file to write.", "default": "leaderboard.html"},
            title="The title of the leaderboard; by default the suite's.",
            quiet="Print no notices.",
            **_TESTED,
        ),
        """\
corefeval suite page results.json.gz
corefeval suite page results.json.gz --title "Shared task" --output board.html
corefeval suite page results.json.gz --reports reports/""",
        "It is made from saved results only, and contains no words of the corpora.",
    ),
)


def run(options: ParsedOptions) -> int:
    """Score all systems on all corpora and show the table; the exit status is 3 without a key."""
    from corefeval.suites.running import run_suite

    check_paths([], [options.suite], options.output, options.save)
    if options.no_cache and options.cache is not None:
        raise UsageError("--no-cache and --cache: use one of them")
    tests = _test_keywords(options)
    if options.no_tests and tests:
        raise UsageError(f"--no-tests and --{next(iter(tests))}: use one of them")
    _check_drawing(options)
    definition = _read_selected(options)
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


def _read_selected(options: ParsedOptions) -> Suite:
    """The suite, with the systems and corpora that were chosen."""
    from corefeval.checks import split_list
    from corefeval.suites.definition import read_suite
    from corefeval.suites.selection import select

    chosen = ([*split_list(names)] for names in (options.systems, options.corpora))
    return select(read_suite(options.suite), *chosen)


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
    from corefeval.suites.statistics import check_averages

    style = options.given(*(name for name in TABLE_OPTIONS.split() if name != "rates"))
    Style.of(options.format, style)
    check_averages(options.averages)


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
    from corefeval.suites.drafting import write_suite

    output = options.output
    if output != "-" and os.path.exists(output) and not options.force:
        raise UsageError(f"{output} already exists: choose another with -o, or add --force")
    labels = [label(argument) for argument in (options.path, *options.more)]
    check_paths(labels, [location for _, location in labels], None if output == "-" else output)
    text, unplaced = write_suite(labels, "suite.toml" if output == "-" else output)
    if unplaced:
        message = f"{plural(len(unplaced), 'file')} with no place in the suite: "
        tell([Notice("no-place", message + ", ".join(unplaced))], quiet=options.quiet)
    if output == "-":
        sys.stdout.write(text)
        return
    write_file(output, text, problem="the suite cannot be written")
    corpora, systems = (text.count(f"[[{table}]]") for table in ("corpora", "systems"))
    if not options.quiet:
        sys.stdout.write(f"{visible(output)}: corpora: {corpora}, systems: {systems}\n")


def check(options: ParsedOptions) -> int:
    """Check all files of a suite: one line for each; the exit status is 1 if one fails."""
    from corefeval.suites.checking import check_suite

    check_paths([], [options.suite], options.output)
    report = check_suite(_read_selected(options), strict=options.strict)
    if options.format != "text":
        show(report, options.output, format=options.format)
    else:
        lines = [
            verdict.line
            for verdict in report.verdicts
            if not options.quiet or verdict.ruling != "ok"
        ]
        lines += [] if options.quiet else [report.summary]
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

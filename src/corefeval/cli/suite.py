"""`corefeval suite`: many corpora, many systems; run, init, check and table."""

# No `annotations` from __future__ here: types of fields are looked up where commands are made.

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Group, Parameter

from corefeval.cli.arguments import (
    FLAG,
    HOW,
    Output,
    Quiet,
    TableOptions,
    file_parameter,
    usage_of,
    with_unpacking,
)
from corefeval.cli.gates import fail
from corefeval.cli.pieces import CLUSTER, ClusterPieces
from corefeval.cli.printing import check_paths, label, put, show, show_trials, tell
from corefeval.cli.responses import tell_words
from corefeval.cli.standings import TESTS, TestOptions, compare, page
from corefeval.diagnostics import UsageError
from corefeval.display import visible
from corefeval.files import write_file

if TYPE_CHECKING:
    from corefeval.suites.outcome import SuiteResult

SuiteFormat = Annotated[
    Literal["text", "json", "csv", "markdown", "latex", "codabench"],
    HOW(help="How to print; `codabench` is a scores.json for its leaderboards."),
]
_TABLE = Group("Table", sort_key=2)


@Parameter(name="*", group=_TABLE)
@dataclass(frozen=True, kw_only=True)
class SuiteTable(TableOptions):
    """What the table shows.

    Parameters
    ----------
    metric
        Which metric; by default the suite's headline.
    averages
        Which averages, of `macro`, `micro` and `groups`; or `none`.
    sort
        Sort systems by score, or as in the suite's file.
    rows
        What the rows are.
    """

    metric: str | None = None
    averages: str = "macro,groups"
    sort: Literal["score", "file"] = "score"
    rows: Literal["systems", "corpora"] = "systems"

    @property
    def drawing(self) -> dict[str, Any]:
        """The options that `render` takes by these names."""
        options = {"metric": self.metric, "averages": self.averages, "sort": self.sort}
        return {**options, "rows_of": self.rows, **self.wishes}

    def check(self, format: str, rate: str | None = None) -> None:
        """Refuse what cannot be drawn before work is done; rates are in JSON and CSV, too."""
        from corefeval.output.tables import Style
        from corefeval.suites.tables import SuiteDrawing

        style = {name: value for name, value in self.wishes.items() if name != "rates"}
        Style.of(format, style)
        SuiteDrawing((), **{n: value for n, value in self.drawing.items() if n not in style})


TABLE = SuiteTable()


def run(
    suite: Annotated[str, file_parameter("suite run")(help="The suite's file (TOML).")],
    /,
    *,
    cache: str | None = None,
    no_cache: Annotated[bool, FLAG()] = False,
    save: str | None = None,
    no_tests: Annotated[bool, FLAG()] = False,
    strict: Annotated[bool, FLAG()] = False,
    format: SuiteFormat = "text",
    output: Output = None,
    table: SuiteTable = TABLE,
    tests: TestOptions = TESTS,
    pieces: ClusterPieces = CLUSTER,
    quiet: Annotated[bool, FLAG(alias="-q")] = False,
) -> int:
    """Score all systems of a suite on all its corpora, and show the table.

    ```
    corefeval suite run suite.toml
    corefeval suite run suite.toml --jobs 8 --save results.json.gz
    corefeval suite run suite.toml --rates r,p,f1 --averages macro,micro -f latex
    ```

    A response that is missing or broken is named and does not stop the others. Systems are compared
    by the headline metric: a superscript names the systems that one is significantly better than,
    and systems of the same rank do not differ significantly. The exit status is 3 if a key is
    broken.

    Parameters
    ----------
    cache
        The folder for results that can be used again; by default the path of the suite's file with
        `.cache` at the end.
    no_cache
        Score everything again, and keep nothing.
    save
        Keep all results in this file (.gz: compressed), for `suite table`, `compare` and `page`.
    no_tests
        Do not test differences: only equal averages share a rank.
    strict
        Fail (exit status 3) also if a response is missing or broken.
    quiet
        Print no notices and no progress.
    """
    from corefeval.suites.definition import read_suite
    from corefeval.suites.running import run_suite

    check_paths([], [suite], output, save)
    if no_cache and cache is not None:
        raise UsageError("--no-cache and --cache: use one of them")
    if no_tests and tests.wishes:
        raise UsageError(f"--no-tests and --{next(iter(tests.wishes))}: use one of them")
    table.check(format)
    definition = read_suite(suite)
    folder = None if no_cache else cache or f"{os.path.splitext(suite)[0]}.cache"
    for target in filter(None, (output, save)):
        if folder is not None and os.path.abspath(folder) == os.path.abspath(target):
            raise UsageError(f"{target} is the cache folder: write to another file")
    with pieces.cutting(quiet=quiet, noun="cells") as cutting, show_trials(quiet):
        outcome = run_suite(
            definition,
            cache=folder,
            piece_size=cutting.size,
            executor=cutting.executor,
            progress=cutting.progress,
            **({} if no_tests else {"trials": 10_000, **tests.wishes}),
        )
    _show(outcome, output, format, table, quiet)  # which may refuse the metric or the rates
    if save is not None:
        outcome.save(save)
        tell_words([] if quiet else outcome.scored, save)
    grave = ("broken-key", "no-result") if strict else ("broken-key",)
    reasons = [notice.message for notice in outcome.notices if notice.kind in grave]
    return max((fail([reason]) for reason in reasons), default=0)  # on a line each


def table(
    results: Annotated[str, file_parameter("suite table")(help="What `suite run --save` wrote.")],
    /,
    *,
    format: SuiteFormat = "text",
    output: Output = None,
    table: SuiteTable = TABLE,
    quiet: Quiet = False,
) -> None:
    """Show a table of saved results of a suite.

    ```
    corefeval suite table results.json.gz --metric lea
    corefeval suite table results.json.gz --rows corpora --rates p,r,f1
    corefeval suite table results.json.gz -f latex --width column --digits 1
    ```

    """
    from corefeval.suites.outcome import load_suite

    check_paths([], [results], output)
    _show(load_suite(results), output, format, table, quiet)


def _show(
    outcome: "SuiteResult", output: str | None, format: str, table: SuiteTable, quiet: bool
) -> None:
    """Print the table and the notices; if the suite has tests, the metric shown is tested too."""
    from corefeval.suites.statistics import with_tests

    with show_trials(quiet):
        tested = with_tests(outcome, table.metric)
    show(tested, output, format=format, **table.drawing)
    tell(outcome.notices, quiet=quiet)


def init(
    path: Annotated[
        str,
        file_parameter("suite init")(
            help="Keys: a folder of them or several files; then systems' folders, each as FOLDER "
            "or NAME=FOLDER."
        ),
    ],
    /,
    *more: Annotated[str, file_parameter("suite init")(name="MORE", help="More of them.")],
    output: Annotated[str, file_parameter("suite init")(alias="-o")] = "suite.toml",
    force: Annotated[bool, FLAG()] = False,
) -> None:
    """Write a first suite file from folders of keys and of systems' responses.

    ```
    corefeval suite init keys/ mine/ theirs/
    corefeval suite init keys/*.conll systems/ -o dev.toml
    corefeval suite init keys/ mine=runs/2024-05-01 -o -
    ```

    Corpora are named after the keys, and responses should have these names in theirs. If files
    differ in a number, it is the seed.

    Parameters
    ----------
    output
        The file to write; `-` is standard output.
    force
        Overwrite the file if it exists.
    """
    from corefeval.suites.checking import write_suite

    if output != "-" and os.path.exists(output) and not force:
        raise UsageError(f"{output} already exists: choose another with -o, or add --force")
    labels = [label(argument) for argument in (path, *more)]
    check_paths(labels, [location for _, location in labels], None if output == "-" else output)
    text = write_suite(labels, "suite.toml" if output == "-" else output)
    if output == "-":
        sys.stdout.write(text)
        return
    write_file(output, text, problem="the suite cannot be written")
    numbers = (text.count(f"[[{table}]]") for table in ("corpora", "systems"))
    corpora, systems = numbers
    sys.stdout.write(f"{visible(output)}: corpora: {corpora}, systems: {systems}\n")


def check(
    suite: Annotated[str, file_parameter("suite check")(help="The suite's file (TOML).")],
    /,
    *,
    strict: Annotated[bool, FLAG()] = False,
    systems: Annotated[str, Parameter(show_default=False)] = "",
    format: Annotated[Literal["text", "json", "csv"], HOW()] = "text",
    output: Output = None,
) -> int:
    """Check all files of a suite: one line for each, with a verdict.

    ```
    corefeval suite check suite.toml
    corefeval suite check suite.toml --strict --systems mine
    ```

    The exit status is 1 if a file fails: it is missing, stops scoring or loses mentions.

    Parameters
    ----------
    strict
        Let warnings, such as missing documents, fail a file.
    systems
        Check only the responses of these systems; names separated by commas.
    """
    from corefeval.checks import split_list
    from corefeval.suites.checking import check_suite
    from corefeval.suites.definition import read_suite

    check_paths([], [suite], output)
    report = check_suite(read_suite(suite), strict=strict, systems=split_list(systems))
    if format != "text":
        show(report, output, format=format)
    else:
        put(
            "".join(f"{verdict.line}\n" for verdict in report.verdicts) + f"{report.summary}\n",
            output,
        )
    return int(report.has_failed)


COMMANDS: Sequence[Callable[..., object]] = (run, init, check, table, compare, page)

app = App(
    name="suite",
    sort_key=5,  # behind the report
    help="Score many systems on many corpora: a suite file, tables, checks of submissions.",
    help_format="markdown",
    help_epilogue="",
)
for place, command in enumerate(COMMANDS):
    usage = usage_of(command, "suite ")
    reader = command if command is init else with_unpacking(command)
    app.command(reader, help_epilogue="", usage=usage, sort_key=place)

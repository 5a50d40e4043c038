"""The commands, and the library that parses them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cyclopts import App, CycloptsError

from corefeval._version import __version__
from corefeval.cli.agree import agree
from corefeval.cli.arguments import usage_of, with_unpacking
from corefeval.cli.cite import cite
from corefeval.cli.compare import compare
from corefeval.cli.corpora import check, convert, stats
from corefeval.cli.errors import errors
from corefeval.cli.explain import explain
from corefeval.cli.lab import lab
from corefeval.cli.listings import example, features, metrics, protocols
from corefeval.cli.prompt import prompt
from corefeval.cli.report import report
from corefeval.cli.score import score
from corefeval.cli.suite import app as suite
from corefeval.diagnostics import UsageError

app = App(
    name="corefeval",
    version=f"corefeval {__version__}",
    help="Evaluate coreference resolution: every metric, exact to the official scorer, fast.",
    help_format="markdown",
    help_epilogue=(
        "```\n"
        "corefeval score key.conll response.conll\n"
        "corefeval score key.conll mine=a.conll theirs=b.conll --metrics conll,lea\n"
        "corefeval compare key.conll mine=a.conll theirs=b.conll\n"
        "corefeval score --help\n"
        "```\n\n"
        "Exit status: 0 done, 1 bad input, 2 bad usage, 3 a limit was not reached (`--fail-under`, "
        "`--fail-if-worse`), or a suite has a corpus without a key."
    ),
)
Commands = tuple[Callable[..., object], ...]
_READERS: Commands = (
    score, errors, compare, explain, report, agree, lab, check, stats, convert, prompt,
    cite,
)  # fmt: skip
_LISTINGS: Commands = (metrics, features, protocols, example)
for place, command in enumerate((*map(with_unpacking, _READERS), *_LISTINGS)):
    app.command(command, help_epilogue="", usage=usage_of(command), sort_key=place)
app.command(suite)


def run(arguments: Sequence[str]) -> object:
    """What the command gives that some arguments ask for; bad usage is a UsageError."""
    try:
        return app(
            list(arguments), exit_on_error=False, print_error=False, result_action="return_value"
        )
    except CycloptsError as error:  # its own box has colours wherever standard output is a terminal
        raise UsageError(str(error)) from error


def is_about_usage(error: BaseException | None) -> bool:
    """Whether an error came up while bad usage was being explained."""
    while error is not None and not isinstance(error, CycloptsError):
        error = error.__context__
    return error is not None

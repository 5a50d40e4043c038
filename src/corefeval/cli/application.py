"""The commands, and the library that parses them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args, get_origin

from cyclopts import (
    App,
    CoercionError,
    CycloptsError,
    MissingArgumentError,
    RepeatArgumentError,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)

from corefeval._version import __version__
from corefeval.checks import did_you_mean
from corefeval.cli.analysis import agree, errors, explain
from corefeval.cli.arguments import find_command, refuse_option, usage_of, with_unpacking
from corefeval.cli.compare import compare
from corefeval.cli.corpora import check, convert, prompt, stats
from corefeval.cli.lab import lab
from corefeval.cli.listings import cite, completion, example, features, metrics, protocols
from corefeval.cli.report import report
from corefeval.cli.score import score
from corefeval.cli.suite import app as suite
from corefeval.diagnostics import UsageError

app = App(
    name="corefeval",
    version=f"corefeval {__version__}",
    help="Evaluate coreference resolution: all metrics, exact and fast.",
    help_format="markdown",
    help_epilogue=(
        "```\n"
        "corefeval score key.conll response.conll\n"
        "corefeval score key.conll mine=a.conll theirs=b.conll --metrics conll,lea\n"
        "corefeval compare key.conll mine=a.conll theirs=b.conll\n"
        "corefeval score --help\n"
        "```\n\n"
        "Exit status: 0 success, 1 bad input, 2 bad usage, 3 a limit was not met (`--fail-under`, "
        "`--fail-if-worse`), or a suite has a corpus without a key."
    ),
)
Commands = tuple[Callable[..., object], ...]
_READERS: Commands = (
    score, errors, compare, explain, report, agree, lab, check, stats, convert, prompt,
    cite,
)  # fmt: skip
_LISTINGS: Commands = (metrics, features, protocols, example, completion)
for place, command in enumerate((*map(with_unpacking, _READERS), *_LISTINGS)):
    app.command(command, help_epilogue="", usage=usage_of(command), sort_key=place)
app.command(suite)


def run(arguments: Sequence[str]) -> object:
    """Run the command that the arguments name, and return what it returns.

    Raises a UsageError for bad usage.
    """
    console = None
    if "rich.console" in sys.modules:  # the one of earlier help had another output, maybe
        from rich.console import Console

        console = Console()
    try:
        return app(
            list(arguments),
            console=console,
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
    except CycloptsError as error:  # its own box has colours wherever standard output is a terminal
        raise UsageError(_describe(error)) from error


def _describe(error: CycloptsError) -> str:
    """What is wrong with some arguments, in the words of all other errors."""
    argument, command = error.argument, " ".join(error.command_chain or ())
    name = "" if argument is None else argument.name
    if isinstance(error, UnknownCommandError):
        command_name = (error.unused_tokens or [""])[0]
        command_names = [entry for entry in find_command(command) if not entry.startswith("-")]
        return f"there is no command {command_name!r}: {did_you_mean(command_name, command_names)}"
    if isinstance(error, MissingArgumentError):
        if name.startswith("-"):
            count = argument.token_count()[0] if argument is not None else 1
            values = "a value" if count < 2 else f"{count} values"
            return f"{error.keyword or name} needs {values}: see corefeval {command} --help"
        return f"{name} is missing: {find_command(command).usage}"
    if isinstance(error, RepeatArgumentError):
        return f"{error.token.keyword or name} appears twice"
    if isinstance(error, CoercionError) and error.token is not None and error.msg is None:
        kind: Any = error.target_type
        expected = {int: "a whole number", float: "a number", bool: "yes or no"}.get(kind)
        if get_origin(kind) is Literal:
            expected = f"one of {', '.join(map(str, get_args(kind)))}"
        if expected is not None:
            return f"{error.token.keyword or name} is {expected}, not {error.token.value!r:.60}"
    if isinstance(error, UnknownOptionError):
        option = error.token.keyword or error.token.value
        return refuse_option(option, error.argument_collection, command)
    if isinstance(error, UnusedCliTokensError):
        return f"{(error.unused_tokens or [''])[0]!r:.60} is one argument too many: see --help"
    return str(error)


def is_about_usage(error: BaseException | None) -> bool:
    """Whether an error came up while bad usage was being explained."""
    while error is not None and not isinstance(error, CycloptsError):
        error = error.__context__
    return error is not None

"""The command line: parses and prints, nothing else."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

from cyclopts import App, CycloptsError

from corefeval._version import __version__
from corefeval.cli.agree import agree
from corefeval.cli.arguments import remark, usage_of, with_unpacking
from corefeval.cli.compare import compare
from corefeval.cli.corpora import check, convert, stats
from corefeval.cli.errors import errors
from corefeval.cli.lab import lab
from corefeval.cli.listings import example, features, metrics, protocols
from corefeval.cli.prompt import prompt
from corefeval.cli.report import report
from corefeval.cli.score import score
from corefeval.diagnostics import CorefEvalError, UsageError, memory_for

BAD_INPUT, BAD_USAGE, INTERRUPTED = 1, 2, 130

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
        "`--fail-if-worse`)."
    ),
)
Commands = tuple[Callable[..., object], ...]
_READERS: Commands = (score, errors, compare, report, agree, lab, check, stats, convert, prompt)
_LISTINGS: Commands = (metrics, features, protocols, example)
for place, command in enumerate((*map(with_unpacking, _READERS), *_LISTINGS)):
    app.command(command, help_epilogue="", usage=usage_of(command), sort_key=place)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 0, 1 (bad input), 2 (bad usage) or 3 (a gate)."""
    _prepare_streams()
    try:
        with memory_for():
            status = app(
                sys.argv[1:] if arguments is None else list(arguments),
                exit_on_error=False,
                print_error=False,
                result_action="return_value",
            )
        sys.stdout.flush()
    except CycloptsError as error:  # its own box has colours wherever standard output is a terminal
        _complain(str(error))
        return BAD_USAGE
    except SystemExit as leaving:  # rich leaves with 1 where nobody reads the help
        if not isinstance(leaving.__context__, BrokenPipeError):
            raise
        return BAD_USAGE if _is_about_usage(leaving) else 0
    except CorefEvalError as error:
        _complain(error)
        return BAD_USAGE if isinstance(error, UsageError) else BAD_INPUT
    except BrokenPipeError:  # the reader of our output has left, as `head` does
        _discard_output()
        return 0
    except OSError as error:  # the disk is full, or standard output is closed
        _discard_output()
        where = f"{error.filename}: " if error.filename else "the output cannot be written: "
        _complain(f"{where}{error.strerror or error}")
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    return status if isinstance(status, int) else 0


def _prepare_streams() -> None:
    """Make sure that there are streams, and that they take every character somehow."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """See to it that what nobody takes is not tried again when Python ends."""
    with open(os.devnull, "wb") as nowhere, suppress(OSError):  # not every stream has a number
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _is_about_usage(error: BaseException | None) -> bool:
    """Whether an error came up while bad usage was being explained."""
    while error is not None and not isinstance(error, CycloptsError):
        error = error.__context__
    return error is not None


def _complain(error: CorefEvalError | str) -> None:
    color = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    remark("\x1b[1;31merror\x1b[0m" if color else "error", str(error))

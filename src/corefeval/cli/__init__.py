"""The command line: parses and prints, nothing else."""

from __future__ import annotations

import codecs
import os
import re
import sys
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

from corefeval._version import __version__
from corefeval.checks import import_place
from corefeval.cli.commands import COMMANDS, find_command
from corefeval.cli.parsing import INFORMATION, parse
from corefeval.cli.printing import VERBOSE, remark
from corefeval.diagnostics import KEYWORDS, CorefEvalError, LongWait, UsageError, memory_for
from corefeval.files import unpack_limit

__all__ = ["main"]

BAD_INPUT, BAD_USAGE, INTERRUPTED = 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 0, 1 (bad input), 2 (bad usage) or 3 (a gate)."""
    _prepare_streams()
    try:
        with memory_for(), _announce_waits():
            status = _run(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
    except CorefEvalError as error:
        _complain(_fit_to_command(error.command_text, arguments))
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
    return status or 0


def _run(arguments: list[str]) -> int | None:
    """Do what the arguments say: run a command, or show help or the version."""
    name, words = find_command(arguments)
    options = words[: words.index("--")] if "--" in words else words
    wishes = [number for number, word in enumerate(options) if word in INFORMATION]
    if wishes and options[wishes[0]] == "--version":
        sys.stdout.write(f"corefeval {__version__}\n")
        return 0
    if wishes or name not in COMMANDS:
        from corefeval.cli.help import show_help

        show_help(name, everything=bool(wishes) and options[wishes[0] + 1 :][:1] == ["all"])
        return 0
    values = parse(COMMANDS[name], words)
    VERBOSE.set("verbose" in values.given("verbose"))
    limit = values.given("unpack_limit")
    with unpack_limit(values.unpack_limit) if limit else nullcontext():
        status: int | None = import_place(COMMANDS[name].run, "corefeval.cli")(values)
        return status


def _prepare_streams() -> None:
    """Make sure that there are streams, and that they take every character somehow."""
    codecs.register_error("corefeval", _escape)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="corefeval")


def _escape(error: UnicodeError) -> tuple[str, int]:
    """JSON escapes for the characters that a stream cannot encode, and the position after them.

    With the escapes of Python, printed JSON would not be valid.
    """
    import json

    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


@contextmanager
def _announce_waits() -> Iterator[None]:
    """While the context is open, print a note for every LongWait warning."""
    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **options: Any) -> None:
        if issubclass(category, LongWait):
            remark("note", str(message))
        else:
            usual(message, category, *place, **options)

    with warnings.catch_warnings():
        warnings.simplefilter("always", LongWait)
        warnings.showwarning = show
        yield


def _discard_output() -> None:
    """Send unwritten output to the null device, so that Python does not try again at its end."""
    with open(os.devnull, "wb") as nowhere, suppress(OSError):  # not every stream has a number
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _fit_to_command(message: str, arguments: Sequence[str] | None) -> str:
    """A message that advises only options of the command; `--layer` stands for those of layers."""
    spellings: Collection[str] = ()
    with suppress(KeyError, UsageError):
        command, _ = find_command(sys.argv[1:] if arguments is None else arguments)
        spellings = COMMANDS[command].spellings
    layer_options = {
        "--response-layer": "--key-layer or --response-layer",
        "--file-layer": "--file-layer",
    }
    option = next((text for name, text in layer_options.items() if name in spellings), "--layer")
    message = message.replace("--layer NAME", f"{option} NAME")
    if "--input-format" in spellings:
        message = message.replace("--response-format", "--input-format")
    problem, label, fix = message.partition("\n  fix: ")
    unknown = {f"--{name.replace('_', '-')}" for name in KEYWORDS}.difference(spellings)
    advice = [
        part
        for part in re.split("(?=, or |; |, unless )", fix)
        if unknown.isdisjoint(re.findall("--[a-z-]+", part))
    ]
    return problem + label * bool(advice) + "".join(advice)


def _complain(error: CorefEvalError | str) -> None:
    color = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    remark("\x1b[1;31merror\x1b[0m" if color else "error", str(error))

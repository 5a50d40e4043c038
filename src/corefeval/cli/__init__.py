"""The command line: parses and prints, nothing else."""

from __future__ import annotations

import atexit
import codecs
import gc
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from corefeval.cli.printing import remark
from corefeval.diagnostics import CorefEvalError, LongWait, UsageError, memory_for

if TYPE_CHECKING:
    from corefeval.cli.application import app

__all__ = ["app", "main"]

BAD_INPUT, BAD_USAGE, INTERRUPTED = 1, 2, 130
_MANY_OBJECTS = 100_000  # more than all imports of a small score make


def __getattr__(name: str) -> object:
    if name != "app":
        raise AttributeError(f"module 'corefeval.cli' has no attribute {name!r}")
    from corefeval.cli.application import app

    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 0, 1 (bad input), 2 (bad usage) or 3 (a gate)."""
    if arguments is None:  # then the process ends with the command, and takes all garbage along
        atexit.register(gc.freeze)
    _prepare_streams()
    try:
        with memory_for(), _announce_waits(), _rare_collections():
            status = _run(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
    except SystemExit as leaving:  # rich leaves with 1 where nobody reads the help
        if not isinstance(leaving.__context__, BrokenPipeError):
            raise
        from corefeval.cli.application import is_about_usage

        return BAD_USAGE if is_about_usage(leaving) else 0
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


def _run(arguments: list[str]) -> object:
    """Do what the arguments say; plain scores do without the library that parses all commands."""
    if arguments[:1] == ["score"]:
        from corefeval.cli.scoring import parse_plain, run_score

        plain = parse_plain(arguments[1:])
        if plain is not None:
            return run_score(**plain)
    from corefeval.cli.application import run

    return run(arguments)


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


@contextmanager
def _rare_collections() -> Iterator[None]:
    """While the context is open, collect garbage less often.

    Imports make many objects, none of which can be freed.
    """
    usual = gc.get_threshold()
    gc.set_threshold(_MANY_OBJECTS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def _discard_output() -> None:
    """Send unwritten output to the null device, so that Python does not try again at its end."""
    with open(os.devnull, "wb") as nowhere, suppress(OSError):  # not every stream has a number
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _complain(error: CorefEvalError | str) -> None:
    color = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    remark("\x1b[1;31merror\x1b[0m" if color else "error", str(error))

"""What the commands' arguments have in common."""

from __future__ import annotations

import difflib
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any, TypeVar

from cyclopts import Parameter

from corefeval.diagnostics import Notice, UsageError
from corefeval.display import distinct_names, visible
from corefeval.files import UNPACK_LIMIT, check_writable, write_file
from corefeval.files import unpack_limit as limited_to

T = TypeVar("T")

FLAG = partial(Parameter, negative=(), show_default=False)

_CANNOT_WRITE = "the output cannot be written"
GATE_FAILED = 3  # the exit status where a score is too low, or a system worse than it may be


def file_parameter(command: str) -> Callable[..., Parameter]:
    """A parameter for a file of a command; a lone hyphen is standard input.

    A misspelt option in the place of a file is refused with the option that it resembles.
    """

    def refuse_options(_: object, value: object) -> None:
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str) and text.startswith("-") and text != "-":
                options = _options(command)
                if text in options:
                    raise UsageError(f"{text} stands where a file should be: what is before it?")
                close = difflib.get_close_matches(text, options, n=1)
                advice = f"did you mean {close[0]}?" if close else f"see corefeval {command} --help"
                raise UsageError(f"there is no option {text}: {advice}")

    return partial(Parameter, allow_leading_hyphen=True, validator=refuse_options)


def with_unpacking(command: Callable[..., T]) -> Callable[..., T]:
    """The command with an option of all commands that read: how much a packed file may hold."""

    @wraps(command)
    def run(*arguments: object, unpack_limit: str | None = None, **options: object) -> T:
        if unpack_limit is None:
            return command(*arguments, **options)
        with limited_to(unpack_limit):
            return command(*arguments, **options)

    help = f"How much a packed file may unpack to, such as 20GB; {UNPACK_LIMIT} if not said."
    option = inspect.Parameter(
        "unpack_limit",
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[str | None, Parameter(help=help)],
    )
    signature = inspect.signature(command)
    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), option]
    )
    return run


def usage_of(command: Callable[..., object]) -> str:
    """The line of a command's usage, with its arguments by their names.

    >>> from corefeval.cli.corpora import convert
    >>> usage_of(convert)
    'corefeval convert SOURCE TARGET --to TO [OPTIONS]'
    """
    places, options = [], []
    for name, parameter in inspect.signature(command).parameters.items():
        is_needed = parameter.default is parameter.empty
        if parameter.kind is parameter.VAR_POSITIONAL:
            places.append(f"[{name.upper()}...]")
        elif parameter.kind is parameter.POSITIONAL_ONLY:
            places.append(name.upper() if is_needed else f"[{name.upper()}]")
        else:
            option = f"--{name.replace('_', '-')} {name.upper()}"
            options.append(option if is_needed else "[OPTIONS]")
    return " ".join(("corefeval", command.__name__, *places, *dict.fromkeys(options)))


def _options(command: str) -> list[str]:
    from corefeval.cli import app  # which knows all commands once they are all there

    return [name for one in app[command].assemble_argument_collection() for name in one.names]


def label(argument: str) -> tuple[str | None, str]:
    """Tell `NAME=PATH` from a path that has an equals sign in it."""
    name, equals, path = argument.partition("=")
    if equals and name and not os.path.exists(argument):
        return name, path
    return None, argument


def names_of(arguments: Sequence[tuple[str | None, str]]) -> list[str]:
    """Labels, else file names, else whole paths where file names are the same."""
    names = [name or short(path) for name, path in arguments]
    return distinct_names(names, [name or path for name, path in arguments])


def short(path: str) -> str:
    """The last part of a path."""
    return "standard input" if path == "-" else Path(path).name or path


def same_file(one: str, other: str) -> bool:
    """Whether two paths lead to the same file."""
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)


def check_paths(
    arguments: Sequence[tuple[str | None, str]], paths: Sequence[str], *targets: str | None
) -> None:
    """Standard input once, names once, no input overwritten, and targets that can be written."""
    if list(paths).count("-") > 1:
        raise UsageError("standard input (-) can be read only once")
    labels = [name for name, _ in arguments if name]
    if len(set(labels)) < len(labels):
        raise UsageError(f"two responses are called {max(labels, key=labels.count)!r}")
    outputs = [target for target in targets if target is not None]
    if len(set(map(os.path.abspath, outputs))) < len(outputs):
        raise UsageError(f"two outputs would be written to the same file: {outputs[0]}")
    for target in targets:
        if target is not None and any(same_file(target, path) for path in paths):
            raise UsageError(f"the output would overwrite an input: {target}")
    for target in outputs:  # before anything is scored, and any of them written
        check_writable(target, problem=_CANNOT_WRITE)


def show(results: Any, output: str | None, **options: Any) -> None:
    """Print results, with colours where somebody sees them, or write them to a file."""
    from corefeval.output import render

    color = output is None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    text = render(results, color=color, **options)
    if output is None:
        sys.stdout.write(text)
    else:
        write_file(output, text, problem=_CANNOT_WRITE)


def tell(notices: Iterable[Notice]) -> None:
    """Print notices, each one once."""
    for message in dict.fromkeys(notice.message for notice in notices):
        remark("note", message)


def remark(label: str, message: str) -> None:
    """Print something beside the output, whatever is in it; that nobody reads it costs nothing."""
    with suppress(BrokenPipeError):
        sys.stderr.write(f"{label}: {visible(message, lines=True)}\n")

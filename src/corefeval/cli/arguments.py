"""What the commands' arguments have in common."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from functools import partial, reduce, wraps
from operator import getitem
from typing import Annotated, TypeVar

from cyclopts import App, Parameter

from corefeval.cli.printing import (
    GATE_FAILED,
    check_paths,
    label,
    names_of,
    plain_names,
    remark,
    same_file,
    short,
    show,
    show_progress,
    show_trials,
    tell,
)
from corefeval.diagnostics import UsageError
from corefeval.files import UNPACK_LIMIT
from corefeval.files import unpack_limit as limited_to

__all__ = [
    "FLAG",
    "GATE_FAILED",
    "check_paths",
    "file_parameter",
    "find_command",
    "label",
    "names_of",
    "plain_names",
    "remark",
    "same_file",
    "short",
    "show",
    "show_progress",
    "show_trials",
    "tell",
    "usage_of",
    "with_unpacking",
]

T = TypeVar("T")

FLAG = partial(Parameter, negative=(), show_default=False)


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

    help = f"How much a packed file may unpack to, such as 20GB; {UNPACK_LIMIT} by default."
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


def usage_of(command: Callable[..., object], within: str = "") -> str:
    """The line of a command's usage, with its arguments by their names; `within` stands before it.

    >>> from corefeval.cli.corpora import convert
    >>> usage_of(convert)
    'corefeval convert SOURCE TARGET [OPTIONS]'
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
    name = f"{within}{command.__name__}"
    return " ".join(("corefeval", name, *places, *dict.fromkeys(options)))


def find_command(name: str) -> App:
    """A command by its name, of two words where it is one of several: `suite run`."""
    from corefeval.cli import app  # which knows all commands once they are all there

    return reduce(getitem, name.split(), app)


def _options(command: str) -> list[str]:
    every = find_command(command).assemble_argument_collection()
    return [name for one in every for name in one.names]

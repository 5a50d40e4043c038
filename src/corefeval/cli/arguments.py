"""What the commands' arguments have in common."""

# No `annotations` from __future__ here: the library of commands looks at the types of fields.

import difflib
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial, reduce, wraps
from operator import getitem
from typing import Annotated, Any, Literal, TypeVar

from cyclopts import App, Argument, Group, Parameter

from corefeval.diagnostics import UsageError
from corefeval.files import UNPACK_LIMIT
from corefeval.files import unpack_limit as limited_to

T = TypeVar("T")

FLAG = partial(Parameter, negative=(), show_default=False)
HOW = partial(Parameter, alias="-f", help="How to print.")

TableFormat = Literal["text", "json", "csv", "markdown", "latex"]
Format = Annotated[TableFormat, HOW()]
Output = Annotated[
    str | None, Parameter(alias="-o", help="Write to this file instead of the terminal.")
]
Quiet = Annotated[bool, FLAG(alias="-q", help="Print no notices.")]
Metrics = Annotated[
    str,
    Parameter(
        alias="-m",
        help="Metrics and presets, separated by commas. `corefeval metrics` lists them.",
    ),
]
Seed = Annotated[int, Parameter(help="The seed of the random numbers.")]
Level = Annotated[float, Parameter(help="The share of samples that an interval covers.")]


def file_parameter(command: str) -> Callable[..., Parameter]:
    """A parameter for a file of a command; a lone hyphen is standard input.

    A misspelt option in the place of a file is refused with the option that it resembles.
    """

    def refuse_options(_: object, value: object) -> None:
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str) and text.startswith("-") and text != "-":
                options = find_command(command).assemble_argument_collection()
                if any(text in argument.names for argument in options):
                    message = f"{text} is where a file should be: is one missing before it?"
                    raise UsageError(message)
                raise UsageError(refuse_option(text, options, command))

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


def usage_of(command: Callable[..., object], prefix: str = "") -> str:
    """The line of a command's usage, with its arguments by their names.

    `prefix` stands before the name of the command, such as `suite `.

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
    name = f"{prefix}{command.__name__}"
    return " ".join(("corefeval", name, *places, *dict.fromkeys(options)))


def find_command(name: str) -> App:
    """A command by its name, of two words where it is one of several: `suite run`."""
    from corefeval.cli import app  # which knows all commands once they are all there

    return reduce(getitem, name.split(), app)


def refuse_option(option: str, arguments: Iterable[Argument], command: str) -> str:
    """The message for an option that a command does not have, with the most similar it has."""
    close = difflib.get_close_matches(
        option, [name for argument in arguments for name in argument.names], n=1
    )
    advice = f"did you mean {close[0]}?" if close else f"see corefeval {command} --help"
    return f"there is no option {option}: {advice}"


_TABLES = Group("Tables", sort_key=1)


@Parameter(name="*", group=_TABLES)
@dataclass(frozen=True, kw_only=True)
class StyleOptions:
    """How tables are set.

    Parameters
    ----------
    digits
        How many decimals percentages have; 2 by default.
    caption
        The caption of the table.
    label
        The label of the table in LaTeX, for cross-references; makes it a float.
    width
        Whether the table has to fit a column or the page in LaTeX; makes it a float.
    """

    digits: int | None = None
    caption: str | None = None
    label: str | None = None
    width: Literal["column", "page"] | None = None

    @property
    def wishes(self) -> dict[str, Any]:
        """The options of `render` that were given."""
        from corefeval.output.tables import STYLE_OPTIONS

        values = {name: getattr(self, name, None) for name in STYLE_OPTIONS}
        return {name: value for name, value in values.items() if value is not None}

    def check(self, format: str, rate: str | None = None) -> None:
        """Refuse a style that cannot be drawn before anything is scored; `rate` is compared."""
        from corefeval.output.tables import Style

        rates = Style.of(format, self.wishes).rates
        if rate is not None and rates and rate not in rates:
            raise UsageError(f"--rates must have {rate} among them, which is compared")


@Parameter(name="*", group=_TABLES)
@dataclass(frozen=True, kw_only=True)
class TableOptions(StyleOptions):
    """How tables of rates are set.

    Parameters
    ----------
    rates
        Which rates to show, in this order: any of R, P and F1, separated by commas.
    """

    rates: str | None = None


STYLE = StyleOptions()
TABLES = TableOptions()

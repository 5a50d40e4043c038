"""The options of all commands that score: how files are read, and the choices of the protocol."""

# No `annotations` from __future__ here: types of fields must be types where classes are made anew.

from dataclasses import dataclass, make_dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from corefeval.cli.arguments import FLAG
from corefeval.cli.responses import ReadingOptions
from corefeval.protocol import STEPS, Choice, choices

_PROTOCOL = Group("Protocol", sort_key=2)
_ACCIDENTS = Group("What other scorers do otherwise", sort_key=3)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class BasicReading(ReadingOptions):
    """How files are read.

    Parameters
    ----------
    protocol
        How to score: a name, or the signature that was printed under a number; choices that are
        given beside it override it. `corefeval protocols` lists names and choices.
    features
        A file that states features: tab-separated columns document, start, end (or mention), and
        one for each feature, such as kind.
    key_format
        The key's format (conll, corefud, e2e, …), if it is not to be told by its content.
    response_format
        The responses' format, if it is not to be told by their content.
    encoding
        The files' character encoding.
    word_column
        Which column of CoNLL files is the words, counted from 1, if it is not to be told by what is
        in it.
    quiet
        Print no notices and no progress.
    """

    protocol: Annotated[str | None, Parameter(group=_PROTOCOL)] = None
    features: str | None = None
    key_format: str | None = None
    response_format: str | None = None
    encoding: str = "utf-8"
    word_column: int | None = None
    quiet: Annotated[bool, FLAG(alias="-q")] = False


def _options(name: str, steps: tuple[str, ...]) -> type[BasicReading]:
    """The options of a command at which these steps take part, each choice with its help."""
    options = [
        (choice.flag or name, Annotated[_kind(choice), _parameter(choice)], _default(choice))
        for name, choice in choices(steps).items()
        if choice.option
    ]
    kind = make_dataclass(name, options, bases=(BasicReading,), frozen=True, kw_only=True)
    kind.__module__ = __name__  # where its types are looked up
    return Parameter(name="*")(kind)


def _kind(choice: Choice) -> Any:
    if choice.flag:
        return bool
    if choice.values is None or choice.shares:
        return str | None
    return Literal[tuple(choice.values)] | None


def _default(choice: Choice) -> bool | None:
    return False if choice.flag else None


def _parameter(choice: Choice) -> Parameter:
    group = _ACCIDENTS if choice.at == "emulation" else _PROTOCOL
    if choice.flag:
        return FLAG(help=choice.summary, group=group)
    default = f" [default: {choice.default}]" if choice.values else ""
    members = f" [choices: {', '.join(choice.spellings)}]" if choice.shares else ""
    return Parameter(help=choice.summary + members + default, group=group)


if TYPE_CHECKING:

    class Reading(BasicReading):
        """The options of `score` and `compare`."""

    class ErrorReading(BasicReading):
        """The options of `errors` and `report`."""

    class AgreementReading(BasicReading):
        """The options of `agree`."""
else:
    Reading = _options("Reading", STEPS)
    ErrorReading = _options("ErrorReading", (*STEPS, "errors"))
    AgreementReading = _options("AgreementReading", (*STEPS, "agreement"))

READING = Reading()
ERRORS = ErrorReading()
AGREEMENT = AgreementReading()

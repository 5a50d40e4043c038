"""The options of all commands that score: how files are read, and the choices of the protocol."""

# No `annotations` from __future__ here: types of fields must be types where classes are made anew.

from dataclasses import dataclass, make_dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from corefeval.cli.arguments import FLAG
from corefeval.cli.responses import ReadingOptions
from corefeval.diagnostics import UsageError
from corefeval.protocol import STEPS, Choice, choices

_PROTOCOL = Group("Protocol", sort_key=2)
_ACCIDENTS = Group("What other scorers do differently", sort_key=3)
_NAMED = (
    "How to score: a name, or the signature that was printed under a number; other "
    "choices you give override it. `corefeval protocols` lists names and choices."
)
STATED = (
    "A file of features: tab-separated columns document, start, end (or mention), and one "
    "for each feature, such as kind."
)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TextReading(ReadingOptions):
    """How files are read.

    Parameters
    ----------
    encoding
        The files' character encoding.
    word_column
        Which column of CoNLL files has the words, counted from 1; by default it is recognised by
        its content.
    quiet
        Print no notices and no progress.
    """

    encoding: str = "utf-8"
    word_column: int | None = None
    quiet: Annotated[bool, FLAG(alias="-q")] = False


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class KeyReading(TextReading):
    """How a key is read.

    Parameters
    ----------
    key_format
        The key's format (conll, corefud, e2e, …); by default it is recognised by its content.
    """

    key_format: str | None = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class SideReading(KeyReading):
    """How a key and responses are read.

    Parameters
    ----------
    response_format
        The responses' format; by default it is recognised by their content.
    key_encoding
        The key's character encoding, if it differs from the responses'.
    response_encoding
        The responses' character encoding, if it differs from the key's.
    """

    response_format: str | None = None
    key_encoding: str | None = None
    response_encoding: str | None = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class FileReading(TextReading):
    """How files are read that are looked at for themselves.

    Parameters
    ----------
    input_format
        The files' format; by default it is recognised by their content.
    documents
        Only documents whose id matches this pattern, such as 'bc/*'.
    """

    input_format: str | None = None
    documents: str = "*"

    @property
    def of_file(self) -> dict[str, Any]:
        """The keywords of `read` for a file."""
        return {**self.of_response, "format": self.input_format}


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class AgainstReading(FileReading):
    """How files and their key are read.

    Parameters
    ----------
    key_format
        The key's format; by default it is recognised by its content.
    key_encoding
        The key's character encoding, if it differs from the files'.
    """

    key_format: str | None = None
    key_encoding: str | None = None

    def check_key(self, against: str | None) -> None:
        """Refuse options about a key where there is none."""
        if against is None and (self.key_format or self.key_encoding):
            raise UsageError("--key-format and --key-encoding are about the key: add --against KEY")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class CheckReading(AgainstReading):
    """How files are checked."""

    quiet: Annotated[
        bool, FLAG(alias="-q", help="Print a verdict on each file, and nothing else.")
    ] = False


FILES = FileReading()
AGAINST = AgainstReading()
CHECKED = CheckReading()
KEY = KeyReading()
SIDES = SideReading()


def _options(
    name: str, steps: tuple[str, ...], base: type[TextReading] = SideReading
) -> type[TextReading]:
    """The options of a command at which these steps take part, each choice with its help."""
    options: list[tuple[str, Any, Any]] = [
        ("protocol", Annotated[str | None, Parameter(help=_NAMED, group=_PROTOCOL)], None),
        ("features", Annotated[str | None, Parameter(help=STATED)], None),
    ]
    options += [
        (
            choice.flag or name,
            Annotated[_kind(choice), _parameter(choice)],
            False if choice.flag else None,
        )
        for name, choice in choices(steps).items()
        if choice.option
    ]
    kind = make_dataclass(name, options, bases=(base,), frozen=True, kw_only=True)
    kind.__module__ = __name__  # where its types are looked up
    return Parameter(name="*")(kind)


def _kind(choice: Choice) -> Any:
    if choice.flag:
        return bool
    if choice.values is None or choice.shares:
        return str | None
    return Literal[tuple(choice.values)] | None


def _parameter(choice: Choice) -> Parameter:
    group = _ACCIDENTS if choice.at == "emulation" else _PROTOCOL
    if choice.flag:
        return FLAG(help=choice.summary, group=group)
    default = f" [default: {choice.default}]" if choice.values else ""
    members = f" [choices: {', '.join(choice.spellings)}]" if choice.shares else ""
    return Parameter(help=choice.summary + members + default, group=group)


if TYPE_CHECKING:

    class Reading(SideReading):
        """The options of `score` and `compare`."""

    class ErrorReading(SideReading):
        """The options of `errors` and `report`."""

    class AgreementReading(TextReading):
        """The options of `agree`."""
else:
    Reading = _options("Reading", STEPS)
    ErrorReading = _options("ErrorReading", (*STEPS, "errors"))
    AgreementReading = _options("AgreementReading", (*STEPS, "agreement"), TextReading)

READING = Reading()
ERRORS = ErrorReading()
AGREEMENT = AgreementReading()

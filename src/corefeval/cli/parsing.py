"""Options, arguments and commands, and how command lines are understood by them.

The tables are in `options` and `commands`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from keyword import iskeyword
from types import SimpleNamespace
from typing import Any, NamedTuple

from corefeval.diagnostics import UsageError
from corefeval.protocol import Protocol

INFORMATION = ("--help", "-h", "--version")  # what is shown in place of any work
_YES, _NO = ("yes", "y", "1", "true", "t"), ("no", "n", "0", "false", "f")


class Option(NamedTuple):
    """An option of commands, `spelled` as in help: its names, then what stands for its value.

    A flag has no value; `N` is a whole number and `NUMBER` any number, other values are text. The
    first sentence of `help` stands alone in brief help, which leaves out options that are `rare`.
    A value is one of `choices`, unless the option `is_open`: then they are examples.
    `rare_choices` are those that only other scorers make. `usual` is what help calls the default
    where the function that does the work knows it. An option that `repeats` may be written several
    times. Where it `is_file`, an option after it is not taken for a value that is missing.
    """

    spelled: str
    help: str
    default: Any = None
    choices: tuple[str, ...] = ()
    usual: str = ""
    rare: bool = False
    group: str = "Options"
    is_open: bool = False
    rare_choices: tuple[str, ...] = ()
    repeats: bool = False
    is_file: bool = False

    @property
    def names(self) -> list[str]:
        """The spellings of the option, the long one first."""
        return [word for word in self.spelled.split() if word.startswith("-")]

    @property
    def values(self) -> list[str]:
        """What stands for each of the values that follow the option."""
        return [word for word in self.spelled.split() if not word.startswith("-")]

    @property
    def kind(self) -> type:
        """What a value becomes: bool for a flag, else int, float or str."""
        values = self.values
        return {"N": int, "NUMBER": float}.get(values[0], str) if values else bool

    @property
    def attribute(self) -> str:
        """The name of the parsed value: `by_document`, and `from_` where Python has a `from`."""
        name = self.names[0].removeprefix("--").replace("-", "_")
        return f"{name}_" if iskeyword(name) else name


def hide(*options: Option) -> tuple[Option, ...]:
    """These options as rare ones, which brief help leaves out."""
    return tuple(option._replace(rare=True) for option in options)


class Argument(NamedTuple):
    """A place of a command line, `spelled` as in the usage: KEY, [RESPONSE] or [MORE...]."""

    spelled: str
    help: str
    default: Any = None
    choices: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name in capitals, without signs."""
        return self.spelled.strip("[].")

    @property
    def is_needed(self) -> bool:
        """Whether something has to stand there."""
        return not self.spelled.startswith("[")

    @property
    def repeats(self) -> bool:
        """Whether all words that are left stand there."""
        return "..." in self.spelled


class Command(NamedTuple):
    """A command; `run` is the function that does its work, or its `module:function` in this room.

    Brief help shows the first few of `examples`, a line each, and lists of commands have the part
    of `summary` before the colon.
    """

    name: str
    run: str | Callable[[ParsedOptions], int | None]
    summary: str
    arguments: tuple[Argument, ...]
    options: tuple[Option, ...]
    examples: str = ""
    details: str = ""

    @property
    def usage(self) -> str:
        """The usage: `corefeval convert SOURCE TARGET [OPTIONS]`."""
        places = [argument.spelled for argument in self.arguments]
        return " ".join(("corefeval", self.name, *places, *(["[OPTIONS]"] if self.options else [])))

    @property
    def spellings(self) -> dict[str, Option]:
        """The options by each of their names."""
        return {name: option for option in self.options for name in option.names}


class ParsedOptions(SimpleNamespace):
    """The arguments and options of a command line, by their names in the tables."""

    def given(self, *names: str) -> dict[str, Any]:
        """Those of the options that have a value; a flag that is not set has none."""
        values = {name: getattr(self, name, None) for name in names}
        return {  # 0 is a value
            name: value
            for name, value in values.items()
            if value is not None and value is not False
        }

    @property
    def of_key(self) -> dict[str, Any]:
        """The keywords of `read` for a key."""
        return self._read_options("key_format", "key_encoding", "key_layer")

    @property
    def of_response(self) -> dict[str, Any]:
        """The keywords of `read` for a response."""
        return self._read_options("response_format", "response_encoding", "response_layer")

    @property
    def of_file(self) -> dict[str, Any]:
        """The keywords of `read` for a file that is no response."""
        return self._read_options("input_format", "", "layer")

    @property
    def of_answers(self) -> dict[str, Any]:
        """The keywords of `read` for a file that may have answers of a language model."""
        chosen = self.given("occurrences", "choice", "answer_at", "id_at")
        if "choice" in chosen:
            number = Protocol.of(choice=chosen["choice"]).choice
            chosen["choice"] = 1 if number == "auto" else int(number)
        return chosen

    def _read_options(self, format: str, encoding: str, layer: str) -> dict[str, Any]:
        return {
            "format": getattr(self, format, None),
            "encoding": getattr(self, encoding, None) or self.encoding,
            "word_column": self.word_column,
            "layer": getattr(self, layer, None),
        }


def parse(command: Command, words: Sequence[str]) -> ParsedOptions:
    """The values of a command's arguments and options; a UsageError says what is wrong.

    Arguments and options may stand in any order. Everything behind `--` is an argument.
    """
    spellings = command.spellings
    values: dict[str, Any] = {}
    places: list[str] = []
    remaining = [*reversed(words)]
    while remaining:
        word = remaining.pop()
        if word == "--":
            places += reversed(remaining)
            break
        if word == "-" or not word.startswith("-"):
            places.append(word)
            continue
        word, *bundled = _unbundle(word, spellings)
        remaining += reversed(bundled)
        name, equals, text = word.partition("=")
        option = spellings.get(name.replace("_", "-"))
        if option is None:
            raise UsageError(_refuse(name if name.strip("-") else word, command))
        if option.attribute in values and not option.repeats:
            raise UsageError(f"{name} appears twice")
        texts = [text] if equals else ["yes"] if option.kind is bool else []
        texts += _take_values(name, option, len(texts), remaining, command)
        converted = [_convert(name, option, text) for text in texts]
        if option.repeats:
            converted = [[*values.get(option.attribute, ()), *converted]]
        values[option.attribute] = converted[0] if len(converted) == 1 else tuple(converted)
    defaults = {
        option.attribute: option.default if option.values else False for option in command.options
    }
    return ParsedOptions(**{**defaults, **values, **_fill_places(command, places)})


def _unbundle(word: str, spellings: Mapping[str, Option]) -> list[str]:
    """`-qmmuc` as `-q` and `-m=muc`; other words as they are."""
    option = spellings.get(word[:2])
    if option is None or word[2:3] in ("", "="):
        return [word]
    if option.kind is bool:
        return [word[:2], *_unbundle(f"-{word[2:]}", spellings)]
    return [f"{word[:2]}={word[2:]}"]


def _take_values(
    name: str, option: Option, present: int, remaining: list[str], command: Command
) -> list[str]:
    """Take those values of an option that are not `present` yet from the words that remain.

    The last one of `remaining` is the next word.
    """
    missing = len(option.values) - present
    texts: list[str] = []
    while len(texts) < missing and remaining and (option.is_file or _is_value(remaining[-1])):
        text = remaining.pop()
        if text in command.spellings:
            raise UsageError(f"{text} is where a file should be: is one missing before it?")
        if text != "-" and not _is_value(text):
            raise UsageError(_refuse(text, command))
        texts.append(text)
    if len(texts) < missing:
        count = "a value" if len(option.values) == 1 else f"{len(option.values)} values"
        raise UsageError(f"{name} needs {count}: see corefeval {command.name} --help")
    return texts


def _is_value(word: str) -> bool:
    """Whether a word is no option: it has no hyphen before it, or is a negative number."""
    if not word.startswith("-"):
        return True
    try:
        float(word)
    except ValueError:
        return False
    return True


def _convert(name: str, option: Option | Argument, text: str) -> Any:
    """The value that a text stands for; a UsageError where it is none that the option takes."""
    kind = option.kind if isinstance(option, Option) else str
    is_open = isinstance(option, Option) and option.is_open
    expected = {int: "a whole number", float: "a number", bool: "yes or no"}.get(kind)
    try:
        if kind is bool and text.lower() in (*_YES, *_NO):
            return text.lower() in _YES
        if option.choices and not is_open and text not in option.choices:
            expected = f"one of {', '.join(option.choices)}"
        elif kind is not bool:
            return kind(text)
    except ValueError:
        pass
    raise UsageError(f"{name} is {expected}, not {text!r:.60}")


def _fill_places(command: Command, words: list[str]) -> dict[str, Any]:
    """The words that stand in the places of a command's arguments, by the arguments' names."""
    values: dict[str, Any] = {}
    for argument in command.arguments:
        attribute = argument.name.lower()
        if argument.repeats:
            values[attribute], words = tuple(words), []
        elif words:
            values[attribute], words = _convert(argument.name, argument, words[0]), words[1:]
        elif argument.is_needed:
            raise UsageError(f"{argument.name} is missing: {command.usage}")
        else:
            values[attribute] = argument.default
    if words:
        raise UsageError(f"{words[0]!r:.60} is one argument too many: see --help")
    return values


def _refuse(name: str, command: Command) -> str:
    """The message for an option that a command does not have, with the most similar it has."""
    import difflib

    if name in INFORMATION:
        return f"{name} takes no value: see corefeval {command.name} --help"
    close = difflib.get_close_matches(name, [*command.spellings, *INFORMATION], n=1)
    advice = f"did you mean {close[0]}?" if close else f"see corefeval {command.name} --help"
    return f"there is no option {name}: {advice}"

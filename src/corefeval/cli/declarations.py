"""What an option, an argument and a command are; the tables are in `options` and `commands`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from corefeval.cli.parsing import ParsedOptions


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

    def load(self) -> Callable[[ParsedOptions], int | None]:
        """The function that runs the command; its module is imported only now."""
        if not isinstance(self.run, str):
            return self.run
        module, _, function = self.run.partition(":")
        run: Callable[[ParsedOptions], int | None] = getattr(
            import_module(f"corefeval.cli.{module}"), function
        )
        return run

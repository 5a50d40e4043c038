"""Command lines and their files, drawn from a seed: every command with every one of its options."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random

from corefeval.cli.commands import COMMANDS
from corefeval.cli.parsing import Argument, Option
from corefeval.formats import FORMATS
from fuzzing.corpora import ANSWERED, Files
from fuzzing.hostility import NUMBERS
from fuzzing.values import (
    ACCIDENTS,
    ARGUMENTS,
    CHECKED,
    INPUTS,
    OUTPUTS,
    PATHS,
    STRINGS,
    Drawing,
)

# How many of a thousand cases each command gets: all alike, but for what is slow or says little.
SHARES = {
    "score": 170, "explain": 60, "errors": 110, "compare": 110, "agree": 90, "check": 150,
    "merge": 90, "audit": 60,
    "stats": 80, "convert": 150, "report": 10, "lab": 10, "metrics": 12, "features": 12,
    "protocols": 12, "example": 14, "prompt": 50, "probe": 60, "cite": 12, "completion": 4,
    "suite run": 40, "suite init": 20, "suite check": 20, "suite table": 30, "suite compare": 35,
    "suite page": 8, "sample": 60, "estimate": 60,
}  # fmt: skip
# What tables alone have, and a key that is not always there: elsewhere they are an error.
OF_SOME_FORMATS = (
    "--digits", "--rates", "--caption", "--label", "--width", "--key-encoding",
    "--key-layer", "--response-layer", "--file-layer", "--answer-at", "--id-at",
)  # fmt: skip


# What goes with another option, by command, and is an error without it.
_ONLY_WITH = {
    **{one: {"--key-format": "--against", "--key-encoding": "--against"} for one in CHECKED},
    "prompt": {"--from": "--shots", "--shots": "--from", "--for": "--output"},
    "agree": {"--ci": "--response"},
}


@dataclass(frozen=True)
class Case:
    """A command line and what it finds: arguments in groups that may be left out one by one.

    `files` are by path; `written` are the paths that the command may write or write below, `kinds`
    the formats that the inputs had before mistakes were made in them.
    """

    arguments: tuple[tuple[str, ...], ...]
    files: Files = field(repr=False)
    written: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    stdin: bytes = b""
    terminal: bool = False
    width: int = 80
    encoding: str = "utf-8"  # of standard output and of errors
    joined: bool = False  # whether options are written --name=value

    @property
    def command(self) -> str:
        """The command's name, of two words where it is one of several."""
        return " ".join(self.arguments[0])

    @property
    def line(self) -> list[str]:
        """The arguments one after the other."""
        return [word for group in self.arguments for word in self._words(group)]

    def _words(self, group: tuple[str, ...]) -> tuple[str, ...]:
        is_one = self.joined and len(group) == 2 and group[0].startswith("--")
        return ("=".join(group),) if is_one else group

    def option(self, *names: str) -> str | None:
        """The value of an option, by any of its names."""
        return next((group[1] for group in self.arguments if group[0] in names and group[1:]), None)

    @property
    def cache(self) -> str | None:
        """The folder in which a suite's cells are kept, whatever else becomes of it."""
        if self.command != "suite run" or not self.inputs:
            return None
        return self.option("--cache") or f"{self.inputs[0].removesuffix('.toml')}.cache"

    @property
    def only_informs(self) -> bool:
        """Whether help or the version is asked for, in the place of any work."""
        return not {"--help", "-h", "--version"}.isdisjoint(self.line)

    @property
    def inputs(self) -> list[str]:
        """What is named on the command line, besides options."""
        return [group[0] for group in self.arguments[1:] if len(group) == 1]


def make_case(seed: str) -> Case:
    """The case of a seed, always the same one."""
    random = Random(seed)
    command = random.choices([*SHARES], [*SHARES.values()])[0]
    return _Maker(random, command).case()


class _Maker(Drawing):
    """One case in the making."""

    def __init__(self, random: Random, command: str) -> None:
        super().__init__(random, command)
        self.known = {*COMMANDS[command].spellings}

    def case(self) -> Case:
        places: list[tuple[str, ...]] = []
        options: list[tuple[str, ...]] = []
        ended = False  # what comes after a place that is left out would stand in it
        for argument in COMMANDS[self.command].arguments:
            if self.bad or not ended:
                words = self.place(argument)
                places += [(word,) for word in words]
                ended = not words
        for option in COMMANDS[self.command].options:
            options += self.option(option)
        if self.command == "sample" and self.random.random() >= self.bad:
            options += self._wishes({group[0] for group in options})
        if not self.bad:
            places, options = self._reconcile(places, options)
        self.random.shuffle(options)
        if self.random.random() < self.bad / 20:
            options.append((self.random.choice(("--nonsense", "--help", "-x", "--version")),))
        words = tuple(self.command.split())
        if self.random.random() < self.bad / 50:
            words = (self.random.choice(("scroe", "suite", "--help", *ARGUMENTS)),)
        return Case(
            arguments=(words, *places, *options),
            files=self.files,
            written=tuple(self.written),
            kinds=tuple(self.kinds),
            stdin=self.stdin,
            terminal=self.random.random() < 0.1,
            width=self.random.choice((20, 40, 80, 80, 80, 120, 200)),
            encoding=self.random.choice(("utf-8",) * 17 + ("ascii", "cp1252", "koi8-r")),
            joined=self.random.random() < 0.1,
        )

    def _wishes(self, given: set[str]) -> list[tuple[str, ...]]:
        """What a sample cannot do without, unless an older sheet says it."""
        wishes = {"--design": ("names", "entities", "pairs", "sentences"), "--n": ("9", "40")}
        needed = [name for name in wishes if name not in given]
        needed = [name for name in needed if name == "--n" or "--answers" not in given]
        return [(name, self.random.choice(wishes[name])) for name in needed]

    def _reconcile(
        self, places: list[tuple[str, ...]], options: list[tuple[str, ...]]
    ) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
        """The arguments without those that do not go together, and with what they cannot miss."""
        given = {group[0] for group in options}
        if self.command == "explain" and "--results" in given:  # alone, or with what was scored
            return places[: self.random.choice((0, 2))], [
                group for group in options if group[0] in ("--results", "--format", "-q")
            ]
        if self.command in CHECKED:
            if ANSWERED not in self.kinds and self.command == "convert":
                options = [group for group in options if group[0] != "--against"]
            elif ANSWERED in self.kinds and "--against" not in given:
                options.append(("--against", self.input(answers=False)))
        if self.command == "convert" and "--to" not in given and self.random.random() < 0.8:
            writable = [name for name, format in FORMATS.items() if format.writer or self.bad]
            options.append(("--to", self.random.choice(writable)))
        given = {group[0] for group in options}
        if self.command == "merge" and not given & {"-o", "--output"}:
            options = [group for group in options if group[0] != "--to"]
        needs = _ONLY_WITH.get(self.command, {})
        return places, [group for group in options if needs.get(group[0], group[0]) in given]

    def option(self, option: Option) -> Iterable[tuple[str, ...]]:
        """The option and its values, or nothing at all."""
        name = option.names[0]
        eager = name in ("--format", "--by") and self.random.random() < 0.4
        # Most scores are corefeval's own: what others do otherwise is asked for now and then.
        scores = self.command in ("score", "compare", "explain")
        rate = self.rate / 8 if name in (*ACCIDENTS, *OF_SOME_FORMATS) else self.rate
        if not self.bad and (name == "--scheduler" or (name in ACCIDENTS and not scores)):
            rate /= 8  # there is none, and there are no errors of other programs
        if not eager and self.random.random() > rate:
            return []
        return [(self.random.choice(option.names), *(self._value(option) for _ in option.values))]

    def place(self, argument: Argument) -> list[str]:
        """What stands in the place of an argument."""
        if argument.repeats:
            count = self.random.choice((0, 1, 1, 1, 2, 2, 3))
            count = min(count, 1) if argument.name == "MORE" else count
            count = max(count, 2 if self.command == "compare" else 1) if not self.bad else count
        else:
            is_needed = argument.is_needed or argument.name == "EXPERIMENT"
            is_needed |= self.command == "explain" and not self.bad
            count = int(is_needed or self.random.random() < 0.6)
        if self.random.random() < self.bad / 20:
            count = 0
        return [self._value(argument) for _ in range(count)]

    def _value(self, argument: Option | Argument) -> str:
        is_option = isinstance(argument, Option)
        name = argument.names[0] if is_option else argument.name
        if self.random.random() < self.bad / 2:
            names = PATHS if name in (*INPUTS, *OUTPUTS) else ARGUMENTS
            value = self.random.choice(self.random.choice((names, NUMBERS)))
            self.written += [value] if name in OUTPUTS else []
            return value
        if name in STRINGS:
            return STRINGS[name](self)
        if argument.choices:
            return self.random.choice(argument.choices)
        kinds = {
            int: ("2", "5", "20", *(("0", "1", "0.5", "-1") if self.bad else ())),
            float: (".05", "0.95", *(("0", "1", "2", "-0.5") if self.bad else ())),
        }
        return self.random.choice(kinds[argument.kind])

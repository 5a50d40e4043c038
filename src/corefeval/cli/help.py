"""Help: the pages that `corefeval --help` and `corefeval COMMAND --help` show."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from typing import NamedTuple

from corefeval.cli.commands import COMMANDS, SUMMARIES, members_of
from corefeval.cli.options import GROUPS
from corefeval.cli.parsing import Command, Option

_WIDEST = 100  # columns: longer lines are hard to read
_WIDEST_NAMES = 28  # columns: what is explained stands below longer ones
_BRIEF_EXAMPLES = 4
_GENERAL = (
    ("--help, -h", "Show help; `corefeval COMMAND --help all` has rare options too."),
    ("--version", "Show the version."),
)
_EXAMPLES = """\
corefeval score key.conll response.conll
corefeval score key.conll mine=a.conll theirs=b.conll --metrics conll,lea
corefeval compare key.conll mine=a.conll theirs=b.conll
corefeval score --help"""
_EXIT_STATUS = (
    "Exit status: 0 success, 1 bad input, 2 bad usage, 3 a limit was not met (`--fail-under`, "
    "`--fail-if-worse`), or a suite has a corpus without a key."
)


class _Section(NamedTuple):
    """A text, or the title of entries: names, with what they mean beside them."""

    text: str
    entries: tuple[tuple[str, str], ...] = ()


def show_help(name: str, *, everything: bool) -> None:
    """Print the help of a command or of a group of them; the group of all has an empty name."""
    command = COMMANDS.get(name)
    page = _describe_group(name) if command is None else _describe_command(command, everything)
    is_seen = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    title = "\x1b[1m{}\x1b[0m" if is_seen and not os.environ.get("NO_COLOR") else "{}"
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    names = [entry[0] for section in page for entry in section.entries]
    column = 4 + min(max(map(len, names), default=0), _WIDEST_NAMES)
    blocks = []
    for section in page:
        lines = [title.format(section.text)] if section.entries else _wrap(section.text, width)
        for entry, meaning in section.entries:
            described = _wrap(meaning, max(width - column, 20))
            first = [] if len(entry) + 4 > column else [f"  {entry:{column - 2}}{described.pop(0)}"]
            lines += first or [f"  {entry}"]
            lines += [" " * column + line for line in described]
        blocks.append("\n".join(lines))
    sys.stdout.write("\n\n".join(blocks) + "\n")


def _wrap(text: str, width: int) -> list[str]:
    """The lines of a text, without its marks of code; lines that are indented are examples."""
    if text.startswith(" "):
        return text.splitlines()
    plain = text.replace("`", "")
    return textwrap.wrap(plain, width, break_long_words=False, break_on_hyphens=False)


def _describe_group(name: str) -> list[_Section]:
    """The help of a group of commands."""
    listing = []
    for member in members_of(name):
        command = COMMANDS.get(f"{name} {member}".strip())
        summary = SUMMARIES[member] if command is None else command.summary
        listing.append((member, summary.partition(":")[0].removesuffix(".")))
    usage = " ".join(("Usage: corefeval", *name.split(), "COMMAND"))
    page = [_Section(usage), _Section(SUMMARIES[name]), _Section("Commands", tuple(listing))]
    if not name:
        page += [_Section("Options", _GENERAL), _Section(textwrap.indent(_EXAMPLES, "  "))]
        page.append(_Section(_EXIT_STATUS))
    return page


def _describe_command(command: Command, everything: bool) -> list[_Section]:
    """The help of a command: what people mostly use, or everything there is."""
    examples = command.examples.splitlines()[: None if everything else _BRIEF_EXAMPLES]
    summary = f"{command.summary} {command.details}".strip()
    page = [_Section(f"Usage: {command.usage}"), _Section(summary)]
    page += [_Section("\n".join(f"  {line}" for line in examples))] if examples else []
    arguments = ((argument.name, argument.help) for argument in command.arguments)
    page.append(_Section("Arguments", tuple(arguments)))
    shown = [option for option in command.options if everything or not option.rare]
    for group in GROUPS:
        members = [option for option in shown if option.group == group]
        entries = tuple((_spell(option), explain(option, everything)) for option in members)
        page += [_Section(group, entries)] if entries else []
    if hidden := len(command.options) - len(shown):
        text = f"`corefeval {command.name} --help all` shows {hidden} more options."
        page.append(_Section(text if hidden > 1 else text.replace("options", "option")))
    return page


def _spell(option: Option) -> str:
    """The option's names and what stands for its value: `--metrics, -m LIST`."""
    return " ".join((", ".join(option.names), *option.values))


def explain(option: Option, everything: bool = True) -> str:
    """What help says of an option: its help, choices and default, or briefly what people use."""
    sentence, dot, _ = option.help.partition(". ")
    text = f"{sentence}." if dot and not everything else option.help
    hidden = () if everything else option.rare_choices
    choices = [choice for choice in option.choices if choice not in hidden]
    default = option.usual or ("" if option.default in (None, "") else str(option.default))
    if everything:
        choices = [f"{name} (default)" if name == default else name for name in choices]
    is_told = everything or (default == option.default and not choices)  # a text, such as a file
    if default and is_told and default not in option.choices:
        choices.append(f"default: {default}")
    return f"{text} [{', '.join(choices)}]" if choices else text

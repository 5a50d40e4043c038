"""What the tables of commands and options become: pages of help, and scripts that complete words.

Shells complete commands, options and their values by what `corefeval completion` prints.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections import defaultdict
from typing import NamedTuple

from corefeval.cli.commands import COMMANDS, SUMMARIES, members_of
from corefeval.cli.options import GROUPS
from corefeval.cli.parsing import INFORMATION, Command, Option, ParsedOptions

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
    listing = [
        (member, summary.partition(":")[0].removesuffix("."))
        for member, summary in _list_members(name)
    ]
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


_GROUPS = [group for group in SUMMARIES if group]


def completion(options: ParsedOptions) -> None:
    """Print the script for a shell."""
    scripts = {"bash": _write_bash, "zsh": _write_zsh, "fish": _write_fish}
    sys.stdout.write(scripts[options.shell]())


_BASH = """\
_corefeval() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
    local command=${{COMP_WORDS[1]}} position=1 candidates=""
    if [[ $word == "=" ]]; then
        word=""
    elif [[ $previous == "=" ]]; then
        previous=${{COMP_WORDS[COMP_CWORD-2]}}
    fi
    if [[ " {groups} " == *" $command "* && $COMP_CWORD -gt 1 ]]; then
        command+=" ${{COMP_WORDS[2]}}" position=2
    fi
    if [[ $COMP_CWORD -eq $position ]]; then
        command=${{command% *}}
        [[ $position -eq 1 ]] && command=""
    fi
    case "$command $previous" in
{values}
    *)
        if [[ $COMP_CWORD -eq $position || $word == -* ]]; then
            case "$command" in
{words}
            esac
        fi
        ;;
    esac
    COMPREPLY=($(compgen -W "$candidates" -- "$word"))
}}
complete -o default -F _corefeval corefeval
"""


def _write_bash() -> str:
    """A function for bash; where it has no candidates, bash completes names of files."""
    patterns: dict[str, list[str]] = defaultdict(list)
    words = {group: " ".join(members_of(group)) for group in ("", *_GROUPS)}
    for name, command in COMMANDS.items():
        words[name] = " ".join((*command.spellings, "--help"))
        for option in command.options:
            if option.choices:
                patterns[" ".join(option.choices)] += [f'"{name} {n}"' for n in option.names]
        for argument in command.arguments:
            if argument.choices:
                patterns[" ".join(argument.choices)].append(f'"{name} {name}"')
    words[""] += f" {' '.join(INFORMATION)}"
    values = [f'    {"|".join(p)}) candidates="{v}" ;;' for v, p in patterns.items()]
    lines = [f'            "{name}") candidates="{text}" ;;' for name, text in words.items()]
    return _BASH.format(groups=" ".join(_GROUPS), values="\n".join(values), words="\n".join(lines))


_ZSH = """\
#compdef corefeval

_corefeval() {{
    local command=$words[2]
    local -a commands
    if (( CURRENT == 2 )); then
        commands=({commands})
        _describe command commands
        return
    fi
    shift words
    (( CURRENT-- ))
{groups}
    case $command in
{cases}
    esac
}}

if [[ $funcstack[1] == _corefeval ]]; then
    _corefeval "$@"
else
    compdef _corefeval corefeval
fi
"""
_ZSH_GROUP = """\
    if [[ $command == {group} ]]; then
        if (( CURRENT == 2 )); then
            commands=({commands})
            _describe command commands
            return
        fi
        command="{group} $words[2]"
        shift words
        (( CURRENT-- ))
    fi"""


def _write_zsh() -> str:
    """A function for zsh, to be loaded from a folder of functions or read as it is."""
    names = {
        group: " ".join(_quote(f"{member}:{text}") for member, text in _list_members(group))
        for group in ("", *_GROUPS)
    }
    groups = [_ZSH_GROUP.format(group=group, commands=names[group]) for group in _GROUPS]
    cases = []
    for name, command in COMMANDS.items():
        lines = [f"    {_quote(name)})", "        _arguments -s \\"]
        lines += [f"            {_specify_zsh(option)} \\" for option in command.options]
        lines += ["            '(- *)'{-h,--help}'[Show help.]' \\", "            '*:file:_files'"]
        for argument in command.arguments:
            if argument.choices:
                lines[-1] = f"            '1:{argument.name}:({' '.join(argument.choices)})'"
        cases += [*lines, "        ;;"]
    return _ZSH.format(commands=names[""], groups="\n".join(groups), cases="\n".join(cases))


def _specify_zsh(option: Option) -> str:
    """The option as `_arguments` of zsh takes it."""
    names = option.names
    text = re.sub(r"([\[\]:\\])", r"\\\1", _shorten(option))
    values = _escape_parentheses(" ".join(option.choices))
    action = f"({values})" if values else "_files"
    spec = _quote(f"[{text}]" + "".join(f":{value}:{action}" for value in option.values))
    if option.repeats:
        return f"'*'{names[0]}{spec}"
    spelled = f"{{{','.join(names)}}}" if len(names) > 1 else names[0]
    return f"'({' '.join(names)})'{spelled}{spec}"


def _write_fish() -> str:
    """Lines for fish, one for each command and each option of a command."""
    seen = "__fish_seen_subcommand_from"
    lines = []
    for group in ("", *_GROUPS):
        members = _list_members(group)
        names = " ".join(member for member, _ in members)
        condition = f"{seen} {group}; and not {seen} {names}" if group else "__fish_use_subcommand"
        for member, text in members:
            lines.append(f"-n {_quote(condition)} -f -a {member} -d {_quote_fish(text)}")
    for name, command in COMMANDS.items():
        group, _, member = f" {name}".rpartition(" ")
        condition = f"{seen} {member}" + (f"; and {seen} {group.strip()}" if group.strip() else "")
        for group_name in _GROUPS:
            if not group.strip() and member in members_of(group_name):
                condition += f"; and not {seen} {group_name}"
        for argument in command.arguments:
            if argument.choices:
                values = _quote_fish(" ".join(argument.choices))
                lines.append(f"-n {_quote(condition)} -f -a {values}")
        specified = map(_specify_fish, command.options)
        lines += [f"-n {_quote(condition)} {option}" for option in specified]
    return "".join(f"complete -c corefeval {line}\n" for line in lines)


def _specify_fish(option: Option) -> str:
    """The option as `complete` of fish takes it."""
    words = [f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names]
    if option.choices:
        values = _escape_parentheses(" ".join(option.choices))
        words.append(f"-x -a {_quote_fish(values)}")
    elif option.values:
        words.append("-r")
    return " ".join((*words, f"-d {_quote_fish(_shorten(option))}"))


def _list_members(group: str) -> list[tuple[str, str]]:
    """The commands of a group, each with its summary."""
    names = {member: f"{group} {member}".strip() for member in members_of(group)}
    return [
        (member, SUMMARIES.get(name) or COMMANDS[name].summary) for member, name in names.items()
    ]


def _shorten(option: Option) -> str:
    """The first sentence of an option's help, without marks of code."""
    return option.help.partition(". ")[0].removesuffix(".").replace("`", "")


def _escape_parentheses(text: str) -> str:
    """The text with a backslash before each parenthesis, which shells would take for their own."""
    return re.sub(r"([()])", r"\\\1", text)


def _quote(text: str) -> str:
    """The text in single quotes, for bash and zsh."""
    quoted = text.replace("'", "'\\''")
    return f"'{quoted}'"


def _quote_fish(text: str) -> str:
    """The text in single quotes, for fish."""
    quoted = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{quoted}'"

"""What the site adds to the pages: references made from the code, and pages of the repository.

A folder in the navigation (`metrics/`) stands for all of its pages, and pages that it does not name
are put at its end, so that none is left out.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import corefeval
from corefeval.cli.commands import COMMANDS
from corefeval.cli.help import explain
from corefeval.cli.options import GROUPS, OTHER_SCORERS
from corefeval.cli.parsing import Command

DOCS = Path(__file__).parent
ROOT = DOCS.parent
# What is public besides the names of the package itself.
BESIDES = """
## Parts of documents

::: corefeval.model.views.Entity

::: corefeval.model.views.Mention

## Clusterings

::: corefeval.clustering

## Drop-ins

[Other tools](integrations.md) says how they are used.

::: corefeval.integrations.spacy

::: corefeval.integrations.torchmetrics

::: corefeval.integrations.evaluate_module

::: corefeval.integrations.pytest_plugin
"""
ELSEWHERE = "(The list is on the site, which `make site` builds.)\n"


def on_config(config: Any) -> Any:
    """Complete the navigation: folders become their pages, and all other pages follow."""
    nav = [_unfold(entry) for entry in config.nav]
    named = set(re.findall(r"[\w./-]+\.(?:md|ipynb)\b", str(nav)))
    others = sorted({*_pages()} - named)
    config.nav = [*nav, {"More": others}] if others else nav
    return config


def _pages(folder: str = "") -> list[str]:
    """The pages in a folder and below it, as the navigation names them."""
    paths = (path for ending in ("md", "ipynb") for path in (DOCS / folder).rglob(f"*.{ending}"))
    return sorted(path.relative_to(DOCS).as_posix() for path in paths)


def _unfold(entry: Any) -> Any:
    if not isinstance(entry, dict):
        return entry
    ((title, inside),) = entry.items()
    if not isinstance(inside, list):
        return entry
    unfolded: list[Any] = []
    for one in inside:
        if isinstance(one, str) and one.endswith("/"):
            unfolded += [page for page in _pages(one) if not page.endswith("README.md")]
        else:
            unfolded.append(_unfold(one))
    return {title: unfolded}


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Fill in what pages have on the site only."""
    markdown = markdown.replace("```python\n>>> ", "```pycon\n>>> ")  # tells input from output
    match page.file.src_uri:
        case "reference.md":
            return markdown.replace(ELSEWHERE, _list_names())
        case "commands.md":
            return markdown.replace(ELSEWHERE, _list_commands())
        case "contributing.md" | "changelog.md" as name:
            text = (ROOT / name.upper().replace("MD", "md")).read_text(encoding="utf-8")
            text = re.sub(r"\[([^]]+)\]\((?!docs/|https:|#)[^)]+\)", r"\1", text)  # not on the site
            return text.replace("](docs/", "](")
    return markdown


def _list_names() -> str:
    """All public names: functions, then what they take and give, then errors."""
    groups: dict[str, list[str]] = {"Functions": [], "Types": [], "Errors": []}
    for name in sorted(corefeval.__all__, key=str.lower):
        value = getattr(corefeval, name)
        if inspect.isclass(value):
            groups["Errors" if issubclass(value, Exception) else "Types"].append(name)
        elif callable(value):
            groups["Functions"].append(name)
    sections = (
        "\n".join((f"\n## {title}\n", *(f"::: corefeval.{name}\n" for name in names)))
        for title, names in groups.items()
    )
    return "".join((*sections, BESIDES))


def _list_commands() -> str:
    """All commands with their options."""
    return "\n".join(map(_describe_command, COMMANDS.values()))


def _describe_command(command: Command) -> str:
    """A command: what it does, examples, and tables of its arguments and options by groups."""
    lines = [f"## corefeval {command.name}", "", f"`{command.usage}`", ""]
    lines += [f"{command.summary} {command.details}".strip(), ""]
    if command.examples:
        lines += ["```sh", command.examples, "```", ""]
    groups = {"Arguments": [(entry.spelled, entry.help) for entry in command.arguments]}
    for group in GROUPS:
        options = [option for option in command.options if option.group == group]
        groups[group] = [(option.spelled, explain(option)) for option in options]
    others = groups.pop(OTHER_SCORERS)
    for title, entries in groups.items():
        if entries:
            rows = [f"| `{name}` | {_escape(text)} |" for name, text in entries]
            lines += [f"| {title} | |", "| --- | --- |", *rows, ""]
    if others:
        lines += [
            "It also takes the choices of [other scorers](protocols.md), which "
            f"`corefeval {command.name} --help all` lists.",
            "",
        ]
    return "\n".join(lines)


def _escape(text: str) -> str:
    """The text as a cell of a table; brackets around choices are no links."""
    return text.replace("|", "\\|").replace(" [", " \\[")

"""Write the pages that are made from the registry: `make docs`."""

from __future__ import annotations

import sys
from pathlib import Path

from corefeval.metrics import REGISTRY, Declaration, presets

PAGE = Path(__file__).with_name("metrics.md")

HEAD = """# The metrics

This page is made from the registry by `make docs`. Key entities are *k*, response entities *r*,
|k| is the number of mentions of an entity, k ∩ r are the mentions that two entities share. Recall
is defined here; precision is the same with key and response exchanged, unless something else is
said, and F1 is their harmonic mean. x/0 is 0. Every count is a sum over documents; a score is a
function of the summed counts.

In lists and on the command line a metric is written by its name or any of its other spellings,
parameters in parentheses: `lea(importance=one)`. Presets stand for several:
"""


def page() -> str:
    """The whole page."""
    lists = "\n".join(
        f"- `{name}`: {', '.join(f'`{member}`' for member in members)}"
        for name, members in presets().items()
    )
    return "\n".join((HEAD, lists, "", *map(entry, REGISTRY.values())))


def entry(declaration: Declaration) -> str:
    """One metric."""
    lines = [f"## {declaration.title} (`{declaration.name}`)", "", declaration.summary, ""]
    lines += [declaration.definition, ""]
    lines += [
        f"- `{parameter.name}` (default `{parameter.default}`): {parameter.summary}."
        + (f" One of {', '.join(f'`{c}`' for c in parameter.choices)}" if parameter.choices else "")
        + (", or in Python a function." if parameter.accepts_function else ".")
        for parameter in declaration.parameters
    ]
    if declaration.parts:
        lines.append(f"- Its parts are shown with it: {', '.join(declaration.parts)}.")
    if declaration.aliases:
        lines.append(f"- Also written {', '.join(f'`{alias}`' for alias in declaration.aliases)}.")
    lines += [f"- {declaration.reference}.", ""]
    return "\n".join(lines)


def main() -> int:
    """Write the page, or with --check say whether it is up to date."""
    if "--check" not in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == page():
        return 0
    sys.stderr.write(f"{PAGE.name} is out of date: run make docs\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())

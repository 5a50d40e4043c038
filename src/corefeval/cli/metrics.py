"""`corefeval metrics`: what there is to choose from."""

from __future__ import annotations

import json
import sys
import textwrap
from typing import Annotated, Literal

from cyclopts import Parameter

from corefeval.metrics import REGISTRY, Declaration, presets


def metrics(*, format: Annotated[Literal["text", "json"], Parameter(alias="-f")] = "text") -> None:
    """List every metric with its definition and paper.

    Parameters
    ----------
    format
        How to print.
    """
    text = _as_json() if format == "json" else _as_text()
    sys.stdout.write(text)


def _as_text() -> str:
    parts = [_entry(declaration) for declaration in REGISTRY.values()]
    lists = [f"{name:10}{', '.join(members)}" for name, members in presets().items()]
    return "\n".join((*parts, "Presets", *(f"  {line}" for line in lists))) + "\n"


def _entry(declaration: Declaration) -> str:
    lines = [f"{declaration.name:10}{declaration.summary}"]
    lines += textwrap.wrap(declaration.definition, 76)
    for parameter in declaration.parameters:
        choices = f": {' | '.join(parameter.choices)}" if parameter.choices else ""
        lines.append(f"{parameter.name}={parameter.default}  {parameter.summary}{choices}")
    if declaration.aliases:
        lines.append(f"also: {', '.join(declaration.aliases)}")
    lines.append(declaration.reference)
    return "\n".join((lines[0], *(f"          {line}" for line in lines[1:]), ""))


def _as_json() -> str:
    entries = [
        {
            "name": declaration.name,
            "title": declaration.title,
            "summary": declaration.summary,
            "definition": declaration.definition,
            "reference": declaration.reference,
            "aliases": list(declaration.aliases),
            "parts": list(declaration.parts),
            "parameters": [
                {
                    "name": parameter.name,
                    "default": parameter.default,
                    "choices": list(parameter.choices),
                    "summary": parameter.summary,
                }
                for parameter in declaration.parameters
            ],
        }
        for declaration in REGISTRY.values()
    ]
    return (
        json.dumps({"metrics": entries, "presets": presets()}, ensure_ascii=False, indent=2) + "\n"
    )

"""`corefeval metrics`: what there is to choose from."""

from __future__ import annotations

import sys
import textwrap
from typing import Annotated, Literal

from cyclopts import Parameter

from corefeval.display import json_text
from corefeval.metrics import REGISTRY, Declaration, Metric, presets


def metrics(
    *names: str, format: Annotated[Literal["text", "json"], Parameter(alias="-f")] = "text"
) -> None:
    """List metrics with their definitions and papers: all of them, or those that are named.

    Parameters
    ----------
    names
        Metrics, in any spelling.
    format
        How to print.
    """
    chosen = [Metric.parse(name).declaration for name in names] or list(REGISTRY.values())
    if format == "json":
        sys.stdout.write(_as_json(chosen))
        return
    sys.stdout.write("\n".join(_entry(declaration) for declaration in chosen) + "\n")
    if not names:
        sys.stdout.write(_presets())


def _presets() -> str:
    lists = [f"{name:10}{', '.join(members)}" for name, members in presets().items()]
    return "\n".join(("Presets", *(f"  {line}" for line in lists))) + "\n"


def _entry(declaration: Declaration) -> str:
    lines = [f"{declaration.name:10}{declaration.summary}"]
    lines += textwrap.wrap(declaration.definition, 68)
    for parameter in declaration.parameters:
        choices = f": {' | '.join(parameter.choices)}" if parameter.choices else ""
        lines.append(f"{parameter.name}={parameter.default}  {parameter.summary}{choices}")
    if declaration.aliases:
        lines.append(f"also: {', '.join(declaration.aliases)}")
    lines.append(declaration.reference)
    return "\n".join((lines[0], *(f"          {line}" for line in lines[1:]), ""))


def _as_json(chosen: list[Declaration]) -> str:
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
        for declaration in chosen
    ]
    return json_text({"metrics": entries, "presets": presets()})

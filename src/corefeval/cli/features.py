"""`corefeval features`: what scores can be shown by."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import asdict
from typing import Annotated, Literal

from cyclopts import Parameter

from corefeval.diagnostics import UsageError
from corefeval.display import json_text
from corefeval.features.declarations import FEATURES, FeatureDeclaration

_OTHERS = """\
Also: any property of mentions that a file states (CorefUD's infstat, …), by its name.
Your own: score … --features FILE.tsv --by mine, with columns document, start, end, mine; in Python
also any mapping or function: score(…, features={"mine": …}, by="mine").
"""


def features(
    *names: str, format: Annotated[Literal["text", "json"], Parameter(alias="-f")] = "text"
) -> None:
    """List the features of documents, entities and mentions that scores can be shown by.

    Parameters
    ----------
    names
        Features; all of them if none is named.
    format
        How to print.
    """
    for name in names:
        if name.lower() not in FEATURES:
            raise UsageError(f"there is no feature {name!r}: there are {', '.join(FEATURES)}")
    chosen = [FEATURES[name.lower()] for name in names] or list(FEATURES.values())
    if format == "json":
        listed = {"features": [asdict(feature) for feature in chosen]}
        sys.stdout.write(json_text(listed))
        return
    sys.stdout.write("\n".join(map(_entry, chosen)) + "\n")
    if not names:
        sys.stdout.write(_OTHERS)


def _entry(feature: FeatureDeclaration) -> str:
    lines = [*textwrap.wrap(f"{feature.summary} (of {_article(feature.level)})", 76)]
    if feature.arguments:
        lines += textwrap.wrap(feature.arguments.replace("`", ""), 76)
    lines += [f"needs {feature.needs}"] if feature.needs else []
    first, *rest = lines
    indented = (f"{'':16}{line}" for line in rest)
    return "\n".join((f"{feature.name:16}{first}", *indented, ""))


def _article(level: str) -> str:
    return f"an {level}" if level == "entity" else f"a {level}"

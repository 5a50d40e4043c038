"""Output: every form that results are printed in, each from the same result object."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from corefeval.diagnostics import UsageError

if TYPE_CHECKING:
    from corefeval.results import Result

OUTPUTS = {
    "text": "corefeval.output.text:render_text",
    "json": "corefeval.output.json:render_json",
    "csv": "corefeval.output.csv:render_csv",
    "markdown": "corefeval.output.markdown:render_markdown",
    "latex": "corefeval.output.latex:render_latex",
    "conll": "corefeval.output.conll:render_conll",
}


def render(results: Sequence[Result], *, format: str = "text", by_document: bool = False) -> str:
    """The results of one or more responses as text in the given format."""
    if format not in OUTPUTS:
        raise UsageError(f"there is no output format {format!r}: there are {', '.join(OUTPUTS)}")
    module, _, function = OUTPUTS[format].partition(":")
    rendered: str = getattr(importlib.import_module(module), function)(
        results, by_document=by_document
    )
    return rendered

"""Output: every form that results are printed in, each from the same result object."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from corefeval.diagnostics import UsageError

if TYPE_CHECKING:
    from corefeval.analysis.agreement import Agreement
    from corefeval.analysis.errors import ErrorAnalysis
    from corefeval.results import Result
    from corefeval.stats import Comparison, Findings

    Rendered = Result | Comparison | Findings | Agreement | ErrorAnalysis

OUTPUTS = {
    "text": "corefeval.output.text:render_text",
    "json": "corefeval.output.json:render_json",
    "csv": "corefeval.output.csv:render_csv",
    "markdown": "corefeval.output.markdown:render_markdown",
    "latex": "corefeval.output.latex:render_latex",
    "conll": "corefeval.output.conll:render_conll",
    "corefud": "corefeval.output.corefud:render_corefud",
}


def render(
    results: Rendered | Iterable[Result] | Iterable[ErrorAnalysis],
    *,
    format: str = "text",
    by_document: bool = False,
) -> str:
    """What `score`, `compare`, `agree` or `analyse` gave, as text in the given format.

    Results and error analyses may be several, of responses to the same key. `by_document` adds the
    documents, which scores and agreement have (JSON has them always).

    >>> import corefeval
    >>> result = corefeval.score([["Ada", "she"]], [["Ada", "she"]], metrics="muc")
    >>> print(render(result, format="markdown").splitlines()[2])
    | MUC    | 100.00 | 100.00 | 100.00 |
    """
    from corefeval.results import Result

    lists = isinstance(results, Iterable) and not isinstance(results, Result | str | Mapping)
    several = list(results) if lists else [results]  # type: ignore[arg-type]
    if not several or not all(isinstance(one, Result) for one in several):
        return _render_other(several, format, by_document)
    if format not in OUTPUTS:
        raise UsageError(f"there is no output format {format!r}: there are {', '.join(OUTPUTS)}")
    module, _, function = OUTPUTS[format].partition(":")
    rendered: str = getattr(importlib.import_module(module), function)(
        several, by_document=by_document
    )
    return rendered


def _render_other(several: list[Any], format: str, by_document: bool) -> str:
    """What is no result of `score`; who has one does not pay for importing the others."""
    from corefeval.analysis.agreement import Agreement
    from corefeval.analysis.errors import ErrorAnalysis
    from corefeval.output.agreement import render_agreement
    from corefeval.output.comparison import render_comparison
    from corefeval.output.errors import render_errors
    from corefeval.stats import Comparison, Findings

    first = several[0] if several else None
    alone = len(several) == 1
    if alone and isinstance(first, Agreement):
        return render_agreement(first, format=format, by_document=by_document)
    if by_document and isinstance(first, Comparison | Findings | ErrorAnalysis):
        raise UsageError(f"by_document is for scores and agreement, not for {first!r:.60}")
    if alone and isinstance(first, Comparison | Findings):
        findings = Findings(first) if isinstance(first, Comparison) else first
        return render_comparison(findings, format=format)
    if several and all(isinstance(one, ErrorAnalysis) for one in several):
        return render_errors(several, format=format)
    raise UsageError(
        "render takes a result, a comparison, an agreement or an error analysis, or a list of "
        f"results or of error analyses, not {(first if alone else several)!r:.60}"
    )

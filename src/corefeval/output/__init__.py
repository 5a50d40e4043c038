"""Output: everything that corefeval gives, in every format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from corefeval.checks import did_you_mean, import_place
from corefeval.diagnostics import UsageError

if TYPE_CHECKING:
    from corefeval.display import Tabular
    from corefeval.output.tables import Drawing, Sheet, Style, Width

Format = Literal[
    "text", "json", "csv", "markdown", "latex", "conll", "coval", "corefud", "codabench"
]

# The drawing of each type, by name: who prints scores does not pay for importing the others.
DRAWINGS = {
    "ProbeResult": "corefeval.output.probes:ProbeDrawing",
    "Result": "corefeval.output.scores:ResultDrawing",
    "Slices": "corefeval.output.scores:SliceDrawing",
    "Comparison": "corefeval.output.systems:ComparisonDrawing",
    "CorporaComparison": "corefeval.output.systems:CorporaDrawing",
    "ErrorAnalysis": "corefeval.output.errors:ErrorDrawing",
    "Agreement": "corefeval.output.corpora:AgreementDrawing",
    "Merged": "corefeval.output.consensus:MergedDrawing",
    "Audit": "corefeval.output.consensus:AuditDrawing",
    "Statistics": "corefeval.output.corpora:StatisticsDrawing",
    "Estimates": "corefeval.output.estimates:EstimatesDrawing",
    "ExperimentResult": "corefeval.figures:ExperimentDrawing",
    "Explanation": "corefeval.output.explanations:ExplanationDrawing",
    "Sensitivity": "corefeval.output.explanations:SensitivityDrawing",
    "Search": "corefeval.output.explanations:SearchDrawing",
    "ResultDifference": "corefeval.output.explanations:ResultDrawing",
    "SuiteResult": "corefeval.suites.tables:SuiteDrawing",
    "Tabular": "corefeval.output.tables:Drawing",
}


class RenderOptions(TypedDict, total=False):
    """Options of `render`, whose documentation says which types of results have them."""

    by_document: bool
    pairs: bool
    differences: bool
    agreement: bool
    power: bool
    metric: str | None
    kinds: Sequence[str]
    top: int
    entities: int
    everything: bool
    averages: str
    sort: str
    rows_of: Literal["systems", "corpora"]
    digits: int | None
    rates: str | Sequence[str] | None
    caption: str | None
    label: str | None
    width: Width | None
    group: str
    margin: float | None
    comparisons: Sequence[Any]


def render(
    results: Tabular | Iterable[Tabular],
    *,
    format: Format = "text",
    color: bool = False,
    **options: Unpack[RenderOptions],
) -> str:
    """Any result, or several of one type, as text in a format; `color` is for terminals.

    Every type has all formats, but `conll`, `coval` and `corefud` are for scores alone, and
    `codabench` is for suites. JSON and CSV are not rounded.

    Scores and agreement have `by_document` (JSON has documents in any case). A comparison has
    `pairs`, `differences`, `agreement` and `power` (of `metric`), which add to what is shown; CSV,
    which is one table, has documents (`differences`), `pairs`, or scores. Error analyses have
    `kinds`, whose errors are then listed, or else `top`, the number of the most expensive mentions;
    audits have `top`, too. Analyses and statistics have `entities`, the number of the largest
    entities to show; CSV then has these alone.
    Experiments have `everything`, all metrics instead of the best known. Suites have `metric`,
    `averages`, `sort` and `rows_of`. Estimates have a `margin` in points. A UsageError says what a
    type does not have.

    Tables have `digits` of percentages and a `caption`; in LaTeX a `label`, and a `width`, "column"
    or "page", that floats fit into. Scores, comparisons and suites have `rates` in any order, such
    as "P, R, F1".

    >>> import corefeval
    >>> result = corefeval.score([["Ada", "she"]], [["Ada", "she"]], metrics="muc")
    >>> print(render(result, format="markdown").splitlines()[2])
    | MUC    | 100.00 | 100.00 | 100.00 |
    """
    from corefeval.output.tables import STYLE

    listed = _list_results(results)
    drawing, style = _choose_drawing(listed, format, {**options})
    before = STYLE.set(style)
    try:
        return drawing.draw(format, color)
    finally:
        STYLE.reset(before)


def _choose_drawing(
    results: Sequence[Tabular], format: str, options: dict[str, Any]
) -> tuple[Drawing, Style]:
    """The drawing of results with its options, and the style; a UsageError for a wrong option."""
    from corefeval.output.tables import STYLE_OPTIONS, Style

    type_name = type(results[0]).__name__
    names = {type(result).__name__ for result in results}
    if len(names) > 1:
        raise UsageError(f"results of one type are rendered at once, not {', '.join(names)}")
    bases = (base.__name__ for base in type(results[0]).__mro__)
    kind: Any = import_place(DRAWINGS[next(base for base in bases if base in DRAWINGS)])
    _, *option_names = (field.name for field in fields(kind))
    # Some types have an option of their own that is called rates.
    style_names = [name for name in STYLE_OPTIONS if name in options and name not in option_names]
    wishes = {name: options.pop(name) for name in style_names}
    style = Style.of(format, wishes) if wishes else Style()
    if style.rates and not kind.has_rates:
        raise UsageError(f"there are no rates for a {type_name}")
    for name in options:
        if name not in option_names:
            hint = f": {did_you_mean(name, option_names)}" if option_names else ""
            raise UsageError(f"there is no {name} for a {type_name}{hint}")
    if format not in kind.formats:
        raise UsageError(
            f"there is no output format {format!r} here: there are {', '.join(kind.formats)}"
        )
    return kind(results, **options), style


def make_sheet(result: Tabular) -> Sheet:
    """The tables and sentences of a result, as a sheet that a caller draws in its own way."""
    drawing, _ = _choose_drawing([result], "markdown", {})
    return drawing.sheet("markdown")


def _list_results(results: object) -> list[Tabular]:
    """One result or several as a list; a UsageError for anything else."""
    from corefeval.display import Tabular

    if isinstance(results, Tabular):
        return [results]
    if isinstance(results, Iterable) and not isinstance(results, str | bytes | Mapping):
        listed = list(results)
        if listed and all(isinstance(result, Tabular) for result in listed):
            return listed
    raise UsageError(f"only results can be rendered, one or several, not {results!r:.60}")

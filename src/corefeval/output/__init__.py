"""Output: everything that corefeval gives, in every format."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from corefeval.checks import did_you_mean
from corefeval.diagnostics import UsageError

if TYPE_CHECKING:
    from corefeval.display import Tabular
    from corefeval.output.style import Width
    from corefeval.output.tables import Drawing, Sheet

Format = Literal[
    "text", "json", "csv", "markdown", "latex", "conll", "coval", "corefud", "codabench"
]

# The drawing of each type, by name: who prints scores does not pay for importing the others.
DRAWINGS = {
    "Result": "corefeval.output.scores:ResultDrawing",
    "Slices": "corefeval.output.scores:SliceDrawing",
    "Comparison": "corefeval.output.systems:ComparisonDrawing",
    "CorporaComparison": "corefeval.output.systems:CorporaDrawing",
    "ErrorAnalysis": "corefeval.output.errors:ErrorDrawing",
    "Agreement": "corefeval.output.corpora:AgreementDrawing",
    "Statistics": "corefeval.output.corpora:StatisticsDrawing",
    "ExperimentResult": "corefeval.figures.tables:ExperimentDrawing",
    "Explanation": "corefeval.output.explanations:ExplanationDrawing",
    "Sensitivity": "corefeval.output.explanations:SensitivityDrawing",
    "Search": "corefeval.output.explanations:SearchDrawing",
    "ResultDifference": "corefeval.output.explanations:ResultDrawing",
    "SuiteResult": "corefeval.suites.tables:SuiteDrawing",
    "Tabular": "corefeval.output.tables:Drawing",
}


class Options(TypedDict, total=False):
    """Options of `render`, whose documentation says which types of results have them."""

    by_document: bool
    pairs: bool
    differences: bool
    agreement: bool
    power: bool
    metric: str | None
    kinds: Sequence[str]
    top: int
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


def render(
    results: Tabular | Iterable[Tabular],
    *,
    format: Format = "text",
    color: bool = False,
    **options: Unpack[Options],
) -> str:
    """Any result, or several of one type, as text in a format.

    Results are what `score`, `compare`, `analyse`, `agree`, `explain`, `statistics` or an
    experiment of the lab gave, or the slices of a result. Every type has all formats; `conll`,
    `coval` and `corefud`, which are other scorers' own, are of scores alone, and `codabench` of
    suites. `color` is for terminals. JSON and CSV are not rounded.

    Scores and agreement have `by_document` (JSON has documents in any case). A comparison has
    `pairs`, `differences`, `agreement` and `power` (of `metric`), which add to what is shown; CSV,
    which is one table, has documents (`differences`), `pairs`, or scores. Error analyses have
    `kinds`, whose errors are then listed, or else `top`, the number of the most expensive mentions.
    Experiments have `everything`, all metrics instead of the best known. Suites have `metric`,
    `averages`, `sort` and `rows_of`. A UsageError says what a type does not have.

    Tables of every type, as text, Markdown or LaTeX, have `digits` of percentages and a `caption`;
    LaTeX has a `label`, and a `width`, "column" or "page", that floats fit into. Scores,
    comparisons and suites have `rates` in any order, such as "P, R, F1".

    >>> import corefeval
    >>> result = corefeval.score([["Ada", "she"]], [["Ada", "she"]], metrics="muc")
    >>> print(render(result, format="markdown").splitlines()[2])
    | MUC    | 100.00 | 100.00 | 100.00 |
    """
    from corefeval.output.style import STYLE_OPTIONS, Style

    listed = _list_results(results)
    kind: Any = _drawing_type(listed)
    wishes: dict[str, Any] = {**options}
    _, *option_names = (field.name for field in fields(kind))
    # Some types have an option of their own that is called rates.
    style_names = [name for name in STYLE_OPTIONS if name in wishes and name not in option_names]
    style = Style.of(format, {name: wishes.pop(name) for name in style_names})
    type_name = type(listed[0]).__name__
    if style.rates and not kind.has_rates:
        raise UsageError(f"there are no rates for a {type_name}")
    _check_options(wishes, option_names, type_name)
    if format not in kind.formats:
        raise UsageError(
            f"there is no output format {format!r} here: there are {', '.join(kind.formats)}"
        )
    drawing: Drawing = kind(listed, **wishes)
    with style.in_use():
        return drawing.draw(format, color)


def _check_options(wishes: Iterable[str], option_names: Sequence[str], type_name: str) -> None:
    for name in wishes:
        if name not in option_names:
            problem = f"there is no {name} for a {type_name}"
            raise UsageError(
                f"{problem}: {did_you_mean(name, option_names)}" if option_names else problem
            )


def make_sheet(result: Tabular) -> Sheet:
    """The tables and sentences of a result, as a sheet that a caller draws in its own way."""
    kind: Any = _drawing_type([result])
    sheet: Sheet = kind([result]).sheet("markdown")
    return sheet


def _list_results(results: object) -> list[Any]:
    """One result or several as a list; a UsageError for anything else."""
    from corefeval.display import Tabular

    if isinstance(results, Tabular):
        return [results]
    if isinstance(results, Iterable) and not isinstance(results, str | bytes | Mapping):
        listed = list(results)
        if listed and all(isinstance(result, Tabular) for result in listed):
            return listed
    raise UsageError(f"only results can be rendered, one or several, not {results!r:.60}")


def _drawing_type(results: Sequence[object]) -> type[Drawing]:
    """The class that draws results of one type."""
    names = {type(result).__name__ for result in results}
    if len(names) > 1:
        raise UsageError(f"results of one type are rendered at once, not {', '.join(names)}")
    bases = (base.__name__ for base in type(results[0]).__mro__)
    home, _, name = DRAWINGS[next(base for base in bases if base in DRAWINGS)].partition(":")
    kind: type[Drawing] = getattr(importlib.import_module(home), name)
    return kind

"""Explanations in every format: what choices are worth, and which ones give a number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from corefeval.analysis.explanation.scorings import subtract
from corefeval.diagnostics import plural
from corefeval.display import shorten
from corefeval.output.differences import show_sign
from corefeval.output.tables import (
    Cell,
    Cells,
    Column,
    Columns,
    Sheet,
    SoloDrawing,
    Table,
    name_sides,
    number_columns,
    percent,
    response_table,
    row_label,
    table_of,
)

if TYPE_CHECKING:
    from corefeval.analysis.explanation import (
        Explanation,
        ResultDifference,
        Search,
        Sensitivity,
    )
    from corefeval.analysis.explanation.differences import Refusal, Relation
    from corefeval.analysis.explanation.scorings import Points

_NEAREST = 8  # candidates that are shown where they do not give a number
_NO_NUMBER = "no number"

_CAPTIONS = {
    "shapley": "Points of F1 that each choice is worth, on average over all orders (Shapley)",
    "in turn": "Points of F1 that each choice is worth, switched in turn from top to bottom",
}
_RELATIONS = {
    "redundant": "{} and {} do the same work",
    "needs": "{} acts only with {}",
    "need each other": "{} and {} need each other",
}


@dataclass(frozen=True)
class ExplanationDrawing(SoloDrawing):
    """What choices are worth between two protocols."""

    results: Sequence[Explanation]

    def sheet_of(self, explanation: Explanation, format: str) -> Sheet:
        """Refusals first, then both numbers, the choices, and remarks on them."""
        signatures = tuple(
            f"{end.name}: {end.protocol}" for end in (explanation.start, explanation.goal)
        )
        about = f"{name_sides(explanation)}, {plural(explanation.number, 'scoring')}"
        return Sheet(tuple(_explanation_parts(explanation)), (about,), signatures, gap=2)


def _explanation_parts(explanation: Explanation, *, ends: bool = True) -> Iterator[Table | str]:
    """The tables and sentences of an explanation, with both numbers or without."""
    yield from map(_describe_refusal, explanation.refusals)
    if ends:
        yield _ends_table(explanation)
    if explanation.steps:
        yield _step_table(explanation)
    for reason in explanation.gaps:
        yield f"Some of these choices together give no number: {reason}."
    yield from _describe_relations(explanation)
    if explanation.quiet:
        yield f"Without effect here: {'; '.join(explanation.quiet)}."
    elif not explanation.steps and not explanation.refusals:
        yield "The two protocols make the same choices."


def _describe_refusal(refusal: Refusal) -> str:
    text = f"{refusal.name} gives no number: {refusal.reason}"
    if refusal.choices:
        chosen = ", ".join(choice.replace("_", "-") for choice in refusal.choices)
        return f"{text}. The table below uses the other's {chosen} instead."
    return f"{text}."


def _ends_table(explanation: Explanation) -> Table:
    metrics = explanation.metrics
    rows: list[Cells] = []
    for end in (explanation.start, explanation.goal):
        rows.append(_end_row(end.name, end.scores, metrics))
        if end.protocol.rounding != "none" and end.scores:
            name = f"  printed, {end.protocol.rounding}"
            rows.append(_end_row(name, end.scores, metrics, end.protocol.rounding))
    difference = subtract(explanation.goal.scores, explanation.start.scores, metrics)
    rows.append((row_label("difference"), *map(_show_points, difference.values())))
    return table_of(("F1", *_metric_columns(explanation)), rows)


def _metric_columns(explanation: Explanation | Sensitivity) -> tuple[Column, ...]:
    """A column of numbers for each metric."""
    return number_columns(*(explanation.titles.get(m, m) for m in explanation.metrics))


def _end_row(
    name: str,
    scores: Mapping[str, float | None],
    metrics: Sequence[str],
    rounding: str = "none",
) -> Cells:
    values = [scores.get(metric) for metric in metrics]
    cells = (_NO_NUMBER if value is None else percent(value, rounding) for value in values)
    return Cell(name, label=rounding == "none"), *cells


def _show_points(value: float | None) -> str:
    return "–" if value is None else show_sign(value)


def _step_table(explanation: Explanation) -> Table:
    """A row for each choice, with its points in each metric."""
    metrics = explanation.metrics
    rows: list[Cells] = [
        (row_label(step.change), *(_show_points(step.points[metric]) for metric in metrics))
        for step in explanation.steps
    ]
    columns: Columns = ("Choice", *_metric_columns(explanation))
    return table_of(columns, rows, caption=_CAPTIONS[explanation.sharing])


def _describe_relations(explanation: Explanation) -> Iterator[str]:
    """A sentence for each pair of choices: the metric in which most is at stake."""
    pairs: dict[tuple[str, tuple[str, str]], list[Relation]] = {}
    for relation in explanation.relations:
        pairs.setdefault((relation.kind, relation.choices), []).append(relation)
    for (kind, choices), relations in pairs.items():
        first, second = (name.replace("_", "-") for name in choices)
        most = max(
            relations, key=lambda relation: max(map(abs, (*relation.alone, relation.together)))
        )
        title = explanation.titles.get(most.metric, most.metric)
        alone = " and ".join(map(show_sign, most.alone))
        statement = _RELATIONS[kind].format(first, second)
        yield f"{statement}: {title} {alone} alone, {show_sign(most.together)} together."


@dataclass(frozen=True)
class SensitivityDrawing(SoloDrawing):
    """How much numbers depend on each choice."""

    results: Sequence[Sensitivity]

    def sheet_of(self, sensitivity: Sensitivity, format: str) -> Sheet:
        """The values that matter, largest first; what has no number, no effect, another order."""
        parts: list[Table | str] = [_effect_table(sensitivity)]
        parts += sensitivity.turned
        if len(sensitivity.responses) > 1 and not sensitivity.turns:
            parts.append("No choice changes the order of the responses.")
        parts += sensitivity.refused
        if sensitivity.without_effect:
            parts.append(f"Without effect here: {sensitivity.without_effect}.")
        about = f"against {shorten(sensitivity.key)}"
        if len(sensitivity.responses) == 1:
            about = f"{shorten(sensitivity.responses[0])} {about}"
        return Sheet(tuple(parts), (about,), (sensitivity.protocol.signature,), gap=2)


def _effect_table(sensitivity: Sensitivity) -> Table:
    """The scores, and what each value of a choice changes."""

    def rows(
        values: Sequence[Points], show: Callable[[float | None], str]
    ) -> list[tuple[str, list[str]]]:
        cells = [[show(points.get(metric)) for metric in sensitivity.metrics] for points in values]
        return [*zip(sensitivity.responses, cells, strict=True)]

    effects = [
        (row_label(effect.name), rows(effect.points, _show_points))
        for effect in sensitivity.effects
        if effect.is_shown
    ]
    first = [(row_label("as it is"), rows(sensitivity.scores, percent))]
    columns: Columns = ("Choice", *_metric_columns(sensitivity))
    caption = "F1, and the points that each value of a choice changes, largest first"
    several = len(sensitivity.responses) > 1
    return response_table(columns, first, effects, several=several, caption=caption)


@dataclass(frozen=True)
class SearchDrawing(SoloDrawing):
    """Which protocols and choices give a number."""

    results: Sequence[Search]

    def sheet_of(self, search: Search, format: str) -> Sheet:
        """The candidates that give the number, or else the nearest ones."""
        title = search.titles.get(search.metric, search.metric)
        hits = search.hits
        misses = [
            candidate
            for candidate in search.candidates
            if not candidate.hit and candidate.score is not None
        ]
        shown = [*hits, *(() if hits else misses[:_NEAREST])]
        rows = [
            (row_label(candidate.name), percent(candidate.score), *filter(None, [candidate.hit]))
            for candidate in shown
        ]
        columns: Columns = ("Protocol or choice", *number_columns(title), *["How"][: len(hits)])
        caption = f"What gives {title} {search.wanted}"
        if not hits:
            caption = f"Nothing gives {title} {search.wanted}; the nearest scores"
        parts: list[Table | str] = [table_of(columns, rows, caption=caption)]
        reasons: dict[str, list[str]] = {}
        for candidate in search.candidates:
            if candidate.refusal and candidate.is_named:
                reasons.setdefault(candidate.refusal.splitlines()[0], []).append(candidate.name)
        parts += [f"{', '.join(names)}: no number, {why}." for why, names in reasons.items()]
        about = f"{name_sides(search)}, {len(search.candidates)} tried"
        return Sheet(tuple(parts), (about,), (search.protocol.signature,), gap=2)


@dataclass(frozen=True)
class ResultDrawing(SoloDrawing):
    """What differs between two results."""

    results: Sequence[ResultDifference]

    def sheet_of(self, difference: ResultDifference, format: str) -> Sheet:
        """Numbers, choices and remarks; what choices are worth, where that is known."""
        scores: list[Cells] = [
            (
                row_label(difference.titles.get(metric, metric)),
                *map(percent, values),
                show_sign(values[1] - values[0]),
            )
            for metric, values in difference.scores.items()
        ]
        columns: Columns = ("F1", *number_columns(*difference.names, "difference"))
        parts: list[Table | str] = [table_of(columns, scores)]
        if difference.choices:
            choices: list[Cells] = [
                (row_label(name.replace("_", "-")), *values)
                for name, values in difference.choices.items()
            ]
            values = (Column(name, unbroken=True) for name in difference.names)
            parts.append(table_of(("Choice", *values), choices, caption="What differs"))
        else:
            parts.append("Their protocols make the same choices.")
        parts += [f"{remark[0].upper()}{remark[1:]}." for remark in difference.remarks]
        if difference.explanation is not None:
            parts += _explanation_parts(difference.explanation, ends=False)
        return Sheet(tuple(parts), (), difference.signatures, gap=2)

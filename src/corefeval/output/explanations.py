"""Explanations in every format: what choices are worth, and which ones give a number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from corefeval.analysis.explanation.scorings import SHOWN, subtract
from corefeval.diagnostics import plural
from corefeval.display import shorten
from corefeval.output.differences import show_sign
from corefeval.output.drawing import SoloDrawing
from corefeval.output.tables import (
    Cell,
    Column,
    Sheet,
    Table,
    label_columns,
    percent,
    stack_rows,
)

if TYPE_CHECKING:
    from corefeval.analysis.explanation import (
        Explanation,
        ResultDifference,
        Search,
        Sensitivity,
    )
    from corefeval.analysis.explanation.explanation import Points, Refusal, Relation, Step

_NEAREST = 8  # candidates that are shown where they do not give a number
_NO_NUMBER = "no number"

_RELATIONS = {
    "redundant": "{} and {} do the same work",
    "needs": "{} acts only with {}",
    "need each other": "{} and {} need each other",
}

Cells = tuple[Cell, ...]


@dataclass(frozen=True)
class ExplanationDrawing(SoloDrawing):
    """What choices are worth between two protocols."""

    things: Sequence[Explanation]

    def sheet_of(self, thing: Explanation, format: str) -> Sheet:
        """Refusals first, then both numbers, the choices, and what is to be said of them."""
        about = f"{shorten(thing.response)} against {shorten(thing.key)}"
        signatures = tuple(f"{one.name}: {one.protocol}" for one in (thing.start, thing.goal))
        scorings = plural(thing.number, "scoring")
        return Sheet(tuple(explanation_parts(thing)), (f"{about}, {scorings}",), signatures, gap=2)


def explanation_parts(thing: Explanation, *, ends: bool = True) -> Iterator[Table | str]:
    """The tables and sentences of an explanation, with both numbers or without."""
    yield from map(_refusal, thing.refusals)
    if ends:
        yield _ends_table(thing)
    if thing.steps:
        yield _step_table(thing)
    for reason in thing.gaps:
        yield f"No number (–) for some of these choices together: {reason}."
    yield from _relations(thing)
    if thing.quiet:
        yield f"Without effect here: {'; '.join(thing.quiet)}."
    elif not thing.steps and not thing.refusals:
        yield "The two protocols make the same choices."


def _refusal(one: Refusal) -> str:
    text = f"{one.name} gives no number: {one.reason}"
    if one.choices:
        chosen = ", ".join(choice.replace("_", "-") for choice in one.choices)
        return f"{text}. The table below uses the other's {chosen} instead."
    return f"{text}."


def _ends_table(thing: Explanation) -> Table:
    metrics, titles = thing.metrics, thing.titles
    rows = []
    for end in (thing.start, thing.goal):
        rows.append(_end_row(end.name, end.scores, metrics))
        if end.protocol.rounding != "none" and end.scores:
            label = f"  printed, {end.protocol.rounding}"
            rows.append(_end_row(label, end.scores, metrics, end.protocol.rounding))
    difference = subtract(thing.goal.scores, thing.start.scores, metrics)
    points = (Cell(_points(one)) for one in difference.values())
    rows.append((Cell("difference", label=True), *points))
    columns = (Column("F1"), *(Column(titles.get(m, m), numeric=True) for m in metrics))
    return Table(columns, (tuple(rows),))


def _end_row(
    name: str,
    scores: Mapping[str, float | None],
    metrics: Sequence[str],
    rounding: str = "none",
) -> Cells:
    values = [scores.get(metric) for metric in metrics]
    cells = (_NO_NUMBER if value is None else percent(value, rounding) for value in values)
    return Cell(name, label=rounding == "none"), *map(Cell, cells)


def _points(value: float | None) -> str:
    return "–" if value is None else show_sign(value)


def _step_table(thing: Explanation) -> Table:
    """A section for each choice, with a row for each metric that it changes."""
    kinds = ["alone", "last", "turn"]
    kinds += ["shapley"] if any(step.shapley for step in thing.steps) else []
    sections = []
    for step in thing.steps:
        shown = [metric for metric in thing.metrics if _matters(step, metric)] or thing.metrics[-1:]
        sections.append(
            tuple(
                (
                    Cell("" if number else step.change, label=True),
                    Cell(thing.titles.get(metric, metric)),
                    *(Cell(_worth(step, kind, metric)) for kind in kinds),
                )
                for number, metric in enumerate(shown)
            )
        )
    names = {"turn": "in turn", "shapley": "Shapley"}
    columns = (
        *(Column("Choice"), Column("Metric")),
        *(Column(names.get(kind, kind), numeric=True) for kind in kinds),
    )
    return Table(columns, tuple(sections), caption="Points of F1 that each choice is worth")


def _matters(step: Step, metric: str) -> bool:
    values = (getattr(step, kind).get(metric) for kind in ("alone", "last", "turn", "shapley"))
    return any(value is not None and abs(value) >= SHOWN for value in values)


def _worth(step: Step, kind: str, metric: str) -> str:
    worth = getattr(step, kind)
    return _points(worth[metric]) if metric in worth else ""


def _relations(thing: Explanation) -> Iterator[str]:
    """A sentence for each pair of choices: the metric in which most is at stake."""
    pairs: dict[tuple[str, tuple[str, str]], list[Relation]] = {}
    for one in thing.relations:
        pairs.setdefault((one.kind, one.choices), []).append(one)
    for (kind, choices), found in pairs.items():
        first, second = (name.replace("_", "-") for name in choices)
        most = max(found, key=lambda one: max(map(abs, (*one.alone, one.together))))
        title = thing.titles.get(most.metric, most.metric)
        alone = " and ".join(map(show_sign, most.alone))
        what = _RELATIONS[kind].format(first, second)
        yield f"{what}: {title} {alone} alone, {show_sign(most.together)} together."


@dataclass(frozen=True)
class SensitivityDrawing(SoloDrawing):
    """How much numbers depend on each choice."""

    things: Sequence[Sensitivity]

    def sheet_of(self, thing: Sensitivity, format: str) -> Sheet:
        """The values that matter, largest first; what has no number, no effect, another order."""
        parts: list[Table | str] = [_effect_table(thing)]
        parts += _turn_sentences(thing)
        parts += [f"No number with {values}: {why}." for why, values in thing.refusals.items()]
        if thing.without_effect:
            parts.append(f"Without effect here: {thing.without_effect}.")
        about = f"against {shorten(thing.key)}"
        if len(thing.responses) == 1:
            about = f"{shorten(thing.responses[0])} {about}"
        return Sheet(tuple(parts), (about,), (thing.protocol.signature,), gap=2)


def _effect_table(thing: Sensitivity) -> Table:
    several = len(thing.responses) > 1
    metrics, titles = thing.metrics, thing.titles

    def rows(
        values: Sequence[Points], show: Callable[[float | None], str]
    ) -> list[tuple[str, list[Cell]]]:
        cells = [[Cell(show(one.get(metric))) for metric in metrics] for one in values]
        return [*zip(thing.responses, cells, strict=True)]

    effects = [(one.name, rows(one.points, _points)) for one in thing.effects if one.is_shown]
    first = stack_rows([("as it is", rows(thing.scores, percent))], several)
    sections = (*first, *stack_rows(effects, several))
    columns = (
        *label_columns("Choice", several),
        *(Column(titles.get(metric, metric), numeric=True) for metric in metrics),
    )
    caption = "F1, and the points that each value of a choice changes, largest first"
    return Table(columns, tuple(filter(None, sections)), caption=caption)


def _turn_sentences(thing: Sensitivity) -> list[str]:
    lines = []
    for turn in thing.turns:
        title = thing.titles.get(turn.metric, turn.metric)
        turned = ", ".join(turn.values)
        lines.append(f"{title}: {turn.above} is above {turn.below}, but not with {turned}.")
    if len(thing.responses) > 1 and not lines:
        lines.append("No choice changes the order of the responses.")
    return lines


@dataclass(frozen=True)
class SearchDrawing(SoloDrawing):
    """Which protocols and choices give a number."""

    things: Sequence[Search]

    def sheet_of(self, thing: Search, format: str) -> Sheet:
        """Those that give it, or else the nearest."""
        title = thing.titles.get(thing.metric, thing.metric)
        hits = thing.hits
        others = [one for one in thing.candidates if not one.hit and one.score is not None]
        shown = [*hits, *(() if hits else others[:_NEAREST])]
        rows = tuple(
            (Cell(one.name, label=True), Cell(percent(one.score)), Cell(one.hit)) for one in shown
        )
        columns = (
            Column("Protocol or choice"),
            Column(title, numeric=True),
            Column("to the number"),
        )
        start = (
            f"{title} {thing.wanted} comes of"
            if hits
            else (f"Nothing gives {title} {thing.wanted}; nearest are")
        )
        parts: list[Table | str] = [Table(columns, (rows,), caption=start)]
        reasons: dict[str, list[str]] = {}
        for one in thing.candidates:
            if one.refusal and one.is_named:
                reasons.setdefault(one.refusal.splitlines()[0], []).append(one.name)
        parts += [f"{', '.join(names)}: no number, {why}." for why, names in reasons.items()]
        about = (
            f"{shorten(thing.response)} against {shorten(thing.key)}, {len(thing.candidates)} tried"
        )
        return Sheet(tuple(parts), (about,), (thing.protocol.signature,), gap=2)


@dataclass(frozen=True)
class ResultDrawing(SoloDrawing):
    """What differs between two results."""

    things: Sequence[ResultDifference]

    def sheet_of(self, thing: ResultDifference, format: str) -> Sheet:
        """Numbers, choices and remarks; what choices are worth, where that is known."""
        scores = tuple(
            (
                Cell(thing.titles.get(metric, metric), label=True),
                *map(Cell, map(percent, values)),
                Cell(show_sign(values[1] - values[0])),
            )
            for metric, values in thing.scores.items()
        )
        columns = (
            Column("F1"),
            *(Column(one, numeric=True) for one in (*thing.names, "difference")),
        )
        parts: list[Table | str] = [Table(columns, (scores,))]
        if thing.choices:
            rows = tuple(
                (Cell(name.replace("_", "-"), label=True), *map(Cell, values))
                for name, values in thing.choices.items()
            )
            heads = tuple(Column(one, whole=True) for one in thing.names)
            parts.append(Table((Column("Choice"), *heads), (rows,), caption="What differs"))
        else:
            parts.append("Their protocols make the same choices.")
        parts += [f"{remark[0].upper()}{remark[1:]}." for remark in thing.remarks]
        if thing.explanation is not None:
            parts += explanation_parts(thing.explanation, ends=False)
        return Sheet(tuple(parts), (), thing.signatures, gap=2)

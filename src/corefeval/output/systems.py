"""Comparisons in every format: systems by metrics, and what else was asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from corefeval._version import __version__
from corefeval.diagnostics import UsageError, plural
from corefeval.output.differences import (
    disagreements,
    driver_table,
    letters,
    outcome_table,
    pair_table,
    power_sentences,
    tau_table,
    turning_sentences,
)
from corefeval.output.drawing import SoloDrawing
from corefeval.output.style import RATES, current_style
from corefeval.output.tables import (
    RAISED,
    Cell,
    Column,
    Sheet,
    Table,
    feature_heading,
    percent,
)
from corefeval.tabular import Row

if TYPE_CHECKING:
    from corefeval.stats import Comparison

BETTER, WORSE = "†", "‡"  # than the baseline

_TESTS = {
    "randomization": "paired approximate randomization, {trials} trials",
    "bootstrap": "paired bootstrap, {trials} samples",
    "exact": "exact paired randomization",
}
_CORRECTIONS = {
    "holm": " after Holm's correction for {pairs}",
    "bonferroni": " after Bonferroni's correction for {pairs}",
    "none": ", not corrected for {pairs}",
}
_MANY = 6  # metrics that fit side by side


@dataclass(frozen=True)
class ComparisonDrawing(SoloDrawing):
    """A comparison, with what else is asked for; the pairs of two systems are always there."""

    things: Sequence[Comparison]
    pairs: bool = False
    differences: bool = False
    agreement: bool = False
    power: bool = False
    metric: str | None = None

    has_rates: ClassVar = True

    def sheet_of(self, thing: Comparison, format: str) -> Sheet:
        """Systems by metrics, what the table means, and more tables and sentences."""
        compact = format == "text"
        most = len(thing.metrics) if format == "markdown" else _MANY
        tables = main_tables(thing, compact=compact, most=most)
        tables = [stacked_table(thing)] if _is_stacked() else tables
        more = self._more(thing, compact)
        between = [""] if more and isinstance(more[0], str) else []
        parts = (*tables, legend(thing, compact=compact), *between, *more)
        signatures = (*dict.fromkeys(thing.signatures.values()), thing.signature)
        return Sheet(parts, (), signatures, label="comparison")

    def _more(self, thing: Comparison, compact: bool) -> list[Table | str]:
        """What follows the main tables."""
        parts: list[Table | str] = []
        if self.pairs or len(thing.systems) == 2:
            parts.append(pair_table(thing, compact=compact))
        parts += [
            slice_table(feature, values, thing, compact=compact)
            for feature, values in thing.slices.items()
        ]
        if self.differences:
            where = thing.differences(self.metric)
            parts.append(outcome_table(where, thing))
            for one in where:
                parts += [driver_table(one, thing)] if one.drivers() else []
                parts += turning_sentences(one)
        if self.agreement:
            parts += [tau_table(thing), *disagreements(thing)]
        if self.power:
            parts += power_sentences(thing.power(self.metric), thing.main_metric(self.metric))
        return parts

    def rows(self) -> list[Row]:
        """One table: documents where it was asked where systems differ, pairs, or scores."""
        return [row for thing in self.things for row in self._rows_of(thing)]

    def _rows_of(self, thing: Comparison) -> list[Row]:
        if self.differences:
            return [row for one in thing.differences(self.metric) for row in one.rows()]
        groups = [({"feature": "", "value": ""} if thing.slices else {}, thing)]
        for feature, values in thing.slices.items():
            groups += [({"feature": feature, "value": v}, one) for v, one in values.items()]
        return [
            {**place, **row}
            for place, one in groups
            for row in one.rows("differences" if self.pairs else "scores")
        ]

    def record_of(self, thing: Comparison) -> Row:
        """Scores and differences, and what else was asked for."""
        record = {"corefeval": __version__, **thing.as_dict()}
        if self.differences:
            record["where"] = [one.as_dict() for one in thing.differences(self.metric)]
        if self.agreement:
            record["agreement"] = thing.agreement.rows()
        if self.power:
            record["power"] = [one.as_dict() for one in thing.power(self.metric)]
        return record


def main_tables(comparison: Comparison, *, compact: bool, most: int = _MANY) -> list[Table]:
    """Systems by metrics, below each other where there are more than `most` metrics.

    `compact` puts score, superscripts and rank into one column.
    """
    metrics = comparison.metrics
    groups = [metrics[at : at + most] for at in range(0, len(metrics), most)]
    return [
        Table(
            (*_head(comparison), *_metric_columns(comparison, group, compact)),
            (_rows(comparison, group, compact),),
        )
        for group in groups
    ]


def stacked_table(comparison: Comparison) -> Table:
    """Metrics below each other, for all rates of which there is no room side by side."""
    sections = tuple(
        _titled(comparison.title(metric), _rows(comparison, [metric], compact=False))
        for metric in comparison.metrics
    )
    columns = _metric_columns(comparison, comparison.metrics[:1], compact=False)
    plain = (column._replace(group="") for column in columns)
    return Table((Column("Metric"), *_head(comparison), *plain), sections)


def _titled(title: str, rows: Sequence[tuple[Cell, ...]]) -> tuple[tuple[Cell, ...], ...]:
    """Rows with a label before the first of them."""
    return tuple((Cell("" if n else title, label=True), *row) for n, row in enumerate(rows))


def slice_table(
    feature: str, values: Mapping[str, Comparison], whole: Comparison, *, compact: bool
) -> Table:
    """The same for each value of a feature."""
    first = next(iter(values.values()))
    heading = feature_heading(feature)
    sections = tuple(
        _titled(value, _rows(comparison, comparison.metrics, compact))
        for value, comparison in values.items()
    )
    columns = (Column(heading), *_head(whole), *_metric_columns(first, first.metrics, compact))
    return Table(columns, sections, caption=f"By {feature}")


def _head(comparison: Comparison) -> tuple[Column, ...]:
    return (Column(""), Column("System")) if comparison.baseline is None else (Column("System"),)


def _metric_columns(comparison: Comparison, metrics: Sequence[str], compact: bool) -> list[Column]:
    columns = []
    for metric in metrics:
        title, rates = comparison.title(metric), _rates(comparison, metric)
        ranked = not compact and comparison.baseline is None
        for rate in rates:
            heading = RATES.get(rate, rate)
            if rate != comparison.rate:
                columns.append(Column(heading, title, numeric=True))
            elif ranked:
                columns += [Column(heading, title), Column("#", title, numeric=True, close=True)]
            else:
                alone = len(rates) == 1
                columns.append(
                    Column(title, whole=True) if alone else Column(heading, title, whole=True)
                )
    return columns


def _rates(comparison: Comparison, metric: str) -> tuple[str, ...]:
    """The rates of a metric that are shown: the one that is compared, and others of the style."""
    wishes, mine = current_style().rates, comparison.rate
    if wishes and mine not in wishes:
        raise UsageError(f"the rates must have {mine} among them, which is compared")
    there = RATES if _is_stacked() else comparison.rates_of(metric, comparison.systems[0])
    return tuple(rate for rate in wishes if rate in there) or (mine,)


def _is_stacked() -> bool:
    return current_style().width == "column" and len(current_style().rates) > 1


def _rows(
    comparison: Comparison, metrics: Sequence[str], compact: bool
) -> tuple[tuple[Cell, ...], ...]:
    names = letters(comparison.systems)
    by_metric = [_metric_cells(comparison, metric, names, compact) for metric in metrics]
    rows = []
    for place, system in enumerate(comparison.systems):
        label = (Cell(names[system]),) if comparison.baseline is None else ()
        cells = (cell for column in by_metric for cell in column[place])
        rows.append((*label, Cell(system), *cells))
    return tuple(rows)


def _metric_cells(
    comparison: Comparison, metric: str, names: dict[str, str], compact: bool
) -> list[tuple[Cell, ...]]:
    """The cells of one metric, system by system."""
    scores = {system: percent(score) for system, score in comparison.scores[metric].items()}
    best = comparison.best(metric)
    marks = {system: _mark(comparison, metric, system, names) for system in scores}
    width = max(map(len, scores.values()))
    room = max(map(len, marks.values()))
    ranks = {} if comparison.baseline is not None else comparison.ranks(metric)
    shown = _rates(comparison, metric)
    cells = []
    for system, score in scores.items():
        number, bold = score.rjust(width), system in best
        if not compact:
            rank = (Cell(str(ranks[system])),) if ranks else ()
            own = (Cell(score, bold, marks[system]), *rank)
        else:
            raised = "".join(RAISED.get(letter, letter) for letter in marks[system])
            behind = f"{raised:{room}} {ranks[system]}" if ranks else raised
            own = (Cell(number + behind, bold),)
        others = {} if len(shown) == 1 else comparison.rates_of(metric, system)
        row = (own if r == comparison.rate else (Cell(percent(others.get(r))),) for r in shown)
        cells.append(tuple(cell for part in row for cell in part))
    return cells


def _mark(comparison: Comparison, metric: str, system: str, names: dict[str, str]) -> str:
    if comparison.baseline is not None:
        if comparison.is_better(metric, system, comparison.baseline):
            return BETTER
        return WORSE if comparison.is_better(metric, comparison.baseline, system) else ""
    better = [names[other] for other in comparison.better_than(metric, system)]
    return ("" if all(len(name) == 1 for name in better) else ",").join(better)


def legend(comparison: Comparison, *, compact: bool = False) -> str:
    """What bold, superscripts and ranks mean, in one paragraph."""
    settings = comparison.settings
    trials = f"{int(settings.get('trials', '0')):,}"
    pairs = len(comparison.pairs) // len(comparison.metrics)
    how = _TESTS[settings["test"]].format(trials=trials)
    how += f", p ≤ {comparison.alpha:g}"
    if pairs > 1:
        how += _CORRECTIONS[settings["correction"]].format(pairs=plural(pairs, "pair"))
    rate = RATES.get(comparison.rate, comparison.rate)
    rates = [RATES[one] for one in current_style().rates] or [rate]
    shown = " and ".join(filter(None, (", ".join(rates[:-1]), rates[-1])))
    bold = "the best in bold" if len(rates) == 1 else f"the best {rate} in bold"
    start = f"{shown} on {plural(len(comparison.document_ids), 'document')}, {bold}."
    if comparison.unit == "segment":
        units = plural(len(comparison.document_ids), "segment")
        start = f"{shown} of one document, {bold}; tests and differences on {units} of it."
    if comparison.baseline is not None:
        return (
            f"{start} {BETTER} significantly better and {WORSE} significantly worse than "
            f"{comparison.baseline} ({how})."
        )
    rank = "the number after the score" if compact else "#"
    return (
        f"{start} A superscript names the systems that this one is significantly better than "
        f"({how}); systems of the same rank ({rank}) do not differ significantly."
    )

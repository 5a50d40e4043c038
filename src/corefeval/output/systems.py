"""Comparisons in every format: systems by metrics, and the tables that options add."""

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
    """A comparison, with the tables that options add; of two systems, the pair is always shown."""

    results: Sequence[Comparison]
    pairs: bool = False
    differences: bool = False
    agreement: bool = False
    power: bool = False
    metric: str | None = None

    has_rates: ClassVar = True

    def sheet_of(self, comparison: Comparison, format: str) -> Sheet:
        """Systems by metrics, what the table means, and more tables and sentences."""
        compact = format == "text"
        most = len(comparison.metrics) if format == "markdown" else _MANY
        tables = main_tables(comparison, compact=compact, most=most)
        tables = [stacked_table(comparison)] if _is_stacked() else tables
        additions = self._additional_parts(comparison, compact)
        between = [""] if additions and isinstance(additions[0], str) else []
        parts = (*tables, legend(comparison, compact=compact), *between, *additions)
        signatures = (*dict.fromkeys(comparison.signatures.values()), comparison.signature)
        return Sheet(parts, (), signatures, label="comparison")

    def _additional_parts(self, comparison: Comparison, compact: bool) -> list[Table | str]:
        """What follows the main tables."""
        parts: list[Table | str] = []
        if self.pairs or len(comparison.systems) == 2:
            parts.append(pair_table(comparison, compact=compact))
        parts += [
            slice_table(feature, values, comparison, compact=compact)
            for feature, values in comparison.slices.items()
        ]
        if self.differences:
            all_differences = comparison.differences(self.metric)
            parts.append(outcome_table(all_differences, comparison))
            for differences in all_differences:
                parts += [driver_table(differences, comparison)] if differences.drivers() else []
                parts += turning_sentences(differences)
        if self.agreement:
            parts += [tau_table(comparison), *disagreements(comparison)]
        if self.power:
            parts += power_sentences(
                comparison.power(self.metric), comparison.main_metric(self.metric)
            )
        return parts

    def rows(self) -> list[Row]:
        """Rows of documents (with `differences`), of pairs (with `pairs`), or of scores."""
        return [row for comparison in self.results for row in self._rows_of(comparison)]

    def _rows_of(self, comparison: Comparison) -> list[Row]:
        if self.differences:
            return [
                row
                for differences in comparison.differences(self.metric)
                for row in differences.rows()
            ]
        groups = [({"feature": "", "value": ""} if comparison.slices else {}, comparison)]
        for feature, values in comparison.slices.items():
            groups += [({"feature": feature, "value": v}, part) for v, part in values.items()]
        return [
            {**place, **row}
            for place, part in groups
            for row in part.rows("differences" if self.pairs else "scores")
        ]

    def record_of(self, comparison: Comparison) -> Row:
        """Scores and differences, and what the options add."""
        record = {"corefeval": __version__, **comparison.as_dict()}
        if self.differences:
            record["where"] = [
                differences.as_dict() for differences in comparison.differences(self.metric)
            ]
        if self.agreement:
            record["agreement"] = comparison.agreement.rows()
        if self.power:
            record["power"] = [power.as_dict() for power in comparison.power(self.metric)]
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
    feature: str, values: Mapping[str, Comparison], overall: Comparison, *, compact: bool
) -> Table:
    """Systems by metrics for each value of a feature, a section each."""
    first = next(iter(values.values()))
    heading = feature_heading(feature)
    sections = tuple(
        _titled(value, _rows(comparison, comparison.metrics, compact))
        for value, comparison in values.items()
    )
    columns = (Column(heading), *_head(overall), *_metric_columns(first, first.metrics, compact))
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
                    Column(title, unbroken=True) if alone else Column(heading, title, unbroken=True)
                )
    return columns


def _rates(comparison: Comparison, metric: str) -> tuple[str, ...]:
    """The rates of a metric that are shown: the one that is compared, and others of the style."""
    wishes, compared_rate = current_style().rates, comparison.rate
    if wishes and compared_rate not in wishes:
        raise UsageError(f"the rates must have {compared_rate} among them, which is compared")
    available = RATES if _is_stacked() else comparison.rates_of(metric, comparison.systems[0])
    return tuple(rate for rate in wishes if rate in available) or (compared_rate,)


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
            score_cells = (Cell(score, bold, marks[system]), *rank)
        else:
            raised = "".join(RAISED.get(letter, letter) for letter in marks[system])
            behind = f"{raised:{room}} {ranks[system]}" if ranks else raised
            score_cells = (Cell(number + behind, bold),)
        other_rates = {} if len(shown) == 1 else comparison.rates_of(metric, system)
        row = (
            score_cells if r == comparison.rate else (Cell(percent(other_rates.get(r))),)
            for r in shown
        )
        cells.append(tuple(cell for part in row for cell in part))
    return cells


def _mark(comparison: Comparison, metric: str, system: str, names: dict[str, str]) -> str:
    if comparison.baseline is not None:
        if comparison.is_better(metric, system, comparison.baseline):
            return BETTER
        return WORSE if comparison.is_better(metric, comparison.baseline, system) else ""
    better = [names[beaten] for beaten in comparison.better_than(metric, system)]
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
    rates = [RATES[name] for name in current_style().rates] or [rate]
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

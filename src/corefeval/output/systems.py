"""Comparisons in every format: systems by metrics, and what else was asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from corefeval._version import __version__
from corefeval.diagnostics import UsageError, plural
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
    from corefeval.stats import Comparison, Differences, PairDifference, Power

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
_SHOWN = 10  # documents that drive a difference
_PAIR = 24  # characters of two names that fit side by side in a terminal


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


def letters(systems: Sequence[str]) -> dict[str, str]:
    """A letter for each system: a to z, then aa and so on.

    >>> letters(["old", "new"])
    {'old': 'a', 'new': 'b'}
    """
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    names = [*alphabet, *(one + other for one in alphabet for other in alphabet)]
    return dict(zip(systems, names, strict=False))


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
    plain = (replace(column, group="") for column in columns)
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
    rank = "the number behind" if compact else "#"
    return (
        f"{start} A superscript names the systems that this one is significantly better than "
        f"({how}); systems without a significant difference share a rank ({rank})."
    )


def pair_table(comparison: Comparison, *, compact: bool = False) -> Table:
    """Every pair and metric: the difference, its interval, p-values and effect sizes.

    Effect sizes are over documents, each of which weighs the same, and stand with the mean of the
    documents' differences; where segments of a document were compared, so do their own scores.
    `compact` calls pairs of long names by the letters of the main table.
    """
    several = len(comparison.pairs) > len(comparison.metrics)
    adjusted = several and comparison.settings["correction"] != "none"
    names = {system: system for system in comparison.systems}
    long = max(len(pair.first) + len(pair.second) for pair in comparison.pairs) > _PAIR
    lettered = compact and several and long and comparison.baseline is None
    names = letters(comparison.systems) if lettered else names
    sections = []
    for metric in comparison.metrics:
        pairs = [pair for pair in comparison.pairs if pair.metric == metric]
        rows = [
            (
                Cell("" if number else comparison.title(metric), label=True),
                *((Cell(f"{names[pair.first]} – {names[pair.second]}"),) if several else ()),
                *_pair_cells(pair, adjusted, comparison.segment_scores.get(metric)),
            )
            for number, pair in enumerate(pairs)
        ]
        sections.append(tuple(rows))
    if not several:
        sections = [tuple(row for section in sections for row in section)]
    headings = ["Difference", f"{100 * comparison.level:g} % CI", "p"]
    headings += ["adjusted p"] if adjusted else []
    sides = ("first", "second") if comparison.segment_scores else ()
    columns = (
        Column("Metric"),
        *((Column("Systems"),) if several else ()),
        *(
            Column(side, plural(len(comparison.document_ids), comparison.unit), True)
            for side in sides
        ),
        *(Column(heading, numeric=True) for heading in headings),
        *(Column(name, f"by {comparison.unit}", True) for name in ("mean", "d", "win rate")),
    )
    first = comparison.pairs[0]
    caption = "Differences" if several else f"{first.first} – {first.second}"
    caption += ", systems by their letters" if lettered else ""
    return Table(columns, tuple(sections), caption=caption)


def _pair_cells(
    pair: PairDifference, adjusted: bool, scores: Mapping[str, float] | None
) -> list[Cell]:
    low, high = pair.interval
    sides = () if scores is None else (scores[pair.first], scores[pair.second])
    return [
        *(Cell(percent(side)) for side in sides),
        Cell(show_sign(pair.difference), bold=pair.significant),
        Cell(f"{show_sign(low)} to {show_sign(high)}"),
        Cell(p_value(pair.p), bold=pair.significant and not adjusted),
        *([Cell(p_value(pair.adjusted_p), bold=pair.significant)] if adjusted else []),
        Cell(show_sign(pair.effect.mean)),
        Cell(f"{pair.effect.d:.2f}".replace("-", "−")),
        Cell(percent(pair.effect.win_rate)),
    ]


def show_sign(value: float) -> str:
    """A difference of rates in percent, with its sign.

    >>> show_sign(0.0123), show_sign(-0.5), show_sign(0.0)
    ('+1.23', '−50.00', '0.00')
    """
    wish = current_style().digits
    text = f"{100 * value:+.{2 if wish is None else wish}f}".replace("-", "−")
    return text if text[1:].strip("0.") else text[1:]


def p_value(p: float) -> str:
    """A p-value with four decimals.

    >>> p_value(0.01234), p_value(0.00001)
    ('0.0123', '<0.0001')
    """
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def outcome_table(where: Sequence[Differences], comparison: Comparison) -> Table:
    """In how many documents each system is better, worse and equal."""
    title = comparison.title(where[0].metric)
    columns = (
        *(Column("System"), Column("Against")),
        *(Column(name, numeric=True) for name in ("better", "worse", "equal", "Difference")),
    )
    rows = tuple(
        (
            *(Cell(name) for name in one.systems),
            *(Cell(f"{one.outcomes[name]:,}") for name in ("win", "loss", "tie")),
            Cell(show_sign(one.difference)),
        )
        for one in where
    )
    return Table(columns, (rows,), caption=f"Documents won and lost, by {title}")


def driver_table(where: Differences, comparison: Comparison) -> Table:
    """The documents that make most of a difference."""
    one, other = where.systems
    columns = (
        Column("Document"),
        *(Column(name, numeric=True) for name in (one, other, "Difference", "Influence")),
    )
    rows = tuple(
        (
            Cell(document.id),
            Cell(percent(document.first)),
            Cell(percent(document.second)),
            Cell(show_sign(document.difference)),
            Cell(show_sign(document.influence)),
        )
        for document in where.drivers(_SHOWN)
    )
    title = comparison.title(where.metric)
    return Table(columns, (rows,), caption=f"What drives {one} – {other}, by {title}")


def turning_sentences(where: Differences) -> list[str]:
    """What would turn the order round, and where it is turned."""
    one, other = where.systems
    lines = []
    if where.turning_set is not None:
        few = where.turning_set
        names = ", ".join(few[:5]) + (", …" if len(few) > 5 else "")
        absent = plural(len(few), "document")
        lines.append(f"{one} – {other}: without {absent} the order turns round: {names}.")
    for part in where.turned_slices:
        scores = f"{percent(part.first)} against {percent(part.second)}"
        value = f"{part.feature} {part.value}"
        lines.append(f"{one} – {other}: in {value} the order is turned round, {scores}.")
    return lines


def tau_table(comparison: Comparison) -> Table:
    """Kendall's τ between metrics."""
    metrics, tau = comparison.metrics, comparison.agreement.tau
    titles = [comparison.title(metric) for metric in metrics]
    rows = tuple(
        (Cell(title, label=True), *(Cell(_tau(tau(one, other))) for other in metrics))
        for title, one in zip(titles, metrics, strict=True)
    )
    columns = (Column("τ"), *(Column(title, numeric=True) for title in titles))
    return Table(columns, (rows,), caption="Do the metrics agree on the order? Kendall's τ")


def _tau(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}".replace("-", "−")


def disagreements(comparison: Comparison) -> list[str]:
    """The pairs of systems on which metrics disagree, each once."""
    orders: dict[tuple[str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for pair in comparison.agreement.pairs:
        for above, below in pair.disagreements:
            turned = (below, above) in orders
            sides = orders.setdefault((below, above) if turned else (above, below), ({}, {}))
            sides[turned][comparison.title(pair.first)] = None
            sides[not turned][comparison.title(pair.second)] = None
    return [
        f"{one} is above {other} by {', '.join(those)}, below it by {', '.join(others)}."
        for (one, other), (those, others) in orders.items()
    ] or ["All metrics put the systems in the same order."]


def power_sentences(powers: Sequence[Power], metric: str) -> list[str]:
    """How many documents it would take."""
    if not powers:
        return [f"Every difference by {metric} is significant: no more documents are needed."]
    return [
        f"{' – '.join(power.systems)} ({show_sign(power.difference)}): {power}." for power in powers
    ]

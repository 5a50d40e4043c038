"""Comparisons of systems, on one corpus or over several, in every format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from corefeval._version import __version__
from corefeval.diagnostics import UsageError, plural
from corefeval.display import Row
from corefeval.output.differences import (
    disagreements,
    driver_table,
    join_letters,
    letters,
    outcome_table,
    p_value,
    pair_table,
    power_sentences,
    raise_letters,
    show_sign,
    tau_table,
    turning_sentences,
)
from corefeval.output.tables import (
    RATES,
    STYLE,
    Cell,
    Cells,
    Column,
    Columns,
    Sheet,
    SoloDrawing,
    Table,
    feature_heading,
    number_columns,
    percent,
    row_label,
    table_of,
    titled_rows,
)

if TYPE_CHECKING:
    from corefeval.stats import Comparison
    from corefeval.stats.significance import CorporaOptions
    from corefeval.stats.standings import CorporaComparison, CorporaDifference, Standing

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
_SHOWN_CORPORA = 4  # corpora that are named in a cell


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
        grid = grid_tables(comparison) if comparison.effects else ()
        parts = (*grid, *tables, legend(comparison, compact=compact), *between, *additions)
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

    def list_rows(self, comparison: Comparison) -> list[Row]:
        """Rows of documents (with `differences`), of pairs (with `pairs`), or of scores."""
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
        if comparison.effects:
            from corefeval.stats.grids import cells_of

            effects = comparison.effects.items()
            record["cells"] = cells_of(comparison)
            record["effects"] = {
                factor: [row._asdict() for row in rows] for factor, rows in effects
            }
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
        table_of(
            (*_head_columns(comparison), *_metric_columns(comparison, group, compact)),
            _rows(comparison, group, compact),
        )
        for group in groups
    ]


def grid_tables(comparison: Comparison) -> tuple[Table, Table, str]:
    """Levels of the first factor by those of the others, what levels are worth, and the signs."""
    from corefeval.stats.grids import MARK, cells_of

    cells = cells_of(comparison)
    parts = [name.partition(MARK) for name in cells]
    levels, contexts = (dict.fromkeys(part[place] for part in parts) for place in (0, 2))
    rows = [
        (level, *(percent(v) for c in contexts for v in cells[f"{level}{MARK}{c}"].values()))
        for level in levels
    ]
    headings = (RATES.get(comparison.rate, comparison.rate), "strict", "unread")
    columns = [column for name in contexts for column in number_columns(*headings, group=name)]
    first = next(iter(comparison.effects))
    caption = comparison.title(comparison.main_metric())
    grid = table_of((first, *columns), rows, caption=caption)
    effects = [
        (factor, f"{row.first} – {row.second}", show_sign(row.difference) + "‡" * row.firm,
         p_value(row.p), p_value(row.adjusted))
        for factor, differences in comparison.effects.items() for row in differences
    ]  # fmt: skip
    titles: Columns = ("Factor", "Levels", *number_columns("Difference", "p", "adjusted p"))
    signs = "‡ firm: significant in the same direction whether lost mentions are left out or kept."
    return grid, table_of(titles, effects, caption="Effects"), signs


def stacked_table(comparison: Comparison) -> Table:
    """Metrics below each other, where their rates have no room side by side."""
    sections = (
        titled_rows(row_label(comparison.title(metric)), _rows(comparison, [metric], compact=False))
        for metric in comparison.metrics
    )
    columns = _metric_columns(comparison, comparison.metrics[:1], compact=False)
    plain = (column._replace(group="") for column in columns)
    return table_of(("Metric", *_head_columns(comparison), *plain), *sections)


def slice_table(
    feature: str, values: Mapping[str, Comparison], overall: Comparison, *, compact: bool
) -> Table:
    """Systems by metrics for each value of a feature, a section each."""
    first = next(iter(values.values()))
    sections = (
        titled_rows(row_label(value), _rows(comparison, comparison.metrics, compact))
        for value, comparison in values.items()
    )
    columns: Columns = (*_head_columns(overall), *_metric_columns(first, first.metrics, compact))
    return table_of((feature_heading(feature), *columns), *sections, caption=f"By {feature}")


def _head_columns(comparison: Comparison) -> tuple[str, ...]:
    return ("", "System") if comparison.baseline is None else ("System",)


def _metric_columns(comparison: Comparison, metrics: Sequence[str], compact: bool) -> list[Column]:
    """The columns of some metrics: rates, and ranks where they have room of their own."""
    columns = []
    for metric in metrics:
        title, rates = comparison.title(metric), _choose_rates(comparison, metric)
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


def _choose_rates(comparison: Comparison, metric: str) -> tuple[str, ...]:
    """The rates of a metric that are shown: the one that is compared, and others of the style."""
    wishes, compared_rate = STYLE.get().rates, comparison.rate
    if wishes and compared_rate not in wishes:
        raise UsageError(f"the rates must include {compared_rate}, which is compared")
    available = RATES if _is_stacked() else comparison.rates_of(metric, comparison.systems[0])
    return tuple(rate for rate in wishes if rate in available) or (compared_rate,)


def _is_stacked() -> bool:
    return STYLE.get().width == "column" and len(STYLE.get().rates) > 1


def _rows(comparison: Comparison, metrics: Sequence[str], compact: bool) -> list[Cells]:
    names = letters(comparison.systems)
    by_metric = [_metric_cells(comparison, metric, names, compact) for metric in metrics]
    rows: list[Cells] = []
    for place, system in enumerate(comparison.systems):
        letter = (names[system],) if comparison.baseline is None else ()
        cells = (cell for column in by_metric for cell in column[place])
        rows.append((*letter, system, *cells))
    return rows


def _metric_cells(
    comparison: Comparison, metric: str, names: dict[str, str], compact: bool
) -> list[tuple[Cell, ...]]:
    """The cells of one metric, system by system."""
    scores = {system: percent(score) for system, score in comparison.scores[metric].items()}
    best = comparison.best(metric)
    marks = {system: _mark_better(comparison, metric, system, names) for system in scores}
    width = max(map(len, scores.values()))
    room = max(map(len, marks.values()))
    ranks = {} if comparison.baseline is not None else comparison.ranks(metric)
    shown = _choose_rates(comparison, metric)
    cells = []
    for system, score in scores.items():
        number, bold = score.rjust(width), system in best
        if not compact:
            rank = (Cell(str(ranks[system])),) if ranks else ()
            score_cells = (Cell(score, bold, marks[system]), *rank)
        else:
            raised = raise_letters(marks[system])
            behind = f"{raised:{room}} {ranks[system]}" if ranks else raised
            score_cells = (Cell(number + behind, bold),)
        other_rates = {} if len(shown) == 1 else comparison.rates_of(metric, system)
        row = (
            score_cells if r == comparison.rate else (Cell(percent(other_rates.get(r))),)
            for r in shown
        )
        cells.append(tuple(cell for part in row for cell in part))
    return cells


def _mark_better(comparison: Comparison, metric: str, system: str, names: dict[str, str]) -> str:
    if comparison.baseline is not None:
        if comparison.is_better(metric, system, comparison.baseline):
            return BETTER
        return WORSE if comparison.is_better(metric, comparison.baseline, system) else ""
    return join_letters([names[beaten] for beaten in comparison.better_than(metric, system)])


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
    rates = [RATES[name] for name in STYLE.get().rates] or [rate]
    shown = " and ".join(filter(None, (", ".join(rates[:-1]), rates[-1])))
    bold = "the best in bold" if len(rates) == 1 else f"the best {rate} in bold"
    units = plural(len(comparison.document_ids), comparison.unit)
    start = f"{shown} on {units}, {bold}."
    if comparison.unit == "segment":
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


@dataclass(frozen=True)
class CorporaDrawing(SoloDrawing):
    """A comparison over corpora by one metric (the first), in a group of them or all."""

    results: Sequence[CorporaComparison]
    metric: str | None = None
    group: str = ""

    def _standing(self, comparison: CorporaComparison) -> Standing[CorporaDifference]:
        return comparison.standing(self.metric or comparison.metrics[0], self.group)

    def sheet_of(self, comparison: CorporaComparison, format: str) -> Sheet:
        """Ranks with averages and intervals, pairs best first, and what the columns mean."""
        standing = self._standing(comparison)
        tables = (
            standing_table(standing, comparison.options),
            standing_pair_table(standing, comparison),
        )
        return Sheet(
            (*tables, standing_legend(standing, comparison)),
            (),
            (comparison.signature,),
            label="standings",
        )

    def list_rows(self, comparison: CorporaComparison) -> list[Row]:
        """One row for each pair, of the metric and group that are shown."""
        shown = self._standing(comparison)
        rows = comparison.rows()
        return [r for r in rows if (r["metric"], r["group"]) == (shown.metric, shown.group)]


def standing_table(standing: Standing[CorporaDifference], options: CorporaOptions) -> Table:
    """Systems, best first: rank, average and interval."""
    rows = []
    for name in standing.order:
        average, interval = standing.scores[name], "–".join(map(percent, standing.intervals[name]))
        rows.append((name, str(standing.ranks[name]), percent(average), interval))
    columns: Columns = (
        "System",
        *number_columns("Rank", "Average", f"{100 * options.level:g} % CI"),
    )
    group = f", {standing.group}" if standing.group else ""
    caption = f"{standing.metric}{group}, bootstrap of {', '.join(options.resample)}"
    return table_of(columns, rows, caption=caption)


def standing_pair_table(
    standing: Standing[CorporaDifference], comparison: CorporaComparison
) -> Table:
    """Every pair, the better one first: the difference, and on how many corpora it holds."""
    pairs = [pair if pair.difference >= 0 else pair.reversed for pair in standing.pairs]
    pairs.sort(key=lambda pair: [*map(standing.order.index, (pair.first, pair.second))])
    headings = ("Difference", f"{100 * comparison.options.level:g} % CI", "adjusted p")
    columns: Columns = (
        *("System", "Against"),
        *number_columns(*headings),
        *number_columns("better", "worse", group="corpora"),
        Column("which", "corpora"),
    )
    caption = f"Pairs, paired bootstrap of {', '.join(comparison.options.resample)}"
    return table_of(columns, map(_pair_row, pairs), caption=caption)


def _pair_row(pair: CorporaDifference) -> Cells:
    """A pair of systems, and the corpora on which one is better."""
    low, high = pair.interval
    better, worse = pair.better, pair.worse
    named = [*better.corpora, *(f"not {name}" for name in worse.corpora)]
    if len(named) > _SHOWN_CORPORA:
        named[_SHOWN_CORPORA:] = [f"and {len(named) - _SHOWN_CORPORA} more"]
    return (
        pair.first,
        pair.second,
        Cell(show_sign(pair.difference), bold=pair.significant),
        f"{show_sign(low)} to {show_sign(high)}",
        Cell(p_value(pair.adjusted_p), bold=pair.significant),
        *(f"{outcome.count}/{outcome.tested}" for outcome in (better, worse)),
        ", ".join(named),
    )


def standing_legend(standing: Standing[CorporaDifference], comparison: CorporaComparison) -> str:
    """What ranks, intervals and numbers of corpora mean."""
    options = comparison.options
    return (
        f"Averages over {plural(len(standing.corpora), 'corpus')}. Differences in bold are "
        f"significant at {options.alpha:g} ({options.trials:,} trials), by a paired "
        f"{options.question}; systems of the same rank do not differ significantly. “better” "
        "and “worse” count the corpora on which, at the least, the first system is significantly "
        f"better or worse than the second ({options.combination.title()} on paired randomization "
        "tests); “which” names these corpora (Holm)."
    )

"""Tables of pairs of systems, of the documents where they differ, and of agreeing metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from corefeval.diagnostics import plural
from corefeval.output.tables import (
    RAISED,
    STYLE,
    Cell,
    Cells,
    Column,
    Columns,
    Table,
    number_columns,
    percent,
    row_label,
    table_of,
    titled_rows,
)

if TYPE_CHECKING:
    from corefeval.stats import Comparison, PairDifference
    from corefeval.stats.pairs import Differences, Power

_SHOWN = 10  # documents that drive a difference
_PAIR = 24  # characters of two names that fit side by side in a terminal


def letters(systems: Sequence[str]) -> dict[str, str]:
    """A letter for each system: a to z, then aa and so on.

    >>> letters(["old", "new"])
    {'old': 'a', 'new': 'b'}
    """
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    names = [*alphabet, *(first + second for first in alphabet for second in alphabet)]
    return dict(zip(systems, names, strict=False))


def join_letters(names: Sequence[str]) -> str:
    """Letters of systems as a mark, with commas where one is of two letters."""
    return ("" if all(len(name) == 1 for name in names) else ",").join(names)


def raise_letters(mark: str) -> str:
    """A mark in small raised letters, as far as there are any."""
    return "".join(RAISED.get(letter, letter) for letter in mark)


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
    sections: list[list[Cells]] = []
    for metric in comparison.metrics:
        segment_scores = comparison.segment_scores.get(metric)
        rows = [
            (
                *((f"{names[pair.first]} – {names[pair.second]}",) if several else ()),
                *_pair_cells(pair, adjusted, segment_scores),
            )
            for pair in comparison.pairs
            if pair.metric == metric
        ]
        sections.append(titled_rows(row_label(comparison.title(metric)), rows))
    if not several:
        sections = [[row for section in sections for row in section]]
    first = comparison.pairs[0]
    caption = "Differences" if several else f"{first.first} – {first.second}"
    caption += ", systems by their letters" if lettered else ""
    columns = _pair_columns(comparison, several, adjusted)
    return table_of(columns, *sections, caption=caption)


def _pair_columns(comparison: Comparison, several: bool, adjusted: bool) -> list[Column | str]:
    sides = ("first", "second") if comparison.segment_scores else ()
    units = plural(len(comparison.document_ids), comparison.unit)
    headings = ["Difference", f"{100 * comparison.level:g} % CI", "p"]
    headings += ["adjusted p"] if adjusted else []
    return [
        *(("Metric", "Systems") if several else ("Metric",)),
        *number_columns(*sides, group=units),
        *number_columns(*headings),
        *number_columns("mean", "d", "win rate", group=f"by {comparison.unit}"),
    ]


def _pair_cells(pair: PairDifference, adjusted: bool, scores: Mapping[str, float] | None) -> Cells:
    low, high = pair.interval
    sides = () if scores is None else (scores[pair.first], scores[pair.second])
    return [
        *map(percent, sides),
        Cell(show_sign(pair.difference), bold=pair.significant),
        f"{show_sign(low)} to {show_sign(high)}",
        Cell(p_value(pair.p), bold=pair.significant and not adjusted),
        *([Cell(p_value(pair.adjusted_p), bold=pair.significant)] if adjusted else []),
        show_sign(pair.effect.mean),
        f"{pair.effect.d:.2f}".replace("-", "−"),
        percent(pair.effect.win_rate),
    ]


def show_sign(value: float) -> str:
    """A difference of rates in percent, with its sign.

    >>> show_sign(0.0123), show_sign(-0.5), show_sign(0.0)
    ('+1.23', '−50.00', '0.00')
    """
    wish = STYLE.get().digits
    text = f"{100 * value:+.{2 if wish is None else wish}f}".replace("-", "−")
    return text if text[1:].strip("0.") else text[1:]


def p_value(p: float) -> str:
    """A p-value with four decimals.

    >>> p_value(0.01234), p_value(0.00001)
    ('0.0123', '<0.0001')
    """
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def outcome_table(all_differences: Sequence[Differences], comparison: Comparison) -> Table:
    """In how many documents each system is better, worse and equal."""
    title = comparison.title(all_differences[0].metric)
    rows = [
        (
            *differences.systems,
            *(f"{differences.outcomes[name]:,}" for name in ("win", "loss", "tie")),
            show_sign(differences.difference),
        )
        for differences in all_differences
    ]
    columns: Columns = (
        "System",
        "Against",
        *number_columns("better", "worse", "equal", "Difference"),
    )
    return table_of(columns, rows, caption=f"Documents won and lost, by {title}")


def driver_table(differences: Differences, comparison: Comparison) -> Table:
    """The documents that make most of a difference."""
    first, second = differences.systems
    rows = [
        (
            document.id,
            percent(document.first),
            percent(document.second),
            show_sign(document.difference),
            show_sign(document.influence),
        )
        for document in differences.drivers(_SHOWN)
    ]
    columns: Columns = ("Document", *number_columns(first, second, "Difference", "Influence"))
    title = comparison.title(differences.metric)
    return table_of(columns, rows, caption=f"What drives {first} – {second}, by {title}")


def turning_sentences(differences: Differences) -> list[str]:
    """Which documents to leave out to reverse the order, and the slices where it is reversed."""
    first, second = differences.systems
    lines = []
    if differences.turning_set is not None:
        few = differences.turning_set
        names = ", ".join(few[:5]) + (", …" if len(few) > 5 else "")
        absent = plural(len(few), "document")
        lines.append(f"{first} – {second}: without {absent} the order is reversed: {names}.")
    for part in differences.turned_slices:
        scores = f"{percent(part.first)} against {percent(part.second)}"
        value = f"{part.feature} {part.value}"
        lines.append(f"{first} – {second}: in {value} the order is reversed, {scores}.")
    return lines


def tau_table(comparison: Comparison) -> Table:
    """Kendall's τ between metrics."""
    metrics, tau = comparison.metrics, comparison.agreement.tau
    titles = [comparison.title(metric) for metric in metrics]
    rows: list[Cells] = [
        (
            row_label(title),
            *(
                "–" if math.isnan(value) else f"{value:.2f}".replace("-", "−")
                for value in (tau(row_metric, column_metric) for column_metric in metrics)
            ),
        )
        for title, row_metric in zip(titles, metrics, strict=True)
    ]
    caption = "Do the metrics agree on the order? Kendall's τ"
    return table_of(("τ", *number_columns(*titles)), rows, caption=caption)


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
        f"{first} is above {second} by {', '.join(titles_above)}, "
        f"below it by {', '.join(titles_below)}."
        for (first, second), (titles_above, titles_below) in orders.items()
    ] or ["All metrics put the systems in the same order."]


def power_sentences(powers: Sequence[Power], metric: str) -> list[str]:
    """How many documents it would take to make each difference significant."""
    if not powers:
        return [f"Every difference by {metric} is significant: no more documents are needed."]
    return [
        f"{' – '.join(power.systems)} ({show_sign(power.difference)}): {power}." for power in powers
    ]

"""Estimates from samples in every format: scores with intervals, differences, what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from corefeval.display import Row
from corefeval.output.differences import p_value, show_sign
from corefeval.output.tables import (
    RATES,
    Columns,
    Sheet,
    SoloDrawing,
    number_columns,
    percent,
    row_label,
    table_of,
    titled_rows,
)
from corefeval.stats.significance import adjust

if TYPE_CHECKING:
    from corefeval.sampling.estimates import Estimates

_ABOUT = "Intervals are about these texts, not about others of their kind: see compare for those."
_AGREEMENT = {
    "rows": "{:,} rows answered by all of them",
    "agreed": "{:,} answered alike",
    "alpha": "Krippendorff's α = {:.3f}",
    "no_mention": "agreement on what is no mention {:.2%}",
    "b3": "B³ F1 of their names {:.2%}",
}
_TITLES = {"b3": "B³", "lea": "LEA", "muc": "MUC", "mentions": "Mentions"}


@dataclass(frozen=True)
class EstimatesDrawing(SoloDrawing):
    """Estimates of systems; with a `margin` in points, also the draws that it needs."""

    results: Sequence[Estimates]
    margin: float | None = None

    def sheet_of(self, estimates: Estimates, format: str) -> Sheet:
        """A table of scores, one of differences, and sentences on the rest."""
        rows = self.list_rows(estimates)
        counts = {"counted": "Draws"}
        if self.margin is not None:
            counts["needed"] = f"Draws for ±{self.margin:g}"
        scores = [
            titled_rows(
                row_label(_TITLES[metric]),
                [
                    (
                        *(title, row["system"], *_show_numbers(row, percent)),
                        *("–" if row[count] is None else f"{row[count]:,}" for count in counts),
                    )
                    for rate, title in RATES.items()
                    for row in rows
                    if (row["metric"], row["rate"]) == (metric, rate)
                ],
            )
            for metric in dict.fromkeys(row["metric"] for row in rows)
        ]
        columns = number_columns("Score", "±", "Interval", *counts.values())
        parts = [table_of(("Metric", "Rate", "Response", *columns), *scores)]
        if differences := [*_show_differences(estimates)]:
            columns = number_columns("Difference", "±", "Interval", "p")
            caption = "Differences (* significant)"
            headings: Columns = ("Metric", "Rate", "Responses", *columns)
            parts.append(table_of(headings, differences, caption=caption))
        about = [f"{estimates.n:,} answered draws of {estimates.frame:,} ({estimates.design})"]
        if agreement := estimates.agreement:
            phrases = [_AGREEMENT[name].format(value) for name, value in agreement.items()]
            about += [f"{len(estimates.parts)} people: {', '.join(phrases)}"]
        about += [f"no {key}: {reason}" for key, reason in estimates.refused.items()]
        return Sheet(tuple(parts), (*about, _ABOUT), (estimates.signature,))

    def list_rows(self, estimates: Estimates) -> list[Row]:
        """A row for each system, metric and rate."""
        return estimates.rows(margin=self.margin and self.margin / 100)

    def record_of(self, estimates: Estimates) -> object:
        """An object with everything."""
        return estimates.as_dict(self.margin and self.margin / 100)


def _show_numbers(record: Row, show: Callable[[float], str]) -> list[str]:
    """The value, error and interval of a record."""
    value, error, low, high = (record[name] for name in ("value", "error", "low", "high"))
    return [
        "–" if value is None else show(value),
        "–" if error is None else percent(error),
        "–" if low is None else f"{show(low)} to {show(high)}",
    ]


def _show_differences(estimates: Estimates) -> Iterator[list[str]]:
    """Rows of differences, with a mark where p is small after Holm's correction over pairs."""
    rate_of = attrgetter("metric", "rate")
    for (metric, rate), group in groupby(estimates.differences, rate_of):
        entries = [*group]
        adjusted = adjust([1.0 if entry.p is None else entry.p for entry in entries]).tolist()
        for entry, p in zip(entries, adjusted, strict=True):
            shown = "–" if entry.p is None else p_value(entry.p) + "*" * (p < 1 - estimates.level)
            names = [_TITLES[metric], RATES[rate], f"{entry.first} – {entry.second}"]
            yield [*names, *_show_numbers(entry.as_dict(), show_sign), shown]

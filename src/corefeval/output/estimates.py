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

    @property
    def _width(self) -> float | None:
        return None if self.margin is None else self.margin / 100

    def sheet_of(self, estimates: Estimates, format: str) -> Sheet:
        """A table of scores, one of differences, and sentences on the rest."""
        records = self.list_rows(estimates)
        needed = () if self.margin is None else ("needed",)
        scores = [
            titled_rows(
                row_label(_TITLES[metric]),
                [
                    (title, row["system"], *_show_interval(row, "counted", *needed))
                    for rate, title in RATES.items()
                    for row in records
                    if (row["metric"], row["rate"]) == (metric, rate)
                ],
            )
            for metric in dict.fromkeys(row["metric"] for row in records)
        ]
        headings = (f"Draws for ±{self.margin:g}",) if needed else ()
        columns = number_columns("Score", "±", "Interval", "Draws", *headings)
        parts = [table_of(("Metric", "Rate", "Response", *columns), *scores)]
        if rows := [*_show_differences(estimates)]:
            columns = number_columns("Difference", "±", "Interval", "p")
            caption = "Differences (* significant)"
            parts.append(table_of(("Metric", "Rate", "Responses", *columns), rows, caption=caption))
        about = [f"{estimates.n:,} answered draws of {estimates.frame:,} ({estimates.design})"]
        if agreement := estimates.agreement:
            parts_of = [_AGREEMENT[name].format(value) for name, value in agreement.items()]
            about += [f"{len(estimates.annotators)} people: {', '.join(parts_of)}"]
        about += [f"no {key}: {reason}" for key, reason in estimates.refused.items()]
        return Sheet(tuple(parts), (*about, _ABOUT), (estimates.signature,))

    def list_rows(self, estimates: Estimates) -> list[Row]:
        """A row for each system, metric and rate."""
        return estimates.rows(margin=self._width)

    def record_of(self, estimates: Estimates) -> object:
        """An object with everything."""
        return estimates.as_dict(self._width)


def _show_interval(record: Row, *counts: str, show: Callable[[float], str] = percent) -> list[str]:
    """The value, error and interval of a record, and its counts."""
    value, low, high = (
        "–" if record[name] is None else show(record[name]) for name in ("value", "low", "high")
    )
    error = "–" if record["error"] is None else percent(record["error"])
    interval = "–" if "–" in (low, high) else f"{low} to {high}"
    shown = ("–" if record[name] is None else f"{record[name]:,}" for name in counts)
    return [value, error, interval, *shown]


def _show_differences(estimates: Estimates) -> Iterator[tuple[str, ...]]:
    """Rows of differences, with a mark where p is small after Holm's correction over pairs."""
    for (metric, rate), group in groupby(estimates.differences, attrgetter("metric", "rate")):
        entries = [*group]
        adjusted = adjust([1.0 if entry.p is None else entry.p for entry in entries])
        for entry, limit in zip(entries, adjusted.tolist(), strict=True):
            p = "–" if entry.p is None else p_value(entry.p) + "*" * (limit < 1 - estimates.level)
            interval = _show_interval(entry.as_dict(), show=show_sign)
            yield _TITLES[metric], RATES[rate], f"{entry.first} – {entry.second}", *interval, p

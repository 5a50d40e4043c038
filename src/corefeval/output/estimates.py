"""Estimates from samples in every format: scores with intervals, differences, what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from corefeval.display import Row
from corefeval.output.tables import (
    RATES,
    Cell,
    Sheet,
    SoloDrawing,
    number_columns,
    percent,
    row_label,
    table_of,
    titled_rows,
)

if TYPE_CHECKING:
    from corefeval.sampling.estimates import Difference, Estimate, Estimates

_ABOUT = "Intervals are about these texts, not about others of their kind: see compare for those."
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
        sections: dict[str, dict[str, list[tuple[str, Estimate]]]] = {}
        for system, metrics in estimates.items():
            for metric, rates in metrics.items():
                for rate, entry in rates.items():
                    by_rate = sections.setdefault(metric, {})
                    by_rate.setdefault(RATES[rate], []).append((system, entry))
        scores = [
            titled_rows(
                row_label(_TITLES[metric]),
                [row for rate, rows in rates.items() for row in self._show_rate(rate, rows)],
            )
            for metric, rates in sections.items()
        ]
        needed = () if self.margin is None else (f"Draws for ±{self.margin:g}",)
        columns = number_columns("Score", "±", "Interval", "Draws", *needed)
        parts = [table_of(("Metric", "Rate", "Response", *columns), *scores)]
        if estimates.differences:
            rows = [_show_difference(entry) for entry in estimates.differences]
            columns = number_columns("Difference", "±", "Interval", "p")
            headings = "Metric", "Rate", "Responses"
            caption = "Differences (* significant)"
            parts.append(table_of((*headings, *columns), rows, caption=caption))
        about = [f"{estimates.n:,} answered draws of {estimates.frame:,} ({estimates.design})"]
        about += [f"{name}: {value:.4g}" for name, value in (estimates.agreement or {}).items()]
        about += [f"no {key}: {reason}" for key, reason in estimates.refused.items()]
        return Sheet(tuple(parts), (*about, _ABOUT), (estimates.signature,))

    def _show_rate(
        self, rate: str, rows: Sequence[tuple[str, Estimate]]
    ) -> list[tuple[Cell | str, ...]]:
        cells: list[tuple[Cell | str, ...]] = []
        for system, entry in rows:
            needed = () if self._width is None else (_count(entry.needed(self._width)),)
            numbers = _show_interval(entry.value, entry.error, entry.low, entry.high)
            cells.append((rate, system, *numbers, _count(entry.counted), *needed))
        return cells

    def list_rows(self, estimates: Estimates) -> list[Row]:
        """A row for each system, metric and rate."""
        return estimates.rows(margin=self._width)

    def record_of(self, estimates: Estimates) -> object:
        """An object with everything."""
        return estimates.as_dict(self._width)


def _count(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def _show_interval(*numbers: float | None) -> tuple[str, str, str]:
    value, error, low, high = ("–" if number is None else percent(number) for number in numbers)
    return value, error, "–" if "–" in (low, high) else f"{low} to {high}"


def _show_difference(entry: Difference) -> tuple[Cell | str, ...]:
    numbers = _show_interval(entry.value, entry.error, entry.low, entry.high)
    p = "–" if entry.p is None else f"{entry.p:.4f}{'*' * entry.is_significant}"
    names = f"{entry.first} − {entry.second}"
    return _TITLES[entry.metric], RATES[entry.rate], names, *numbers, p

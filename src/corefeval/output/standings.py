"""Systems over corpora in every format: ranks and averages, and every pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from corefeval.diagnostics import plural
from corefeval.output.differences import p_value, show_sign
from corefeval.output.drawing import SoloDrawing
from corefeval.output.tables import Cell, Column, Sheet, Table, percent
from corefeval.tabular import Row

if TYPE_CHECKING:
    from corefeval.stats.standings import CorporaComparison, CorporaDifference, Standing

_SHOWN = 4  # corpora that are named in a cell


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
            standing_table(standing, comparison.options.level),
            pair_table(standing, comparison),
        )
        return Sheet(
            (*tables, legend(standing, comparison)), (), (comparison.signature,), label="standings"
        )

    def rows(self) -> list[Row]:
        """One row for each pair, of the metric and group that are shown."""
        places = {
            (standing.metric, standing.group) for standing in map(self._standing, self.results)
        }
        rows = [row for comparison in self.results for row in comparison.rows()]
        return [row for row in rows if (row["metric"], row["group"]) in places]


def standing_table(standing: Standing[CorporaDifference], level: float) -> Table:
    """Systems, best first: rank, average and interval."""
    order = sorted(standing.scores, key=lambda name: -standing.scores[name])
    headings = ("Rank", "Average", f"{100 * level:g} % CI")
    columns = (Column("System"), *(Column(heading, numeric=True) for heading in headings))
    rows = []
    for name in order:
        low, high = standing.intervals[name]
        numbers = (
            str(standing.ranks[name]),
            percent(standing.scores[name]),
            f"{percent(low)}–{percent(high)}",
        )
        rows.append((Cell(name), *map(Cell, numbers)))
    where = f", {standing.group}" if standing.group else ""
    return Table(columns, (tuple(rows),), caption=f"{standing.metric}{where}")


def pair_table(standing: Standing[CorporaDifference], comparison: CorporaComparison) -> Table:
    """Every pair, the better one first: the difference, and on how many corpora it holds."""
    pairs = [pair if pair.difference >= 0 else pair.reversed for pair in standing.pairs]
    order = sorted(standing.scores, key=lambda name: -standing.scores[name])
    pairs.sort(key=lambda pair: (order.index(pair.first), order.index(pair.second)))
    columns = (
        *(Column(heading) for heading in ("System", "Against")),
        Column("Difference", numeric=True),
        Column(f"{100 * comparison.options.level:g} % CI", numeric=True),
        Column("adjusted p", numeric=True),
        *(Column(heading, "corpora", numeric=True) for heading in ("better", "worse")),
        Column("which", "corpora"),
    )
    return Table(columns, (tuple(map(_pair_row, pairs)),), caption="Pairs")


def _pair_row(pair: CorporaDifference) -> tuple[Cell, ...]:
    low, high = pair.interval
    better, worse = pair.better, pair.worse
    named = [*better.corpora, *(f"not {name}" for name in worse.corpora)]
    remainder = [f"and {len(named) - _SHOWN} more"] if len(named) > _SHOWN else []
    return (
        Cell(pair.first),
        Cell(pair.second),
        Cell(show_sign(pair.difference), bold=pair.significant),
        Cell(f"{show_sign(low)} to {show_sign(high)}"),
        Cell(p_value(pair.adjusted_p), bold=pair.significant),
        *(Cell(f"{outcome.count}/{outcome.tested}") for outcome in (better, worse)),
        Cell(", ".join([*named[:_SHOWN], *remainder])),
    )


def legend(standing: Standing[CorporaDifference], comparison: CorporaComparison) -> str:
    """What ranks, intervals and numbers of corpora mean."""
    options = comparison.options
    drawn = ", ".join(options.resample)
    return (
        f"Averages over {plural(len(standing.corpora), 'corpus')}. Differences in bold are "
        f"significant at {options.alpha:g} (bootstrap of {drawn}, {options.trials:,} trials); "
        "systems of the same rank do not differ significantly. better and worse say on how many "
        "corpora, at least, the first system is significantly better or worse than the second "
        f"({options.combination.title()} on paired randomization tests), and which names these "
        "corpora (Holm)."
    )

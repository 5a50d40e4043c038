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

    things: Sequence[CorporaComparison]
    metric: str | None = None
    group: str = ""

    def _standing(self, thing: CorporaComparison) -> Standing[CorporaDifference]:
        return thing.standing(self.metric or thing.metrics[0], self.group)

    def sheet_of(self, thing: CorporaComparison, format: str) -> Sheet:
        """Ranks with averages and intervals, pairs best first, and what the columns mean."""
        standing = self._standing(thing)
        tables = (standing_table(standing, thing.options.level), pair_table(standing, thing))
        return Sheet((*tables, legend(standing, thing)), (), (thing.signature,), label="standings")

    def rows(self) -> list[Row]:
        """One row for each pair, of the metric and group that are shown."""
        places = {(one.metric, one.group) for one in map(self._standing, self.things)}
        rows = [row for thing in self.things for row in thing.rows()]
        return [row for row in rows if (row["metric"], row["group"]) in places]


def standing_table(standing: Standing[CorporaDifference], level: float) -> Table:
    """Systems, best first: rank, average and interval."""
    order = sorted(standing.scores, key=lambda name: -standing.scores[name])
    headings = ("Rank", "Average", f"{100 * level:g} % CI")
    columns = (Column("System"), *(Column(one, numeric=True) for one in headings))
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


def pair_table(standing: Standing[CorporaDifference], thing: CorporaComparison) -> Table:
    """Every pair, the better one first: the difference, and on how many corpora it holds."""
    pairs = [one if one.difference >= 0 else one.reversed for one in standing.pairs]
    order = sorted(standing.scores, key=lambda name: -standing.scores[name])
    pairs.sort(key=lambda one: (order.index(one.first), order.index(one.second)))
    columns = (
        *(Column(one) for one in ("System", "Against")),
        Column("Difference", numeric=True),
        Column(f"{100 * thing.options.level:g} % CI", numeric=True),
        Column("adjusted p", numeric=True),
        *(Column(one, "corpora", numeric=True) for one in ("better", "worse")),
        Column("which", "corpora"),
    )
    return Table(columns, (tuple(map(_pair_row, pairs)),), caption="Pairs")


def _pair_row(pair: CorporaDifference) -> tuple[Cell, ...]:
    low, high = pair.interval
    better, worse = pair.better, pair.worse
    named = [*better.corpora, *(f"not {name}" for name in worse.corpora)]
    more = [f"and {len(named) - _SHOWN} more"] if len(named) > _SHOWN else []
    return (
        Cell(pair.first),
        Cell(pair.second),
        Cell(show_sign(pair.difference), bold=pair.significant),
        Cell(f"{show_sign(low)} to {show_sign(high)}"),
        Cell(p_value(pair.adjusted_p), bold=pair.significant),
        *(Cell(f"{one.count}/{one.tested}") for one in (better, worse)),
        Cell(", ".join([*named[:_SHOWN], *more])),
    )


def legend(standing: Standing[CorporaDifference], thing: CorporaComparison) -> str:
    """What ranks, intervals and numbers of corpora mean."""
    options = thing.options
    drawn = ", ".join(options.resample)
    return (
        f"Averages over {plural(len(standing.corpora), 'corpus')}. Differences in bold are "
        f"significant at {options.alpha:g} (bootstrap of {drawn}, {options.trials:,} trials); "
        "systems of the same rank do not differ significantly. better and worse say on how many "
        "corpora, at least, the first system is significantly better or worse than the second "
        f"({options.combination.title()} on paired randomization tests), and which names these "
        "corpora (Holm)."
    )

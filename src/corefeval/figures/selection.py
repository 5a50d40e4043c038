"""Which rows of an experiment a figure or a table shows, and what its curves are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from corefeval.lab import Chart, ExperimentResult
from corefeval.lab.experiments import TINY, Encoding, Row
from corefeval.lab.measurement import RATES, THE_SIX

_WELL_KNOWN = (*THE_SIX, "conll")


def is_share(encoding: Encoding) -> bool:
    """Whether a column holds shares of one, which are shown in percent."""
    return encoding.field in RATES or encoding.title.startswith("share")


def axis_title(encoding: Encoding) -> str:
    """The title with its unit."""
    return f"{encoding.title} (%)" if is_share(encoding) else encoding.title


def shown_value(row: Row, encoding: Encoding) -> object:
    """A cell as it is drawn: shares in percent, with as many digits as one sees."""
    value = row.get(encoding.field)
    if is_share(encoding) and isinstance(value, int | float):
        return round(100 * value, 4)
    return value


def drawn_rows(result: ExperimentResult, chart: Chart) -> list[Row]:
    """The rows of a chart that have something to show."""
    return [row for row in result.select(chart) if row.get(chart.y.field) is not None]


def well_known(rows: Sequence[Row], chart: Chart) -> list[Row]:
    """The rows of the well-known metrics, where a chart has a curve or column for each metric.

    All rows where none of these metrics is there, or where curves are something else.
    """
    if chart.series != "title" and chart.mark != "cell":
        return list(rows)
    few = _WELL_KNOWN if chart.mark == "cell" else THE_SIX
    return [row for row in rows if row["metric"] in few] or list(rows)


def shown_titles(result: ExperimentResult) -> set[str]:
    """The titles of the metrics that tables show where nobody asks for others."""
    return {
        str(row["title"])
        for chart in result.charts
        for row in well_known(drawn_rows(result, chart), chart)
    }


def values_of(rows: Sequence[Mapping[str, object]], column: str) -> list[str]:
    """The different values of a column, in the order of the rows."""
    return list(dict.fromkeys(str(row[column]) for row in rows))


def merged(rows: Sequence[Row], chart: Chart) -> dict[str, str]:
    """For each curve what it is called: curves that lie on each other have one name together.

    B³, CEAFm and LEA are the same for whole entities. Three curves of which only the last can be
    seen would hide that.
    """
    curves: dict[str, dict[tuple[str, str], float]] = {}
    for row in rows:
        point = (str(row.get(chart.facet, "")), str(row[chart.x.field]))
        value = row[chart.y.field]
        if isinstance(value, int | float):
            curves.setdefault(str(row[chart.series]), {})[point] = value
    groups: list[list[str]] = []
    for name, curve in curves.items():
        for group in groups:
            if _alike(curve, curves[group[0]]):
                group.append(name)
                break
        else:
            groups.append([name])
    return {name: " = ".join(group) for group in groups for name in group}


def _alike(one: Mapping[tuple[str, str], float], other: Mapping[tuple[str, str], float]) -> bool:
    return one.keys() == other.keys() and all(abs(one[x] - other[x]) < TINY for x in one)

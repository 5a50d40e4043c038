"""What an experiment gives: tidy data, sentences that are true or not, and how to draw it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from corefeval.diagnostics import Notice, UsageError
from corefeval.tabular import Tabular

TINY = 1e-9  # rates that differ by less are the same

Cell = str | int | float | bool | None
Row = Mapping[str, Cell]
Scale = Literal["quantitative", "ordinal", "nominal"]
Mark = Literal["line", "point", "bar", "cell"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim and whether it holds here; `detail` shows the numbers in words.

    `source` says whose claim it is, where it is not ours.
    """

    text: str
    holds: bool
    numbers: Mapping[str, float] = field(default_factory=dict)
    detail: str = ""
    source: str = ""

    def __str__(self) -> str:
        sentence = f"{'holds' if self.holds else 'does not hold'}: {self.text}"
        return f"{sentence} ({self.detail})" if self.detail else sentence

    def as_dict(self) -> dict[str, object]:
        """All of it, for JSON."""
        return {
            "text": self.text,
            "holds": self.holds,
            "numbers": dict(self.numbers),
            "detail": self.detail,
            "source": self.source,
        }


@dataclass(frozen=True, slots=True)
class Encoding:
    """A column on an axis."""

    field: str
    title: str
    scale: Scale = "quantitative"


F1 = Encoding("f1", "F1")


@dataclass(frozen=True, slots=True)
class Chart:
    """How to draw some of the rows: those that agree with `where`.

    `series` is the column that tells curves apart, `facet` the one that tells panels apart.
    """

    title: str
    x: Encoding
    y: Encoding
    series: str = "title"
    facet: str = ""
    mark: Mark = "line"
    where: Mapping[str, Cell] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, repr=False)
class ExperimentResult(Tabular):
    """An experiment's data (a row for each output and metric), what they say, and how to draw them.

    `settings` is what it takes to get the same again. `notices` say what was left out.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    data: tuple[Row, ...]
    statements: tuple[Finding, ...] = ()
    charts: tuple[Chart, ...] = ()
    settings: Mapping[str, Cell] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()

    def __repr__(self) -> str:
        return f"<{self.name}: {len(self.data)} rows, {len(self.statements)} statements>"

    def where(self, /, **fields: Cell) -> list[Row]:
        """The rows that have these values."""
        return list(matching(self.data, fields))

    def value(self, column: str, /, **fields: Cell) -> float:
        """One number, of the only row that has these values."""
        try:
            return number(self.data, column, **fields)
        except LookupError as error:
            raise UsageError(f"{self.name}: {error.args[0]}") from None

    def shown_by(self, chart: Chart) -> list[Row]:
        """The rows that a chart shows."""
        return list(matching(self.data, chart.where))

    def rows(self) -> list[dict[str, Any]]:
        """The data, each row with all columns; None for what is not defined."""
        return [{column: row.get(column) for column in self.columns} for row in self.data]

    def as_dict(self) -> dict[str, object]:
        """All of it, for JSON."""
        return {
            "experiment": self.name,
            "title": self.title,
            "settings": dict(self.settings),
            "statements": [finding.as_dict() for finding in self.statements],
            "rows": [dict(row) for row in self.data],
            "notices": [str(notice) for notice in self.notices],
        }


def matching(rows: Iterable[Row], fields: Mapping[str, Cell]) -> Iterator[Row]:
    """The rows that have these values; numbers may differ by what floats lose."""
    for row in rows:
        if all(_same(row.get(name), value) for name, value in fields.items()):
            yield row


def number(rows: Iterable[Row], column: str, /, **fields: Cell) -> float:
    """One number, of the only row that has these values; a LookupError where there is none."""
    found = [row.get(column) for row in matching(rows, fields)]
    if len(found) != 1 or not isinstance(found[0], int | float):
        wanted = ", ".join(f"{name}={value}" for name, value in fields.items())
        raise LookupError(f"{len(found) or 'no'} rows have {wanted} and a number {column}")
    return found[0]


def findings(claims: Sequence[Callable[[], Finding]]) -> tuple[Finding, ...]:
    """What becomes of claims; those that speak of metrics or cases that are not there are left out.

    >>> findings([lambda: Finding("two is two", 2 == 2), lambda: Finding("?", bool({}["no"]))])
    (Finding(text='two is two', holds=True, numbers={}, detail='', source=''),)
    """
    found = []
    for claim in claims:
        try:
            found.append(claim())
        except LookupError:  # the user asked for other metrics, or the key has other entities
            continue
    return tuple(found)


def title_of(rows: Iterable[Row], metric: str) -> str:
    """What tables call a metric; a LookupError where it was not measured."""
    for row in rows:
        if row["metric"] == metric:
            return str(row["title"])
    raise LookupError(metric)


def percent(value: float) -> str:
    """A rate as people write it: 64.40."""
    return f"{100 * value:.2f}"


def percents(values: Mapping[str, float]) -> str:
    """Rates with their names.

    >>> percents({"muc": 0.5, "lea": 1 / 3})
    'muc 50.00, lea 33.33'
    """
    return ", ".join(f"{name} {percent(value)}" for name, value in values.items())


def _same(one: Cell, other: Cell) -> bool:
    if isinstance(one, float) and isinstance(other, int | float):
        return abs(one - other) < TINY
    return one == other

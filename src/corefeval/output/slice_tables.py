"""Tables of slices and of counts."""

from __future__ import annotations

from collections.abc import Sequence

from corefeval.output.lines import Line, lines_of
from corefeval.output.tables import (
    NO_INTERVALS,
    Cell,
    Column,
    Intervals,
    Table,
    cells_of,
    columns_of,
    percent,
)
from corefeval.results import Result, Slices
from corefeval.results.slices import all_values

# With more columns than this only F1 fits beside each other.
_COLUMNS = 9
_COUNTS = ("tp", "wl", "fn", "fp")


def slice_tables(results: Sequence[Result]) -> list[Table]:
    """A table for each feature that results are sliced by."""
    features = dict.fromkeys(
        feature
        for result in results
        for feature, slices in result.slices.items()
        if slices.whole.tables
    )
    return [_slice_table(results, feature) for feature in features]


def _slice_table(results: Sequence[Result], feature: str) -> Table:
    """A section for each value, responses below each other; in the end all values together."""
    sliced = [result.slices[feature] for result in results if feature in result.slices]
    wholes = [slices.whole for slices in sliced]
    lines = lines_of(wholes)
    asked_for = [line for line in lines if any(line.metric in result.tables for result in results)]
    there = Intervals.of([result for one in sliced for result in (one.whole, *one.values())])
    ci = there
    width = sum(len(columns_of(line)) for line in asked_for) + len(lines) - len(asked_for)
    brief = set(lines) - (set(asked_for) if width <= _COLUMNS else set())
    if width + len(lines) > _COLUMNS:  # F1 with intervals, or if that is too much F1 alone
        each = 1 + len(ci.columns())
        ci = ci if each * len(lines) <= _COLUMNS else NO_INTERVALS
        brief = set(lines) if ci.heading else brief
    elsewhere = " (intervals are in CSV and JSON)" if there.heading and not ci.heading else ""
    several = len(sliced) > 1
    columns = [
        Column(_heading(feature)),
        Column("share", numeric=True),
        *([Column("Response")] if several else []),
        *(column for line in lines for column in columns_of(line, f1_only=line in brief, ci=ci)),
    ]
    sections = []
    for value in (*all_values(sliced), None):
        found = [slices for slices in sliced if value is None or value in slices]
        those = [slices.whole if value is None else slices[value] for slices in found]
        rows: list[tuple[Cell, ...]] = []
        for slices, result in zip(found, those, strict=True):
            first = not rows
            rows.append(
                (
                    Cell(("all" if value is None else value) if first else "", label=True),
                    Cell(_share(slices, value) if first else ""),
                    *([Cell(result.response)] if several else []),
                    *(
                        cell
                        for line in lines
                        for cell in _counted(line, result, those, line in brief, ci)
                    ),
                )
            )
        sections.append(tuple(rows))
    if not several:
        sections = [tuple(row for section in sections[:-1] for row in section), sections[-1]]
    return Table(tuple(columns), tuple(sections), caption=f"By {feature}{elsewhere}")


def _counted(
    line: Line, result: Result, rivals: Sequence[Result], f1_only: bool, ci: Intervals
) -> list[Cell]:
    """The cells of a line; dashes where there was nothing to count."""
    score = line.score(result)
    cells = cells_of(line, result, rivals, f1_only=f1_only, ci=ci)
    nothing = score is not None and not score.has_counted
    return [Cell("–")] * len(cells) if nothing else cells


def _heading(feature: str) -> str:
    return feature.partition("(")[0].replace("_", " ").capitalize()


def _share(slices: Slices, value: str | None) -> str:
    """How much of the key a value is."""
    total = sum(slices.sizes.values())
    size = total if value is None else slices.sizes.get(value, 0)
    return percent(size / total if total else 0.0)


def count_tables(results: Sequence[Result]) -> list[Table]:
    """The counts of metrics that people read as such: correct, wrong, missed, spurious."""
    rows = []
    several = len(results) > 1
    for line in lines_of(results):
        for number, result in enumerate(results):
            score = line.score(result)
            if score is None or "tp" not in score.counts:
                continue
            rows.append(
                (
                    Cell("" if number else line.title, label=True),
                    *([Cell(result.response)] if several else []),
                    *(
                        Cell(f"{score.counts[n]:,.0f}" if n in score.counts else "")
                        for n in _COUNTS
                    ),
                    Cell(percent(score.rates.get("accuracy"))),
                )
            )
    if not rows:
        return []
    columns = (
        Column("Counts"),
        *([Column("Response")] if several else []),
        *(Column(name, numeric=True) for name in _COUNTS),
        Column("accuracy", numeric=True),
    )
    return [Table(columns, (tuple(rows),))]

"""A drawing: what each type of result is in each format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from corefeval._version import __version__
from corefeval.display import csv_text, json_text
from corefeval.output.style import current_style
from corefeval.output.tables import Sheet, table_of
from corefeval.tabular import Row, columns_of


@dataclass(frozen=True)
class Drawing:
    """Things of one type that are drawn together; fields besides `things` are options of `render`.

    A type says what it is as a sheet (for text, Markdown and LaTeX), as rows (for CSV) and as a
    record (for JSON). Here these are its rows, which serves what has no drawing of its own.
    """

    things: Sequence[Any]

    formats: ClassVar[tuple[str, ...]] = ("text", "json", "csv", "markdown", "latex")
    has_rates: ClassVar[bool] = False  # of which a style may choose some, and their order

    def sheet(self, format: str) -> Sheet:
        """Tables and sentences."""
        rows = self.rows()
        names = columns_of(rows)
        return Sheet((table_of(names, [[_cell(row.get(n)) for n in names] for row in rows]),))

    def rows(self) -> list[Row]:
        """The rows of all of them."""
        return [row for thing in self.things for row in thing.rows()]

    def record(self) -> object:
        """All of it."""
        return self.rows()

    def draw(self, format: str, color: bool) -> str:
        """The things as text in a format."""
        if format == "json":
            return json_text(self.record())
        if format == "csv":
            rows = self.rows()
            names = columns_of(rows)
            return csv_text(names, ([row.get(name) for name in names] for row in rows))
        sheet = self.sheet(format)
        if format == "latex":
            from corefeval.output.latex import draw_latex

            return draw_latex(sheet)
        sheet = sheet.with_caption(current_style().caption)
        if format == "markdown":
            from corefeval.output.markdown import draw_markdown

            return draw_markdown(sheet)
        from corefeval.output.terminal import draw_text

        return draw_text(sheet, color=color)


class SoloDrawing(Drawing):
    """Things that each have tables of their own, which then stand below each other."""

    def sheet_of(self, thing: Any, format: str) -> Sheet:
        """One thing's tables and sentences."""
        raise NotImplementedError

    def record_of(self, thing: Any) -> object:
        """All of one thing."""
        return {"corefeval": __version__, **thing.as_dict()}

    def sheet(self, format: str) -> Sheet:
        """The sheets of all."""
        sheets = [self.sheet_of(thing, format) for thing in self.things]
        return sheets[0]._replace(
            parts=tuple(part for one in sheets for part in one.parts),
            about=tuple(line for one in sheets for line in one.about),
            signatures=tuple(dict.fromkeys(line for one in sheets for line in one.signatures)),
        )

    def record(self) -> object:
        """The record of one, or a list of those of several."""
        records = [self.record_of(thing) for thing in self.things]
        return records[0] if len(records) == 1 else records


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4f}"
    return "" if value is None else str(value)

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
    """Results of one type, drawn together; fields besides `results` are options of `render`.

    A type says what it is as a sheet (for text, Markdown and LaTeX), as rows (for CSV) and as a
    record (for JSON). Here all three are made of its rows, which serves types without a drawing of
    their own.
    """

    results: Sequence[Any]

    formats: ClassVar[tuple[str, ...]] = ("text", "json", "csv", "markdown", "latex")
    has_rates: ClassVar[bool] = False  # whether a style may choose rates, and their order

    def sheet(self, format: str) -> Sheet:
        """Tables and sentences."""
        rows = self.rows()
        names = columns_of(rows)
        return Sheet((table_of(names, [[_cell(row.get(n)) for n in names] for row in rows]),))

    def rows(self) -> list[Row]:
        """The rows of all results."""
        return [row for result in self.results for row in result.rows()]

    def record(self) -> object:
        """Everything that JSON has: here the rows."""
        return self.rows()

    def draw(self, format: str, color: bool) -> str:
        """The results as text in a format."""
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
    """Results that each have tables of their own, which stand below each other."""

    def sheet_of(self, result: Any, format: str) -> Sheet:
        """The tables and sentences of one result."""
        raise NotImplementedError

    def record_of(self, result: Any) -> object:
        """Everything that JSON has of one result."""
        return {"corefeval": __version__, **result.as_dict()}

    def sheet(self, format: str) -> Sheet:
        """The sheets of all results, joined."""
        sheets = [self.sheet_of(result, format) for result in self.results]
        return sheets[0]._replace(
            parts=tuple(part for sheet in sheets for part in sheet.parts),
            about=tuple(line for sheet in sheets for line in sheet.about),
            signatures=tuple(dict.fromkeys(line for sheet in sheets for line in sheet.signatures)),
        )

    def record(self) -> object:
        """The record of a single result, or a list of the records of several."""
        records = [self.record_of(result) for result in self.results]
        return records[0] if len(records) == 1 else records


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4f}"
    return "" if value is None else str(value)

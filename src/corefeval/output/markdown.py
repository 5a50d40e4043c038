"""Markdown tables."""

from __future__ import annotations

import re
from collections.abc import Sequence

from corefeval.display import shortened, visible
from corefeval.output.slice_tables import count_tables, slice_tables
from corefeval.output.tables import Cell, Table, document_table, metric_table, system_table
from corefeval.results import Result


def render_markdown(results: Sequence[Result], *, by_document: bool = False) -> str:
    """A table of percentages, the best F1 of several responses in bold."""
    tables = [system_table(results) if len(results) > 1 else metric_table(results)]
    tables += [*count_tables(results), *slice_tables(results)]
    tables += [document_table(results)] if by_document else []
    signatures = dict.fromkeys(result.signature for result in results)
    parts = (*map(drawn_markdown, tables), *map(code, signatures))
    return "\n\n".join(parts) + "\n"


def drawn_markdown(table: Table) -> str:
    """Columns padded, so that the source can be read too."""
    headings = [f"{column.group} {column.heading}".strip() for column in table.columns]
    rows = [[escaped(shortened(heading)) for heading in headings]]
    rows += [[_cell(cell) for cell in row] for section in table.sections for row in section]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    numeric = [column.numeric for column in table.columns]
    rule = [
        "-" * (width - 1) + ":" if number else "-" * width
        for width, number in zip(widths, numeric, strict=True)
    ]
    rows.insert(1, rule)
    return "\n".join(
        "| "
        + " | ".join(
            text.rjust(width) if number else text.ljust(width)
            for text, width, number in zip(row, widths, numeric, strict=True)
        )
        + " |"
        for row in rows
    )


def _cell(cell: Cell) -> str:
    text = escaped(shortened(cell.text))
    text = f"**{text}**" if cell.bold and text else text
    return f"{text}<sup>{escaped(cell.mark)}</sup>" if cell.mark else text


def escaped(text: str) -> str:
    """Text of any origin as text; very long words are cut short."""
    words = visible(" ".join(map(shortened, text.split())))
    return re.sub(r"([\\`*_\[\]<>|&~])", r"\\\1", words)


def code(text: str) -> str:
    """Text of any origin as code, fenced by more backticks than it has together."""
    text = visible(" ".join(text.split()))
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{text}{pad}{fence}"

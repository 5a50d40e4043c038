"""Markdown tables."""

from __future__ import annotations

import re
from itertools import groupby

from corefeval.display import shorten, visible
from corefeval.output.tables import Cell, Sheet, Table


def draw_markdown(sheet: Sheet) -> str:
    """Tables below their captions, sentences, and signatures as code."""
    parts = []
    for part in sheet.parts:
        if isinstance(part, str):
            parts += _draw_paragraphs(part)
        else:
            parts += [f"**{escape(part.caption)}**"] if part.caption else []
            parts.append(table_markdown(part))
    return "\n\n".join((*parts, *map(escape, sheet.about), *map(code, sheet.signatures))) + "\n"


def _draw_paragraphs(text: str) -> list[str]:
    """A text with its lines as paragraphs; those that are indented are a list."""
    paragraphs = []
    for is_list, lines in groupby(filter(None, text.split("\n")), key=lambda line: line[0] == " "):
        members = [("- " if is_list else "") + escape(line) for line in lines]
        paragraphs.append(("\n" if is_list else "\n\n").join(members))
    return paragraphs


def table_markdown(table: Table) -> str:
    """Columns padded, so that the source can be read too."""
    headings = [f"{column.group} {column.heading}".strip() for column in table.columns]
    rows = [[escape(shorten(heading)) for heading in headings]]
    rows += [[_draw_cell(cell) for cell in row] for section in table.sections for row in section]
    widths = [max(2, *map(len, column)) for column in zip(*rows, strict=True)]
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


def _draw_cell(cell: Cell) -> str:
    text = escape(shorten(cell.text))
    text = f"**{text}**" if cell.bold and text else text
    return f"{text}<sup>{escape(cell.mark)}</sup>" if cell.mark else text


def escape(text: str) -> str:
    """Text of any origin as text; very long words are cut short."""
    words = visible(" ".join(map(shorten, text.split())))
    return re.sub(r"([\\`*_\[\]<>|&~])", r"\\\1", words)


def code(text: str) -> str:
    """Text of any origin as code, fenced by more backticks than stand together in it."""
    text = visible(" ".join(text.split()))
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{text}{pad}{fence}"

"""Tables and sentences drawn for a terminal."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Sequence
from itertools import groupby, zip_longest

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from corefeval.output.tables import RAISED, Cell, Column, Table

_PLAIN = {"─": "-", "³": "3", "φ": "phi", "–": "-", "−": "-", "τ": "tau", "≤": "<=", "±": "+-"}
_PLAIN |= {"α": "alpha", "→": "->", "…": "...", "’": "'", "‘": "'"}
_PLAIN |= {raised: letter for letter, raised in RAISED.items()}
_WIDE = 10_000  # what goes to a file or a pipe is never wrapped


def drawn_text(
    parts: Iterable[Table | str], footer: Iterable[str] = (), *, color: bool = False, gap: int = 3
) -> str:
    """Tables and sentences one below the other, and a footer that does not stand out.

    `gap` is the number of blanks between columns. Sentences that follow each other stand together.
    """
    stream = io.StringIO()
    console = Console(
        file=stream, width=_WIDE, force_terminal=color, no_color=not color, highlight=False
    )
    for is_text, members in groupby(parts, key=lambda part: isinstance(part, str)):
        for part in members:
            lines = [Text(part)] if isinstance(part, str) else _lines(part, gap)
            for line in lines:
                console.print(line, soft_wrap=True)
            if not is_text:
                console.print()
        if is_text:
            console.print()
    for text in footer:
        console.print(Text(text, style="dim"), soft_wrap=True)
    return _printable(stream.getvalue())


def _printable(text: str) -> str:
    """The text without blanks at line ends, and in plain signs where the terminal has no others."""
    text = "\n".join(line.rstrip() for line in text.strip("\n").split("\n")) + "\n"
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeError:
        for sign, plain in _PLAIN.items():
            text = text.replace(sign, plain)
    return text


def _lines(table: Table, gap: int) -> list[Text]:
    """A caption, names of groups over their columns, headings, a rule, and rows."""
    headings = [_heading(column) for column in table.columns]
    rows = [row for section in table.sections for row in section]
    widths = [
        max(map(cell_len, (*heading, *(row[index].text for row in rows))))
        for index, heading in enumerate(headings)
    ]
    gaps = [0, *([gap] * (len(table.columns) - 1))]
    names = _group_line(table.columns, widths, gaps)
    lines = [Text(table.caption, style="bold")] if table.caption else []
    depth = max(max(map(len, headings), default=0), 2 if names.strip() else 1)
    for level in range(depth):
        words = [([""] * (depth - len(heading)) + heading)[level] for heading in headings]
        line = _row([Cell(word) for word in words], table.columns, widths, gaps)
        # Above the headings of groups there is room for their names.
        lines.append(line if level or not names.strip() else Text(_overlaid(line.plain, names)))
    lines.append(Text("─" * (sum(widths) + sum(gaps))))
    for number, section in enumerate(table.sections):
        lines += [Text("")] if number else []
        lines += [_row(row, table.columns, widths, gaps) for row in section]
    return lines


def _heading(column: Column) -> list[str]:
    """The lines of a heading: long names over two, so that numbers need not stand far apart."""
    if column.numeric and not column.group and not column.heading.endswith("% CI"):
        return column.heading.split(" ", 1)
    return [column.heading]


def _group_line(columns: Sequence[Column], widths: list[int], gaps: list[int]) -> str:
    """The names of groups in the middle over their columns, which grow where a name is longer."""
    line = ""
    at = 0
    for group, members in groupby(columns, key=lambda column: column.group):
        number = len(list(members))
        inside = sum(widths[at : at + number]) + sum(gaps[at + 1 : at + number])
        missing = cell_len(group) - inside
        if missing > 0:
            widths[at + number - 1] += missing
            inside += missing
        before = (inside - cell_len(group)) // 2
        line += " " * (gaps[at] + before) + group + " " * (inside - before - cell_len(group))
        at += number
    return line


def _overlaid(one: str, other: str) -> str:
    """Two lines that have nothing in the same places, as one."""
    pairs = zip_longest(one, other, fillvalue=" ")
    return "".join(mine if mine != " " else theirs for mine, theirs in pairs)


def _row(
    cells: Sequence[Cell], columns: Sequence[Column], widths: Sequence[int], gaps: Sequence[int]
) -> Text:
    row = Text()
    for cell, column, width, gap in zip(cells, columns, widths, gaps, strict=True):
        pad = " " * (width - cell_len(cell.text))
        row.append(" " * gap + (pad if column.numeric else ""))
        row.append(cell.text, style="bold" if cell.bold or cell.label else None)
        row.append("" if column.numeric else pad)
    return row

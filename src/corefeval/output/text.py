"""Tables for a terminal."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Sequence
from itertools import groupby

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from corefeval.output.slice_tables import count_tables, slice_tables
from corefeval.output.tables import RAISED, Column, Table, document_table, metric_table
from corefeval.results import Result

_PLAIN = {"─": "-", "³": "3", "φ": "phi", "–": "-", "−": "-", "τ": "tau", "≤": "<=", "±": "+-"}
_PLAIN |= {raised: letter for letter, raised in RAISED.items()}
_WIDE = 10_000  # what goes to a file or a pipe is never wrapped


def render_text(
    results: Sequence[Result], *, by_document: bool = False, color: bool = False
) -> str:
    """A table of percentages: one metric per line, responses below each other."""
    stream = io.StringIO()
    console = Console(
        file=stream, width=_WIDE, force_terminal=color, no_color=not color, highlight=False
    )
    tables = [metric_table(results), *count_tables(results), *slice_tables(results)]
    tables += [document_table(results)] if by_document else []
    for table in tables:
        if table.caption:
            console.print(Text(table.caption, style="bold"))
        console.print(_drawn(table))
        console.print()
    for line in _footer(results):
        console.print(Text(line, style="dim"), soft_wrap=True)
    return printable(stream.getvalue())


def printable(text: str) -> str:
    """The text without blanks at line ends, and in plain signs where the terminal has no others."""
    text = "\n".join(line.rstrip() for line in text.strip("\n").split("\n")) + "\n"
    if _can_print(text):
        return text
    for sign, plain in _PLAIN.items():
        text = text.replace(sign, plain)
    return text


def _can_print(text: str) -> bool:
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeError:
        return False
    return True


def _drawn(table: Table) -> RichTable:
    drawn = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column, heading in zip(table.columns, _headings(table.columns), strict=True):
        justify = "right" if column.numeric else "left"
        drawn.add_column(Text(heading), justify=justify, no_wrap=True, vertical="bottom")  # type: ignore[arg-type]
    for section in table.sections:
        for row in section:
            drawn.add_row(*(Text(cell.text, style="bold" if cell.bold else "") for cell in row))
        drawn.add_section()
    return drawn


def _headings(columns: Sequence[Column]) -> list[str]:
    """Headings of one line, or of two where columns have groups or long names.

    The words of a group's name stand over its columns one by one, and those of a long name over
    each other, so that numbers need not stand far apart.
    """
    headings: list[str] = []
    for group, members in groupby(columns, key=lambda column: column.group):
        words = iter(group.split())
        those = list(members)
        headings += [
            f"{next(words, '')}\n{column.heading}" if group else column.heading
            for column in those[:-1]
        ]
        last = those[-1].heading
        headings.append(f"{' '.join(words)}\n{last}" if group else last)
    return [
        heading.replace(" ", "\n", 1)
        if column.numeric and not column.group and not heading.endswith("% CI")
        else heading
        for column, heading in zip(columns, headings, strict=True)
    ]


def _footer(results: Sequence[Result]) -> list[str]:
    first = results[0]
    n_documents = len(first.document_ids)
    names = [] if len(results) > 1 else [f"{first.response} against {first.key}"]
    documents = f"{n_documents:,} document" + ("" if n_documents == 1 else "s")
    cut = re.search(r"\d+ segments", first.settings.get("ci", ""))
    segments = [f"intervals from {cut[0]} of it"] if cut else []
    signatures = dict.fromkeys(result.signature for result in results)
    return [", ".join([*names, documents, *segments]), *signatures]

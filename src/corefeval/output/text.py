"""Tables for a terminal."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from corefeval.output.tables import Table, document_table, metric_table
from corefeval.results import Result

_WIDE = 10_000  # what goes to a file or a pipe is never wrapped


def render_text(
    results: Sequence[Result], *, by_document: bool = False, color: bool = False
) -> str:
    """A table of percentages: one metric per line, responses below each other."""
    stream = io.StringIO()
    console = Console(
        file=stream, width=_WIDE, force_terminal=color, no_color=not color, highlight=False
    )
    tables = [metric_table(results), *([document_table(results)] if by_document else [])]
    for table in tables:
        console.print(_drawn(table))
        console.print()
    for line in _footer(results):
        console.print(Text(line, style="dim"), soft_wrap=True)
    text = "\n".join(line.rstrip() for line in stream.getvalue().strip("\n").split("\n")) + "\n"
    return text if _can_print(text) else text.replace("─", "-").replace("³", "3")


def _can_print(text: str) -> bool:
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeError:
        return False
    return True


def _drawn(table: Table) -> RichTable:
    drawn = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in table.columns:
        justify = "right" if column.numeric else "left"
        drawn.add_column(Text(column.heading), justify=justify, no_wrap=True)  # type: ignore[arg-type]
    for section in table.sections:
        for row in section:
            drawn.add_row(*(Text(cell.text, style="bold" if cell.bold else "") for cell in row))
        drawn.add_section()
    return drawn


def _footer(results: Sequence[Result]) -> list[str]:
    first = results[0]
    n_documents = len(first.document_ids)
    names = [] if len(results) > 1 else [f"{first.response} against {first.key}"]
    documents = f"{n_documents:,} document" + ("" if n_documents == 1 else "s")
    signatures = dict.fromkeys(result.signature for result in results)
    return [", ".join([*names, documents]), *signatures]

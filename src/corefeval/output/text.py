"""Tables for a terminal."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from corefeval.output.rows import HEADINGS, Block, blocks
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
    for block in blocks(results, by_document):
        console.print(_table(results, block))
        console.print()
    for line in _footer(results):
        console.print(Text(line, style="dim"), soft_wrap=True)
    return "\n".join(line.rstrip() for line in stream.getvalue().strip("\n").split("\n")) + "\n"


def _table(results: Sequence[Result], block: Block) -> Table:
    several = len(results) > 1
    table = Table(box=SIMPLE_HEAD, pad_edge=False, title=None, show_edge=False)
    table.add_column(Text(block.document or "Metric"), no_wrap=True)
    if several:
        table.add_column("Response", no_wrap=True)
    for heading in HEADINGS.values():
        table.add_column(heading, justify="right", no_wrap=True)
    last = None
    for row in block.rows:
        if several and last not in (None, row.metric):
            table.add_section()
        title = Text("" if row.metric == last else row.title, style="bold")
        *rates, f1 = row.percentages()
        cells = [Text(rate) for rate in rates] + [Text(f1, style="bold" if row.best else "")]
        table.add_row(title, *([Text(row.response)] if several else []), *cells)
        last = row.metric
    return table


def _footer(results: Sequence[Result]) -> list[str]:
    first = results[0]
    n_documents = len(first.document_ids)
    names = [] if len(results) > 1 else [f"{first.response} against {first.key}"]
    documents = f"{n_documents:,} document" + ("" if n_documents == 1 else "s")
    signatures = dict.fromkeys(result.signature for result in results)
    return [", ".join([*names, documents]), *signatures]

"""Markdown tables."""

from __future__ import annotations

import re
from collections.abc import Sequence

from corefeval.output.rows import HEADINGS, Block, Row, blocks
from corefeval.results import Result


def render_markdown(results: Sequence[Result], *, by_document: bool = False) -> str:
    """A table of percentages, the best F1 of several responses in bold."""
    parts = [_table(block, len(results) > 1) for block in blocks(results, by_document)]
    signatures = dict.fromkeys(result.signature for result in results)
    return "\n\n".join((*parts, *(f"`{signature}`" for signature in signatures))) + "\n"


def _table(block: Block, several: bool) -> str:
    columns = ["Metric", *(["Response"] if several else [])]
    lines = [
        f"**{_escape(block.document)}**\n" if block.document else "",
        f"| {' | '.join((*columns, *HEADINGS.values()))} |",
        f"|{'|'.join([' :--- '] * len(columns) + [' ---: '] * len(HEADINGS))}|",
        *(_line(row, several) for row in block.rows),
    ]
    return "\n".join(lines).strip("\n")


def _line(row: Row, several: bool) -> str:
    *rates, f1 = row.percentages()
    name = [_escape(row.response)] if several else []
    cells = [_escape(row.title), *name, *rates, f"**{f1}**" if row.best else f1]
    return f"| {' | '.join(cells)} |"


def _escape(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>()#+!|])", r"\\\1", " ".join(text.split()))

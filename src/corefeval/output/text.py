"""Results as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from corefeval.display import shortened
from corefeval.output.slice_tables import count_tables, slice_tables
from corefeval.output.tables import Intervals, document_table, metric_table
from corefeval.output.terminal import drawn_text
from corefeval.results import Result


def render_text(
    results: Sequence[Result], *, by_document: bool = False, color: bool = False
) -> str:
    """A table of percentages: one metric per line, responses below each other."""
    tables = [metric_table(results), *count_tables(results), *slice_tables(results)]
    tables += [document_table(results)] if by_document else []
    return drawn_text(tables, _footer(results), color=color)


def _footer(results: Sequence[Result]) -> list[str]:
    first = results[0]
    n_documents = len(first.document_ids)
    against = f"{shortened(first.response)} against {shortened(first.key)}"
    names = [] if len(results) > 1 else [against]
    documents = f"{n_documents:,} document" + ("" if n_documents == 1 else "s")
    cut = Intervals.of(results).segments
    segments = [f"intervals of {cut} of it, and F1 of these beside them"] if cut else []
    signatures = dict.fromkeys(result.signature for result in results)
    return [", ".join([*names, documents, *segments]), *signatures]

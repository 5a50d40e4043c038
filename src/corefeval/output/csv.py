"""CSV: a line for each response, document and metric, unrounded."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from corefeval.output.rows import RATES, blocks
from corefeval.results import Result


def render_csv(results: Sequence[Result], *, by_document: bool = False) -> str:
    """Columns response, document (empty for all together), metric, recall, precision, f1."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(("response", "document", "metric", *RATES))
    for block in blocks(results, by_document):
        for row in block.rows:
            rates = (row.score.rates.get(rate, "") for rate in RATES)
            names = (_one_line(name) for name in (row.response, row.document, row.metric))
            writer.writerow((*names, *rates))
    return stream.getvalue()


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())

"""CSV: a line for each response, document and metric, unrounded."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from corefeval.output.tables import RATES, scores
from corefeval.results import Result


def render_csv(results: Sequence[Result], *, by_document: bool = False) -> str:
    """Columns response, document (empty for all together), metric, the rates, signature."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(("response", "document", "metric", *RATES, "signature"))
    for result, document, table in scores(results, by_document):
        names = _one_line(result.response), _one_line(document)
        for metric, score in table.items():
            rates = (score.rates.get(rate, "") for rate in RATES)
            writer.writerow((*names, metric, *rates, score.signature))
    return stream.getvalue()


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())

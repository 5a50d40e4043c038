"""CSV: a line for each response, document, slice and metric, unrounded."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence

from corefeval.output.tables import scores
from corefeval.results import Result, Score

_RATES = ("recall", "precision", "f1", "accuracy")


def render_csv(results: Sequence[Result], *, by_document: bool = False) -> str:
    """Response, document (empty for all together), feature and value of a slice, metric, rates."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(("response", "document", "feature", "value", "metric", *_RATES, "signature"))
    for result, document, table in scores(results, by_document):
        writer.writerows(_rows((result.response, document, "", ""), table))
    for result in results:
        for feature, slices in result.slices.items():
            for value, part in slices.items():
                writer.writerows(_rows((result.response, "", feature, value), part.scores))
    return stream.getvalue()


def _rows(names: tuple[str, ...], table: Mapping[str, Score]) -> Iterator[tuple[object, ...]]:
    """A row for each metric, and before it for each of its parts."""
    for score in table.values():
        for one in (*score.parts.values(), score):
            rates = (one.rates.get(rate, "") for rate in _RATES)
            yield (*map(_one_line, names), one.metric, *rates, one.signature)


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())

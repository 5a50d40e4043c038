"""CSV: a line for each response, document, slice and metric, unrounded."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence

from corefeval.output.tables import scores
from corefeval.results import Result, Score

_RATES = ("recall", "precision", "f1", "accuracy")
_ENDS = tuple((rate, end) for rate in _RATES for end in ("low", "high"))


def render_csv(results: Sequence[Result], *, by_document: bool = False) -> str:
    """Response, document (empty for all together), feature, value and size of a slice, rates.

    The size of a slice is the number of the key's documents, entities or mentions with the value.
    In slices rates of nothing are left empty.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    ends = _ENDS if any(result.ci is not None for result in results) else ()
    names = ("response", "document", "feature", "value", "size", "metric")
    writer.writerow((*names, *_RATES, *(f"{rate}_{end}" for rate, end in ends), "signature"))
    for result, document, table in scores(results, by_document):
        writer.writerows(_rows((result.response, document, "", "", ""), table, ends))
    for result in results:
        for feature, slices in result.slices.items():
            for value, part in slices.items():
                place = (result.response, "", feature, value, str(slices.sizes.get(value, 0)))
                writer.writerows(_rows(place, part.scores, ends))
    return stream.getvalue()


def _rows(
    names: tuple[str, ...], table: Mapping[str, Score], ends: Sequence[tuple[str, str]]
) -> Iterator[tuple[object, ...]]:
    """A row for each metric, and before it for each of its parts."""
    for score in table.values():
        for one in (*score.parts.values(), score):
            # A slice has a size, and may have nothing that a metric counts.
            known = one.rates if one.has_counted or not names[-1] else {}
            rates = (known.get(rate, "") for rate in _RATES)
            limits = (_limit(one, rate, end) for rate, end in ends)
            yield (*map(_one_line, names), one.metric, *rates, *limits, one.signature)


def _limit(score: Score, rate: str, end: str) -> float | str:
    """One end of the interval of a rate; nothing where there is none."""
    if rate not in score.intervals:
        return ""
    low, high = score.intervals[rate]
    return low if end == "low" else high


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())

"""CSV: a line for each response, document, slice and metric, unrounded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from corefeval.display import csv_text
from corefeval.output.tables import scores
from corefeval.results import Result, Score

_RATES = ("recall", "precision", "f1", "accuracy")


def render_csv(results: Sequence[Result], *, by_document: bool = False) -> str:
    """Response, document (empty for all together), feature, value and size of a slice, rates.

    The size of a slice is the number of the key's documents, entities or mentions with the value.
    In slices rates of nothing are left empty. Where an interval (low, high) is that of the segments
    of a document, the rate of these segments stands before it.
    """
    kinds = ("low", "high") if any(result.ci is not None for result in results) else ()
    if any(result.segment_rates for result in results):
        kinds = ("segments", *kinds)
    ends = [(rate, end) for rate in _RATES for end in kinds]
    names = ("response", "document", "feature", "value", "size", "metric")
    header = (*names, *_RATES, *(f"{rate}_{end}" for rate, end in ends), "signature")
    return csv_text(header, _all_rows(results, by_document, ends))


def _all_rows(
    results: Sequence[Result], by_document: bool, ends: Sequence[tuple[str, str]]
) -> Iterator[tuple[object, ...]]:
    for result, document, table in scores(results, by_document):
        yield from _rows((result.response, document, "", "", ""), table, ends)
    for result in results:
        for feature, slices in result.slices.items():
            for value, part in slices.items():
                place = (result.response, "", feature, value, str(slices.sizes.get(value, 0)))
                yield from _rows(place, part.scores, ends)


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
            yield (*names, one.metric, *rates, *limits, one.signature)


def _limit(score: Score, rate: str, end: str) -> float | str:
    """One end of the interval of a rate, or the rate of segments; nothing where there is none."""
    if end == "segments":
        return score.segments.rates.get(rate, "") if score.segments else ""
    limits = (score.segments or score).intervals.get(rate)
    return "" if limits is None else limits[end == "high"]

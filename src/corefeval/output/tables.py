"""Tables as rows of cells, which each form of output draws in its own way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from corefeval.results import DocumentResult, Result, Score

RATES = {"recall": "R", "precision": "P", "f1": "F1"}


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, the group that it stands in, whether it holds numbers."""

    heading: str
    group: str = ""
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of text; the best of several is bold."""

    text: str
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Columns, and sections of rows with a little space between them."""

    columns: tuple[Column, ...]
    sections: tuple[tuple[tuple[Cell, ...], ...], ...]


def percent(value: float | None) -> str:
    """A rate as a percentage with two decimals, rounded.

    >>> percent(2 / 3), percent(None)
    ('66.67', '')
    """
    return "" if value is None else f"{100 * value:.2f}"


def scores(
    results: Sequence[Result], by_document: bool
) -> Iterator[tuple[Result, str, dict[str, Score]]]:
    """Response, document (empty for all together) and scores, as lists of rows have them."""
    for result in results:
        yield result, "", result.scores
    if by_document:
        for index in range(max(len(result.document_ids) for result in results)):
            for result in results:
                if index < len(result.document_ids):
                    document = result.document(index)
                    yield result, document.id, document.scores


def metric_table(results: Sequence[Result]) -> Table:
    """A row for each metric, responses below each other."""
    several = len(results) > 1
    sections = []
    for metric in _metrics(results):
        having = [result for result in results if metric in result.tables]
        best = max(result[metric].f1 for result in having)
        rows: list[tuple[Cell, ...]] = []
        for result in having:
            title = Cell("" if rows else _title(result, metric), bold=True)
            *rates, f1 = _rates(result[metric])
            name = (Cell(result.response),) if several else ()
            bold = several and result[metric].f1 == best
            rows.append((title, *name, *map(Cell, rates), Cell(f1, bold)))
        sections.append(tuple(rows))
    columns = (Column("Metric"), *((Column("Response"),) if several else ()), *_rate_columns())
    if not several:
        sections = [tuple(row for section in sections for row in section)]
    return Table(columns, tuple(sections))


def system_table(results: Sequence[Result]) -> Table:
    """A row for each response, as papers print them: R, P and F1 of each metric side by side."""
    metrics = _metrics(results)
    columns = [Column("Response")]
    for metric in metrics:
        title = _title(results[0], metric)
        has = next(result[metric].rates for result in results if metric in result.tables)
        if len(has) == 1:
            columns.append(Column(title, numeric=True))
        else:
            columns += [Column(heading, title, True) for heading in RATES.values()]
    rows = []
    for result in results:
        row = [Cell(result.response)]
        for metric in metrics:
            score = result[metric]
            best = max(other[metric].f1 for other in results if metric in other.tables)
            *rates, f1 = [percent(score.rates[rate]) for rate in RATES if rate in score.rates]
            row += [*map(Cell, rates), Cell(f1, len(results) > 1 and score.f1 == best)]
        rows.append(tuple(row))
    return Table(tuple(columns), (tuple(rows),))


def document_table(results: Sequence[Result]) -> Table:
    """A row for each document and response: F1 of each metric."""
    several = len(results) > 1
    metrics = _metrics(results)
    titles = [_title(results[0], metric) for metric in metrics]
    columns = [Column("Document"), *([Column("Response")] if several else [])]
    columns += [Column(title, numeric=True) for title in titles]
    sections: list[tuple[tuple[Cell, ...], ...]] = []
    for index, identifier in enumerate(results[0].document_ids):
        documents = [
            result.document(index)
            for result in results
            if result.document_ids[index : index + 1] == (identifier,)
        ]
        best = [max(document[metric].f1 for document in documents) for metric in metrics]
        rows: list[tuple[Cell, ...]] = []
        for document in documents:
            name = [Cell(document.result.response)] if several else []
            rows.append(
                (Cell("" if rows else identifier), *name, *_f1s(document, metrics, best, several))
            )
        sections.append(tuple(rows))
    if not several:
        sections = [tuple(row for section in sections for row in section)]
    return Table(tuple(columns), tuple(sections))


def _f1s(
    document: DocumentResult, metrics: Sequence[str], best: Sequence[float], several: bool
) -> list[Cell]:
    scores = [document[metric].f1 for metric in metrics]
    return [
        Cell(percent(score), several and score == top)
        for score, top in zip(scores, best, strict=True)
    ]


def _rate_columns() -> tuple[Column, ...]:
    return tuple(Column(heading, numeric=True) for heading in RATES.values())


def _metrics(results: Sequence[Result]) -> list[str]:
    return list(dict.fromkeys(metric for result in results for metric in result.tables))


def _title(result: Result, metric: str) -> str:
    return (result.titles or {}).get(metric, metric)


def _rates(score: Score) -> list[str]:
    return [percent(score.rates.get(rate)) for rate in RATES]

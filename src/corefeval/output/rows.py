"""The rows that every table is made of: response, document, metric and its rates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from corefeval.results import Result, Score

RATES = ("recall", "precision", "f1")
HEADINGS = {"recall": "R", "precision": "P", "f1": "F1"}


@dataclass(frozen=True, slots=True)
class Row:
    """One metric's score of one response, over all documents or on one."""

    response: str
    document: str
    metric: str
    title: str
    score: Score
    best: bool = False

    def percentages(self) -> list[str]:
        """Recall, precision and F1 with two decimals; empty where the metric has none."""
        return [percent(self.score.rates.get(rate)) for rate in RATES]


@dataclass(frozen=True, slots=True)
class Block:
    """The rows of one table: all documents together, or one document."""

    document: str
    rows: tuple[Row, ...]


def percent(value: float | None) -> str:
    """A rate as a percentage with two decimals, rounded.

    >>> percent(2 / 3), percent(None)
    ('66.67', '')
    """
    return "" if value is None else f"{100 * value:.2f}"


def blocks(results: Sequence[Result], by_document: bool) -> Iterator[Block]:
    """A block over all documents, then one per document if wanted.

    Rows go metric by metric, and response by response within, so that systems stand together.
    """
    yield _block(results, "", [result.scores for result in results])
    if not by_document:
        return
    for index, identifier in enumerate(results[0].document_ids):
        having = [r for r in results if r.document_ids[index : index + 1] == (identifier,)]
        yield _block(having, identifier, [result.document(index).scores for result in having])


def _block(
    results: Sequence[Result], document: str, scores: Sequence[Mapping[str, Score]]
) -> Block:
    rows = []
    names = list(dict.fromkeys(metric for table in scores for metric in table))
    for metric in names:
        best = max(table[metric].f1 for table in scores if metric in table)
        for result, table in zip(results, scores, strict=False):
            if metric in table:
                is_best = len(results) > 1 and table[metric].f1 == best
                title = (result.titles or {}).get(metric, metric)
                rows.append(Row(result.response, document, metric, title, table[metric], is_best))
    return Block(document, tuple(rows))

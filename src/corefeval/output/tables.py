"""Tables as rows of cells, which each form of output draws in its own way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from corefeval.output.lines import Line, best_f1, lines_of
from corefeval.results import Result, Score

RATES = {"recall": "R", "precision": "P", "f1": "F1"}
# Small raised letters, as far as there are any.
RAISED = dict(zip("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True))


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, the group that it stands in, whether it holds numbers.

    One that is `close` belongs to the column before it, and stands nearer to it where that can be.
    Cells of a column that is `whole`, or holds numbers, are never cut or folded.
    """

    heading: str
    group: str = ""
    numeric: bool = False
    close: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of text; what stands out is bold. `mark` is set high behind the text.

    A `label` says what a row is about; a terminal shows it bold, too.
    """

    text: str
    bold: bool = False
    mark: str = ""
    label: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Columns, and sections of rows with a little space between them."""

    columns: tuple[Column, ...]
    sections: tuple[tuple[tuple[Cell, ...], ...], ...]
    caption: str = ""


def percent(value: float | None) -> str:
    """A rate as a percentage with two decimals, rounded.

    >>> percent(2 / 3), percent(None)
    ('66.67', '')
    """
    return "" if value is None else f"{100 * value:.2f}"


def interval(score: Score, rate: str = "f1") -> str:
    """The interval of a rate in percent, with one decimal; nothing where there is none.

    >>> interval(Score("muc", {"f1": 0.74}, intervals={"f1": (0.7093, 0.7728)}))
    '70.9–77.3'
    """
    if rate not in score.intervals:
        return ""
    low, high = score.intervals[rate]
    return f"{100 * low:.1f}–{100 * high:.1f}"


@dataclass(frozen=True, slots=True)
class Intervals:
    """Columns of intervals: their heading, and what the segments are called that they are of.

    Both are empty where there is no such thing. An interval of segments does not stand beside the
    score of the whole document, which may lie outside of it, but beside the score of the segments.
    """

    heading: str = ""
    segments: str = ""

    @classmethod
    def of(cls, results: Sequence[Result]) -> Intervals:
        """The columns for some results."""
        levels = dict.fromkeys(result.ci for result in results if result.ci is not None)
        if not levels:
            return cls()
        cut = dict.fromkeys(
            found[0]
            for result in results
            if result.segment_rates
            and (found := re.search(r"\d+ segments", result.settings.get("ci", "")))
        )
        return cls("/".join(f"{100 * level:g}" for level in levels) + " % CI", "/".join(cut))

    def columns(self, group: str = "") -> list[Column]:
        """The columns; in a group of other columns they say themselves what they are of."""
        if not self.heading:
            return []
        if not self.segments:
            return [Column(self.heading, group, True)]
        own = Column("segments", group, True) if group else Column("F1", self.segments, True)
        return [own, Column(self.heading, group or self.segments, True)]

    def cells(self, score: Score) -> list[Cell]:
        """The cells of these columns."""
        if not self.heading:
            return []
        own = score.segments
        rate = [Cell(percent(own.rates.get("f1") if own else None))] if self.segments else []
        return [*rate, Cell(interval(own or score))]


NO_INTERVALS = Intervals()


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
    ci = Intervals.of(results)
    sections = []
    for line in lines_of(results):
        rows: list[tuple[Cell, ...]] = []
        best = best_f1(line, results)
        for result in results:
            score = line.score(result)
            if score is not None:
                title = Cell("" if rows else line.title, label=True)
                name = (Cell(result.response),) if several else ()
                cells = rate_cells(score, best if several else None)
                rows.append((title, *name, *cells, *ci.cells(score)))
        sections.append(tuple(rows))
    columns = (
        Column("Metric"),
        *((Column("Response"),) if several else ()),
        *_rate_columns(),
        *ci.columns(),
    )
    if not several:
        sections = [tuple(row for section in sections for row in section)]
    return Table(columns, tuple(sections))


def system_table(results: Sequence[Result]) -> Table:
    """A row for each response, as papers print them: R, P and F1 of each metric side by side."""
    lines = lines_of(results)
    ci = Intervals.of(results)
    columns = [
        Column("Response"),
        *(column for line in lines for column in columns_of(line, ci=ci)),
    ]
    rows = [
        (
            Cell(result.response),
            *(cell for line in lines for cell in cells_of(line, result, results, ci=ci)),
        )
        for result in results
    ]
    return Table(tuple(columns), (tuple(rows),))


def columns_of(line: Line, *, f1_only: bool = False, ci: Intervals = NO_INTERVALS) -> list[Column]:
    """The columns of a line's rates where lines stand side by side, and of their intervals."""
    brief = f1_only or line.f1_only
    if brief and not ci.heading:
        return [Column(line.title, numeric=True)]
    headings = ["F1"] if brief else list(RATES.values())
    rates = [Column(heading, line.title, True) for heading in headings]
    return [*rates, *ci.columns(line.title)]


def cells_of(
    line: Line,
    result: Result,
    rivals: Sequence[Result],
    *,
    f1_only: bool = False,
    ci: Intervals = NO_INTERVALS,
) -> list[Cell]:
    """The cells of those columns; the best F1 of several is bold."""
    score = line.score(result)
    if score is None:
        return [Cell("")] * len(columns_of(line, f1_only=f1_only, ci=ci))
    cells = rate_cells(score, best_f1(line, rivals) if len(rivals) > 1 else None)
    cells = cells[-1:] if f1_only or line.f1_only else cells
    return [*cells, *ci.cells(score)]


def rate_cells(score: Score, best: float | None) -> list[Cell]:
    """Recall, precision and F1, bold where it is the best."""
    *rates, f1 = [percent(score.rates.get(rate)) for rate in RATES]
    return [*map(Cell, rates), Cell(f1, bool(best) and score.f1 == best)]


def document_table(results: Sequence[Result]) -> Table:
    """A row for each document and response: F1 of each metric."""
    several = len(results) > 1
    lines = [line for line in lines_of(results) if not line.part]
    columns = [Column("Document"), *([Column("Response")] if several else [])]
    columns += [Column(line.title, numeric=True) for line in lines]
    sections: list[tuple[tuple[Cell, ...], ...]] = []
    for index, identifier in enumerate(results[0].document_ids):
        documents = [
            result.document(index)
            for result in results
            if result.document_ids[index : index + 1] == (identifier,)
        ]
        rows: list[tuple[Cell, ...]] = []
        best = [
            max((one[line.metric].f1 for one in documents if line.metric in one.result), default=0)
            for line in lines
        ]
        for document in documents:
            name = [Cell(document.result.response)] if several else []
            f1s = [
                document[line.metric].f1 if line.metric in document.result else None
                for line in lines
            ]
            cells = [
                Cell(percent(f1), several and bool(top) and f1 == top)
                for f1, top in zip(f1s, best, strict=True)
            ]
            rows.append((Cell("" if rows else identifier), *name, *cells))
        sections.append(tuple(rows))
    if not several:
        sections = [tuple(row for section in sections for row in section)]
    return Table(tuple(columns), tuple(sections))


def _rate_columns() -> tuple[Column, ...]:
    return tuple(Column(heading, numeric=True) for heading in RATES.values())

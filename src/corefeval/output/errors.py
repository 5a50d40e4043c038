"""Error analyses in every format: kinds of errors and what they cost, or lists of errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from corefeval._version import __version__
from corefeval.diagnostics import plural
from corefeval.display import shorten
from corefeval.output.drawing import Drawing
from corefeval.output.tables import Cell, Column, Sheet, Table, percent
from corefeval.tabular import Row

if TYPE_CHECKING:
    from corefeval.analysis.errors import ErrorAnalysis, ErrorInstance, Place

OUTCOMES = ("correct", "wrong", "missed", "spurious")
COUNTS = ("tp", "wl", "fn", "fp")

_CAPTION = "Errors, and the points of F1 that they cost: fixed alone, and in turn"
_INSTEAD = {"span": "Instead of", "conflated": "Together with", "divided": "Apart from"}
_TEXT, _DOCUMENT = 26, 26  # characters that a cell shows of a mention, and of a document's id
_LISTED, _INSTEAD_TEXT = 26, 18

Rows = tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class ErrorDrawing(Drawing):
    """Analyses of one or more responses: an overview, or with `kinds` the errors of these kinds.

    The overview has the `top` most expensive mentions and entities.
    """

    things: Sequence[ErrorAnalysis]
    kinds: Sequence[str] = ()
    top: int = 5

    def sheet(self, format: str) -> Sheet:
        """Tables of all responses."""
        draw = list_tables(self.things, self.kinds) if self.kinds else None
        tables = overview_tables(self.things, self.top) if draw is None else draw
        first = self.things[0].result
        against = f"{shorten(first.response)} against {shorten(first.key)}"
        names = [] if len(self.things) > 1 else [against]
        about = ", ".join([*names, plural(len(first.document_ids), "document")])
        signatures = tuple(dict.fromkeys(one.result.signature for one in self.things))
        return Sheet(tuple(tables), (about,), signatures, gap=2)  # for there are many columns

    def rows(self) -> list[Row]:
        """A row for each number of the overview, or for each mention of each error."""
        return [
            row
            for one in self.things
            for row in (one.error_rows(self.kinds) if self.kinds else one.rows(top=self.top))
        ]

    def record(self) -> object:
        """One object with the key and its responses."""
        return {
            "corefeval": __version__,
            "key": self.things[0].result.key,
            "responses": [
                {**one.as_dict(top=self.top), **({"listed": lists} if self.kinds else {})}
                for one in self.things
                for lists in [{k: [e.as_dict() for e in one.listed(k)] for k in self.kinds}]
            ],
        }


def overview_tables(analyses: Sequence[ErrorAnalysis], top: int) -> list[Table]:
    """Kinds of errors, links, antecedents, and the most expensive mentions and entities."""
    tables = [_kind_table(analyses), _relation_table(analyses)]
    tables += [_link_table(analyses), _antecedent_table(analyses)]
    for analysis in analyses:
        if top > 0 and analysis.shared_out:
            behind = f" of {analysis.result.response}" if len(analyses) > 1 else ""
            tables.append(_mention_table(analysis, top, behind))
            tables.append(_entity_table(analysis, top, behind))
    return [table for table in tables if any(table.sections)]


def _kind_table(analyses: Sequence[ErrorAnalysis]) -> Table:
    """A row for each kind: counts, and points alone and in turn, which add up to 100 − F1."""
    several = len(analyses) > 1
    first = analyses[0].result
    metrics = [m for m in first.metrics if all(m in one.metrics for one in analyses)]
    titles = first.titles or {}
    columns = [Column("Error"), *([Column("Response")] if several else [])]
    columns.append(Column("count", numeric=True))
    for metric in metrics:
        title = titles.get(metric, metric)
        columns += [Column("alone", title, True), Column("turn", title, True)]
    sections: list[Rows] = []
    for number, row in enumerate(analyses[0].kinds):
        rows = [(one, one.kinds[number]) for one in analyses]
        sections.append(
            tuple(
                (
                    Cell("" if at else row.kind, label=True),
                    *_name(one, several),
                    Cell(f"{mine.count:,}"),
                    *(
                        Cell(_points(gain) if mine.count else "")
                        for metric in metrics
                        for gain in (mine.alone[metric], mine.in_turn[metric])
                    ),
                )
                for at, (one, mine) in enumerate(rows)
            )
        )
    whole = [_whole(one, metrics, several, not at) for at, one in enumerate(analyses)]
    scores = [_scores(one, metrics, several, not at) for at, one in enumerate(analyses)]
    sections = _sections(sections, several) + _sections([tuple(whole), tuple(scores)], several)
    return Table(tuple(columns), tuple(sections), caption=_CAPTION)


def _whole(
    one: ErrorAnalysis, metrics: Sequence[str], several: bool, first: bool
) -> tuple[Cell, ...]:
    total = sum(row.count for row in one.kinds)
    gains = (sum(row.in_turn[metric] for row in one.kinds) for metric in metrics)
    points = (cell for gain in gains for cell in (Cell(""), Cell(_points(gain))))
    title = Cell("all" if first else "", label=True)
    return title, *_name(one, several), Cell(f"{total:,}"), *points


def _scores(
    one: ErrorAnalysis, metrics: Sequence[str], several: bool, first: bool
) -> tuple[Cell, ...]:
    f1s = (
        cell
        for metric in metrics
        for cell in (Cell(""), Cell(percent(one.result[metric].f1), bold=True))
    )
    return Cell("F1" if first else "", label=True), *_name(one, several), Cell(""), *f1s


def _sections(sections: list[Rows], several: bool) -> list[Rows]:
    """Responses below each other have sections of their own; the rows of one stay together."""
    return sections if several else [tuple(row for section in sections for row in section)]


def _name(one: ErrorAnalysis, several: bool) -> list[Cell]:
    return [Cell(one.result.response)] if several else []


def _points(gain: float) -> str:
    """Points with two decimals; a loss of nothing has no sign."""
    text = f"{100 * gain:.2f}"
    return "0.00" if text == "-0.00" else text


def _relation_table(analyses: Sequence[ErrorAnalysis]) -> Table:
    """Sets and bridging: how many are missed, spurious and wrong, where there are any."""
    several = len(analyses) > 1
    columns = [Column("Error"), *([Column("Response")] if several else [])]
    columns.append(Column("count", numeric=True))
    sections = [
        tuple(
            (
                Cell("" if at else kind, label=True),
                *_name(one, several),
                Cell(f"{len(one.relations[kind]):,}"),
            )
            for at, one in enumerate(analyses)
        )
        for kind in analyses[0].relations
        if any(one.relations[kind] for one in analyses)
    ]
    sections = _sections(sections, several) if sections else []
    return Table(tuple(columns), tuple(sections), caption="Sets of antecedents, and bridging")


def _link_table(analyses: Sequence[ErrorAnalysis]) -> Table:
    several = len(analyses) > 1
    pairs = dict.fromkeys((row.anaphor, row.antecedent) for one in analyses for row in one.links)
    tables = [{(row.anaphor, row.antecedent): row for row in one.links} for one in analyses]
    sections = []
    for pair in pairs:
        rows: list[tuple[Cell, ...]] = []
        for one, table in zip(analyses, tables, strict=True):
            values = [getattr(table[pair], n) if pair in table else 0 for n in OUTCOMES]
            title = "" if rows else " → ".join(pair)
            cells = (Cell(f"{value:,}") for value in values)
            rows.append((Cell(title, label=True), *_name(one, several), *cells))
        sections.append(tuple(rows))
    sections = _sections(sections, several)
    columns = (
        Column("Link"),
        *([Column("Response")] if several else []),
        *(Column(name, numeric=True) for name in OUTCOMES),
    )
    return Table(columns, tuple(sections), caption="Anaphors and their nearest antecedents")


def _antecedent_table(analyses: Sequence[ErrorAnalysis]) -> Table:
    """Tuggener's counts, by kind of anaphor."""
    several = len(analyses) > 1
    metrics = list(dict.fromkeys(metric for one in analyses for metric in one.antecedents))
    kinds = dict.fromkeys(
        kind for one in analyses for table in one.antecedents.values() for kind in table
    )
    sections = []
    for kind in kinds:
        rows: list[tuple[Cell, ...]] = []
        for one in analyses:
            tables = [one.antecedents.get(metric, {}).get(kind, {}) for metric in metrics]
            cells = (Cell(f"{counts.get(n, 0):,}") for counts in tables for n in COUNTS)
            rows.append((Cell("" if rows else kind, label=True), *_name(one, several), *cells))
        sections.append(tuple(rows))
    sections = _sections(sections, several)
    columns = (
        Column("Anaphor"),
        *([Column("Response")] if several else []),
        *(Column(name, metric.capitalize(), True) for metric in metrics for name in COUNTS),
    )
    return Table(columns, tuple(sections), caption="Antecedents: right, wrong, missed, spurious")


def _mention_table(analysis: ErrorAnalysis, top: int, behind: str) -> Table:
    rows = tuple(
        (
            Cell(_document(one.document, analysis)),
            Cell(_tokens(one.mention)),
            Cell(_words(one.mention, _TEXT)),
            Cell(", ".join(one.errors) or "–"),
            Cell(one.key_entity or "–"),
            Cell(one.response_entity or "–"),
            Cell(f"{100 * one.cost:.3f}"),
        )
        for one in analysis.mentions(top)
    )
    columns = (
        *(Column(name) for name in ("Document", "Tokens", "Mention", "Error", "Key", "Response")),
        Column("points", numeric=True),
    )
    return Table(columns, (rows,), caption=f"The most expensive mentions{behind}")


def _entity_table(analysis: ErrorAnalysis, top: int, behind: str) -> Table:
    rows = tuple(
        (
            Cell(_document(one.document, analysis)),
            Cell(f"{one.side} {one.name}"),
            Cell(_tokens(one.first)),
            Cell(_words(one.first, _TEXT)),
            Cell(f"{one.size:,}"),
            Cell(f"{one.parts:,}"),
            Cell(f"{one.alone:,}"),
            Cell(f"{100 * one.cost:.3f}"),
        )
        for one in analysis.entities(top)
    )
    columns = (
        *(Column(name) for name in ("Document", "Entity", "Tokens", "First mention")),
        *(Column(name, numeric=True) for name in ("size", "parts", "alone", "points")),
    )
    return Table(columns, (rows,), caption=f"The most expensive entities{behind}")


def list_tables(analyses: Sequence[ErrorAnalysis], kinds: Sequence[str]) -> list[Table]:
    """All errors of some kinds, a table for each kind that there is."""
    several = len(analyses) > 1
    tables = []
    for kind in kinds:
        rows = [
            (*_name(one, several), *_list_cells(one, error))
            for one in analyses
            for error in one.listed(kind)
        ]
        is_relation = kind in analyses[0].relations
        sides = ("In the key", "In the response") if is_relation else ("Key", "Response")
        names = ("Document", "Tokens", "Text", _INSTEAD.get(kind, ""), *sides)
        columns = [Column(name) for name in names if name]
        head = [Column("Of")] if several else []
        caption = f"{kind}: {len(rows):,}"
        if rows:
            tables.append(Table((*head, *columns), (tuple(rows),), caption=caption))
    return tables


def _list_cells(analysis: ErrorAnalysis, error: ErrorInstance) -> list[Cell]:
    first, *rest = error.mentions
    more = f" (+{len(rest):,})" if rest else ""
    cells = [
        Cell(_document(error.document, analysis)),
        Cell(_tokens(first)),
        Cell(_words(first, _LISTED) + more),
    ]
    if error.instead is not None:
        cells.append(
            Cell(f"{_tokens(error.instead)} {_words(error.instead, _INSTEAD_TEXT)}".strip())
        )
    return [*cells, Cell(error.key_entity or "–"), Cell(error.response_entity or "–")]


def _document(name: str, analysis: ErrorAnalysis) -> str:
    """A document's id without a part that all have, and short enough for a table."""
    part = "; part 000"
    if all(one.endswith(part) for one in analysis.result.document_ids):
        name = name.removesuffix(part)
    if len(name) <= _DOCUMENT:
        return name
    half = _DOCUMENT // 2
    return f"{name[: half - 1]}…{name[-half:]}"


def _tokens(place: Place) -> str:
    if place.start is None or place.end is None:
        return ""
    last = place.end - 1
    return f"{place.start}" if last == place.start else f"{place.start}–{last}"


def _words(place: Place, limit: int) -> str:
    """A mention's text, and that of the key mention of other tokens which it is matched with."""
    text = _short(place.text, limit)
    if place.match is None:
        return text
    other = _short(place.match.text, limit) or _tokens(place.match)
    return f"{text} (matched with {other})".strip()


def _short(text: str, limit: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"

"""Error analyses in every format: kinds of errors and what they cost, or lists of errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from corefeval._version import __version__
from corefeval.diagnostics import plural
from corefeval.display import shorten
from corefeval.output.drawing import Drawing
from corefeval.output.tables import (
    Cell,
    Column,
    Sheet,
    Table,
    label_columns,
    percent,
    stack_rows,
)
from corefeval.tabular import Row

if TYPE_CHECKING:
    from corefeval.analysis.errors import ErrorAnalysis, ErrorInstance, KindRow, Place

OUTCOMES = ("correct", "wrong", "missed", "spurious")
COUNTS = ("tp", "wl", "fn", "fp")

_CAPTION = "Errors, and the points of F1 that they cost: fixed alone, and in turn"
_INSTEAD = {"span": "Instead of", "conflated": "Together with", "divided": "Apart from"}
_TEXT, _DOCUMENT = 26, 26  # characters that a cell shows of a mention, and of a document's id
_LISTED, _INSTEAD_TEXT = 26, 18


@dataclass(frozen=True)
class ErrorDrawing(Drawing):
    """Analyses of one or more responses: an overview, or with `kinds` the errors of these kinds.

    The overview has the `top` most expensive mentions and entities.
    """

    results: Sequence[ErrorAnalysis]
    kinds: Sequence[str] = ()
    top: int = 5

    def sheet(self, format: str) -> Sheet:
        """Tables of all responses."""
        listed = list_tables(self.results, self.kinds) if self.kinds else None
        tables = overview_tables(self.results, self.top) if listed is None else listed
        first = self.results[0].result
        against = f"{shorten(first.response)} against {shorten(first.key)}"
        names = [] if len(self.results) > 1 else [against]
        about = ", ".join([*names, plural(len(first.document_ids), "document")])
        signatures = tuple(dict.fromkeys(analysis.result.signature for analysis in self.results))
        return Sheet(tuple(tables), (about,), signatures, gap=2)  # for there are many columns

    def rows(self) -> list[Row]:
        """A row for each number of the overview, or for each mention of each error."""
        return [
            row
            for analysis in self.results
            for row in (
                analysis.error_rows(self.kinds) if self.kinds else analysis.rows(top=self.top)
            )
        ]

    def record(self) -> object:
        """One object with the key and its responses."""
        return {
            "corefeval": __version__,
            "key": self.results[0].result.key,
            "responses": [
                {**analysis.as_dict(top=self.top), **({"listed": lists} if self.kinds else {})}
                for analysis in self.results
                for lists in [{k: [e.as_dict() for e in analysis.listed(k)] for k in self.kinds}]
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
    metrics = [m for m in first.metrics if all(m in analysis.metrics for analysis in analyses)]
    titles = first.titles
    columns = [*label_columns("Error", several), Column("count", numeric=True)]
    for metric in metrics:
        title = titles.get(metric, metric)
        columns += [Column("alone", title, True), Column("turn", title, True)]
    kinds = [
        (
            row.kind,
            [
                (_response_name(analysis), _kind_cells(analysis.kinds[number], metrics))
                for analysis in analyses
            ],
        )
        for number, row in enumerate(analyses[0].kinds)
    ]
    ends = [
        (
            "all",
            [(_response_name(analysis), _total_cells(analysis, metrics)) for analysis in analyses],
        ),
        (
            "F1",
            [(_response_name(analysis), _score_cells(analysis, metrics)) for analysis in analyses],
        ),
    ]
    sections = (*stack_rows(kinds, several), *stack_rows(ends, several))
    return Table(tuple(columns), sections, caption=_CAPTION)


def _kind_cells(row: KindRow, metrics: Sequence[str]) -> list[Cell]:
    gains = (gain for m in metrics for gain in (row.alone[m], row.in_turn[m]))
    return [Cell(f"{row.count:,}"), *(Cell(_points(gain) if row.count else "") for gain in gains)]


def _total_cells(analysis: ErrorAnalysis, metrics: Sequence[str]) -> list[Cell]:
    total = sum(row.count for row in analysis.kinds)
    gains = (sum(row.in_turn[metric] for row in analysis.kinds) for metric in metrics)
    points = (cell for gain in gains for cell in (Cell(""), Cell(_points(gain))))
    return [Cell(f"{total:,}"), *points]


def _score_cells(analysis: ErrorAnalysis, metrics: Sequence[str]) -> list[Cell]:
    f1s = (Cell(percent(analysis.result[metric].f1), bold=True) for metric in metrics)
    return [Cell(""), *(cell for f1 in f1s for cell in (Cell(""), f1))]


def _response_name(analysis: ErrorAnalysis) -> str:
    return analysis.result.response


def _points(gain: float) -> str:
    """Points with two decimals; a loss of nothing has no sign."""
    text = f"{100 * gain:.2f}"
    return "0.00" if text == "-0.00" else text


def _relation_table(analyses: Sequence[ErrorAnalysis]) -> Table:
    """Sets and bridging: how many are missed, spurious and wrong, where there are any."""
    several = len(analyses) > 1
    columns = (*label_columns("Error", several), Column("count", numeric=True))
    groups = [
        (
            kind,
            [
                (_response_name(analysis), _counts([len(analysis.relations[kind])]))
                for analysis in analyses
            ],
        )
        for kind in analyses[0].relations
        if any(analysis.relations[kind] for analysis in analyses)
    ]
    sections = tuple(stack_rows(groups, several))
    return Table(columns, sections, caption="Sets of antecedents, and bridging")


def _counts(values: Iterable[int]) -> list[Cell]:
    return [Cell(f"{value:,}") for value in values]


def _link_table(analyses: Sequence[ErrorAnalysis]) -> Table:
    several = len(analyses) > 1
    pairs = dict.fromkeys(
        (row.anaphor, row.antecedent) for analysis in analyses for row in analysis.links
    )
    tables = [
        {(row.anaphor, row.antecedent): row for row in analysis.links} for analysis in analyses
    ]
    groups = [
        (
            " → ".join(pair),
            [
                (
                    _response_name(analysis),
                    _counts(getattr(t[pair], n) if pair in t else 0 for n in OUTCOMES),
                )
                for analysis, t in zip(analyses, tables, strict=True)
            ],
        )
        for pair in pairs
    ]
    columns = [*label_columns("Link", several), *(Column(n, numeric=True) for n in OUTCOMES)]
    sections = tuple(stack_rows(groups, several))
    return Table(tuple(columns), sections, caption="Anaphors and their nearest antecedents")


def _antecedent_table(analyses: Sequence[ErrorAnalysis]) -> Table:
    """Tuggener's counts, by kind of anaphor."""
    several = len(analyses) > 1
    metrics = list(
        dict.fromkeys(metric for analysis in analyses for metric in analysis.antecedents)
    )
    kinds = dict.fromkeys(
        kind for analysis in analyses for table in analysis.antecedents.values() for kind in table
    )
    groups = []
    for kind in kinds:
        members = []
        for analysis in analyses:
            tables = [analysis.antecedents.get(metric, {}).get(kind, {}) for metric in metrics]
            members.append(
                (_response_name(analysis), _counts(t.get(n, 0) for t in tables for n in COUNTS))
            )
        groups.append((kind, members))
    columns = (
        *label_columns("Anaphor", several),
        *(Column(name, metric.capitalize(), True) for metric in metrics for name in COUNTS),
    )
    sections = tuple(stack_rows(groups, several))
    return Table(columns, sections, caption="Antecedents: right, wrong, missed, spurious")


def _mention_table(analysis: ErrorAnalysis, top: int, behind: str) -> Table:
    rows = tuple(
        (
            Cell(_document(mention_cost.document, analysis)),
            Cell(_tokens(mention_cost.mention)),
            Cell(_words(mention_cost.mention, _TEXT)),
            Cell(", ".join(mention_cost.errors) or "–"),
            Cell(mention_cost.key_entity or "–"),
            Cell(mention_cost.response_entity or "–"),
            Cell(f"{100 * mention_cost.cost:.3f}"),
        )
        for mention_cost in analysis.mentions(top)
    )
    columns = (
        *(Column(name) for name in ("Document", "Tokens", "Mention", "Error", "Key", "Response")),
        Column("points", numeric=True),
    )
    return Table(columns, (rows,), caption=f"The most expensive mentions{behind}")


def _entity_table(analysis: ErrorAnalysis, top: int, behind: str) -> Table:
    rows = tuple(
        (
            Cell(_document(entity.document, analysis)),
            Cell(f"{entity.side} {entity.name}"),
            Cell(_tokens(entity.mention)),
            Cell(_words(entity.mention, _TEXT)),
            Cell(f"{entity.size:,}"),
            Cell(f"{entity.parts:,}"),
            Cell(f"{entity.alone:,}"),
            Cell(f"{100 * entity.cost:.3f}"),
        )
        for entity in analysis.entities(top)
    )
    columns = (
        *(Column(name) for name in ("Document", "Entity", "Tokens", "Name")),
        *(Column(name, numeric=True) for name in ("size", "parts", "alone", "points")),
    )
    return Table(columns, (rows,), caption=f"The most expensive entities{behind}")


def list_tables(analyses: Sequence[ErrorAnalysis], kinds: Sequence[str]) -> list[Table]:
    """All errors of some kinds, a table for each kind that occurs."""
    several = len(analyses) > 1
    tables = []
    for kind in kinds:
        rows = [
            (*([Cell(_response_name(analysis))] if several else []), *_list_cells(analysis, error))
            for analysis in analyses
            for error in analysis.listed(kind)
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
    name, n_further = error.mentions[error.name], len(error.mentions) - 1
    cells = [
        Cell(_document(error.document, analysis)),
        Cell(_tokens(name)),
        Cell(_words(name, _LISTED) + (f" (+{n_further:,})" if n_further else "")),
    ]
    if error.instead is not None:
        cells.append(
            Cell(f"{_tokens(error.instead)} {_words(error.instead, _INSTEAD_TEXT)}".strip())
        )
    return [*cells, Cell(error.key_entity or "–"), Cell(error.response_entity or "–")]


def _document(name: str, analysis: ErrorAnalysis) -> str:
    """A document's id without the part that all ids end in, and short enough for a table."""
    part = "; part 000"
    if all(identifier.endswith(part) for identifier in analysis.result.document_ids):
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
    """A mention's text, and that of the key mention it is matched with, if this differs."""
    text = _short(place.text, limit)
    if place.match is None:
        return text
    matched_text = _short(place.match.text, limit) or _tokens(place.match)
    return f"{text} (matched with {matched_text})".strip()


def _short(text: str, limit: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"

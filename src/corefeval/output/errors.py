"""Error analyses in every format: kinds of errors and what they cost, or lists of errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from corefeval._version import __version__
from corefeval.analysis.errors.links import OUTCOMES
from corefeval.diagnostics import cut_short, plural
from corefeval.display import Row
from corefeval.output.corpora import entity_record, entity_row, entity_table
from corefeval.output.tables import (
    Cell,
    Cells,
    Column,
    Columns,
    Drawing,
    Group,
    Sheet,
    Table,
    name_sides,
    number_columns,
    percent,
    response_table,
    row_label,
    table_of,
)

if TYPE_CHECKING:
    from corefeval.analysis.errors import ErrorAnalysis, ErrorInstance, KindRow, Place

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
    entities: int = 0

    def sheet(self, format: str) -> Sheet:
        """Tables of all responses."""
        listed = list_tables(self.results, self.kinds) if self.kinds else None
        tables = overview_tables(self.results, self.top) if listed is None else listed
        tables += self._entity_tables()
        first = self.results[0].result
        names = [] if len(self.results) > 1 else [name_sides(first)]
        about = ", ".join([*names, plural(len(first.document_ids), "document")])
        signatures = tuple(dict.fromkeys(analysis.result.signature for analysis in self.results))
        return Sheet(tuple(tables), (about,), signatures, gap=2)  # for there are many columns

    def _entity_tables(self) -> Iterator[Table]:
        for analysis in self.results:
            if table := analysis.entity_table(self.entities):
                behind = f", and {analysis.result.response}" if len(self.results) > 1 else ""
                yield entity_table(table, f"The largest entities of the key{behind}")

    def list_rows(self, analysis: ErrorAnalysis) -> list[Row]:
        """A row for each number of the overview, mention of each error, or largest entity."""
        if self.entities:
            table = analysis.entity_table(self.entities)
            return [{"response": analysis.result.response, **entity_row(row)} for row in table]
        return analysis.error_rows(self.kinds) if self.kinds else analysis.rows(top=self.top)

    def record(self) -> object:
        """One object with the key and its responses."""
        return {
            "corefeval": __version__,
            "key": self.results[0].result.key,
            "responses": [
                {
                    **analysis.as_dict(top=self.top),
                    **({"listed": lists} if self.kinds else {}),
                    **entity_record(analysis.entity_table(self.entities)),
                }
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
    first = analyses[0].result
    metrics = [m for m in first.metrics if all(m in analysis.metrics for analysis in analyses)]
    columns: list[Column | str] = ["Error", *number_columns("count")]
    for metric in metrics:
        columns += number_columns("alone", "turn", group=first.titles.get(metric, metric))
    kinds = [
        _group(
            row.kind,
            analyses,
            [_kind_cells(analysis.kinds[number], metrics) for analysis in analyses],
        )
        for number, row in enumerate(analyses[0].kinds)
    ]
    ends = [
        _group("all", analyses, [_total_cells(analysis, metrics) for analysis in analyses]),
        _group("F1", analyses, [_score_cells(analysis, metrics) for analysis in analyses]),
    ]
    return response_table(columns, kinds, ends, several=len(analyses) > 1, caption=_CAPTION)


def _group(title: str, analyses: Sequence[ErrorAnalysis], cells: Sequence[Cells]) -> Group:
    """A title, and the cells of each response."""
    names = [analysis.result.response for analysis in analyses]
    return row_label(title), [*zip(names, cells, strict=True)]


def _kind_cells(row: KindRow, metrics: Sequence[str]) -> Cells:
    gains = (gain for m in metrics for gain in (row.alone[m], row.in_turn[m]))
    return [f"{row.count:,}", *(_show_points(gain) if row.count else "" for gain in gains)]


def _total_cells(analysis: ErrorAnalysis, metrics: Sequence[str]) -> Cells:
    total = sum(row.count for row in analysis.kinds)
    gains = (sum(row.in_turn[metric] for row in analysis.kinds) for metric in metrics)
    return [f"{total:,}", *(text for gain in gains for text in ("", _show_points(gain)))]


def _score_cells(analysis: ErrorAnalysis, metrics: Sequence[str]) -> Cells:
    f1s = (Cell(percent(analysis.result[metric].f1), bold=True) for metric in metrics)
    return ["", *(cell for f1 in f1s for cell in ("", f1))]


def _show_points(gain: float) -> str:
    """Points with two decimals; a loss of nothing has no sign."""
    text = f"{100 * gain:.2f}"
    return "0.00" if text == "-0.00" else text


def _relation_table(analyses: Sequence[ErrorAnalysis]) -> Table:
    """Sets and bridging: how many are missed, spurious and wrong, where there are any."""
    groups = [
        _group(kind, analyses, [[f"{len(analysis.relations[kind]):,}"] for analysis in analyses])
        for kind in analyses[0].relations
        if any(analysis.relations[kind] for analysis in analyses)
    ]
    columns: Columns = ("Error", *number_columns("count"))
    caption = "Sets of antecedents, and bridging"
    return response_table(columns, groups, several=len(analyses) > 1, caption=caption)


def _show_counts(values: Iterable[int]) -> list[str]:
    return [f"{value:,}" for value in values]


def _link_table(analyses: Sequence[ErrorAnalysis]) -> Table:
    """What became of the links between each two kinds of mentions."""
    tables = [
        {
            (row.anaphor, row.antecedent): _show_counts(getattr(row, name) for name in OUTCOMES)
            for row in analysis.links
        }
        for analysis in analyses
    ]
    nothing = ["0"] * len(OUTCOMES)
    groups = [
        _group(" → ".join(pair), analyses, [table.get(pair, nothing) for table in tables])
        for pair in dict.fromkeys(pair for table in tables for pair in table)
    ]
    columns: Columns = ("Link", *number_columns(*OUTCOMES))
    caption = "Anaphors and their nearest antecedents"
    return response_table(columns, groups, several=len(analyses) > 1, caption=caption)


def _antecedent_table(analyses: Sequence[ErrorAnalysis]) -> Table:
    """Tuggener's counts, by kind of anaphor."""
    metrics = dict.fromkeys(metric for analysis in analyses for metric in analysis.antecedents)
    kinds = dict.fromkeys(
        kind for analysis in analyses for table in analysis.antecedents.values() for kind in table
    )

    def cells_of(analysis: ErrorAnalysis, kind: str) -> Cells:
        tables = (analysis.antecedents.get(metric, {}).get(kind, {}) for metric in metrics)
        return _show_counts(table.get(name, 0) for table in tables for name in COUNTS)

    groups = [
        _group(kind, analyses, [cells_of(analysis, kind) for analysis in analyses])
        for kind in kinds
    ]
    columns: list[Column | str] = ["Anaphor"]
    for metric in metrics:
        columns += number_columns(*COUNTS, group=metric.capitalize())
    caption = "Antecedents: right, wrong, missed, spurious"
    return response_table(columns, groups, several=len(analyses) > 1, caption=caption)


def _mention_table(analysis: ErrorAnalysis, top: int, behind: str) -> Table:
    """The most expensive mentions, with their errors."""
    rows = [
        (
            _show_document(mention_cost.document, analysis),
            _show_tokens(mention_cost.mention),
            _show_words(mention_cost.mention, _TEXT),
            ", ".join(mention_cost.errors) or "–",
            mention_cost.key_entity or "–",
            mention_cost.response_entity or "–",
            f"{100 * mention_cost.cost:.3f}",
        )
        for mention_cost in analysis.mentions(top)
    ]
    columns: Columns = ("Document", "Tokens", "Mention", "Error", "Key", "Response")
    caption = f"The most expensive mentions{behind}"
    return table_of((*columns, *number_columns("points")), rows, caption=caption)


def _entity_table(analysis: ErrorAnalysis, top: int, behind: str) -> Table:
    """The most expensive entities, with their parts."""
    rows = [
        (
            _show_document(entity.document, analysis),
            f"{entity.side} {entity.name}",
            _show_tokens(entity.mention),
            _show_words(entity.mention, _TEXT),
            *_show_counts((entity.size, entity.parts, entity.alone)),
            f"{100 * entity.cost:.3f}",
        )
        for entity in analysis.entities(top)
    ]
    numbers = number_columns("size", "parts", "alone", "points")
    columns: Columns = ("Document", "Entity", "Tokens", "Name", *numbers)
    return table_of(columns, rows, caption=f"The most expensive entities{behind}")


def list_tables(analyses: Sequence[ErrorAnalysis], kinds: Sequence[str]) -> list[Table]:
    """All errors of some kinds, a table for each kind that occurs."""
    several = len(analyses) > 1
    tables = []
    for kind in kinds:
        rows = [
            (*([analysis.result.response] if several else []), *_list_cells(analysis, error))
            for analysis in analyses
            for error in analysis.listed(kind)
        ]
        is_relation = kind in analyses[0].relations
        sides = ("In the key", "In the response") if is_relation else ("Key", "Response")
        names = ("Document", "Tokens", "Text", _INSTEAD.get(kind, ""), *sides)
        columns = ["Of"] if several else []
        columns += filter(None, names)
        if rows:
            tables.append(table_of(columns, rows, caption=f"{kind}: {len(rows):,}"))
    return tables


def _list_cells(analysis: ErrorAnalysis, error: ErrorInstance) -> list[str]:
    name, n_further = error.mentions[error.name], len(error.mentions) - 1
    cells = [
        _show_document(error.document, analysis),
        _show_tokens(name),
        _show_words(name, _LISTED) + (f" (+{n_further:,})" if n_further else ""),
    ]
    if error.instead is not None:
        instead = f"{_show_tokens(error.instead)} {_show_words(error.instead, _INSTEAD_TEXT)}"
        cells.append(instead.strip())
    return [*cells, error.key_entity or "–", error.response_entity or "–"]


def _show_document(name: str, analysis: ErrorAnalysis) -> str:
    """A document's id without the part that all ids end in, and short enough for a table."""
    part = "; part 000"
    if all(identifier.endswith(part) for identifier in analysis.result.document_ids):
        name = name.removesuffix(part)
    if len(name) <= _DOCUMENT:
        return name
    half = _DOCUMENT // 2
    return f"{name[: half - 1]}…{name[-half:]}"


def _show_tokens(place: Place) -> str:
    if place.start is None or place.end is None:
        return ""
    if place.start == place.end:  # in text that the key lacks
        return f"before {place.start}"
    last = place.end - 1
    return f"{place.start}" if last == place.start else f"{place.start}–{last}"


def _show_words(place: Place, limit: int) -> str:
    """A mention's text, and that of the key mention it is matched with, if this differs."""
    text = _cut_text(place.text, limit)
    if place.match is None:
        return text
    matched_text = _cut_text(place.match.text, limit) or _show_tokens(place.match)
    return f"{text} (matched with {matched_text})".strip()


def _cut_text(text: str, limit: int) -> str:
    return cut_short(" ".join(text.split()), limit)

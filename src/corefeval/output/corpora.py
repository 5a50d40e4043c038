"""What is in corpora, and how far their annotators agree, in every format."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from statistics import fmean
from typing import TYPE_CHECKING

from corefeval.diagnostics import plural
from corefeval.display import Row, shorten
from corefeval.output.tables import (
    Cell,
    Cells,
    Column,
    Drawing,
    NotedDrawing,
    Sheet,
    Table,
    number_columns,
    percent,
    row_label,
    table_of,
    titled_rows,
)

if TYPE_CHECKING:
    from corefeval.analysis.agreement import Agreement
    from corefeval.analysis.statistics import EntityRow, Statistics

_NAME = 28  # characters that a table shows of a name
_LABELS = {
    "n_documents": "Documents",
    "sentences": "Sentences",
    "tokens": "Tokens",
    "empty_nodes": "  empty nodes",
    "mentions": "Mentions",
    "nested": "  nested",
    "discontinuous": "  discontinuous",
    "zeros": "  zeros",
    "repeated": "  repeated",
    "mean_mention_length": "  mean length",
    "entities": "Entities",
    "singletons": "  singletons",
    "mean_entity_size": "  mean size",
    "largest_entity": "  largest",
}
_NON_IDENTITY_LABELS = {
    "sets": "Sets of antecedents",
    "bridging": "Bridging",
    "non_referring": "Non-referring mentions",
    "deixis": "Mentions of deixis",
    "deixis_entities": "  entities",
}


@dataclass(frozen=True)
class StatisticsDrawing(Drawing):
    """The statistics of one or more corpora."""

    results: Sequence[Statistics]
    entities: int = 0

    def sheet(self, format: str) -> Sheet:
        """Counts below each other, then sizes of entities, and kinds of mentions."""
        corpora = self.results
        rows: list[tuple[str, ...]] = []
        for name, label in _LABELS.items():
            if any(getattr(statistics, name) is not None for statistics in corpora):
                rows.append(_attribute_row(label, name, corpora))
            elif name == "sentences" and any(corpus.tokens is not None for corpus in corpora):
                rows.append((label, *("unknown" for _ in corpora)))
        sizes = [statistics.sizes for statistics in corpora]
        rows += [_count_row(f"  of size {size}", size, sizes) for size in sizes[0]]
        rows += self._non_identity_rows()
        for kind in dict.fromkeys(name for statistics in corpora for name in statistics.kinds):
            rows.append((kind, *("" for _ in corpora)))
            tables = [statistics.kinds.get(kind, {}) for statistics in corpora]
            for value in dict.fromkeys(value for table in tables for value in table):
                rows.append(_count_row(f"  {value or '(none)'}", value, tables))
        names = [statistics.name.rsplit("/", 1)[-1] for statistics in corpora]
        parts = [table_of(("", *number_columns(*names)), rows)]
        for name, statistics in zip(names, corpora, strict=True):
            if entities := statistics.entity_table(self.entities):
                behind = f" of {name}" if len(names) > 1 else ""
                parts.append(entity_table(entities, f"The largest entities{behind}"))
        return Sheet(tuple(parts), gap=2)

    def list_rows(self, statistics: Statistics) -> list[Row]:
        """A row for each number, or for each of the largest entities."""
        if not self.entities:
            return statistics.rows()
        table = statistics.entity_table(self.entities)
        return [{"corpus": statistics.name, **entity_row(entity)} for entity in table]

    def _non_identity_rows(self) -> list[tuple[str, ...]]:
        """Rows for sets, bridging, non-referring mentions and deixis, where a corpus has any."""
        rows = []
        tables = [statistics.relations for statistics in self.results]
        for name, label in _NON_IDENTITY_LABELS.items():
            if any(getattr(statistics, name) for statistics in self.results):
                rows.append(_attribute_row(label, name, self.results))
            if name == "bridging":
                relations = dict.fromkeys(relation for table in tables for relation in table)
                rows += [_count_row(f"  {relation}", relation, tables) for relation in relations]
        return rows

    def record(self) -> object:
        """A list of objects, one for each corpus."""
        return [
            {**statistics.as_dict(), **entity_record(statistics.entity_table(self.entities))}
            for statistics in self.results
        ]


def entity_table(entities: Sequence[EntityRow], caption: str) -> Table:
    """The largest entities: where they are and, if a response was compared, what became of them."""
    is_compared = entities[0].recall is not None
    several = len({entity.document for entity in entities}) > 1
    rows = [
        (
            *([shorten(entity.document, _NAME)] if several else []),
            shorten(" ".join(entity.name.split()), _NAME),
            f"{entity.mentions:,}",
            _show_place(entity.first, entity.first_sentence),
            _show_place(entity.last, entity.last_sentence),
            *(_show_outcome(entity) if is_compared else ()),
        )
        for entity in entities
    ]
    columns: list[Column | str] = ["Document"] if several else []
    columns += ["Entity", *number_columns("mentions"), "First", "Last"]
    if is_compared:
        columns += [*number_columns("found", "together"), "Merged with", "Split into"]
    return table_of(columns, rows, caption=caption)


def _show_outcome(entity: EntityRow) -> tuple[str, ...]:
    merged, split = (_show_parts(parts) for parts in (entity.merged, entity.split))
    recall, together = entity.recall or 0.0, entity.together or 0.0
    return percent(recall), percent(together), merged, split if len(entity.split) > 1 else "–"


def _show_parts(parts: Sequence[tuple[str, int]]) -> str:
    """The largest part with its size, and how many more there are."""
    if not parts:
        return "–"
    (name, count), *following = parts
    more = f" and {len(following):,} more" if following else ""
    return f"{shorten(' '.join(name.split()), _NAME)} ({count:,}){more}"


def _show_place(position: int | None, sentence: int | None) -> str:
    """The sentence of a place, or the token where sentences are not known."""
    if sentence is not None:
        return f"sentence {sentence:,}"
    return "–" if position is None else f"token {position:,}"


def entity_row(entity: EntityRow) -> Row:
    """The entity for CSV: parts are joined, with their sizes."""
    row = {name: value for name, value in entity.as_dict().items() if value is not None}
    for name in ("merged", "split"):
        parts = getattr(entity, name)
        row[name] = "; ".join(f"{part} ({count})" for part, count in parts)
        if entity.recall is None:
            del row[name]
    return row


def entity_record(entities: Sequence[EntityRow]) -> dict[str, object]:
    """The entities for JSON; nothing if none are asked for."""
    return {"largest_entities": [entity.as_dict() for entity in entities]} if entities else {}


def _attribute_row(label: str, name: str, corpora: Sequence[Statistics]) -> tuple[str, ...]:
    return label, *(_show_number(getattr(statistics, name)) for statistics in corpora)


def _count_row(label: str, value: str, tables: Sequence[Mapping[str, int]]) -> tuple[str, ...]:
    return label, *(_show_number(table.get(value, 0)) for table in tables)


def _show_number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


_ROOM = 60  # names that take more do not fit side by side: columns get numbers
_ITSELF = "–"


@dataclass(frozen=True)
class AgreementDrawing(NotedDrawing):
    """The agreement between annotators; JSON always has the documents."""

    results: Sequence[Agreement]
    by_document: bool = False

    def sheet_of(self, agreement: Agreement, format: str) -> Sheet:
        """Tables of α and of F1."""
        tables = _make_tables(agreement, self.by_document)
        return Sheet(tuple(tables), tuple(_describe_annotators(agreement)), (agreement.signature,))

    def list_rows(self, agreement: Agreement) -> list[Row]:
        """A row for each document, measure and pair."""
        return agreement.rows(by_document=self.by_document)


def _make_tables(agreement: Agreement, by_document: bool) -> list[Table]:
    """The tables, each with its title for a caption."""
    two = len(agreement.annotators) == 2
    tables = [
        ("Krippendorff's α over chains", _alpha_table(agreement)),
        ("F1" if two else "F1 of each pair", (_f1_table if two else _pair_table)(agreement)),
    ]
    if by_document:
        title = "F1 by document" if two else "Mean F1 of the pairs by document"
        tables += [
            ("Krippendorff's α by document", _document_alpha_table(agreement)),
            (title, _document_f1_table(agreement)),
        ]
    if agreement.ceilings:
        tables.append(("Responses compared with annotators", _ceiling_table(agreement)))
    return [table._replace(caption=title) for title, table in tables]


def _alpha_table(agreement: Agreement) -> Table:
    rows = [
        (
            row_label(_title_of_distance(name)),
            Cell(_show_decimal(coefficient.alpha), bold=True),
            _show_decimal(coefficient.observed),
            _show_decimal(coefficient.expected),
        )
        for name, coefficient in agreement.alphas.items()
    ]
    return table_of(("Distance", *number_columns("α", "Observed", "Expected")), rows)


def _f1_table(agreement: Agreement) -> Table:
    """A row for each metric, where there is only one pair."""
    rows = [
        (row_label(agreement.titles[metric]), percent(mean))
        for metric, mean in agreement.means.items()
    ]
    return table_of(("Metric", *number_columns("F1")), rows)


def _pair_table(agreement: Agreement) -> Table:
    """Annotators by annotators for each metric, with means."""
    names = agreement.annotators
    numbered = sum(map(len, names)) > _ROOM
    numbers = [str(number) for number in range(1, len(names) + 1)]
    labels = [f"{number} {name}" for number, name in zip(numbers, names, strict=True)]
    sections = []
    for metric, pairs in agreement.pairwise.items():
        rows: list[Cells] = [
            (
                labels[index] if numbered else name,
                *(percent(pairs[name, partner]) if name != partner else _ITSELF
                  for partner in names),
                percent(fmean(f1 for pair, f1 in pairs.items() if name in pair)),
            )
            for index, name in enumerate(names)
        ]  # fmt: skip
        blank = [""] * len(names)
        rows = titled_rows(row_label(agreement.titles[metric]), rows)
        rows.append(("", "mean", *blank, Cell(percent(agreement.means[metric]), bold=True)))
        sections.append(rows)
    headings = (*(numbers if numbered else names), "Mean")
    return table_of(("Metric", "Annotator", *number_columns(*headings)), *sections)


def _ceiling_table(agreement: Agreement) -> Table:
    """Value, level, ceiling and share of each response, with intervals where there are any."""
    rows = agreement.ceiling_rows()
    columns = ("value", "level", "ceiling", "share")
    intervals = [name for name in columns if any(f"{name}_low" in row for row in rows)]
    sections = []
    for metric, group in groupby(rows, key=itemgetter("metric")):
        cells = []
        for row in group:
            values = [percent(row[name]) or _ITSELF for name in columns]
            ends = [[percent(row.get(f"{n}_{end}")) for end in ("low", "high")] for n in intervals]
            cells.append((row["kind"], row["who"], *values, *map("–".join, ends)))
        title = agreement.titles.get(metric, metric.capitalize())
        sections.append(titled_rows(row_label(title), cells))
    headings = [name.capitalize() for name in (*columns, *(f"{n} from–to" for n in intervals))]
    return table_of(("Metric", "Kind", "Response", *number_columns(*headings)), *sections)


def _document_alpha_table(agreement: Agreement) -> Table:
    rows = [
        (document.id, f"{document.mentions:,}", *map(_show_decimal, document.alpha.values()))
        for document in agreement.documents
    ]
    return table_of(
        ("Document", *number_columns("Mentions", *map(_title_of_distance, agreement.counts))), rows
    )


def _document_f1_table(agreement: Agreement) -> Table:
    rows = [
        (document.id, *map(percent, document.means.values())) for document in agreement.documents
    ]
    return table_of(("Document", *number_columns(*agreement.titles.values())), rows)


def _describe_annotators(agreement: Agreement) -> list[str]:
    """Who annotated how much, and which metrics depend on who is the key."""
    mentions = plural(int(agreement.mentions.sum()), "mention")
    documents = plural(len(agreement.document_ids), "document")
    names = ", ".join(map(shorten, agreement.annotators))
    lines = [f"{names}: {documents}, {mentions}"]
    unequal = [
        agreement.titles[metric]
        for metric, pairs in agreement.pairwise.items()
        if any(percent(f1) != percent(pairs[pair[::-1]]) for pair, f1 in pairs.items())
    ]
    if unequal:
        depends = f"{', '.join(unequal)} depend{'s' if len(unequal) == 1 else ''} on who is the key"
        two = len(agreement.annotators) == 2
        lines.append(f"{depends}: " + ("the mean of both ways" if two else "keys are in rows"))
    return lines


def _show_decimal(value: float) -> str:
    return _ITSELF if math.isnan(value) else f"{value:.3f}"


def _title_of_distance(distance: str) -> str:
    return distance.upper() if distance == "masi" else distance.capitalize()

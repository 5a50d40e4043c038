"""Agreement between annotators in every form: tables, JSON and CSV."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from corefeval._version import __version__
from corefeval.diagnostics import UsageError, plural
from corefeval.display import csv_text, json_text, shortened
from corefeval.output.tables import Cell, Column, Table, percent

if TYPE_CHECKING:
    from corefeval.analysis.agreement import Agreement, Pairs

FORMATS = ("text", "json", "csv", "markdown", "latex")

_ROOM = 60  # names that take more do not fit side by side: columns get numbers
_ITSELF = "–"


def render_agreement(
    agreement: Agreement, *, format: str = "text", by_document: bool = False, color: bool = False
) -> str:
    """The agreement as text in the given format; JSON always has the documents."""
    if format == "json":
        return _json(agreement)
    if format == "csv":
        return _csv(agreement, by_document)
    tables = _tables(agreement, by_document)
    if format == "text":
        return _text(agreement, tables, color)
    if format == "markdown":
        return _markdown(agreement, tables)
    if format == "latex":
        return _latex(agreement, tables)
    raise UsageError(f"there is no output format {format!r}: there are {', '.join(FORMATS)}")


def _tables(agreement: Agreement, by_document: bool) -> list[tuple[str, Table]]:
    """The tables, each with its title."""
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
    return tables


def _alpha_table(agreement: Agreement) -> Table:
    headings = ("α", "Observed", "Expected")
    rows = [
        (
            Cell(_title(name), label=True),
            Cell(_decimal(one.alpha), bold=True),
            Cell(_decimal(one.observed)),
            Cell(_decimal(one.expected)),
        )
        for name, one in agreement.alphas.items()
    ]
    columns = (Column("Distance"), *(Column(heading, numeric=True) for heading in headings))
    return Table(columns, (tuple(rows),))


def _f1_table(agreement: Agreement) -> Table:
    """A row for each metric, where there is only one pair."""
    rows = [
        (Cell(agreement.titles[metric], label=True), Cell(percent(mean)))
        for metric, mean in agreement.means.items()
    ]
    return Table((Column("Metric"), Column("F1", numeric=True)), (tuple(rows),))


def _pair_table(agreement: Agreement) -> Table:
    """Annotators by annotators for each metric, with means."""
    names = agreement.annotators
    numbered = sum(map(len, names)) > _ROOM
    numbers = [str(number) for number in range(1, len(names) + 1)]
    labels = [f"{number} {name}" for number, name in zip(numbers, names, strict=True)]
    sections = []
    for metric, pairs in agreement.pairwise.items():
        rows = [
            (
                Cell("" if index else agreement.titles[metric], label=True),
                Cell(labels[index] if numbered else name),
                *(Cell(percent(pairs[name, other]) if name != other else _ITSELF)
                  for other in names),
                Cell(percent(_mean_with(name, pairs))),
            )
            for index, name in enumerate(names)
        ]  # fmt: skip
        blank = [Cell("")] * len(names)
        rows.append((Cell(""), Cell("mean"), *blank, Cell(percent(agreement.means[metric]), True)))
        sections.append(tuple(rows))
    headings = (*(numbers if numbered else names), "Mean")
    columns = [Column(heading, numeric=True) for heading in headings]
    return Table((Column("Metric"), Column("Annotator"), *columns), tuple(sections))


def _mean_with(name: str, pairs: Pairs) -> float:
    values = [f1 for pair, f1 in pairs.items() if name in pair]
    return sum(values) / len(values)


def _document_alpha_table(agreement: Agreement) -> Table:
    columns = (
        *(Column("Document"), Column("Mentions", numeric=True)),
        *(Column(_title(name), numeric=True) for name in agreement.counts),
    )
    rows = [
        (
            Cell(document.id),
            Cell(f"{document.mentions:,}"),
            *(Cell(_decimal(value)) for value in document.alpha.values()),
        )
        for document in agreement.documents
    ]
    return Table(columns, (tuple(rows),))


def _document_f1_table(agreement: Agreement) -> Table:
    titles = agreement.titles.values()
    columns = (Column("Document"), *(Column(title, numeric=True) for title in titles))
    rows = [
        (Cell(document.id), *(Cell(percent(mean)) for mean in document.means.values()))
        for document in agreement.documents
    ]
    return Table(columns, (tuple(rows),))


def _text(agreement: Agreement, tables: Sequence[tuple[str, Table]], color: bool) -> str:
    from corefeval.output.terminal import drawn_text

    titled = [replace(table, caption=title) for title, table in tables]
    return drawn_text(titled, _footer(agreement), color=color)


def _markdown(agreement: Agreement, tables: Sequence[tuple[str, Table]]) -> str:
    from corefeval.output.markdown import code, drawn_markdown, escaped

    parts = [part for title, table in tables for part in (f"**{title}**", drawn_markdown(table))]
    *lines, signature = _footer(agreement)
    return "\n\n".join((*parts, *map(escaped, lines), code(signature))) + "\n"


def _latex(agreement: Agreement, tables: Sequence[tuple[str, Table]]) -> str:
    from corefeval.output.latex import drawn_latex, latex_comments

    parts = [f"% {title}\n{drawn_latex(table)}" for title, table in tables]
    return "\n\n".join((latex_comments(_footer(agreement)), *parts)) + "\n"


def _footer(agreement: Agreement) -> list[str]:
    mentions = plural(int(agreement.mentions.sum()), "mention")
    documents = plural(len(agreement.document_ids), "document")
    names = ", ".join(map(shortened, agreement.annotators))
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
    return [*lines, agreement.signature]


def _json(agreement: Agreement) -> str:
    report = {
        "corefeval": __version__,
        **agreement.as_dict(),
        "notices": [
            {
                "kind": notice.kind,
                "message": notice.message,
                "count": notice.count,
                **({"items": list(notice.items)} if notice.items else {}),
            }
            for notice in agreement.notices
        ],
    }
    return json_text(report)


def _csv(agreement: Agreement, by_document: bool) -> str:
    """A line for each document (empty for all together), measure and pair, unrounded."""
    header = ("document", "measure", "name", "key", "response", "value", "signature")
    everything = [("", agreement.alpha, agreement.pairwise)]
    if by_document:
        everything += [(one.id, one.alpha, one.pairwise) for one in agreement.documents]
    rows = (
        (identifier, *row, agreement.signature)
        for identifier, alpha, pairwise in everything
        for row in _csv_rows(alpha, pairwise)
    )
    return csv_text(header, rows)


def _csv_rows(
    alpha: Mapping[str, float], pairwise: Mapping[str, Pairs]
) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = [
        ("alpha", name, "", "", "" if math.isnan(value) else value) for name, value in alpha.items()
    ]
    rows += [
        ("f1", metric, key, response, f1)
        for metric, pairs in pairwise.items()
        for (key, response), f1 in pairs.items()
    ]
    return rows


def _decimal(value: float) -> str:
    return _ITSELF if math.isnan(value) else f"{value:.3f}"


def _title(distance: str) -> str:
    return distance.upper() if distance == "masi" else distance.capitalize()

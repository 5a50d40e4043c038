"""A comparison in every form: a table for a paper, JSON and CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corefeval._version import __version__
from corefeval.diagnostics import UsageError
from corefeval.display import csv_text, json_text, visible
from corefeval.output.comparison_tables import (
    disagreements,
    driver_table,
    legend,
    main_tables,
    outcome_table,
    pair_table,
    power_sentences,
    slice_table,
    tau_table,
    turned_sentences,
)
from corefeval.output.tables import Table

if TYPE_CHECKING:
    from corefeval.stats import Findings

FORMATS = ("text", "json", "csv", "markdown", "latex")

Part = Table | str  # a table, or a sentence below one


def render_comparison(
    findings: Findings, *, format: str = "text", pairs: bool = False, color: bool = False
) -> str:
    """The findings as text in the given format.

    `pairs` adds the differences of all pairs (with two systems they are always there); CSV, which
    holds one table, then has them in place of the scores. JSON always has everything.
    """
    if format == "json":
        return json_text({"corefeval": __version__, **findings.as_dict()})
    if format == "csv":
        return _csv(findings, pairs)
    if format == "text":
        return _text(findings, _parts(findings, pairs, compact=True), color)
    if format == "markdown":
        return _markdown(findings, _parts(findings, pairs, compact=False))
    if format == "latex":
        return _latex(findings, _parts(findings, pairs, compact=False))
    raise UsageError(f"there is no output format {format!r}: there are {', '.join(FORMATS)}")


def _parts(findings: Findings, pairs: bool, *, compact: bool) -> list[Part]:
    """What follows the main table."""
    compared = findings.comparison
    parts: list[Part] = []
    if pairs or len(compared.systems) == 2:
        parts.append(pair_table(compared, compact=compact))
    parts += [
        slice_table(feature, dict(values), compared, compact=compact)
        for feature, values in findings.slices.items()
    ]
    if findings.differences:
        parts.append(outcome_table(findings.differences, compared))
    for found in findings.differences:
        parts += [driver_table(found, compared)] if found.drivers() else []
        parts += turned_sentences(found)
    if findings.concordance is not None:
        parts += [tau_table(findings), *disagreements(findings)]
    if findings.powers is not None:
        parts += power_sentences(findings.powers, findings.metric)
    return parts


def _signatures(findings: Findings) -> list[str]:
    compared = findings.comparison
    return [*dict.fromkeys(compared.signatures.values()), compared.signature]


def _text(findings: Findings, parts: list[Part], color: bool) -> str:
    from corefeval.output.terminal import drawn_text

    tables = main_tables(findings.comparison, compact=True)
    said = legend(findings.comparison, compact=True)
    between = [""] if parts and isinstance(parts[0], str) else []
    return drawn_text([*tables, said, *between, *parts], _signatures(findings), color=color)


def _markdown(findings: Findings, parts: list[Part]) -> str:
    from corefeval.output.markdown import code, drawn_markdown, escaped

    everything = len(findings.comparison.metrics)
    found = [*map(drawn_markdown, main_tables(findings.comparison, compact=False, most=everything))]
    found.append(escaped(legend(findings.comparison)))
    for part in parts:
        if isinstance(part, str):
            found.append(escaped(part))
        else:
            found += [f"**{escaped(part.caption)}**", drawn_markdown(part)]
    found += map(code, _signatures(findings))
    return "\n\n".join(found) + "\n"


def _latex(findings: Findings, parts: list[Part]) -> str:
    """A table to be put into a paper, over both columns; then tables of what else was asked for."""
    from corefeval.output.latex import drawn_latex, escaped, latex_comments

    signatures = _signatures(findings)
    codes = r" \\ ".join(
        escaped(text, whole=True).replace(r"\textbar{}", r"\textbar\allowbreak{}")
        for text in signatures
    )
    note = f"\\par\\smallskip{{\\tiny\\ttfamily\\raggedright {codes}\\par}}"
    caption = escaped(legend(findings.comparison))
    tabulars = map(drawn_latex, main_tables(findings.comparison, compact=False))
    found = [
        latex_comments(signatures),
        _float("\n\n\\medskip\n".join(tabulars), caption, "comparison", note),
    ]
    tables: list[tuple[str, list[str]]] = []
    for part in parts:  # a sentence goes into the caption of the table before it
        if isinstance(part, Table):
            tables.append((drawn_latex(part), [f"{part.caption}."]))
        elif tables:
            tables[-1][1].append(part)
        else:
            found[0] += f"\n% {visible(part)}"
    for number, (tabular, sentences) in enumerate(tables, 1):
        found.append(_float(tabular, escaped(" ".join(sentences)), f"comparison-{number}"))
    return "\n\n".join(found) + "\n"


def _float(tabular: str, caption: str, label: str, note: str = "") -> str:
    lines = [r"\begin{table*}[t]", r"\centering\small", r"\setlength{\tabcolsep}{4pt}", tabular]
    lines += [f"\\caption{{{caption}}}", f"\\label{{tab:{label}}}", *([note] if note else [])]
    return "\n".join((*lines, r"\end{table*}"))


def _csv(findings: Findings, pairs: bool) -> str:
    """One table: documents where it was asked where systems differ, pairs, or scores."""
    compared = findings.comparison
    if findings.differences:
        rows = [
            {
                "first": one.systems[0],
                "second": one.systems[1],
                "metric": one.metric,
                "rate": one.rate,
                "document": document.id,
                "first_score": document.first,
                "second_score": document.second,
                "difference": document.difference,
                "outcome": document.outcome,
                "influence": document.influence,
            }
            for one in findings.differences
            for document in one.documents
        ]
    else:
        blank = {"feature": "", "value": ""} if findings.slices else {}
        groups = [(blank, compared)]
        groups += [
            ({"feature": feature, "value": value}, one)
            for feature, values in findings.slices.items()
            for value, one in values.items()
        ]
        rows = [
            {**where, **row}
            for where, one in groups
            for row in (one.pair_rows() if pairs else one.rows())
        ]
    return csv_text(list(rows[0]), (row.values() for row in rows))

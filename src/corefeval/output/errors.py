"""Error analyses in every form: tables, JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from corefeval._version import __version__
from corefeval.diagnostics import UsageError, plural
from corefeval.display import csv_text, json_text, shortened, visible
from corefeval.output.error_tables import OUTCOMES, listed_tables, overview_tables
from corefeval.output.tables import Table

if TYPE_CHECKING:
    from corefeval.analysis.errors import ErrorAnalysis

FORMATS = ("text", "json", "csv", "markdown", "latex")


def render_errors(
    analyses: Sequence[ErrorAnalysis],
    *,
    format: str = "text",
    kinds: Sequence[str] = (),
    top: int = 5,
    color: bool = False,
) -> str:
    """The analyses of one or more responses as text in the given format.

    With `kinds` it is the list of all errors of these kinds, else the overview with the `top` most
    expensive mentions and entities.
    """
    if format not in FORMATS:
        raise UsageError(f"there is no output format {format!r}: there are {', '.join(FORMATS)}")
    if format == "json":
        return _json(analyses, kinds, top)
    if format == "csv":
        return _listed_csv(analyses, kinds) if kinds else _csv(analyses, top)
    tables = listed_tables(analyses, kinds) if kinds else overview_tables(analyses, top)
    draw = {"text": _text, "markdown": _markdown, "latex": _latex}[format]
    return draw(tables, _footer(analyses), color)


def _text(tables: Sequence[Table], footer: Sequence[str], color: bool) -> str:
    from corefeval.output.terminal import drawn_text

    return drawn_text(tables, footer, color=color, gap=2)  # for there are many columns


def _markdown(tables: Sequence[Table], footer: Sequence[str], color: bool) -> str:
    from corefeval.output.markdown import code, drawn_markdown, escaped

    parts = [
        part
        for table in tables
        for part in (f"**{escaped(table.caption)}**", drawn_markdown(table))
    ]
    about, *signatures = footer
    return "\n\n".join((*parts, escaped(about), *map(code, signatures))) + "\n"


def _latex(tables: Sequence[Table], footer: Sequence[str], color: bool) -> str:
    from corefeval.output.latex import drawn_latex, latex_comments

    parts = [f"% {visible(' '.join(one.caption.split()))}\n{drawn_latex(one)}" for one in tables]
    return "\n\n".join((latex_comments(footer), *parts)) + "\n"


def _footer(analyses: Sequence[ErrorAnalysis]) -> list[str]:
    first = analyses[0].result
    against = f"{shortened(first.response)} against {shortened(first.key)}"
    names = [] if len(analyses) > 1 else [against]
    lines = [", ".join([*names, plural(len(first.document_ids), "document")])]
    return [*lines, *dict.fromkeys(one.result.signature for one in analyses)]


def _json(analyses: Sequence[ErrorAnalysis], kinds: Sequence[str], top: int) -> str:
    report = {
        "corefeval": __version__,
        "key": analyses[0].result.key,
        "responses": [
            {
                **analysis.as_dict(top=top),
                **(
                    {"listed": {k: [one.as_dict() for one in analysis.listed(k)] for k in kinds}}
                    if kinds
                    else {}
                ),
            }
            for analysis in analyses
        ],
    }
    return json_text(report)


def _csv(analyses: Sequence[ErrorAnalysis], top: int) -> str:
    """A line for each number: which table, row, measure and metric it belongs to, unrounded."""
    header = ("response", "table", "row", "measure", "metric", "value", "signature")
    rows = (
        (one.result.response, *row, one.result.signature)
        for one in analyses
        for row in _csv_rows(one, top)
    )
    return csv_text(header, rows)


def _csv_rows(one: ErrorAnalysis, top: int) -> Iterator[tuple[object, ...]]:
    for kind in one.kinds:
        yield "kind", kind.kind, "count", "", kind.count
        for measure, gains in (("alone", kind.alone), ("in_turn", kind.in_turn)):
            for metric, gain in gains.items():
                yield "kind", kind.kind, measure, metric, gain
    for link in one.links:
        for outcome in OUTCOMES:
            yield "link", f"{link.anaphor} → {link.antecedent}", outcome, "", getattr(link, outcome)
    for metric, table in one.antecedents.items():
        for name, counts in table.items():
            for count, value in counts.items():
                yield "antecedent", name, count, metric, value
    if top <= 0 or not one.shared_out:
        return
    for mention in one.mentions(top):
        row = f"{mention.document}: {mention.mention}"
        yield "mention", row, "cost", "", mention.cost
        for measure, shares in (("recall", mention.recall), ("precision", mention.precision)):
            for metric, share in shares.items():
                yield "mention", row, measure, metric, share
    for entity in one.entities(top):
        row = f"{entity.document}: {entity.side} {entity.name}"
        yield "entity", row, "cost", "", entity.cost
        for metric, share in entity.loss.items():
            yield "entity", row, "loss", metric, share


def _listed_csv(analyses: Sequence[ErrorAnalysis], kinds: Sequence[str]) -> str:
    """A line for each mention of each error; `error` numbers the errors of a response and kind."""
    header = ("response", "kind", "error", "document", "start", "end", "text", "key_entity")
    instead = ("instead_start", "instead_end", "instead_text")
    rows = (
        (analysis.result.response, kind, number, error.document, place.start, place.end,
         place.text, error.key_entity, error.response_entity,
         *((other.start, other.end, other.text) if (other := error.instead) else ("",) * 3))
        for analysis in analyses
        for kind in kinds
        for number, error in enumerate(analysis.listed(kind), start=1)
        for place in error.mentions
    )  # fmt: skip
    return csv_text((*header, "response_entity", *instead), rows)

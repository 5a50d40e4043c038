"""The consensus of annotations, and the audit of a key, in every format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from corefeval._version import __version__
from corefeval.diagnostics import plural
from corefeval.display import Row, shorten
from corefeval.output.tables import (
    Cell,
    Cells,
    Columns,
    Sheet,
    SoloDrawing,
    number_columns,
    percent,
    row_label,
    table_of,
    titled_rows,
)

if TYPE_CHECKING:
    from corefeval.analysis.auditing import Audit
    from corefeval.consensus import Merged


@dataclass(frozen=True)
class MergedDrawing(SoloDrawing):
    """The consensus of annotations; CSV has the contested decisions."""

    results: Sequence[Merged]

    def sheet_of(self, merged: Merged, format: str) -> Sheet:
        """What was kept and overruled, and each annotator against the consensus."""
        entity = merged.entity
        gap = (merged.cost - merged.bound) / merged.cost if merged.cost else 0.0
        number = {
            "Annotators": len(merged.annotators),
            "Quorum": merged.quorum,
            "Mentions kept": int((entity >= 0).sum()),
            "Mentions dropped": int((entity < 0).sum()),
            "Entities": merged.corpus.n_entities,
            "Votes overruled": merged.cost,
            "At least": merged.bound,
            "Contested decisions": len(merged.contested),
        }
        rows: list[Cells] = [(row_label(name), f"{count:,}") for name, count in number.items()]
        rows.insert(7, (row_label("Gap in percent"), percent(gap)))
        result = next(iter(merged.results.values()))
        titles = [result.titles.get(metric, metric) for metric in result.metrics]
        scores: list[Cells] = [
            (name, *(percent(result[metric].f1) for metric in result.metrics))
            for name, result in merged.results.items()
        ]
        tables = (
            table_of(("Consensus", *number_columns("")), rows),
            table_of(
                ("Annotator", *number_columns(*titles)),
                scores,
                caption="F1 of each annotator against the consensus",
            ),
        )
        return Sheet(tables, (), (merged.signature,))

    def record_of(self, merged: Merged) -> object:
        """An object with the consensus and its notices."""
        notices = [notice.as_dict() for notice in merged.notices]
        return {"corefeval": __version__, **merged.as_dict(), "notices": notices}


@dataclass(frozen=True)
class AuditDrawing(SoloDrawing):
    """The audit of a key: `top` findings are shown, 0 for all; CSV and JSON have all."""

    results: Sequence[Audit]
    top: int = 0

    def sheet_of(self, audit: Audit, format: str) -> Sheet:
        """Findings, those that concern the same two entities together, and the calibration."""
        shown = audit.findings[: self.top or None]
        order: dict[tuple[str, str], int] = {}
        for finding in shown:
            order.setdefault(_pair(finding), len(order))
        sections = []
        for (document, _), group in groupby(
            sorted(shown, key=lambda finding: order[_pair(finding)]), _pair
        ):
            rows = [_finding_row(finding) for finding in group]
            sections.append(titled_rows(Cell(document, label=True), rows))
        names = ("Document", "Mention", "Text", "In the key with", "Responses put it with")
        headings: Columns = (*names, *number_columns("Against", "Support", "Suspicion"))
        parts = [table_of(headings, *sections, caption="What looks wrong in the key")]
        if audit.calibration:
            levels = [
                (
                    *(f"{row['suspicion']:.2f}", f"{row['findings']:.1f}"),
                    *(percent(row["recall"]), percent(row["precision"])),
                )
                for row in audit.calibration
            ]
            columns = number_columns("Suspicion", "Findings", "Recall", "Precision")
            caption = "Planted errors among the findings of at least a suspicion, in percent"
            parts.append(table_of(columns, levels, caption=caption))
        text = f"{len(shown):,} of {plural(len(audit.findings), 'finding')}"
        about = f"{text}, by {', '.join(map(shorten, audit.responses))}"
        return Sheet(tuple(parts), (about,), (audit.signature,))

    def record_of(self, audit: Audit) -> object:
        """An object with all findings and notices."""
        notices = [notice.as_dict() for notice in audit.notices]
        return {"corefeval": __version__, **audit.as_dict(), "notices": notices}


def _pair(finding: Row) -> tuple[str, str]:
    """The document, and the two entities that a finding is about."""
    return finding["document"], f"{finding['entity']} {finding['other']}"


def _finding_row(finding: Row) -> Cells:
    places = (_place(finding["entity"]) or "(missing)", _place(finding["other"]))
    numbers = (str(finding["against"]), str(finding["support"]), f"{finding['suspicion']:.2f}")
    return _place(finding["mention"]), shorten(finding["text"]), *places, *numbers


def _place(mention: object) -> str:
    """A mention by its first and last token, as in `3–5`."""
    if not isinstance(mention, list):
        return "" if mention is None else str(mention)
    if mention and isinstance(mention[0], list):
        return ", ".join(map(_place, mention))
    start, end = mention
    return f"{start}" if end == start + 1 else f"{start}–{end - 1}"

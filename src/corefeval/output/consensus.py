"""The consensus of annotations, and the audit of a key, in every format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from corefeval.diagnostics import plural
from corefeval.display import shorten
from corefeval.output.tables import (
    Cells,
    Columns,
    NotedDrawing,
    Sheet,
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
class MergedDrawing(NotedDrawing):
    """The consensus of annotations; CSV has the contested decisions."""

    results: Sequence[Merged]

    def sheet_of(self, merged: Merged, format: str) -> Sheet:
        """What was kept and overruled, and each annotator against the consensus."""
        is_kept, gap = merged.entity >= 0, merged.cost - merged.bound
        counts = {
            "Annotators": f"{len(merged.annotators):,}",
            "Quorum": f"{merged.quorum:,}",
            "Mentions kept": f"{is_kept.sum():,}",
            "Mentions dropped": f"{(~is_kept).sum():,}",
            "Entities": f"{merged.corpus.n_entities:,}",
            "Votes overruled": f"{merged.cost:,}",
            "At least": f"{merged.bound:,}",
            "Gap in percent": percent(gap / max(merged.cost, 1)),
            "Contested decisions": f"{len(merged.contested):,}",
        }
        result = next(iter(merged.results.values()))
        titles = [result.titles.get(metric, metric) for metric in result.metrics]
        scores: list[Cells] = [
            (name, *(percent(result[metric].f1) for metric in result.metrics))
            for name, result in merged.results.items()
        ]
        rows = [(row_label(name), text) for name, text in counts.items()]
        caption = "F1 of each annotator against the consensus"
        tables = (
            table_of(("Consensus", *number_columns("")), rows),
            table_of(("Annotator", *number_columns(*titles)), scores, caption=caption),
        )
        return Sheet(tables, (), (merged.signature,))


@dataclass(frozen=True)
class AuditDrawing(NotedDrawing):
    """The audit of a key: `top` findings are shown, 0 for all; CSV and JSON have all."""

    results: Sequence[Audit]
    top: int = 0

    def sheet_of(self, audit: Audit, format: str) -> Sheet:
        """Findings, those that concern the same two entities together, and the calibration."""
        shown = audit.rows(top=self.top)
        groups: dict[tuple[str, ...], list[Cells]] = {}
        for row in shown:
            places = str(row["entity"] or "(missing)"), str(row["other"])
            numbers = str(row["against"]), str(row["support"]), f"{row['suspicion']:.2f}"
            cells = (str(row["mention"]), shorten(row["text"]), *places, *numbers)
            groups.setdefault((row["document"], *places), []).append(cells)
        sections = [titled_rows(row_label(key[0]), rows) for key, rows in groups.items()]
        names = ("Document", "Mention", "Text", "In the key with", "Responses put it with")
        headings: Columns = (*names, *number_columns("Against", "Support", "Suspicion"))
        parts = [table_of(headings, *sections, caption="What looks wrong in the key")]
        if audit.calibration:
            levels = [
                (f"{suspicion:.2f}", f"{findings:.1f}", percent(recall), percent(precision))
                for suspicion, findings, recall, precision in map(dict.values, audit.calibration)
            ]
            columns = number_columns("Suspicion", "Findings", "Recall", "Precision")
            caption = "Planted errors that are found, by the least suspicion; rates in percent"
            parts.append(table_of(columns, levels, caption=caption))
        text = f"{len(shown):,} of {plural(audit.suspects[0].size, 'finding')}"
        about = f"{text}, by {', '.join(map(shorten, audit.responses))}"
        return Sheet(tuple(parts), (about,), (audit.signature,))

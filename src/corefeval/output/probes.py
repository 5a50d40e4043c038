"""Results of probes, in every format."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from corefeval._version import __version__
from corefeval.diagnostics import plural
from corefeval.display import Row, shorten
from corefeval.output.differences import p_value, show_sign
from corefeval.output.tables import (
    Sheet,
    SoloDrawing,
    Table,
    name_sides,
    number_columns,
    percent,
    table_of,
)
from corefeval.probes.result import Difference, PairedSystems, ProbeResult


@dataclass(frozen=True)
class ProbeDrawing(SoloDrawing):
    """What responses chose: all items, values of groups, a contrast, and comparisons."""

    results: Sequence[ProbeResult]
    by_document: bool = False
    comparisons: Sequence[PairedSystems] = ()

    def sheet(self, format: str) -> Sheet:
        """A table and some sentences for each response, then those on pairs of responses."""
        sheet = super().sheet(format)
        if not self.comparisons:
            return sheet
        rows = [
            [
                f"{shorten(pair.first)} – {shorten(pair.second)}",
                show_sign(pair.difference),
                _show_ends(pair),
                *(p_value(p) for p in (pair.p, pair.adjusted_p)),
                show_sign(pair.f1_difference),
                p_value(pair.f1_p),
            ]
            for pair in self.comparisons
        ]
        names = number_columns("Accuracy", "Interval", "p", "adjusted p", "F1", "p of F1")
        table = table_of(("Responses", *names), rows, caption="Differences")
        return sheet._replace(parts=(*sheet.parts, table))

    def sheet_of(self, result: ProbeResult, format: str) -> Sheet:
        """A table of all items and of values of groups, and sentences on the rest."""
        return Sheet((*self._draw(result),), (), (result.signature,))

    def _draw(self, result: ProbeResult) -> Iterator[Table | str]:
        names = ("accuracy", "low", "high", "precision", "recall", "f1")
        rows = []
        for row in result.rows():
            accuracy, low, high, *rates = (percent(row[name]) for name in names)
            label = f"{row['group']} {row['value']}".strip() or "all"
            interval = f"{low} to {high}" if row["scored"] else ""
            rows.append([label, f"{row['items']:,}", accuracy, interval, *rates])
        columns = number_columns("Items", "Accuracy", "Interval", "P", "R", "F1")
        yield table_of(("", *columns), rows, caption=name_sides(result))
        if self.by_document:
            items = [(d.id, d.choice, d.outcome or "open") for d in result.decisions]
            yield table_of(("Item", "Choice", "Outcome"), items)
        people = {label: percent(share) for label, share in result.human.items()}
        lists = ("Outcomes", result.outcomes), ("Choices", result.choices), ("People", people)
        for name, numbers in lists:
            if numbers:
                yield f"{name}: {', '.join(f'{label} {n}' for label, n in numbers.items())}"
        yield from _tell_pairs(result)

    def list_rows(self, result: ProbeResult) -> list[Row]:
        """A row for each part, or for each item."""
        return result.rows(by_item=self.by_document)

    def record_of(self, result: ProbeResult) -> Row:
        """Everything that JSON has of one result."""
        groups = defaultdict[str, Row](dict)
        for group, value, part in result.parts()[1:]:
            groups[group][value] = part.as_dict()
        decisions = [decision.figures for decision in result.decisions]
        return {
            "response": result.response,
            **result.as_dict(),
            "groups": groups,
            "contrast": result.contrast and result.contrast.as_dict(),
            "consistency": result.consistency.as_dict(),
            "signature": result.signature,
            "notices": [notice.as_dict() for notice in result.notices],
            **({"decisions": decisions} if self.by_document else {}),
        }

    def record(self) -> Row:
        """The probe, all results, and all comparisons."""
        return {
            "corefeval": __version__,
            "probe": self.results[0].key,
            "results": [self.record_of(result) for result in self.results],
            "comparisons": [pair.as_dict() for pair in self.comparisons],
        }


def _show_ends(difference: Difference) -> str:
    return f"{show_sign(difference.low)} to {show_sign(difference.high)}"


def _tell_pairs(result: ProbeResult) -> Iterator[str]:
    """Sentences on the contrast and on twins, if there are any."""
    if contrast := result.contrast:
        first, second = map(percent, contrast.rates)
        text = f"{contrast.group}: {first} {contrast.of} for {contrast.first}, {second} for "
        text += f"{contrast.second}, a difference of {show_sign(contrast.difference)} "
        text += f"({_show_ends(contrast)})"
        yield text + (f"; ratio of F1 {contrast.ratio:.3f}" if contrast.ratio else "")
        if paired := contrast.paired:
            text = f"{plural(paired.pairs, 'pair')} of {contrast.first} and {contrast.second}: a "
            text += f"difference of {show_sign(paired.difference)} ({_show_ends(paired)})"
            yield f"{text}, McNemar's p {p_value(paired.p)}"
    twins = result.consistency
    if twins.pairs:
        text = f"{plural(twins.pairs, 'pair')}: all items have the same choice in "
        text += f"{twins.same_choice:,}; all are right in {twins.all_right:,} of "
        yield f"{text}{twins.scored:,} scored"

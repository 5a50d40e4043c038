"""Results of probes, in every format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from corefeval._version import __version__
from corefeval.diagnostics import plural
from corefeval.display import Row, shorten
from corefeval.output.differences import p_value, show_sign
from corefeval.output.tables import (
    Drawing,
    Sheet,
    Table,
    name_sides,
    number_columns,
    percent,
    table_of,
)
from corefeval.probes.result import Difference, PairedSystems, ProbeResult


@dataclass(frozen=True)
class ProbeDrawing(Drawing):
    """What responses chose: all items, values of groups, a contrast, and comparisons."""

    results: Sequence[ProbeResult]
    by_document: bool = False
    comparisons: Sequence[PairedSystems] = ()

    def sheet(self, format: str) -> Sheet:
        """A table and some sentences for each response, then those on pairs of responses."""
        parts = [part for result in self.results for part in self._draw(result)]
        if self.comparisons:
            rows = [_show_comparison(pair) for pair in self.comparisons]
            names = number_columns("Accuracy", "Interval", "p", "adjusted p", "F1", "p of F1")
            parts.append(table_of(("Responses", *names), rows, caption="Differences"))
        return Sheet(tuple(parts), (), tuple(dict.fromkeys(r.signature for r in self.results)))

    def _draw(self, result: ProbeResult) -> Iterator[Table | str]:
        rows = []
        for row in result.rows():
            names = ("accuracy", "low", "high", "precision", "recall", "f1")
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
        lists: dict[str, Any] = {
            "Outcomes": result.outcomes,
            "Choices": result.choices,
            "People": people,
        }
        for name, numbers in lists.items():
            if numbers:
                yield f"{name}: {', '.join(f'{label} {n}' for label, n in numbers.items())}"
        yield from _tell_pairs(result)

    def list_rows(self, result: ProbeResult) -> list[Row]:
        """A row for each part, or for each item."""
        return result.rows(by_item=self.by_document)

    def record(self) -> object:
        """The probe, all results, and all comparisons."""
        return {
            "corefeval": __version__,
            "probe": self.results[0].key,
            "results": [self._record(result) for result in self.results],
            "comparisons": [pair.as_dict() for pair in self.comparisons],
        }

    def _record(self, result: ProbeResult) -> Row:
        groups: dict[str, Row] = {}
        for group, value, part in result.parts()[1:]:
            groups.setdefault(group, {})[value] = part.as_dict()
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


def _show_comparison(pair: PairedSystems) -> list[str]:
    low, high = map(show_sign, pair.interval)
    numbers = [show_sign(pair.difference), f"{low} to {high}", p_value(pair.p)]
    numbers += [p_value(pair.adjusted_p), show_sign(pair.f1_difference), p_value(pair.f1_p)]
    return [f"{shorten(pair.first)} – {shorten(pair.second)}", *numbers]


def _describe(difference: Difference) -> str:
    low, high = map(show_sign, difference.interval)
    return f"a difference of {show_sign(difference.difference)} ({low} to {high})"


def _tell_pairs(result: ProbeResult) -> Iterator[str]:
    """Sentences on the contrast and on twins, if there are any."""
    twins = result.consistency
    if contrast := result.contrast:
        first, second = map(percent, contrast.rates)
        text = f"{contrast.group}: {first} {contrast.of} for {contrast.first}, {second} for "
        text += f"{contrast.second}, {_describe(contrast)}"
        yield text + (f"; ratio of F1 {contrast.ratio:.3f}" if contrast.ratio else "")
        if paired := contrast.paired:
            text = f"{plural(paired.pairs, 'pair')} of {contrast.first} and {contrast.second}: "
            yield f"{text}{_describe(paired)}, McNemar's p {p_value(paired.p)}"
    if twins.pairs:
        text = f"{plural(twins.pairs, 'pair')}: all items have the same choice in "
        text += f"{twins.same_choice:,}; all are right in {twins.all_right:,} of "
        yield f"{text}{twins.scored:,} scored"

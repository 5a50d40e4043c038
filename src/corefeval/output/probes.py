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
        rows = [
            [
                f"{shorten(pair.first)} – {shorten(pair.second)}",
                show_sign(pair.difference),
                _show_ends(pair),
                p_value(pair.p),
                p_value(pair.adjusted_p),
                show_sign(pair.f1_difference),
                p_value(pair.f1_p),
            ]
            for pair in self.comparisons
        ]
        names = number_columns("Accuracy", "Interval", "p", "adjusted p", "F1", "p of F1")
        if rows:
            parts.append(table_of(("Responses", *names), rows, caption="Differences"))
        return Sheet(tuple(parts), (), tuple(dict.fromkeys(r.signature for r in self.results)))

    def _draw(self, result: ProbeResult) -> Iterator[Table | str]:
        rows = [
            [
                f"{row['group']} {row['value']}".strip() or "all",
                f"{row['items']:,}",
                percent(row["accuracy"]),
                f"{percent(row['low'])} to {percent(row['high'])}" if row["scored"] else "",
                *(percent(row[rate]) for rate in ("precision", "recall", "f1")),
            ]
            for row in result.rows()
        ]
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

    def record(self) -> Row:
        """The probe, all results, and all comparisons."""
        return {
            "corefeval": __version__,
            "probe": self.results[0].key,
            "results": [self._record(result) for result in self.results],
            "comparisons": [pair.as_dict() for pair in self.comparisons],
        }

    def _record(self, result: ProbeResult) -> Row:
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

"""Results of probes, in every format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from corefeval._version import __version__
from corefeval.display import Row
from corefeval.output.tables import (
    Drawing,
    Sheet,
    Table,
    name_sides,
    number_columns,
    percent,
    table_of,
)

if TYPE_CHECKING:
    from corefeval.probes.result import Contrast, Paired, PairedSystems, ProbeResult


@dataclass(frozen=True)
class ProbeDrawing(Drawing):
    """What responses chose: all items, values of groups, a contrast, and comparisons."""

    results: Sequence[ProbeResult]
    by_document: bool = False
    comparisons: Sequence[PairedSystems] = ()

    def sheet(self, format: str) -> Sheet:
        """A table and some sentences for each response, then those on pairs of responses."""
        parts = [part for result in self.results for part in self._draw(result)]
        for pair in self.comparisons:
            p = f"{_describe(pair)}, {pair.adjusted_p:.2g} with Holm's correction"
            f1 = f"F1 {percent(pair.f1_difference)}, p = {pair.f1_p:.2g}"
            parts.append(f"{pair.first} against {pair.second}: accuracy {p}; {f1}")
        signatures = dict.fromkeys(result.signature for result in self.results)
        return Sheet(tuple(parts), (), tuple(signatures))

    def _draw(self, result: ProbeResult) -> list[Table | str]:
        headings = ("Items", "Accuracy", "Interval", "P", "R", "F1")
        rows = [
            (
                f"{group} {value}".strip() or "all",
                f"{part.items:,}",
                percent(part.accuracy),
                _show_ends(part.interval) if part.interval else "",
                *(percent(part.links.rates[r]) if part.scored else "" for r in _RATES),
            )
            for group, value, part in result.parts()
        ]
        table = table_of(("", *number_columns(*headings)), rows, caption=name_sides(result))
        lines = [f"Outcomes: {_list_numbers(result.outcomes)}"] if result.outcomes else []
        lines.append(f"Choices: {_list_numbers(result.choices)}")
        if result.human:
            shares = {label: f"{percent(share)} %" for label, share in result.human.items()}
            lines.append(f"People: {_list_numbers(shares)}")
        lines += [_tell_contrast(result.contrast)] if result.contrast else []
        pairs, alike, scored, right = result.consistency
        if pairs:
            text = f"Of {pairs:,} pairs, {alike:,} have the same choice"
            lines.append(f"{text}; of {scored:,} scored pairs, {right:,} are all right")
        tables: list[Table | str] = [table]
        if self.by_document:
            items = [[d.id, d.choice, d.outcome or "open"] for d in result.decisions]
            tables.append(table_of(("Item", "Choice", "Outcome"), items))
        return tables + lines

    def list_rows(self, result: ProbeResult) -> list[Row]:
        """A row for each part, or for each item."""
        return result.rows(by_item=self.by_document)

    def record(self) -> object:
        """The probe, all results, and all comparisons."""
        results = []
        for result in self.results:
            groups: dict[str, Row] = {}
            for group, value, part in result.parts()[1:]:
                groups.setdefault(group, {})[value] = part.as_dict()
            details = {
                "contrast": _as_record(result.contrast),
                "consistency": _as_record(result.consistency),
            }
            items = (
                {"decisions": [d.as_row() for d in result.decisions]} if self.by_document else {}
            )
            results.append(
                {
                    "response": result.response,
                    **result.as_dict(),
                    "groups": groups,
                    **details,
                    "signature": result.signature,
                    "notices": [notice.as_dict() for notice in result.notices],
                    **items,
                }
            )
        comparisons = [_as_record(pair) for pair in self.comparisons]
        head = {"corefeval": __version__, "probe": self.results[0].key}
        return {**head, "results": results, "comparisons": comparisons}


_RATES = ("precision", "recall", "f1")


def _as_record(value: Any) -> Any:
    """A named tuple for JSON, in which an interval is its two ends."""
    if not hasattr(value, "_asdict"):
        return value
    record: Row = {}
    for name, field in value._asdict().items():
        record |= (
            zip(("low", "high"), field, strict=True)
            if name == "interval"
            else {name: _as_record(field)}
        )
    return record


def _show_ends(ends: Iterable[float]) -> str:
    return " to ".join(map(percent, ends))


def _list_numbers(numbers: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {number}" for name, number in numbers.items())


def _describe(pair: Paired | PairedSystems) -> str:
    return f"{percent(pair.difference)} ({_show_ends(pair.interval)}), p = {pair.p:.2g}"


def _tell_contrast(contrast: Contrast) -> str:
    sides = zip((contrast.first, contrast.second), map(percent, contrast.rates), strict=True)
    text = f"{contrast.group}: {_list_numbers(dict(sides))} {contrast.of}, a difference of "
    text += f"{percent(contrast.difference)} ({_show_ends(contrast.interval)})"
    text += f", ratio of F1 {contrast.ratio:.3f}" if contrast.ratio else ""
    if contrast.paired:
        text += f"; in {contrast.paired.pairs:,} pairs {_describe(contrast.paired)}"
    return text

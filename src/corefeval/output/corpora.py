"""What is in corpora, in every format: a column for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from corefeval.output.drawing import Drawing
from corefeval.output.tables import Sheet, table_of

if TYPE_CHECKING:
    from corefeval.analysis.statistics import Statistics

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
_BEYOND = {
    "sets": "Sets of antecedents",
    "bridging": "Bridging",
    "non_referring": "Non-referring mentions",
    "deixis": "Mentions of deixis",
    "deixis_entities": "  entities",
}


@dataclass(frozen=True)
class StatisticsDrawing(Drawing):
    """The statistics of one or more corpora."""

    things: Sequence[Statistics]

    def sheet(self, format: str) -> Sheet:
        """Counts below each other, then sizes of entities, and kinds of mentions."""
        many = self.things
        rows = [
            (label, *(_number(getattr(one, name)) for one in many))
            for name, label in _LABELS.items()
            if any(getattr(one, name) is not None for one in many)
        ]
        rows += [
            (f"  of size {size}", *(_number(one.sizes[size]) for one in many))
            for size in many[0].sizes
        ]
        rows += self._beyond()
        for kind in dict.fromkeys(name for one in many for name in one.kinds):
            rows.append((kind, *("" for _ in many)))
            tables = [one.kinds.get(kind, {}) for one in many]
            for value in dict.fromkeys(value for table in tables for value in table):
                counts = (_number(table.get(value, 0)) for table in tables)
                rows.append((f"  {value or '(none)'}", *counts))
        names = (one.name.rsplit("/", 1)[-1] for one in many)
        return Sheet((table_of(("", *names), rows),), gap=2)

    def _beyond(self) -> list[tuple[str, ...]]:
        """What is no identity, where there is any of it."""
        rows = []
        for name, label in _BEYOND.items():
            if any(getattr(one, name) for one in self.things):
                rows.append((label, *(_number(getattr(one, name)) for one in self.things)))
            if name == "bridging":
                for relation in dict.fromkeys(r for one in self.things for r in one.relations):
                    counts = (_number(one.relations.get(relation, 0)) for one in self.things)
                    rows.append((f"  {relation}", *counts))
        return rows

    def record(self) -> object:
        """A list of objects, one for each corpus."""
        return [one.as_dict() for one in self.things]


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"

"""Slices: a result for each value of a feature."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from corefeval.diagnostics import UsageError
from corefeval.results.result import CountTable, Result

Level = Literal["document", "entity", "mention"]
SPECIAL = ("other", "none")


@dataclass(frozen=True, eq=False)
class Slices(Mapping[str, Result]):
    """One feature's slices: `slices["pronoun"]["muc"].f1`.

    `whole` is all values together. `sizes` says how many documents, entities or mentions of the
    key have each value, and `undefined` which metrics have no share for single values, and why.
    `special` says which names are no values: of what has none (`none`), of rare ones (`other`).
    """

    feature: str
    level: Level
    whole: Result
    results: Mapping[str, Result]
    sizes: Mapping[str, int] = field(default_factory=dict)
    undefined: Mapping[str, str] = field(default_factory=dict)
    special: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, value: str) -> Result:
        if value not in self.results and value.replace("-", "–") in self.results:
            value = value.replace("-", "–")
        if value not in self.results:
            known = ", ".join(self.results)
            raise UsageError(f"no {self.level} has {self.feature} {value!r}: there are {known}")
        return self.results[value]

    def get(self, value: str, default: Any = None) -> Any:
        """The result of a value, or something else where there is none."""
        return self.results.get(value, default)

    def __contains__(self, value: object) -> bool:
        return value in self.results

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def joined(self, other: Slices) -> Slices:
        """The slices of two corpora together; a value that one lacks is empty there."""
        sides = (self, other)
        roles = [role for role in SPECIAL if any(role in side.special for side in sides)]
        values = in_order(v for side in sides for v in side if v not in side.special.values())
        special = {role: unlike(values, role) for role in roles}
        # Of each name now, what it is called on both sides.
        sources: dict[str, tuple[str | None, str | None]] = {
            v: (self._value(v), other._value(v)) for v in values
        }
        sources |= {
            name: (self.special.get(role), other.special.get(role))
            for role, name in special.items()
        }
        return replace(
            self,
            whole=self.whole + other.whole,
            results={name: self._filled(name, other, *old) for name, old in sources.items()},
            sizes={
                name: self.sizes.get(mine or "", 0) + other.sizes.get(theirs or "", 0)
                for name, (mine, theirs) in sources.items()
            },
            special=special,
        )

    def only(self, metrics: Iterable[str]) -> Slices:
        """The same with some of the metrics."""
        kept = list(metrics)
        return replace(
            self,
            whole=self.whole._only(kept),
            results={value: result._only(kept) for value, result in self.results.items()},
            undefined={name: why for name, why in self.undefined.items() if name in kept},
        )

    def _value(self, name: str) -> str | None:
        """The name, if it is the name of a value here."""
        return name if name in self.results and name not in self.special.values() else None

    def _filled(self, name: str, other: Slices, mine: str | None, theirs: str | None) -> Result:
        """The result of a value that is called `mine` here and `theirs` there."""
        parts = []
        for slices, value in ((self, mine), (other, theirs)):
            part = None if value is None else slices.results.get(value)
            parts.append(part and _renamed(part, f"{self.feature}={name}"))
        sample = next(part for part in parts if part is not None)
        if self.level == "document":  # a document without the value has no row
            found = [part for part in parts if part is not None]
        else:
            found = [
                part or _empty(sample, slices.whole.document_ids)
                for part, slices in zip(parts, (self, other), strict=True)
            ]
        return found[0].without_intervals() if len(found) == 1 else found[0] + found[1]


def in_order(values: Iterable[str]) -> list[str]:
    """Each value once; numbers and bins of numbers ascending, others as they come.

    >>> in_order(["11+", "1", "2–10", "1"])
    ['1', '2–10', '11+']
    """
    names = list(dict.fromkeys(values))
    numbers = {name: re.match(r"\d+", name) for name in names}
    if not all(numbers.values()):
        return names
    return sorted(names, key=lambda name: int((numbers[name] or [0])[0]))


def all_values(slices: Iterable[Slices]) -> list[str]:
    """The values of several slices by one feature, in order; what is no value comes last."""
    sides = list(slices)
    special = dict.fromkeys(name for side in sides for name in side.special.values())
    return [*in_order(v for side in sides for v in side if v not in special), *special]


def unlike(names: Iterable[str], name: str) -> str:
    """A name that no value has: `none`, else `(none)` and so on."""
    taken = set(names)
    while name in taken:
        name = f"({name})"
    return name


def _renamed(result: Result, name: str) -> Result:
    return replace(result, settings={**result.settings, "slice": name})


def _empty(sample: Result, documents: tuple[str, ...]) -> Result:
    """A result like another one, with nothing in it."""

    def nothing(table: CountTable) -> CountTable:
        if table.values is None:
            return table
        return replace(table, values=np.zeros((len(documents), table.values.shape[1])))

    tables = {metric: nothing(table) for metric, table in sample.tables.items()}
    return replace(sample, tables=tables, document_ids=documents)

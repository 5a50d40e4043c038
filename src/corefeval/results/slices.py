"""Slices: a result for each value of a feature."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from corefeval.diagnostics import UsageError
from corefeval.results.result import CountTable, Result

Level = Literal["document", "entity", "mention"]


@dataclass(frozen=True, eq=False)
class Slices(Mapping[str, Result]):
    """One feature's slices: `slices["pronoun"]["muc"].f1`.

    `whole` is all values together. `sizes` says how many documents, entities or mentions of the
    key have each value, and `undefined` which metrics have no share for single values, and why.
    """

    feature: str
    level: Level
    whole: Result
    results: Mapping[str, Result]
    sizes: Mapping[str, int] = field(default_factory=dict)
    undefined: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, value: str) -> Result:
        if value not in self.results and value.replace("-", "–") in self.results:
            value = value.replace("-", "–")
        if value not in self.results:
            known = ", ".join(self.results)
            raise UsageError(f"no {self.level} has {self.feature} {value!r}: there are {known}")
        return self.results[value]

    def __contains__(self, value: object) -> bool:
        return value in self.results

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def joined(self, other: Slices) -> Slices:
        """The slices of two corpora together; a value that one lacks is empty there."""
        values = dict.fromkeys((*self.results, *other.results))
        results = {value: self._filled(value, other) for value in values}
        sizes = {v: self.sizes.get(v, 0) + other.sizes.get(v, 0) for v in values}
        return replace(self, whole=self.whole + other.whole, results=results, sizes=sizes)

    def only(self, metrics: Iterable[str]) -> Slices:
        """The same with some of the metrics."""
        kept = list(metrics)
        return replace(
            self,
            whole=self.whole._only(kept),
            results={value: result._only(kept) for value, result in self.results.items()},
            undefined={name: why for name, why in self.undefined.items() if name in kept},
        )

    def _filled(self, value: str, other: Slices) -> Result:
        parts = [slices.results.get(value) for slices in (self, other)]
        if self.level == "document":  # a document without the value has no row
            mine, theirs = parts
            return mine + theirs if mine and theirs else mine or theirs  # type: ignore[return-value]
        sample = next(part for part in parts if part is not None)
        filled = []
        for part, slices in zip(parts, (self, other), strict=True):
            filled.append(part or _empty(sample, slices.whole.document_ids))
        return filled[0] + filled[1]


def _empty(sample: Result, documents: tuple[str, ...]) -> Result:
    """A result like another one, with nothing in it."""

    def nothing(table: CountTable) -> CountTable:
        if table.values is None:
            return table
        return replace(table, values=np.zeros((len(documents), table.values.shape[1])))

    tables = {metric: nothing(table) for metric, table in sample.tables.items()}
    return replace(sample, tables=tables, document_ids=documents)

"""Slices: a result for each value of a feature."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from corefeval.checks import CROSS, split_list
from corefeval.diagnostics import UsageError, list_names
from corefeval.display import Comparable, Row, Tabular
from corefeval.results.rates import CountTable
from corefeval.results.result import DocumentResult, Result
from corefeval.results.scores import score_rows

Level = Literal["document", "entity", "mention"]
SPECIAL = ("other", "none")


@dataclass(frozen=True, eq=False, repr=False)
class Slices(Comparable, Tabular, Mapping[str, Result]):
    """One feature's slices: `slices["pronoun"]["muc"].f1`.

    `whole` is all values together. `sizes` says how many documents, entities or mentions of the
    key have each value, and `undefined` which metrics cannot be divided by value, and why.
    `special` are names that are no values: `none` maps to the name of the slice of whatever has no
    value, `other` to that of rare values.
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
            available = ", ".join(self.results)
            unit = "item" if self.whole.decisions else self.level
            raise UsageError(f"no {unit} has {self.feature} {value!r}: there are {available}")
        return self.results[value]

    def get(self, value: str, default: Any = None) -> Any:
        """The result of a value, or the default where there is none."""
        return self.results.get(value, default)

    def __contains__(self, value: object) -> bool:
        return value in self.results

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def document_ids(self) -> tuple[str, ...]:
        """Names and parts of the documents that any value is in."""
        return self.whole.document_ids

    @property
    def documents(self) -> list[DocumentResult]:
        """The scores of each document, all values together."""
        return self.whole.documents

    def rows(self) -> list[Row]:
        """One row for each value and metric; rates of nothing are None."""
        names = {"response": self.whole.response, "document": "", "feature": self.feature}
        return [
            row
            for value, part in self.results.items()
            for row in score_rows(
                {**names, "value": value, "size": self.sizes.get(value, 0)}, part.scores
            )
        ]

    def __repr__(self) -> str:
        return f"<Slices by {self.feature}: {list_names(list(self))}>"

    @staticmethod
    def join(parts: Sequence[Slices]) -> Slices:
        """The slices of several corpora together; a value that one lacks is empty there."""
        first = parts[0]
        stated = [{v: v for v in part if v not in part.special.values()} for part in parts]
        values = in_order((v for part_values in stated for v in part_values), first.feature)
        special = {
            role: unlike(values, role)
            for role in SPECIAL
            if any(role in part.special for part in parts)
        }
        # For each name in the joint slices, its name in each part; None where a part lacks it.
        sources: dict[str, list[str | None]] = {
            value: [part_values.get(value) for part_values in stated] for value in values
        }
        sources |= {
            name: [part.special.get(role) for part in parts] for role, name in special.items()
        }
        return replace(
            first,
            whole=Result.total(part.whole for part in parts),
            results={name: _join_value(name, parts, names) for name, names in sources.items()},
            sizes={
                name: sum(
                    part.sizes.get(part_name or "", 0)
                    for part, part_name in zip(parts, part_names, strict=True)
                )
                for name, part_names in sources.items()
            },
            special=special,
        )

    @property
    def lacks_value(self) -> bool:
        """Whether there is something in the key that has no value."""
        return self.sizes.get(self.special.get("none", ""), 0) > 0

    def rename(self, response: str) -> Slices:
        """These slices with another name for the response."""
        results = {value: result.rename(response) for value, result in self.results.items()}
        return replace(self, whole=self.whole.rename(response), results=results)

    def without_nothing(self) -> Slices:
        """These slices without the slice `none`, if nothing is counted in it.

        A piece without any mention has only this slice. Metrics such as bridging may count there.
        """
        none = self.special.get("none")
        if self.level == "document" or none is None:
            return self
        if any(table.counted().any() for table in self.results[none].tables.values()):
            return self
        results = {value: result for value, result in self.results.items() if value != none}
        sizes = {value: size for value, size in self.sizes.items() if value != none}
        special = {role: name for role, name in self.special.items() if name != none}
        return replace(self, results=results, sizes=sizes, special=special)

    def sort_values(self, order: Sequence[str]) -> Slices:
        """These slices with values as `order` has them, or else the largest first, then by name.

        Numbers are ascending, and what is no value comes last.
        """
        if self.level == "document":
            return self
        special = [name for name in self.results if name in self.special.values()]
        names_of_values = [name for name in self.results if name not in special]
        rank = {name: number for number, name in enumerate(order)}
        is_ranked = all(name in rank for name in names_of_values)
        names_of_values.sort(
            key=lambda name: (rank[name] if is_ranked else -self.sizes[name], name)
        )
        names = [*in_order(names_of_values, self.feature), *special]
        return replace(
            self,
            results={name: self.results[name] for name in names},
            sizes={name: self.sizes[name] for name in names},
        )

    def as_of_whole(self, total: Result, order: Sequence[str]) -> Slices:
        """These slices as if scored in one piece: with the digest and protocol of the total.

        Values are sorted by `order`: see `sort_values`.
        """

        def of_total(part: Result) -> Result:
            protocol = total.protocol.but(slice=part.protocol.slice)
            return replace(part, key_digest=total.key_digest, protocol=protocol)

        results = {name: of_total(part) for name, part in self.results.items()}
        return replace(self, whole=of_total(self.whole), results=results).sort_values(order)

    def only(self, metrics: Iterable[str]) -> Slices:
        """These slices with some of the metrics."""
        kept = list(metrics)
        return replace(
            self,
            whole=self.whole._only(kept),
            results={value: result._only(kept) for value, result in self.results.items()},
            undefined={name: why for name, why in self.undefined.items() if name in kept},
        )


def _join_value(name: str, parts: Sequence[Slices], part_names: Sequence[str | None]) -> Result:
    """The result of a value over all parts; part p calls it `part_names[p]`, or lacks it (None)."""
    named: list[Result | None] = []
    for part, value in zip(parts, part_names, strict=True):
        result = None if value is None else part.results[value]
        label = f"{part.feature}={name}"
        named.append(
            None if result is None else replace(result, protocol=result.protocol.but(slice=label))
        )
    present = [result for result in named if result is not None]
    if parts[0].level == "document":  # a document without the value has no row
        return Result.total(present)
    return Result.total(
        _make_empty(present[0], part.whole.document_ids) if result is None else result
        for result, part in zip(named, parts, strict=True)
    )


_NUMBER = re.compile(r"\d{1,300}")  # Python refuses to convert numbers of many more digits


def in_order(values: Iterable[str], feature: str = "") -> list[str]:
    """Each value once; numbers and bins of numbers ascending, others as they come.

    Those of crossed features come by the first of them, then the next.

    >>> in_order(["11+", "1", "2–10", "1"])
    ['1', '2–10', '11+']
    >>> in_order(["b*2", "b*11", "a*2"], "genre*length")
    ['a*2', 'b*2', 'b*11']
    """
    names = list(dict.fromkeys(values))
    if len(list(split_list(feature, CROSS))) > 1:
        return sorted(names, key=lambda name: [_rank(part) for part in name.split(CROSS)])
    numbers = {name: _NUMBER.match(name) for name in names}
    if not all(numbers.values()):
        return names
    return sorted(names, key=lambda name: int((numbers[name] or [0])[0]))


def _rank(value: str) -> tuple[float, str]:
    """A key that sorts numbers before texts, and each in their order."""
    number = _NUMBER.match(value)
    return (int(number[0]) if number else float("inf")), value


def all_values(slices: Iterable[Slices]) -> list[str]:
    """The values of several slices by one feature, in order; what is no value comes last."""
    sides = list(slices)
    special = dict.fromkeys(name for side in sides for name in side.special.values())
    stated = (v for side in sides for v in side if v not in special)
    return [*in_order(stated, sides[0].feature if sides else ""), *special]


def unlike(names: Iterable[str], name: str) -> str:
    """A name that no value has: `none`, else `(none)` and so on."""
    taken = set(names)
    while name in taken:
        name = f"({name})"
    return name


def _make_empty(sample: Result, documents: tuple[str, ...]) -> Result:
    """A result with the metrics of a sample, and counts of 0 for each document."""

    def nothing(table: CountTable) -> CountTable:
        if table.values is None:
            return table
        return replace(table, values=np.zeros((len(documents), table.values.shape[1])))

    tables = {metric: nothing(table) for metric, table in sample.tables.items()}
    return replace(sample, tables=tables, document_ids=documents)

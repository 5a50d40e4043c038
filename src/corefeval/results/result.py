"""The result of scoring: frozen per-document counts, additive, every rate derived from them."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import InputError, Notice, UsageError, plural
from corefeval.results.rates import RATES, Numbers, Rates
from corefeval.results.scores import Score

if TYPE_CHECKING:
    from corefeval.results.slices import Slices

Aggregate = Literal["micro", "macro"]


@dataclass(frozen=True, eq=False)
class CountTable:
    """One metric's counts: a row per document, a column per count. A mean has parts instead.

    `by` is the feature that the metric itself goes by, as p-link does.
    """

    shape: str
    names: tuple[str, ...] = ()
    values: Numbers | None = None
    parts: tuple[str, ...] = ()
    by: str = ""

    def columns(self) -> dict[str, Numbers]:
        """Each count as an array of documents."""
        if self.values is None:
            return {}
        return {name: self.values[:, index] for index, name in enumerate(self.names)}

    def totals(self) -> dict[str, float]:
        """Each count summed over the documents."""
        return {name: float(column.sum()) for name, column in self.columns().items()}

    def counted(self) -> NDArray[np.bool_]:
        """The documents in which there is anything to count: a macro mean is over these."""
        if self.values is None:
            return np.zeros(0, dtype=np.bool_)
        return np.asarray(self.values.any(axis=1))

    def __add__(self, other: CountTable) -> CountTable:
        if self.values is None or other.values is None:
            return self
        return replace(self, values=np.concatenate((self.values, other.values)))


@dataclass(frozen=True, eq=False)
class Result:
    """Scores of one response: `result["muc"].f1`, `.recall`, `.precision`, `.counts`.

    Results of two corpora add up (`a + b`, `sum(results)`): counts are kept per document, and every
    rate is worked out from them, so nobody can average F-scores by mistake. `intervals` are
    (low, high) by metric and rate, of level `ci`, where they were asked for; sums have none. Those
    of a single document are of its segments, whose own rates are `segment_rates`.
    """

    tables: Mapping[str, CountTable]
    document_ids: tuple[str, ...]
    settings: Mapping[str, str]
    aggregate: Aggregate = "micro"
    key: str = ""
    response: str = ""
    key_digest: str = ""
    whole_rates: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()
    spell: Callable[[str], str] = str
    titles: Mapping[str, str] | None = None
    slices: Mapping[str, Slices] = field(default_factory=dict)
    ci: float | None = None
    intervals: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)
    segment_rates: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that were scored, in order."""
        return tuple(self.tables)

    @cached_property
    def signature(self) -> str:
        """The settings behind the numbers, to be quoted with them."""
        return "|".join(f"{name}:{value}" for name, value in self.settings.items())

    @cached_property
    def scores(self) -> dict[str, Score]:
        """Every metric's score over all documents."""
        by_documents = self.document_rates if self.aggregate == "macro" else None
        rates: dict[str, Rates] = {}
        for metric, table in self.tables.items():
            if table.parts:
                rates[metric] = {"f1": _mean([rates[part]["f1"] for part in table.parts])}
            elif by_documents is None:
                rates[metric] = RATES[table.shape](table.totals())
            else:
                counted = table.counted()
                rates[metric] = {
                    name: _mean(values[counted]) if counted.any() else np.zeros(())
                    for name, values in by_documents[metric].items()
                }
        return {
            metric: replace(
                self._score(metric, rates[metric], table.totals()),
                categories=self._categories(metric, table),
                **self._confidence(metric),
            )
            for metric, table in self.tables.items()
        }

    def _confidence(self, metric: str) -> dict[str, Any]:
        """The interval of a score; where it is that of segments, their score with it."""
        intervals = self.intervals.get(metric, {})
        if metric not in self.segment_rates:
            return {"intervals": intervals}
        rates = self.segment_rates[metric]
        return {"segments": replace(self._score(metric, rates, {}), intervals=intervals)}

    def _categories(self, metric: str, table: CountTable) -> dict[str, Score]:
        if table.by not in self.slices:
            return {}
        slices = self.slices[table.by].items()
        return {value: one.scores[metric] for value, one in slices if metric in one.tables}

    def __getitem__(self, metric: object) -> Score:
        """A metric's score, by the metric or any spelling of it."""
        return self.scores[self._name(metric)]

    def __contains__(self, metric: object) -> bool:
        try:
            return bool(self._name(metric))
        except UsageError:
            return False

    def by(self, feature: str) -> Slices:
        """The slices of a feature, in any spelling: `result.by("size(1,2-5,6+)")["1"]`."""
        for name, slices in self.slices.items():
            if _plain(name) == _plain(feature):
                return slices
        there = ", ".join(self.slices) or "none"
        raise UsageError(f"there are no slices by {feature!r}: there are {there}")

    def per_document_counts(self, metric: object) -> dict[str, Numbers]:
        """A metric's counts: an array of documents for each."""
        return self.tables[self._name(metric)].columns()

    @property
    def documents(self) -> list[DocumentResult]:
        """The scores of each document, on its own counts."""
        return [DocumentResult(self, index) for index in range(len(self.document_ids))]

    def document(self, identifier: str | int) -> DocumentResult:
        """One document's scores, by its index, its id, or a name that only one document has."""
        if isinstance(identifier, int):
            if not -len(self.document_ids) <= identifier < len(self.document_ids):
                raise InputError(f"there is no document {identifier}")
            return DocumentResult(self, identifier % len(self.document_ids))
        found = [
            index
            for index, candidate in enumerate(self.document_ids)
            if identifier == candidate or candidate.startswith(identifier + "; part ")
        ]
        if len(found) != 1:
            number = "no document is" if not found else f"{len(found)} documents are"
            which = [self.document_ids[index] for index in found[:3]] or self.document_ids[:3]
            raise InputError(
                f"{number} called {identifier!r}", fix=f"say which: {', '.join(which)}"
            )
        return DocumentResult(self, found[0])

    def __add__(self, other: Result) -> Result:
        """The result of both corpora together; they must be scored alike."""
        if not isinstance(other, Result):
            return NotImplemented
        mine, theirs = self.without_intervals(), other.without_intervals()
        if set(self.slices) != set(other.slices):
            by = [", ".join(one.slices) or "nothing" for one in (self, other)]
            raise UsageError(
                f"results with different slices do not add up: by {' against '.join(by)}"
            )
        settings = _common_settings(mine.settings, theirs.settings)
        if settings is None or self.metrics != other.metrics:
            raise UsageError(
                "results that were scored differently do not add up: "
                f"{mine.signature} with {', '.join(self.metrics)} against "
                f"{theirs.signature} with {', '.join(other.metrics)}"
            )
        return replace(
            mine,
            settings=settings,
            tables={name: table + other.tables[name] for name, table in self.tables.items()},
            document_ids=self.document_ids + other.document_ids,
            notices=self.notices + other.notices,
            slices={
                feature: slices.joined(other.slices[feature])
                for feature, slices in self.slices.items()
            },
        )

    def without_intervals(self) -> Result:
        """The same without intervals, and without what the signature says of them."""
        if self.ci is None:
            return self
        settings = {name: value for name, value in self.settings.items() if name != "ci"}
        return replace(self, ci=None, intervals={}, segment_rates={}, settings=settings)

    def only(self, metrics: Iterable[object]) -> Result:
        """The same with some of its metrics, and those that they are means of."""
        names = list(map(self._name, metrics))
        kept = [part for name in names for part in (*self.tables[name].parts, name)]
        return self._only(dict.fromkeys(kept))

    def _only(self, names: Iterable[str]) -> Result:
        return replace(
            self,
            tables={name: self.tables[name] for name in names if name in self.tables},
            intervals={name: self.intervals[name] for name in names if name in self.intervals},
            slices={feature: slices.only(names) for feature, slices in self.slices.items()},
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Keep the counts of each document in a file, for `corefeval.load` (.gz: compressed)."""
        from corefeval.results.saved import save

        save([self], path)

    def __radd__(self, other: object) -> Result:
        return self if other == 0 else NotImplemented

    def __repr__(self) -> str:
        scores = ", ".join(f"{name} {100 * score.f1:.2f}" for name, score in self.scores.items())
        return f"<Result of {plural(len(self.document_ids), 'document')}: {scores}>"

    def _repr_html_(self) -> str:
        # By name: results know nothing of how they are shown.
        notebook = importlib.import_module("corefeval.reports.notebook")
        return str(notebook.result_html(self))

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def _name(self, metric: object) -> str:
        text = str(metric)
        name = text if text in self.tables else self.spell(text)
        if name not in self.tables:
            raise UsageError(f"{metric!r} was not scored: there are {', '.join(self.tables)}")
        return name

    def _score(self, metric: str, rates: Mapping[str, object], counts: dict[str, float]) -> Score:
        values = {name: float(value) for name, value in rates.items()}  # type: ignore[arg-type]
        return Score(metric, values, counts, f"{metric}|{self.signature}")

    @cached_property
    def document_rates(self) -> dict[str, Rates]:
        """Every metric's rates of each document on its own counts, an array of documents each."""
        rates: dict[str, Rates] = {}
        for metric, table in self.tables.items():
            if table.parts:
                rates[metric] = {"f1": _mean([rates[part]["f1"] for part in table.parts])}
            else:
                rates[metric] = RATES[table.shape](table.columns())
        return rates


# Settings that only data with a mention has: an empty response adds up with any other.
_OF_MENTIONS = ("spans", "tagset")


def _common_settings(
    mine: Mapping[str, str], theirs: Mapping[str, str]
) -> Mapping[str, str] | None:
    """The settings of two results together; None where they were scored differently."""
    for name in {*mine, *theirs}:
        missing = name not in mine or name not in theirs
        if mine.get(name) != theirs.get(name) and not (missing and name in _OF_MENTIONS):
            return None
    return mine if len(mine) >= len(theirs) else theirs


def _plain(feature: str) -> str:
    return "".join(feature.split()).lower()


def _mean(values: Sequence[Numbers] | Numbers) -> Numbers:
    return np.asarray(np.mean(values, axis=0))


@dataclass(frozen=True, slots=True, repr=False)
class DocumentResult:
    """The scores of one document."""

    result: Result
    index: int

    def __repr__(self) -> str:
        scores = ", ".join(f"{score.metric} {100 * score.f1:.2f}" for score in self)
        return f"<{self.id}: {scores}>"

    @property
    def id(self) -> str:
        """Name and part of the document."""
        return self.result.document_ids[self.index]

    @property
    def scores(self) -> dict[str, Score]:
        """Every metric's score on this document alone."""
        return {metric: self[metric] for metric in self.result.metrics}

    def __getitem__(self, metric: object) -> Score:
        result = self.result
        name = result._name(metric)
        rates = {key: values[self.index] for key, values in result.document_rates[name].items()}
        columns = result.tables[name].columns()
        counts = {key: float(values[self.index]) for key, values in columns.items()}
        return result._score(name, rates, counts)

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores.values())

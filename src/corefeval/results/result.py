"""The result of scoring: frozen per-document counts, additive, every rate derived from them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from corefeval._version import __version__
from corefeval.diagnostics import InputError, Notices, UsageError, merge_notices, plural
from corefeval.display import Row, Tabular
from corefeval.protocol import OF_MENTIONS, Protocol, join_protocols
from corefeval.protocol import fields as protocol_fields
from corefeval.results.rates import Aggregation, CountTable, Numbers, Rates, average_rates
from corefeval.results.scores import Decision, Score, score_rows

if TYPE_CHECKING:
    from corefeval.results.slices import Slices

# Numbers of mentions in `answers`.
LEDGER = ("written", "placed", "changed", "repeated", "lost", "unclear")


@dataclass(frozen=True, eq=False)
class Result(Tabular, Mapping[str, Score]):
    """Scores of one response: `result["muc"].f1`, `.recall`, `.precision`, `.counts`.

    A mapping from metrics to scores. Results of several corpora add up (`a + b`, `sum(results)`, or
    fastest `Result.total(results)`): counts are kept per document, and every rate is worked out
    from them, so that F-scores cannot be averaged by mistake. `protocol` says how they were
    counted, `version` by which version. `intervals` are (low, high) by metric and rate, of level
    `ci`, where they were asked for; sums have none. Those of a single document are of its segments,
    whose own rates are `segment_rates`. Where a result is of segments, `whole_rates` are those of
    the document. Of answers of a language model `answers` has what became of the mentions that were
    written, and the CoNLL score of other readings (strict, on the text that was reached, lowest and
    highest), which sums do not have. Of a probe `decisions` has what was chosen for each item.
    """

    tables: Mapping[str, CountTable]
    document_ids: tuple[str, ...]
    protocol: Protocol = field(default_factory=Protocol)
    version: str = __version__
    key: str = ""
    response: str = ""
    key_digest: str = ""
    whole_rates: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    notices: Notices = ()
    spell: Callable[[str], str] = str
    titles: Mapping[str, str] = field(default_factory=dict)
    slices: Mapping[str, Slices] = field(default_factory=dict)
    ci: float | None = None
    intervals: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)
    segment_rates: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    answers: Mapping[str, object] = field(default_factory=dict)
    decisions: tuple[Decision, ...] = ()

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that were scored, in order."""
        return tuple(self.tables)

    @property
    def settings(self) -> dict[str, str]:
        """The choices behind the numbers that the signature has, and the version."""
        return {**self.protocol.shown, "version": self.version}

    @cached_property
    def signature(self) -> str:
        """The protocol behind the numbers, to be quoted with them; `score` takes it back."""
        return f"{self.protocol}|version:{self.version}"

    @cached_property
    def scores(self) -> dict[str, Score]:
        """Every metric's score over all documents."""
        scores: dict[str, Score] = {}
        rates: dict[str, Rates] = {}
        for metric, table in self.tables.items():
            totals: dict[str, float] = {}
            if table.parts:
                rates[metric] = average_rates([rates[part] for part in table.parts], self.protocol)
            else:
                aggregation = Aggregation.of(metric, table, self.protocol)
                totals, rates[metric] = aggregation.total(table.columns())
            slices = self.slices[table.by].items() if table.by in self.slices else ()
            intervals, segments = self.intervals.get(metric, {}), None
            if metric in self.segment_rates:
                rates_of_segments = self.segment_rates[metric]
                segments = self._score(metric, rates_of_segments, intervals=intervals)
            scores[metric] = self._score(
                metric,
                rates[metric],
                counts=totals,
                categories={v: part.scores[metric] for v, part in slices if metric in part.tables},
                intervals={} if segments else intervals,
                segments=segments,
            )
        return scores

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
        spellings = {"".join(name.split()).lower(): name for name in self.slices}
        spelling = "".join(feature.split()).lower()
        if spelling in spellings:
            return self.slices[spellings[spelling]]
        available = ", ".join(self.slices) or "none"
        raise UsageError(f"there are no slices by {feature!r}: there are {available}")

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
        indices = [
            index
            for index, candidate in enumerate(self.document_ids)
            if identifier == candidate or candidate.startswith(identifier + "; part ")
        ]
        if len(indices) != 1:
            number = "no document is" if not indices else f"{len(indices)} documents are"
            which = [self.document_ids[index] for index in indices[:3]] or self.document_ids[:3]
            raise InputError(
                f"{number} called {identifier!r}", fix=f"say which: {', '.join(which)}"
            )
        return DocumentResult(self, indices[0])

    def __add__(self, result: Result) -> Result:
        """The result of both corpora together; they must be scored alike."""
        return Result.total((self, result)) if isinstance(result, Result) else NotImplemented

    def __radd__(self, start: object) -> Result:
        return self if start == 0 else NotImplemented

    @staticmethod
    def total(results: Iterable[Result]) -> Result:
        """The result of several corpora, or of pieces of one, together.

        All must be scored alike, by the same metrics and with the same slices; a UsageError says
        what differs. The total has the counts, documents and notices of all, and the digest of a
        key with all documents. Results of segments do not add up: their counts are those of parts
        of one document, whose own rates cannot be worked out from them.
        """
        parts = []
        for result in results if isinstance(results, Iterable) else [results]:
            if not isinstance(result, Result):
                raise UsageError(f"Result.total needs a list of results, not {result!r:.60}")
            parts.append(result.without_intervals())
        if not parts:
            raise UsageError("there are no results to add")
        first = parts[0]
        if len(parts) == 1:
            return first
        protocol = join_protocols([part.protocol for part in parts])
        for part in parts:
            _check_addends(first, part, protocol)
        return replace(
            first,
            protocol=protocol,
            tables={
                name: CountTable.join([part.tables[name] for part in parts])
                for name in first.tables
            },
            document_ids=tuple(name for part in parts for name in part.document_ids),
            key=_joint_name(part.key for part in parts),
            response=_joint_name(part.response for part in parts),
            key_digest=add_digests([part.key_digest for part in parts]),
            notices=merge_notices(notice for part in parts for notice in part.notices),
            slices={
                feature: type(slices).join([part.slices[feature] for part in parts])
                for feature, slices in first.slices.items()
            },
            answers=_add_answers([part.answers for part in parts if part.answers]),
            decisions=tuple(decision for part in parts for decision in part.decisions),
        )

    def __eq__(self, value: object) -> bool:
        if not isinstance(value, Result):
            return NotImplemented
        names = [item.name for item in fields(self) if item.name not in ("spell", "titles")]
        return all(getattr(self, name) == getattr(value, name) for name in names)

    __hash__ = None  # type: ignore[assignment]

    def without_intervals(self) -> Result:
        """This result without intervals, and without the part of the signature about them."""
        if self.ci is None:
            return self
        protocol = self.protocol.but(ci="none")
        return replace(self, ci=None, intervals={}, segment_rates={}, protocol=protocol)

    def rename(self, response: str) -> Result:
        """This result with another name for the response, in the slices too."""
        slices = {feature: slices.rename(response) for feature, slices in self.slices.items()}
        return replace(self, response=response, slices=slices)

    def only(self, metrics: Iterable[object]) -> Result:
        """This result with some of its metrics, and those that they are means of."""
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

    def rows(self, *, by_document: bool = False) -> list[Row]:
        """One row for each metric; for each document too, and for each value of each feature.

        Empty `document`, `feature` and `value` are those of all together; `size` is how many of the
        key's documents, entities or mentions have the value.
        """
        names: Row = {"response": self.response, "document": ""}
        names |= {"feature": "", "value": "", "size": None}
        rows = list(score_rows(names, self.scores))
        for document in self.documents if by_document else ():
            rows += score_rows({**names, "document": document.id}, document.scores)
        return [*rows, *(row for slices in self.slices.values() for row in slices.rows())]

    def to_dict(self, *, flat: bool = False) -> dict[str, Any]:
        """The rates as plain dictionaries by metric and rate; of slices by feature and value first.

        With `flat` it is one dictionary whose names are paths, for loggers such as MLflow and
        Weights & Biases: `muc/f1`, `kind/pronoun/muc/f1`. Characters that some of these refuse
        become hyphens: `b3-twinless-sys/f1`.
        """
        nested: dict[str, Any] = {name: dict(score.rates) for name, score in self.scores.items()}
        for feature, slices in self.slices.items():
            for value, part in slices.items():
                rates = {name: dict(s.rates) for name, s in part.scores.items() if s.has_counted}
                nested[feature] = {**nested.get(feature, {}), value: rates}
        return dict(_flatten(nested)) if flat else nested

    def save(self, path: str | os.PathLike[str]) -> None:
        """Keep the counts of each document in a file, for `corefeval.load` (.gz: compressed)."""
        from corefeval.results.saved import save

        save([self], path)

    def __repr__(self) -> str:
        scores = ", ".join(f"{name} {100 * score.f1:.2f}" for name, score in self.scores.items())
        return f"<Result of {plural(len(self.document_ids), 'document')}: {scores}>"

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

    def _score(self, metric: str, rates: Mapping[str, Any], **details: Any) -> Score:
        values = {name: float(value) for name, value in rates.items()}
        signature = f"{metric}|{self.signature}"
        rounding = self.protocol.rounding
        return Score(metric, values, signature=signature, rounding=rounding, **details)

    @cached_property
    def document_rates(self) -> dict[str, Rates]:
        """Every metric's rates of each document on its own counts, an array of documents each."""
        rates: dict[str, Rates] = {}
        for metric, table in self.tables.items():
            if table.parts:
                rates[metric] = average_rates([rates[part] for part in table.parts], self.protocol)
            else:
                aggregation = Aggregation.of(metric, table, self.protocol)
                rates[metric] = aggregation.rates(table.columns())
        return rates


def _check_addends(first: Result, part: Result, joint: Protocol) -> None:
    """Raise UsageError for results that were not scored alike."""
    for result in (first, part):
        if result.whole_rates:
            raise UsageError(
                f"{result.response or 'a result'} is of segments of a single document, and does "
                "not add up with others: score the documents whole, without as_segments"
            )
    if set(first.slices) != set(part.slices):
        by = [", ".join(result.slices) or "nothing" for result in (first, part)]
        raise UsageError(f"results with different slices do not add up: by {' against '.join(by)}")
    different = [
        name
        for name, (joint_value, value) in joint.differences(part.protocol).items()
        if name not in OF_MENTIONS
        or (
            value != protocol_fields()[name].default
            and not {*value.split("+")} <= {*joint_value.split("+")}  # sources of a feature
        )
    ]
    if different or first.version != part.version or first.metrics != part.metrics:
        raise UsageError(
            "results that were scored differently do not add up: "
            f"{first.signature} with {', '.join(first.metrics)} against "
            f"{part.signature} with {', '.join(part.metrics)}"
        )


def add_digests(digests: Sequence[str]) -> str:
    """The digest of all documents of several keys (see `model.digest`); empty if one is unknown."""
    try:
        versions, sums, sizes = zip(*(digest.split("-") for digest in digests), strict=True)
        total = sum(int(part, 16) for part in sums) % (1 << 64)
        (version,) = {*versions}
        return f"{version}-{total:016x}-{sum(map(int, sizes))}"
    except ValueError:  # none, unknown ones, or those of different versions
        return ""


def _add_answers(parts: Sequence[Mapping[str, Any]]) -> dict[str, object]:
    """What became of the mentions of all answers; scores of other readings do not add up."""
    counts = {name: sum(part[name] for part in parts) for name in LEDGER}
    documents = [document for part in parts for document in part["documents"]]
    return {"conll": {}, **counts, "documents": documents} if parts else {}


def _joint_name(names: Iterable[str]) -> str:
    return " + ".join(dict.fromkeys(filter(None, names)))


def _flatten(values: Mapping[str, Any], start: str = "") -> Iterator[tuple[str, float]]:
    for name, value in values.items():
        path = start + re.sub(r"[^\w. :]+", "-", name).strip("-")
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{path}/")
        else:
            yield path, value


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
        return result._score(name, rates, counts=counts)

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores.values())

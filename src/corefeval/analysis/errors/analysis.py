"""The analysis of a response's errors: what they are, where they are and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, pairwise
from typing import cast

from corefeval.analysis.errors.classification import (
    KINDS,
    OTHERS,
    Classification,
    ErrorKind,
    error_kind,
)
from corefeval.analysis.errors.costs import Attribution, attribute, decomposes, fix
from corefeval.analysis.errors.links import LinkCounts, LinkRow, count_links, list_relations
from corefeval.analysis.errors.listing import (
    EntityCost,
    ErrorInstance,
    MentionCost,
    Place,
    list_errors,
    rank_entities,
    rank_mentions,
)
from corefeval.diagnostics import Notice, UndefinedMetricError, plural
from corefeval.display import Record, Row, Tabular, are_same
from corefeval.metrics import Metric
from corefeval.model.arrays import IntArray
from corefeval.model.identity import digest
from corefeval.results import Result
from corefeval.results.result import DocumentResult
from corefeval.slicing import count_table


@dataclass(frozen=True, slots=True)
class KindRow(Record):
    """One kind of error: how many there are, and what they cost in each metric.

    `alone` is what F1 would gain if only this kind were fixed, `in_turn` what it gains when this
    kind is fixed after all kinds before it. The gains in turn add up to 1 − F1.
    """

    kind: ErrorKind
    count: int
    alone: Mapping[str, float]
    in_turn: Mapping[str, float]


@dataclass(frozen=True, eq=False, repr=False)
class ErrorAnalysis(Tabular):
    """What is wrong with a response, and what it costs.

    `result` are its scores, `counts["span"]` the number of errors of a kind in each document,
    `alone["span"]` and `in_turn["span"]` the results with that kind fixed, and with all kinds up to
    it. All are kept per document, so they can be resampled, sliced and summed. Lists and
    attributions are worked out when they are asked for.
    """

    result: Result
    classification: Classification
    scored: tuple[Metric, ...]
    by: str = "kind"

    @property
    def shared_out(self) -> tuple[str, ...]:
        """The metrics whose loss can be shared out to entities, and mostly to mentions."""
        return tuple(str(metric) for metric in self.scored if decomposes(metric))

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that were scored."""
        return self.result.metrics

    @property
    def counts(self) -> Mapping[ErrorKind, IntArray]:
        """How many errors of each kind there are in each document."""
        return self.classification.counts

    @property
    def document_ids(self) -> tuple[str, ...]:
        """Names and parts of the documents."""
        return self.result.document_ids

    @property
    def documents(self) -> list[DocumentErrors]:
        """The errors of each document."""
        return [DocumentErrors(self, index) for index in range(len(self.document_ids))]

    @cached_property
    def alone(self) -> Mapping[ErrorKind, Result]:
        """The results with one kind of error fixed and nothing else."""
        return {kind: self._fix((kind,), self.result) for kind in KINDS}

    @cached_property
    def in_turn(self) -> Mapping[ErrorKind, Result]:
        """The results with a kind of error fixed after all kinds before it."""
        results = {KINDS[0]: self.alone[KINDS[0]]}
        for number, (last, kind) in enumerate(pairwise(KINDS), start=2):
            results[kind] = self._fix(KINDS[:number], results[last])
        return results

    @cached_property
    def kinds(self) -> tuple[KindRow, ...]:
        """The kinds of errors in their order: counts, and points alone and in turn."""
        rows = []
        before = self.result
        for kind in KINDS:
            after = self.in_turn[kind]
            rows.append(
                KindRow(
                    kind,
                    int(self.counts[kind].sum()),
                    _gain(self.result, self.alone[kind]),
                    _gain(before, after),
                )
            )
            before = after
        return tuple(rows)

    @cached_property
    def link_counts(self) -> LinkCounts:
        """Links by document, pair of kinds and outcome, and Tuggener's counts."""
        return count_links(self.classification.alignment, self.by)

    @property
    def links(self) -> tuple[LinkRow, ...]:
        """Correct, wrong, missed and spurious links for each pair of kinds."""
        return self.link_counts.rows

    @property
    def antecedents(self) -> dict[str, dict[str, dict[str, int]]]:
        """Tuggener's tp, wl, fn and fp: for `immediate` and `inferred`, by kind of anaphor."""
        return self.link_counts.by_anaphor

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was dropped, skipped or is not known."""
        decision = self.classification.decision.notices
        links = self.link_counts.notices  # which ask for a feature
        guesses = self.classification.prepared.feature_notices
        return tuple(dict.fromkeys((*self.result.notices, *decision, *links, *guesses)))

    def attribution(self, metric: str | Metric) -> Attribution:
        """Each mention's and entity's share of what a metric lost; CEAF has none."""
        parsed_metric = metric if isinstance(metric, Metric) else Metric.parse(metric)
        name = str(parsed_metric)
        if name not in self._attributions:
            self._attributions[name] = attribute(self.classification, parsed_metric)
        return self._attributions[name]

    def mentions(self, n: int = 10, *, metric: str | Metric | None = None) -> list[MentionCost]:
        """The most expensive mentions: by one metric, or by all that have shares for mentions."""
        return rank_mentions(self.classification, self._attributions_by(metric), n)

    def entities(self, n: int = 10, *, metric: str | Metric | None = None) -> list[EntityCost]:
        """The most expensive entities of key and response."""
        return rank_entities(self.classification, self._attributions_by(metric), n)

    def listed(self, kind: str, n: int | None = None) -> list[ErrorInstance]:
        """All errors of a kind, or the first of them, in the order of the text."""
        chosen = error_kind(kind)
        if chosen in OTHERS:
            return self.relations[chosen][:n]
        return list(islice(list_errors(self.classification, cast("ErrorKind", chosen)), n))

    @cached_property
    def relations(self) -> dict[str, list[ErrorInstance]]:
        """Sets of antecedents and bridging that are missed, spurious or wrong, by kind."""
        if self.classification.alignment.aside is None:
            return {kind: [] for kind in OTHERS}
        return {kind: list(list_relations(self.classification, kind)) for kind in OTHERS}

    def rows(self, *, top: int = 5) -> list[Row]:
        """One row for each number: which table, row, measure and metric it belongs to.

        Of mentions and entities the `top` most expensive ones are there.
        """
        response, signature = self.result.response, self.result.signature
        names = ("table", "row", "measure", "metric", "value")
        return [
            {"response": response, **dict(zip(names, row, strict=True)), "signature": signature}
            for row in (*self._table_rows(), *(self._cost_rows(top) if top > 0 else ()))
        ]

    def _table_rows(self) -> Iterator[tuple[object, ...]]:
        for kind in self.kinds:
            yield "kind", kind.kind, "count", "", kind.count
            for measure, gains in (("alone", kind.alone), ("in_turn", kind.in_turn)):
                for metric, gain in gains.items():
                    yield "kind", kind.kind, measure, metric, gain
        for relation_kind, instances in self.relations.items():
            if instances:
                yield "relation", relation_kind, "count", "", len(instances)
        for link in self.links:
            for outcome in ("correct", "wrong", "missed", "spurious"):
                pair = f"{link.anaphor} → {link.antecedent}"
                yield "link", pair, outcome, "", getattr(link, outcome)
        for metric, table in self.antecedents.items():
            for name, counts in table.items():
                for outcome, value in counts.items():
                    yield "antecedent", name, outcome, metric, value

    def _cost_rows(self, top: int) -> Iterator[tuple[object, ...]]:
        if not self.shared_out:
            return
        for mention in self.mentions(top):
            row = f"{mention.document}: {mention.mention}"
            yield "mention", row, "cost", "", mention.cost
            for measure, shares in (("recall", mention.recall), ("precision", mention.precision)):
                for metric, share in shares.items():
                    yield "mention", row, measure, metric, share
        for entity in self.entities(top):
            row = f"{entity.document}: {entity.side} {entity.name}"
            yield "entity", row, "cost", "", entity.cost
            for metric, share in entity.loss.items():
                yield "entity", row, "loss", metric, share

    def error_rows(self, kinds: Iterable[str] = KINDS) -> list[Row]:
        """One row for each mention of each error; `error` numbers the errors of a kind.

        `match` is the key mention of other tokens that one of the response is matched with.
        """
        return [
            {
                "response": self.result.response,
                "kind": kind,
                "error": number,
                "document": error.document,
                **_place_cells("", place),
                **_place_cells("match_", place.match),
                "key_entity": error.key_entity,
                "response_entity": error.response_entity,
                **_place_cells("instead_", error.instead),
                **_place_cells("instead_match_", error.instead and error.instead.match),
            }
            for kind in kinds
            for number, error in enumerate(self.listed(kind), start=1)
            for place in error.mentions
        ]

    def as_dict(self, *, top: int = 10) -> dict[str, object]:
        """Everything but the lists, for JSON."""
        counts = {kind: len(instances) for kind, instances in self.relations.items()}
        return {
            "key": self.result.key,
            "response": self.result.response,
            "signature": self.result.signature,
            "scores": {metric: score.f1 for metric, score in self.result.scores.items()},
            "kinds": [row.as_dict() for row in self.kinds],
            **({"relations": counts} if any(counts.values()) else {}),
            "links": {"by": self.by, "rows": [row.as_dict() for row in self.links]},
            "antecedents": self.antecedents,
            "mentions": [mention.as_dict() for mention in self.mentions(top)]
            if self.shared_out
            else [],
            "entities": [entity.as_dict() for entity in self.entities(top)]
            if self.shared_out
            else [],
            "documents": [
                {"id": document.id, "errors": document.counts} for document in self.documents
            ],
            "notices": [str(notice) for notice in self.notices],
        }

    def __eq__(self, other: object) -> bool:
        """Whether results are equal, and the same mentions are wrong in the same ways."""
        if not isinstance(other, ErrorAnalysis):
            return NotImplemented
        return are_same(
            *(
                (analysis.result, analysis.scored, analysis.by, analysis._errors)
                for analysis in (self, other)
            )
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def _errors(self) -> tuple[object, ...]:
        classification = self.classification
        return classification.items, classification.decision, digest(classification.response)

    def __repr__(self) -> str:
        counts = ", ".join(f"{kind} {int(self.counts[kind].sum()):,}" for kind in KINDS)
        return f"<ErrorAnalysis of {plural(len(self.result.document_ids), 'document')}: {counts}>"

    @cached_property
    def _attributions(self) -> dict[str, Attribution]:
        return {}

    def _attributions_by(self, metric: str | Metric | None) -> list[Attribution]:
        """One metric's attribution, or that of all metrics whose loss can be shared out."""
        if metric is not None:
            return [self.attribution(metric)]
        metrics = [candidate for candidate in self.scored if decomposes(candidate)]
        if not metrics:
            raise UndefinedMetricError(
                f"none of {', '.join(self.metrics)} can be divided among mentions or entities: "
                "ask for b3, lea or muc"
            )
        return [self.attribution(divisible) for divisible in metrics]

    def _fix(self, kinds: tuple[ErrorKind, ...], before: Result) -> Result:
        """The result with kinds fixed; without an error of the last one it stays as it was.

        After all kinds it is counted in any case: the response is then the key.
        """
        if kinds != KINDS and not self.counts[kinds[-1]].any():
            return before
        alignment = fix(self.classification, kinds)
        tables = {
            str(metric): self.result.tables[str(metric)]  # which no fix changes
            if metric.declaration.beyond
            else count_table(metric, alignment)
            for metric in self.scored
        }
        return replace(self.result, tables=tables, notices=(), slices={})


@dataclass(frozen=True, slots=True, repr=False)
class DocumentErrors:
    """The errors of one document."""

    analysis: ErrorAnalysis
    index: int

    @property
    def id(self) -> str:
        """Name and part of the document."""
        return self.analysis.document_ids[self.index]

    @property
    def counts(self) -> dict[ErrorKind, int]:
        """How many errors of each kind there are."""
        return {kind: int(self.analysis.counts[kind][self.index]) for kind in KINDS}

    @property
    def result(self) -> DocumentResult:
        """The document's scores."""
        return self.analysis.result.document(self.index)

    def __repr__(self) -> str:
        return f"<{self.id}: {', '.join(f'{kind} {n:,}' for kind, n in self.counts.items())}>"


def _place_cells(name: str, place: Place | None) -> Row:
    """The start, end and text of a mention, in columns whose names begin with `name`."""
    return {f"{name}{part}": place and getattr(place, part) for part in ("start", "end", "text")}


def _gain(before: Result, after: Result) -> dict[str, float]:
    return {metric: after[metric].f1 - before[metric].f1 for metric in before.metrics}

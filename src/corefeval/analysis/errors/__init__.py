"""Error analysis: what is wrong with a response, where it is, and what it costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Unpack, cast

from corefeval.analysis.errors.classification import (
    KINDS,
    OTHERS,
    SUMMARIES,
    Classification,
    ErrorKind,
    SpanDecision,
    classify,
    error_kind,
    explain_overlap,
)
from corefeval.analysis.errors.costs import Attribution, KindRow, attribute, decomposes, fix
from corefeval.analysis.errors.links import LinkCounts, LinkRow, count_links, list_relations
from corefeval.analysis.errors.listing import (
    EntityCost,
    ErrorInstance,
    MentionCost,
    Place,
    list_errors,
    list_outcomes,
    rank_entities,
    rank_mentions,
)
from corefeval.diagnostics import Notice, Notices, UndefinedMetricError, plural
from corefeval.display import Row, Tabular, are_same
from corefeval.evaluation import count, prepare_nearest
from corefeval.metrics import Metric, Metrics, parse_metrics
from corefeval.model.arrays import IntArray
from corefeval.model.identity import digest
from corefeval.preparation import Prepared
from corefeval.protocol import STEPS, Protocol
from corefeval.request import Input, Request, ScoreOptions, Stated
from corefeval.results import Result
from corefeval.results.result import DocumentResult
from corefeval.slicing import count_table

if TYPE_CHECKING:
    from corefeval.analysis.statistics import EntityRow

__all__ = [
    "KINDS",
    "SUMMARIES",
    "ErrorAnalysis",
    "ErrorInstance",
    "KindRow",
    "Place",
    "analyse",
    "analyse_prepared",
    "error_kind",
    "judge_alike",
]

DEFAULT_METRICS = "conll, lea"


def analyse(
    key: Input,
    response: Input,
    *,
    metrics: Metrics = DEFAULT_METRICS,
    by: str = "kind",
    protocol: Protocol | str | None = None,
    features: Stated = None,
    **options: Unpack[ScoreOptions],
) -> ErrorAnalysis:
    """Say what is wrong with a response, and what each kind of error costs.

    Key and response are what `score` takes, and so are protocol, features and options. `by` is the
    feature of mentions to break links down by. `wrong_spans` says when an extra mention counts as
    an overlapping missing one with a wrong span: if both have the same head ("head"), always
    ("overlap"), or by the head if all heads are known ("auto"); the signature has what was used.
    Raises a `MissingFeatureError` if heads are wanted and none is known. Under a protocol of
    another program the nearest rules of corefeval are taken, with a notice of both totals.

    >>> analysis = analyse([["Ada", "she"], ["it"]], [["Ada", "she", "it"]], metrics="b3")
    >>> [(row.kind, row.count) for row in analysis.kinds if row.count]
    [('conflated', 1)]
    >>> analysis.listed("conflated")[0].mentions[0].text
    'it'
    """
    steps = (*STEPS, "errors")
    request = Request.of(
        protocol, options, metrics=metrics, by=(by,), features=features, steps=steps, nearest=True
    )
    return analyse_prepared(prepare_nearest(key, response, request), request.metrics, by=by)


def analyse_prepared(
    prepared: Prepared, metrics: Metrics = DEFAULT_METRICS, *, by: str = "kind"
) -> ErrorAnalysis:
    """Analyse the errors of a key and a response that are prepared already, as `analyse` does.

    Points are those of entities: sets of antecedents are listed, but have no points.
    """
    if prepared.protocol.split == "score":
        text = "points do not include sets of antecedents; --list set lists these"
        notices = (*prepared.notices, Notice("sets-without-points", text))
        protocol = prepared.protocol.but(split="off")
        prepared = replace(prepared, protocol=protocol, notices=notices)
    result = count(prepared, metrics)
    scored = [
        request.metric for request in parse_metrics(metrics) if str(request.metric) in result.tables
    ]
    if unfixed_metrics := [str(metric) for metric in scored if metric.declaration.beyond]:
        text = f"no points for {', '.join(unfixed_metrics)}: only coreference errors are fixed here"
        result = replace(result, notices=(*result.notices, Notice("no-points", text)))
    classification = classify(prepared, prepared.protocol.wrong_spans)
    analysis = ErrorAnalysis(replace(result, slices={}), classification, tuple(scored), by)
    return _sign(analysis)


def judge_alike(analyses: Sequence[ErrorAnalysis]) -> list[ErrorAnalysis]:
    """The analyses with one rule for all wrong spans: overlap, where one response lacks heads.

    Counts of responses that stand side by side would not be comparable otherwise.
    """
    rules = [analysis.classification.decision.rule for analysis in analyses]
    if not {"head", "overlap"} <= set(rules):
        return list(analyses)
    lacking = [
        analysis.result.response or "a response"
        for analysis, rule in zip(analyses, rules, strict=True)
        if rule == "overlap"
    ]
    why = explain_overlap(f"not all heads of {', '.join(lacking)} are known")
    judged = list(analyses)
    for place, (analysis, rule) in enumerate(zip(analyses, rules, strict=True)):
        if rule == "head":
            errors = classify(analysis.classification.prepared, "overlap")
            errors = replace(errors, decision=SpanDecision("overlap", (why,)))
            judged[place] = _sign(replace(analysis, classification=errors))
    return judged


def _sign(analysis: ErrorAnalysis) -> ErrorAnalysis:
    """The analysis with the rule that decided on wrong spans in its signature."""
    rule, result = analysis.classification.decision.rule, analysis.result
    if rule is None:
        return analysis
    return replace(analysis, result=replace(result, protocol=result.protocol.but(wrong_spans=rule)))


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
            number = int(self.counts[kind].sum())
            gain_alone = _gain(self.result, self.alone[kind])
            rows.append(KindRow(kind, number, gain_alone, _gain(before, self.in_turn[kind])))
            before = self.in_turn[kind]
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
    def notices(self) -> Notices:
        """What was dropped, skipped or is not known."""
        decision = self.classification.decision.notices
        links = self.link_counts.notices
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

    def entity_table(self, n: int = 30) -> list[EntityRow]:
        """The `n` largest entities of the key: where they are, and what the response made of them.

        >>> analysis = analyse([["Ada", "she"], ["it"]], [["Ada", "she", "it"]], metrics="b3")
        >>> row = analysis.entity_table(1)[0]
        >>> row.name, row.mentions, row.recall, row.merged
        ('Ada', 2, 1.0, (('it', 1),))
        """
        return list_outcomes(self.classification, n)

    def listed(self, kind: str, n: int | None = None) -> list[ErrorInstance]:
        """All errors of a kind, or the first of them, in the order of the text."""
        chosen = error_kind(kind)
        if chosen in OTHERS:
            return self.relations[chosen][:n]
        return list(islice(list_errors(self.classification, cast("ErrorKind", chosen)), n))

    @cached_property
    def relations(self) -> dict[str, list[ErrorInstance]]:
        """Sets of antecedents and bridging that are missed, spurious or wrong, by kind."""
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
        """Table, row, measure, metric and value of all numbers but costs."""
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
        mentions = self.mentions(top) if self.shared_out else []
        entities = self.entities(top) if self.shared_out else []
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
            "mentions": [mention.as_dict() for mention in mentions],
            "entities": [entity.as_dict() for entity in entities],
            "documents": [{"id": entry.id, "errors": entry.counts} for entry in self.documents],
            "notices": [str(notice) for notice in self.notices],
        }

    def __eq__(self, value: object) -> bool:
        """Whether results are equal, and the same mentions are wrong in the same ways."""
        if not isinstance(value, ErrorAnalysis):
            return NotImplemented
        facts = []
        for analysis in (self, value):
            errors = analysis.classification
            wrong = errors.items, errors.decision, digest(errors.response)
            facts.append((analysis.result, analysis.scored, analysis.by, *wrong))
        return are_same(*facts)

    __hash__ = None  # type: ignore[assignment]

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
        if not self.shared_out:
            raise UndefinedMetricError(
                f"none of {', '.join(self.metrics)} can be divided among mentions or entities: "
                "ask for b3, lea or muc"
            )
        return [self.attribution(name) for name in self.shared_out]

    def _fix(self, kinds: tuple[ErrorKind, ...], before: Result) -> Result:
        """The result with kinds fixed; without an error of the last one it stays as it was.

        After all kinds it is counted in any case: the response is then the key.
        """
        if kinds != KINDS and not self.counts[kinds[-1]].any():
            return before
        alignment = fix(self.classification, kinds)
        tables = {
            str(metric): self.result.tables[str(metric)]  # no fix changes these counts
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

"""Error analysis: what is wrong with a response, where it is, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

from corefeval.analysis.errors.analysis import ErrorAnalysis, KindRow
from corefeval.analysis.errors.classification import (
    KINDS,
    OTHERS,
    SUMMARIES,
    ErrorKind,
    SpanDecision,
    classify,
    error_kind,
    explain_overlap,
)
from corefeval.analysis.errors.costs import Attribution
from corefeval.analysis.errors.links import LinkCounts, LinkRow
from corefeval.analysis.errors.listing import EntityCost, ErrorInstance, MentionCost, Place
from corefeval.diagnostics import Notice
from corefeval.evaluation import Method, Metrics, count
from corefeval.metrics import parse_metrics
from corefeval.preparation import Input, Options, Prepared, Stated, plan, prepare_inputs
from corefeval.protocol import STEPS, Protocol

__all__ = [
    "KINDS",
    "OTHERS",
    "SUMMARIES",
    "Attribution",
    "EntityCost",
    "ErrorAnalysis",
    "ErrorInstance",
    "ErrorKind",
    "KindRow",
    "LinkCounts",
    "LinkRow",
    "MentionCost",
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
    **options: Unpack[Options],
) -> ErrorAnalysis:
    """Say what is wrong with a response, and what each kind of error costs.

    Key and response are what `score` takes, and so are protocol, features and options. `by` is the
    feature of mentions by which links are told apart. `wrong_spans` ("auto", "head" or "overlap")
    says when an extra mention that overlaps a missing one is that mention with a wrong span: when
    it has the same head, in any case, or (auto) by the head where all heads are known; the
    signature has what it was in the end. By "head", `MissingFeatureError` says that no head is
    known.

    >>> analysis = analyse([["Ada", "she"], ["it"]], [["Ada", "she", "it"]], metrics="b3")
    >>> [(row.kind, row.count) for row in analysis.kinds if row.count]
    [('conflated', 1)]
    >>> analysis.listed("conflated")[0].mentions[0].text
    'it'
    """
    made = plan(protocol, options, features=features, steps=(*STEPS, "errors"))
    made.protocol.check_sound()
    method = Method.of(metrics, (by,), made)  # what is misspelt is told before anything is read
    prepared = prepare_inputs(key, response, method.plan)
    return analyse_prepared(prepared, method.metrics, by=by)


def analyse_prepared(
    prepared: Prepared, metrics: Metrics = DEFAULT_METRICS, *, by: str = "kind"
) -> ErrorAnalysis:
    """The same for what is prepared already.

    Points are those of entities: sets of antecedents, where they count, are listed alone.
    """
    if prepared.protocol.split == "score":
        text = "points are without sets of antecedents, which are listed (--list set)"
        notices = (*prepared.notices, Notice("sets-without-points", text))
        protocol = prepared.protocol.but(split="off")
        prepared = replace(prepared, protocol=protocol, notices=notices)
    result = count(prepared, metrics)
    scored = [one.metric for one in parse_metrics(metrics) if str(one.metric) in result.tables]
    if beyond := [str(metric) for metric in scored if metric.declaration.beyond]:
        text = f"no points for {', '.join(beyond)}: errors of coreference are fixed here, no others"
        result = replace(result, notices=(*result.notices, Notice("no-points", text)))
    classification = classify(prepared, prepared.protocol.wrong_spans)
    analysis = ErrorAnalysis(replace(result, slices={}), classification, tuple(scored), by)
    return _sign(analysis)


def judge_alike(analyses: Sequence[ErrorAnalysis]) -> list[ErrorAnalysis]:
    """The analyses with one rule for all wrong spans: overlap, where one response lacks heads.

    Counts of responses that stand side by side would not be comparable otherwise.
    """
    rules = [one.classification.decision.rule for one in analyses]
    if not {"head", "overlap"} <= set(rules):
        return list(analyses)
    lacking = [
        one.result.response or "a response"
        for one, rule in zip(analyses, rules, strict=True)
        if rule == "overlap"
    ]
    why = explain_overlap(f"not all heads of {', '.join(lacking)} are known")
    decision = SpanDecision("overlap", (why,))
    return [
        _judge_again(one, decision) if rule == "head" else one
        for one, rule in zip(analyses, rules, strict=True)
    ]


def _judge_again(analysis: ErrorAnalysis, decision: SpanDecision) -> ErrorAnalysis:
    again = classify(analysis.classification.prepared, "overlap")
    return _sign(replace(analysis, classification=replace(again, decision=decision)))


def _sign(analysis: ErrorAnalysis) -> ErrorAnalysis:
    """The analysis with what told wrong spans in its signature."""
    rule, result = analysis.classification.decision.rule, analysis.result
    if rule is None:
        return analysis
    return replace(analysis, result=replace(result, protocol=result.protocol.but(wrong_spans=rule)))

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
from corefeval.evaluation import count
from corefeval.metrics import Metrics, parse_metrics
from corefeval.preparation import Prepared, prepare_inputs
from corefeval.protocol import STEPS, Protocol
from corefeval.request import Input, Options, Request, Stated

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
    feature of mentions to break links down by. `wrong_spans` says when an extra mention counts as
    an overlapping missing one with a wrong span: if both have the same head ("head"), always
    ("overlap"), or by the head if all heads are known ("auto"); the signature has what was used.
    Raises a `MissingFeatureError` if heads are wanted and none is known.

    >>> analysis = analyse([["Ada", "she"], ["it"]], [["Ada", "she", "it"]], metrics="b3")
    >>> [(row.kind, row.count) for row in analysis.kinds if row.count]
    [('conflated', 1)]
    >>> analysis.listed("conflated")[0].mentions[0].text
    'it'
    """
    request = Request.of(
        protocol,
        options,
        metrics=metrics,
        by=(by,),
        features=features,
        steps=(*STEPS, "errors"),
        sound=True,
    )
    return analyse_prepared(prepare_inputs(key, response, request), request.metrics, by=by)


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
    decision = SpanDecision("overlap", (why,))
    return [
        _judge_again(analysis, decision) if rule == "head" else analysis
        for analysis, rule in zip(analyses, rules, strict=True)
    ]


def _judge_again(analysis: ErrorAnalysis, decision: SpanDecision) -> ErrorAnalysis:
    again = classify(analysis.classification.prepared, "overlap")
    return _sign(replace(analysis, classification=replace(again, decision=decision)))


def _sign(analysis: ErrorAnalysis) -> ErrorAnalysis:
    """The analysis with the rule that decided on wrong spans in its signature."""
    rule, result = analysis.classification.decision.rule, analysis.result
    if rule is None:
        return analysis
    return replace(analysis, result=replace(result, protocol=result.protocol.but(wrong_spans=rule)))

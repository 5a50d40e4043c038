"""Counting: from what was prepared to a result, with slices and intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from corefeval.alignment import Alignment
from corefeval.checks import check_count, check_probability, check_seed, check_type, split_list
from corefeval.diagnostics import Notice, UndefinedMetricError, UsageError
from corefeval.metrics import (
    DEFAULT_PRESET,
    Metric,
    MetricRequest,
    Metrics,
    parse_metrics,
    spell,
)
from corefeval.preparation import Prepared
from corefeval.results import CountTable, Result, Slices
from corefeval.slicing import count_table, cuts, own_feature, slice_result

SEGMENTS = 20  # into which a single document is cut


@dataclass(frozen=True, slots=True)
class Sampling:
    """Level, samples and seed of intervals, and segments of a single document: see `score`."""

    ci: float | None = None
    samples: int = 1000
    seed: int = 0
    segments: int = SEGMENTS
    as_segments: bool = False

    def __post_init__(self) -> None:
        if self.ci is not None:
            check_probability("the level of an interval", self.ci)
            check_count("the number of samples", self.samples)
            check_seed(self.seed)
        if self.segments is SEGMENTS:
            return
        from corefeval.pairing.regrouping import LEAST

        number = self.segments
        if isinstance(number, bool) or not isinstance(number, int) or number < LEAST:
            raise UsageError(f"segments must be a whole number of at least {LEAST}, not {number!r}")


def count(
    prepared: Prepared,
    metrics: Metrics | Sequence[MetricRequest] = DEFAULT_PRESET,
    *,
    by: str | Iterable[str] = (),
    sampling: Sampling | None = None,
) -> Result:
    """The result of some metrics on what was prepared, with a slice for each value of `by`.

    >>> from corefeval.preparation import prepare
    >>> count(prepare([["Ada", "she"], ["it"]], [["Ada", "she", "it"]]), "muc")["muc"].recall
    1.0
    """
    check_type("count", prepared, Prepared, "prepare(key, response) makes one")
    sampling = Sampling() if sampling is None else sampling
    check_type("count", sampling, Sampling, "Sampling(ci=.95) is one")
    return count_and_sample(prepared, parse_metrics(metrics), feature_names(by), sampling)


def count_and_sample(
    prepared: Prepared,
    requests: Sequence[MetricRequest],
    features: Sequence[str],
    sampling: Sampling,
) -> Result:
    """The result, with intervals or of segments where that is asked for."""
    result = _count(prepared, requests, features)
    if len(result.document_ids) != 1 or (sampling.ci is None and not sampling.as_segments):
        return result if sampling.ci is None else with_intervals(result, sampling)
    from corefeval.evaluation.segments import segment_prepared
    from corefeval.pairing.regrouping import segment_notice

    parts = segment_prepared(prepared, sampling.segments)
    if isinstance(parts, Notice):
        result = replace(result, notices=(*result.notices, parts))
        return result if sampling.ci is None else with_intervals(result, sampling)
    # What a preset skipped for the whole document is not there for its segments either.
    requests = [request for request in requests if str(request.metric) in result.tables]
    of_parts = replace(_count(parts, requests, features), notices=())
    if sampling.as_segments:
        result = _of_segments(result, of_parts)
        return result if sampling.ci is None else with_intervals(result, sampling)
    name, number = result.document_ids[0], len(of_parts.document_ids)
    result = replace(result, notices=(*result.notices, segment_notice(number, name)))
    return with_intervals(result, sampling, of_parts)


def with_intervals(result: Result, sampling: Sampling, segments: Result | None = None) -> Result:
    """The result with the intervals that a sampling asks for."""
    from corefeval.stats.bootstraps import with_intervals as bootstrap

    level = 0.95 if sampling.ci is None else sampling.ci
    return bootstrap(
        result, level=level, samples=sampling.samples, seed=sampling.seed, segments=segments
    )


def _of_segments(result: Result, parts: Result) -> Result:
    """The result of the segments, with the notices of the document and one on the segments."""
    text = f"{result.document_ids[0]}: a single document cannot be tested; tests are on {{n}} of "
    text += "it, each taken as a document, which miss what is split or merged over long distances"
    notice = Notice("segments", text, len(parts.document_ids), noun="segment")
    return replace(
        parts,
        notices=(*result.notices, notice),
        whole_rates={metric: dict(score.rates) for metric, score in result.scores.items()},
    )


def feature_names(by: object) -> tuple[str, ...]:
    """The features that scores are asked for by."""
    names = split_list(by) if isinstance(by, str) else by
    if not isinstance(names, Iterable) or isinstance(names, Mapping):
        raise UsageError(f"by is a list of features, not {by!r:.60}")
    features = tuple(names)
    for name in features:
        if not isinstance(name, str):
            raise UsageError(f"a feature is written as text, not {name!r:.60}")
    return features


def _count(prepared: Prepared, requests: Sequence[MetricRequest], by: Sequence[str]) -> Result:
    """The result of metrics, and of their slices."""
    tables, skipped = _count_tables(prepared.alignment, requests, by)
    scored = [request.metric for request in requests if str(request.metric) in tables]
    if names := {"split", "bridging"} & {metric.name for metric in scored}:
        skipped = [*prepared.alignment.beyond.notices(names), *skipped]
    if prepared.protocol.layer != "identity":
        skipped += _about_identity(scored)
    slicing = cuts(scored, by)
    for cut in slicing:  # which tag set it took is part of the signature
        prepared.key_features(cut.feature)
    protocol = prepared.protocol
    if tags := prepared.key_features.tagset_name:
        protocol = protocol.but(tagset=tags)
    result = Result(
        tables=tables,
        document_ids=prepared.document_ids,
        protocol=protocol,
        key=prepared.key.name,
        response=prepared.response.name,
        key_digest=prepared.key_digest,
        notices=(*prepared.notices, *skipped),
        spell=spell,
        titles={str(request.metric): request.metric.title for request in requests},
    )
    if prepared.variants:
        result = _with_bounds(result, prepared)
    slices: dict[str, Slices] = {}
    notices = [*result.notices]
    for cut in slicing:
        slices[cut.feature], slice_notices = slice_result(result, prepared, cut)
        notices += slice_notices
    notices += prepared.feature_notices
    if not slices and not notices:
        return result
    return replace(result, slices=slices, notices=tuple(dict.fromkeys(notices)))


def _about_identity(scored: Sequence[Metric]) -> list[Notice]:
    """What to say of metrics that count what no other layer than identity has."""
    names = [str(metric) for metric in scored if metric.name in ("bridging", "non-referring")]
    text = f"nothing to count for {', '.join(names)} here: use --layer identity"
    return [Notice("other-layer", text, len(names), tuple(names))] if names else []


def _count_tables(
    alignment: Alignment, requests: Sequence[MetricRequest], by: Sequence[str]
) -> tuple[dict[str, CountTable], list[Notice]]:
    """Every metric's counts; a preset skips what the data cannot define, a name insists on it."""
    tables: dict[str, CountTable] = {}
    skipped: dict[str, list[str]] = {}
    for request in requests:
        metric = request.metric
        feature = own_feature(metric, by)
        try:
            for side in (alignment.key, alignment.response) if feature else ():
                side.feature(feature)
            table = count_table(metric, alignment)
            tables[str(metric)] = replace(table, by=feature) if feature else table
        except UndefinedMetricError as error:
            if request.by_name:
                if not str(error).startswith(metric.name):  # a feature, of which nobody spoke
                    error.args = (f"{metric}: {error}",)
                raise
            skipped.setdefault(str(error).removeprefix(f"{metric} "), []).append(str(metric))
    return tables, [
        Notice("skipped-metric", f"skipped: {', '.join(metrics)}: {why}", len(metrics), (*metrics,))
        for why, metrics in skipped.items()
    ]


def _with_bounds(result: Result, prepared: Prepared) -> Result:
    """A result of answers of a language model, with what other readings of them would score."""
    figures = {}
    for name, variant in prepared.variants:
        tables, _ = _count_tables(variant.alignment, parse_metrics("muc, b3, ceafe, conll"), ())
        variant_result = Result(tables, variant.document_ids, variant.protocol, spell=spell)
        # There may be protocols under which it is no number.
        if math.isfinite(f1 := variant_result["conll"].f1):
            figures[name] = f1
    texts = {
        "strict": "{} if lost mentions count as wrong",
        "reached": "{} on the text that the answers cover",
        "lowest": "{} if strings that occur several times are all wrong",
        "highest": "{} if they are all placed to match the key",
    }
    shown = [texts[name].format(f"{100 * figures[name]:.2f}") for name in texts if name in figures]
    notices = []
    if shown and "drop" in figures:
        first = f"{prepared.response.name}: CoNLL {100 * figures['drop']:.2f}"
        notices = [Notice("llm-bounds", "; ".join([first, *shown]))]
    ledger = prepared.response.ledger
    answers = {"conll": figures, **(ledger.as_dict() if ledger is not None else {})}
    return replace(result, answers=answers, notices=(*result.notices, *notices))

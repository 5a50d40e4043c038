"""Counting: from what was prepared to a result, with slices and intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from corefeval.alignment import Alignment
from corefeval.checks import check_type
from corefeval.diagnostics import Notice, UndefinedMetricError, UsageError
from corefeval.features import PartFeatures
from corefeval.matching import Matches
from corefeval.metrics import DEFAULT_PRESET, Metric, MetricRequest, Metrics, parse_metrics, spell
from corefeval.model.arrays import all_true
from corefeval.preparation import Prepared
from corefeval.request import Sampling, feature_names
from corefeval.results import CountTable, Result, Slices
from corefeval.slicing import count_table, find_feature, list_cuts, slice_result

if TYPE_CHECKING:
    from corefeval.full_sides import FullSide, FullSides
    from corefeval.model import Corpus
    from corefeval.model.arrays import BoolArray
    from corefeval.pairing.regrouping import Segmentation
    from corefeval.protocol import Protocol


def count(
    prepared: Prepared,
    metrics: Metrics = DEFAULT_PRESET,
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
    return count_requested(prepared, parse_metrics(metrics), feature_names(by), sampling)


def count_requested(
    prepared: Prepared, requests: Sequence[MetricRequest], by: Sequence[str], sampling: Sampling
) -> Result:
    """The result of metrics that are parsed already, with slices, and intervals if asked for."""
    if not requests:
        raise UsageError("no metric was chosen")
    result = _count(prepared, requests, by)
    if sampling.ci is None and not sampling.as_segments:
        return result
    if len(result.document_ids) != 1:
        return with_intervals(result, sampling)
    parts = segment_prepared(prepared, sampling.segments)
    if isinstance(parts, Notice):
        return with_intervals(replace(result, notices=(*result.notices, parts)), sampling)
    # Metrics that a preset skipped for the whole document are skipped for its segments, too.
    requests = [request for request in requests if str(request.metric) in result.tables]
    part_result = replace(_count(parts, requests, by), notices=())
    if sampling.as_segments:
        return with_intervals(_replace_by_segments(result, part_result), sampling)
    from corefeval.pairing.regrouping import segment_notice

    notice = segment_notice(len(part_result.document_ids), result.document_ids[0])
    return with_intervals(replace(result, notices=(*result.notices, notice)), sampling, part_result)


def with_intervals(result: Result, sampling: Sampling, segments: Result | None = None) -> Result:
    """The result with the intervals that a sampling asks for, if it asks for any."""
    if sampling.ci is None:
        return result
    from corefeval.stats.bootstraps import with_intervals as bootstrap

    level, samples, seed = sampling.ci, sampling.samples, sampling.seed
    return bootstrap(result, level=level, samples=samples, seed=seed, segments=segments)


def _replace_by_segments(result: Result, parts: Result) -> Result:
    """The result of the segments, with the notices of the document and one on the segments."""
    text = f"{result.document_ids[0]}: a single document cannot be tested; tests are on {{n}} of "
    text += "it, each taken as a document, which miss what is split or merged over long distances"
    notice = Notice("segments", text, len(parts.document_ids), noun="segment")
    return replace(
        parts,
        notices=(*result.notices, notice),
        whole_rates={metric: dict(score.rates) for metric, score in result.scores.items()},
    )


def _count(prepared: Prepared, requests: Sequence[MetricRequest], by: Sequence[str]) -> Result:
    """The result of metrics, and of their slices."""
    tables, count_notices = _count_tables(prepared.alignment, requests, by)
    scored = [request.metric for request in requests if str(request.metric) in tables]
    if names := {"split", "bridging"} & {metric.name for metric in scored}:
        count_notices = [*prepared.alignment.full_sides.notices(names), *count_notices]
    if prepared.protocol.layer != "identity":
        count_notices += _note_other_layer(scored)
    slicing = list_cuts(scored, by)
    for cut in slicing:  # features are worked out here: the signature has their tag set
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
        notices=(*prepared.notices, *count_notices),
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


def _note_other_layer(scored: Sequence[Metric]) -> list[Notice]:
    """A notice on metrics that count nothing in any layer but identity."""
    names = [str(metric) for metric in scored if metric.name in ("bridging", "non-referring")]
    text = f"nothing to count for {', '.join(names)} here: use --layer identity"
    return [Notice("other-layer", text, len(names), tuple(names))] if names else []


def _count_tables(
    alignment: Alignment, requests: Sequence[MetricRequest], by: Sequence[str]
) -> tuple[dict[str, CountTable], list[Notice]]:
    """Every metric's counts, and notices on metrics that were skipped.

    A metric that the data does not define is skipped where a preset asked for it, and is an error
    where it was asked for by name.
    """
    tables: dict[str, CountTable] = {}
    skipped: dict[str, list[str]] = {}
    for request in requests:
        metric = request.metric
        feature = find_feature(metric, by)
        try:
            for side in (alignment.key, alignment.response) if feature else ():
                side.feature(feature)
            table = count_table(metric, alignment)
            tables[str(metric)] = replace(table, by=feature) if feature else table
        except UndefinedMetricError as error:
            if request.by_name:
                if not str(error).startswith(metric.name):  # it names a feature, not the metric
                    error.args = (f"{metric}: {error.command_text}",)
                raise
            skipped.setdefault(error.command_text.removeprefix(f"{metric} "), []).append(
                str(metric)
            )
    return tables, [
        Notice("skipped-metric", f"skipped: {', '.join(metrics)}: {why}", len(metrics), (*metrics,))
        for why, metrics in skipped.items()
    ]


def _with_bounds(result: Result, prepared: Prepared) -> Result:
    """A result of answers of a language model, with what other readings of them would score."""
    f1_by_reading = {}
    for name, variant in prepared.variants:
        tables, _ = _count_tables(variant.alignment, parse_metrics("muc, b3, ceafe, conll"), ())
        variant_result = Result(tables, variant.document_ids, variant.protocol, spell=spell)
        # Under some protocols CEAFe may be no number.
        if math.isfinite(f1 := variant_result["conll"].f1):
            f1_by_reading[name] = f1
    texts = {
        "strict": "{} if lost and unclear mentions count as wrong",
        "read": "{} on the documents whose answers were read",
        "reached": "{} on the text that the answers cover",
    }
    shown = [
        texts[name].format(f"{100 * f1_by_reading[name]:.2f}")
        for name in texts
        if name in f1_by_reading
    ]
    notices = []
    if shown and "drop" in f1_by_reading:
        first = f"{prepared.response.name}: CoNLL {100 * f1_by_reading['drop']:.2f}"
        notices = [Notice("llm-bounds", "; ".join([first, *shown]))]
    ledger = prepared.response.ledger
    answers = {"conll": f1_by_reading, **(ledger.as_dict() if ledger is not None else {})}
    return replace(result, answers=answers, notices=(*result.notices, *notices))


# ── segments of a single document, which intervals and tests take for documents ──


def segment_prepared(prepared: Prepared, number: int) -> Prepared | Notice:
    """The segments of a single document as documents; a notice where it cannot be cut.

    Matched mentions go into the same segment. Singletons that the cuts made are dropped where the
    protocol drops singletons.
    """
    from corefeval.pairing.regrouping import segment

    partners = prepared.matches.partners_of_response(prepared.response.n_mentions)
    cut = segment(prepared.key, prepared.response, partners, number)
    if isinstance(cut, Notice):
        return cut
    corpora, matches, full_sides = [cut.key, cut.response], prepared.matches, prepared.full_sides
    full = None if full_sides is None else _segment_full_sides(full_sides, cut)
    keep = _find_remaining(corpora, full, prepared.protocol)
    if not all(is_kept.all() for is_kept in keep):
        matches = _keep_matches(matches, keep)
        corpora = [corpus.keep_mentions(mask) for corpus, mask in zip(corpora, keep, strict=True)]
    rows = [np.flatnonzero(is_kept) for is_kept in keep]
    if full is not None and full_sides is not None:
        scored = [
            replace(side, rows=side.rows[side_rows], scored_entity=corpus.mention_entity)
            for side, side_rows, corpus in zip(full, rows, corpora, strict=True)
        ]
        full_sides = full_sides.with_sides(scored[0], scored[1], matches)
    return replace(
        prepared,
        key=corpora[0],
        response=corpora[1],
        key_features=PartFeatures(prepared.key_features, rows[0], len(cut)),
        response_features=PartFeatures(prepared.response_features, rows[1], len(cut)),
        matches=matches,
        protocol=prepared.protocol.but(segments=str(len(cut))),
        notices=(),
        variants=(),
        full_sides=full_sides,
    )


def _find_remaining(
    corpora: Sequence[Corpus], full: Sequence[FullSide] | None, protocol: Protocol
) -> list[BoolArray]:
    """Which mentions of both sides stay; a segment may have a single mention of a longer entity."""
    keep = [all_true(corpus.n_mentions) for corpus in corpora]
    for side in {"drop": (0, 1), "drop-response": (1,)}.get(protocol.singletons, ()):
        sizes = corpora[side].entity_sizes
        if full is not None and protocol.split == "score":
            sizes = sizes + np.bincount(full[side].set_entities, minlength=sizes.size)
        keep[side] = sizes[corpora[side].mention_entity] > 1
    return keep


def _keep_matches(matches: Matches, keep: Sequence[BoolArray]) -> Matches:
    """The matches of mentions that stay, by their new rows."""
    key_rows, response_rows = matches.rows(keep[0].size)
    is_kept = keep[0][key_rows] & keep[1][response_rows]
    new_rows = [np.cumsum(mask) - 1 for mask in keep]
    weight = None if matches.weight is None else matches.weight[is_kept]
    return Matches(new_rows[0][key_rows[is_kept]], new_rows[1][response_rows[is_kept]], weight)


def _segment_full_sides(full_sides: FullSides, cut: Segmentation) -> list[FullSide]:
    """Both sides in full with segments for documents; mentions not scored go by their starts."""
    sides = []
    for side, corpus in zip(full_sides, (cut.key, cut.response), strict=True):
        starts = np.asarray(side.corpus.mention_start)
        document = np.searchsorted(np.array(cut.cuts), starts, side="right")
        document[side.rows] = corpus.mention_document
        sides.append(replace(side, scored_entity=corpus.mention_entity, document=document))
    return sides

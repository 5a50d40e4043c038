"""Numbers of the overview and of the charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from corefeval.analysis.errors import ErrorAnalysis
from corefeval.diagnostics import CorefEvalError
from corefeval.results import Result, Score
from corefeval.results.slices import all_values
from corefeval.stats import compare

Json = dict[str, Any]
_RATES = ("recall", "precision", "f1")


def overview(results: Sequence[Result]) -> Json:
    """Documents, metrics and scores; `scores` by metric and response, `byDocument` likewise."""
    first = results[0]
    metrics = [metric for metric in first.metrics if all(metric in one for one in results)]
    titles = first.titles or {}
    return {
        "documents": list(first.document_ids),
        "ci": None if first.segment_rates else first.ci,
        "metrics": [{"name": name, "title": titles.get(name, name)} for name in metrics],
        "scores": {metric: [_score(one[metric]) for one in results] for metric in metrics},
        "byDocument": {
            metric: [_document_rates(one, metric) for one in results] for metric in metrics
        },
    }


def _score(score: Score) -> Json:
    shown: Json = {name: _short(score.rates[name]) for name in _RATES if name in score.rates}
    known = {n: list(map(_short, score.intervals[n])) for n in _RATES if n in score.intervals}
    return {**shown, "intervals": known} if known else shown


def _document_rates(result: Result, metric: str) -> Json:
    """Each document's rates on its own counts: a list per rate."""
    rates = result.document_rates[metric]
    return {name: np.round(rates[name], 8).tolist() for name in _RATES if name in rates}


def slice_figures(results: Sequence[Result]) -> list[Json]:
    """For each feature its values, and for each metric a score by response and value.

    A value that a response does not have has no score there: None.
    """
    features = dict.fromkeys(name for one in results for name in one.slices)
    shown = []
    for feature in features:
        slices = [one.slices.get(feature) for one in results]
        known = [one for one in slices if one is not None]
        values = all_values(known)
        metrics = dict.fromkeys(metric for one in known for metric in one.whole.metrics)
        sizes = {value: max(one.sizes.get(value, 0) for one in known) for value in values}
        shown.append(
            {
                "feature": feature,
                "level": known[0].level,
                "values": [{"name": value, "size": sizes[value]} for value in values],
                "scores": {
                    metric: [
                        [
                            _score(one[value][metric])
                            if one is not None and value in one and metric in one[value]
                            else None
                            for value in values
                        ]
                        for one in slices
                    ]
                    for metric in metrics
                },
            }
        )
    return shown


def difference_figures(results: Mapping[str, Result], *, ci: float | None, seed: int) -> list[Json]:
    """F1 of each response less that of each other, with interval and p; none for one document."""
    names = list(results)
    if len(names) < 2 or ci is None:
        return []
    try:
        compared = compare(results, level=ci, seed=seed)
    except CorefEvalError:  # a single document, or nothing to resample
        return []
    return [
        {
            "metric": one.metric,
            "first": names.index(one.first),
            "second": names.index(one.second),
            "difference": _short(one.difference),
            "interval": list(map(_short, one.interval)),
            "p": _short(one.p),
            "adjusted": _short(one.adjusted_p),
        }
        for one in compared.pairs
    ]


def error_figures(analysis: ErrorAnalysis) -> Json:
    """What kinds of errors there are and cost, by document too; links by kinds of mentions."""
    return {
        "kinds": [
            {
                "count": row.count,
                "alone": {metric: _short(gain) for metric, gain in row.alone.items()},
                "inTurn": {metric: _short(gain) for metric, gain in row.in_turn.items()},
            }
            for row in analysis.kinds
        ],
        "byDocument": [counts.tolist() for counts in analysis.counts.values()],
        "links": [row.as_dict() for row in analysis.links],
    }


def _short(value: float) -> float:
    return round(float(value), 8)

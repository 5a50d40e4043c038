"""What mentions, entities and documents cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from corefeval.analysis.errors import KINDS, ErrorAnalysis
from corefeval.model.arrays import FloatArray
from corefeval.results import CountTable, Result
from corefeval.results.rates import rates_of


@dataclass(frozen=True, eq=False)
class Costs:
    """Half of each share of the loss of recall (the key's) and precision (the response's).

    Shares are means over the metrics that can be shared out; None where there is no such metric.
    """

    metrics: tuple[str, ...] = ()
    key_mentions: FloatArray | None = None
    response_mentions: FloatArray | None = None
    key_entities: FloatArray | None = None
    response_entities: FloatArray | None = None


def costs(analysis: ErrorAnalysis) -> Costs:
    """What each mention and entity costs."""
    shares = [analysis.attribution(metric) for metric in _blamed(analysis)]
    if not shares:
        return Costs()
    return Costs(
        tuple(one.metric for one in shares),
        _half_mean([one.key_mentions for one in shares]),
        _half_mean([one.response_mentions for one in shares]),
        _half_mean([one.key_entities for one in shares]),
        _half_mean([one.response_entities for one in shares]),
    )


def _blamed(analysis: ErrorAnalysis) -> list[str]:
    """The metrics to share out: those of the CoNLL average and LEA, else whichever there are.

    A mean over all would count what metrics have in common, and mention detection, many times.
    """
    known = analysis.shared_out
    usual: list[str] = [metric for metric in ("muc", "b3", "lea") if metric in known]
    return usual or [metric for metric in known if metric != "mentions"] or list(known)


def _half_mean(values: list[FloatArray | None]) -> FloatArray | None:
    known = [value for value in values if value is not None]
    if not known:
        return None
    half: FloatArray = np.mean(known, axis=0) / 2
    return half


def points_lost(analysis: ErrorAnalysis) -> dict[str, list[float]]:
    """For each metric, how much F1 would gain if a document were perfect; a number per document."""
    perfect = analysis.in_turn[KINDS[-1]]
    gains: dict[str, FloatArray] = {}
    for metric, table in analysis.result.tables.items():
        if table.parts:
            gains[metric] = np.mean([gains[part] for part in table.parts], axis=0)
        else:
            gains[metric] = _gain(analysis.result, table, perfect.tables[metric])
    return {metric: np.round(gain, 6).tolist() for metric, gain in gains.items()}


def _gain(result: Result, table: CountTable, perfect: CountTable) -> FloatArray:
    rates = partial(rates_of, table.shape, undefined=result.protocol.undefined)
    mine, best = table.columns(), perfect.columns()
    instead: Mapping[str, Any] = {name: mine[name].sum() - mine[name] + best[name] for name in mine}
    now = rates({name: column.sum() for name, column in mine.items()})["f1"]
    gain: FloatArray = np.maximum(rates(instead)["f1"] - now, 0.0)
    return gain

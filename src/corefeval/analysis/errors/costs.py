"""Who is to blame: each mention's and each entity's share of what a metric lost.

A metric whose counts can be divided by mention (or by entity) is counted with every mention (or
entity) as a group of its own. What a key mention adds to the denominator of recall and not to its
numerator, over the whole denominator, is its share of the loss; the shares of all key mentions add
up to 1 − R, and those of all response mentions to 1 − P.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from corefeval.alignment import Alignment
from corefeval.analysis.errors.classification import Classification
from corefeval.diagnostics import UndefinedMetricError
from corefeval.metrics import Metric
from corefeval.model.arrays import FloatArray, IntArray

Shares = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Attribution:
    """Shares of a metric's loss: of recall by the key's, of precision by the response's.

    `key_mentions` and `key_entities` add up to 1 − R, `response_mentions` and `response_entities`
    to 1 − P (where a side has anything to count; a rate of nothing is 0, and nobody is to blame).
    A metric that divides by entity only, like LMUC, has no shares of mentions.
    """

    metric: str
    key_entities: FloatArray
    response_entities: FloatArray
    key_mentions: FloatArray | None = None
    response_mentions: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class _Groups(Alignment):
    """An alignment whose groups are single mentions or entities instead of documents."""

    document: IntArray | None = None

    def in_document(self, sums: FloatArray) -> FloatArray:
        """For each group, the sum over all groups of its document."""
        if self.document is None or not self.document.size:
            return sums
        return _summed(self.document, sums)[self.document]


def decomposes(metric: Metric) -> bool:
    """Whether a metric's loss can be shared out.

    >>> decomposes(Metric.parse("b3")), decomposes(Metric.parse("ceafe"))
    (True, False)
    """
    return _by_mention(metric) or _by_entity(metric)


def _by_mention(metric: Metric) -> bool:
    return metric.divides_by("mention") and metric.shape in _LOSSES


def _by_entity(metric: Metric) -> bool:
    # Other shapes mix the sides' counts, which single entities cannot share.
    return metric.divides_by("entity") and metric.shape == "ratio"


def attribution(errors: Classification, metric: Metric) -> Attribution:
    """The shares of a metric's loss."""
    key, response = errors.alignment.key, errors.alignment.response
    if _by_mention(metric):
        of_key, of_response = _shares_of_mentions(errors, metric)
        return Attribution(
            str(metric),
            _summed(key.mention_entity, of_key, key.sizes.size),
            _summed(response.mention_entity, of_response, response.sizes.size),
            of_key,
            of_response,
        )
    if _by_entity(metric):
        return Attribution(str(metric), *_shares_of_entities(errors.alignment, metric))
    why = "it has counts for whole documents only"
    if "ceaf" in metric.name or metric.shape == "mean":
        why = "CEAF aligns all entities of a document at once, so none has a share of its own"
    raise UndefinedMetricError(f"the loss of {metric} cannot be shared out: {why}")


def _shares_of_mentions(errors: Classification, metric: Metric) -> Shares:
    """Groups are mentions; one that both sides have is one group."""
    n_key, group = errors.key.n_mentions, errors.joint_row
    extra = errors.response.mention_document[group >= n_key]
    document = np.concatenate((errors.key.mention_document, extra))
    counts = _counted(errors.alignment, metric, np.arange(n_key), group, document)
    of_key, of_response = _LOSSES[metric.shape](counts)
    return of_key[:n_key], of_response[group]


def _shares_of_entities(alignment: Alignment, metric: Metric) -> Shares:
    key, response = alignment.key, alignment.response
    counts = _counted(alignment, metric, key.mention_entity, response.mention_entity)
    of_key, of_response = _LOSSES[metric.shape](counts)
    return of_key[: key.sizes.size], of_response[: response.sizes.size]


def _counted(
    alignment: Alignment,
    metric: Metric,
    key_group: IntArray,
    response_group: IntArray,
    document: IntArray | None = None,
) -> Mapping[str, FloatArray]:
    number = max(alignment.key.sizes.size, alignment.response.sizes.size, 1)
    if document is not None:
        number = max(document.size, 1)
    sides = (
        replace(alignment.key, mention_group=key_group),
        replace(alignment.response, mention_group=response_group),
    )
    rows = alignment.key_rows, alignment.response_rows
    groups = _Groups(number, *sides, *rows, document=document)
    other = _Groups(number, *sides[::-1], *rows[::-1], document=document)
    # As in Alignment.swapped: one table for both directions.
    vars(groups).update(overlap=alignment.overlap, swapped=other)
    vars(other).update(overlap=alignment.swapped.overlap, swapped=groups)
    return metric.count(groups)


def _summed(group: IntArray, values: FloatArray, number: int = 0) -> FloatArray:
    sums = np.bincount(group, weights=values, minlength=number)
    return sums.astype(np.float64, copy=False)


def _share(lost: FloatArray, total: FloatArray) -> FloatArray:
    whole = float(total.sum())
    return lost / whole if whole else np.zeros_like(lost)


def _ratio_loss(counts: Mapping[str, FloatArray]) -> Shares:
    recall, precision = (
        _share(counts[f"{rate}_denominator"] - counts[f"{rate}_numerator"],
               counts[f"{rate}_denominator"])
        for rate in ("recall", "precision")
    )  # fmt: skip
    return recall, precision


def _blanc_loss(counts: Mapping[str, FloatArray]) -> Shares:
    """The mean over the halves that the key has."""
    losses = []
    for kind in ("coreference", "non_coreference"):
        key, response = counts[f"{kind}_key"], counts[f"{kind}_response"]
        common, other = counts[f"{kind}_common"], counts[f"{kind}_common_response"]
        if key.sum() > 0:
            losses.append((_share(key - common, key), _share(response - other, response)))
    nothing = np.zeros_like(counts["coreference_key"])
    if not losses:
        return nothing, nothing
    recall, precision = (np.mean(shares, axis=0) for shares in zip(*losses, strict=True))
    return recall, precision


def _antecedent_loss(counts: Mapping[str, FloatArray]) -> Shares:
    """Wrong links count against both rates."""
    correct, wrong = counts["tp"], counts["wl"]
    recall, precision = (
        _share(wrong + counts[other], correct + wrong + counts[other]) for other in ("fn", "fp")
    )
    return recall, precision


_LOSSES = {"ratio": _ratio_loss, "blanc": _blanc_loss, "antecedents": _antecedent_loss}

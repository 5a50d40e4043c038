"""What errors cost: the response with errors fixed, and each mention's share of what was lost.

A fix (Kummerfeld and Klein 2013, §3) is a function from a partition of the items to another one. In
their order:

1. `span`: mentions with a wrong span get the right one;
2. `conflated`: parts leave entities that are mostly another key entity's, each on its own;
3. `extra mention` and `extra entity`: mentions that stand for no key mention are removed;
4. `missing mention`: each joins the largest part of its entity; `missing entity`: introduced whole;
5. `divided`: the parts of each key entity join its largest.

After all of them the response is the key: every item then stands for a key mention, and two items
are together exactly when they mean the same entity.

A metric whose counts can be divided by mention (or by entity) is counted with every mention (or
entity) as a group of its own. What a key mention adds to the denominator of recall and not to its
numerator, over the whole denominator, is its share of the loss; the shares of all key mentions add
up to 1 − R, and those of all response mentions to 1 − P.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from corefeval.alignment import Alignment, Side
from corefeval.analysis.errors.classification import Classification, ErrorKind, Parts, find_parts
from corefeval.diagnostics import UndefinedMetricError
from corefeval.display import Record
from corefeval.metrics import Metric
from corefeval.model import Corpus
from corefeval.model.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    all_zero,
    dense_ranks,
    looked_up,
    stable_order,
)
from corefeval.model.categories import Categories
from corefeval.model.joining import stack_mentions


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


@dataclass(frozen=True, eq=False)
class Partition:
    """The items' entities (−1: not there), and whether spans are right by now."""

    owner: IntArray
    spans_are_right: bool = False


def fix(errors: Classification, kinds: Sequence[ErrorKind]) -> Alignment:
    """Key and response aligned after these kinds of errors have been fixed, one by one."""
    partition = Partition(errors.items.owner)
    for kind in kinds:
        partition = _fix_kind(errors, partition, kind)
    return _align(errors, partition)


def _fix_kind(errors: Classification, partition: Partition, kind: ErrorKind) -> Partition:
    """The partition after one kind of error has been fixed."""
    if kind == "span":
        return replace(partition, spans_are_right=True)
    owner = partition.owner
    if kind in ("extra mention", "extra entity"):
        return replace(partition, owner=np.where(errors.of_kind(kind), -1, owner))
    first_new = int(owner.max(initial=-1)) + 1  # entities of this number and above are new ones
    parts = find_parts(errors.items, owner, first_new, errors.alignment.key.sizes.size)
    if kind == "conflated":
        owner = _split(owner, parts, first_new)
    elif kind == "divided":
        owner = _merge(owner, parts)
    else:
        owner = _introduce(owner, errors.items.meaning, errors.of_kind(kind), parts, first_new)
    return replace(partition, owner=owner)


def _split(owner: IntArray, parts: Parts, first_new: int) -> IntArray:
    """Each part but an entity's largest gets an entity of its own; extra mentions stay."""
    main = looked_up(parts.main_of_response, owner)
    leaves = (parts.of_item >= 0) & (parts.of_item != main)
    return np.where(leaves, first_new + parts.of_item, owner)


def _merge(owner: IntArray, parts: Parts) -> IntArray:
    """All parts of a key entity join the response entity of its largest part."""
    meaning = looked_up(parts.key, parts.of_item)
    home = looked_up(parts.response, looked_up(parts.main_of_key, meaning))
    return np.where(parts.of_item >= 0, home, owner)


def _introduce(
    owner: IntArray, meaning: IntArray, is_missing: BoolArray, parts: Parts, first_new: int
) -> IntArray:
    """Missing mentions join the largest part of their entity, or make a new entity together."""
    home = looked_up(parts.response, looked_up(parts.main_of_key, meaning))
    return np.where(is_missing, np.where(home >= 0, home, first_new + meaning), owner)


def _align(errors: Classification, partition: Partition) -> Alignment:
    """Key and response aligned, the response with the entities of a partition."""
    items = errors.items
    place = items.right_place if partition.spans_are_right else items.place
    rows = np.flatnonzero(partition.owner >= 0)
    rows = rows[stable_order(place[rows])]
    entity, distinct = dense_ranks(partition.owner[rows])
    entity_document = all_zero(distinct.size)
    entity_document[entity] = items.document[rows]
    key_row = items.key_row[rows]
    if not partition.spans_are_right:
        key_row = np.where(items.wrong[rows], -1, key_row)
    matched = np.flatnonzero(key_row >= 0)
    response = _make_side(errors, rows, entity_document, entity, key_row)
    response = replace(
        response, corpus=_make_corpus(errors, rows, response, partition.spans_are_right)
    )
    return Alignment(
        errors.alignment.n_documents, errors.alignment.key, response, key_row[matched], matched
    )


def _make_side(
    errors: Classification,
    rows: IntArray,
    entity_document: IntArray,
    entity: IntArray,
    key_row: IntArray,
) -> Side:
    """The response's side of a partition; its mentions are those of `rows`."""
    key, response = errors.alignment.key, errors.alignment.response

    def feature(name: str) -> Categories:
        """The key's value for mentions that the key has, the response's for all others."""
        values = Categories.concatenate(key.feature(name), response.feature(name))
        return values.take(np.where(key_row >= 0, key_row, key.mention_entity.size + rows))

    return Side(entity_document, entity, feature)


def _make_corpus(
    errors: Classification, rows: IntArray, side: Side, spans_are_right: bool
) -> Corpus | None:
    """The mentions of a partition with their tokens: the key's where spans are right by now."""
    key, response, items = errors.key, errors.response, errors.items
    if key.mention_start is None or response.mention_start is None:
        return key  # labels have no tokens, so any corpus of labels will do
    n_key = key.n_mentions
    current_row = np.where(rows < items.n_response, n_key + rows, items.key_row[rows])
    key_row = items.key_row[rows]
    source = np.where((key_row >= 0) & spans_are_right, key_row, current_row)
    bare = (
        replace(corpus, mention_head=None, features={}, tokens=None) for corpus in (key, response)
    )
    return replace(
        stack_mentions(*bare).take_mentions(source),
        entity_document=side.entity_document,
        mention_entity=side.mention_entity,
    )


# Shares of the key's and of the response's mentions, or entities.
SideShares = tuple[FloatArray, FloatArray]


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
        return _sum_by(self.document, sums)[self.document]


def decomposes(metric: Metric) -> bool:
    """Whether a metric's loss can be shared out.

    >>> decomposes(Metric.parse("b3")), decomposes(Metric.parse("ceafe"))
    (True, False)
    """
    return _by_mention(metric) or _by_entity(metric)


def _by_mention(metric: Metric) -> bool:
    """Whether a metric's loss can be shared out among the mentions of coreference."""
    has_other_mentions = metric.declaration.beyond
    return metric.divides_by("mention") and metric.shape in _LOSSES and not has_other_mentions


def _by_entity(metric: Metric) -> bool:
    """Whether a metric's loss can be shared out among entities."""
    # Other shapes mix the sides' counts, which single entities cannot share.
    return metric.divides_by("entity") and metric.shape == "ratio"


def attribute(errors: Classification, metric: Metric) -> Attribution:
    """The shares of a metric's loss."""
    key, response = errors.alignment.key, errors.alignment.response
    if _by_mention(metric):
        of_key, of_response = _share_among_mentions(errors, metric)
        return Attribution(
            str(metric),
            _sum_by(key.mention_entity, of_key, key.sizes.size),
            _sum_by(response.mention_entity, of_response, response.sizes.size),
            of_key,
            of_response,
        )
    if _by_entity(metric):
        return Attribution(str(metric), *_share_among_entities(errors.alignment, metric))
    why = "it has counts for whole documents only"
    if "ceaf" in metric.name or metric.shape == "mean":
        why = "CEAF aligns all entities of a document at once, so none has a share of its own"
    raise UndefinedMetricError(f"the loss of {metric} cannot be divided: {why}")


def _share_among_mentions(errors: Classification, metric: Metric) -> SideShares:
    """The shares of mentions; a mention that both sides have is counted as one group."""
    n_key, group = errors.key.n_mentions, errors.joint_row
    extra = errors.response.mention_document[group >= n_key]
    document = np.concatenate((errors.key.mention_document, extra))
    counts = _count_groups(errors.alignment, metric, np.arange(n_key), group, document)
    of_key, of_response = _LOSSES[metric.shape](counts)
    return of_key[:n_key], of_response[group]


def _share_among_entities(alignment: Alignment, metric: Metric) -> SideShares:
    key, response = alignment.key, alignment.response
    counts = _count_groups(alignment, metric, key.mention_entity, response.mention_entity)
    of_key, of_response = _LOSSES[metric.shape](counts)
    return of_key[: key.sizes.size], of_response[: response.sizes.size]


def _count_groups(
    alignment: Alignment,
    metric: Metric,
    key_group: IntArray,
    response_group: IntArray,
    document: IntArray | None = None,
) -> Mapping[str, FloatArray]:
    """A metric's counts, where mentions of one group are counted apart from all others."""
    number = max(alignment.key.sizes.size, alignment.response.sizes.size, 1)
    if document is not None:
        number = max(document.size, 1)
    sides = (
        replace(alignment.key, mention_group=key_group),
        replace(alignment.response, mention_group=response_group),
    )
    rows = alignment.key_rows, alignment.response_rows
    groups = _Groups(number, *sides, *rows, document=document)
    vars(groups)["overlap"] = alignment.overlap
    return metric.count(groups)


def _sum_by(group: IntArray, values: FloatArray, number: int = 0) -> FloatArray:
    sums = np.bincount(group, weights=values, minlength=number)
    return sums.astype(np.float64, copy=False)


def _share(lost: FloatArray, total: FloatArray) -> FloatArray:
    denominator = float(total.sum())
    return lost / denominator if denominator else np.zeros_like(lost)


def _ratio_loss(counts: Mapping[str, FloatArray]) -> SideShares:
    recall, precision = (
        _share(counts[f"{rate}_denominator"] - counts[f"{rate}_numerator"],
               counts[f"{rate}_denominator"])
        for rate in ("recall", "precision")
    )  # fmt: skip
    return recall, precision


def _blanc_loss(counts: Mapping[str, FloatArray]) -> SideShares:
    """The mean loss over coreference and non-coreference links, where the key has such links."""
    losses = []
    for kind in ("coreference", "non_coreference"):
        key, response = counts[f"{kind}_key"], counts[f"{kind}_response"]
        common, common_response = counts[f"{kind}_common"], counts[f"{kind}_common_response"]
        if key.sum() > 0:
            losses.append((_share(key - common, key), _share(response - common_response, response)))
    nothing = np.zeros_like(counts["coreference_key"])
    if not losses:
        return nothing, nothing
    recall, precision = (np.mean(shares, axis=0) for shares in zip(*losses, strict=True))
    return recall, precision


def _antecedent_loss(counts: Mapping[str, FloatArray]) -> SideShares:
    """The loss of antecedents: wrong links count against both recall and precision."""
    correct, wrong = counts["tp"], counts["wl"]
    recall, precision = (
        _share(wrong + counts[name], correct + wrong + counts[name]) for name in ("fn", "fp")
    )
    return recall, precision


_LOSSES = {"ratio": _ratio_loss, "blanc": _blanc_loss, "antecedents": _antecedent_loss}

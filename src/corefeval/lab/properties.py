"""Desirable properties of metrics, each a situation that can be made and a rule for the scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from corefeval.lab import TINY
from corefeval.lab.editing import (
    count_links,
    count_partners,
    fresh_mentions,
    join,
    regroup,
)
from corefeval.lab.perturbations import (
    add_extra_mentions,
    drop_twinless,
    link_missing_pairwise,
    link_missing_together,
    merge_entities,
    remove_incorrectly_resolved,
    split_entities,
)
from corefeval.model import Corpus
from corefeval.model.arrays import (
    ArrayPair,
    BoolArray,
    FloatArray,
    all_false,
    all_zero,
    mark_rows,
    ranks_in_runs,
    stable_order,
)
from corefeval.preparation import Prepared, prepare

Rule = Literal["zero", "one", "equal", "not below", "not above", "above"]
RateName = Literal["recall", "precision", "f1"]


@dataclass(frozen=True, eq=False)
class Situation:
    """Outputs to be scored against keys, and the documents to which the situation applies.

    The documents of a pair of key and output may be in any order: their ids are their numbers.
    """

    pairs: tuple[tuple[Corpus, Corpus], ...]
    applies: BoolArray


@dataclass(frozen=True, slots=True)
class Property:
    """A rule that a good metric should keep.

    `make` makes the situation from keys, responses and a seed. The rule is about a rate of the
    first output, or of the first against the second: "above" means that the first is better.
    """

    name: str
    text: str
    make: Callable[[Corpus, Corpus, int], Situation]
    rule: Rule
    rates: tuple[RateName, ...] = ("f1", "f1")
    reference: str = ""
    singletons: bool = False
    response: bool = True

    def is_broken(self, values: list[FloatArray]) -> BoolArray:
        """In which documents the rule does not hold."""
        first, second = values[0], values[-1]
        rules: dict[Rule, FloatArray] = {
            "zero": np.abs(first),
            "one": np.abs(first - 1),
            "equal": np.abs(first - second),
            "not below": second - first,
            "not above": first - second,
        }
        if self.rule == "above":
            return first <= second + TINY
        return rules[self.rule] > TINY


def _nothing_correct(key: Corpus, response: Corpus, seed: int) -> Situation:
    prepared = prepare(key, response)
    correct, _ = count_links(prepared)
    return Situation(((key, response),), _has_mentions(prepared.key) & (correct == 0))


def _perfect(key: Corpus, response: Corpus, seed: int) -> Situation:
    return Situation(((key, key),), _has_mentions(key))


def _before_and_after(
    change: Callable[..., Corpus], key: Corpus, response: Corpus, seed: int
) -> Situation:
    """The response before and after a perturbation; where this does nothing there is no case."""
    before = prepare(key, response)
    after = prepare(key, change(key, response, seed=seed))
    return Situation(((key, before.response), (key, after.response)), _differ(before, after))


def _extra(key: Corpus, response: Corpus, seed: int) -> Situation:
    """The response, and the response with an extra mention in an entity that is partly right."""
    prepared = prepare(key, response)
    corpus, entity = prepared.response, prepared.response.mention_entity
    right = np.flatnonzero(count_partners(prepared) > 0)
    document, first = np.unique(corpus.mention_document[right], return_index=True)
    extra = fresh_mentions(prepared.key, corpus, document, seed)
    changed = join(corpus, entity, extra, np.arange(document.size), entity[right[first]])
    applies = mark_rows(document, len(corpus.documents))
    return Situation(((key, corpus), (key, changed)), applies)


def _spurious_singleton(key: Corpus, response: Corpus, seed: int) -> Situation:
    prepared = prepare(key, response)
    corpus = prepared.response
    document = np.arange(len(corpus.documents))
    extra = fresh_mentions(prepared.key, corpus, document, seed)
    numbers = corpus.n_entities + document
    changed = join(corpus, corpus.mention_entity, extra, document, numbers)
    return Situation(((key, corpus), (key, changed)), _has_mentions(key))


def _large_and_small(key: Corpus, response: Corpus, seed: int) -> Situation:
    """The key without its smallest entity, and without its largest."""
    largest, smallest = _extremes(key)
    entity = key.mention_entity
    without = [regroup(key, entity, ~np.isin(entity, gone)) for gone in (smallest, largest)]
    sizes = key.entity_sizes
    document = key.entity_document
    most = all_zero(len(key.documents))
    least = np.full(len(key.documents), np.iinfo(np.int64).max)
    np.maximum.at(most, document, sizes)
    np.minimum.at(least, document, sizes)
    return Situation(tuple((key, output) for output in without), most > least)


def _extremes(key: Corpus) -> ArrayPair:
    """A largest and a smallest entity of each document."""
    document, sizes = key.entity_document, key.entity_sizes
    largest, smallest = (
        order[np.flatnonzero(np.diff(document[order], prepend=-1))]
        for order in (np.lexsort((-sizes, document)), np.lexsort((sizes, document)))
    )
    return largest, smallest


def _two_and_one(key: Corpus, response: Corpus, seed: int) -> Situation:
    """All right and two extra mentions together; all right and one in an entity."""
    together = add_extra_mentions(key, key, number=2, size=0, where="all", seed=seed)
    inside = together
    if key.n_mentions:
        inside = add_extra_mentions(key, key, number=1, where="document", seed=seed)
    return Situation(((key, together), (key, inside)), _has_mentions(key))


def _split_and_lost(key: Corpus, response: Corpus, seed: int) -> Situation:
    """The largest entity in two halves; the largest entity with one half missing."""
    largest, _ = _extremes(key)
    entity = key.mention_entity
    rank = ranks_in_runs(entity, stable_order(entity))
    behind = np.isin(entity, largest) & (rank >= key.entity_sizes[entity] // 2)
    split = regroup(key, np.where(behind, key.n_entities + entity, entity))
    lost = regroup(key, entity, ~behind)
    applies = all_false(len(key.documents))
    applies[key.entity_document[largest]] = key.entity_sizes[largest] >= 4
    return Situation(((key, split), (key, lost)), applies)


def _swap(key: Corpus, response: Corpus, seed: int) -> Situation:
    return Situation(((key, response), (response, key)), _has_mentions(key))


def _reorder(key: Corpus, response: Corpus, seed: int) -> Situation:
    """Documents in reverse order, entities with other numbers."""
    order = np.arange(len(key.documents))[::-1].copy()
    numbers = np.random.default_rng(seed).permutation(response.n_entities)
    renamed = regroup(response, numbers[response.mention_entity])
    return Situation(
        ((key, response), (key.select_documents(order), renamed.select_documents(order))),
        _has_mentions(key),
    )


def _has_mentions(corpus: Corpus) -> BoolArray:
    return np.bincount(corpus.mention_document, minlength=len(corpus.documents)) > 0


def _differ(before: Prepared, after: Prepared) -> BoolArray:
    """In which documents the numbers of links or mentions differ."""
    counts = []
    for prepared in (before, after):
        corpus = prepared.response
        mentions = np.bincount(corpus.mention_document, minlength=len(corpus.documents))
        counts.append((mentions, *count_links(prepared)))
    differ: BoolArray = np.any([old != new for old, new in zip(*counts, strict=True)], axis=0)
    return differ


def _change(change: Callable[..., Corpus], **options: Any) -> Callable[..., Situation]:
    return partial(_before_and_after, partial(change, **options) if options else change)


_MS, _CS = "Moosavi and Strube 2016", "Cai and Strube 2010"
PROPERTIES = (
    Property(
        "nothing", "0 where nothing is correct", _nothing_correct, "zero",
        reference=f"{_MS}, Sections 1 and 7.5",
    ),
    Property(
        "perfect", "1 where everything is correct", _perfect, "one", singletons=True,
        response=False, reference="Luo 2005",
    ),
    *(
        Property(
            name, f"recall stays the same when {text}", make, "equal",
            ("recall", "recall"), f"{_MS}, Section 2",
        )
        for name, text, make in (
            ("recall-removal", "incorrectly resolved mentions are removed",
             _change(remove_incorrectly_resolved)),
            ("recall-pairs", "missing mentions are added in wrong pairs",
             _change(link_missing_pairwise)),
            ("recall-large", "missing mentions are added in large wrong entities",
             _change(link_missing_together)),
        )
    ),
    *(
        Property(
            name, f"not better when {text}", make, "not below", reference=reference
        )
        for name, text, make, reference in (
            ("worse-pairs", "missing mentions are added in wrong pairs",
             _change(link_missing_pairwise), f"{_MS}, Section 2"),
            ("worse-large", "missing mentions are added in large wrong entities",
             _change(link_missing_together), f"{_MS}, Section 2"),
            ("worse-merge", "two entities with nothing in common are merged",
             _change(merge_entities, which="disjoint"), ""),
            ("worse-split", "an entirely correct entity is split",
             _change(split_entities, which="pure"), ""),
        )
    ),
    Property(
        "worse-extra", "worse when an extra mention joins an entity that is partly right",
        _extra, "above", reference=f"{_CS}, Table 1",
    ),
    *(
        Property(
            name, f"not worse when {text}", make, "not above", reference=reference
        )
        for name, text, make, reference in (
            ("better-removal", "incorrectly resolved mentions are removed",
             _change(remove_incorrectly_resolved), f"{_MS}, Section 2"),
            ("better-twinless", "mentions that the key lacks are removed",
             _change(drop_twinless), f"{_CS}, Section 3.2"),
        )
    ),
    Property(
        "unlinked", "the same when an extra mention is found and not linked", _spurious_singleton,
        "equal", reference=f"{_CS}, Table 3",
    ),
    Property(
        "large-and-small", "missing a large entity is worse than missing a small one",
        _large_and_small, "above", response=False, reference=f"{_MS}, Sections 3.3 and 7.2",
    ),
    Property(
        "two-and-one", "two extra mentions together (2-0) are better than one in an entity (1-n)",
        _two_and_one, "above", response=False, reference=f"{_MS}, Section 7.4",
    ),
    Property(
        "split-and-lost", "an entity in two halves is better than one half of it alone",
        _split_and_lost, "above", response=False, reference=f"{_MS}, Section 3.3",
    ),
    Property(
        "swap", "recall becomes precision when key and response are exchanged", _swap, "equal",
        ("recall", "precision"),
    ),
    Property(
        "order", "the order of documents and the names of entities do not count", _reorder,
        "equal",
    ),
)  # fmt: skip

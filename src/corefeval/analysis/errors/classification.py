"""Which errors there are: their kinds, and every mention of either side and what is wrong with it.

Everything follows from *items*: the response's mentions, and behind them the key's mentions that no
response mention stands for. An item that stands for a key mention (it is the same, or has the wrong
span) means that mention's entity; the items of a response entity that mean one key entity are a
*part*. An entity with several parts is conflated (of the response) or divided (of the key).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from corefeval.alignment import Alignment
from corefeval.checks import did_you_mean
from corefeval.diagnostics import Notice, Notices, UsageError, plural
from corefeval.features import Features
from corefeval.features.annotations import require_heads
from corefeval.features.declarations import MissingFeatureError
from corefeval.matching import Matches, resolve
from corefeval.matching.candidates import find_overlaps
from corefeval.model import Corpus
from corefeval.model.arrays import (
    ArrayPair,
    BoolArray,
    IntArray,
    all_zero,
    find_places,
    looked_up,
    mark_rows,
    set_rows,
    stable_order,
    unset,
)
from corefeval.model.identity import mention_codes
from corefeval.preparation import Prepared
from corefeval.protocol import WrongSpans

# In the order in which they are fixed.
ErrorKind = Literal[
    "span",
    "conflated",
    "extra mention",
    "extra entity",
    "missing mention",
    "missing entity",
    "divided",
]
KINDS: tuple[ErrorKind, ...] = get_args(ErrorKind)
# Those of sets of antecedents and of bridging, which have no points.
OTHERS = tuple(
    f"{outcome} {relation}"
    for relation in ("set", "bridging")
    for outcome in ("missed", "spurious", "wrong")
)

SUMMARIES: dict[ErrorKind, str] = {
    "span": "a mention with the wrong span, in place of one in the key",
    "conflated": "mentions of a key entity in a response entity that mostly belongs to another",
    "extra mention": "a mention that the key lacks, in an entity that the key has",
    "extra entity": "an entity made up only of mentions that the key lacks",
    "missing mention": "a mention that the response lacks, of an entity that it has",
    "missing entity": "an entity without any mention in the response",
    "divided": "mentions of a key entity that are separated from most of it",
}

# What other people call them.
_ALIASES: dict[str, ErrorKind] = {
    "wrong span": "span",
    "span error": "span",
    "merged": "conflated",
    "merge": "conflated",
    "conflated entity": "conflated",
    "spurious mention": "extra mention",
    "spurious entity": "extra entity",
    "missed mention": "missing mention",
    "missed entity": "missing entity",
    "split": "divided",
    "divided entity": "divided",
}


def error_kind(text: str) -> str:
    """The kind of error that a text names, in any spelling.

    >>> error_kind("Extra_Mention"), error_kind("split")
    ('extra mention', 'divided')
    """
    name = " ".join(text.lower().replace("_", " ").replace("-", " ").split())
    all_kinds = *KINDS, *OTHERS
    for kind in all_kinds:
        if name in (kind, kind + "s"):
            return kind
    if name in _ALIASES:
        return _ALIASES[name]
    several = [kind for kind in all_kinds if name in kind.split()]
    hint = " or ".join(several) or did_you_mean(name, [*all_kinds, *_ALIASES], shown=all_kinds)
    raise UsageError(f"there is no kind of error {text!r}: {hint}")


SpanRule = Literal["head", "overlap"]


@dataclass(frozen=True, slots=True)
class SpanDecision:
    """The rule for wrong spans (None where mentions have no spans), and notices that say why."""

    rule: SpanRule | None
    notices: Notices = ()


def decide_rule(key: Features, response: Features, policy: WrongSpans) -> SpanDecision:
    """The rule for wrong spans; `auto` is by head where the heads of all mentions are known.

    By `head`, mentions without a known head are never wrong spans, and a notice counts them. Where
    no mention of several tokens has one, `MissingFeatureError` says what is missing.
    """
    if key.corpus.labels is not None or response.corpus.labels is not None:
        return SpanDecision(None)
    if policy == "overlap":
        return SpanDecision("overlap")
    try:
        unknown = sum(int((side.head_positions < 0).sum()) for side in (key, response))
    except MissingFeatureError as error:
        if policy == "head":
            raise
        return SpanDecision("overlap", (explain_overlap(str(error).splitlines()[0]),))
    if not unknown:
        return SpanDecision("head")
    count = plural(unknown, "mention")
    if policy == "auto":
        return SpanDecision(
            "overlap", (explain_overlap(f"the heads of {count} are not known", unknown),)
        )
    if not any(map(_knows_heads, (key, response))):
        for side in (key, response):
            require_heads(side, "--wrong-spans head")  # says what is missing
    message = f"{count} without a known head, which never count as wrong spans"
    return SpanDecision("head", (Notice("wrong-spans", message, unknown),))


def _knows_heads(side: Features) -> bool:
    """Whether the head of any mention of several tokens is known; of one token it always is."""
    start, end = side.corpus.mention_start, side.corpus.mention_end
    if start is None or end is None:
        return False
    return bool(((side.head_positions >= 0) & (end - start > 1)).any())


def explain_overlap(why: str, count: int = 1) -> Notice:
    """The notice that heads do not tell wrong spans, and why."""
    message = f"{why}, so any overlap counts as a wrong span; with heads there may be fewer"
    return Notice("wrong-spans", message, count)


def match_wrong_spans(
    prepared: Prepared, missing: IntArray, extra: IntArray, rule: SpanRule | None
) -> Matches:
    """Missing mentions of the key and extra ones of the response that are meant to be the same.

    Both must overlap; by `head` they also have the same head token, as Kummerfeld and Klein demand.
    Of all ways to pair them one to one, the one with the largest shares of common tokens in all.
    """
    if rule is None:
        return Matches(missing[:0], extra[:0])
    sides = prepared.key_mentions, prepared.response_mentions
    heads = None
    if rule == "head":
        key_heads, response_heads = (
            side.corpus.find_axis_heads(features.head_positions)
            for side, features in zip(
                sides, (prepared.key_features, prepared.response_features), strict=True
            )
        )
        heads = key_heads, response_heads
    return resolve(find_overlaps(sides[0], missing, sides[1], extra, heads=heads), *sides)


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts that a partition has: response entity, key entity and size of each.

    `of_item` is the part of each item; −1 for those that are not there or mean nothing.
    `main_of_response` and `main_of_key` are each entity's largest part, the first in the text among
    equals; −1 where it has none.
    """

    response: IntArray
    key: IntArray
    count: IntArray
    of_item: IntArray
    main_of_response: IntArray
    main_of_key: IntArray


@dataclass(frozen=True, eq=False)
class Items:
    """What takes part in fixing: see the head of this module.

    `owner` is the response entity of each item (−1 for missing mentions), `key_row` the key mention
    that it stands for and `meaning` that mention's entity (−1 for extra mentions), `wrong` whether
    its span is wrong. `place` orders items as the text does, `right_place` as it will when spans
    are right. The first `n_response` items are the response's mentions in their order.
    """

    n_response: int
    owner: IntArray
    key_row: IntArray
    meaning: IntArray
    document: IntArray
    wrong: BoolArray
    place: IntArray
    right_place: IntArray


@dataclass(frozen=True, eq=False)
class Classification:
    """The errors of a response, as arrays.

    `items` are what is wrong or right; `of_kind(kind)` says which of them are such an error. An
    item may have several: a mention with a wrong span can be in a conflated entity too. `decision`
    is the rule for wrong spans.
    """

    prepared: Prepared
    items: Items
    decision: SpanDecision

    @property
    def alignment(self) -> Alignment:
        """What was matched."""
        return self.prepared.alignment

    @property
    def key(self) -> Corpus:
        """The key that was prepared."""
        return self.prepared.key

    @property
    def response(self) -> Corpus:
        """The response that was prepared."""
        return self.prepared.response

    @cached_property
    def joint_row(self) -> IntArray:
        """The key row of each response mention; extra mentions are numbered behind these."""
        rows = self.alignment.swapped.partner.copy()
        extra = np.flatnonzero(rows < 0)
        rows[extra] = self.key.n_mentions + np.arange(extra.size)
        return rows

    @cached_property
    def parts(self) -> Parts:
        """The parts of the response as it is."""
        sizes = self.alignment.response.sizes.size, self.alignment.key.sizes.size
        return find_parts(self.items, self.items.owner, *sizes)

    def of_kind(self, kind: ErrorKind) -> BoolArray:
        """Which items are an error of a kind; of conflated and divided entities all smaller parts.

        Counts are of mentions here: a missing entity of three mentions has three items.
        """
        if kind not in self._masks:
            self._masks[kind] = self._find_kind(kind)
        return self._masks[kind]

    @cached_property
    def _masks(self) -> dict[ErrorKind, BoolArray]:
        return {}

    def _find_kind(self, kind: ErrorKind) -> BoolArray:
        """Which items are errors of a kind, by the parts of entities that they are in."""
        items, parts = self.items, self.parts
        if kind == "span":
            return items.wrong
        if kind in ("conflated", "divided"):
            main = parts.main_of_response if kind == "conflated" else parts.main_of_key
            owner = items.owner if kind == "conflated" else items.meaning
            in_part = parts.of_item >= 0
            main_of_item = looked_up(main, np.where(in_part, owner, -1))
            return np.asarray(in_part & (parts.of_item != main_of_item))
        extra, missing = items.meaning < 0, items.owner < 0
        if kind in ("extra mention", "extra entity"):
            is_of_shared_entity = looked_up(parts.main_of_response, items.owner) >= 0
            return np.asarray(extra & (is_of_shared_entity == (kind == "extra mention")))
        is_of_shared_entity = looked_up(parts.main_of_key, items.meaning) >= 0
        return np.asarray(missing & (is_of_shared_entity == (kind == "missing mention")))

    @cached_property
    def counts(self) -> dict[ErrorKind, IntArray]:
        """How many errors of each kind there are in each document.

        A conflated entity counts once for each part that must leave it, a divided one for each part
        that must join the largest.
        """
        return {kind: self._count_kind(kind) for kind in KINDS}

    def _count_kind(self, kind: ErrorKind) -> IntArray:
        rows = np.flatnonzero(self.of_kind(kind))
        document = self.items.document[rows]
        if kind in ("conflated", "divided"):
            _, first = np.unique(self.parts.of_item[rows], return_index=True)
            document = document[first]
        elif kind in ("extra entity", "missing entity"):
            entity = self.items.owner if kind == "extra entity" else self.items.meaning
            _, first = np.unique(entity[rows], return_index=True)
            document = document[first]
        return np.bincount(document, minlength=self.alignment.n_documents)


def classify(prepared: Prepared, policy: WrongSpans) -> Classification:
    """The errors of a response, with wrong spans found by the rule that `policy` leads to."""
    alignment = prepared.alignment
    key, response = prepared.key, prepared.response
    key_row = alignment.swapped.partner.copy()
    extra, missing = np.flatnonzero(key_row < 0), np.flatnonzero(alignment.partner < 0)
    decision = decide_rule(prepared.key_features, prepared.response_features, policy)
    wrong = match_wrong_spans(prepared, missing, extra, decision.rule)
    right_rows, wrong_rows = wrong.rows(0)
    key_row[wrong_rows] = right_rows
    missing = np.setdiff1d(missing, right_rows, assume_unique=True)
    is_wrong = mark_rows(wrong_rows, key_row.size + missing.size)
    key_places, response_places = _number_places(alignment, key, response)
    place = np.concatenate((response_places, key_places[missing]))
    right_place = place.copy()
    right_place[wrong_rows] = key_places[right_rows]
    owner = np.concatenate((response.mention_entity, unset(missing.size)))
    stands_for = np.concatenate((key_row, missing))
    items = Items(
        n_response=key_row.size,
        owner=owner,
        key_row=stands_for,
        meaning=looked_up(key.mention_entity, stands_for),
        document=np.concatenate((response.mention_document, key.mention_document[missing])),
        wrong=is_wrong,
        place=place,
        right_place=right_place,
    )
    return Classification(prepared, items, decision)


def find_parts(items: Items, owner: IntArray, n_response: int, n_key: int) -> Parts:
    """The parts of a partition of the items."""
    rows = np.flatnonzero((owner >= 0) & (items.meaning >= 0))
    rows = rows[stable_order(items.place[rows])]
    width = max(n_key, 1)
    codes, first, part, count = np.unique(
        owner[rows] * width + items.meaning[rows],
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    response, key = np.divmod(codes, width)
    of_item = set_rows(rows, part.reshape(-1), owner.size)
    mains = []
    for entity, number in ((response, n_response), (key, n_key)):
        best_last = np.lexsort((-first, count))
        main = set_rows(
            entity[best_last], best_last, number
        )  # of several values the last one stays
        mains.append(main)
    return Parts(response, key, count, of_item, *mains)


def _number_places(alignment: Alignment, key: Corpus, response: Corpus) -> ArrayPair:
    """Numbers that order the mentions of both sides together.

    Labels have no order of their own: the key's counts, and an extra mention follows the mention
    that it follows in its response entity.
    """
    if key.labels is None:
        return mention_codes(key, response)
    side, key_of = alignment.response, alignment.swapped.partner
    chain = side.chain
    is_matched = key_of[chain] >= 0
    latest = np.maximum.accumulate(np.where(is_matched, np.arange(chain.size), -1))
    entity = side.mention_entity[chain]
    follows_match = (latest >= 0) & (entity[latest] == entity)
    after = set_rows(chain, np.where(follows_match, key_of[chain[latest]], -1), chain.size)
    tiebreak = set_rows(chain, np.where(is_matched, 0, 1 + np.arange(chain.size)), chain.size)
    n_key = key.n_mentions
    order = np.lexsort(
        (
            np.concatenate((all_zero(n_key), tiebreak)),
            np.concatenate((np.arange(n_key), after)),
        )
    )
    rank = find_places(order, order.size)
    return rank[:n_key], np.where(key_of >= 0, rank[key_of], rank[n_key:])

"""The mentions of all annotators, in the order of the text, and the entity that each puts them in.

A unit is a mention that anybody marked. Where mentions match by more than their tokens, spans of
different annotators are united, and one of them stands for all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np

from corefeval.analysis.alpha import Coding
from corefeval.checks import split_call
from corefeval.matching import Mentions, TokenSets, matcher
from corefeval.matching.candidates import common_share, contain, find_overlaps
from corefeval.matching.evidence import gather
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, IntArray, dense_ranks
from corefeval.model.joining import join_features, stack_mentions, strip_details
from corefeval.pairing.annotators import Annotations

Mention = Hashable  # start and end, a tuple of these for a discontinuous one, or plain Python
ENTITY_FEATURES = ("etype",)  # what is said of an entity, on each of its mentions


@dataclass(frozen=True, eq=False)
class Units:
    """The units of some annotations.

    `corpus` has a mention for each, `entity[annotator, unit]` is the entity of an annotator, −1
    where the unit is not marked, with entities numbered through all annotators. `spans` are all
    distinct mentions, and `span_unit` the unit that each belongs to. `statements` are what
    annotators say of mentions: for each property the units, and the values that are stated of them.
    """

    corpus: Corpus
    entity: IntArray
    spans: Corpus
    span_unit: IntArray
    statements: Mapping[str, tuple[IntArray, Sequence[Any]]]

    @staticmethod
    def of(annotations: Annotations, match: str, tagset: object) -> Units:
        """The units of annotations of the same documents."""
        corpora = annotations.corpora
        stacked = reduce(stack_mentions, map(strip_details, corpora))
        codes = np.concatenate(annotations.codes)
        number, _ = dense_ranks(codes)
        _, first = np.unique(number, return_index=True)
        order = first[_order_rows(stacked.take_mentions(first))]
        rank = np.argsort(order_of := number[order], kind="stable")[number]
        model = min(corpora, key=_rank_as_text)
        heads = np.concatenate([_heads_of(corpus) for corpus in corpora])
        span_heads = _choose(order.size, rank[heads >= 0], heads[heads >= 0].tolist(), -1)
        spans = stacked.take_mentions(order).with_details(
            mention_head=np.array(span_heads, dtype=np.int64) if (heads >= 0).any() else None,
            tokens=model.tokens,
            metadata=model.metadata,
            sentence_metadata=model.sentence_metadata,
        )
        entity = Coding.of(corpora, annotations.codes, "missing").chain[:, order_of]
        leader = np.arange(order.size)
        if match != "exact" and order.size:
            leader = _unite(spans, entity >= 0, match, tagset)
        span_unit, leaders = dense_ranks(leader)
        united = np.full((len(corpora), leaders.size), -1, dtype=np.int64)
        for annotator, row in enumerate(entity):
            united[annotator, span_unit[row >= 0]] = row[row >= 0]
        corpus, unit = spans.take_mentions(leaders), span_unit[rank]
        statements = {
            name: (unit, values.tolist()) for name, values in join_features(corpora).items()
        }
        fits = heads >= 0
        if fits.any():
            fits &= contain(corpus, unit, heads)
            statements["head"] = unit[fits], heads[fits].tolist()
        return Units(corpus, united, spans, span_unit, statements)

    @property
    def document(self) -> IntArray:
        """The document of each unit."""
        return self.corpus.mention_document

    @cached_property
    def votes(self) -> IntArray:
        """How many annotators marked each unit."""
        return np.asarray((self.entity >= 0).sum(axis=0))

    @cached_property
    def owner(self) -> IntArray:
        """The annotator of each entity."""
        owner = np.zeros(int(self.entity.max(initial=-1)) + 1, dtype=np.int64)
        for annotator, row in enumerate(self.entity):
            owner[row[row >= 0]] = annotator
        return owner

    @cached_property
    def mentions(self) -> list[Mention]:
        """Each unit as people write it."""
        return list_mentions(self.corpus)

    @cached_property
    def texts(self) -> list[str]:
        """The words of each unit, where there are any."""
        return [
            mention.text if mention.label is not None or document.has_words else ""
            for document in self.corpus
            for mention in document.mentions
        ]

    @cached_property
    def numbers(self) -> dict[tuple[int, Mention], int]:
        """The unit of each document and mention that anybody marked."""
        places = zip(self.spans.mention_document.tolist(), list_mentions(self.spans), strict=True)
        return dict(zip(places, self.span_unit.tolist(), strict=True))

    def state(self, name: str, groups: IntArray, missing: Any) -> list[Any]:
        """The most frequent statement about each group of units; `groups` has that of each unit.

        Units whose group is −1 say nothing.
        """
        units, values = self.statements[name]
        kept = np.flatnonzero(groups[units] >= 0)
        stated = [values[row] for row in kept.tolist()]
        return _choose(int(groups.max(initial=-1)) + 1, groups[units[kept]], stated, missing)


def list_mentions(corpus: Corpus) -> list[Mention]:
    """Every mention as start and end, a tuple of these if it has gaps, or its label."""
    if corpus.labels is not None:
        return list(corpus.labels)
    spans = np.stack((np.asarray(corpus.mention_start), np.asarray(corpus.mention_end)), axis=1)
    mentions: list[Mention] = list(map(tuple, spans.tolist()))
    for row, gaps in corpus.gaps_of.items():
        edges = [int(spans[row, 0]), *(edge for gap in gaps for edge in gap), int(spans[row, 1])]
        mentions[row] = tuple(zip(edges[::2], edges[1::2], strict=True))
    return mentions


def _rank_as_text(corpus: Corpus) -> tuple[int, str]:
    """Which corpus lends its tokens: the one with most columns, whatever the order of inputs."""
    return -1 if corpus.tokens is None else -1 - len(corpus.tokens.columns), corpus.name


def _order_rows(corpus: Corpus) -> IntArray:
    """The rows in the order of the text, by start and end; plain mentions in their own order."""
    keys: list[Any] = [corpus.mention_end, corpus.mention_start, corpus.mention_document]
    if corpus.labels is not None:
        rank = {label: place for place, label in enumerate(_sort(set(corpus.labels)))}
        keys[:2] = [[rank[label] for label in corpus.labels]]
    return np.lexsort(keys)


def _sort(values: Any) -> list[Any]:
    """Values in their order, or in that of how they are written where they have none."""
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=repr)


def _heads_of(corpus: Corpus) -> IntArray:
    heads = corpus.mention_head
    return np.full(corpus.n_mentions, -1) if heads is None else np.asarray(heads)


def _choose(number: int, groups: IntArray, values: Sequence[Any], missing: Any) -> list[Any]:
    """The most frequent value of each of `number` groups; of equally frequent ones the first.

    Values that are None or empty are no statements.
    """
    ranked = _sort({value for value in values if value is not None and value != ""})
    rank = {value: place for place, value in enumerate(ranked)}
    codes = np.array([rank.get(value, -1) for value in values], dtype=np.int64)
    width = max(len(ranked), 1)
    cell, cells = dense_ranks((groups * width + codes)[codes >= 0])
    group, code = np.divmod(cells, width)
    order = np.lexsort((code, -np.bincount(cell, minlength=cells.size), group))
    chosen = [missing] * number
    for place in order[::-1].tolist():
        chosen[int(group[place])] = ranked[int(code[place])]
    return chosen


def _unite(spans: Corpus, marked: BoolArray, match: str, tagset: object) -> IntArray:
    """For each span the one that leads its group, of spans of different annotators that match."""
    candidates: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for leader, span, share in zip(*_matching_pairs(spans, match, tagset), strict=True):
        candidates[span].append((share, leader))
    rows = np.arange(spans.n_mentions)
    first, last = np.asarray(spans.mention_start), np.asarray(spans.mention_end)
    order = np.lexsort((rows, -last, first, -marked.sum(axis=0))).tolist()
    leads = rows.copy()
    members: dict[int, BoolArray] = {}
    age: dict[int, int] = {}
    for row in order:
        possible = [
            (-share, age[leader], leader)
            for share, leader in candidates[row]
            if leader in members and not (members[leader] & marked[:, row]).any()
        ]
        leader = min(possible)[2] if possible else row
        leads[row] = leader
        members[leader] = members.get(leader, np.zeros(len(marked), np.bool_)) | marked[:, row]
        age.setdefault(leader, len(age))
    return leads


def _matching_pairs(
    spans: Corpus, match: str, tagset: object
) -> tuple[list[int], list[int], list[float]]:
    """All pairs of spans of which the first as key matches the second, and their Dice overlap.

    Matchers make matches one-to-one, so that each pair is given to them in a document of its own.
    """
    side = Mentions(spans, np.arange(spans.n_mentions))
    overlaps = find_overlaps(side, side.codes, side, side.codes)
    differ = overlaps.key != overlaps.response
    left, right = overlaps.key[differ], overlaps.response[differ]
    evidence = gather(side, side, split_call(match)[0], tagset)
    pairs = _isolate(evidence.key, left, 0), _isolate(evidence.response, right, 1)
    rows = matcher(match)(*pairs).rows(left.size)[0]
    left, right = left[rows], right[rows]
    return left.tolist(), right.tolist(), common_share(spans, left, spans, right).tolist()


def _isolate(side: Mentions, rows: IntArray, parity: int) -> Mentions:
    """These mentions of a side, each in a document of its own."""
    number = np.arange(rows.size)
    corpus = replace(
        strip_details(side.corpus.take_mentions(rows)),
        documents=side.corpus.documents[:1] * rows.size,
        entity_document=number,
        mention_entity=number,
    )
    cores, minima = side.cores, side.minima
    if cores is not None:
        cores = TokenSets(cores.counts[rows], cores.of(rows)[0])
    if minima is not None:
        width = int(minima.max(initial=0)) + 1
        minima = np.where(minima[rows] >= 0, minima[rows] + number * width, -1)
    heads = None if side.heads is None else side.heads[rows]
    return Mentions(corpus, 2 * number + parity, heads, cores, minima)

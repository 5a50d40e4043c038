"""The mentions of all annotators in the order of the text, and the entity each puts them in."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np

from corefeval.checks import split_call
from corefeval.matching import Mentions, find_candidates
from corefeval.matching.candidates import bounds, contain
from corefeval.matching.evidence import gather
from corefeval.model import Corpus, Mention
from corefeval.model.arrays import (
    BoolArray,
    IntArray,
    dense_ranks,
    find_places,
    integers,
    plain_rows,
    unset,
)
from corefeval.model.joining import join_heads, stack_mentions


@dataclass(frozen=True, eq=False)
class Units:
    """Mentions of several annotators, of which each that anybody marked is a unit.

    `stacked` has the mentions of all, one annotator behind the other, with entities numbered
    through; `annotator` and `unit` are those of each, and `row` is the mention that stands for each
    unit. Unit −1 stands for none.
    """

    stacked: Corpus
    annotator: IntArray
    unit: IntArray
    row: IntArray
    n_annotators: int

    @staticmethod
    def of(corpora: Sequence[Corpus], codes: Sequence[IntArray]) -> Units:
        """The units of corpora that number their documents alike; a unit has one code.

        The first mention with a code stands for the unit. Words are those of the corpus that has
        most to say of its tokens, whatever the order of corpora.
        """
        fullest = max(corpora, key=lambda c: (len(c.tokens.columns) + 1 if c.tokens else 0, c.name))
        stacked = reduce(stack_mentions, corpora, fullest.take_mentions(unset(0)))
        stacked = stacked.with_details(mention_head=join_heads(corpora))
        number, distinct = dense_ranks(np.concatenate(codes))
        first = unset(distinct.size)
        first[number[::-1]] = np.arange(number.size)[::-1]
        row = first[_order_rows(stacked.take_mentions(first))]
        unit = find_places(number[row], row.size)[number]
        annotator = np.repeat(np.arange(len(corpora)), [c.n_mentions for c in corpora])
        return Units(stacked, annotator, unit, row, len(corpora))

    @cached_property
    def entity(self) -> IntArray:
        """The entity of each annotator (rows) for each unit, −1 where it is not marked."""
        entity = np.full((self.n_annotators, self.row.size), -1, dtype=np.int64)
        entity[self.annotator, self.unit] = self.stacked.mention_entity
        return entity

    @cached_property
    def corpus(self) -> Corpus:
        """The mention that stands for each unit."""
        return self.stacked.take_mentions(self.row)

    @cached_property
    def stated(self) -> Corpus:
        """That corpus with the most frequent statement about each property of a unit."""
        heads, units = self.stacked.mention_head, np.arange(self.row.size)
        if heads is not None:
            if self.stacked.labels is None:
                heads = np.where(contain(self.corpus, self.unit, np.asarray(heads)), heads, -1)
            heads = integers(state(heads, self.unit, units, -1))
        features = {
            name: np.array(state(values, self.unit, units, ""), dtype=object)
            for name, values in sorted(self.stacked.features.items())
        }
        return self.corpus.with_details(mention_head=heads, features=features)

    @property
    def document(self) -> IntArray:
        """The document of each unit."""
        return self.corpus.mention_document

    @cached_property
    def votes(self) -> IntArray:
        """How many annotators marked each unit."""
        return np.bincount(self.unit, minlength=self.row.size)

    @cached_property
    def mentions(self) -> list[Any]:
        """Each unit as people write it, and None behind them for no unit."""
        return [*list_mentions(self.corpus, np.arange(self.row.size)), None]

    def list_texts(self, rows: IntArray) -> list[str]:
        """The words of units, where there are any."""
        documents, has_labels = list(self.corpus), self.corpus.labels is not None
        has_texts = [has_labels or document.has_words for document in documents]
        return [
            Mention(documents[document], row).text if row >= 0 and has_texts[document] else ""
            for document, row in plain_rows(self.document[rows], rows)
        ]


def unite(units: Units, match: str, tagset: object) -> Units:
    """Units of which those of different annotators that match are one; the leader stands for all.

    Spans that more annotators marked come first, then earlier and longer ones. Each joins the
    leader it shares most with, the oldest of several, or else leads a group.
    """
    rows = np.arange(units.row.size)
    # No two codes are the same, so that everything is matched by more than its tokens.
    sides = Mentions(units.stated, 2 * rows), Mentions(units.stated, 2 * rows + 1)
    evidence = gather(*sides, split_call(match)[0], tagset)
    candidates = find_candidates(match, evidence.key, evidence.response)
    leaders_of = defaultdict[int, list[tuple[float, int]]](list)
    for leader, span, share in plain_rows(*candidates):
        leaders_of[span].append((-share, leader))
    start, end = np.asarray(units.corpus.mention_start), np.asarray(units.corpus.mention_end)
    order = np.lexsort((-end, start, -units.votes))
    age, marked, leader_of = find_places(order, rows.size), (units.entity >= 0).T, rows.copy()
    members: dict[int, BoolArray] = {}
    for row in order.tolist():
        possible = [
            (share, age[leader], leader)
            for share, leader in leaders_of[row]
            if leader in members and not (members[leader] & marked[row]).any()
        ]
        *_, leader = min(possible, default=(row,))
        leader_of[row] = leader
        members[leader] = members.get(leader, marked[row]) | marked[row]
    rank, leaders = dense_ranks(leader_of)
    return replace(units, unit=rank[units.unit], row=units.row[leaders])


def list_mentions(corpus: Corpus, rows: IntArray) -> list[Any]:
    """Mentions as lists of start and end, of several such lists if they have gaps, or labels.

    Labels are what plain Python input calls its mentions.
    """
    if corpus.labels is not None:
        return [corpus.labels[row] for row in rows.tolist()]
    mentions: list[Any] = np.stack(bounds(corpus, rows), axis=1).tolist()
    for place, row in enumerate(rows.tolist() if corpus.gaps_of else ()):
        if row in corpus.gaps_of:
            document = corpus[int(corpus.mention_document[row])]
            mentions[place] = list(map(list, Mention(document, row).parts))
    return mentions


def split_mention(mention: Any) -> tuple[Any, Any]:
    """Start and end of a mention, as tables have them; a label and nothing of plain Python.

    The starts, and the ends, of a discontinuous mention have commas between.

    >>> split_mention([3, 5]), split_mention([[3, 5], [7, 8]]), split_mention("she")
    ((3, 5), ('3,7', '5,8'), ('she', None))
    """
    match mention:
        case [[_, _], *parts] if all(isinstance(p, list | tuple) and len(p) == 2 for p in parts):
            starts, ends = (",".join(map(str, edges)) for edges in zip(*mention, strict=True))
            return starts, ends
        case [start, end]:
            return start, end
    return mention, None


def write_mention(mention: Any) -> Any:
    """A mention with a colon between start and end, or as plain Python calls it.

    >>> write_mention([3, 5]), write_mention([[3, 5], [7, 8]]), write_mention("she")
    ('3:5', '3,7:5,8', 'she')
    """
    start, end = split_mention(mention)
    return start if end is None else f"{start}:{end}"


def state(values: Any, owners: IntArray, chosen: IntArray, nothing: Any) -> list[Any]:
    """The most frequent of the values of each chosen owner; of equally frequent ones the first.

    An owner without values has `nothing`.
    """
    counts = Counter(pair for pair in plain_rows(owners, values) if pair[1] not in (None, nothing))
    ranks = {value: rank for rank, value in enumerate(_sort({value for _, value in counts}))}
    stated = dict(sorted(counts, key=lambda pair: (counts[pair], -ranks[pair[1]])))
    return [stated.get(owner, nothing) for owner in chosen.tolist()]


def _order_rows(corpus: Corpus) -> IntArray:
    """The rows in the order of the text, by start and end; plain mentions in their own order."""
    keys: list[Any] = [corpus.mention_end, corpus.mention_start, corpus.mention_document]
    if corpus.labels is not None:
        rank = {label: place for place, label in enumerate(_sort(set(corpus.labels)))}
        keys[:2] = [[rank[label] for label in corpus.labels]]
    return np.lexsort(keys)


def _sort(values: Iterable[Any]) -> list[Any]:
    """Values in their order, or in that of how they are written where they have none."""
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=repr)

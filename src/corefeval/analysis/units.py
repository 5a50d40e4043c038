"""The mentions of all annotators in the order of the text, and the entity each puts them in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np

from corefeval.matching.candidates import contain
from corefeval.model import Corpus, Document, Mention
from corefeval.model.arrays import IntArray, dense_ranks, find_places, unset
from corefeval.model.joining import stack_mentions, strip_details

PlainMention = Hashable  # start and end, a tuple of these for a discontinuous one, or plain Python


@dataclass(frozen=True, eq=False)
class Units:
    """Mentions of several annotators, of which each that anybody marked is a unit.

    `stacked` has the mentions of all, one annotator behind the other, with entities numbered
    through; `annotator` and `unit` are those of each, and `row` is the mention that stands for each
    unit.
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
        fullest = min(
            corpora, key=lambda c: (-1 - len(c.tokens.columns) if c.tokens else 0, c.name)
        )
        stripped = [
            strip_details(corpus).with_details(
                features=corpus.features,
                mention_head=unset(corpus.n_mentions)
                if corpus.mention_head is None
                else np.asarray(corpus.mention_head),
            )
            for corpus in corpora
        ]
        stacked = reduce(stack_mentions, stripped).with_details(
            tokens=fullest.tokens,
            metadata=fullest.metadata,
            sentence_metadata=fullest.sentence_metadata,
        )
        number, distinct = dense_ranks(np.concatenate(codes))
        first = np.full(distinct.size, number.size)
        np.minimum.at(first, number, np.arange(number.size))
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
        """A mention for each unit, with the most frequent statement about each property."""
        corpus, columns = self.stacked.take_mentions(self.row), self.stacked.features
        heads = np.asarray(self.stacked.mention_head)
        fits = heads >= 0
        if fits.any():
            fits[fits] = contain(corpus, self.unit[fits], heads[fits])
        stated = choose(self.unit[fits].tolist(), heads[fits].tolist())
        units = range(self.row.size)
        return corpus.with_details(
            mention_head=np.array([stated.get(n, -1) for n in units]) if stated else None,
            features={name: state(columns[name], self.unit, units) for name in sorted(columns)},
        )

    @property
    def document(self) -> IntArray:
        """The document of each unit."""
        return self.corpus.mention_document

    @cached_property
    def votes(self) -> IntArray:
        """How many annotators marked each unit."""
        return np.bincount(self.unit, minlength=self.row.size)

    @cached_property
    def mentions(self) -> list[PlainMention]:
        """Each unit as people write it."""
        return list_mentions(self.corpus)

    @cached_property
    def documents(self) -> list[Document]:
        """The documents, whose words are made once."""
        return list(self.corpus)

    def text(self, unit: int) -> str:
        """The words of a unit, where there are any."""
        mention = Mention(self.documents[self.document[unit]], unit)
        return mention.text if mention.label is not None or mention.document.has_words else ""


def _rank_as_text(corpus: Corpus) -> tuple[int, str]:
    return -1 if corpus.tokens is None else -1 - len(corpus.tokens.columns), corpus.name


def list_mentions(corpus: Corpus) -> list[PlainMention]:
    """Every mention as start and end, a tuple of these if it has gaps, or its label."""
    if corpus.labels is not None:
        return list(corpus.labels)
    edges = (np.asarray(edge).tolist() for edge in (corpus.mention_start, corpus.mention_end))
    mentions: list[Any] = list(zip(*edges, strict=True))
    for row, gaps in corpus.gaps_of.items():
        start, end = mentions[row]
        bounds = [start, *(edge for gap in gaps for edge in gap), end]
        mentions[row] = tuple(zip(bounds[::2], bounds[1::2], strict=True))
    return mentions


def as_lists(mention: object) -> Any:
    """A mention as JSON has it: tuples are lists."""
    return [as_lists(part) for part in mention] if isinstance(mention, tuple) else mention


def state(values: Any, groups: IntArray, numbers: Iterable[int]) -> Any:
    """The most frequent of the values of each group, for groups of these numbers; or nothing."""
    stated = choose(groups.tolist(), values.tolist())
    return np.array([stated.get(number, "") for number in numbers], dtype=object)


def choose(groups: Iterable[int], values: Iterable[Any]) -> dict[int, Any]:
    """The most frequent value of each group that has any; of equally frequent ones the first.

    None and empty texts are no values, and −1 is no group.
    """
    pairs = zip(groups, values, strict=True)
    counts = Counter(pair for pair in pairs if pair[0] >= 0 and pair[1] not in (None, ""))
    rank = {value: place for place, value in enumerate(_sort({value for _, value in counts}))}
    return dict(sorted(counts, key=lambda pair: (counts[pair], -rank[pair[1]])))


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

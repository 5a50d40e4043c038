"""Small random documents, thousands at a time, and the smallest of those that break a rule.

A document is a row of two tables: for each of twelve places in the text, the number of the entity
there in the key and in the response, −1 for none. All documents of a table are scored at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from corefeval.evaluation import score
from corefeval.features.kinds import KINDS
from corefeval.metrics import Metric
from corefeval.model import Corpus, corpus_from_arrays
from corefeval.model.arrays import BoolArray, FloatArray, IntArray

PLACES = 12
_MOST_EXTRA = 12  # mentions that perturbations add stand behind the others
# What a mention is depends on its place alone, so that documents need not say it.
KIND_OF_PLACE = {(place, place + 1): KINDS[place % 3] for place in range(PLACES + _MOST_EXTRA)}

Rates = dict[str, dict[str, FloatArray]]


@dataclass(frozen=True, eq=False)
class Documents:
    """Many small documents: entity numbers by document and place, for key and response."""

    key: IntArray
    response: IntArray

    def corpora(self) -> tuple[Corpus, Corpus]:
        """The documents as corpora."""
        return _corpus(self.key, "key"), _corpus(self.response, "response")

    def take(self, rows: Sequence[int] | IntArray) -> Documents:
        """Some of the documents, also more than once."""
        return Documents(self.key[rows], self.response[rows])

    @property
    def sizes(self) -> IntArray:
        """How many mentions each document has, those of both sides counted."""
        sizes: IntArray = (self.key >= 0).sum(axis=1) + (self.response >= 0).sum(axis=1)
        return sizes


def random_documents(number: int, seed: int, *, singletons: bool) -> Documents:
    """Random keys, and responses that have something to do with them, more or less.

    Keys have singletons only where that is wanted; responses may always have them.
    """
    generator = np.random.default_rng(seed)
    shape = (number, PLACES)
    # Short documents and long ones, with mentions anywhere, so that any kind may come first.
    there = generator.random(shape) < generator.uniform(0.2, 1.0, size=(number, 1))
    entities = generator.integers(1, 6, size=(number, 1))
    key = generator.integers(0, entities, size=shape)
    noise = generator.choice([0.0, 0.2, 0.5, 1.0], size=(number, 1))
    wrong = generator.random(shape) < noise
    response = np.where(wrong, generator.integers(0, 5, size=shape), key)
    missing = generator.choice([0.0, 0.15, 0.4, 0.8], size=(number, 1))
    key = np.where(there & (generator.random(shape) >= 0.1), key, -1)
    response = np.where(there & (generator.random(shape) >= missing), response, -1)
    if not singletons:
        key[is_singleton(key)] = -1
    return Documents(key, response)


def is_singleton(entity: IntArray) -> BoolArray:
    """Which places have an entity that has no other place."""
    same = (entity[:, :, None] == entity[:, None, :]).sum(axis=2)
    singleton: BoolArray = (same == 1) & (entity >= 0)
    return singleton


def _corpus(entity: IntArray, name: str) -> Corpus:
    document, place = np.nonzero(entity >= 0)
    return corpus_from_arrays(
        document=document,
        entity=entity[document, place],
        start=place,
        document_ids=[str(number) for number in range(len(entity))],
        name=name,
    )


def document_rates(key: Corpus, response: Corpus, metrics: Sequence[Metric]) -> Rates:
    """Every metric's rates for each document."""
    result = score(key, response, metrics=list(metrics), features={"kind": KIND_OF_PLACE})
    return result.document_rates


def smaller(documents: Documents, row: int, *, singletons: bool, response: bool) -> Documents:
    """The documents that one has one mention more than: on both sides, or on one.

    Without `response` only the key counts, and the response is empty.
    """
    key, other = documents.key[row], documents.response[row]
    keys, others = [], []
    for place in np.flatnonzero((key >= 0) | (other >= 0)).tolist():
        for from_key, from_other in ((True, True), (True, False), (False, True)):
            if (from_key and key[place] < 0) or (from_other and other[place] < 0 and response):
                continue
            if not response and (from_key, from_other) != (True, True):
                continue
            new_key, new_other = key.copy(), other.copy()
            new_key[place] = -1 if from_key else key[place]
            new_other[place] = -1 if from_other else other[place]
            if not singletons:
                new_key[is_singleton(new_key[None])[0]] = -1
            keys.append(new_key)
            others.append(new_other)
    width = documents.key.shape[1]
    return Documents(
        np.array(keys, dtype=np.int64).reshape(-1, width),
        np.array(others, dtype=np.int64).reshape(-1, width),
    )


def notation(corpus: Corpus, document: int) -> str:
    """A document's entities as people write them: `{a b} {c}`; letters are places."""
    if not corpus.n_mentions:
        return "{}"
    entities = [
        " ".join(chr(ord("a") + mention.start) for mention in entity.mentions)
        for entity in corpus[document].entities
    ]
    return " ".join(f"{{{entity}}}" for entity in entities if entity) or "{}"

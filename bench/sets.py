"""Sets of antecedents: what they cost where few documents have any."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import corefeval
from bench.timing import times_in_turns
from corefeval.model import SPLIT, Corpus, Relation, Relations

EVERY = 100  # documents, of which one has sets
SETS = 3


def with_sets(path: Path, shift: int) -> Corpus:
    """The corpus of a file with a few sets in every hundredth document."""
    corpus = corefeval.read(path)
    relations = []
    for document in range(0, len(corpus.documents), EVERY):
        first, after = np.searchsorted(corpus.entity_document, [document, document + 1]).tolist()
        for number in range(first, min(first + SETS, after - SETS - shift - 1)):
            elements = (number + SETS, -1), (number + SETS + shift + 1, -1)
            relations.append(Relation(SPLIT, (number, -1), elements))
    return replace(corpus, relations=Relations.of(relations))


def set_times(key: Path, response: Path) -> tuple[float, float]:
    """Processor time of scores without sets and with them, of corpora in memory."""
    sides = with_sets(key, 0), with_sets(response, 1)
    without, scored = times_in_turns(
        5, lambda: corefeval.score(*sides), lambda: corefeval.score(*sides, split="score")
    )
    return without, scored

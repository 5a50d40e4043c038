"""What a perturbation is, and the correct and wrong links that are true of what it makes.

A link is a pair of coreferent mentions of the response; it is correct where the key has it too.
Key and response are compared by `corefeval.preparation.prepare`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np

from corefeval.diagnostics import UsageError
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, IntArray, looked_up
from corefeval.preparation import Prepared, prepare

Effect = Literal["adds", "removes", "keeps", "either"]
Step = Callable[[Corpus, Corpus], Corpus]
Function = TypeVar("Function", bound=Callable[..., Corpus])


@dataclass(frozen=True, slots=True)
class Perturbation:
    """A way to make another response, and its truth for the default options.

    Of correct links, wrong links and mentions it says whether they are only added, only removed,
    kept as they are, or either. Call it with a key, a response and its own options.
    """

    name: str
    summary: str
    correct_links: Effect
    wrong_links: Effect
    mentions: Effect
    function: Callable[..., Corpus]
    reference: str = ""

    def __call__(self, key: Corpus, response: Corpus, **options: Any) -> Corpus:
        """The changed response, on the documents of the key."""
        return self.function(key, response, **options)


PERTURBATIONS: dict[str, Perturbation] = {}


def perturbation(
    *, correct_links: Effect, wrong_links: Effect, mentions: Effect, reference: str = ""
) -> Callable[[Function], Function]:
    """Declare a function as a perturbation, by its own name and the first line of its text."""

    def declare(function: Function) -> Function:
        name = function.__name__.replace("_", "-")
        if name in PERTURBATIONS:
            raise UsageError(f"a perturbation {name!r} already exists")
        summary = (function.__doc__ or "").strip().partition("\n")[0]
        PERTURBATIONS[name] = Perturbation(
            name, summary, correct_links, wrong_links, mentions, function, reference
        )
        return function

    return declare


def compose(*steps: Step) -> Step:
    """One perturbation after the other; options are fixed with `functools.partial`.

    >>> from functools import partial
    >>> from corefeval import corpus_from_entities
    >>> from corefeval.lab.perturbations import drop_mentions, one_entity
    >>> key = corpus_from_entities([["a", "b", "c", "d"]])
    >>> worse = compose(partial(drop_mentions, share=0.5, seed=1), one_entity)
    >>> worse(key, key).entity_sizes.tolist()
    [2]
    """

    def run(key: Corpus, response: Corpus) -> Corpus:
        for step in steps:
            response = step(key, response)
        return response

    return run


def drop_repeats(corpus: Corpus) -> Corpus:
    """The corpus with each mention once: of repeated ones the first stays."""
    return prepare(corpus, corpus).key


def find_twins(prepared: Prepared) -> IntArray:
    """The key's row for each response mention; −1 for one that the key lacks."""
    return prepared.matches.partners_of_response(prepared.response.n_mentions)


def find_missing(prepared: Prepared) -> IntArray:
    """The rows of the key's mentions that the response lacks."""
    number = prepared.key.n_mentions
    matched, _ = prepared.matches.rows(number)
    return np.setdiff1d(np.arange(number), matched, assume_unique=True)


def find_key_entities(prepared: Prepared) -> IntArray:
    """The key entity of each response mention; −1 for one that the key lacks."""
    return looked_up(prepared.key.mention_entity, find_twins(prepared))


def count_partners(prepared: Prepared) -> IntArray:
    """How many correct links each response mention has."""
    key_entity = find_key_entities(prepared)
    rows = np.flatnonzero(key_entity >= 0)
    codes = prepared.response.mention_entity[rows] * max(prepared.key.n_entities, 1)
    _, cell, size = np.unique(codes + key_entity[rows], return_inverse=True, return_counts=True)
    partners = np.zeros(key_entity.size, dtype=np.int64)
    partners[rows] = size[cell.reshape(-1)] - 1
    return partners


def is_incorrectly_resolved(prepared: Prepared) -> BoolArray:
    """Which mentions of both sides have links in the response, none of them correct."""
    response = prepared.response
    linked = response.entity_sizes[response.mention_entity] > 1
    wrong: BoolArray = (find_twins(prepared) >= 0) & linked & (count_partners(prepared) == 0)
    return wrong


def count_links(prepared: Prepared) -> tuple[IntArray, IntArray]:
    """The number of correct links and of wrong links of each document."""
    response = prepared.response
    # Every link has two ends, so that the partners of all mentions count each one twice.
    correct = _sum_by(response, response.mention_document, count_partners(prepared)) // 2
    sizes = response.entity_sizes
    links = _sum_by(response, response.entity_document, sizes * (sizes - 1) // 2)
    return correct, links - correct


def _sum_by(corpus: Corpus, document: IntArray, values: IntArray) -> IntArray:
    sums = np.bincount(document, weights=values, minlength=len(corpus.documents))
    return sums.astype(np.int64)


def count_totals(key: Corpus, response: Corpus) -> dict[str, int]:
    """What a response has in all: mentions, correct links and wrong links."""
    prepared = prepare(key, response)
    correct, wrong = (int(links.sum()) for links in count_links(prepared))
    mentions = prepared.response.n_mentions
    return {"mentions": mentions, "correct_links": correct, "wrong_links": wrong}

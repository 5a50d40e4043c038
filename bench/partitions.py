"""Responses that resemble nothing: random partitions of the same mentions, CEAF at its worst."""

from __future__ import annotations

import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import numpy as np

import corefeval
from bench.timing import best

# Of the processor, of which others may have a part.
seconds_of = partial(best, repeat=3, clock=time.process_time)


def random_partitions(n_mentions: int, size: int, seed: int = 0) -> list[corefeval.Corpus]:
    """Key and response, each with the same mentions in entities of a size, drawn on its own."""
    random = np.random.default_rng(seed)
    start = np.arange(n_mentions) * 2
    return [
        corefeval.corpus_from_arrays(entity=random.permutation(n_mentions) // size, start=start)
        for _ in range(2)
    ]


def ceaf_of_fives(n_mentions: int) -> tuple[float, float]:
    """The seconds of CEAFe on entities of five, for so many mentions and for three times as many.

    Each size has a process of its own: an allocator that has seen arrays of another size gives out
    memory in another way, which matters more here than the work.
    """
    small, large = (
        ProcessPoolExecutor(1, get_context("spawn")).submit(_ceaf_of_fives, n).result()
        for n in (n_mentions, 3 * n_mentions)
    )
    return small, large


def _ceaf_of_fives(n_mentions: int) -> float:
    """The median of five draws, for some are luckier than others."""
    pairs = [random_partitions(n_mentions, 5, seed) for seed in range(5)]
    return float(np.median([seconds_of(partial(_score, pair, "ceafe")) for pair in pairs]))


def ceaf_of_pairs(n_mentions: int) -> tuple[float, float]:
    """The seconds of both CEAFs on entities of two, and of np.sort of a hundred times as many."""
    pair = random_partitions(n_mentions, 2)
    numbers = np.random.default_rng(1).integers(0, 1 << 62, 100 * n_mentions)
    seconds = seconds_of(lambda: _score(pair, "ceafm, ceafe"))
    return seconds, seconds_of(lambda: np.sort(numbers))


def _score(pair: list[corefeval.Corpus], metrics: str) -> corefeval.Result:
    return corefeval.score(*pair, metrics=metrics)

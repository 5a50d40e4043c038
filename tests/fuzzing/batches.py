"""Many cases, in this process or in others."""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

from fuzzing import make_case, problems_of, run

MEMORY = 4 << 30  # bytes of data, so that a case that asks for all of it fails alone

Signature = tuple[str, str]
Ends = Counter[tuple[str, int]]  # how often each command ended with which status


def run_batches(
    batches: Sequence[Sequence[str]], jobs: int, skip: frozenset[str]
) -> Iterator[tuple[list[tuple[Signature, str]], Ends]]:
    """For each batch of seeds the rules that were broken, by which seeds, and how cases ended."""
    work = partial(_run_batch, skip=skip)
    if jobs == 1:
        yield from map(work, batches)
        return
    context = get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_limit_memory) as pool:
        yield from pool.map(work, batches)


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def _run_batch(
    seeds: Sequence[str], *, skip: frozenset[str]
) -> tuple[list[tuple[Signature, str]], Ends]:
    broken: list[tuple[Signature, str]] = []
    ends: Ends = Counter()
    for seed in seeds:
        case = make_case(seed)
        outcome = run(case)
        ends[case.command, outcome.status] += 1
        signatures = {problem.signature for problem in problems_of(case, outcome, skip=skip)}
        broken += [(signature, seed) for signature in sorted(signatures)]
    return broken, ends

"""Pieces mapped over any executor, a few at a time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from functools import partial
from typing import Any, TypeVar

from corefeval.files import current_limit, unpack_limit
from corefeval.pieces import Cutting, watch_workers

R = TypeVar("R")

_AHEAD = 2  # for each worker so many pieces are on their way


def map_pieces(
    function: Callable[[Any], R],
    pieces: list[Any],
    cutting: Cutting,
    *,
    find: Callable[[int], R | None] | None = None,
    keep: Callable[[int, R], None] | None = None,
) -> list[R]:
    """The result of each piece, in order; an error of one ends all.

    `find` returns the result of a piece from an earlier run, or None, and `keep` is called with
    every new result. A finished piece is replaced by None in the list, which frees its memory. The
    executor has only a few pieces at a time, however many there are.
    """
    results: list[Any] = [None] * len(pieces)
    done = size = 0

    def finish(number: int, result: R) -> None:
        nonlocal done, size
        results[number] = result
        done, size = done + 1, size + pieces[number].size
        pieces[number] = None
        if cutting.progress is not None:
            cutting.progress(done, len(pieces), size)

    remaining = []
    for number in range(len(pieces)):
        earlier = None if find is None else find(number)
        if earlier is None:
            remaining.append(number)
        else:
            finish(number, earlier)
    for number, result in _run(function, pieces, remaining, cutting.executor):
        if keep is not None:
            keep(number, result)
        finish(number, result)
    return results


def _run(
    function: Callable[[Any], R],
    pieces: Sequence[Any],
    numbers: list[int],
    executor: Executor | None,
) -> Iterator[tuple[int, R]]:
    """The numbers and results of pieces, as soon as each is done; here if there is no executor."""
    if executor is None:
        yield from ((number, function(pieces[number])) for number in numbers)
        return
    waiting = numbers[::-1]
    work = partial(_run_limited, function, current_limit())
    running: dict[Future[R], int] = {}
    try:
        while waiting or running:
            while waiting and len(running) < _AHEAD * count_workers(executor):
                number = waiting.pop()
                with watch_workers():
                    running[executor.submit(work, pieces[number])] = number
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                with watch_workers():
                    result = future.result()
                yield running.pop(future), result
    finally:
        for future in running:
            future.cancel()


def _run_limited(function: Callable[[Any], R], limit: int, piece: Any) -> R:
    """The result of a piece in a worker, which unpacks no more than its caller may."""
    with unpack_limit(limit):
        return function(piece)


def count_workers(executor: Executor) -> int:
    """How many pieces an executor works on at once; the number of cores if it does not say."""
    client = getattr(executor, "_client", None)  # Dask's
    if client is not None and hasattr(client, "nthreads"):
        return max(1, int(sum(client.nthreads().values())))
    max_workers = getattr(executor, "_max_workers", None)
    return max_workers if isinstance(max_workers, int) and max_workers > 0 else os.cpu_count() or 1


def start_workers(number: int) -> ProcessPoolExecutor:
    """A pool of processes, all of them on their way, that end with this process.

    Interrupts are held back while workers start, and workers inherit that: one that is interrupted
    before it ignores interrupts may die with a lock that all others wait for.
    """
    pool = ProcessPoolExecutor(number, _start_method(), follow_parent)
    holds_back = hasattr(signal, "pthread_sigmask")  # not on Windows
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if holds_back else ()
    try:
        with warnings.catch_warnings():
            # Python warns of the threads for matrices, which are idle and know of copies.
            warnings.simplefilter("ignore", DeprecationWarning)
            for _ in range(number):  # a pool starts a process for each task that finds none idle
                pool.submit(os.getpid)
    finally:
        if holds_back:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    return pool


def _start_method() -> multiprocessing.context.BaseContext:
    """How processes are started: on Linux as copies of this one, with all that it has imported.

    Where other threads run, processes start afresh: a thread might hold a lock that copies need.
    """
    is_alone = sys.platform == "linux" and threading.active_count() == 1
    if is_alone:
        import corefeval.pieces.scoring  # noqa: F401  what all copies need
    return multiprocessing.get_context("fork" if is_alone else "spawn")


def follow_parent() -> None:
    """Have this process end when its parent is gone, and ignore interrupts.

    Workers whose parent was killed would wait for ever and keep their memory. An interrupt at the
    terminal is sent to all processes, and each worker would print a traceback.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()

"""Pieces mapped over any executor, a few at a time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from typing import Any, TypeVar

from corefeval.pieces import Progress, watch_workers, without_matrix_threads

R = TypeVar("R")

_AHEAD = 2  # for each worker so many pieces are on their way


def map_pieces(
    function: Callable[..., R],
    pieces: list[Any],
    request: object,
    *,
    executor: Executor | None = None,
    find: Callable[[int], R | None] | None = None,
    keep: Callable[[int, R], None] | None = None,
    progress: Progress | None = None,
) -> list[R]:
    """The result of each piece, in order; an error of one ends all.

    `find` returns the result of a piece from an earlier run, or None, and `keep` is called with
    every new result. A finished piece is replaced by None in the list, which frees its memory. The
    executor has only a few pieces at a time, however many there are.
    """
    results: list[Any] = [None] * len(pieces)
    done = size = 0

    def finish(number: int, result: R, *, is_new: bool = True) -> None:
        nonlocal done, size
        results[number] = result
        done, size = done + 1, size + pieces[number].size
        pieces[number] = None
        if keep is not None and is_new:
            keep(number, result)
        if progress is not None:
            progress(done, len(pieces), size)

    waiting = []
    for number in range(len(pieces)):
        earlier = None if find is None else find(number)
        if earlier is None:
            waiting.append(number)
        else:
            finish(number, earlier, is_new=False)
    if executor is None:
        for number in waiting:
            finish(number, function(pieces[number], request))
        return results
    waiting.reverse()
    running: dict[Future[R], int] = {}
    try:
        while waiting or running:
            while waiting and len(running) < _AHEAD * count_workers(executor):
                number = waiting.pop()
                with watch_workers():
                    running[executor.submit(function, pieces[number], request)] = number
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                with watch_workers():
                    result = future.result()
                finish(running.pop(future), result)
    finally:
        for future in running:
            future.cancel()
    return results


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
        with without_matrix_threads(), warnings.catch_warnings():
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

"""Pieces mapped over any executor, a few at a time, and kept in a folder for a run that breaks."""

from __future__ import annotations

import hashlib
import io
import json
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from typing import Any, Protocol, TypeVar

from corefeval._version import __version__
from corefeval.diagnostics import UsageError
from corefeval.files import is_remote, write_file
from corefeval.pieces import watch_workers, without_matrix_threads

T = TypeVar("T")
R = TypeVar("R")

Progress = Callable[[int, int, int], None]  # pieces done, all pieces, bytes done
_AHEAD = 2  # for each worker so many pieces are on their way
_RUN = "run.json"


class Keeping(Protocol):
    """Who knows what pieces gave before, and is told of each that is done."""

    def find(self, number: int, /) -> Any:
        """What a piece gave before, or None."""

    def keep(self, number: int, result: Any, /) -> None:
        """Take what a piece gave."""


def map_pieces(
    function: Callable[..., R],
    pieces: list[Any],
    request: object,
    *,
    executor: Executor | None = None,
    kept: Keeping | None = None,
    progress: Progress | None = None,
) -> list[R]:
    """The result of each piece, in order; an error of one ends all.

    Pieces that are done are taken out of the list, so that nothing of them stays. Only some are
    given to the executor at a time, so that thousands wait here and not there.
    """
    results: list[Any] = [None] * len(pieces)
    done = size = 0

    def finish(number: int, result: R, *, is_new: bool = True) -> None:
        nonlocal done, size
        results[number] = result
        done, size = done + 1, size + pieces[number].size
        pieces[number] = None
        if kept is not None and is_new:
            kept.keep(number, result)
        if progress is not None:
            progress(done, len(pieces), size)

    waiting = []
    for number in range(len(pieces)):
        known = None if kept is None else kept.find(number)
        if known is None:
            waiting.append(number)
        else:
            finish(number, known, is_new=False)
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
    """How many pieces an executor works on at once, as far as it says."""
    client = getattr(executor, "_client", None)  # Dask's
    if client is not None and hasattr(client, "nthreads"):
        return max(1, int(sum(client.nthreads().values())))
    known = getattr(executor, "_max_workers", None)
    return known if isinstance(known, int) and known > 0 else os.cpu_count() or 1


def start_workers(number: int) -> ProcessPoolExecutor:
    """A pool of processes, all of them on their way, that end with this process.

    Workers inherit that interrupts are held back here while they start: one that is interrupted
    before it could say that it leaves interrupts to its parent may keep what all wait for.
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
    """How processes are made: on Linux as copies of this one, which have imported all it has.

    Not where other threads run, of which one might hold what a copy waits for.
    """
    is_alone = sys.platform == "linux" and threading.active_count() == 1
    if is_alone:
        import corefeval.pieces.scoring  # noqa: F401  what all copies need
    return multiprocessing.get_context("fork" if is_alone else "spawn")


def follow_parent() -> None:
    """Have this process end when the one that started it is gone, and leave interrupts to that.

    The workers of a pool wait for ever where that was killed, and the memory they have with them;
    an interrupt at the terminal is sent to all, and each would show where it was.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class Kept:
    """The finished pieces of a run in a folder.

    `run` says what the run is: files, protocol, metrics and version. A folder of another run is a
    UsageError; a piece that is damaged is scored again.
    """

    def __init__(self, folder: str, run: dict[str, object]) -> None:
        if is_remote(folder):
            raise UsageError(f"--resume must be a local folder, not an address: {folder}")
        self.folder = folder
        described = {"version": __version__, **run}
        text = json.dumps(described, indent=1, ensure_ascii=False, default=str)
        self._digest = hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()
        place = os.path.join(folder, _RUN)
        try:
            os.makedirs(folder, exist_ok=True)
            there = os.listdir(folder)
            earlier = _read_text(place) if _RUN in there else None
        except OSError as error:
            raise UsageError(f"--resume {folder}: {error.strerror or error}") from None
        if earlier is None and there:
            raise UsageError(f"--resume {folder}: it has other files in it: use an empty folder")
        if earlier is not None and earlier != text:
            raise UsageError(
                f"--resume {folder}: it belongs to another run{_difference(earlier, described)}: "
                "use another folder, or empty it"
            )
        if earlier is None:
            write_file(place, text)

    def find(self, number: int) -> Any:
        """What a piece gave before; None where it is not there, or not whole."""
        return find_value(self._place(number), self._digest)

    def keep(self, number: int, result: object) -> None:
        """Keep what a piece gave."""
        write_file(self._place(number), pack_value(result, self._digest))

    def _place(self, number: int) -> str:
        return os.path.join(self.folder, f"{number:06d}.piece")


def pack_value(value: object, digest: str) -> bytes:
    """A value for a file, with a sum by which it is known to be whole and of this digest."""
    data = pickle.dumps(value, protocol=5)
    return hashlib.sha256(digest.encode() + data).digest() + data


def find_value(path: str, digest: str) -> Any:
    """The value that was packed into a file; None where none is there, whole and of this digest."""
    try:
        with open(path, "rb") as stream:
            sum, data = stream.read(32), stream.read()
        if sum == hashlib.sha256(digest.encode() + data).digest():
            return _Unpickler(io.BytesIO(data)).load()
    except Exception:  # whatever is wrong with it, it can be made anew
        return None
    return None


def _read_text(path: str) -> str:
    with open(path, encoding="utf-8", errors="backslashreplace", newline="") as stream:
        return stream.read()


def _difference(earlier: str, described: dict[str, object]) -> str:
    """Which of the things that make a run is another one."""
    try:
        before = json.loads(earlier)
        now = json.loads(json.dumps(described, default=str))
        names = [name for name in now if before.get(name) != now[name]]
    except (ValueError, AttributeError):
        return ""
    return f" (another {', '.join(names)})" if names else ""


class _Unpickler(pickle.Unpickler):
    """Makes nothing but our own values and arrays: a file in the folder may be anybody's."""

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name) if _may_be_made(module, name) else None
        if found is None or (module.startswith("corefeval.") and name != "spell"
                             and not isinstance(found, type)):  # fmt: skip
            raise pickle.UnpicklingError(f"{module}.{name} is not part of a result")
        return found


def _may_be_made(module: str, name: str) -> bool:
    arrays = module in (
        "numpy",
        "numpy._core.multiarray",
        "numpy.core.multiarray",
        "numpy._core.numeric",
    )
    return (arrays and name in ("ndarray", "dtype", "_reconstruct", "scalar", "_frombuffer")) or (
        module.startswith(tuple(f"corefeval.{room}" for room in _ROOMS)) or (module, name) in _OURS
    )


_ROOMS = ("results", "protocol", "pieces", "stats")
_OURS = {
    ("corefeval.diagnostics", "Notice"),
    ("corefeval.model.categories", "Categories"),
    ("corefeval.model.corpus", "Corpus"),
    ("corefeval.model.corpus", "DocumentId"),
    ("corefeval.model.relations", "Relations"),
    ("corefeval.pairing.mismatches", "Suspects"),
    ("corefeval.metrics.metric", "spell"),
}

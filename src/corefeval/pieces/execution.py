"""Pieces mapped over any executor, a few at a time, and kept in a folder as they are done.

Nothing in a kept file can run, whoever wrote it: it is JSON, and what is made of it is checked.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypeVar

from corefeval._version import __version__
from corefeval.diagnostics import InputError, Notices, UsageError, note
from corefeval.files import (
    PathLike,
    current_limit,
    is_ordinary,
    is_remote,
    unpack_limit,
    write_folder,
)
from corefeval.metrics import spell
from corefeval.pairing import Suspects
from corefeval.pieces import Cutting, watch_workers
from corefeval.results import Result
from corefeval.results.saved import notice_of_record, result_of_record, result_record

R = TypeVar("R")

_AHEAD = 2  # for each worker so many pieces are on their way
_RUN = "run.json"


@dataclass(frozen=True, slots=True)
class Share:
    """What comes of a piece: there is no result where none of its documents is scored.

    `of_key` and `of_response` are the notices on reading, `result` has the others.
    """

    digest: str
    of_key: Notices
    of_response: Notices
    result: Result | None = None
    suspects: Suspects | None = None
    has_mentions: bool = False


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


# ── what a run leaves in a folder ──


class Store:
    """A folder of records by the names of their files, all of one `run` if that is told apart.

    `unusable` is how many files were damaged, or no records of this version and run. Links are
    neither read nor written through: the next record takes their place.
    """

    def __init__(self, folder: PathLike, run: bytes = b"") -> None:
        self.folder = os.fspath(folder)
        self.run = run
        self.unusable = 0

    def find(self, name: str, make: Callable[[Any], R]) -> R | None:
        """`make` of a record; None where there is none, or where it cannot be used."""
        try:
            header, _, data = self.read(name).partition(b"\n")
            if header != self._header(name, data):
                raise ValueError("the file is damaged, or of another version or run")
            return make(json.loads(data))
        except FileNotFoundError:
            return None
        except Exception:  # whatever is wrong with it, it can be made anew
            self.unusable += 1
            return None

    def read(self, name: str) -> bytes:
        """The bytes of a file; an OSError where it is a link, or cannot be read."""
        path = os.path.join(self.folder, name)
        if os.path.lexists(path) and not is_ordinary(path):
            raise OSError(f"{name} is no ordinary file")
        with open(path, "rb") as stream:
            return stream.read()

    def pack(self, name: str, record: object) -> bytes:
        """A record as the content of a file that `find` reads under this name."""
        data = json.dumps(record, separators=(",", ":"), allow_nan=False).encode()
        return self._header(name, data) + b"\n" + data

    def write(self, contents: Mapping[str, bytes], problem: str) -> None:
        """Write files, packed records among them; an InputError begins with `problem`."""
        write_folder(self.folder, contents, problem=problem, follow_links=False)

    def _header(self, name: str, data: bytes) -> bytes:
        """The first line of a file: the version that wrote it, and a sum of run, name and data."""
        sum = hashlib.sha256(b"\n".join((self.run, name.encode(), data))).hexdigest()
        return f"corefeval {__version__} {sum}".encode()

    @property
    def notices(self) -> Notices:
        """A notice on files that could not be used, if there were any."""
        why = "damaged, foreign or of another version of corefeval, and scored again"
        return note("unusable-files", self.unusable, "file", why, whose=self.folder)


class Kept(Store):
    """The finished pieces of a run in a folder.

    `run` says what the run is: files, protocol and metrics. A folder of another run is a
    UsageError; a piece that cannot be used is scored again, and `notices` says so.
    """

    def __init__(self, folder: PathLike, run: Mapping[str, object]) -> None:
        text = json.dumps({"version": __version__, **run}, indent=1).encode()
        super().__init__(folder, text)
        place = f"--resume {self.folder}"
        if is_remote(self.folder):
            raise UsageError(f"{place}: it must be a local folder, not an address")
        try:
            os.makedirs(folder, exist_ok=True)
            names = os.listdir(folder)
            earlier = self.read(_RUN) if _RUN in names else None
        except OSError as error:
            raise UsageError(f"{place}: {error.strerror or error}") from None
        if earlier is None and names:
            raise UsageError(f"{place}: it has other files in it: use an empty folder")
        if earlier is None:
            self._put(_RUN, text)
        elif earlier != text:
            changes = _find_changes(earlier, text)
            raise UsageError(
                f"{place}: it belongs to another run{changes}: use another folder, or empty it"
            )

    def find_piece(self, number: int) -> Share | None:
        """The share of a piece from an earlier run; None where none is kept that can be used."""
        return self.find(_name_piece(number), _share_of)

    def keep_piece(self, number: int, share: Share) -> None:
        """Write the share of a finished piece into the folder."""
        name = _name_piece(number)
        self._put(name, self.pack(name, _share_record(share)))

    def _put(self, name: str, data: bytes) -> None:
        try:
            self.write({name: data}, "the pieces cannot be kept")
        except InputError as error:  # which is not about the files that are scored
            raise UsageError(str(error)) from None


def _name_piece(number: int) -> str:
    return f"{number:06d}.piece"


def _find_changes(earlier: bytes, text: bytes) -> str:
    """The names of what differs between two descriptions of runs, as text for the error."""
    try:
        before = json.loads(earlier)
        names = [name for name, fact in json.loads(text).items() if before.get(name) != fact]
    except (ValueError, AttributeError, RecursionError):
        return ""
    return f", which differs in {', '.join(names)}" if names else ""


def _share_record(share: Share) -> dict[str, Any]:
    suspects = share.suspects
    return {
        "digest": share.digest,
        "of_key": [*map(asdict, share.of_key)],
        "of_response": [*map(asdict, share.of_response)],
        "result": None if share.result is None else result_record(share.result),
        "suspects": None if suspects is None else suspects._asdict(),
        "has_mentions": share.has_mentions,
    }


def _share_of(record: Mapping[str, Any]) -> Share:
    """The share of a record; raises a ValueError, KeyError or the like for a damaged record."""
    result, suspects = record["result"], record["suspects"]
    return Share(
        str(record["digest"]),
        tuple(map(notice_of_record, record["of_key"])),
        tuple(map(notice_of_record, record["of_response"])),
        None if result is None else result_of_record(result, spell),
        None if suspects is None else _suspects_of(suspects),
        record["has_mentions"] is True,
    )


def _suspects_of(record: Mapping[str, Any]) -> Suspects:
    documents, sizes, common = (_numbers(record[name]) for name in ("documents", "sizes", "common"))
    names, examples = ([*map(str, record[name])] for name in ("names", "examples"))
    if not len(documents) == len(sizes) == len(common) == len(names):
        raise ValueError("the columns of suspects differ in length")
    n_documents, n_common = _numbers([record["n_documents"], record["n_common"]])
    n_key, n_response = _numbers(record["n_mentions"])
    first, second = examples
    counts = n_documents, (n_key, n_response), n_common
    return Suspects(documents, names, sizes, common, *counts, (first, second))


def _numbers(values: list[object]) -> list[int]:
    """Whole numbers from 0; a ValueError for anything else."""
    numbers = [value for value in values if type(value) is int and value >= 0]
    if len(numbers) < len(values):
        raise ValueError(f"these are not whole numbers: {values!r:.40}")
    return numbers

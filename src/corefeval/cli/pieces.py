"""The options of commands that score files in pieces: how large, by whom, kept where."""

# No `annotations` from __future__ here: types of fields are looked up where commands are made.

import os
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cyclopts import Group, Parameter

from corefeval.cli.printing import show_progress
from corefeval.diagnostics import UsageError

if TYPE_CHECKING:
    from corefeval.pieces import Cutting

_PROCESSES_PER_PROCESSOR = 4  # more would only be in each other's way
PATIENCE = "10s"  # with a scheduler that does not answer
_GROUP = Group("Large files", sort_key=3)


@Parameter(name="*", group=_GROUP)
@dataclass(frozen=True, kw_only=True)
class FilePieces:
    """How large files are worked on.

    Parameters
    ----------
    piece_size
        Work in pieces of this size (of the key), such as 16MB; a size above the files' keeps them
        whole in memory. By default, files above 200MB are cut into pieces of 16MB.
    jobs
        How many processes work on pieces.
    """

    piece_size: str | None = None
    jobs: int = 1

    @contextmanager
    def cutting(self, *, quiet: bool, noun: str = "pieces") -> "Iterator[Cutting]":
        """How files are cut, with workers that live as long as the context, and a progress bar."""
        from corefeval.pieces import Cutting

        if self.jobs < 1:
            raise UsageError(f"--jobs must be 1 or more, not {self.jobs}")
        plain = Cutting(self.piece_size)  # which may be no size
        with ExitStack() as stack:
            executor = self._executor(stack)
            progress = stack.enter_context(_progress(noun, quiet))
            yield Cutting(plain.size, executor, None, progress)

    def _executor(self, stack: ExitStack) -> Executor | None:
        if self.jobs == 1:
            return None
        from corefeval.pieces.execution import start_workers

        number = min(self.jobs, _PROCESSES_PER_PROCESSOR * (os.cpu_count() or 1))
        return stack.enter_context(start_workers(number))


@Parameter(name="*", group=_GROUP)
@dataclass(frozen=True, kw_only=True)
class ClusterPieces(FilePieces):
    """How large files are worked on, here or elsewhere.

    Parameters
    ----------
    scheduler
        The address of a Dask scheduler whose workers work on pieces, such as tcp://host:8786.
    """

    scheduler: str | None = None

    def _executor(self, stack: ExitStack) -> Executor | None:
        if self.scheduler is None:
            return super()._executor(stack)
        if self.jobs > 1:
            raise UsageError("--jobs and --scheduler exclude each other: use one of them")
        return _connect(self.scheduler, stack)


@Parameter(name="*", group=_GROUP)
@dataclass(frozen=True, kw_only=True)
class PieceOptions(ClusterPieces):
    """How large files are scored.

    Parameters
    ----------
    resume
        Keep finished pieces in this folder, so that an interrupted run can continue.
    """

    resume: str | None = None

    @property
    def asked_for(self) -> list[str]:
        """The names of the options given that ask for pieces."""
        names = ("piece_size", "scheduler", "resume")
        options = [name for name in names if getattr(self, name) is not None]
        return [*options, *(["jobs"] if self.jobs != 1 else [])]

    def folder(self, number: int, runs: int) -> str | None:
        """The folder that keeps the pieces of run `number`; None without --resume."""
        if self.resume is None or runs == 1:
            return self.resume
        return os.path.join(self.resume, f"{number:03d}")


FILE_PIECES = FilePieces()
CLUSTER = ClusterPieces()
PIECES = PieceOptions()


def _connect(address: str, stack: ExitStack) -> Executor:
    if not re.fullmatch(r"[\w+.-]+(://\S+|:\d+)", address):
        raise UsageError(f"--scheduler is an address such as tcp://host:8786, not {address!r:.60}")
    try:
        from distributed import Client
    except ImportError:
        raise UsageError(
            "--scheduler needs Dask, which is not installed: pip install distributed"
        ) from None
    make: Any = Client
    try:
        client = stack.enter_context(make(address, timeout=PATIENCE, set_as_default=False))
    except (OSError, ValueError, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(f"--scheduler {address}: there is no answer: {reason}") from None
    executor: Executor = stack.enter_context(client.get_executor())
    return executor


@contextmanager
def _progress(noun: str, quiet: bool) -> Iterator[Callable[[int, int, int], None] | None]:
    """A bar with pieces (or what the noun says) and how many bytes of them are done in a second."""
    with show_progress("Working", quiet) as show:
        begin = before = time.monotonic()
        passed = 0

        def tell(done: int, total: int, size: int) -> None:
            nonlocal begin, before, passed
            begin = before if size < passed else begin  # another response
            before, passed = time.monotonic(), size
            rate = size / 1e6 / max(1e-9, before - begin)
            if show is not None:
                show(f"{done:,} of {total:,} {noun}, {rate:.1f} MB/s", done, total)

        yield None if show is None else tell

"""Corpora scored in pieces: documents of both files as byte ranges, anywhere, summed once.

This module imports nothing that a small score would have to wait for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from corefeval.diagnostics import CorefEvalError, InputError, UsageError
from corefeval.files import PathLike, is_remote, parse_size

if TYPE_CHECKING:
    from concurrent.futures import Executor

PIECE_SIZE = 16_000_000  # bytes of the key; smaller ones cost more, larger ones only memory
AUTOMATIC = 200_000_000  # bytes of all files, above which pieces take no longer than the whole

Progress = Callable[[int, int, int], None]  # pieces done, all pieces, bytes done


class NamedFile(NamedTuple):
    """A file, folder, pattern or address, and what it is called in results."""

    path: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Cutting:
    """How a score is cut into pieces; without a size, large files are cut and others are not."""

    size: int | str | None = None
    executor: Executor | None = None
    resume: PathLike | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if self.size is not None and self.bytes < 1:
            raise UsageError(f"a piece must have at least one byte, not {self.size!r:.60}")
        if self.executor is not None and not callable(getattr(self.executor, "submit", None)):
            raise UsageError(f"an executor has a method submit; {self.executor!r:.60} has none")
        if not isinstance(self.resume, str | os.PathLike | None):
            raise UsageError(f"resume must be the path of a folder, not {self.resume!r:.60}")

    @property
    def bytes(self) -> int:
        """How many bytes of the key are a piece."""
        if self.size is None:
            return PIECE_SIZE
        return parse_size(self.size, "a piece (--piece-size, piece_size=…)")

    @property
    def is_asked_for(self) -> bool:
        """Whether a size, an executor or a folder to resume from was passed."""
        return any(option is not None for option in (self.size, self.executor, self.resume))

    def suits(self, *sources: object) -> bool:
        """Whether to score sources in pieces: large files, or any files where `is_asked_for`."""
        sides = [as_file(source) for source in sources]
        if any(side is None or side.path == "-" for side in sides):
            return False
        return self.is_asked_for or sum(_size(side.path) for side in sides if side) > AUTOMATIC


class LostWorkersError(InputError):
    """An executor whose workers are gone, for which no file is to blame."""


@contextmanager
def watch_workers() -> Iterator[None]:
    """A context in which the loss of an executor's workers is a LostWorkersError.

    An executor that was shut down is a UsageError.
    """
    try:
        yield
    except CorefEvalError:
        raise
    except Exception as error:
        from concurrent.futures import BrokenExecutor, CancelledError

        if isinstance(error, RuntimeError) and "after shutdown" in str(error):
            raise UsageError("the executor was shut down: pass one that still works") from None
        lost = isinstance(error, BrokenExecutor | CancelledError)
        if not lost and not type(error).__module__.startswith("distributed"):
            raise
        raise LostWorkersError(
            f"the workers are gone: {error or type(error).__name__}",
            fix="they may have run out of memory: use smaller pieces or fewer workers, and "
            "continue with --resume",
        ) from None


def as_file(source: object) -> NamedFile | None:
    """The file that an input is; None for anything else."""
    if isinstance(source, NamedFile):
        return source
    return NamedFile(os.fspath(source)) if isinstance(source, str | os.PathLike) else None


def _size(path: str) -> int:
    """The bytes of the files of a path; 0 for addresses and for what cannot be listed."""
    if is_remote(path) or not path:
        return 0
    if os.path.isfile(path):
        return os.path.getsize(path)
    from corefeval.formats import files_of

    try:
        return sum(os.path.getsize(file) for file in files_of(path)[0])
    except (OSError, ValueError, CorefEvalError):  # reading will say what is wrong with it
        return 0

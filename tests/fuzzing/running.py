"""Running a case in this process, in a folder of its own."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from corefeval.cli import main
from corefeval.metrics import REGISTRY
from fuzzing.cases import Case
from fuzzing.corpora import Files

LIMIT = 20.0  # seconds; the inputs are so small that more is as good as never


class Overtime(BaseException):
    """A case that did not end."""


@dataclass(frozen=True)
class Outcome:
    """How a case ended: exit status, streams, files before and after, and what flew out of it."""

    status: int
    out: bytes
    err: str
    before: Files
    files: Files
    seconds: float
    escaped: BaseException | None = None

    @property
    def place(self) -> str:
        """The line of ours where an exception was raised."""
        frames = traceback.extract_tb(self.escaped.__traceback__ if self.escaped else None)
        ours = [frame for frame in frames if f"{os.sep}corefeval{os.sep}" in frame.filename]
        last = ours[-1] if ours else frames[-1]
        return f"{Path(last.filename).parent.name}/{Path(last.filename).name}:{last.lineno}"


class _Stream(io.TextIOWrapper):
    """A stream that may be a terminal."""

    def __init__(
        self, data: bytes = b"", *, encoding: str = "utf-8", terminal: bool = False
    ) -> None:
        super().__init__(io.BytesIO(data), encoding=encoding, errors="surrogateescape", newline="")
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    @property
    def content(self) -> bytes:
        self.flush()
        return self.buffer.getvalue()  # type: ignore[attr-defined, no-any-return]


def run(case: Case) -> Outcome:
    """Run a case in a folder that is made for it and goes afterwards."""
    with make_folder() as folder:
        lay_out(case.files, Path(folder))
        return _run_in(case, Path(folder))


def make_folder() -> TemporaryDirectory[str]:
    """A folder that goes after its use; in memory where there is such a place, which is quicker."""
    memory = "/dev/shm"
    return TemporaryDirectory(prefix="fuzzing-", dir=memory if os.access(memory, os.W_OK) else None)


def lay_out(files: Files, folder: Path) -> None:
    """Write files below a folder."""
    for name, data in files.items():
        path = folder / name
        with contextlib.suppress(FileExistsError, NotADirectoryError, IsADirectoryError):
            if name.endswith("/"):
                path.mkdir(parents=True)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def found_in(folder: Path) -> Files:
    """What is below a folder."""
    found = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if path.is_file():
            found[name] = path.read_bytes()
        elif not any(path.iterdir()):
            found[f"{name}/"] = b""
    return found


def _run_in(case: Case, folder: Path) -> Outcome:
    out = _Stream(encoding=case.encoding, terminal=case.terminal)
    err = _Stream(encoding=case.encoding)
    escaped: BaseException | None = None
    status, before = -1, found_in(folder)
    began = time.perf_counter()
    with _surroundings(case, folder, out, err), _oblivion():
        try:
            status = main(case.line)
        except (Exception, SystemExit, Overtime) as error:
            escaped = error
    seconds = time.perf_counter() - began
    text = err.content.decode(case.encoding, "surrogateescape")
    return Outcome(status, out.content, text, before, found_in(folder), seconds, escaped)


@contextlib.contextmanager
def _oblivion() -> Iterator[None]:
    """Within, what a process learns is forgotten at the end: every case begins as the first does.

    That is metrics of one's own, and where they were looked for.
    """
    with patch.dict(REGISTRY), patch.object(sys, "path", sys.path[:]):
        yield


@contextlib.contextmanager
def _surroundings(case: Case, folder: Path, out: _Stream, err: _Stream) -> Iterator[None]:
    """The folder, streams, width and warnings of a case, and an end to its patience."""
    streams = sys.stdin, sys.stdout, sys.stderr
    columns = os.environ.get("COLUMNS")

    def stop(*_: Any) -> None:
        raise Overtime

    with contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("error")
        sys.stdin, sys.stdout, sys.stderr = _Stream(case.stdin), out, err
        os.environ["COLUMNS"] = str(case.width)
        # Processor time, so that a busy machine makes no failures; and the clock, for what waits.
        before = [(one, signal.signal(one, stop)) for one in (signal.SIGPROF, signal.SIGALRM)]
        signal.setitimer(signal.ITIMER_PROF, LIMIT)
        signal.setitimer(signal.ITIMER_REAL, 10 * LIMIT)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            for one, handler in before:
                signal.signal(one, handler)
            sys.stdin, sys.stdout, sys.stderr = streams
            os.environ.pop("COLUMNS")
            if columns is not None:
                os.environ["COLUMNS"] = columns

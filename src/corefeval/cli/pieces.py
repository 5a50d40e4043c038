"""Work on files in pieces: how large they are, and who does it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from corefeval.cli.printing import show_progress
from corefeval.diagnostics import UsageError

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from corefeval.cli.parsing import ParsedOptions
    from corefeval.pieces import Cutting

_PROCESSES_PER_PROCESSOR = 4  # more would only be in each other's way
PATIENCE = "10s"  # with a scheduler that does not answer


@contextmanager
def open_cutting(options: ParsedOptions, noun: str = "pieces") -> Iterator[Cutting]:
    """How files are cut, with workers that live as long as the context, and a progress bar."""
    from corefeval.pieces import Cutting

    if options.jobs < 1:
        raise UsageError(f"--jobs must be 1 or more, not {options.jobs}")
    plain = Cutting(options.piece_size)  # which may be no size
    with ExitStack() as stack:
        executor = _find_executor(options, stack)
        progress = stack.enter_context(_progress(noun, options.quiet))
        yield Cutting(plain.size, executor, None, progress)


def _find_executor(options: ParsedOptions, stack: ExitStack) -> Executor | None:
    """The workers that the options name; None for this process alone."""
    scheduler = options.given("scheduler")
    if options.jobs > 1 and scheduler:
        raise UsageError("--jobs and --scheduler exclude each other: use one of them")
    if scheduler:
        return _connect(options.scheduler, stack)
    if options.jobs == 1:
        return None
    from corefeval.pieces.execution import start_workers

    number = min(options.jobs, _PROCESSES_PER_PROCESSOR * (os.cpu_count() or 1))
    return stack.enter_context(start_workers(number))


def _connect(address: str, stack: ExitStack) -> Executor:
    """The workers of a Dask scheduler, as long as the stack is open."""
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

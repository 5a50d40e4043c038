"""Cases made small: as few arguments and as little data as break the same rule."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from fuzzing.cases import Case

PATIENCE = 20.0  # seconds


def shrink(case: Case, still_fails: Callable[[Case], bool]) -> Case:
    """A smaller case that still fails, after as many tries as there is patience for."""
    deadline = time.monotonic() + PATIENCE
    progress = True
    while progress:
        progress = False
        for smaller in _smaller(case):
            if time.monotonic() > deadline:
                return case
            if still_fails(smaller):
                case, progress = smaller, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    """Cases with one thing less, the large things first."""
    for place in range(len(case.arguments) - 1, 0, -1):
        kept = case.arguments[:place] + case.arguments[place + 1 :]
        yield replace(case, arguments=kept)
    for path in case.files:
        yield replace(case, files={name: data for name, data in case.files.items() if name != path})
    if case.terminal or case.width != 80:
        yield replace(case, terminal=False, width=80)
    if case.stdin:
        yield from (replace(case, stdin=data) for data in _less(case.stdin))
    for path, data in case.files.items():
        yield from (replace(case, files={**case.files, path: less}) for less in _less(data))


def _less(data: bytes) -> Iterator[bytes]:
    """Data without some of its lines, then of its bytes."""
    for pieces in (data.splitlines(keepends=True), [data[at : at + 1] for at in range(len(data))]):
        size = len(pieces) // 2
        while size:
            for start in range(0, len(pieces), size):
                yield b"".join(pieces[:start] + pieces[start + size :])
            size //= 2

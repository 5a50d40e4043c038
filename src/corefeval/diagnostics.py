"""What can go wrong and what was noticed: the exceptions and the notices.

Every room may import this one; it imports nothing of ours and no numpy.
"""

from __future__ import annotations

import errno
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


class CorefEvalError(Exception):
    """Base of every error that corefeval raises on purpose."""


class InputError(CorefEvalError):
    """Data that cannot be read: says where, what was found, what was expected and how to fix it."""

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        line: int | None = None,
        found: str | None = None,
        expected: str | None = None,
        fix: str | None = None,
    ) -> None:
        self.problem = problem
        self.file = file
        self.line = line
        self.found = found
        self.expected = expected
        self.fix = fix
        super().__init__(self._message())

    def _message(self) -> str:
        where = ", ".join(
            part for part in (self.file, f"line {self.line}" if self.line else None) if part
        )
        lines = [f"{where}: {self.problem}" if where else self.problem]
        lines += [
            f"  {label}: {text}"
            for label, text in (
                ("found", self.found),
                ("expected", self.expected),
                ("fix", self.fix),
            )
            if text
        ]
        return "\n".join(lines)


class PairingError(InputError):
    """Key and response that do not belong together: documents or tokens differ."""


class UsageError(CorefEvalError):
    """A request that makes no sense, whatever the data: an unknown metric, format or option."""


class UndefinedMetricError(CorefEvalError):
    """A metric that this data cannot define, because something that it needs is not there."""


class UndefinedRateError(CorefEvalError, AttributeError):
    """A rate that a score does not have, like the recall of the CoNLL average."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that was dropped, missing, skipped or repaired on the way to a score.

    `kind` is stable, for programs; `message` is for people; `count` says how many, and `items`
    which, where they have names.
    """

    kind: str
    message: str
    count: int = 1
    items: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.message


@contextmanager
def memory_for(file: str | None = None) -> Iterator[None]:
    """Within, a lack of memory is an InputError: how much was asked for, and what to do."""
    try:
        yield
    except (MemoryError, ImportError, OSError, RuntimeError, SystemError) as error:
        if not _lacks_memory(error):
            raise
        raise InputError(
            "there is not enough memory" + (" to read the file" if file else ""),
            file=file,
            found=_demand(str(error)),
            fix="take fewer documents at a time (files of fewer documents, or --documents), give "
            "the process more memory (ulimit -v, the container's limit), or use a larger machine",
        ) from None


_NO_MEMORY = (
    "failed to map segment",
    "llocate memory",
    "can't start new thread",
    "return without exception set",
    "without setting an exception",
)


def _lacks_memory(error: Exception) -> bool:
    """Whether memory is what was lacking, which libraries and threads say in words of their own."""
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return isinstance(error, MemoryError) or any(words in str(error) for words in _NO_MEMORY)


def _demand(message: str) -> str:
    """How much was asked for, as far as anybody knows, and how much there was already."""
    size = re.search(r"allocate ([\d.]+ ?\w+)", message)
    asked = f"{size[1]} asked for at once" if size else "more asked for than there is"
    try:
        import resource
    except ImportError:  # there is none on Windows
        return asked
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return f"{asked}, with {most / (1e9 if sys.platform == 'darwin' else 1e6):.2f} GB in use"


def excerpt(text: str, limit: int = 60) -> str:
    """Quote foreign text for a message: printable, and short enough to read."""
    shown = text if len(text) <= limit else text[: limit - 1] + "…"
    return "‘" + "".join(c if c.isprintable() else ascii(c)[1:-1] for c in shown) + "’"


def plural(count: int, noun: str) -> str:
    """Count things in words: `1 mention`, `3 mentions`, `2 entities`."""
    if count != 1:
        noun = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count:,} {noun}"

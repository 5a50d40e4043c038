"""What can go wrong and what was noticed: the exceptions and the notices.

Every room may import this one; it imports nothing of ours and no numpy.
"""

from __future__ import annotations

import errno
import gc
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

# The keywords of Python that have options on the command line, each with its values; `protocol`,
# which knows them, puts them here.
KEYWORDS: dict[str, Collection[str]] = {}
_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)(?: ([A-Z]+\b|[a-z\d]+(?:-[a-z]+)*))?")


class CorefEvalError(Exception):
    """Base of every error that corefeval raises on purpose.

    Messages are written with the options of the command line, which `command_text` has. As a string
    the error has the keywords of Python instead.
    """

    @property
    def command_text(self) -> str:
        """The message as the command line says it."""
        return super().__str__()

    def __str__(self) -> str:
        return _OPTION.sub(_as_keyword, self.command_text)


def _as_keyword(match: re.Match[str]) -> str:
    """`--match head` as `match="head"`, and `--tagset FILE` as `tagset=FILE`."""
    name, value = match[1].replace("-", "_"), match[2] or ""
    if name not in KEYWORDS:
        return match[0]
    if value.isupper():
        return f"{name}={value}"
    return f'{name}="{value}"' if value in KEYWORDS[name] else f"{name}=… {value}".rstrip()


class InputError(CorefEvalError):
    """Data that cannot be read: says where, what was found, what was expected and how to fix it.

    `kind` is what `check` calls the mistake, where it has a name of its own there.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        line: int | None = None,
        found: str | None = None,
        expected: str | None = None,
        fix: str | None = None,
        kind: str | None = None,
    ) -> None:
        self.problem = problem
        self.kind = kind
        self.file = file
        self.line = line
        self.found = found
        self.expected = expected
        self.fix = fix
        super().__init__(self._message())

    @property
    def _details(self) -> dict[str, Any]:
        names = ("file", "line", "found", "expected", "fix", "kind")
        return {name: getattr(self, name) for name in names}

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), **self._details), (self.problem,)

    def of_file(self, file: str) -> InputError:
        """A copy of the error with another name for the file."""
        return type(self)(self.problem, **self._details | {"file": file})

    def reworded(self, reword: Callable[[str], str]) -> InputError:
        """A copy of the error with other words in its texts."""
        texts = {name: getattr(self, name) for name in ("found", "expected", "fix")}
        details = self._details | {name: text and reword(text) for name, text in texts.items()}
        return type(self)(reword(self.problem), **details)

    def _message(self) -> str:
        where = ", ".join(filter(None, (self.file, f"line {self.line}" if self.line else "")))
        lines = [f"{where}: {self.problem}" if where else self.problem]
        parts = {"found": self.found, "expected": self.expected, "fix": self.fix}
        lines += [f"  {label}: {text}" for label, text in parts.items() if text]
        return "\n".join(lines)


class PairingError(InputError):
    """Key and response that do not belong together: documents or tokens differ."""


class UsageError(CorefEvalError):
    """A request that makes no sense, whatever the data: an unknown metric, format or option."""


class KeyNeededError(UsageError):
    """Data that can be read only against a key, and there was none."""


class UndefinedMetricError(CorefEvalError):
    """A metric that is not defined on this data, because something that it needs is missing."""


class UndefinedRateError(CorefEvalError, AttributeError):
    """A rate that a score does not have, such as the recall of the CoNLL average."""


class LongWait(UserWarning):
    """Work that may take long is about to begin."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that was dropped, missing, skipped or repaired on the way to a score.

    `kind` is stable, for programs; `text` is for people; `count` says how many, and `items` which,
    where they have names. Where a `noun` says what is counted, `{n}` in the text stands for the
    number with the noun and `{items}` for the first of the items, so that notices of the same text
    can be merged. `{parts}` stands for several numbers, each with what it is the number of.

    >>> print(Notice("cut", "x.conll: {n} cut short: {items}", 2, ("a", "b"), "document"))
    x.conll: 2 documents cut short: ‘a’, ‘b’
    """

    kind: str
    text: str
    count: int = 1
    items: tuple[str, ...] = ()
    noun: str = ""
    parts: tuple[tuple[str, int], ...] = ()

    @property
    def message(self) -> str:
        """What people read."""
        text = self.text
        if self.parts:
            counts = ", ".join(f"{number:,} {label}" for label, number in self.parts if number)
            text = text.replace("{parts}", counts)
        if self.noun:
            text = text.replace("{n}", plural(self.count, self.noun))
            text = text.replace("{items}", list_names(self.items))
        return text

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        items = {"items": list(self.items)} if self.items else {}
        return {"kind": self.kind, "message": self.message, "count": self.count, **items}

    def __str__(self) -> str:
        return self.message


Notices = tuple[Notice, ...]


def note(kind: str, count: int, noun: str, outcome: str, *, whose: str = "") -> Notices:
    """A notice of `count` items and their `outcome` in a tuple, which is empty without items.

    >>> print(*note("cut", 2, "document", "cut short", whose="x.conll"))
    x.conll: 2 documents cut short
    """
    text = f"{whose}: {{n}} {outcome}" if whose else f"{{n}} {outcome}"
    return (Notice(kind, text, count, noun=noun),) if count > 0 else ()


def merge_notices(notices: Iterable[Notice]) -> Notices:
    """Each notice once, in the order of the first; those that count the same things are summed.

    >>> notices = [Notice("cut", "x: {n} cut", n, noun="document") for n in (2, 3)]
    >>> [str(notice) for notice in merge_notices(notices)]
    ['x: 5 documents cut']
    """
    alike: dict[tuple[object, ...], list[Notice]] = {}
    for notice in notices:
        adds_up = bool(notice.noun or notice.parts)
        details = (notice.noun,) if adds_up else (notice.count, notice.items)
        group = alike.setdefault((notice.kind, notice.text, *details), [])
        if adds_up or not group:
            group.append(notice)
    return tuple(group[0] if len(group) == 1 else _add_up(group) for group in alike.values())


def _add_up(notices: Sequence[Notice]) -> Notice:
    """One notice with the counts, items and parts of notices of the same text."""
    first = notices[0]
    return replace(
        first,
        count=sum(notice.count for notice in notices),
        items=tuple(dict.fromkeys(item for notice in notices for item in notice.items)),
        parts=tuple(
            (label, sum(notice.parts[place][1] for notice in notices))
            for place, (label, _) in enumerate(first.parts)
        ),
    )


def list_names(names: Sequence[str], shown: int = 3) -> str:
    """The first of some names, quoted.

    >>> list_names(["a", "b", "c", "d"])
    '‘a’, ‘b’, ‘c’, …'
    """
    return ", ".join(map(excerpt, names[:shown])) + (", …" if len(names) > shown else "")


@contextmanager
def memory_for(file: str | None = None) -> Iterator[None]:
    """A context in which a lack of memory is an InputError that says how much was requested."""
    try:
        yield
    except (MemoryError, ImportError, OSError, RuntimeError, SystemError) as error:
        if not _lacks_memory(error):
            raise
        raise InputError(
            "there is not enough memory" + (" to read the file" if file else ""),
            file=file,
            found=_demand(str(error)),
            fix="score fewer documents at a time (smaller files, or --documents), give "
            "the process more memory (ulimit -v, the container's limit), or use a larger machine",
        ) from None


@contextmanager
def uncollected() -> Iterator[None]:
    """A context without garbage collection, for what makes very many small objects without cycles.

    It takes a third of the time of an emulated score, and a quarter of reading annotations. Used as
    a decorator, it ends when the objects that a function does not return are gone.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


_NO_MEMORY = (
    "failed to map segment",
    "llocate memory",
    "can't start new thread",
    "return without exception set",
    "without setting an exception",
)


def _lacks_memory(error: Exception) -> bool:
    """Whether an error means a lack of memory, for which libraries have different messages."""
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return isinstance(error, MemoryError) or any(words in str(error) for words in _NO_MEMORY)


def _demand(message: str) -> str:
    """How much memory was requested, where the message says it, and how much was in use."""
    size = re.search(r"allocate ([\d.]+ ?\w+)", message)
    demand = f"{size[1]} requested at once" if size else "more was requested than is available"
    try:
        import resource
    except ImportError:  # there is none on Windows
        return demand
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return f"{demand}, with {most / (1e9 if sys.platform == 'darwin' else 1e6):.2f} GB in use"


def excerpt(text: str, limit: int = 60) -> str:
    """Quote foreign text for a message: printable, and short enough to read."""
    shown = cut_short(text, limit)
    return "‘" + "".join(c if c.isprintable() else ascii(c)[1:-1] for c in shown) + "’"


def cut_short(text: str, limit: int) -> str:
    """The text, or its beginning where it has more characters than the limit."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def plural(count: int, noun: str) -> str:
    """Count things in words: `1 mention`, `3 mentions`, `2 entities`, `2 corpora`."""
    if count != 1 and noun == "corpus":
        noun = "corpora"
    elif count != 1:
        noun = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count:,} {noun}"

"""Files that arguments name, and what is printed."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from corefeval.diagnostics import Notice, UsageError, merge_notices
from corefeval.display import distinct_names, visible
from corefeval.files import check_writable, write_file

GATE_FAILED = 3  # the exit status where a score is too low, or a system worse than it may be
VERBOSE: ContextVar[bool] = ContextVar("VERBOSE", default=False)  # whether all notices are printed
_FEW = 3  # files of which a notice is printed for each
_MOMENT = 1.0  # seconds
_BARS: list[Any] = []  # the one on the screen, if there is any
_CANNOT_WRITE = "the output cannot be written"


def label(argument: str) -> tuple[str | None, str]:
    """The name and the path of `NAME=PATH`; no name for a path, even one with an equals sign."""
    name, equals, path = argument.partition("=")
    if equals and name and not os.path.exists(argument):
        return name, path
    return None, argument


def names_of(arguments: Sequence[tuple[str | None, str]], key: str | None = None) -> list[str]:
    """Labels, else file names, else whole paths where other files have the same name.

    A response called like the key goes by its path, unless it is the key itself.

    >>> names_of([(None, "a/x.conll"), ("b", "b/x.conll"), (None, "y")], "keys/x.conll")
    ['a/x.conll', 'b', 'y']
    >>> names_of([(None, "a/x.conll"), (None, "y")], "a/x.conll")
    ['x.conll', 'y']
    """
    key_name = "" if key is None else short(key)
    names = [
        name or (path if short(path) == key_name and path != key else short(path))
        for name, path in arguments
    ]
    return distinct_names(names, [name or path for name, path in arguments])


# Of what files of responses are called, the end that says nothing about the system.
_ENDING = r"(?i)(\.\w*conllu?|\.json(l|lines)?|\.ndjson|\.parquet|\.ann|\.txt|\.tsv)?(\.gz)?$"


def plain_names(names: Sequence[str], labels: Container[str | None] = ()) -> list[str]:
    """The names without the extensions of files, where that leaves no two the same.

    Names in `labels`, which were given as NAME=PATH, are not changed.

    >>> plain_names(["old.conll", "new.v4_auto_conll.gz", "x.json", "x.conll", "model-1.5"])
    ['old', 'new', 'x.json', 'x.conll', 'model-1.5']
    """
    plain = [name if name in labels else re.sub(_ENDING, "", name) or name for name in names]
    return distinct_names(plain, names)


def short(path: str) -> str:
    """The last part of a path."""
    if path == "-":
        return "standard input"
    name = os.path.basename(path)
    if name in ("", "."):
        from pathlib import Path

        name = Path(path).name
    return name or path


def same_file(first: str, second: str) -> bool:
    """Whether two paths lead to the same file."""
    return os.path.exists(first) and os.path.exists(second) and os.path.samefile(first, second)


def check_paths(
    arguments: Sequence[tuple[str | None, str]], paths: Sequence[str], *targets: str | None
) -> None:
    """Refuse repeated names or standard input, and targets that are inputs or not writable."""
    if list(paths).count("-") > 1:
        raise UsageError("standard input (-) can be read only once")
    labels = [name for name, _ in arguments if name]
    if len(set(labels)) < len(labels):
        raise UsageError(f"two responses are called {max(labels, key=labels.count)!r}")
    outputs = [target for target in targets if target is not None]
    if len(set(map(os.path.abspath, outputs))) < len(outputs):
        raise UsageError(f"two outputs would be written to the same file: {outputs[0]}")
    for target in targets:
        if target is not None and any(same_file(target, path) for path in paths):
            raise UsageError(f"the output would overwrite an input: {target}")
    for target in outputs:  # before anything is scored, and any of them written
        check_writable(target, problem=_CANNOT_WRITE)


def show(results: Any, output: str | None, **options: Any) -> None:
    """Print results, with colours where somebody sees them, or write them to a file."""
    from corefeval.output import render

    color = output is None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    put(render(results, color=color, **options), output)


def put(text: str, output: str | None) -> None:
    """Print a text, or write it to a file."""
    if output is None:
        sys.stdout.write(text)
    else:
        write_file(output, text, problem=_CANNOT_WRITE)


@contextmanager
def show_progress(name: str, quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar for what takes more than a moment, where somebody is watching; else nothing.

    It is called with a description, the steps done and their total. There is only one bar on a
    screen, which nested calls update.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    begin = time.monotonic()
    with ExitStack() as stack:

        def show(state: str, done: int, total: int) -> None:
            if not _BARS and time.monotonic() - begin < _MOMENT:
                return
            if not _BARS:
                from rich.console import Console
                from rich.progress import Progress

                bar = Progress(console=Console(stderr=True), transient=True)
                bar.add_task(f"{name}: {state}", completed=done, total=total)
                _BARS.append(stack.enter_context(bar))
                stack.callback(_BARS.clear)
            task = _BARS[0].task_ids[0]
            _BARS[0].update(task, description=f"{name}: {state}", completed=done, total=total)

        yield show


@contextmanager
def show_trials(quiet: bool) -> Iterator[None]:
    """While the context is open, long tests and bootstraps show a progress bar."""
    with show_progress("Resampling", quiet) as show:
        if show is None:
            yield
            return
        from corefeval.stats.resampling import watch_trials

        with watch_trials(lambda done, total: show(f"{total:,} trials", done, total)):
            yield


def tell(notices: Iterable[Notice], *, quiet: bool = False) -> None:
    """Print notices, each one once; what many files have in common is one line."""
    distinct = list(dict.fromkeys(() if quiet else notices))
    alike: dict[tuple[str, str], list[Notice]] = {}
    for notice in distinct:
        alike.setdefault((notice.kind, notice.text.partition(": ")[2]), []).append(notice)
    messages: dict[str, None] = {}
    for notice in distinct:
        file, _, text = notice.text.partition(": ")
        group = alike[notice.kind, text]
        if len(group) <= _FEW or not text or VERBOSE.get():
            messages[notice.message] = None
        elif notice is group[0]:
            files = f"{len(group):,} files, such as {file}"
            first, *_ = merge_notices(replace(n, text=f"{files}: {text}") for n in group)
            messages[f"{first.message} (--verbose names them all)"] = None
    for message in messages:
        remark("note", message)


def remark(label: str, message: str) -> None:
    """Print a message to the error stream, control characters as codes; never a BrokenPipeError."""
    with suppress(BrokenPipeError):
        sys.stderr.write(f"{label}: {visible(message, lines=True)}\n")


def fail(reasons: Sequence[str]) -> int:
    """The exit status: failed, with a line that says why, where there is any reason."""
    if not reasons:
        return 0
    remark("failed", "; ".join(reasons))
    return GATE_FAILED

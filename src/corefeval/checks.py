"""What arguments must be: choices, numbers in range, names that there are."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import SupportsFloat

from corefeval.diagnostics import UsageError


def check_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """Raise a UsageError unless a value is one of the choices."""
    if value not in (allowed := tuple(choices)):
        raise UsageError(f"{name} is one of {', '.join(allowed)}, not {value!r}")


def check_type(function: str, value: object, expected: type, fix: str) -> None:
    """Raise a UsageError with a `fix` unless a value is of the type that a function takes."""
    if not isinstance(value, expected):
        raise UsageError(f"{function} takes a {expected.__name__}, not {value!r:.60}: {fix}")


def check_path(path: object, hint: str) -> str:
    """The path as text; a UsageError for an empty one, with a hint, and for what is no path."""
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"a file is named by its path, not by {path!r:.60}")
    if not (text := os.fspath(path)):
        raise UsageError(f"a path is empty: {hint}")
    return text


def check_probability(name: str, value: object) -> None:
    """Raise a UsageError unless a value is strictly between 0 and 1."""
    if not isinstance(value, SupportsFloat) or not 0 < float(value) < 1:
        raise UsageError(f"{name} must be between 0 and 1, such as .05 or .95, not {value!r}")


MOST = 100_000_000  # of trials or samples: more would run for weeks, or out of memory


def check_count(name: str, value: int) -> None:
    """Raise a UsageError unless a value is a whole number from 1 to `MOST`."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST:
        shown = "more" if isinstance(value, int) and value > MOST else repr(value)
        raise UsageError(f"{name} must be a whole number from 1 to {MOST:,}, not {shown}")


def check_seed(seed: int) -> None:
    """Raise a UsageError unless a seed is a whole number of at least 0."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise UsageError(f"a seed must be a whole number of at least 0, not {seed!r}")


def did_you_mean(name: str, choices: Iterable[str], shown: Iterable[str] = ()) -> str:
    """A hint for a name that is not known: the most similar one, or all that there are.

    >>> did_you_mean("mcu", ["muc", "b3"]), did_you_mean("x", ["muc", "b3"])
    ("did you mean 'muc'?", 'there are muc, b3')
    """
    names = tuple(choices)
    import difflib  # imported only for mistakes

    close = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"there are {', '.join(shown or names)}"

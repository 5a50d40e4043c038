"""The example corpus that ships with the package: a key and two responses."""

from __future__ import annotations

from pathlib import Path

from corefeval.diagnostics import UsageError

NAMES = ("key", "cautious", "eager")


def example(name: str = "key") -> str:
    """The path of an example file: `key`, `cautious` or `eager`.

    >>> example("eager").endswith("eager.conll")
    True
    """
    if name not in NAMES:
        raise UsageError(f"there is no example {name!r}: there are {', '.join(NAMES)}")
    return str(Path(__file__).with_name(f"{name}.conll"))

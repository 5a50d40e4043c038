"""The examples that ship with the package: a corpus, and a suite of three."""

from __future__ import annotations

from pathlib import Path

from corefeval.diagnostics import UsageError

NAMES = ("key", "cautious", "eager", "tagged", "listed")
SUITE = Path(__file__).with_name("suite")


def example(name: str = "key") -> str:
    """The path of an example file: `key`, `cautious` or `eager`, which are CoNLL files.

    `tagged` and `listed` are answers of language models: texts with tags, and lists of strings.
    `suite` is the file of a suite, with three corpora and three systems beside it.

    >>> example("eager").endswith("eager.conll"), example("listed").endswith("listed.jsonl")
    (True, True)
    """
    if name == "suite":
        return str(SUITE / "suite.toml")
    if name not in NAMES:
        raise UsageError(f"there is no example {name!r}: there are {', '.join(NAMES)}, suite")
    ending = "jsonl" if name in ("tagged", "listed") else "conll"
    return str(Path(__file__).with_name(f"{name}.{ending}"))

"""The kinds of errors, in the order in which they are fixed. No numpy here, so help is free."""

from __future__ import annotations

from typing import Literal, get_args

from corefeval.checks import did_you_mean
from corefeval.diagnostics import UsageError

Kind = Literal[
    "span",
    "conflated",
    "extra mention",
    "extra entity",
    "missing mention",
    "missing entity",
    "divided",
]
KINDS: tuple[Kind, ...] = get_args(Kind)

SUMMARIES: dict[Kind, str] = {
    "span": "a mention with the wrong span, in the place of one that the key has",
    "conflated": "mentions of a key entity in a response entity that is mostly another one's",
    "extra mention": "a mention that the key lacks, in an entity that the key has",
    "extra entity": "an entity of nothing but mentions that the key lacks",
    "missing mention": "a mention that the response lacks, of an entity that it has",
    "missing entity": "an entity of which the response has no mention",
    "divided": "mentions of a key entity apart from most of it",
}

# What other people call them.
_ALIASES: dict[str, Kind] = {
    "wrong span": "span",
    "span error": "span",
    "merged": "conflated",
    "merge": "conflated",
    "conflated entity": "conflated",
    "spurious mention": "extra mention",
    "spurious entity": "extra entity",
    "missed mention": "missing mention",
    "missed entity": "missing entity",
    "split": "divided",
    "divided entity": "divided",
}


def error_kind(text: str) -> Kind:
    """The kind of error that a text names, in any spelling.

    >>> error_kind("Extra_Mention"), error_kind("split")
    ('extra mention', 'divided')
    """
    name = " ".join(text.lower().replace("_", " ").replace("-", " ").split())
    for kind in KINDS:
        if name in (kind, kind + "s"):
            return kind
    if name in _ALIASES:
        return _ALIASES[name]
    several = [kind for kind in KINDS if name in kind.split()]
    hint = " or ".join(several) or did_you_mean(name, [*KINDS, *_ALIASES], shown=KINDS)
    raise UsageError(f"there is no kind of error {text!r}: {hint}")

"""Which response mention is which key mention.

A matcher is a function from the two sides to matches, declared in `protocol.MATCHERS`. Where a
mention could be matched with several, it makes candidates with weights, and `resolve` makes these
one-to-one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module

from corefeval.checks import split_call
from corefeval.matching.candidates import Candidates, Matches, Mentions, TokenSets, resolve
from corefeval.matching.matchers import match_exactly
from corefeval.protocol import MATCHERS

Matcher = Callable[[Mentions, Mentions], Matches]


def matcher(match: str) -> Matcher:
    """The matcher that a value of the protocol's choice stands for: `head`, `overlap(0.5)`."""
    name, share = split_call(match)
    function = MATCHERS[name].function
    if isinstance(function, str):
        module, _, attribute = function.partition(":")
        function = getattr(import_module(module), attribute)
    return function if share is None else partial(function, share=float(share))


__all__ = [
    "Candidates",
    "Matcher",
    "Matches",
    "Mentions",
    "TokenSets",
    "match_exactly",
    "matcher",
    "resolve",
]

"""Which response mention is which key mention.

A matcher is a function from the two sides to matches. Where a mention could be matched with
several, it makes candidates with weights, and `resolve` makes these one-to-one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from corefeval.checks import split_call
from corefeval.matching.candidates import Candidates, Matches, Mentions, TokenSets, resolve
from corefeval.matching.matchers import (
    match_exactly,
    match_heads,
    match_minima,
    match_overlapping,
    match_partially,
)

Matcher = Callable[[Mentions, Mentions], Matches]

# By the values of the protocol's choice `match`; those with a number have it as `share`.
MATCHERS: dict[str, Callable[..., Matches]] = {
    "exact": match_exactly,
    "head": match_heads,
    "partial": match_partially,
    "min": match_minima,
    "overlap": match_overlapping,
}


def matcher(match: str) -> Matcher:
    """The matcher that a value of the protocol's choice stands for: `head`, `overlap(0.5)`."""
    name, share = split_call(match)
    return MATCHERS[name] if share is None else partial(MATCHERS[name], share=float(share))


__all__ = [
    "MATCHERS",
    "Candidates",
    "Matcher",
    "Matches",
    "Mentions",
    "TokenSets",
    "match_exactly",
    "matcher",
    "resolve",
]

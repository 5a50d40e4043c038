"""Which response mention is which key mention.

A matcher is a function from the two sides to matches, declared in `protocol.MATCHERS`. Where a
mention could be matched with several, it makes candidates with weights, and `resolve` makes these
one-to-one.
"""

from __future__ import annotations

from corefeval.matching.candidates import Candidates, Matches, Mentions, TokenSets, resolve
from corefeval.matching.matchers import Matcher, find_candidates, match_exactly, matcher

__all__ = [
    "Candidates",
    "Matcher",
    "Matches",
    "Mentions",
    "TokenSets",
    "find_candidates",
    "match_exactly",
    "matcher",
    "resolve",
]

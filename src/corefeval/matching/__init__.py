"""Which response mention is which key mention.

A matcher is a function from the two sides to matches, declared in `protocol.MATCHERS`. Where a
mention could be matched with several, it makes candidates with weights, and `resolve` makes these
one-to-one.
"""

from __future__ import annotations

from corefeval.matching.candidates import Candidates, Matches, Mentions, resolve
from corefeval.matching.matchers import find_candidates, matcher

__all__ = [
    "Candidates",
    "Matches",
    "Mentions",
    "find_candidates",
    "matcher",
    "resolve",
]

"""Which response mention is which key mention.

A matcher is a function from the two sides to matches. Where a mention could be matched with
several, it makes candidates with weights, and `resolve` makes these one-to-one.
"""

from __future__ import annotations

from collections.abc import Callable

from corefeval.matching.exact import match_exactly
from corefeval.matching.resolution import Candidates, Matches, Mentions, resolve

Matcher = Callable[[Mentions, Mentions], Matches]

# By the values of the protocol's choice `match`.
MATCHERS: dict[str, Matcher] = {"exact": match_exactly}

__all__ = ["MATCHERS", "Candidates", "Matcher", "Matches", "Mentions", "match_exactly", "resolve"]

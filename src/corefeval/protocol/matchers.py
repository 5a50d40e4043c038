"""The matchers, each declared once: when a key mention and a response mention match."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

# Where heads and minimum spans of mentions may come from, in the order of a signature.
HEADS = ("file", "dependencies", "parse", "tags")
MINIMA = ("stated", "parse")


class Matcher(NamedTuple):
    """A matcher: which mentions it matches, the function that finds them, and what that needs.

    The function, or its place as text (`module:function`), is given the `Mentions` of key and
    response and returns `Matches` (see `matching`). Where a value takes a number in parentheses,
    such as `overlap(0.5)`, the function has it as `share`, whose default is here. `needs` is what
    it must know of mentions besides their tokens.
    """

    summary: str
    function: str | Callable[..., Any]
    share: float | None = None
    needs: Literal["", "heads", "cores", "minima"] = ""


_MATCHERS = "corefeval.matching.matchers"
MATCHERS = {
    "exact": Matcher("the same tokens", f"{_MATCHERS}:match_exactly"),
    "head": Matcher("the same head token", f"{_MATCHERS}:match_heads", needs="heads"),
    "partial": Matcher(
        "the response inside the key, with the key's head or stated minimum",
        f"{_MATCHERS}:match_partially",
        needs="cores",
    ),
    "min": Matcher(
        "as partial by stated minimum spans, else the same minimum span by parse",
        f"{_MATCHERS}:match_minima",
        needs="minima",
    ),
    "overlap": Matcher(
        "tokens in common, with a Dice coefficient of at least this",
        f"{_MATCHERS}:match_overlapping",
        share=0.5,
    ),
}

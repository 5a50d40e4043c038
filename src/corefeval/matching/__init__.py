"""Which response mention is which key mention."""

from corefeval.matching.exact import match_exactly

__all__ = ["match_exactly"]

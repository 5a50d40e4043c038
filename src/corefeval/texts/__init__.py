"""The one alignment of two texts by their characters, whatever their tokens are."""

from corefeval.texts.aligning import TextAlignment, align_tokens, hash_runs
from corefeval.texts.folding import fold_token

__all__ = ["TextAlignment", "align_tokens", "fold_token", "hash_runs"]

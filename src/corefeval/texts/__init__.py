"""The one alignment of two texts by their characters, whatever their tokens are."""

from corefeval.texts.aligning import TextAlignment, align_tokens, hash_runs
from corefeval.texts.folding import continues_word, fold_token

__all__ = ["TextAlignment", "align_tokens", "continues_word", "fold_token", "hash_runs"]

"""The text of mentions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from corefeval.features.texts import Texts
from corefeval.model.categories import Categories

WORD = ("word",)
NO_WORDS = "read a format that has words"


def mention_texts(texts: Texts) -> Categories:
    """The words of each mention, in lower case, with blanks between; gaps are left out."""
    words = texts.needed("words", "words", WORD, NO_WORDS)
    spans = texts.spans
    lower = [*map(str.lower, words.names), ""]
    tokens, _, begin = spans.tokens(np.arange(spans.start.size))
    codes = words.codes[tokens].tolist()
    bounds = [*begin.tolist(), len(codes)]
    return Categories.of(
        [
            " ".join([lower[code] for code in codes[first:after]])
            for first, after in pairwise(bounds)
        ]
    )

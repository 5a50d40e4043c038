"""What answers of people who had not seen the reader are read against."""

from __future__ import annotations

import corefeval
from corefeval.live import corpus_from_object

WORDS = ["Ada", "met", "Bo", ".", "She", "liked", "him", ".", "Bo", "knew", "her", "."]


def read(answer: str, text: str = "") -> corefeval.Corpus:
    words = text.split() or WORDS
    key = corpus_from_object({"doc_key": "d", "sentences": [words], "clusters": []}, "key")
    assert key is not None
    return corefeval.read_answers({"d": answer}, key)

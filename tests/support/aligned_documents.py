"""Documents as records of JSON, and two whose tokens differ."""

from __future__ import annotations


def document(words, *entities, name="d"):
    """A document of one sentence; entities are lists of inclusive spans."""
    words = words.split() if isinstance(words, str) else words
    return {
        "doc_key": name,
        "sentences": [words],
        "clusters": [list(map(list, e)) for e in entities],
    }


# Vectors -----------------------------------------------------------------------------------------


KEY = document("Mary 's old dog saw the big cat , then she left it there .", [(0, 1), (10, 10)],
               [(5, 7), (12, 12)])  # fmt: skip
RESPONSE = document("Mary's dog Oh saw the big big cat, then she left it there .",
                    [(0, 0), (9, 9), (2, 2)], [(4, 7), (11, 11)])  # fmt: skip

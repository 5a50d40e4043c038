"""Kinds of mentions that nobody states, where there are no tags: by what is stated of others."""

from __future__ import annotations

import numpy as np

from corefeval.features.kinds import KINDS, NAME, NOMINAL
from corefeval.features.texts import Texts
from corefeval.features.words import NO_WORDS, WORD, mention_texts
from corefeval.model.arrays import IntArray
from corefeval.model.categories import Categories

_SHORT = 3  # words up to this length, such as articles and prepositions, tell nothing by themselves


def guessed_kinds(texts: Texts, rows: IntArray, examples: Texts, stated: Categories) -> Categories:
    """The kinds of some mentions, one for each of `rows`.

    A mention has the kind that is stated most often of others with the same words; one whose words
    nobody states anything of is a name if all of its words of more than three letters begin with a
    capital, the first of a sentence aside, and nominal otherwise. `examples` are the texts of the
    mentions that `stated` has the kinds of.
    """
    known = mention_texts(examples)
    there = np.flatnonzero(stated.codes >= 0)
    votes = np.zeros((len(known.names), len(KINDS)), dtype=np.int64)
    np.add.at(votes, (known.codes[there], stated.codes[there]), 1)
    usual = {
        name: int(best)
        for name, best, row in zip(known.names, votes.argmax(1), votes, strict=True)
        if row.any()
    }
    own = mention_texts(texts).take(rows).values()
    codes = [
        usual[text] if text is not None and text in usual else _by_capitals(texts, row)
        for row, text in zip(rows.tolist(), own, strict=True)
    ]
    return Categories(np.array(codes, dtype=np.int64), KINDS)


def _by_capitals(texts: Texts, row: int) -> int:
    words = texts.needed("kind", "words", WORD, NO_WORDS)
    starts = texts.sentence_starts()
    tokens = np.arange(texts.spans.start[row], texts.spans.end[row])
    begins = np.isin(tokens, texts.spans.offsets if starts is None else starts).tolist()
    telling = [
        word
        for word, first in zip(words.take(tokens).values(), begins, strict=True)
        if word is not None and len(word) > _SHORT and not first
    ]
    return NAME if telling and all(word[0].isupper() for word in telling) else NOMINAL

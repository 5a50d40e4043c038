"""Small corpora of words, and what is known of their mentions."""

from __future__ import annotations

from corefeval.features import Features
from corefeval.model import CorpusBuilder


def values(corpus, feature, **options):
    return Features(corpus, **options)(feature).values()


def corpus_from_words(words, mentions=((0, 1),), **columns):
    builder = CorpusBuilder(name="words")
    document = builder.document("d", words=words, columns=columns)
    for number, (start, end) in enumerate(mentions):
        document.mention(str(number), start, end)
    return builder.build()

"""A small key that answers are read against, and what was placed on it."""

from __future__ import annotations

from corefeval.model import Corpus, CorpusBuilder

WORDS = [
    "Ada",
    "met",
    "the",
    "captain",
    "of",
    "the",
    "Argo",
    ".",
    "She",
    "greeted",
    "him",
    ",",
    "and",
    "he",
    "bowed",
    ".",
]


def key_of(sample: dict[str, object], name: str = "d") -> Corpus:
    builder = CorpusBuilder(name="key")
    starts = sample.get("sentences", [0])
    document = builder.document(name, words=sample["tokens"], sentence_starts=starts)
    for number, cluster in enumerate(sample.get("key", ())):
        for start, end in cluster:
            document.mention(str(number), start, end)
    return builder.build()


def placed(corpus: Corpus) -> set[tuple[int, int, str]]:
    return {(m.start, m.end, m.entity.name) for document in corpus for m in document.mentions}


KEY = key_of({"tokens": WORDS, "sentences": [0, 8], "key": [[[0, 1], [8, 9]], [[2, 7], [10, 11]]]})

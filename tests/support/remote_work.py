"""What tests have done in another process, which must find it by name."""

from __future__ import annotations

import os
import time

import corefeval
from corefeval.evaluation import count
from corefeval.features.tagsets import TagSet
from corefeval.model import Corpus


def described(corpus: Corpus) -> list[object]:
    """What a corpus tells about all that it has."""
    documents = [
        (
            str(document.id),
            {name: document.column(name) for name in document.columns},
            corpus.tokens and corpus.tokens.sentence_starts(document.index),
            dict(document.metadata),
            [dict(known) for known in document.sentence_metadata],
            [
                (m.positions, m.head, m.entity.name, {k: str(v) for k, v in m.features.items()})
                for m in document.mentions
            ],
        )
        for document in corpus
    ]
    return [corpus.name, documents, list(corpus.relations), list(map(str, corpus.notices))]


def scores(corpus: Corpus) -> dict[str, float]:
    return {metric: score.f1 for metric, score in corefeval.score(corpus, corpus).items()}


def told(result) -> list[object]:
    """The scores of a result and of all of its slices, with what stands beside them."""
    slices = [told(part) for feature in result.slices for part in result.by(feature).values()]
    return [dict(result), result.signature, result.key_digest, result.notices, slices]


def counted(prepared) -> object:
    return told(count(prepared, ("conll", "lea", "lmuc"), by=("kind",)))


def kinds(prepared) -> list[str | None]:
    return prepared.response_features("kind").values()


def rows(result) -> list[object]:
    return result.rows()


def error_table(analysis) -> list[object]:
    return [analysis.as_dict(), analysis.mentions(3), analysis.kinds, analysis.links]


def alpha(agreement) -> tuple[object, ...]:
    return dict(agreement.alpha), dict(agreement.means), agreement.mentions.tolist()


def is_name(tagset: TagSet, tag: str) -> bool:
    return tagset.is_name(tag)


def add_documents(scorer: corefeval.Scorer, keys, responses) -> corefeval.Scorer:
    """A scorer that has seen some documents."""
    for key, response in zip(keys, responses, strict=True):
        scorer.update(key, response)
    return scorer


def wait_for(path: str) -> None:
    """Come back when a file is there, or after half a minute."""
    for _ in range(300):
        if os.path.exists(path):
            return
        time.sleep(0.1)

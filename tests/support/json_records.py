"""The same small document in every kind of JSON, and what the tests of these share."""

from __future__ import annotations

import json

import pytest

import corefeval

KINDS = ("e2e", "bookcoref", "preco", "crac-json", "maverick", "fastcoref")
IN_TOKENS = KINDS[:-1]
SENTENCES = [["Ada", "met", "the", "captain"], ["She", "smiled"]]
WORDS = [word for sentence in SENTENCES for word in sentence]
TEXT = "Ada met the captain\nShe smiled"
ADA, CAPTAIN, SHE = (0, 1), (2, 4), (4, 5)
INCLUSIVE = [[[0, 0], [4, 4]], [[2, 3]]]
RECORDS = {
    "e2e": {"doc_key": "s", "sentences": SENTENCES, "clusters": INCLUSIVE},
    "bookcoref": {
        "doc_id": "s",
        "sentences": SENTENCES,
        "clusters": INCLUSIVE,
        "characters": [{"name": "Ada", "cluster": INCLUSIVE[0]}],
    },
    "preco": {
        "id": "s",
        "sentences": SENTENCES,
        "mention_clusters": [[[0, 0, 1], [1, 0, 1]], [[0, 2, 4]]],
    },
    "crac-json": {"doc_id": "s", "tokens": WORDS, "clusters_token_offsets": INCLUSIVE},
    "maverick": {"doc_key": "s", "tokens": WORDS, "clusters_token_offsets": INCLUSIVE},
    "fastcoref": {"id": "s", "text": TEXT, "clusters": [[[0, 3], [20, 23]], [[8, 19]]]},
}


@pytest.fixture
def file(conll):
    """Write records (or text) to a file, and give its path."""

    def write(*records: object, name: str = "file.jsonl") -> str:
        lines = [r if isinstance(r, str | bytes) else json.dumps(r) for r in records]
        return conll(lines[0] if len(lines) == 1 else "\n".join(lines), name)

    return write


def changed(kind: str, *without: str, **changes: object) -> dict[str, object]:
    return {k: v for k, v in RECORDS[kind].items() if k not in without} | changes


def entities(corpus, document=0):
    return {frozenset(m.span for m in entity.mentions) for entity in corpus[document].entities}


def kinds_of(notices):
    return [notice.kind for notice in notices]


EXPECTED = {frozenset({ADA, SHE}), frozenset({CAPTAIN})}
WHOLE = json.dumps(RECORDS["e2e"])


def in_characters(text=TEXT, *spans, **more):
    return {"doc_key": "s", "text": text, "clusters": [list(map(list, spans))], **more}


def names(corpus):
    return [entity.name for entity in corpus[0].entities]


def written(corpus, kind, path):
    notices = corefeval.write(corpus, path, format=kind)
    return corefeval.read(path), notices

"""Answers as people wrote them who had not seen the reader: read, or said to be unclear."""

from __future__ import annotations

import pytest

import corefeval
from corefeval.formats.json.reader import corpus_from_records

WORDS = ["Ada", "met", "Bo", ".", "She", "liked", "him", ".", "Bo", "knew", "her", "."]
MEANT = [{"Ada", "She", "her"}, {"Bo", "him"}]


def read(answer: str) -> corefeval.Corpus:
    key = corpus_from_records({"doc_key": "d", "sentences": [WORDS], "clusters": []}, "key")
    assert key is not None
    return corefeval.read_answers({"d": answer}, key)


@pytest.mark.parametrize(
    "answer",
    [
        'Here are the entities:\n\n## 1. Ada\n- "Ada"\n- "She"\n- "her"\n\n'
        '## 2. Bo\n- "Bo"\n- "him"\n',
        '## Ada\n- **"Ada"** – her name\n- **"She"** – a pronoun\n- **"her"** – a pronoun\n\n'
        '## Bo\n- **"Bo"** – his name\n- **"him"** – a pronoun\n',
        "entities:\n  - id: 1\n    mentions:\n      - Ada  # S1\n      - She  # S2\n"
        "      - her  # S3\n"
        "  - id: 2\n    mentions:\n      - Bo  # S1\n      - him  # S2\n",
        'Sentence 2: "She" → "Ada"; "him" → "Bo"\nSentence 3: "her" → "Ada"\n',
        '[{"anapher": "She", "bezugswort": "Ada"}, {"anapher": "him", "bezugswort": "Bo"},'
        ' {"anapher": "her", "bezugswort": "Ada"}]',
        "Ada = E1 (new)\nBo = E2 (new)\nShe = E1\nhim = E2\nher = E1\n",
    ],
)
def test_what_is_meant_is_read(answer):
    corpus = read(answer)
    entities = [{WORDS[m.start] for m in entity.mentions} for entity in corpus["d"].entities]
    assert sorted(map(sorted, entities)) == sorted(map(sorted, MEANT))
    assert corpus.ledger.documents[0].state == "read"


def test_prose_with_quotes_is_unread_and_every_quote_has_a_row():
    answer = (
        'The text is about "Ada" and about "Bo". When it says "She", the woman is meant, and '
        'with "him" the man; at the end "her" comes back to the woman (as in "knew her").'
    )
    ledger = read(answer).ledger
    assert ledger.documents[0].state == "unread"
    assert {"Ada", "Bo", "She", "him", "her"} <= {entry.written for entry in ledger.entries}

"""Answers as people wrote them who had not seen the reader: read, or said to be unclear."""

from __future__ import annotations

import pytest

import corefeval
from corefeval.live import corpus_from_object

WORDS = ["Ada", "met", "Bo", ".", "She", "liked", "him", ".", "Bo", "knew", "her", "."]
MEANT = [{"Ada", "She", "her"}, {"Bo", "him"}]


def read(answer: str, text: str = "") -> corefeval.Corpus:
    words = text.split() or WORDS
    key = corpus_from_object({"doc_key": "d", "sentences": [words], "clusters": []}, "key")
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
        "| Sentence | A | B |\n|---|---|---|\n"
        "| 1 | Ada | Bo |\n| 2 | She | him |\n| 3 | her | - |\n",
        "| Entity | S1 | S2 | S3 |\n|---|---|---|---|\n"
        "| A | Ada | She | her |\n| B | Bo | him | - |\n",
        '**A**\n* Ada — "Ada met Bo"\n* She — "She liked him"\n* her — "Bo knew her"\n'
        '**B**\n* Bo — "Ada met Bo"\n* him — "She liked him"\n',
        '{"A": {"s1": ["Ada"], "s2": ["She"], "s3": ["her"]}, "B": {"s1": ["Bo"], "s2": ["him"]}}',
        '{"s1": [{"mention": "Ada", "entity": "A"}, {"mention": "Bo", "entity": "B"}], "s2": '
        '[{"mention": "She", "entity": "A"}, {"mention": "him", "entity": "B"}], "s3": '
        '[{"mention": "her", "entity": "A"}]}',
        "🔵[Ada] met 🟢[Bo]. 🔵[She] liked 🟢[him]. Bo knew 🔵[her].",
        "[Ada]🚢 met [Bo]👩. [She]🚢 liked [him]👩. Bo knew [her]🚢.",
        "Ada_i met Bo_j. She_i liked him_j. Bo knew her_i.",
        "Ada/B-A met/O Bo/B-B ./O She/B-A liked/O him/B-B ./O Bo/O knew/O her/B-A ./O",
        r"E_1 &= \{\text{Ada},\ \text{She},\ \text{her}\} \\"
        "\n"
        r"E_2 &= \{\text{Bo}_1,\ \text{him}\}",
        "A\n├── Ada\n├── She\n└── her\nB\n├── Bo\n└── him\n",
        "A ← Ada, She, her\nB ← Bo, him\n",
        '- "Ada", "She" and "her" refer to the same person.\n'
        '- "Bo" and "him" refer to the same person.\n',
        "Chain A (Ada): {Ada [1], She [2], her [3]}\nChain B (Bo): {Bo [1], him [2]}\n",
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


@pytest.mark.parametrize(
    "answer",
    [
        "Ada/1 met/0 Bo/2 ./0 She/1 liked/0 him/2 ./0 Bo/0 knew/0 her/1 ./0",
        "**Ada** met **Bo**. **She** liked **him**. Bo knew **her**.",
        "<<Ada = A>> met <<Bo = B>>. <<She = A>> liked <<him = B>>. Bo knew <<her = A>>.",
    ],
)
def test_copies_with_unknown_marks_are_unread(answer):
    ledger = read(answer).ledger
    assert ledger.documents[0].state == "unread"
    assert not ledger.placed
    assert ledger.unclear


def test_quotes_in_parentheses_behind_words_are_remarks():
    answer = (
        'The woman is "Ada" and then "She" (both "She liked" and elsewhere), and the man is taken '
        'up by "him" ("liked him", "knew her").'
    )
    corpus = read(answer)
    assert corpus.ledger.documents[0].state == "unread"
    assert not corpus.ledger.placed


def test_antecedents_behind_noun_phrases_take_their_articles_and_names():
    text = "Ada saw Captain Bo Lund . The old dog knew the man and „ He “ smiled ."
    answer = (
        "Ada saw Captain Bo Lund . The old dog knew the man (Captain Bo Lund) and "
        "„He (the man)“ smiled ."
    )
    entries = read(answer, text).ledger.entries
    assert {entry.written.lower() for entry in entries} == {"the man", "he", "captain bo lund"}
    assert len({entry.entity for entry in entries}) == 1


def test_a_text_with_other_words_for_pronouns_is_unread():
    text = (
        "Anna : Good morning . Has he sent it to you , Mark ? "
        "Mark : No , he told me that he would finish it today . Anna : I need it before noon ."
    )
    answer = (
        "Anna: Good morning. Has Peter sent the report to Mark, Mark?\n"
        "Mark: No, Peter told Mark that Peter would finish the report today.\n"
        "Anna: Anna needs the report before noon.\n"
    )
    ledger = read(answer, text).ledger
    assert ledger.documents[0].state in ("unread", "empty")
    assert not ledger.placed


def test_lists_of_long_mentions_are_no_copies():
    text = "The old captain of the ship met Ada . She gave the man from Cork his hat ."
    answer = "1. The old captain of the ship / the man from Cork / his\n2. Ada / She\n"
    ledger = read(answer, text).ledger
    assert ledger.documents[0].state == "read"
    assert ledger.placed == 5


@pytest.mark.parametrize(
    "answer",
    [
        "[Ada](#1) met [Bo]. [She](#1) liked [him]. Bo knew [her](#1).",
        "[Ada](#1) met [Bo](#2\n[She](#1) liked him.\nBo knew her.\n",
        '[["Ada", "She"]]\n\n<a>Ada</a> met <b>Bo</b>. She liked <b>him</b>. Bo knew <a>her</a>.\n',
        "| Entity | Mentions |\n|---|---|\n| A | Ada, She |\n\nBo → him\nher → Bo\n",
    ],
)
def test_what_another_form_has_is_unclear_and_never_left_out_in_silence(answer):
    ledger = read(answer).ledger
    assert ledger.placed
    assert ledger.unclear


def test_prose_before_the_quotes_of_an_item_says_whose_they_are():
    answer = (
        '1. Ada is referred to as "Ada", "She", and "her".\n'
        '2. The man, as we learn, is referred to as "Bo" and "him".\n'
    )
    corpus = read(answer)
    assert corpus.ledger.documents[0].state == "read"
    assert corpus.ledger.placed == 5

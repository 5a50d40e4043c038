"""Answers that are exact: what prompts ask for comes back as it was meant, whatever it says."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corefeval
from answer_keys import key_of
from corefeval.formats.answers.prompts import STYLES

# Words that look like the marks of some style, or like nothing at all.
SEEN = r"""
[1 ](#2) [a](#1) <m> </m> |[e1 |[e1] e1] x|[e1],y | || \ \\ \[ [ ] ( ) { } < > & &amp; &lt; &nbsp;
** * ` ``` ```json # ## // -> {"a": [] null \n \u0041 e1],e2] <think> </think> <br> <p> </answer>
</new> cannot the she
"""
UNSEEN = ["\u200b", "\ufeff", "\u00a0", "\u3000", "\u2028", "\u0301", "\x1f", "10 000"]
MARKS = [*SEEN.split(), *UNSEEN]


def entities_of(corpus):
    return {
        str(document.id): {frozenset(m.span for m in entity) for entity in document.entities}
        for document in corpus
    }


@st.composite
def keys(draw):
    words = draw(st.lists(st.sampled_from(MARKS), min_size=1, max_size=12))
    size = len(words)
    starts = {0, *draw(st.lists(st.integers(0, size - 1), max_size=4))}
    key = [[] for _ in range(4)]
    for start, length, entity in draw(
        st.lists(
            st.tuples(st.integers(0, size - 1), st.integers(1, 4), st.integers(0, 3)), max_size=8
        )
    ):
        key[entity].append((start, min(start + length, size)))
    return key_of({"tokens": words, "sentences": sorted(starts), "key": key})


@pytest.mark.parametrize("style", STYLES)
@given(key=keys())
def test_ideal_answers_are_read_whatever_the_words_are(style, key):
    prompts = corefeval.write_prompts(key, style)
    carried = {frozenset(map(tuple, cluster)) for cluster in prompts.carried["d"]}
    for format in (f"llm-{style}", "llm"):
        corpus = corefeval.read_answers(prompts.ideal, key, format=format)
        assert entities_of(corpus) == {"d": carried}
        assert corpus.ledger.written == corpus.ledger.placed
        assert corpus.ledger.documents[0].state == ("read" if carried else "empty")


SAME = {
    "tokens": ["She", "left", ".", "Yes", ".", "She", "left", ".", "Yes", "."],
    "sentences": [0, 3, 5, 8],
}
TALE = {
    "tokens": ["Ada", "saw", "the", "captain", ".", "He", "greeted", "her", "."],
    "sentences": [0, 5],
}


@pytest.mark.parametrize("pieces", ["apart", "joined"])
@pytest.mark.parametrize("style", STYLES)
def test_pieces_with_equal_sentences_are_read_in_order(style, pieces):
    key = key_of({**SAME, "key": [[(0, 1), (5, 6)], [(8, 9)]]})
    prompts = corefeval.write_prompts(key, style, max_tokens=5, pieces=pieces)
    corpus = corefeval.read_answers(prompts.ideal, key, pieces=pieces)
    carried = {frozenset(map(tuple, cluster)) for cluster in prompts.carried["d"]}
    assert len(prompts.ideal) == 2 and entities_of(corpus) == {"d": carried}


@pytest.mark.parametrize("style", STYLES)
def test_a_piece_without_an_answer_is_noted(style):
    words = ["Ada", "met", "Bo", ".", "He", "left", ".", "She", "waved", "."]
    key = key_of(
        {"tokens": words, "sentences": [0, 4, 7], "key": [[(0, 1), (7, 8)], [(2, 3), (4, 5)]]}
    )
    answers = dict(corefeval.write_prompts(key, style, max_tokens=4, pieces="joined").ideal)
    answers["d#1/3"] = "I am sorry, I cannot do that."
    del answers["d#2/3"]
    corpus = corefeval.read_answers(answers, key, pieces="joined")
    assert entities_of(corpus) == {"d": {frozenset({(7, 8)})}}
    notices = [notice for notice in corpus.notices if notice.kind == "llm-part"]
    assert [notice.items for notice in notices] == [("d#1/3", "d#2/3")]


def test_where_rows_of_exact_answers_stand():
    key = key_of({"tokens": ["Ada", "saw", "her", "."], "key": [[(0, 1), (2, 3)]]})
    for style, ideal in (("xml", '<m id="1">her'), ("json", '{"text": "her"'), ("crac", "|[e1] .")):
        answer = "```\n" + corefeval.write_prompts(key, style).ideal["d"] + "\n```"
        rows = corefeval.read_answers({"d": answer}, key).ledger.rows()
        assert [row["state"] for row in rows] == ["placed"] * 2
        assert answer[rows[1]["where"] :].startswith(ideal)


def test_a_mention_of_two_entities_is_no_correction():
    key = key_of(TALE)
    corpus = corefeval.read_answers({"d": '[["Ada","her"],["the captain","He","her"]]'}, key)
    assert {(0, 1)} < {m.span for m in corpus["d"].mentions}
    assert corpus.ledger.counts["placed"] >= 4


def spans_of(answer, key, **options):
    corpus = corefeval.read_answers({"d": answer}, key, **options)
    return sorted(sorted(m.span for m in entity) for entity in corpus["d"].entities)


def test_json_that_is_not_quite_what_was_asked_for_is_not_taken_for_exact():
    key = key_of(TALE)
    ada, her, he = (
        f'{{"text": "{t}", "sentence": {n}}}' for t, n in (("Ada", 1), ("her", 2), ("He", 2))
    )
    meant = [[(0, 1), (7, 8)], [(5, 6)]]
    lists = f"[{ada}, {her}]", f"[{he}]"
    assert spans_of(f"[{', '.join(lists)}]", key) == meant  # without ids
    assert spans_of("\n".join(lists), key) == meant
    entities = [f'{{"id": 1, "mentions": {mentions}}}' for mentions in lists]
    assert spans_of(f"[{', '.join(entities)}]", key) == meant  # with one id for all


def test_places_that_are_counted_from_0_are_not_the_last_ones():
    key = key_of({"tokens": ["he", "saw", "him", "and", "he", "left", "and", "he", "ran", "."]})
    answer = [{"id": n, "mentions": [{"text": "he", "sentence": 1, "nth": n}]} for n in (0, 1)]
    assert [(7, 8)] not in spans_of(json.dumps(answer), key)


def test_headings_of_prompts_hide_nothing():
    key = key_of({**TALE, "key": [[(0, 1), (7, 8)], [(2, 4), (5, 6)]]})
    more = "\n\nText:\nEve ran .\n\nAnswer:\n[Eve](#1) ran ."
    ideal = corefeval.write_prompts(key, "markdown").ideal["d"]
    for answer in (ideal + more, f"Here it is.\n\nText:\n{ideal}\n\nAnswer: 1 is Ada."):
        assert spans_of(answer, key) == [[(0, 1), (7, 8)], [(2, 4), (5, 6)]]


def test_a_word_of_the_text_is_no_copy_of_it():
    key = key_of(TALE)
    state = corefeval.read_answers({"d": "Ada"}, key).ledger.documents[0].state
    assert state == "unread"


@pytest.mark.parametrize("lead", ["", "Text:\n"])
def test_a_copy_without_tags_before_the_one_with_tags_is_passed_over(lead):
    key = key_of({**TALE, "key": [[(0, 1), (7, 8)], [(2, 4), (5, 6)]]})
    text = "Ada saw the captain .\nHe greeted her ."
    for style in ("markdown", "xml", "crac"):
        answer = f"{lead}{text}\n\nAnswer:\n{corefeval.write_prompts(key, style).ideal['d']}"
        assert spans_of(answer, key) == [[(0, 1), (7, 8)], [(2, 4), (5, 6)]]


def test_a_copy_with_tags_at_its_end_is_a_whole_copy():
    words = [
        "Ada",
        "saw",
        "the",
        "captain",
        ".",
        "He",
        "greeted",
        "her",
        ".",
        "Then",
        "she",
        "left",
        ".",
    ]
    key = key_of({"tokens": words, "sentences": [0, 5, 9]})
    answer = "Ada saw the captain.\nHe greeted her.\nThen [she](#1) left."
    coverage = corefeval.read_answers({"d": answer}, key).ledger.documents[0]
    assert (coverage.copied, coverage.missing) == (len(words), 0)

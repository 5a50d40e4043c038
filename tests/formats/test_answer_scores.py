"""Answers of language models: strings with several places, and the score with its bounds."""

from __future__ import annotations

import json

import pytest

import corefeval
from answer_keys import KEY, key_of, placed
from corefeval.diagnostics import InputError, UsageError

# ------------------------------------------------------------------ strings with several places


def test_occurrences():
    words = [
        "He",
        "said",
        "that",
        "he",
        "knew",
        "what",
        "he",
        "wanted",
        ".",
        "Ada",
        "saw",
        "him",
        ".",
    ]
    key = key_of({"tokens": words})
    answer = json.dumps([["He", "he"], ["Ada"]])
    read = {
        rule: placed(corefeval.read_answers({"d": answer}, key, occurrences=rule))
        for rule in ("in-order", "first", "all")
    }
    assert read["in-order"] == {(0, 1, "0"), (3, 4, "0"), (9, 10, "1")}
    assert read["first"] == {(0, 1, "0"), (9, 10, "1")}
    assert read["all"] == {(0, 1, "0"), (3, 4, "0"), (6, 7, "0"), (9, 10, "1")}


def test_the_share_of_ambiguous_strings_is_told():
    key = key_of(
        {
            "tokens": ["he", "and", "he", "and", "he", ".", "Ada", "left", "."],
            "key": [[[2, 3], [6, 7]]],
        }
    )
    result = corefeval.score(key, {"d": '[["he", "Ada"]]'}, response_format="llm")
    assert "1 string of 2 (50%)" in str(
        next(n for n in result.notices if n.kind == "llm-ambiguous")
    )


def test_a_trimmed_string_within_its_own_cluster_is_lost():
    words = ["this", "unprecedented", "pandemic", "began"]
    corpus = corefeval.read_answers(
        {"d": '[["this unprecedented pandemic", "the pandemic"]]'}, key_of({"tokens": words})
    )
    assert placed(corpus) == {(0, 3, "0")}
    assert corpus.ledger.lost == 1


# ------------------------------------------------------------------ the score and its bounds


def scores(answer: str, **options):
    return corefeval.score(KEY, {"d": answer}, response_format="llm", metrics="b3", **options)


def test_lost_mentions_are_left_out_or_match_nothing():
    answer = (
        "[e1 Ada] met [e2 the captain of the Argo] . [e1 She] greeted [e2 him] , and he bowed ."
    )
    invented = answer + " [e1 The crew] cheered ."
    assert scores(answer)["b3"].precision == scores(invented)["b3"].precision == 1
    strict = scores(invented, lost="strict")
    # An entity of two right mentions and one that matches nothing: (2 * 2/3 + 2) / 5.
    assert strict["b3"].precision == pytest.approx((4 / 3 + 2) / 5)
    assert strict["b3"].recall == 1
    assert "lost:strict" in strict.signature
    assert (
        corefeval.score(
            KEY, {"d": invented}, response_format="llm", metrics="b3", protocol=strict.signature
        )["b3"]
        == strict["b3"]
    )
    for match in ("overlap(0.1)", "overlap(1)"):
        other = scores(invented, lost="strict", match=match)
        assert other["b3"].precision == pytest.approx((4 / 3 + 2) / 5)


def test_lost_mentions_of_nobody_are_not_of_one_entity():
    corpus = corefeval.read_answers({"d": "[Ada](#1) met [the captain . She saw [him , [he"}, KEY)
    assert corpus.ledger.lost == 3
    result = corefeval.score(KEY, corpus, metrics="muc", lost="strict")
    assert result.per_document_counts("muc")["precision_denominator"].sum() == 0


def test_keys_without_tokens_have_no_score_on_what_was_reached(tmp_path):
    (tmp_path / "d.txt").write_text("Ada met Bo. She liked him. Bo knew her.")
    spans = ((0, 3, "Ada"), (12, 15, "She"), (35, 38, "her"))
    lines = [f"T{n}\tP {start} {end}\t{words}\n" for n, (start, end, words) in enumerate(spans)]
    (tmp_path / "d.ann").write_text("".join(lines) + "*\tCoreference T0 T1 T2\n")
    key = corefeval.read(tmp_path / "d.ann")
    answers = {str(key[0].id): "[Ada](#1) met Bo. [She](#1) liked"}
    result = corefeval.score(key, answers, response_format="llm")
    assert result.answers["documents"][0]["reached"] < result.answers["documents"][0]["tokens"]
    assert "reached" not in result.answers["conll"]


def test_the_score_on_what_was_reached():
    result = scores("[e1 Ada] met [e2 the captain of the Argo] .")
    conll = result.answers["conll"]
    assert conll["reached"] == pytest.approx(2 / 3)  # MUC has no links there
    assert result.answers["documents"][0]["reached"] == 8
    assert any("on the text that the answers cover" in str(notice) for notice in result.notices)


def test_a_refusal_is_an_empty_document_with_a_notice():
    result = corefeval.score(KEY, {"d": "I'm sorry, but I can't."}, response_format="llm")
    assert result["b3"].recall == 0
    assert any(notice.kind == "llm-refusal" for notice in result.notices)


def test_heads_alone_are_scored_by_heads():
    answer = "Ada met the [e2 captain] of the Argo . [e1 She] greeted [e2 him] , and he bowed ."
    assert scores(answer)["b3"].recall < 1
    corpus = corefeval.read_answers({"d": answer}, KEY)
    assert placed(corpus) == {(3, 4, "2"), (8, 9, "1"), (10, 11, "2")}


def test_what_is_no_answer_is_refused():
    with pytest.raises(UsageError, match="format is one of"):
        corefeval.read_answers({"d": "x"}, KEY, format="llm-none")
    with pytest.raises(UsageError, match="a path, or a mapping"):
        corefeval.read_answers(7, KEY)
    with pytest.raises(UsageError, match="a corpus"):
        corefeval.read_answers({"d": "x"}, None)
    with pytest.raises(InputError, match="the key has no words"):
        corefeval.score([["a", "b"]], {"": "[e1 a]"}, response_format="llm")
    with pytest.raises(UsageError, match="read against"):
        corefeval.read(corefeval.example("tagged"))
    with pytest.raises(UsageError, match="can only be read"):
        corefeval.write(KEY, "-", format="llm-markdown")

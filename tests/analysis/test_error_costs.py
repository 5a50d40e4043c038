"""Error analysis: links, and who is to blame."""

from __future__ import annotations

import pytest
from hypothesis import given

import corefeval
from corefeval.analysis.errors import analyse
from error_strategies import by_position, labelled, sides
from strategies import corpora

DIVISIBLE = "mentions, muc, b3, lea, lea(importance=one), links, blanc, lb3, p-link, immediate, "
DIVISIBLE += "inferred, lmuc"


# Links


def test_links_by_pair_of_kinds():
    kinds = {"kind": {"Ada": "name", "she": "pronoun", "the poet": "nominal", "it": "pronoun",
                      "Bob": "name", "he": "pronoun"}}  # fmt: skip
    key = [["Ada", "she", "the poet"], ["Bob", "he"], ["it"]]
    response = [["Ada", "she", "it"], ["the poet", "he"], ["Bob"]]
    analysis = analyse(key, response, features=kinds)
    found = {(row.anaphor, row.antecedent): row for row in analysis.links}
    assert found["pronoun", "name"].correct == 1
    assert found["pronoun", "nominal"].wrong == 1  # he → the poet
    assert found["nominal", "pronoun"].missed == 1
    assert found["pronoun", "pronoun"].spurious == 1  # it → she
    assert len(found) == 4
    assert analysis.antecedents["immediate"]["pronoun"] == {"tp": 1, "wl": 1, "fn": 0, "fp": 1}
    assert analysis.antecedents["immediate"]["nominal"]["fn"] == 1


@given(corpora)
def test_links_add_up(documents):
    analysis = labelled(documents, metrics="immediate, inferred")
    key_links = sum(len(k) - 1 for key, _ in documents for k in key)
    response_links = sum(len(r) - 1 for _, response in documents for r in response)
    assert sum(row.correct + row.wrong + row.missed for row in analysis.links) == key_links
    assert sum(row.response for row in analysis.links) == response_links
    for metric in ("immediate", "inferred"):
        expected = analysis.result[metric].counts
        for name in expected:
            found = sum(one[name] for one in analysis.antecedents[metric].values())
            assert found == expected[name]


def test_links_without_kinds():
    analysis = analyse([["a", "b"]], [["a", "b"]])
    assert [(row.anaphor, row.correct) for row in analysis.links] == [("mention", 1)]
    assert any("links are not broken down by kind" in str(notice) for notice in analysis.notices)


# Who is to blame


def check_that_shares_add_up(analysis):
    for name in analysis.metrics:
        score = analysis.result[name]
        shares = analysis.attribution(name)
        rates = {
            "recall": (shares.key_mentions, shares.key_entities),
            "precision": (shares.response_mentions, shares.response_entities),
        }
        for rate, (by_mention, by_entity) in rates.items():
            value = getattr(score, rate)
            if not counted(score, rate):
                assert by_entity.sum() == 0
                continue
            assert by_entity.sum() == pytest.approx(1 - value, abs=1e-9)
            assert (by_entity >= -1e-9).all()
            assert (by_mention is None) == (name == "lmuc")
            if by_mention is not None:
                assert by_mention.sum() == pytest.approx(1 - value, abs=1e-9)


def counted(score, rate) -> bool:
    """Whether a side has anything to count; BLANC in each half that the key has."""
    side = {"recall": "key", "precision": "response"}[rate]
    if score.metric == "blanc":
        halves = [k for k in ("coreference", "non_coreference") if score.counts[f"{k}_key"]]
        return bool(halves) and all(score.counts[f"{kind}_{side}"] for kind in halves)
    if "tp" in score.counts:
        error = {"recall": "fn", "precision": "fp"}[rate]
        return bool(score.counts["tp"] + score.counts["wl"] + score.counts[error])
    return bool(score.counts[f"{rate}_denominator"])


@given(sides())
def test_shares_add_up_to_the_loss(both):
    analysis = analyse(*both, metrics=DIVISIBLE, features={"kind": by_position})
    check_that_shares_add_up_with_halves(analysis)


@given(corpora)
def test_shares_of_labels_add_up_to_the_loss(documents):
    check_that_shares_add_up_with_halves(labelled(documents, metrics=DIVISIBLE))


def check_that_shares_add_up_with_halves(analysis):
    """A half of BLANC that one side lacks is a loss that nobody has: leave those cases out."""
    blanc = analysis.result["blanc"]
    if not (counted(blanc, "recall") and counted(blanc, "precision")):
        from dataclasses import replace

        tables = {k: v for k, v in analysis.result.tables.items() if k != "blanc"}
        analysis = replace(analysis, result=replace(analysis.result, tables=tables))
    check_that_shares_add_up(analysis)


def test_shares_by_hand():
    analysis = analyse([["a", "b", "c"]], [["a", "b"], ["c", "x"]], metrics="b3")
    shares = analysis.attribution("b3")
    assert shares.key_mentions == pytest.approx([1 / 9, 1 / 9, 2 / 9])
    assert shares.response_mentions == pytest.approx([0, 0, 1 / 8, 1 / 4])
    dearest = analysis.mentions(2)
    assert [one.mention.text for one in dearest] == ["c", "x"]
    assert dearest[0].cost == pytest.approx((2 / 9 + 1 / 8) / 2)
    assert dearest[1].errors == ("extra mention",)
    first, second = analysis.entities(2, metric="b3")
    assert (first.side, first.size, first.parts, first.alone) == ("key", 3, 2, 0)
    assert (second.side, second.mention.text, second.alone) == ("response", "c", 1)


def test_ceaf_is_not_shared_out():
    analysis = analyse([["a", "b"]], [["a"], ["b"]], metrics="ceafe")
    with pytest.raises(corefeval.UndefinedMetricError, match="loss of ceafe cannot be divided"):
        analysis.attribution("ceafe")
    with pytest.raises(corefeval.UndefinedMetricError, match="none of ceafe can be divided"):
        analysis.mentions()
    assert analysis.as_dict()["mentions"] == []

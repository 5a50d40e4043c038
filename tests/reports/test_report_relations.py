"""Sets and bridging in the report: what the page is told of them."""

from __future__ import annotations

import pytest

import corefeval
from corefeval.model import NON_REFERRING, CorpusBuilder

pytest.importorskip("vl_convert")
WORDS = ["Ann", "a", "house", "Bob", "the", "door", "they", "it"]


def made(elements, antecedent, *, first_refers=True):
    builder = CorpusBuilder(name="x")
    for name in ("empty", "house"):
        document = builder.document(
            name, words=["Ann", "a", "house", "Bob", "the", "door", "they", "it"]
        )
        if name == "empty":
            continue
        layer = 0 if first_refers else NON_REFERRING
        rows = [
            document.mention("1", 0, 1, layer=layer),
            document.mention("2", 1, 3),
            document.mention("3", 3, 4),
            document.mention("4", 4, 6),
            document.mention("5", 6, 7),
            document.mention("2", 7, 8),
        ]
        document.relation("split-antecedent", "5", elements)
        document.relation("bridging", rows[3], [rows[antecedent]], "poss")
    return builder.build()


def test_the_page_knows_sets_and_bridging():
    key, response = made(["1", "3"], 1), made(["1", "2"], 5)
    page = corefeval.report(key, {"mine": response}, metrics="conll, bridging").payload
    empty, house = page["texts"][0]
    assert "sets" not in empty
    assert "bridging" not in empty
    assert (house["sets"], house["bridging"]) == ([[4, [0, 2]]], [[3, 1, "poss"]])
    document = page["systems"][0]["documents"][1]
    assert document["sets"] == [[4, [0, 1]]]
    assert document["bridging"] == [[3, 5, "poss", True]]  # another mention of the same entity


def test_what_is_not_scored_is_not_shown():
    """An element that refers to nothing is none of the page's entities."""
    key = made([("1", NON_REFERRING), "3"], 0, first_refers=False)
    page = corefeval.report(key, {"mine": key}, metrics="bridging").payload
    house = page["texts"][0][1]
    [[whole, elements]] = house["sets"]
    assert (house["names"][whole], [house["names"][one] for one in elements]) == ("5", ["3"])
    assert "bridging" not in house


def test_fixing_errors_of_coreference_earns_no_points_beyond_it():
    analysis = corefeval.analyse(made(["1"], 1), made(["1"], 2), metrics="b3, bridging")
    assert all(row.alone["bridging"] == 0 for row in analysis.kinds)
    assert analysis.shared_out == ("b3",)
    assert "no-points" in {notice.kind for notice in analysis.notices}

"""Comparisons where scores are equal, documents empty, or few documents differ."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import corefeval
from corefeval.model import CorpusBuilder
from corefeval.results import CountTable, Result
from corefeval.stats import compare, differences, documents_needed

NAMES = ("recall_numerator", "recall_denominator", "precision_numerator", "precision_denominator")


def made(counts, name="") -> Result:
    """A result from (numerator, denominator) of recall; precision is the same."""
    values = np.array([(*pair, *pair) for pair in counts], dtype=float)
    ids = tuple(map(str, range(len(values))))
    return Result({"muc": CountTable("ratio", NAMES, values)}, ids, response=name)


def test_ranks_do_not_depend_on_the_order_of_equal_systems():
    systems = {
        "top": made([(10, 10)] * 4),
        "spread": made([(0, 10), (6, 10), (10, 10), (10, 10)]),
        "steady": made([(6, 10), (6, 10), (7, 10), (7, 10)]),
    }
    for order in (["top", "spread", "steady"], ["top", "steady", "spread"]):
        compared = compare(
            {name: systems[name] for name in order}, test="exact", correction="none", alpha=0.13
        )
        ranks = compared.ranks("muc")
        assert ranks["spread"] == ranks["steady"]


def test_effect_sizes_are_those_of_the_pair():
    """A third system may have something to count where the two have nothing."""
    first, second = made([(5, 5), (3, 5), (0, 0)]), made([(4, 5), (1, 5), (0, 0)])
    third = made([(1, 5), (1, 5), (1, 5)])
    alone = compare({"a": first, "b": second}).difference("muc", "a", "b").effect
    among = compare({"a": first, "b": second, "c": third}).difference("muc", "a", "b").effect
    assert alone == among


def test_equal_documents_are_ties_in_large_corpora():
    """Counts with fractions in a corpus whose totals are large."""
    third = float(Fraction(1, 3))
    big = [(50 + third, 100)] * 400
    first = made([*big, (third, 1.0), (2 * third, 2.0)])
    second = made([*[(n - 1, d) for n, d in big], (2 * third, 2.0), (third, 1.0)])
    assert differences(first, second, metric="muc").outcomes == {"win": 400, "loss": 0, "tie": 2}


def test_power_needs_documents_that_differ():
    """Of 60 documents two differ: fewer than six that differ can never be significant."""
    same = [(5, 10)] * 58
    first, second = made([*same, (9, 10), (9, 10)]), made([*same, (1, 10), (1, 10)])
    found = documents_needed(first, second, metric="muc", simulations=300)
    assert found.needed > 200
    corrected = documents_needed(first, second, metric="muc", simulations=300, tests=10)
    assert corrected.needed > found.needed
    assert "after correction for 10 pairs" in str(corrected)


def test_slices_that_only_one_system_has(tmp_path):
    key = {str(n): [["a", "b", "c"], ["d", "e"]] for n in range(4)}
    one = {name: [["a", "b"], ["d", "e"]] for name in key}
    other = {name: [["a", "b", "c", "d", "e"]] for name in key}
    results = [
        corefeval.score(key, side, metrics="muc", by="size(1,2,3,4,5)") for side in (one, other)
    ]
    found = differences(*results, metric="muc")
    assert {part.value for part in found.slices} <= {"2", "3"}


def test_unknown_metrics_of_a_comparison():
    compared = compare({"a": made([(1, 2)] * 3), "b": made([(2, 2)] * 3)})
    with pytest.raises(corefeval.UsageError, match="not compared by 'nope'"):
        compared.ranks("nope")


def test_segments_have_the_genre_of_their_document(tmp_path):
    lines = [f"nw/x 0 0 he ({n % 3})\n" + "\n" * (n % 4 == 3) for n in range(400)]
    path = tmp_path / "novel.conll"
    path.write_text("#begin document (nw/x); part 000\n" + "".join(lines) + "#end document\n")
    result = corefeval.score(path, path, metrics="b3", by="genre", ci=0.9, samples=20)
    assert result.by("genre")["nw"]["b3"].segments.intervals
    assert not [notice for notice in result.notices if "no interval" in str(notice)]


def test_a_response_that_needs_no_heads_can_be_compared():
    """Words alone have no heads to find; what told those of others is no other way to score."""
    words = ["Ada", "met", "the", "dog", "it", "barked"]
    corpora = {}
    for name, spans in (("key", [(0, 1), (4, 5)]), ("short", [(0, 1), (4, 5)]), ("long", [(2, 4)])):
        builder = CorpusBuilder(name=name)
        for number in range(2):
            document = builder.document(
                f"d{number}", words=words, columns={"tag": ["NNP", "VBD", "DT", "NN", "PRP", "VBD"]}
            )
            for start, end in spans:
                document.mention("e", start, end)
        corpora[name] = builder.build()
    key = corpora.pop("key")
    compared = corefeval.compare(key, corpora, metrics="mentions", match="head", trials=20)
    assert [one.protocol.heads for one in compared.results.values()] == ["none", "tags"]

"""Results behave as Python's own values do: equal, in dictionaries, added up."""

from __future__ import annotations

import pickle
import re

import pytest

import corefeval
from corefeval.display import are_same

KEY, EAGER, CAUTIOUS = (corefeval.example(name) for name in ("key", "eager", "cautious"))
OTHERS = {"eager": EAGER, "cautious": CAUTIOUS}
MAKERS = {
    "Result": lambda one: corefeval.score(KEY, one, by="kind, genre", ci=0.9, samples=50),
    "Comparison": lambda one: corefeval.compare(KEY, {"a": one, "b": CAUTIOUS}, by="genre"),
    "Agreement": lambda one: corefeval.agree([KEY, one], metrics="muc"),
    "ErrorAnalysis": lambda one: corefeval.analyse(KEY, one, metrics="b3"),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_equal_is_what_was_made_alike(kind):
    make = MAKERS[kind]
    one = make(EAGER)
    assert type(one).__name__ == kind
    assert one == make(EAGER)
    assert one == pickle.loads(pickle.dumps(one))
    assert one != make(KEY)
    assert one != kind
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


def test_analyses_of_other_mentions_are_not_equal():
    """The same counts in the same places, of another wrong mention."""
    one, other = (corefeval.analyse([["a", "b"]], [["a", "b", x]], metrics="b3") for x in "xy")
    assert one.result.tables == other.result.tables
    assert one != other


def test_no_number_is_like_no_number():
    nan = float("nan")
    assert are_same({"a": [nan, (1.0, nan)]}, {"a": [float("nan"), (1.0, float("nan"))]})
    assert not are_same({"a": nan}, {"a": 1.0})
    assert not are_same({"a": 1}, {"b": 1})


def test_a_result_is_a_mapping():
    result = corefeval.score(KEY, EAGER, metrics="muc, conll")
    assert dict(result) == {metric: result[metric] for metric in result.metrics}
    assert [name for name, _ in result.items()] == list(result) == list(result.keys())
    assert [score.f1 for score in result.values()] == [result[name].f1 for name in result]
    assert len(result.to_frame()) == len(result)


def test_a_sum_starts_from_nothing():
    parts = [corefeval.score(KEY, one, metrics="muc") for one in (EAGER, CAUTIOUS)]
    total: corefeval.Result = sum(parts[1:], start=parts[0])
    assert sum(parts) == total == corefeval.Result.total(parts)


def test_plain_dictionaries_for_loggers():
    asked = "muc, conll, b3(twinless=sys), lea(importance=one), anchors"
    result = corefeval.score(KEY, EAGER, metrics=asked, by="kind, size, genre")
    nested, flat = result.to_dict(), result.to_dict(flat=True)
    assert nested["muc"] == dict(result["muc"].rates)
    assert nested["kind"]["pronoun"]["muc"]["f1"] == result.by("kind")["pronoun"]["muc"].f1
    assert flat["muc/f1"] == result["muc"].f1
    assert flat["b3-twinless-sys/recall"] == result["b3(twinless=sys)"].recall
    assert flat["kind/pronoun/muc/f1"] == result.by("kind")["pronoun"]["muc"].f1
    assert flat["size/2-10/muc/f1"] == result.by("size")["2–10"]["muc"].f1
    assert {type(value) for value in flat.values()} == {float}
    assert all(re.fullmatch(r"[\w/. :-]+", name) for name in flat)  # what MLflow allows


def test_slices_of_nothing_are_not_logged():
    """A rate of nothing is no 0 that a curve should fall to."""
    kinds = {"a": "name", "b": "name", "c": "pronoun"}
    key, response = [["a", "b"]], [["a", "b"], ["c"]]
    result = corefeval.score(key, response, metrics="muc", by="kind", features={"kind": kinds})
    assert set(result.to_dict()["kind"]["pronoun"]) == set()
    assert not any(name.startswith("kind/pronoun") for name in result.to_dict(flat=True))

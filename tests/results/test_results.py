"""Results: frozen, additive, found by any spelling, with a signature."""

from __future__ import annotations

import dataclasses
import pickle
from typing import get_args

import pytest

import corefeval
from corefeval import Metric, UndefinedRateError, UsageError
from corefeval.metrics import REGISTRY, parse_metrics, presets
from corefeval.protocol.declarations import Aggregate

KEY = {"one": [["a", "b", "c"], ["d"]], "two": [["e", "f"]]}
RESPONSE = {"one": [["a", "b"], ["c", "d"]], "two": [["e", "f"]]}


@pytest.fixture
def result():
    return corefeval.score(KEY, RESPONSE)


def test_the_standard_metrics_in_order(result):
    assert result.metrics == (
        "mentions", "muc", "b3", "ceafm", "ceafe", "blanc", "lea", "conll",
    )  # fmt: skip


def test_worked_by_hand(result):
    """MUC: 1 of 2 links in `one`, 1 of 1 in `two`; the response has 1 + 1 + 1 links."""
    muc = result["muc"]
    assert dict(muc.counts) == {
        "recall_numerator": 2.0,
        "recall_denominator": 3.0,
        "precision_numerator": 2.0,
        "precision_denominator": 3.0,
    }
    assert muc.recall == muc.precision == muc.f1 == pytest.approx(2 / 3)
    assert result.document("two")["muc"].f1 == 1.0
    assert result.documents[0].id == "one"


def test_the_signature_is_pinned(result):
    """Published numbers quote it: change it only with a new version and a changelog entry."""
    version = corefeval.__version__
    settings = f"match:exact|singletons:keep|duplicates:first|aggregate:micro|version:{version}"
    assert result.signature == settings
    assert result["bcub"].signature == f"b3|{settings}"
    chosen = corefeval.score(
        KEY, RESPONSE, singletons="drop", duplicates="last", aggregate="macro", documents="o*"
    )
    assert chosen.signature == (
        "match:exact|singletons:drop|duplicates:last|documents:o*|aggregate:macro"
        f"|version:{version}"
    )


def test_the_tag_set_is_in_the_signature():
    """Kinds follow from tags: what tags were taken for is part of what was counted."""
    key, response = corefeval.example("key"), corefeval.example("eager")
    plain = corefeval.score(key, response, metrics="muc")
    assert "tagset" not in plain.settings  # nobody looked at the tags
    for options in ({"metrics": "lmuc"}, {"metrics": "muc", "by": "kind"}):
        result = corefeval.score(key, response, **options)
        assert result.settings["tagset"] == "penn" and "|tagset:penn|" in result.signature
    kinds = corefeval.score(key, response, metrics="muc", by="kind").by("kind")
    assert all("|tagset:penn|" in part.signature for part in kinds.values())
    named = corefeval.score(key, response, metrics="lmuc", tagset="penn")
    assert "|tagset:penn|" in named.signature
    assert corefeval.score(key, response, metrics="lmuc", protocol=named.signature) == named
    with pytest.raises(corefeval.CorefEvalError, match="upos"):
        other = named.signature.replace("tagset:penn", "tagset:upos")
        corefeval.score(key, response, metrics="lmuc", protocol=other)


@pytest.mark.parametrize("name", REGISTRY)
def test_any_spelling_finds_a_metric(name):
    kinds = {"kind": lambda mention: "name"}
    result = corefeval.score(KEY, RESPONSE, metrics=name, features=kinds)
    for spelling in (name, name.upper(), f" {name} ", f"{name}()", *REGISTRY[name].aliases):
        assert result[spelling] == result[name]
        assert spelling in result


@pytest.mark.parametrize("name", REGISTRY)
def test_a_metrics_text_parses_back(name):
    metric = Metric.parse(name)
    assert Metric.parse(str(metric)) == metric
    for parameter in REGISTRY[name].parameters:
        for choice in parameter.choices:
            chosen = Metric.of(name, **{parameter.name: choice})
            assert Metric.parse(str(chosen)) == chosen
            assert (str(chosen) == name) is (choice == parameter.default)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ceaff", "did you mean"),
        ("xyz", "there are mentions, muc"),
        ("muc(by=kind)", "no parameter 'by'"),
        ("lea(importance=big)", "one of size, one"),
        ("lea(one)", "name=value"),
        ("lea(", "is not a metric"),
        ("lea(importance=one))", "is not a metric"),
        ("lea(importance=one, importance=size)", "twice"),
        ("", "no metric was chosen"),
        (" , ", "no metric was chosen"),
    ],
)
def test_texts_that_are_no_metrics(text, problem):
    with pytest.raises(UsageError, match=problem):
        corefeval.score(KEY, RESPONSE, metrics=text)


def test_lists_presets_and_values_of_metrics():
    wanted = parse_metrics(["lea(importance=one),muc", "b3", Metric("muc")])
    assert [str(r.metric) for r in wanted] == [
        "lea(importance=one)", "muc", "b3",
    ]  # fmt: skip
    assert {r.metric.name for r in parse_metrics("all, anaphora")} >= set(REGISTRY)
    assert [str(r.metric) for r in parse_metrics("b3-sys, B-cubed(twinless=0), lmuc-rn")] == [
        "b3(twinless=sys)", "b3(twinless=0)", "lmuc(twinless=rn)",
    ]  # fmt: skip
    assert [str(r.metric) for r in parse_metrics("standard")] == list(presets()["standard"])


def test_asking_for_what_was_not_scored(result):
    with pytest.raises(UsageError, match="was not scored"):
        corefeval.score(KEY, RESPONSE, metrics="muc")["b3"]
    with pytest.raises(corefeval.InputError, match="no document is called"):
        result.document("three")


def test_conll_has_only_f1(result):
    assert list(result["conll"].as_dict()) == ["f1"]
    with pytest.raises(UndefinedRateError, match="conll has no recall"):
        result["conll"].recall
    assert not hasattr(result["conll"], "precision")


def test_results_are_frozen(result):
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.key = "other"
    with pytest.raises(dataclasses.FrozenInstanceError):
        result["muc"].metric = "b3"


def test_results_add_up(result):
    first = corefeval.score({"one": KEY["one"]}, {"one": RESPONSE["one"]})
    second = corefeval.score({"two": KEY["two"]}, {"two": RESPONSE["two"]})
    for total in (first + second, sum([first, second])):
        assert total.document_ids == ("one", "two")
        assert {m: total[m].f1 for m in total.metrics} == pytest.approx(
            {m: result[m].f1 for m in result.metrics}
        )


def test_a_training_loop_may_add_nameless_batches():
    total = sum(corefeval.score([["a", "b"]], [["a", "b"]]) for _ in range(3))
    assert total["muc"].counts["recall_denominator"] == 3
    with pytest.raises(corefeval.InputError, match="3 documents are called"):
        total.document("")


def test_results_that_were_scored_differently_do_not_add_up(result):
    with pytest.raises(UsageError, match="scored differently"):
        result + corefeval.score(KEY, RESPONSE, singletons="drop")
    with pytest.raises(UsageError, match="scored differently"):
        result + corefeval.score(KEY, RESPONSE, metrics="muc")
    with pytest.raises(TypeError):
        result + 3


def test_macro_is_the_mean_over_documents(result):
    macro = corefeval.score(KEY, RESPONSE, aggregate="macro")
    for metric in result.metrics:
        per_document = [document[metric].f1 for document in result.documents]
        assert macro[metric].f1 == pytest.approx(sum(per_document) / 2), metric


def test_macro_leaves_out_documents_with_nothing_to_count():
    key = {"one": [["a", "b"]], "none": [], "single": [["c"]]}
    macro = corefeval.score(key, key, aggregate="macro")
    assert all(macro[metric].f1 == pytest.approx(1.0) for metric in macro.metrics)


def test_results_travel_between_processes(result):
    again = pickle.loads(pickle.dumps(result))
    assert again["B³"] == result["b3"]
    assert again.signature == result.signature


def test_per_document_counts(result):
    counts = result.per_document_counts("b-cubed")
    assert {name: len(column) for name, column in counts.items()} == {
        "recall_numerator": 2,
        "recall_denominator": 2,
        "precision_numerator": 2,
        "precision_denominator": 2,
    }


def test_results_show_themselves(result):
    assert "muc 66.67" in repr(result)
    assert repr(result["muc"]).startswith("<muc: recall=0.6667")


@pytest.mark.parametrize("metrics", [None, 5, [None], [["b3"]], b"muc", "standard()"])
def test_what_names_no_metrics(metrics):
    with pytest.raises(UsageError):
        corefeval.score(KEY, RESPONSE, metrics=metrics)


@pytest.mark.parametrize("arguments", [("nope",), ("lea", (("weight", "size"),))])
def test_metrics_are_checked_when_made(arguments):
    with pytest.raises(UsageError, match="there is no metric"):
        Metric(*arguments)


def test_metrics_and_indices_find_scores_too(result):
    assert result[Metric.parse("bcub")] == result["b3"]
    assert "nope" not in result
    assert result.document(-1).id == "two"
    with pytest.raises(corefeval.InputError, match="no document 2"):
        result.document(2)
    with pytest.raises(UsageError):
        result[5]


@pytest.mark.parametrize("aggregate", get_args(Aggregate))
def test_every_metric_has_a_score_under_every_aggregation(aggregate):
    """Also metrics that have neither recall nor precision."""
    paths = corefeval.example("key"), corefeval.example("eager")
    for metrics in ("all", "anaphora"):
        result = corefeval.score(*paths, metrics=metrics, aggregate=aggregate)
        assert all(one.rates for one in result.scores.values())


@pytest.mark.parametrize("wrong", [None, 5, "muc"])
def test_only_results_add_up(wrong):
    result = corefeval.score([["a", "b"]], [["a", "b"]], metrics="muc")
    for given in ([result, wrong], [wrong], result, wrong):
        with pytest.raises(UsageError, match=r"Result\.total needs a list of results, not"):
            corefeval.Result.total(given)

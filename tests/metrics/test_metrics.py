"""Every metric of the registry: against brute force, and for what must hold of all of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import corefeval
from corefeval.metrics import REGISTRY, Metric, register
from corefeval.metrics.declarations import Declaration
from reference import COMPOSED, REFERENCES
from reference_papers import OF_THE_PAPERS, is_zero, kind_of
from strategies import corpora, documents, entities

KNOWN = {**REFERENCES, **OF_THE_PAPERS}
# What plain lists of mentions do not have: in test_bridging.py and test_split.py.
BEYOND = {name for name, declaration in REGISTRY.items() if declaration.beyond}
METRICS = tuple(name for name in REGISTRY if name not in BEYOND)


def score(key, response, **options):
    """Scores of mentions that are numbers, from which their kinds follow."""
    features = {
        "kind": lambda mention: kind_of(mention.label),
        "zero": lambda mention: "yes" if is_zero(mention.label) else "no",
    }
    return corefeval.score(key, response, features=features, **options)


def keyed(pairs):
    """A list of (key, response) documents as two corpora."""
    return tuple({str(i): pair[side] for i, pair in enumerate(pairs)} for side in (0, 1))


def test_every_metric_is_checked():
    """A new metric that nobody compares with brute force fails here."""
    assert set(KNOWN) | COMPOSED | BEYOND == set(REGISTRY)


@pytest.mark.parametrize("name", KNOWN)
@given(pairs=corpora)
def test_agrees_with_brute_force(name, pairs):
    """Per document, to 1e-9, on corpora of several documents counted at once."""
    counts = score(*keyed(pairs), metrics=name).per_document_counts(name)
    expected = np.array([KNOWN[name](*pair) for pair in pairs], dtype=float)
    np.testing.assert_allclose(np.stack(list(counts.values()), axis=1), expected, atol=1e-9)


@pytest.mark.parametrize("name", METRICS)
@given(key=entities())
def test_a_key_against_itself_is_perfect(name, key):
    """Unless there is nothing to count: then 0."""
    found = score(key, key, metrics=name)[name]
    chains = [entity for entity in key if len(entity) > 1]
    nouns = [[kind_of(m) != "pronoun" for m in entity] for entity in chains]
    countable = {
        **dict.fromkeys(("muc", "conll", "links", "immediate", "p-link"), bool(chains)),
        **dict.fromkeys(BEYOND, False),
        "blanc": sum(map(len, key)) > 1,
        # What is not skipped: nouns that follow a noun, and whatever follows one.
        "inferred": any(True in nouns_of[:-1] for nouns_of in nouns),
        "anchors": any(map(any, nouns)),
        "zero": any(is_zero(mention) for entity in chains for mention in entity[1:]),
    }.get(name, bool(key))
    assert found.f1 == pytest.approx(1.0 if countable else 0.0) or (name == "conll" and not chains)


@pytest.mark.parametrize("name", METRICS)
@given(document=documents)
def test_rates_are_rates(name, document):
    for value in score(*document, metrics=name)[name].rates.values():
        assert 0.0 <= value <= 1.0 + 1e-12


# The others look at the two sides differently, by their definitions.
SYMMETRIC = ("mentions", "muc", "b3", "ceafm", "ceafe", "lea", "links", "p-link", "mor")


@pytest.mark.parametrize("name", SYMMETRIC)
@given(document=documents)
def test_exchanging_the_sides_exchanges_recall_and_precision(name, document):
    key, response = document
    forward = score(key, response, metrics=name)[name]
    backward = score(response, key, metrics=name)[name]
    assert forward.recall == pytest.approx(backward.precision, abs=1e-12)
    assert forward.f1 == pytest.approx(backward.f1, abs=1e-12)


@pytest.mark.parametrize("match", ["exact", "overlap(0.3)"])
def test_not_a_digit_changes_when_large_sides_are_exchanged(match):
    """Sums of fractions depend on their order, which must not depend on which side is the key."""
    names = ("mentions", "muc", "b3", "ceafm", "ceafe", "blanc", "lea", "mor")
    for seed in range(12):
        rng, sides = np.random.default_rng(seed), []
        for _ in range(2):
            start = np.sort(rng.choice(6000, 3000, replace=False))
            entity, length = rng.integers(0, 200, start.size), rng.integers(1, 6, start.size)
            sides.append(
                corefeval.corpus_from_arrays(entity=entity, start=start, end=start + length)
            )
        forward, backward = (
            corefeval.score(*pair, match=match, metrics=names) for pair in (sides, sides[::-1])
        )
        for name in names:
            rates = backward[name].precision, backward[name].recall, backward[name].f1
            assert (forward[name].recall, forward[name].precision, forward[name].f1) == rates


@pytest.mark.parametrize("name", METRICS)
@given(pairs=corpora)
def test_a_corpus_is_the_sum_of_its_documents(name, pairs):
    """Scoring in pieces and adding up is scoring together, slices too."""
    together = score(*keyed(pairs), metrics=name, by=["kind", "size"])
    total = sum(
        score({str(i): key}, {str(i): response}, metrics=name, by=["kind", "size"])
        for i, (key, response) in enumerate(pairs)
    )
    assert total.document_ids == together.document_ids
    assert dict(total[name].counts) == pytest.approx(dict(together[name].counts), abs=1e-9)
    assert total[name].f1 == pytest.approx(together[name].f1, abs=1e-12)
    for feature, slices in together.slices.items():
        for value, part in slices.items():
            for metric in part.metrics:
                f1 = total.slices[feature][value][metric].f1
                assert f1 == pytest.approx(part[metric].f1, abs=1e-12)


@pytest.mark.parametrize("name", METRICS)
@given(document=documents)
def test_slices_add_up_to_the_whole(name, document):
    """Each count is a sum over the values of a feature of mentions or entities."""
    result = score(*document, metrics=name, by=["kind", "size(1,2,3+)", "chain_position"])
    for slices in result.slices.values():
        for metric in slices.whole.metrics:
            whole = slices.whole[metric].counts
            for count in whole:
                parts = sum(part[metric].counts[count] for part in slices.values())
                if "non_coreference" not in count:
                    assert parts == pytest.approx(whole[count], abs=1e-9), (metric, count)


@given(document=documents)
def test_conll_is_the_mean_of_its_parts(document):
    result = corefeval.score(*document, metrics="conll")
    assert result.metrics == ("muc", "b3", "ceafe", "conll")
    mean = sum(result[part].f1 for part in ("muc", "b3", "ceafe")) / 3
    assert result["conll"].f1 == pytest.approx(mean, abs=1e-12)


@given(document=documents)
def test_the_order_of_entities_does_not_matter(document):
    key, response = document
    result = corefeval.score(key, response)
    turned = corefeval.score(key[::-1], response[::-1])
    for name in result.metrics:
        assert turned[name].f1 == pytest.approx(result[name].f1, abs=1e-12)


def test_lea_takes_another_importance():
    """Worked by hand: entities of 3 and 2; the response resolves one of 3 links and the pair."""
    key, response = [["a", "b", "c"], ["d", "e"]], [["a", "b"], ["d", "e"]]
    by_size = corefeval.score(key, response, metrics="lea")["lea"]
    assert by_size.recall == pytest.approx((3 * (1 / 3) + 2) / 5)
    by_one = corefeval.score(key, response, metrics="lea(importance=one)")
    assert by_one["lea(importance=one)"].recall == pytest.approx((1 / 3 + 1) / 2)

    def squared(side):
        return side.sizes**2.0

    own = corefeval.score(key, response, metrics=[Metric.of("lea", importance=squared)])
    assert own.metrics == ("lea(importance=squared)",)
    assert own["lea(importance=squared)"].recall == pytest.approx((9 / 3 + 4) / 13)


def test_an_importance_that_is_none_is_refused():
    for weights in ([-1.0], [1.0, 2.0], "heavy", [float("inf")], [float("nan")], None):
        metric = Metric.of("lea", importance=lambda side, weights=weights: weights)
        with pytest.raises(corefeval.UsageError, match="a number of at least 0"):
            corefeval.score([["a", "b"]], [["a", "b"]], metrics=[metric])


def test_functions_of_the_same_name_are_refused():
    metrics = [Metric.of("lea", importance=lambda side: side.sizes) for _ in range(2)]
    with pytest.raises(corefeval.UsageError, match="give their functions other names"):
        corefeval.score([["a", "b"]], [["a", "b"]], metrics=metrics)


@pytest.fixture
def own_metric():
    declaration = Declaration(
        name="undefined-here",
        title="Own",
        summary="A metric that this data cannot define.",
        definition="None.",
        reference="None.",
        function=f"{__name__}:raise_undefined",
    )
    register(declaration)
    yield declaration.name
    del REGISTRY[declaration.name]


def raise_undefined(alignment):
    raise corefeval.UndefinedMetricError("the mentions have no kind")


def test_a_preset_skips_what_the_data_cannot_define(own_metric):
    result = corefeval.score([["a", "b"]], [["a", "b"]], metrics="all")
    assert own_metric not in result.metrics
    assert {notice.kind for notice in result.notices} == {"skipped-metric"}
    assert "the mentions have no kind" in str(result.notices[-1])


def test_a_metric_asked_for_by_name_raises(own_metric):
    with pytest.raises(corefeval.UndefinedMetricError, match="no kind"):
        corefeval.score([["a", "b"]], [["a", "b"]], metrics=["all", own_metric])


RATIO = [
    f"{rate}_{half}" for rate in ("recall", "precision") for half in ("numerator", "denominator")
]


def count_entities(alignment):
    """All rates are 1 in every document in which the key has an entity."""
    entities = np.bincount(alignment.key.entity_document, minlength=alignment.n_groups)
    return dict.fromkeys(RATIO, entities)


@pytest.fixture
def declare():
    """Register a metric of one's own, for one test."""
    names = []

    def declare(name, **options):
        register(Declaration(name, **options))
        names.append(name)

    yield declare
    for name in names:
        del REGISTRY[name]


@pytest.mark.parametrize("function", [count_entities, f"{__name__}:count_entities"])
def test_a_function_is_a_metric(declare, function):
    declare("own", function=function)
    result = corefeval.score({"x": [["a"]], "y": [["b"]]}, {"x": [["c"]], "y": []}, metrics="own")
    assert result["own"].f1 == 1
    assert result["own"].counts["recall_numerator"] == 2
    assert "own " in corefeval.render(result)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (None, "found NoneType None"),
        ([1, 2], "found list"),
        ({}, "none that is called 'recall_numerator'"),
        ({"recall_numerator": [1]}, "none that is called 'recall_denominator'"),
        ({name: [1.0, 2.0] for name in RATIO}, r"of shape \(2,\)"),
        (dict.fromkeys(RATIO, 1.0), r"of shape \(\)"),
        ({name: ["much"] for name in RATIO}, "found dict"),
        ({name: [float("nan")] for name in RATIO}, "finite"),
    ],
)
def test_a_function_that_does_not_count(declare, counts, message):
    declare("own", function=lambda alignment: counts)
    with pytest.raises(corefeval.UsageError, match=message):
        corefeval.score([["a"]], [["a"]], metrics="own")


@pytest.mark.parametrize("function", ["", 3, None, "no_colon"])
def test_a_metric_without_a_function(function):
    with pytest.raises(corefeval.UsageError, match="declare it as function=f"):
        register(Declaration("own", function=function))
    with pytest.raises(corefeval.UsageError, match="shape of own is one of"):
        register(Declaration("own", function=count_entities, shape="round"))


def test_a_metric_is_called_as_its_function_unless_told():
    assert Declaration(function=count_entities).name == "count_entities"
    for nameless in (Declaration(), Declaration(function=lambda alignment: {}), Declaration("a b")):
        with pytest.raises(corefeval.UsageError, match="is not a name for a metric: use"):
            register(nameless)


@pytest.mark.parametrize("function", ["no_module:f", f"{__name__}:nothing", ":f"])
def test_a_function_that_is_not_there(declare, function):
    declare("own", function=function)
    with pytest.raises(corefeval.UsageError, match="is not a counting function"):
        corefeval.score([["a"]], [["a"]], metrics="own")


def test_a_metric_cannot_be_registered_twice():
    with pytest.raises(corefeval.UsageError, match="already"):
        register(REGISTRY["muc"])

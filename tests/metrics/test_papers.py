"""The papers' metrics: against the conformance vectors and slow references."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import corefeval
import reference
import reference_papers as papers
from conftest import ROOT
from strategies import entities as partitions

KINDS = ("name", "nominal", "pronoun")
RATES = ("recall", "precision", "f1")
RATIO = ("recall_numerator", "recall_denominator", "precision_numerator", "precision_denominator")
LINGUISTIC = {
    "lmuc": papers.lmuc,
    "lb3": papers.lb3,
    "lceafm": papers.lceafm,
    "lceafe": papers.lceafe,
}
TWINLESS = {
    "b3": papers.b3_twinless,
    "ceafm": papers.ceafm_twinless,
    "ceafe": papers.ceafe_twinless,
}
SLICED = {
    "mentions": papers.mentions_by,
    "b3": papers.b3_by,
    "muc": papers.p_link,
    "links": papers.links_by,
    "lea": papers.lea_by,
    "blanc": papers.blanc_by,
}


def blanc_rates(counts):
    """The means of the rates of those halves that the key has links for."""
    halves = [(c, k, c, r) for c, k, r in (counts[:3], counts[3:]) if k]
    values = [papers.rates(half) for half in halves]
    return tuple(sum(column) / len(column) for column in zip(*values, strict=True)) or (0, 0, 0)


def by_reference(metric, key, response, kinds=None, weights=papers.WEIGHTS):
    """A metric's rates as the slow references have them."""
    name, _, policy = metric.partition("-")
    if name in LINGUISTIC:
        return papers.rates(LINGUISTIC[name](key, response, kinds, weights))
    if name in TWINLESS:
        return papers.rates(TWINLESS[name](policy or None, key, response))
    counts = reference.REFERENCES[name](key, response)
    return blanc_rates(counts) if name == "blanc" else papers.rates(counts)


def by_corefeval(metric, key, response, **features):
    score = corefeval.score(key, response, metrics=[metric], features=features)[metric]
    return tuple(getattr(score, rate) for rate in RATES)


def numbers(score):
    """The counts without zeros of a float's making."""
    return {name: pytest.approx(value, abs=1e-9) for name, value in score.counts.items()}


def ratio(counts):
    return dict(zip(RATIO, counts, strict=True))


def nouns_of(kinds):
    return {mention for mention, kind in kinds.items() if kind != "pronoun"}


# The conformance vectors -------------------------------------------------------------------------

DATA = ROOT / "tests" / "data" / "metrics"


def random_documents():
    for document in json.loads((DATA / "random.json").read_text()):
        for feature in ("kinds", "categories"):
            document[feature] = {int(m): value for m, value in document[feature].items()}
        yield document


def paper_rows():
    return json.loads((DATA / "papers.json").read_text())


def assert_printed(values, row):
    printed = [row[rate] for rate in RATES]
    for value, expected in zip(values, printed, strict=True):
        assert expected is None or value == pytest.approx(expected, abs=0.0015), row["source"]


def test_the_references_agree_with_the_papers():
    for row in paper_rows():
        if row["metric"] == "p-link":
            points = papers.p_link(row["key"], row["response"], row["categories"])
            values = papers.rates(points[row["category"]])
        else:
            values = by_reference(row["metric"], row["key"], row["response"], row.get("kinds"))
        assert_printed(values, row)


def test_corefeval_agrees_with_the_papers():
    for row in paper_rows():
        key, response = row["key"], row["response"]
        if row["metric"] == "p-link":
            features = {"sentence": row["categories"]}
            result = corefeval.score(
                key, response, metrics="p-link(by=sentence)", features=features
            )
            score = result["p-link(by=sentence)"].categories[row["category"]]
            values = [getattr(score, rate) for rate in RATES]
        else:
            features = {"kind": row["kinds"]} if "kinds" in row else {}
            values = by_corefeval(row["metric"], key, response, **features)
        assert_printed(values, row)


# Which reading gives the vectors' counts, all of them: `immediate_program` asks less of the key and
# counts fp as ever; `inferred` and `inferred_program` count a key noun with nothing but pronouns
# before it in both loops, take key singletons for key mentions, and skip response chains without
# a noun; where h stands in the key chain does not matter to them, since all chains are in order.
def test_the_references_agree_with_random_documents():
    for document in random_documents():
        key, response, kinds = document["key"], document["response"], document["kinds"]
        nouns = nouns_of(kinds)
        for metric, expected in document["scores"].items():
            assert by_reference(metric, key, response) == pytest.approx(expected, abs=1e-9)
        for row in document["linguistic"]:
            for metric in LINGUISTIC:
                values = by_reference(metric, key, response, kinds, row["weights"])
                assert values == pytest.approx(row[metric], abs=1e-9)
        points = papers.p_link(key, response, document["categories"])
        for category, expected in document["plink"].items():
            values = papers.rates(points.get(category, (0, 0, 0, 0)))
            assert values == pytest.approx(expected, abs=1e-9)
        assert papers.immediate(key, response, nouns) == document["immediate"]
        program = papers.immediate(key, response, nouns, chains="nominal")
        assert program == document["immediate_program"]
        assert papers.inferred(key, response, nouns) == document["inferred"]
        program = papers.inferred(key, response, nouns, spurious="fp")
        assert program == document["inferred_program"]
        detection, mentions = papers.anchors(key, response, nouns)
        assert detection == document["anchor_detection"]
        assert mentions == document["anchor_mentions"]


def spelled(metric, weights, policy=None):
    parameters = dict(zip((*KINDS, "singleton"), weights, strict=True))
    parameters |= {"twinless": policy} if policy else {}
    return f"{metric}({', '.join(f'{name}={value}' for name, value in parameters.items())})"


def test_corefeval_agrees_with_random_documents():
    for document in random_documents():
        expected = dict(document["scores"])
        for row in document["linguistic"]:
            expected |= {spelled(metric, row["weights"]): row[metric] for metric in LINGUISTIC}
        counted = {
            "immediate": document["immediate"],
            "immediate(chains=nominal)": document["immediate_program"],
            "inferred": document["inferred"],
            "inferred(spurious=fp)": document["inferred_program"],
        }
        result = corefeval.score(
            document["key"],
            document["response"],
            metrics=[*expected, *counted, "anchors", "p-link(by=sentence)"],
            features={"kind": document["kinds"], "sentence": document["categories"]},
        )
        for metric, values in expected.items():
            rates = [getattr(result[metric], rate) for rate in RATES]
            assert rates == pytest.approx(values, abs=1e-9), metric
        for metric, counts in counted.items():
            assert result[metric].counts == counts, metric
        for part in ("detection", "mentions"):
            counts = document[f"anchor_{part}"]
            counted_part = {name: result["anchors"].counts[f"{part}_{name}"] for name in counts}
            assert counted_part == counts
        for category, values in document["plink"].items():
            if any(values):
                score = result["p-link(by=sentence)"].categories[category]
                rates = [getattr(score, rate) for rate in RATES]
                assert rates == pytest.approx(values, abs=1e-9)


# Against the references --------------------------------------------------------------------------


@st.composite
def features_of(draw, values=KINDS, mentions=10):
    return dict(enumerate(draw(st.tuples(*[st.sampled_from(values)] * mentions))))


weights = st.tuples(*[st.sampled_from((0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 3.0))] * 4)


@st.composite
def shuffled(draw):
    """Entities whose mentions stand in any order: in plain Python each side has its own."""
    return [draw(st.permutations(entity)) for entity in draw(partitions())]


@given(key=partitions(), response=partitions())
def test_alignments_are_those_that_permutations_find(key, response):
    if max(len(key), len(response)) <= 5:
        assert papers.ceafm(key, response) == reference.ceafm(key, response)
        assert papers.ceafe(key, response) == pytest.approx(reference.ceafe(key, response))


@given(key=partitions(), response=partitions())
def test_twinless_policies(key, response):
    names = {
        (metric, policy): f"{metric}(twinless={policy})"
        for metric in TWINLESS
        for policy in papers.POLICIES[1:]
    }
    result = corefeval.score(key, response, metrics=list(names.values()))
    for (metric, policy), name in names.items():
        expected = TWINLESS[metric](policy, key, response)
        assert numbers(result[name]) == ratio(expected), name
        assert result[f"{metric}-{policy}"] == result[name]


@settings(max_examples=100)
@pytest.mark.parametrize("policy", papers.POLICIES)
@given(key=partitions(), response=partitions(), kinds=features_of(), weights=weights)
def test_linguistic_awareness(policy, key, response, kinds, weights):
    names = {metric: spelled(metric, weights, policy) for metric in LINGUISTIC}
    result = corefeval.score(key, response, metrics=list(names.values()), features={"kind": kinds})
    for metric, name in names.items():
        expected = LINGUISTIC[metric](key, response, kinds, weights, policy)
        assert numbers(result[name]) == ratio(expected), name


@given(key=partitions(), response=partitions(), kinds=features_of())
def test_what_chen_and_ng_say_of_the_singleton_weight(key, response, kinds):
    """It changes neither LB³ nor LCEAFe, and without it LMUC is MUC."""
    pair = [spelled("lb3", (1, 1, 1, w)) for w in (0.5, 2)]
    pair += [spelled("lceafe", (1, 1, 1, w)) for w in (0.5, 2)]
    none = [spelled(metric, (1, 1, 1, 0)) for metric in ("lmuc", "lceafm")]
    result = corefeval.score(key, response, metrics=[*pair, *none, "muc"], features={"kind": kinds})
    assert result[pair[0]].f1 == pytest.approx(result[pair[1]].f1, abs=1e-12)
    assert result[pair[2]].f1 == pytest.approx(result[pair[3]].f1, abs=1e-12)
    assert numbers(result[none[0]]) == dict(result["muc"].counts)
    assert numbers(result[none[1]]) == ratio(papers.lceafm(key, response, kinds, (1, 1, 1, 0)))


shares = st.sampled_from((0.0, 0.25, 0.5, 1.0))


@given(key=shuffled(), response=shuffled(), kinds=features_of(), anaphor=shares, antecedent=shares)
def test_p_link(key, response, kinds, anaphor, antecedent):
    assume(anaphor + antecedent > 0)
    other = f"p-link(by=kind, anaphor={anaphor}, antecedent={antecedent})"
    result = corefeval.score(
        key, response, metrics=["p-link(by=kind)", other, "muc"], features={"kind": kinds}
    )
    for name, given_shares in (("p-link(by=kind)", ()), (other, (anaphor, antecedent))):
        expected = papers.p_link(key, response, kinds, *given_shares)
        categories = result[name].categories
        for kind in KINDS:
            counts = expected.get(kind, (0, 0, 0, 0))
            if kind in categories or any(counts):
                assert numbers(categories[kind]) == ratio(counts)
    whole = result["p-link(by=kind)"]
    for count, value in result["muc"].counts.items():
        assert sum(part.counts[count] for part in whole.categories.values()) == value
    assert whole.f1 == result["muc"].f1


APPLICATIONS = {
    "immediate": lambda *pair: papers.immediate(*pair),
    "immediate(chains=nominal)": lambda *pair: papers.immediate(*pair, chains="nominal"),
    "inferred": lambda *pair: papers.inferred(*pair),
    "inferred(spurious=fp)": lambda *pair: papers.inferred(*pair, spurious="fp"),
    "inferred(spurious=formula)": lambda *pair: papers.inferred(*pair, spurious="formula"),
}


@given(key=shuffled(), response=shuffled(), kinds=features_of())
def test_antecedents(key, response, kinds):
    result = corefeval.score(key, response, metrics=list(APPLICATIONS), features={"kind": kinds})
    for name, metric in APPLICATIONS.items():
        counts = metric(key, response, nouns_of(kinds))
        assert result[name].counts == counts, name
        tp, wl, fn, fp = counts.values()
        expected = papers.rates((tp, tp + wl + fn, tp, tp + wl + fp))
        assert [getattr(result[name], rate) for rate in RATES] == pytest.approx(expected)
        assert result[name].accuracy == pytest.approx(tp / (tp + wl) if tp + wl else 0.0)


@given(key=shuffled(), response=shuffled(), kinds=features_of())
def test_anchors(key, response, kinds):
    result = corefeval.score(key, response, metrics=["anchors"], features={"kind": kinds})
    score = result["anchors"]
    parts = papers.anchors(key, response, nouns_of(kinds))
    f1s = []
    for name, counts in zip(("detection", "mentions"), parts, strict=True):
        tp, fn, fp = counts.values()
        assert {n: score.counts[f"{name}_{n}"] for n in counts} == counts
        expected = papers.rates((tp, tp + fn, tp, tp + fp))
        assert [getattr(getattr(score, name), rate) for rate in RATES] == pytest.approx(expected)
        f1s.append(expected[2])
    assert score.f1 == pytest.approx(2 * f1s[0] * f1s[1] / sum(f1s) if sum(f1s) else 0.0)


@given(key=shuffled(), response=shuffled(), kinds=features_of())
def test_nouns_may_be_stated_instead_of_kinds(key, response, kinds):
    nouns = nouns_of(kinds)
    stated = {"noun": {mention: mention in nouns for mention in kinds}}
    result = corefeval.score(key, response, metrics="inferred, anchors", features=stated)
    assert result["inferred"].counts == papers.inferred(key, response, nouns)
    detection, _ = papers.anchors(key, response, nouns)
    assert result["anchors"].counts["detection_tp"] == detection["tp"]


@given(
    pairs=st.lists(st.tuples(shuffled(), shuffled(), features_of()), min_size=2, max_size=3),
    weights=weights,
)
def test_each_document_has_its_own_features(pairs, weights):
    """The same mention may be a name here and a pronoun there."""
    names = [spelled("lb3", weights, "sys"), "inferred", "p-link(by=kind)"]
    result = corefeval.score(
        *({str(i): pair[side] for i, pair in enumerate(pairs)} for side in (0, 1)),
        metrics=names,
        features={"kind": {str(i): pair[2] for i, pair in enumerate(pairs)}},
    )
    for document, (key, response, kinds) in zip(result.documents, pairs, strict=True):
        expected = papers.lb3(key, response, kinds, weights, "sys")
        assert numbers(document[names[0]]) == ratio(expected)
        assert document["inferred"].counts == papers.inferred(key, response, nouns_of(kinds))


# Slices ------------------------------------------------------------------------------------------


@given(key=shuffled(), response=shuffled(), kinds=features_of())
def test_the_references_of_slices_add_up(key, response, kinds):
    for metric, by_category in SLICED.items():
        parts = by_category(key, response, kinds).values()
        if metric in reference.REFERENCES and parts:
            in_order = [[sorted(entity) for entity in side] for side in (key, response)]
            whole = reference.REFERENCES[metric](*in_order)
            assert [sum(column) for column in zip(*parts, strict=True)] == pytest.approx(whole)


@given(key=shuffled(), response=shuffled(), kinds=features_of())
def test_slices_by_a_feature_of_mentions(key, response, kinds):
    result = corefeval.score(
        key, response, metrics=list(SLICED), features={"kind": kinds}, by=["kind"]
    )
    slices = result.slices["kind"]
    for metric, by_category in SLICED.items():
        expected = by_category(key, response, kinds)
        for kind in set(expected) | set(slices):
            names = tuple(result[metric].counts)
            counts = expected.get(kind, (0.0,) * len(names))
            assert kind in slices or not any(counts), (metric, kind)
            if kind in slices:
                got = [slices[kind][metric].counts[name] for name in names]
                assert got == pytest.approx(counts, abs=1e-9), (metric, kind)
        for name, value in result[metric].counts.items():
            total = sum(part[metric].counts[name] for part in slices.values())
            assert total == pytest.approx(value, abs=1e-9), (metric, name)


@given(key=shuffled(), response=shuffled(), kinds=features_of())
def test_slices_of_antecedents(key, response, kinds):
    """tp, wl and fn go to the key mention's category, what is spurious to the mention's own."""
    result = corefeval.score(
        key, response, metrics=list(APPLICATIONS), features={"kind": kinds}, by=["kind"]
    )
    nouns = nouns_of(kinds)
    for name in APPLICATIONS:
        options = dict(re.findall(r"(\w+)=(\w+)", name))
        metric = getattr(papers, name.partition("(")[0])
        expected = metric(key, response, nouns, **options, by=kinds)
        for kind, counts in expected.items():
            assert result.slices["kind"][kind][name].counts == counts, (name, kind)
        for count, value in result[name].counts.items():
            parts = result.slices["kind"].values()
            assert sum(part[name].counts[count] for part in parts) == value


@given(
    key=shuffled(),
    response=shuffled(),
    kinds=features_of(),
    classes=features_of(values=("PERSON", "GPE", None)),
)
def test_anchors_by_entity_class(key, response, kinds, classes):
    """The anchor's class, or else the only one that the entity's mentions have."""
    nouns = nouns_of(kinds)
    classes = {mention: value for mention, value in classes.items() if value}

    def class_of(entity):
        anchor = next((m for m in entity if m in nouns), None)
        found = {classes[m] for m in entity if m in classes}
        return classes.get(anchor) or (found.pop() if len(found) == 1 else None)

    result = corefeval.score(
        key,
        response,
        metrics=["anchors"],
        features={"kind": kinds, "class": classes},
        by=["entity_class"],
    )
    for value, parts in papers.anchors(key, response, nouns, class_of).items():
        for part, counts in zip(("detection", "mentions"), parts, strict=True):
            if value is not None and any(counts.values()):
                score = result.slices["entity_class"][value]["anchors"]
                assert {name: score.counts[f"{part}_{name}"] for name in counts} == counts

"""Sets of antecedents: against brute force, and the vectors of the program."""

from __future__ import annotations

import json
from functools import cache
from math import isfinite

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from conftest import ROOT
from corefeval import CorefEvalError, score
from reference_sets import METRICS, accommodate, build, count, count_sets, rows
from strategies import entities

DATA = ROOT / "tests" / "data" / "anaphora"
WITH_BLANC = (*METRICS, "blanc")
ALONE = tuple(f"split(metric={metric})" for metric in METRICS)
ALL_ALONE = (*ALONE, "split(metric=blanc)")


@st.composite
def sides(draw, max_sets: int = 3):
    """Entities, and elements of some of them: others, themselves, one another, or nothing."""
    groups = draw(entities())
    numbers = st.integers(0, max(len(groups) - 1, 0))
    parts = st.lists(numbers, max_size=3, unique=True)
    chosen = draw(st.dictionaries(numbers, parts, max_size=max_sets)) if groups else {}
    return groups, {whole: found for whole, found in chosen.items() if found}


def resolved(side):
    groups, split = side
    return accommodate([frozenset(group) for group in groups], split)


pairs = st.lists(st.tuples(sides(), sides()), min_size=1, max_size=3)


@settings(max_examples=60)
@given(pairs)
def test_all_metrics_agree_with_brute_force(documents):
    key, response = (build([one[at] for one in documents]) for at in (0, 1))
    result = score(key, response, metrics=[*WITH_BLANC, *ALL_ALONE], split="score")
    for at, one in enumerate(documents):
        both = [resolved(side) for side in one]
        for metric in WITH_BLANC:
            expected = count(metric, *both)
            assert rows(result, metric)[at] == pytest.approx(expected, rel=0, abs=1e-9)
        for metric, name in zip(WITH_BLANC, ALL_ALONE, strict=True):
            expected = count_sets(metric, *both)
            assert rows(result, name)[at] == pytest.approx(expected, rel=0, abs=1e-9)


@settings(max_examples=50)
@given(sides())
def test_a_key_against_itself_is_perfect(side):
    key = build([side])
    result = score(key, key, metrics=[*METRICS, *ALONE], split="score")
    for metric in result.metrics:
        for numerator, denominator in zip(*[iter(rows(result, metric)[0])] * 2, strict=True):
            assert numerator == pytest.approx(denominator)


@settings(max_examples=50)
@given(st.tuples(sides(), sides()))
def test_exchanging_the_sides_exchanges_recall_and_precision(pair):
    one, other = (build([side]) for side in pair)
    names = [*WITH_BLANC, *ALL_ALONE]
    there, back = (
        score(*both, metrics=names, split="score") for both in ((one, other), (other, one))
    )
    for name in names:
        mine, theirs = rows(there, name)[0], rows(back, name)[0]
        order = [0, 2, 1, 3, 5, 4] if "blanc" in name else [2, 3, 0, 1]
        assert mine == pytest.approx([theirs[place] for place in order], abs=1e-9)
        rates = [back[name].precision, back[name].recall, back[name].f1]
        assert [there[name].recall, there[name].precision, there[name].f1] == pytest.approx(rates)


def test_a_half_of_blanc_that_one_side_has_counts_with_sets():
    """Without sets it is the key alone that says which halves there are."""
    sides = [[[0], [1], [2]]], [[[0, 1], [2]]]
    key, response = (build([(groups, {})]) for [groups] in sides)
    options = {"metrics": "blanc", "split": "score"}
    there, back = (score(*both, **options) for both in ((key, response), (response, key)))
    assert (there["blanc"].recall, there["blanc"].precision) == pytest.approx((1 / 3, 1 / 2))
    assert (back["blanc"].recall, back["blanc"].precision) == pytest.approx((1 / 2, 1 / 3))
    assert score(key, response, metrics="blanc")["blanc"].recall == pytest.approx(2 / 3)


@settings(max_examples=25)
@given(pairs, st.sampled_from(["keep", "drop"]))
def test_documents_count_as_they_do_alone(documents, singletons):
    """In pieces, one by one and together: sets know nothing of other documents."""
    options = {"metrics": [*WITH_BLANC, *ALONE], "split": "score", "singletons": singletons}
    whole = score(*(build([one[at] for one in documents]) for at in (0, 1)), **options)
    for at, one in enumerate(documents):
        alone = score(build([one[0]]), build([one[1]]), **options)
        for metric in alone.metrics:
            assert rows(alone, metric)[0] == pytest.approx(rows(whole, metric)[at], abs=1e-9)


# From here on: vectors.


@pytest.fixture(scope="module")
def vectors(request):
    """A folder of vectors: the project's own copy, or the conformance vectors."""

    def find(name):
        folder = DATA / name
        return folder if folder.is_dir() else request.getfixturevalue("shared") / "anaphora" / name

    return find


def test_random_documents(vectors):
    known = json.loads((vectors("random") / "random.json").read_text())["documents"]
    key, response = (
        build([(one[side]["entities"], one[side]["split"]) for one in known])
        for side in ("key", "response")
    )
    result = score(key, response, metrics=[*WITH_BLANC, *ALONE], split="score")
    for at, one in enumerate(known):
        for metric, name in zip(METRICS, ALONE, strict=True):
            for expected, found in ((one["expected"], metric), (one["split_only"], name)):
                counts = rows(result, found)[at]
                assert counts == pytest.approx(expected[metric], abs=1e-9) or metric in one["ties"]
        blanc = result.document(at).scores["blanc"]
        rates = [blanc.recall, blanc.precision, blanc.f1]
        assert rates == pytest.approx(one["blanc"], abs=1e-9)


@pytest.mark.parametrize("number", range(15))
def test_plural_cases(vectors, number):
    folder = vectors("plural")
    case = json.loads((folder / "plural.json").read_text())["cases"][number]
    files = [str(folder / case[side]) for side in ("key", "response")]
    options = {"key_format": "conllua", "response_format": "conllua"}
    result = score(*files, metrics=[*METRICS, *ALONE], split="score", **options)
    for metric, name in zip(METRICS, ALONE, strict=True):
        assert rows(result, metric)[0] == pytest.approx(case["expected"][metric], abs=1e-9)
        assert rows(result, name)[0] == pytest.approx(case["split_only"][metric], abs=1e-9)
        rates = [result[metric].recall, result[metric].precision]
        assert rates == pytest.approx(case["fractions"][metric], abs=1e-4)
    emulated = score(*files, metrics="lea, blanc", protocol="ua-1", **options)
    assert rows(emulated, "lea")[0] == pytest.approx(case["ua1"]["lea"], abs=1e-9)
    halves = rows(emulated, "blanc")[0]
    for at, half in ((0, "blancc"), (3, "blancn")):
        common, of_key, of_response = halves[at : at + 3]
        found = [common, of_key, common, of_response]
        assert found == pytest.approx(case["ua1"][half], abs=1e-9)


MODES = {
    "default": {"split": "score"},
    "no_split": {},
    "no_split_no_singletons": {"singletons": "drop"},
}


SLOW = pytest.mark.slow
GUM = [
    pytest.param(name, format, marks=() if (name, format) == ("eager", "corefud") else SLOW)
    for name in ("key", "cautious", "eager")
    for format in ("ua", "corefud")
]


@cache
def read_pair(folder, name, format):
    """What is known of two files of GUM, and their corpora."""
    known = json.loads((folder / "gum.json").read_text())["pairs"]
    [pair] = [one for one in known if one["name"] == name]
    return pair, [corefeval.read(folder / file) for file in pair[format]]


@pytest.mark.parametrize(("name", "format"), GUM)
def test_gum(shared, name, format):
    """All modes and layers that a format has."""
    pair, files = read_pair(shared / "anaphora" / "gum", name, format)
    runs = [
        (metrics, options, pair["modes"][mode]["documents"])
        for metrics, (mode, options) in zip([WITH_BLANC] * 3, MODES.items(), strict=True)
    ]
    runs.append((ALONE, {}, pair["split_only"]))
    runs.append((METRICS, {"split": "score", "match": "min"}, pair["min"]))
    if format == "ua":
        runs.append((METRICS, {"split": "score", "layer": "deixis"}, pair["deixis"]))
    for metrics, options, expected in runs:
        result = score(*files, metrics=metrics, **options)
        for at, document in enumerate(result.document_ids):
            for metric in metrics:
                counts = expected[document][metric.removeprefix("split(metric=").rstrip(")")]
                assert rows(result, metric)[at] == pytest.approx(counts, abs=1e-9)


@pytest.mark.parametrize(("name", "format"), GUM)
def test_what_the_program_prints(shared, name, format):
    pair, files = read_pair(shared / "anaphora" / "gum", name, format)
    levels = ("anaphor", "mention", "entity")
    runs = {
        **{mode: (WITH_BLANC, options) for mode, options in MODES.items()},
        "no_split": (WITH_BLANC, {"split": "off"}),
        "no_split_no_singletons": (WITH_BLANC, {"split": "off", "singletons": "drop"}),
        "min": (WITH_BLANC, {"match": "min"}),
        "split_only": ([*ALONE, "split(metric=blanc)"], {}),
        "bridging": ([f"bridging(level={level})" for level in levels], {}),
    }
    if format == "ua":
        runs |= {"deixis": (WITH_BLANC, {"layer": "deixis"})}
    for mode, (metrics, options) in runs.items():
        result = score(*files, metrics=metrics, protocol="ua-1", **options)
        for metric in metrics:
            expected = pair["rates_as_ua1"][mode][metric.rpartition("=")[2].rstrip(")")]
            found = result[metric]
            rates = [found.recall, found.precision, found.f1]
            assert rates == pytest.approx(expected, abs=1e-9), (mode, metric)
    if format == "ua":
        found = score(*files, metrics="non-referring", protocol="ua-1")["non-referring"]
        rates = [found.recall, found.precision, found.f1]
        assert rates == pytest.approx(pair["rates_as_ua1"]["non_referring"], abs=1e-9)


PRINTED = {
    "bcub": "b3",
    "Bridging anaphora recognition scores": "bridging(level=anaphor)",
    "Full bridging scores (Markable Level)": "bridging(level=mention)",
    "Full bridging scores (Entity Level)": "bridging",
    "Non-referring markable identification scores": "non-referring",
}
OPTIONS = {
    "min": {"match": "min"},
    "remove_singletons": {"singletons": "drop"},
    "remove_split_antecedent": {"split": "off"},
}
NOT_EMULATED = {"empty-cell": 100.0}  # columns that shift are no choice
ALL = ("lea", "muc", "b3", "ceafe", "ceafm", "blanc")
SOUND = {
    "lea-order-1": {"lea": (90.0, 93.33)},
    "lea-order-2": {"lea": (90.0, 93.33)},
    "blanc-order-1": {"blanc": (83.84, 83.84)},
    "blanc-order-2": {"blanc": (83.84, 83.84)},
    "min-hash": dict.fromkeys(ALL, (100.0, 100.0)),
    "missing-document": dict.fromkeys(ALL, (50.0, 100.0)),
    "singletons-assertion": dict.fromkeys(ALL, (100.0, 100.0)),
    "double-close": dict.fromkeys(ALL, (100.0, 100.0)),
    "close-first": dict.fromkeys(ALL, (100.0, 100.0)),
    "no-markable-id": dict.fromkeys(ALL, (100.0, 100.0)),
    "entity-anchor-only": {"bridging": (100.0, 100.0)},
    "cycle": dict.fromkeys(("lea", "muc", "b3"), (100.0, 100.0)),
    "two-anchors": {"bridging": (100.0, 100.0), "bridging(level=mention)": (100.0, 100.0)},
    "pseudo-shared": {"non-referring": (50.0, 100.0)},
    "pseudo-underscore": {"b3": (100.0, 100.0)},
    "discontinuous": {"b3": (25.0, 25.0)},
    "empty-cell": {"b3": (100.0, 100.0)},
    "set-without-anaphor": {"lea": (50.0, 50.0), "b3": (62.5, 62.5), "ceafm": (75.0, 75.0)},
    "merge": dict.fromkeys(ALL, (100.0, 100.0)),
    "v2-min-of-response": {"b3": (25.0, 25.0)},
    "repeated-mention": {"ceafm": (100.0, 100.0)},
}


@pytest.mark.parametrize("number", range(22))
def test_bugs_as_they_should_be_and_as_the_program_has_them(vectors, number):
    folder = vectors("bugs")
    case = json.loads((folder / "bugs.json").read_text())["cases"][number]
    files = [str(folder / file) for file in case["files"]]
    options: dict = {}
    for word in case["options"]:
        options |= OPTIONS.get(word, {})
    if case["id"] == "no-newdoc":  # one document each, which neither file names
        assert score(*files, metrics="b3")["b3"].f1 == 1.0
        assert score(*files, metrics="b3", protocol="ua-1")["b3"].f1 == 1.0
        return
    result = score(*files, metrics=[*SOUND[case["id"]]], **({"split": "score"} | options))
    for metric, expected in SOUND[case["id"]].items():
        rates = [round(100 * rate, 2) for rate in (result[metric].recall, result[metric].precision)]
        assert rates == list(expected), metric
    if case["id"] == "singletons-assertion":
        with pytest.raises(CorefEvalError, match="the program cannot"):
            score(*files, protocol="ua-1", **options)
    for name, expected in case["v1"].get("scores", {}).items():
        metric = PRINTED.get(name, name)
        found = score(*files, metrics=metric, protocol="ua-1", **options)[metric]
        rates = [round(100 * rate, 2) for rate in (found.recall, found.precision, found.f1)]
        assert rates == ([100.0] * 3 if case["id"] in NOT_EMULATED else expected), name


def test_a_span_repeated_in_an_element_has_links_that_the_other_side_lacks():
    """The program keeps the repeat in the set, so that there is something right of nothing."""
    key, response = (build([([spans, [1]], {1: [0]})]) for spans in ([0, 0], [0]))
    for sides in ((key, response), (response, key)):
        result = score(*sides, metrics=[*WITH_BLANC, *ALL_ALONE], protocol="ua-1")
        assert all(isfinite(result[metric].f1) for metric in result.metrics)

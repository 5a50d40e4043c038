"""Sets of antecedents: against brute force, the vectors of the program, and at their edges."""

from __future__ import annotations

import json
import pickle
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval import CorefEvalError, Scorer, UndefinedMetricError, corpus_from_arrays, score
from corefeval.model import DEIXIS, CorpusBuilder, Relation, Relations
from reference_sets import METRICS, accommodate, count, count_sets
from strategies import entities

DATA = Path(__file__).parent / "data" / "anaphora"
WITH_BLANC = (*METRICS, "blanc")
ALONE = tuple(f"split(metric={metric})" for metric in METRICS)
ALL_ALONE = (*ALONE, "split(metric=blanc)")


def build(documents, ids=()):
    """A corpus of (entities, split) for each document, mentions being token positions."""
    entity, start, document, relations, first = [], [], [], [], 0
    for number, (groups, split) in enumerate(documents):
        for index, mentions in enumerate(groups):
            entity += [first + index] * len(mentions)
            start += mentions
            document += [number] * len(mentions)
        for whole, parts in split.items():
            antecedents = tuple((first + int(part), -1) for part in parts)
            relations.append(Relation("split-antecedent", (first + int(whole), -1), antecedents))
        first += len(groups)
    arrays = {"entity": entity, "start": start, "document": document}
    corpus = corpus_from_arrays(
        **{name: np.array(values, dtype=np.int64) for name, values in arrays.items()},
        document_ids=ids or [*map(str, range(len(documents)))],
    )
    return corpus.with_details(relations=Relations.of(relations))


def rows(result, metric):
    """A metric's counts, a list for each document."""
    return result.tables[str(corefeval.Metric.parse(metric))].values.tolist()


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
    if case["id"] == "no-newdoc":  # one document each, called after their files
        with pytest.raises(CorefEvalError, match="no document of the response is in the key"):
            score(*files, protocol="ua-1")
        assert score(*files, metrics="b3", pairing="position")["b3"].f1 == 1.0
        return
    result = score(*files, metrics=[*SOUND[case["id"]]], **({"split": "score"} | options))
    for metric, expected in SOUND[case["id"]].items():
        rates = [round(100 * rate, 2) for rate in (result[metric].recall, result[metric].precision)]
        assert rates == list(expected), metric
    if case["id"] == "singletons-assertion":
        with pytest.raises(CorefEvalError, match="the program stops"):
            score(*files, protocol="ua-1", **options)
    for name, expected in case["v1"].get("scores", {}).items():
        metric = PRINTED.get(name, name)
        found = score(*files, metrics=metric, protocol="ua-1", **options)[metric]
        rates = [round(100 * rate, 2) for rate in (found.recall, found.precision, found.f1)]
        assert rates == ([100.0] * 3 if case["id"] in NOT_EMULATED else expected), name


# From here on: what goes with the choice.

KEY = [([[0, 1], [2, 3], [4], [5, 6]], {3: [0, 1]})]
RESPONSE = [([[0, 1], [2, 3], [4], [5, 6]], {})]


def test_sets_that_are_not_scored_are_told_of():
    result = score(build(KEY), build(RESPONSE), metrics="muc")
    assert result["muc"].recall == 1
    [notice] = [one for one in result.notices if one.kind == "unscored-sets"]
    assert "1 set of antecedents left out" in str(notice)
    scored = score(build(KEY), build(RESPONSE), metrics="muc", split="score")
    assert scored["muc"].recall == 0.75
    assert "split:score" in scored.signature
    assert not [one for one in scored.notices if one.kind == "unscored-sets"]


def test_circles_and_sets_of_nothing_are_noticed():
    key = build([([[0], [1], [2], [3]], {0: [0], 1: [2], 2: [1], 3: [1]})])
    result = score(key, key, metrics="standard", split="score")
    assert {"circular-sets", "empty-sets"} <= {one.kind for one in result.notices}
    assert result["b3"].f1 == 1


@pytest.mark.parametrize("options", [{"metrics": "split"}, {"protocol": "ua-1"}], ids=str)
def test_circles_are_noticed_wherever_sets_are_looked_at(options):
    key, response = (build([([[0], [1], [2]], sets)]) for sets in ({0: [1], 1: [0, 2]}, {0: [2]}))
    notices = score(key, response, **options).notices
    [notice] = [one for one in notices if one.kind == "circular-sets"]
    assert "2 entities with a circle of antecedents" in str(notice)


def test_circles_of_the_other_layer_are_not_noticed():
    builder = CorpusBuilder()
    document = builder.document("d", words=list("abc"))
    document.mention("1", 0, 1)
    for name in "23":
        document.mention(name, 1, 2, layer=DEIXIS)
    document.relation("split-antecedent", ("2", DEIXIS), [("3", DEIXIS)])
    document.relation("split-antecedent", ("3", DEIXIS), [("2", DEIXIS)])
    corpus = builder.build()
    kinds = [
        {one.kind for one in score(corpus, corpus, split="score", layer=layer).notices}
        for layer in ("identity", "deixis")
    ]
    assert ["circular-sets" in one for one in kinds] == [False, True]


def test_sets_in_sets_in_sets_cost_no_more_than_their_elements():
    """Twenty thousand one in the other would take an hour if each were walked through by itself."""
    n = 20_000
    chain = {whole: [whole + 1] for whole in range(n)}
    for sets, value in ((chain, 1), ({**chain, n: [0]}, 0)):  # a circle has no set in the end
        key = build([([[token] for token in range(n + 1)], sets)])
        assert score(key, key, metrics="muc", split="score")["muc"].f1 == value


def test_singletons_are_dropped_and_stay_as_blocks():
    """An entity of one mention and a set is no singleton."""
    key = build([([[0], [1], [2]], {2: [0, 1]})])
    response = build([([[0, 1], [2]], {1: [0]})])
    result = score(key, response, metrics="b3, split(metric=b3)", split="score", singletons="drop")
    assert rows(result, "b3")[0][1] == 2
    assert rows(result, "split(metric=b3)")[0] == pytest.approx([2, 2, 1, 2])


@pytest.mark.parametrize("metric", ["links", "lmuc", "b3(twinless=sys)", "immediate", "p-link"])
def test_metrics_without_a_definition_say_so(metric):
    features = {"kind": lambda mention: "name"}
    with pytest.raises(UndefinedMetricError, match="split score"):
        score(build(KEY), build(KEY), metrics=metric, split="score", features=features)
    presets = score(build(KEY), build(KEY), metrics="papers", split="score", features=features)
    assert metric not in presets.tables
    assert "lea" in presets.tables


def test_slices_say_what_sets_leave_undefined():
    features = {"kind": lambda mention: "name"}
    result = score(
        build(KEY), build(RESPONSE), metrics="b3, mentions", split="score", by="kind",
        features=features,
    )  # fmt: skip
    assert "b3" in result.slices["kind"].undefined
    assert "b3" not in result.slices["kind"]["name"].tables
    assert result.slices["kind"]["name"]["mentions"].f1 == 1
    [notice] = [one for one in result.notices if one.kind == "undefined-slice"]
    assert "not defined by kind: b3" in str(notice)
    assert "--split off" in str(notice)


def test_slices_by_documents_have_their_sets():
    def documents(sides):
        return build(sides, ids=["nw/1", "nw/2", "bc/1"])

    sides = [*KEY, ([[0], [1], [2]], {2: [0, 1]}), ([[0, 1], [2]], {})]
    others = [*RESPONSE, ([[0], [1], [2]], {2: [1]}), ([[0, 1], [2]], {})]
    options = {"metrics": [*WITH_BLANC, "split"], "split": "score"}
    whole = score(documents(sides), documents(others), by="genre", **options)
    news = score(build(sides[:2]), build(others[:2]), **options)
    for metric in whole.metrics:
        slices = whole.slices["genre"]
        assert slices["nw"][metric].counts == pytest.approx(news[metric].counts), metric
        assert slices.whole[metric].counts == pytest.approx(whole[metric].counts)


def test_everything_takes_the_choice(tmp_path):
    """Scorer, sums, saved results, intervals, comparisons and segments."""
    known = [*KEY, ([[0], [1], [2]], {2: [0, 1]}), ([[0, 1], [2]], {})]
    others = [*RESPONSE, ([[0], [1], [2]], {2: [1]}), ([[0, 1], [2]], {})]
    key, response = build(known), build(others)
    whole = score(key, response, metrics="standard, split", split="score")
    assert Scorer(key, metrics="standard, split", split="score")(response) == whole
    parts = [
        score(*(build([s], [str(at)]) for s in both), metrics="standard, split", split="score")
        for at, both in enumerate(zip(known, others, strict=True))
    ]
    assert corefeval.Result.total(parts).scores == whole.scores
    whole.save(tmp_path / "result.json")
    assert corefeval.load(tmp_path / "result.json") == whole
    again = score(key, response, metrics="standard, split", protocol=whole.signature)
    assert again == whole
    sampled = score(key, response, metrics="muc, split", split="score", ci=0.95, samples=50)
    assert "f1" in sampled["split"].intervals
    compared = corefeval.compare(
        key, {"one": response, "itself": key}, metrics="muc, split", split="score", trials=50,
        samples=50,
    )  # fmt: skip
    assert compared.results["itself"]["split"].f1 == 1


def test_segments_of_a_single_document_keep_their_sets():
    groups = [[5 * n, 5 * n + 1] for n in range(40)] + [[5 * n + 3] for n in range(40)]
    split = {40 + n: [n, (n + 1) % 40] for n in range(40)}
    key = build([(groups, split)])
    for singletons in ("keep", "drop"):
        options = {"split": "score", "singletons": singletons, "as_segments": True}
        result = score(key, key, metrics="b3, muc, split", **options)
        assert len(result.document_ids) == 20
        assert [row[0] for row in rows(result, "b3")] == pytest.approx([8] * 20)
        assert [row[1] for row in rows(result, "split")] == pytest.approx([4] * 20)
        assert all(row[0] == row[1] for row in rows(result, "split"))


def test_pieces_score_sets_as_the_whole_does(shared, tmp_path):
    folder = shared / "anaphora" / "gum"
    files = [str(folder / name) for name in ("key.conllu", "eager.conllu")]
    options = {"metrics": "standard, split", "split": "score"}
    whole = score(*files, **options)
    cut = score(*files, piece_size="300KB", **options)
    for metric in whole.metrics:
        if whole.tables[metric].values is not None:
            assert np.allclose(cut.tables[metric].values, whole.tables[metric].values)


WORDS = [
    *[
        "Ann",
        "said",
        "she",
        "knew",
        "Bob",
        ".",
        "He",
        "knew",
        "Carol",
        ".",
        "The",
        "door",
        "of",
        "it",
        "was",
        "open",
        ".",
        "They",
        "left",
        ".",
    ]
]


def annotate(elements, antecedent=None, segment=(9, 12)):
    """Ann, Bob, Carol, and they, who are some of them; a door, perhaps somebody's."""
    builder = CorpusBuilder()
    document = builder.document("d", words=WORDS)
    for entity, place in ("1", 0), ("1", 2), ("2", 4), ("2", 6), ("3", 8), ("4", 17):
        document.mention(entity, place, place + 1)
    door = document.mention("5", 10, 12)
    if elements:
        document.relation("split-antecedent", "4", elements)
    if antecedent:
        document.relation("bridging", door, [antecedent])
    document.mention("6", *segment, layer=DEIXIS)
    document.mention("6", 13, 14, layer=DEIXIS)
    return builder.build()


@pytest.mark.parametrize(
    ("key", "response", "kind", "sides"),
    [
        ((["1", "2"],), (["1", "3"],), "wrong set", ("Ann + Bob", "Ann + Carol")),
        ((["1", "2"],), ([],), "missed set", ("Ann + Bob", None)),
        (([],), (["1", "2"],), "spurious set", (None, "Ann + Bob")),
        (([], "1"), ([], "2"), "wrong bridging", ("she", "He")),
        (([], "1"), ([],), "missed bridging", ("she", None)),
        (([],), ([], "2"), "spurious bridging", (None, "He")),
    ],
)
def test_errors_list_sets_and_bridging(key, response, kind, sides):
    analysis = corefeval.analyse(annotate(*key), annotate(*response), split="score")
    [error] = analysis.listed(kind)
    assert (error.key_entity, error.response_entity) == sides
    assert error.mentions[0].text == ("They" if kind.endswith("set") else "The door")
    assert {name for name, found in analysis.relations.items() if found} == {kind}
    assert kind in corefeval.render(analysis)
    assert analysis.as_dict()["relations"][kind] == 1


def test_layers_are_scored_apart():
    """Segments match exactly, or by what they share."""
    key, response = annotate([]), annotate([], segment=(9, 11))
    assert score(key, response, metrics="mentions, muc")["muc"].f1 == 1
    exact = score(key, response, metrics="mentions, muc", layer="deixis")
    assert (exact["mentions"].f1, exact["muc"].f1) == (0.5, 0)
    kinder = score(key, response, metrics="muc", layer="deixis", match="overlap(0.6)")
    assert kinder["muc"].f1 == 1
    left_out = score(key, response, metrics="muc").notices
    assert [str(one) for one in left_out if one.kind == "unscored-deixis"]


def test_bridging_is_on_the_layer_of_identity_alone():
    key = annotate([], "1")
    names = "bridging(level=anaphor), non-referring, muc"
    notices = score(key, key, metrics=names, layer="deixis").notices
    [notice] = [one for one in notices if one.kind == "other-layer"]
    assert str(notice) == (
        "nothing for bridging(level=anaphor), non-referring here: --layer identity has it"
    )
    for options in ({"metrics": names}, {"metrics": "muc", "layer": "deixis"}):
        kinds = {one.kind for one in score(key, key, **options).notices}
        assert "other-layer" not in kinds


def test_what_is_prepared_travels_with_its_sets():
    prepared = corefeval.prepare(
        annotate(["1", "2"]), annotate(["1", "3"]), split="score", singletons="drop"
    )
    again = pickle.loads(pickle.dumps(prepared))
    metrics = "muc, lea, split"
    assert corefeval.count(again, metrics) == corefeval.count(prepared, metrics)


def test_large_numbers_of_sets_are_quick():
    """Thousands of pairs of sets that share mentions: arrays, not loops."""
    rng = np.random.default_rng(0)
    groups = [[2 * n, 2 * n + 1] for n in range(200)] + [[1000 + n] for n in range(150)]
    sets = [
        {200 + n: sorted(rng.choice(200, 3, replace=False).tolist()) for n in range(150)}
        for _ in range(2)
    ]
    key, response = (build([(groups, one)]) for one in sets)
    result = score(key, response, metrics="standard", split="score")
    assert 0 < result["lea"].f1 < 1


@pytest.mark.parametrize("name", ["ua-1", "corefud-1.2"])
@pytest.mark.parametrize("aggregate", ["pool", "weighted"])
def test_programs_have_no_means_that_need_numbers_of_mentions(name, aggregate, tmp_path):
    corpus = corefeval.read(corefeval.example("key"))
    path = tmp_path / "key.conllu"
    corefeval.write(corpus, path, format="corefud")
    with pytest.raises(corefeval.UsageError, match="aggregate micro or macro"):
        corefeval.score(path, path, protocol=f"{name}|aggregate:{aggregate}")

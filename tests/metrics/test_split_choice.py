"""Sets of antecedents: what goes with the choice, and at the edges of it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import corefeval
from corefeval import Scorer, UndefinedMetricError, score
from corefeval.model import DEIXIS, CorpusBuilder
from reference_sets import METRICS, build, rows

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
    assert "2 entities with circular antecedents" in str(notice)


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
    options = {"metrics": [*METRICS, "blanc", "split"], "split": "score"}
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
        "nothing to count for bridging(level=anaphor), non-referring here: use --layer identity"
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

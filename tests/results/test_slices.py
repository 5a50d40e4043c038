"""Scores by features of documents, entities and mentions, through the API and the command line."""

from __future__ import annotations

import csv
import io
import json

import pytest

import corefeval
from corefeval.cli import main
from corefeval.metrics import REGISTRY

KEY, EAGER = corefeval.example("key"), corefeval.example("eager")


@pytest.fixture(scope="module")
def sliced() -> corefeval.Result:
    return corefeval.score(
        KEY, EAGER, metrics="all", by=["genre", "entity_class", "size", "kind", "tag"]
    )


def test_every_metric_is_in_a_slice_or_said_to_be_undefined(sliced):
    for feature, slices in sliced.slices.items():
        scored = set(slices.whole.metrics)
        assert scored | set(slices.undefined) >= set(sliced.metrics), feature
        assert not scored & set(slices.undefined)
    said = [notice for notice in sliced.notices if notice.kind == "undefined-slice"]
    by_kind = next(notice for notice in said if "by kind:" in str(notice))
    assert {"ceafm", "ceafe", "conll", "lceafe", "anchors"} <= set(by_kind.items)
    assert not sliced.slices["genre"].undefined


def test_slices_by_genre_are_scores_of_those_documents(sliced):
    genres = sliced.slices["genre"]
    assert dict(genres.sizes) == {"nw": 3, "bc": 3, "fi": 3}
    for genre, part in genres.items():
        alone = corefeval.score(KEY, EAGER, metrics="all", documents=f"{genre}/*")
        assert part.document_ids == alone.document_ids
        for metric in alone.metrics:
            assert part[metric].rates == pytest.approx(alone[metric].rates), metric


def test_entity_slices_have_mentions_and_links():
    slices = corefeval.score(KEY, EAGER, metrics="anchors", by="size(1,2-3,4+)").slices
    (by_size,) = slices.values()
    assert by_size.feature == "size(1, 2-3, 4+)"
    assert list(by_size) == ["1", "2–3", "4+"]
    assert by_size.whole.metrics == ("mentions", "links", "anchors")
    corpus = corefeval.read(KEY)
    sizes = corpus.entity_sizes
    assert dict(by_size.sizes) == {
        "1": int((sizes == 1).sum()),
        "2–3": int(((sizes > 1) & (sizes < 4)).sum()),
        "4+": int((sizes > 3).sum()),
    }


def test_entities_are_sliced_by_their_own_side():
    """Worked by hand: a pair and a triple; the response makes a pair of the triple."""
    key, response = [["a", "b"], ["c", "d", "e"]], [["a", "b"], ["c", "d"]]
    by_size = corefeval.score(key, response, metrics="links", by="size(2,3)").slices["size(2, 3)"]
    assert (by_size["2"]["links"].recall, by_size["2"]["links"].precision) == (1.0, 1.0)
    assert by_size["2"]["links"].counts["precision_denominator"] == 2
    assert by_size["3"]["links"].recall == pytest.approx(1 / 3)
    assert by_size["3"]["links"].counts["precision_denominator"] == 0


def test_p_link_has_its_categories():
    score = corefeval.score(KEY, EAGER, metrics=["p-link(by=speaker)", "muc"])
    categories = score["p-link(by=speaker)"].categories
    assert len(categories) > 2
    for count, whole in score["muc"].counts.items():
        assert sum(one.counts[count] for one in categories.values()) == pytest.approx(whole)


def test_the_toy_examples_are_one_liners():
    kinds = {"kind": {"Hillary Clinton": "name", "she": "pronoun", "her": "pronoun"}}
    key = [["Hillary Clinton", "she", "her"]]
    first = corefeval.score(key, [["Hillary Clinton", "she"]], metrics="lmuc", features=kinds)
    second = corefeval.score(key, [["she", "her"]], metrics="lmuc", features=kinds)
    assert first["lmuc"].recall == 0.5
    assert second["lmuc"].recall == 0.25


def test_features_of_several_documents():
    key = {"one": [["a", "b"]], "two": [["a", "b"]]}
    kinds = {
        "one": {"a": "name", "b": "pronoun"},
        "two": {"a": "pronoun", "b": "pronoun"},
    }
    result = corefeval.score(key, key, metrics="lmuc", features={"kind": kinds})
    assert result.per_document_counts("lmuc")["recall_denominator"].tolist() == [1.0, 0.5]


def test_a_function_is_a_feature():
    result = corefeval.score(
        KEY, EAGER, metrics="mentions", by="letter", features={"letter": lambda m: m.text[0]}
    )
    slices = result.slices["letter"]
    assert "T" in slices
    assert sum(slices.sizes.values()) == corefeval.read(KEY).n_mentions
    assert "features:letter" in result.signature


def test_many_values_stand_together():
    entities = [[f"{entity}-{mention}" for mention in range(2)] for entity in range(600)]
    own = {"own": lambda mention: str(mention.label)}
    result = corefeval.score(entities, entities, metrics="muc", by="own", features=own)
    assert len(result.slices["own"]) == 501
    assert result.slices["own"]["other"]["muc"].f1 == 1.0
    assert [notice.kind for notice in result.notices] == ["rare-values"]


def test_values_that_are_called_like_no_value():
    key = [["none", "b"], ["other", "d"]]
    own = {"own": {"none": "none", "other": "other", "b": None, "d": "x"}}
    slices = corefeval.score(key, key, metrics="muc", by="own", features=own).slices["own"]
    assert set(slices) == {"none", "other", "x", "(none)"}


def test_what_the_data_lacks_is_an_error_by_name_and_a_notice_in_a_preset(tmp_path):
    bare = tmp_path / "bare.conll"
    bare.write_text("#begin document (d); part 000\nd 0 0 he (1)\nd 0 1 him (1)\n#end document\n")
    with pytest.raises(corefeval.UndefinedMetricError, match="tag"):
        corefeval.score(bare, bare, metrics="lmuc")
    with pytest.raises(corefeval.UndefinedMetricError, match="tag"):
        corefeval.score(bare, bare, by="kind")
    result = corefeval.score(bare, bare, metrics="papers")
    assert "lmuc" not in result.metrics
    assert {"lea", "b3(twinless=sys)", "immediate"} <= set(result.metrics)
    skipped = [str(notice) for notice in result.notices if notice.kind == "skipped-metric"]
    assert len(skipped) == 2  # one for what lacks kinds, one for what lacks nouns
    assert any(
        note.startswith("skipped: lmuc, lb3, lceafm, lceafe, p-link: kind") for note in skipped
    )
    assert main(["score", str(bare), str(bare), "-m", "anchors"]) == 1


@pytest.mark.parametrize(
    ("features", "problem"),
    [
        ({"Ada": "name"}, "did you mean"),
        ([("kind", {})], "features is a mapping"),
        ({"kind": {"nowhere": {"Ada": "name"}}}, "no document 'nowhere'"),
        ({"kind": {"Ada": "noun"}}, "an unknown kind"),
    ],
)
def test_features_that_cannot_be_given(features, problem):
    with pytest.raises(corefeval.CorefEvalError, match=problem):
        corefeval.score([["Ada"]], [["Ada"]], metrics="lmuc", features=features)


def test_a_tag_set_that_the_tags_are_not_of():
    with pytest.raises(corefeval.UndefinedMetricError, match="look like penn"):
        corefeval.score(KEY, EAGER, metrics="lmuc", tagset="stts")


def test_what_only_the_key_states_is_told():
    key, response = [["a", "b"]], [["a", "b", "c"]]
    own = {"mine": {"a": "x", "b": "x"}}
    result = corefeval.score(key, response, metrics="mentions", by="mine", features=own)
    (notice,) = result.notices
    assert (notice.kind, notice.count) == ("no-value", 1)
    assert result.slices["mine"]["none"]["mentions"].precision == 0.0


def test_a_metric_of_a_feature_goes_by_what_is_asked_for():
    """Without tags there are no kinds, and nobody asked for them."""
    key = [["a", "b"], ["c"]]
    result = corefeval.score(key, key, metrics="muc, p-link", by="size")
    assert list(result.slices) == ["size"]
    assert result["p-link"].categories["2–10"].recall == 1.0


@pytest.mark.parametrize(
    "metric",
    [
        *("lmuc(name=1e300)", "lmuc(name=0)", "lmuc(singleton=-1)", "lb3(singleton=0)"),
        *("lceafe(singleton=0)", "p-link(anaphor=0,antecedent=0)", "b3-foo"),
    ],
)
def test_parameters_that_make_no_sense(metric):
    with pytest.raises(corefeval.UsageError):
        corefeval.score(KEY, EAGER, metrics=metric)


@pytest.mark.parametrize("feature", ["knid", "size(x)", "kind(", "distance(miles)"])
def test_features_that_are_none(feature, capsys):
    assert main(["score", KEY, EAGER, "--by", feature]) in (1, 2)
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") < 6


def test_csv_has_slices_and_parts(capsys):
    assert main(["score", KEY, EAGER, "-m", "anchors,immediate", "--by", "genre", "-f", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["metric"] for row in rows} == {
        "anchors", "anchors.detection", "anchors.mentions", "immediate",
    }  # fmt: skip
    sliced = [row for row in rows if row["feature"]]
    assert {row["value"] for row in sliced} == {"nw", "bc", "fi"}
    assert all("slice:genre=" in row["signature"] for row in sliced)
    assert all(0 <= float(row["accuracy"]) <= 1 for row in rows if row["metric"] == "immediate")


def test_json_has_slices_and_parts(capsys):
    assert (
        main(["score", KEY, EAGER, "-m", "anchors,p-link(by=kind)", "-b", "genre", "-f", "json"])
        == 0
    )
    (response,) = json.loads(capsys.readouterr().out)["responses"]
    anchors = response["slices"]["genre"]["fi"]["anchors"]
    assert set(anchors) == {"detection", "mentions", "f1"}
    assert anchors["detection"]["counts"].keys() == {"tp", "fn", "fp"}
    assert set(response["slices"]["kind"]) == {"name", "nominal", "pronoun"}
    assert response["slice_sizes"]["genre"] == {"nw": 3, "bc": 3, "fi": 3}
    assert "anchors" not in response["undefined_slices"]["kind"]  # nobody asked for it


@pytest.mark.parametrize("format", ["text", "markdown", "latex"])
def test_tables_have_a_row_for_each_value(format, capsys):
    arguments = ["score", KEY, EAGER, corefeval.example("cautious"), "--format", format]
    assert main([*arguments, "-m", "immediate,inferred", "--by", "tag"]) == 0
    printed = capsys.readouterr().out
    for value in ("NOUN", "PRP", "all"):
        assert value in printed
    assert main([*arguments, "-m", "anchors", "--by", "entity_class"]) == 0
    assert "PERSON" in capsys.readouterr().out


def test_nothing_to_count_is_no_zero(capsys):
    arguments = ["score", KEY, EAGER, "-m", "anchors", "--by", "entity_class", "-f"]
    assert main([*arguments, "text"]) == 0
    (line,) = [row for row in capsys.readouterr().out.splitlines() if row.startswith("WORK_OF")]
    assert line.split()[-1] == "–"
    assert main([*arguments, "csv"]) == 0
    rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
    rates = {r["metric"]: r["f1"] for r in rows if r["value"] == "WORK_OF_ART"}
    assert rates["anchors"] == "" != rates["mentions"]
    assert main([*arguments, "json"]) == 0
    (response,) = json.loads(capsys.readouterr().out)["responses"]
    assert response["slices"]["entity_class"]["WORK_OF_ART"]["anchors"] is None


def test_slices_are_found_in_any_spelling():
    result = corefeval.score(KEY, EAGER, metrics="muc", by="Size( 1, 2-5,6+ )")
    assert result.by("size(1,2-5,6+)")["2-5"] is result.slices["size(1, 2-5, 6+)"]["2–5"]
    for wrong in ("kind", "size"):
        with pytest.raises(corefeval.UsageError, match="no slices by"):
            result.by(wrong)
    for by in (3, ["kind", 3]):
        with pytest.raises(corefeval.UsageError):
            corefeval.score(KEY, EAGER, by=by)


def test_features_are_listed(capsys):
    assert main(["features"]) == 0
    listed = capsys.readouterr().out
    assert "chain_position" in listed
    assert main(["features", "kind", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["features"][0]["name"] == "kind"
    assert main(["features", "knid"]) == 2


@pytest.mark.parametrize("name", ["gum/xrenner.conll", "gum/xrenner.conllu", "annotators/JA.conll"])
def test_real_corpora_define_everything(shared, name):
    """Whatever the data can define is scored, by every feature that it states."""
    key = {"gum": f"key{name[name.rindex('.') :]}", "annotators": "AK.conll"}[name.split("/")[0]]
    features = ["size", "kind", "noun", "tag", "head_tag", "length", "chain_position"]
    features += ["distance", "distance(sentences)", "nested"]
    classes = "(column=10)" if "annotators" in name else ""
    features += [f"class{classes}", f"entity_class{classes}"]
    features += ["sentence_type", "infstat"] if name.endswith("u") else []
    features += ["genre"] if name.startswith("gum") else []
    response = shared / name
    result = corefeval.score(response.parent / key, response, metrics="all", by=features)
    known = {name for name, declared in REGISTRY.items() if not declared.beyond}
    assert {metric.partition("(")[0] for metric in result.metrics} == known
    assert set(result.slices) >= set(features)
    assert not [notice for notice in result.notices if notice.kind == "skipped-metric"]


def test_values_with_very_many_digits_have_an_order():
    """Python converts no text of more than 4,300 digits to a number."""
    long = "9" * 5000
    key = [["a", "b", "c"]]
    features = {"width": {"a": long, "b": "22", "c": "1"}, "kind": dict.fromkeys("abc", "name")}
    result = corefeval.score(key, key, metrics="b3", features=features, by="width, kind*width")
    assert list(result.by("width")) == ["1", "22", long]
    assert list(result.by("kind*width")) == ["name*1", "name*22", f"name*{long}"]

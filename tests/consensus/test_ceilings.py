"""Audits and ceilings: exact on vectors."""

from __future__ import annotations

import pytest

import corefeval
from annotations import cases_of, make_corpus, make_sides


@pytest.mark.parametrize("case", cases_of("audit"), ids=lambda case: case["name"])
def test_audit_vectors(case):
    found = corefeval.audit(make_corpus(case["key"]), make_sides(case["responses"])).as_dict()
    names = (
        *("document", "kind", "mention", "entity", "other", "against", "support", "suspicion"),
    )
    assert [[row[name] for name in names] for row in found["findings"]] == case["findings"]


@pytest.mark.parametrize("case", cases_of("ceiling"), ids=lambda case: case["name"])
def test_ceiling_vectors(case):
    metrics = dict.fromkeys(row["metric"] for row in case["rows"] if row["metric"] != "links")
    agreement = corefeval.agree(
        make_sides(case["annotators"]),
        make_sides(case["responses"]),
        metrics=", ".join(metrics),
        ci=True,
        samples=case["samples"],
        seed=case["seed"],
    )
    rows = agreement.as_dict()["ceilings"]
    assert len(rows) == len(case["rows"])
    for row, expected in zip(rows, case["rows"], strict=True):
        compare(row, expected)


def compare(found, expected):
    if isinstance(expected, dict):
        for name, value in expected.items():
            compare(found[name], value)
    elif isinstance(expected, list | float):
        assert found == pytest.approx(expected, abs=1e-9)
    else:
        assert found == expected


def test_planted_errors_are_found_and_a_seed_repeats_itself():
    key = corefeval.example("key")
    responses = {"same": key, "again": key, "eager": corefeval.example("eager")}
    planted = corefeval.audit(key, responses, plant=40, seed=3)
    assert planted.findings == corefeval.audit(key, responses).findings
    top, *_, last = planted.calibration
    assert top["suspicion"] == 1 and 0 < top["recall"] <= last["recall"] <= 1
    assert last["recall"] > 0.9 and top["precision"] >= last["precision"] > 0.5
    assert corefeval.audit(key, responses, plant=40, seed=3).calibration == planted.calibration
    assert corefeval.audit(key, responses, plant=40, seed=4).calibration != planted.calibration
    with pytest.raises(corefeval.UsageError):
        corefeval.audit(key, responses, plant=-1)


def test_a_perfect_system_reaches_the_ceiling_and_zero_has_no_share():
    ann, bob = [["a", "b", "c"]], [["a", "b"], ["c", "d"]]
    agreement = corefeval.agree({"ann": ann, "bob": bob}, {"twin": ann}, metrics="muc", ci=True)
    rows = {(row["metric"], row["kind"]): row for row in agreement.ceilings}
    assert rows["muc", "best"]["responses"]["twin"]["value"] == 1
    assert rows["muc", "best"]["ceiling"] == rows["muc", "mean"]["ceiling"]
    assert {"no-interval"} <= {notice.kind for notice in agreement.notices}
    nothing = corefeval.agree({"ann": [["a", "b"]], "bob": [["c", "d"]]}, {"x": ann}, metrics="muc")
    assert nothing.ceilings[0]["responses"]["x"]["share"] is None
    assert "no-share" in {notice.kind for notice in nothing.notices}
    with pytest.raises(corefeval.UsageError, match="two annotators or responses are called"):
        corefeval.agree({"ann": ann, "bob": bob}, {"ann": ann})
    many = {str(number): ann for number in range(13)}
    kinds = [row["kind"] for row in corefeval.agree(many, {"x": bob}, metrics="muc").ceilings]
    assert kinds == ["mean", "best"]


def test_tokens_that_differ_are_aligned(conll):
    line = '{{"doc_key": "x_0", "sentences": [{}], "clusters": {}}}\n'
    ann = conll(line.format('["Ada", "ate", "her", "ice-cream"]', "[[[0, 0], [2, 2]], [[2, 3]]]"))
    bob = conll(
        line.format('["Ada", "ate", "her", "ice", "-", "cream"]', "[[[2, 5]], [[0, 0], [2, 2]]]")
    )
    agreement = corefeval.agree({"ann": ann, "bob": bob}, {"x": ann, "y": bob}, tokens="align")
    assert {row["ceiling"] for row in agreement.ceilings} == {1.0}
    assert {r["value"] for row in agreement.ceilings for r in row["responses"].values()} == {1.0}
    merged = corefeval.merge([bob, ann], tokens="align")
    assert merged.cost == 0 and merged.corpus[0].words[3:] == ["ice", "-", "cream"]
    assert merged.as_dict()["documents"][0]["entities"] == [[[0, 1], [2, 3]], [[2, 6]]]
    assert "first-tokens" in {notice.kind for notice in merged.notices}
    assert not corefeval.audit(ann, [bob], tokens="align").findings


def test_a_key_without_mentions_is_audited_by_any_match(conll):
    line = '{{"doc_key": "x_0", "sentences": [["Ada", "saw", "her"]], "clusters": {}}}\n'
    key, response = conll(line.format("[]")), conll(line.format("[[[0, 0], [2, 2]]]"))
    for match in ("exact", "overlap(1)", "partial"):
        assert not corefeval.audit(key, [response, response], match=match).findings


def test_responses_without_names_are_told_apart_from_annotators():
    ann, bob, system = [["a", "b"]], [["a", "b"], ["c"]], [["a"], ["b", "c"]]
    agreement = corefeval.agree([ann, bob], responses=[system, system])
    assert agreement.annotators == ("annotator 1", "annotator 2")
    assert [*agreement.ceilings[0]["responses"]] == ["response 1", "response 2"]
    assert corefeval.audit(ann, [system]).responses == ("response 1",)
    with pytest.raises(corefeval.UsageError, match="responses must be a list"):
        corefeval.agree([ann, bob], responses="x.conll")


def test_documents_that_a_response_lacks_are_noted():
    ann = {"d": [["a", "b"]], "e": [["a", "b"]]}
    sides = {"ann": ann, "bob": ann}
    agreement = corefeval.agree(sides, responses={"s": {"d": ann["d"], "f": ann["e"]}})
    assert [notice.message for notice in agreement.notices if "document" in notice.kind] == [
        "s: 1 document not in s, counted as empty: ‘e’",
        "s: 1 document not in the annotations, left out: ‘f’",
    ]

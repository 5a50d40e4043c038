"""What users are told of matches other than exact ones: tables, signatures and notices."""

from __future__ import annotations

import json

import pytest

import corefeval
from corefeval import agree, score


def test_several_matches_in_one_table(run):
    key, response = corefeval.example("key"), corefeval.example("eager")
    status, out, _ = run(
        "score", key, response, "--match", "exact, head,overlap(0.3)", "-m", "lea", "-f", "json"
    )
    assert status == 0
    found = {one["name"]: one["scores"]["lea"]["f1"] for one in json.loads(out)["responses"]}
    assert list(found) == [f"eager.conll ({m})" for m in ("exact", "head", "overlap(0.3)")]
    for match in ("exact", "head", "overlap(0.3)"):
        alone = score(key, response, match=match, metrics="lea")
        assert f"match:{match}|" in alone.signature
        assert found[f"eager.conll ({match})"] == alone["lea"].f1
    status, _, error = run("score", key, response, "--match", "exact,heads")
    assert status == 2
    assert "match is one of exact, head" in error


def test_several_matches_are_told_apart_in_slices_and_notices(run):
    key, response = corefeval.example("key"), corefeval.example("eager")
    options = ("--match", "exact,head,partial", "-m", "lea", "--by", "kind")
    status, out, notes = run("score", key, response, *options)
    assert status == 0
    for match in ("exact", "head", "partial"):
        # Once in the first table, and for each of three kinds and all of them.
        assert out.count(f"eager.conll ({match})") == 5
    assert "eager.conll: 4 mentions matched by head with key mentions of other tokens" in notes
    assert "eager.conll: 2 mentions matched by partial with" in notes


@pytest.mark.parametrize("command", ["compare", "errors", "agree"])
def test_only_a_score_takes_several_matches(run, command):
    key, response = corefeval.example("key"), corefeval.example("eager")
    status, _, error = run(command, key, response, "--match", "exact,head")
    assert status == 2
    assert "not 'exact,head': only the command score takes several at once" in error


def test_heads_other_than_the_signature_says_are_told():
    key, response = corefeval.example("key"), corefeval.example("eager")
    first = score(key, response, metrics="lea", match="head")
    assert "|heads:parse+tags|" in first.signature
    again = score(key, response, metrics="lea", protocol=first.signature)
    assert [n for n in again.notices if n.kind == "other-heads"] == []
    other = score(key, response, metrics="lea", protocol="match:head|heads:file")
    assert [n.message for n in other.notices if n.kind == "other-heads"] == [
        "the protocol says heads:file, but here they are heads:parse+tags: "
        "numbers from other heads are not comparable"
    ]
    exact = score(key, response, metrics="lea", protocol=first.signature, match="exact")
    assert [n for n in exact.notices if n.kind == "other-heads"] == []


@pytest.mark.parametrize(
    ("match", "what"),
    [("head", "parse trees, no tags"), ("partial", "parse trees"), ("min", "parse trees")],
)
@pytest.mark.parametrize(("format", "name"), [("e2e", "bare.jsonl"), ("brat", "folder")])
def test_columns_of_the_response_in_place_of_the_keys_are_told(tmp_path, match, what, format, name):
    key, response = corefeval.example("key"), corefeval.example("eager")
    bare = tmp_path / name
    corefeval.write(corefeval.read(key), bare, format=format)
    options = {"match": match, "metrics": "mentions"}
    found = [n.message for n in score(bare, response, **options).notices if n.kind == "borrowed"]
    assert found == [f"{bare}: no {what}: those of {response} are used"]
    for other in (response, bare):
        found = score(key, other, **options)
        assert [n for n in found.notices if n.kind == "borrowed"] == []


def test_agreement_says_what_told_the_heads():
    sides = [corefeval.example(name) for name in ("key", "eager")]
    found = [n.message for n in agree(sides, match="head").notices if n.kind == "heads"]
    assert found == [
        "key.conll: heads of mentions of several tokens: 131 by parse trees",
        "eager.conll: heads of mentions of several tokens: 176 by parse trees, 1 by tags",
    ]


@pytest.mark.parametrize("match", ["head", "partial", "min", "overlap(0.5)"])
def test_everything_downstream_goes_by_the_matches(match):
    key, response = corefeval.example("key"), corefeval.example("eager")
    result = score(key, response, match=match, metrics="all", by="kind, genre, zero", ci=0.9)
    assert not [n for n in result.notices if n.kind == "skipped-metric"]
    assert result.slices["kind"]["name"]["b3"].f1 > 0
    single = str(corefeval.read(key).documents[0])
    parts = score(key, response, match=match, documents=single, as_segments=True, segments=3)
    assert len(parts.document_ids) > 1
    compared = corefeval.compare(
        key, [response, corefeval.example("cautious")], match=match, metrics="lea", trials=50
    )
    assert "lea" in compared.metrics
    agreement = agree([key, response], match=match, metrics="b3")
    assert [n.kind for n in agreement.notices].count("alpha-exact") == 1

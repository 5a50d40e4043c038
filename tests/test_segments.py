"""Intervals beside scores, and the segments of a corpus that is one document."""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval import Notice, UsageError, corpus_from_arrays, score
from corefeval.pairing import segment
from corefeval.preparation import prepare
from corefeval.stats import intervals, with_intervals

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))

MENTIONS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(1, 3), st.integers(0, 4)),
    min_size=1, max_size=40, unique_by=lambda mention: mention[:2],
)  # fmt: skip


def corpus_of(mentions):
    start, length, entity = np.array(mentions, dtype=np.int64).reshape(-1, 3).T
    return corpus_from_arrays(entity=entity, start=start, end=start + length)


def cut_up(key, response, number):
    prepared = prepare(key, response)
    partners = prepared.matches.partners_of_response(response.n_mentions)
    return segment(key, response, partners, number)


def restricted(mentions, cuts):
    """The entities of each segment, as plain Python."""
    found = {place: defaultdict(list) for place in range(len(cuts) + 1)}
    for start, length, entity in sorted(mentions, key=lambda m: (m[0], -m[1])):
        found[sum(start >= cut for cut in cuts)][entity].append((start, start + length))
    return {str(place): list(entities.values()) for place, entities in found.items()}


@given(MENTIONS, MENTIONS, st.integers(2, 8))
@settings(max_examples=150)
def test_segments_are_documents_of_their_own(key, response, number):
    cut = cut_up(corpus_of(key), corpus_of(response), number)
    starts = {start for start, _, _ in key}
    if len(starts) == 1:
        assert isinstance(cut, Notice)
        return
    if isinstance(cut, Notice):  # all wanted cuts fell onto the first mention
        return
    assert 2 <= len(cut) <= number
    by_hand = [restricted(side, cut.cuts) for side in (key, response)]
    assert all(by_hand[0].values()), "each segment has mentions of the key"
    expected = score(*by_hand, metrics="muc, b3, ceafe, lea, mentions")
    found = score(cut.key, cut.response, metrics="muc, b3, ceafe, lea, mentions")
    for metric in expected.metrics:
        for name, values in expected.per_document_counts(metric).items():
            assert found.per_document_counts(metric)[name] == pytest.approx(values)


def test_segments_begin_with_sentences():
    corpus = corefeval.read(KEY)
    one = corpus.select_documents(np.array([0]))
    cut = cut_up(one, one, 4)
    assert set(cut.cuts) <= set(one.tokens.sentence_starts(0))
    sizes = np.diff([0, *cut.cuts, one.tokens.counts[0]])
    assert sizes.max() <= 3 * sizes.min()
    assert str(cut.key.documents[0]).endswith("segment 1 of 4")


def long_document(quality, size=300):
    """A text of 300 sentences of one mention each, some of them in the wrong entity."""
    generator = np.random.default_rng(1)
    entity = generator.integers(0, 12, size)
    wrong = generator.random(size) > quality
    tokens = np.arange(size) * 5
    key = corpus_from_arrays(entity=entity, start=tokens, document_ids=["novel"])
    moved = np.where(wrong, (entity + 1) % 12, entity)
    return key, corpus_from_arrays(entity=moved, start=tokens, document_ids=["novel"])


def test_one_document_is_resampled_by_segments():
    key, response = long_document(0.8)
    plain = score(key, response, metrics="conll, lea")
    result = score(key, response, metrics="conll, lea", ci=0.9, seed=0, segments=15)
    for metric in plain.metrics:
        assert result[metric].rates == plain[metric].rates  # the score is that of the whole
        low, high = result[metric].intervals["f1"]
        assert 0 < low < high < 1
    assert "ci:bootstrap(15 segments,level=0.9,samples=1000,seed=0)" in result.signature
    notice = next(one for one in result.notices if one.kind == "segments")
    assert "novel" in str(notice) and "15 segments" in str(notice)
    outside = [
        metric
        for metric in result.metrics
        if not result[metric].intervals["f1"][0] <= result[metric].f1
        or not result[metric].f1 <= result[metric].intervals["f1"][1]
    ]
    told = [one.items for one in result.notices if one.kind == "interval-elsewhere"]
    assert told == ([tuple(outside)] if outside else [])


def test_slices_of_segments_have_intervals():
    key, response = long_document(0.7)
    kinds = {"kind": lambda mention: "name" if mention.start % 2 else "pronoun"}
    options = {"metrics": "muc", "by": "kind", "features": kinds, "ci": 0.95}
    for singletons in ("keep", "drop"):
        result = score(key, response, singletons=singletons, **options)
        for value in ("name", "pronoun"):
            assert result.slices["kind"][value]["muc"].intervals["recall"]


@pytest.mark.parametrize(
    ("key", "response"),
    [
        ([["a", "b"], ["c", "d"]], [["a", "b"], ["c"]]),  # no positions
        (corpus_from_arrays(entity=[0], start=[3]), corpus_from_arrays(entity=[0], start=[3])),
    ],
)
def test_what_cannot_be_cut_has_no_interval_and_says_so(key, response):
    result = score(key, response, metrics="muc", ci=0.95)
    assert not result["muc"].intervals
    assert {"no-segments", "no-interval"} <= {notice.kind for notice in result.notices}
    assert "ci:" not in result.signature


def test_intervals_are_those_of_the_bootstrap():
    result = score(KEY, EAGER, ci=0.9, samples=200, seed=3, by="genre, kind")
    alone = intervals(score(KEY, EAGER), level=0.9, samples=200, seed=3)
    for metric, score_ in result.scores.items():
        for rate, ends in score_.intervals.items():
            assert ends == pytest.approx(alone[metric][rate])
    for slices in result.slices.values():
        for part in slices.values():
            own = intervals(part, level=0.9, samples=200, seed=3)
            for metric in part.metrics:
                assert part[metric].intervals["f1"] == pytest.approx(own[metric]["f1"])


def test_seeds():
    options = {"metrics": "muc", "ci": 0.95, "samples": 100}
    zero, same, other = (score(KEY, EAGER, seed=seed, **options) for seed in (0, 0, 1))
    assert zero["muc"].intervals == same["muc"].intervals != other["muc"].intervals


def test_small_slices_have_no_interval():
    key = {"a": [["x", "y"]], "b": [["x", "y"]], "c": [["x", "y"]]}
    sides = {"a": "name", "b": "pronoun", "c": "pronoun"}
    kinds = {"kind": {name: dict.fromkeys("xy", kind) for name, kind in sides.items()}}
    result = score(key, key, metrics="b3", by="kind", features=kinds, ci=0.95)
    assert not result.slices["kind"]["name"]["b3"].intervals
    assert result.slices["kind"]["pronoun"]["b3"].intervals
    assert [n.items for n in result.notices if n.kind == "no-interval"] == [("kind=name",)]


def test_intervals_do_not_add_up():
    result = score(KEY, EAGER, metrics="muc", ci=0.95)
    plain = score(KEY, EAGER, metrics="muc")
    total = result + plain
    assert not total["muc"].intervals
    assert total.signature == plain.signature
    assert with_intervals(total)["muc"].intervals


@pytest.mark.parametrize("options", [{"ci": 95}, {"samples": 0}, {"seed": -1}, {"segments": 1}])
def test_senseless_arguments(options):
    with pytest.raises(UsageError):
        score(KEY, EAGER, metrics="muc", **{"ci": 0.95, **options})


def test_on_the_command_line(run):
    options = ("-m", "muc,anchors", "--ci", "--level", ".9", "--samples", "50", "--seed", "0")
    status, out, _ = run("score", KEY, EAGER, *options)
    assert status == 0
    assert "90 % CI" in out
    score_ = score(KEY, EAGER, metrics="muc", ci=0.9, samples=50)["muc"]
    low, high = score_.intervals["f1"]
    assert f"{100 * low:.1f}–{100 * high:.1f}" in out
    report = json.loads(run("score", KEY, EAGER, *options, "-f", "json")[1])
    found = report["responses"][0]["scores"]
    assert found["muc"]["ci"] == {rate: list(ends) for rate, ends in score_.intervals.items()}
    assert found["anchors"]["detection"]["ci"]["recall"]
    rows = list(csv.DictReader(io.StringIO(run("score", KEY, EAGER, *options, "-f", "csv")[1])))
    assert (float(rows[0]["f1_low"]), float(rows[0]["f1_high"])) == (low, high)
    for format in ("markdown", "latex"):
        several = run("score", KEY, EAGER, CAUTIOUS, *options, "-f", format)[1]
        assert "CI" in several


def test_what_is_said_beside_the_intervals_of_one_document(run):
    options = ("-m", "conll", "--documents", "nw/harbour*")
    status, out, err = run("score", KEY, EAGER, *options, "--ci", "--segments", "5")
    assert status == 0
    assert "eager.conll against key.conll, 1 document, intervals from 5 segments of it" in out
    assert "|ci:bootstrap(5 segments," in out
    assert "intervals are from 5 segments of it, each scored as a document of its own" in err
    assert "segments" not in run("score", KEY, EAGER, *options)[1]


def test_nothing_changes_without_intervals(run):
    assert "CI" not in run("score", KEY, EAGER)[1]
    assert "low" not in run("score", KEY, EAGER, "-f", "csv")[1].splitlines()[0]
    assert "ci" not in run("score", KEY, EAGER, "-f", "json")[1].replace("precision", "")


def test_a_single_document_is_compared_by_its_segments(tmp_path, run):
    """Two systems on one novel: the segments are tested, and a note says so."""
    rows = [f"d 0 {n} he ({n % 5})" + ("\n" if n % 7 == 6 else "") for n in range(400)]
    worse = [row.replace("(3)", "(4)") if n % 2 else row for n, row in enumerate(rows)]
    paths = []
    for name, lines in (("key", rows), ("same", rows), ("worse", worse)):
        paths.append(tmp_path / f"{name}.conll")
        text = "\n".join(("#begin document (d); part 000", *lines, "#end document", ""))
        paths[-1].write_text(text)
    status, out, err = run("compare", *paths, "-m", "lea", "--segments", "10", "--trials", "999")
    assert status == 0
    assert "segments:10" in out
    assert "10 segments of it" in err
    compared = corefeval.compare(paths[0], {"same": paths[1], "worse": paths[2]}, metrics="lea")
    assert compared.documents == 20
    assert compared.is_better("lea", "same", "worse")


def test_the_table_has_the_scores_of_the_whole_document(tmp_path):
    """And a difference that its segments turn round is not significant."""
    key = [(n, n % 2) for n in range(400)]
    # One is right within each hundred and splits the chains between them; one merges all.
    split = [(n, n % 2 + 2 * (n // 20)) for n, _ in key]
    halves = [(n, e if n % 10 else 1 - e) for n, e in key]
    paths = {}
    for name, mentions in (("key", key), ("split", split), ("halves", halves)):
        lines = [f"d 0 {n} x ({e})" + ("\n" if n % 5 == 4 else "") for n, e in mentions]
        paths[name] = tmp_path / f"{name}.conll"
        text = ("#begin document (d); part 000", *lines, "#end document", "")
        paths[name].write_text("\n".join(text))
    systems = {name: paths[name] for name in ("split", "halves")}
    compared = corefeval.compare(paths["key"], systems, metrics="lea")
    for name, path in systems.items():
        whole = corefeval.score(paths["key"], path, metrics="lea")["lea"].f1
        assert compared.scores["lea"][name] == whole
    assert compared.scores["lea"]["halves"] > compared.scores["lea"]["split"]
    assert compared.difference("lea", "split", "halves").difference > 0  # of the segments
    assert not compared.better_than("lea", "split")
    assert compared.unit == "segment"
    assert "turned-by-segments" in {notice.kind for notice in compared.notices}


def test_segments_are_saved_with_the_whole(tmp_path, run):
    rows = [f"d 0 {n} he ({n % 5})" + ("\n" if n % 7 == 6 else "") for n in range(200)]
    path, kept = tmp_path / "key.conll", tmp_path / "kept.json"
    path.write_text("\n".join(("#begin document (d); part 000", *rows, "#end document", "")))
    first = run("compare", path, f"a={path}", f"b={path}", "-m", "lea", "--save", kept, "-q")
    assert run("compare", kept, "-m", "lea", "-q") == first
    assert "of one document" in first[1]

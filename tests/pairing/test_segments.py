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
from corefeval.pairing.regrouping import segment
from corefeval.preparation import prepare
from corefeval.stats import with_intervals

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


def test_more_segments_than_places_take_no_more_memory():
    sentences = corefeval.read(KEY).select_documents(np.array([0]))
    for key in (sentences, corpus_from_arrays(entity=[0, 0, 1], start=[0, 4, 9])):
        assert cut_up(key, key, 10**12).cuts == cut_up(key, key, 1000).cuts


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
        assert not result[metric].intervals  # for it may lie outside of that of its segments
        low, high = result[metric].segments.intervals["f1"]
        assert 0 < low < result[metric].segments.f1 < high < 1
    assert "ci:bootstrap(15 segments,level=0.9,samples=1000,seed=0)" in result.signature
    notice = next(one for one in result.notices if one.kind == "segments")
    assert "novel" in str(notice) and "15 segments" in str(notice)
    parts = score(key, response, metrics="conll, lea", segments=15, as_segments=True)
    for metric in plain.metrics:
        assert result[metric].segments.rates == parts[metric].rates
    assert all(one.segments is None for one in plain.scores.values())


def test_slices_of_segments_have_intervals():
    key, response = long_document(0.7)
    kinds = {"kind": lambda mention: "name" if mention.start % 2 else "pronoun"}
    options = {"metrics": "muc", "by": "kind", "features": kinds, "ci": 0.95}
    for singletons in ("keep", "drop"):
        result = score(key, response, singletons=singletons, **options)
        for value in ("name", "pronoun"):
            part = result.slices["kind"][value]["muc"].segments
            assert part.intervals["recall"][0] <= part.recall <= part.intervals["recall"][1]


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
    with pytest.raises(UsageError, match=r"or segments: the only document has .* cannot be cut"):
        corefeval.compare(key, {"one": response, "other": key})


def test_a_key_without_tokens_is_cut_like_each_response(tmp_path):
    """Segments that differ cannot be compared; the same key is not to blame."""
    text = "Ada came.\nShe saw it.\nIt fell.\nShe left.\n"
    spans = [(0, 3), (10, 13), (31, 34)]
    mentions = [f"T{n}\tPerson {a} {b}\t{text[a:b]}\n" for n, (a, b) in enumerate(spans, 1)]
    (tmp_path / "d.txt").write_text(text)
    (tmp_path / "d.ann").write_text("".join((*mentions, "*\tEquiv T1 T2 T3\n")))
    words = [("Ada", "(1)"), ("came.", "-"), ("She", "(1)"), ("saw it. It fell.", "-"),
             ("She", "(1)"), ("left.", "-")]  # fmt: skip
    rows = [f"d 0 0 {word} {mark}" for text, mark in words for word in text.split()]
    rows.insert(2, "")
    lines = ["#begin document (d); part 000", *rows, "", "#end document", ""]
    (tmp_path / "d.conll").write_text("\n".join(lines))
    sides = {"tokens": tmp_path / "d.conll", "text": tmp_path / "d.ann"}
    with pytest.raises(UsageError, match="tokens has 2 segments of the document and text has 3"):
        corefeval.compare(tmp_path / "d.ann", sides)


def test_intervals_are_those_of_the_bootstrap():
    result = score(KEY, EAGER, ci=0.9, samples=200, seed=3, by="genre, kind")
    alone = with_intervals(score(KEY, EAGER), level=0.9, samples=200, seed=3).intervals
    for metric, score_ in result.scores.items():
        for rate, ends in score_.intervals.items():
            assert ends == pytest.approx(alone[metric][rate])
    for slices in result.slices.values():
        for part in slices.values():
            own = with_intervals(part, level=0.9, samples=200, seed=3).intervals
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
    assert (
        "eager.conll against key.conll, 1 document, with the F1 and intervals of 5 segments of it"
        in out
    )
    head, names, _, muc = out.splitlines()[:4]
    assert head.split() == ["5", "segments"]
    assert names.split() == ["Metric", "R", "P", "F1", "F1", "95", "%", "CI"]
    own, interval = muc.split()[-2:]
    low, high = map(float, interval.split("–"))
    assert low <= float(own) <= high
    assert "|ci:bootstrap(5 segments," in out
    assert "intervals are from 5 segments of it, each scored as a document" in err
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
    assert len(compared.documents) == 20
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


@pytest.fixture(scope="module")
def novel(tmp_path_factory):
    """One document in which chains run on: its segments are much easier than the whole."""
    folder = tmp_path_factory.mktemp("novel")
    generator = np.random.default_rng(3)
    entity = generator.integers(0, 4, 400)
    texts = {"key": entity, "cut": entity + 10 * (np.arange(400) // 40), "other": entity.copy()}
    texts["other"][generator.random(400) < 0.2] += 1
    paths = {}
    for name, numbers in texts.items():
        rows = [f"d 0 {n} he ({one})" + "\n" * (n % 4 == 3) for n, one in enumerate(numbers)]
        text = "\n".join(("#begin document (d); part 000", *rows, "#end document", ""))
        paths[name] = folder / f"{name}.conll"
        paths[name].write_text(text)
    return paths


def test_an_interval_of_segments_never_stands_beside_the_score_of_the_whole(novel, run):
    """The whole is far outside of the interval: in every form the segments' score is with it."""
    options = (novel["key"], novel["cut"], "-m", "b3", "--ci")
    result = score(novel["key"], novel["cut"], metrics="b3", ci=0.95)
    low, high = result["b3"].segments.intervals["f1"]
    own, whole = result["b3"].segments.f1, result["b3"].f1
    assert whole < low <= own <= high
    shown = json.loads(run("score", *options, "-f", "json")[1])["responses"][0]["scores"]["b3"]
    assert shown["f1"] == whole and "ci" not in shown
    assert shown["segments"]["f1"] == own and shown["segments"]["ci"]["f1"] == [low, high]
    [row] = csv.DictReader(io.StringIO(run("score", *options, "-f", "csv")[1]))
    assert float(row["f1"]) == whole and float(row["f1_segments"]) == own
    assert [float(row["f1_low"]), float(row["f1_high"])] == [low, high]
    for format, behind in (("text", ""), ("markdown", "| "), ("latex", "& ")):
        text = " ".join(run("score", *options, "-f", format)[1].split())
        dash = "--" if format == "latex" else "–"
        beside = f"{100 * own:.2f} {behind}{100 * low:.1f}{dash}{100 * high:.1f}"
        assert f"{100 * whole:.2f} {behind}{beside}" in text, format
    html = result._repr_html_()
    assert f"{100 * own:.2f}" in html and f"{100 * low:.1f}–{100 * high:.1f}" in html


def test_scores_of_segments_are_saved_with_their_intervals(novel, tmp_path):
    result = score(novel["key"], novel["cut"], metrics="anchors, b3", ci=0.9, by="size",
                   features={"kind": lambda mention: "name"})  # fmt: skip
    result.save(tmp_path / "saved.json")
    again = corefeval.load(tmp_path / "saved.json")
    assert again["b3"].segments == result["b3"].segments
    assert again["anchors"].detection.segments.intervals["f1"]
    for value, part in result.slices["size"].items():
        assert again.slices["size"][value]["b3"].segments == part["b3"].segments
    assert again.without_intervals()["b3"].segments is None


@pytest.mark.parametrize("size", ["16MB", "1"])
def test_a_pattern_that_leaves_no_document_to_pair_by_position_is_an_error(tmp_path, size):
    """The response may have none that are chosen, where they are paired by their position."""
    files = [tmp_path / f"{name}.conll" for name in "ab"]
    for file in files:
        text = f"#begin document ({file.stem}); part 000\nit (0)\nit (0)\n#end document\n"
        file.write_text(text)
    with pytest.raises(corefeval.PairingError, match=r"no document of .*b\.conll matches 'a\*'"):
        score(*files, pairing="position", documents="a*", ci=0.95, piece_size=size)


def test_no_documents_have_neither_segments_nor_intervals():
    """Who pairs by position and has nothing to pair is told so, and has no scores."""
    result = score({"a": [["it", "its"]]}, {}, pairing="position", ci=0.95)
    assert result.document_ids == ()
    assert not result.intervals
    assert "positions" in {notice.kind for notice in result.notices}


def test_a_report_has_no_interval_of_segments(novel):
    made = corefeval.report(novel["key"], novel["cut"], metrics="b3", by="size")
    assert made.payload["ci"] is None
    assert "intervals" not in str(made.payload["scores"])
    assert "intervals" not in str(made.payload["slices"])
    assert any("corefeval score --ci" in str(notice) for notice in made.notices)


def test_differences_of_segments_stand_beside_their_scores(novel, run):
    systems = {"cut": novel["cut"], "other": novel["other"]}
    compared = corefeval.compare(novel["key"], systems, metrics="b3", trials=99)
    pair = compared.difference("b3", "cut", "other")
    first, second = (compared.segment_scores["b3"][name] for name in systems)
    assert pair.difference == pytest.approx(first - second)
    for row in compared.rows():
        assert row["low"] <= row["segments_score"] <= row["high"]
        assert row["score"] == compared.scores["b3"][row["system"]]
    paths = (novel["key"], *(f"{name}={path}" for name, path in systems.items()))
    out = run("compare", *paths, "-m", "b3", "--trials", "99", "--sort", "given")[1]
    row = next(line for line in out.splitlines() if line.startswith("B³"))
    assert row.split()[1:3] == [f"{100 * first:.2f}", f"{100 * second:.2f}"]
    assert "20 segments" in out and "by segment" in out
    whole = corefeval.compare(None, [score(KEY, EAGER), score(KEY, CAUTIOUS)], trials=99)
    assert not whole.segment_scores and "segments_score" not in whole.rows()[0]


def test_effect_sizes_stand_with_the_mean_that_they_are_of(run):
    """A long document turns all documents together round: both numbers are shown, and a note."""
    key, first, second = {}, {}, {}
    for number in range(8):
        size = 400 if number == 0 else 8
        whole = [[f"{number}.{n}" for n in range(size)]]
        halves = [whole[0][: size // 2], whole[0][size // 2 :]]
        key[str(number)] = whole
        first[str(number)] = whole if number == 0 else [[one] for one in whole[0]]
        second[str(number)] = [[one] for one in whole[0]] if number == 0 else halves
    compared = corefeval.compare(key, {"one": first, "two": second}, metrics="muc", trials=99)
    pair = compared.difference("muc", "one", "two")
    assert pair.difference > 0 > pair.effect.mean and pair.effect.d < 0
    assert compared.rows("differences")[0]["mean_difference"] == pair.effect.mean
    [notice] = [one for one in compared.notices if one.kind == "opposite-means"]
    assert notice.items == ("one and two by muc",)

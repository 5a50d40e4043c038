"""The cache of a suite: what is scored again, and what is not."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace

import pytest

from corefeval import UsageError
from corefeval.suites import running
from corefeval.suites.definition import read_suite
from corefeval.suites.running import Cache, run_suite


@pytest.fixture
def counted(monkeypatch):
    """The places that are scored, as they are."""
    places = []
    real = running._score

    def score(job, *rest):
        places.append(job.place)
        return real(job, *rest)

    monkeypatch.setattr(running, "_score", score)
    return places


def test_only_what_changed_is_scored_again(folder, suite, counted):
    first = run_suite(suite, cache=folder / "kept")
    assert len(counted) == 12
    counted.clear()
    second = run_suite(suite, cache=folder / "kept")
    assert counted == []
    assert all(second.cells[place].result == cell.result for place, cell in first.cells.items())

    shutil.copy(folder / "cautious" / "talk.jsonl", folder / "eager" / "talk.jsonl")
    third = run_suite(suite, cache=folder / "kept")
    assert counted == [("talk", "eager", None)]
    assert (
        third.cells["talk", "eager", None].result["conll"]
        != second.cells["talk", "eager", None].result["conll"]
    )


def test_the_same_bytes_at_another_time_are_not_scored_again(folder, suite, counted):
    run_suite(suite, cache=folder / "kept")
    counted.clear()
    for path in folder.rglob("*.jsonl"):
        os.utime(path, (1, 1))
    run_suite(suite, cache=folder / "kept")
    assert counted == []


def test_a_key_a_protocol_metrics_and_slices_are_part_of_a_cell(folder, suite, counted):
    run_suite(suite, cache=folder / "kept")
    for changed, number in (
        (replace(suite, metrics="conll, lea"), 12),
        (replace(suite, by="size"), 12),
        (replace(suite, corpora=(replace(suite.corpora[0], protocol="singletons:drop"),)), 4),
        (replace(suite, corpora=(replace(suite.corpora[0], weight=3.0, group="x"),)), 0),
    ):
        counted.clear()
        run_suite(changed, cache=folder / "kept")
        assert len(counted) == number
    counted.clear()
    key = folder / "keys" / "talk.jsonl"
    key.write_text(key.read_text() + "\n")
    run_suite(suite, cache=folder / "kept")
    assert {place[0] for place in counted} == {"talk"}


def test_a_tag_set_is_beside_the_file_and_part_of_a_cell(folder):
    """What the tags mean is an input like any other."""
    head = "metrics = 'lmuc'\nprotocol = 'tagset:tags.json'\n"
    text = (folder / "suite.toml").read_text(encoding="utf-8").partition("[[corpora]]")[2]
    (folder / "own.toml").write_text(f"{head}[[corpora]]{text}", encoding="utf-8")
    scores = []
    for pronoun, name in (("PRP*", "NNP*"), ("NNP*", "PRP*")):
        tags = {"pronoun": [pronoun], "name": [name], "noun": ["NN*"]}
        (folder / "tags.json").write_text(json.dumps(tags), encoding="utf-8")
        outcome = run_suite(read_suite(folder / "own.toml"), cache=folder / "cache")
        scores.append(outcome.cells["news", "eager", None].result["lmuc"].f1)
    assert scores[0] != scores[1]


def test_a_file_is_looked_at_again_where_anything_changed(tmp_path, monkeypatch):
    file = tmp_path / "x"
    file.write_bytes(b"one")
    os.utime(file, (1000, 1000))
    cache = Cache(tmp_path / "kept")
    one = cache.digest_of(str(file), 3, "1000000000000")
    cache.flush()
    with monkeypatch.context() as blind:
        blind.setattr(running, "open_file", None)  # it is not opened
        assert Cache(tmp_path / "kept").digest_of(str(file), 3, "1000000000000") == one
    before = file.stat().st_ctime_ns
    while file.stat().st_ctime_ns == before:  # clocks of files are coarse
        file.write_bytes(b"two")
    os.utime(file, (1000, 1000))  # as programs do that unpack or copy
    again = Cache(tmp_path / "kept")
    assert again.digest_of(str(file), 3, "1000000000000") != one


def test_what_was_written_a_moment_ago_is_not_taken_for_known(tmp_path):
    file = tmp_path / "x"
    file.write_bytes(b"one")
    stamp = str(file.stat().st_mtime_ns)
    cache = Cache(tmp_path / "kept")
    one = cache.digest_of(str(file), 3, stamp)
    cache.flush()
    file.write_bytes(b"two")
    assert Cache(tmp_path / "kept").digest_of(str(file), 3, stamp) != one


def test_a_damaged_cache_is_made_anew(folder, suite, counted):
    run_suite(suite, cache=folder / "kept")
    counted.clear()
    cells = sorted((folder / "kept").glob("*.cell"))
    cells[0].write_bytes(b"damaged")
    (folder / "kept" / "files.json").write_text("[")
    run_suite(suite, cache=folder / "kept")
    assert len(counted) == 1


def test_an_interrupted_run_goes_on_where_it_was(folder, suite, counted, monkeypatch):
    real = running._score_by

    def score(job, *rest):
        if len(counted) == 6:
            raise KeyboardInterrupt
        return real(job, *rest)

    monkeypatch.setattr(running, "_score_by", score)
    with pytest.raises(KeyboardInterrupt):
        run_suite(suite, cache=folder / "kept")
    monkeypatch.setattr(running, "_score_by", real)
    counted.clear()
    assert len(run_suite(suite, cache=folder / "kept").scored) == 12
    assert len(counted) == 7


def test_a_cache_that_cannot_be_written_loses_no_scores(folder, suite):
    place = folder / "kept"
    (place / "files.json").mkdir(parents=True)
    outcome = run_suite(suite, cache=place, trials=19)
    assert len(outcome.scored) == 12 and outcome.statistics is not None
    told = [one.message for one in outcome.notices if one.kind == "no-cache"]
    assert len(told) == 1 and "the cache cannot be written" in told[0]


def test_a_cache_is_a_folder(folder, suite):
    with pytest.raises(UsageError, match="is a file"):
        run_suite(suite, cache=folder / "suite.toml")


def test_tests_come_from_the_cache(folder, suite, monkeypatch):
    first = run_suite(suite, cache=folder / "kept", trials=99)
    calls = []
    real = running.compare_suite
    monkeypatch.setattr(running, "compare_suite", lambda *a, **o: calls.append(1) or real(*a, **o))
    second = run_suite(suite, cache=folder / "kept", trials=99)
    assert not calls
    assert second.statistics.as_dict() == first.statistics.as_dict()
    run_suite(suite, cache=folder / "kept", trials=98)
    (folder / "eager" / "talk.jsonl").unlink()
    run_suite(suite, cache=folder / "kept", trials=99)
    assert len(calls) == 2


def test_tests_with_a_corpus_are_not_those_without(folder, suite):
    """No system has a result on a corpus, at first for want of responses, then of the key."""
    for path in folder.glob("*/talk*.jsonl"):
        if path.parent.name != "keys":
            path.unlink()
    run_suite(suite, cache=folder / "cache", trials=99)
    (folder / "keys" / "talk.jsonl").unlink()
    again = run_suite(suite, cache=folder / "cache", trials=99)
    assert again.statistics.as_dict() == run_suite(suite, trials=99).statistics.as_dict()


def test_tests_need_two_systems(suite):
    outcome = run_suite(replace(suite, systems=suite.systems[:1]), trials=99)
    assert outcome.statistics is None
    assert outcome.notices[-1].kind == "no-tests"

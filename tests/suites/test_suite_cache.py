"""The cache of a suite: what is scored again, and what is not."""

from __future__ import annotations

import json
import os
import shutil
import time
from dataclasses import replace

import pytest

import corefeval
from corefeval import Suite, SuiteCorpus, SuiteSystem, UsageError, __version__
from corefeval.suites.definition import read_suite
from corefeval.suites.running import run_suite
from forged_files import disguise, evil_pickles, replace_leaves, rewrite


@pytest.fixture
def run_counted(folder):
    """A function that runs a suite with a cache: the outcome, and how many cells were scored."""

    def run(suite, **options):
        done = [0]
        keep = {"cache": folder / "kept", "progress": lambda number, *_: done.append(number)}
        return run_suite(suite, **keep, **options), done[-1]

    return run


def times_of(folder):
    """When each file of a cache was written."""
    return {path.name: path.stat().st_mtime_ns for path in (folder / "kept").glob("*.cell")}


def test_only_what_changed_is_scored_again(folder, suite, run_counted):
    first, number = run_counted(suite)
    assert number == 12
    second, number = run_counted(suite)
    assert number == 0
    assert all(second.cells[place].result == cell.result for place, cell in first.cells.items())

    shutil.copy(folder / "cautious" / "talk.jsonl", folder / "eager" / "talk.jsonl")
    third, number = run_counted(suite)
    assert number == 1
    assert (
        third.cells["talk", "eager", None].result["conll"]
        != second.cells["talk", "eager", None].result["conll"]
    )


def test_the_same_bytes_at_another_time_are_not_scored_again(folder, suite, run_counted):
    run_counted(suite)
    for path in folder.rglob("*.jsonl"):
        os.utime(path, (1, 1))
    assert run_counted(suite)[1] == 0


def test_a_key_a_protocol_metrics_and_slices_are_part_of_a_cell(folder, suite, run_counted):
    run_counted(suite)
    for changed, number in (
        (replace(suite, metrics="conll, lea"), 12),
        (replace(suite, by="size"), 12),
        (replace(suite, corpora=(replace(suite.corpora[0], protocol="singletons:drop"),)), 4),
        (replace(suite, corpora=(replace(suite.corpora[0], weight=3.0, group="x"),)), 0),
    ):
        assert run_counted(changed)[1] == number
    key = folder / "keys" / "talk.jsonl"
    key.write_text(key.read_text() + "\n")
    assert run_counted(suite)[1] == 4


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


def test_a_response_that_kept_its_size_and_time_is_scored_again(folder, suite, run_counted):
    run_counted(suite)
    file = folder / "eager" / "talk.jsonl"
    times = file.stat()
    file.write_text(file.read_text().replace("1", "0", 1))
    assert file.stat().st_size == times.st_size
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert run_counted(suite)[1] == 1


@pytest.mark.parametrize("format", ["brat", "litbank"])
def test_the_text_of_an_annotation_is_part_of_a_cell(folder, run_counted, format):
    key = folder / "news"
    corefeval.write(corefeval.read(folder / "keys" / "news.conll"), key, format=format)
    corpus = SuiteCorpus(name="news", key=str(key))
    system = SuiteSystem(name="itself", responses=str(folder / "{corpus}"))
    suite = Suite(corpora=(corpus,), systems=(system,), metrics="conll")
    assert run_counted(suite)[0].scored[0]["conll"].f1 == 1
    text = sorted(key.glob("*.txt"))[0]
    text.write_text("x" + text.read_text())
    assert run_counted(suite)[1] == 1


def test_a_damaged_cache_is_made_anew(folder, suite, run_counted):
    first, _ = run_counted(suite)
    cells = sorted((folder / "kept").glob("*.cell"))
    cells[0].write_bytes(b"damaged")
    cells[1].write_bytes(cells[1].read_bytes().replace(__version__.encode(), b"0.0.0", 1))
    content = bytearray(cells[2].read_bytes())
    content[-20] ^= 1
    cells[2].write_bytes(content)
    again, number = run_counted(suite)
    assert number == 3 and again.cells == first.cells
    text = "kept: 3 files damaged, foreign or of another version of corefeval, and scored again"
    assert [n.message for n in again.notices if n.kind == "unusable-files"] == [f"{folder}/{text}"]
    assert run_suite(suite, cache=folder / "kept").notices == first.notices


def test_a_forged_cell_does_nothing(folder, suite):
    first = run_suite(suite, cache=folder / "kept", trials=19)
    marker = folder / "ran"
    for payload in evil_pickles(marker):
        for layout in range(3):
            cells = sorted((folder / "kept").glob("*.cell"))
            for cell in cells:  # those of results, and that of tests
                cell.write_bytes(disguise(payload, cell.name)[layout])
            again = run_suite(suite, cache=folder / "kept", trials=19)
            assert again.cells == first.cells
            assert again.statistics.as_dict() == first.statistics.as_dict()
            assert [n.count for n in again.notices if n.kind == "unusable-files"] == [len(cells)]
    time.sleep(0.2)  # a command would run beside us
    assert not marker.exists()


@pytest.mark.parametrize("value", [None, -1, "x", {}, [["x"]]])
def test_a_cell_of_other_types_and_shapes_is_scored_again(folder, suite, value):
    suite = replace(suite, corpora=suite.corpora[:1], systems=suite.systems[:2], metrics="conll")
    first = run_suite(suite, cache=folder / "kept", trials=9)
    for cell in (folder / "kept").glob("*.cell"):
        content = cell.read_bytes()
        forgeries = [*replace_leaves(json.loads(content.partition(b"\n")[2]), value)]
        for forged in forgeries[::13]:
            cell.write_bytes(rewrite(forged, cell.name))
            again = run_suite(suite, cache=folder / "kept", trials=9)
            if any(notice.kind == "unusable-files" for notice in again.notices):
                assert again.cells == first.cells
                assert again.statistics.as_dict() == first.statistics.as_dict()
        cell.write_bytes(content)


@pytest.mark.parametrize(("field", "value"), [("group", [[]]), ("metric", 5)])
def test_forged_standings_are_made_again(folder, suite, field, value):
    first = run_suite(suite, cache=folder / "kept", trials=19)
    for cell in (folder / "kept").glob("*.cell"):
        record = json.loads(cell.read_bytes().partition(b"\n")[2])
        for standing in record["content"].get("standings", ()):
            standing[field] = value
        cell.write_bytes(rewrite(record, cell.name))
    again = run_suite(suite, cache=folder / "kept", trials=19)
    assert again.statistics.as_dict() == first.statistics.as_dict()


def test_cells_are_not_written_through_links(folder, suite):
    """A link may point to anything, and come with a checkout."""
    first = run_suite(suite, cache=folder / "kept")
    precious = folder / "precious"
    precious.write_text("precious")
    cells = sorted((folder / "kept").glob("*.cell"))
    for cell, target in zip(cells, (precious, "/dev/stdout", folder / "nowhere"), strict=False):
        cell.unlink()
        cell.symlink_to(target)
    assert run_suite(suite, cache=folder / "kept").cells == first.cells
    assert precious.read_text() == "precious" and not (folder / "nowhere").exists()
    assert not any(cell.is_symlink() for cell in cells)


def test_a_cell_without_documents_is_scored_again(folder, suite):
    first = run_suite(suite, cache=folder / "kept", trials=19)
    for cell in (folder / "kept").glob("*.cell"):
        record = json.loads(cell.read_bytes().partition(b"\n")[2])
        content = record["content"]
        if "documents" in content:
            content["documents"] = []
            for table in content["tables"].values():
                table |= (
                    {"counts": {name: [] for name in table["counts"]}} if "counts" in table else {}
                )
            cell.write_bytes(rewrite(record, cell.name))
        else:
            cell.unlink()  # which has the tests of all cells
    again = run_suite(suite, cache=folder / "kept", trials=19)
    assert again.cells == first.cells
    assert again.statistics.as_dict() == first.statistics.as_dict()
    assert [n.count for n in again.notices if n.kind == "unusable-files"] == [12]


def test_an_interrupted_run_goes_on_where_it_was(folder, suite, run_counted):
    def stop(done, *_):
        if done == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_suite(suite, cache=folder / "kept", progress=stop)
    outcome, number = run_counted(suite)
    assert len(outcome.scored) == 12
    assert number == 6


def test_a_cache_that_cannot_be_written_loses_no_scores(folder, suite):
    place = folder / "kept"
    run_suite(suite, cache=place)
    for cell in place.glob("*.cell"):
        cell.unlink()
        cell.mkdir()
    outcome = run_suite(suite, cache=place, trials=19)
    assert len(outcome.scored) == 12 and outcome.statistics is not None
    told = [one.message for one in outcome.notices if one.kind == "no-cache"]
    assert len(told) == 1 and "the cache cannot be written" in told[0]


def test_a_cache_is_a_folder(folder, suite):
    with pytest.raises(UsageError, match="is a file"):
        run_suite(suite, cache=folder / "suite.toml")


def test_tests_come_from_the_cache(folder, suite):
    first = run_suite(suite, cache=folder / "kept", trials=99)
    before = times_of(folder)
    second = run_suite(suite, cache=folder / "kept", trials=99)
    assert times_of(folder) == before
    assert second.statistics.as_dict() == first.statistics.as_dict()
    run_suite(suite, cache=folder / "kept", trials=98)
    assert len(times_of(folder)) == len(before) + 1
    (folder / "eager" / "talk.jsonl").unlink()
    run_suite(suite, cache=folder / "kept", trials=99)
    after = times_of(folder)
    assert len([name for name in before if after[name] != before[name]]) == 1


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

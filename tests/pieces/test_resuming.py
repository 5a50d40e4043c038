"""Runs that broke and go on: what a folder of finished pieces is trusted with."""

# ruff: noqa: F401, F811 (fixtures come from elsewhere)

from __future__ import annotations

import gzip
import hashlib
import json
import multiprocessing
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace

import pytest

import corefeval
from corefeval import InputError, UndefinedMetricError, UsageError
from corefeval.cli import main
from forged_files import disguise, evil_pickles, replace_leaves, rewrite
from piece_corpora import (
    assert_same,
    conll,
    corefud,
    corpus,
    in_pieces,
    no_second_look,
    paths,
    write,
)
from remote_work import wait_for


def times_of(folder):
    """When each piece was written that a folder keeps."""
    return {path: path.stat().st_mtime_ns for path in folder.glob("*.piece")}


def test_a_run_that_broke_goes_on(tmp_path, paths):
    folder = tmp_path / "kept"
    whole = corefeval.score(*paths)
    left = [5]

    def stop(done, total, size):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        corefeval.score(*paths, piece_size=300, resume=folder, progress=stop)
    kept = sorted(folder.glob("*.piece"))
    assert len(kept) == 6
    first = times_of(folder)
    kept[0].write_bytes(b"damaged")
    again = corefeval.score(*paths, piece_size=300, resume=folder)
    assert_same(notices_but(again, "unusable-files"), whole)
    second = times_of(folder)
    assert len(second) > 6
    assert {path for path in first if second[path] == first[path]} == {*kept[1:]}
    assert_same(corefeval.score(*paths, piece_size=300, resume=folder), whole)
    assert times_of(folder) == second


@pytest.mark.parametrize("change", ["metrics", "key", "singletons", "piece_size", "files"])
def test_a_folder_of_another_run_is_refused(tmp_path, paths, change):
    folder = tmp_path / "kept"
    corefeval.score(*paths, piece_size=300, resume=folder)
    options = {"piece_size": 300}
    if change == "key":
        paths[0].write_text(conll(corpus(12)) + "\n")
    elif change == "files":
        (folder / "run.json").unlink()
    else:
        options[change] = {"metrics": "muc", "singletons": "drop", "piece_size": 200}[change]
    expected = "other files" if change == "files" else "another run"
    with pytest.raises(UsageError, match=expected):
        corefeval.score(*paths, resume=folder, **options)


def notices_but(result, kind):
    """The result without its notice of a kind, which it must have."""
    notices = [notice for notice in result.notices if notice.kind != kind]
    assert len(notices) == len(result.notices) - 1, result.notices
    return replace(result, notices=tuple(notices))


def test_a_forged_piece_does_nothing(tmp_path, paths):
    folder, marker = tmp_path / "kept", tmp_path / "ran"
    whole = corefeval.score(*paths)
    corefeval.score(*paths, piece_size=300, resume=folder)
    for payload in evil_pickles(marker):
        for content in disguise(payload, "000000.piece", (folder / "run.json").read_bytes()):
            (folder / "000000.piece").write_bytes(content)
            again = corefeval.score(*paths, piece_size=300, resume=folder)
            assert_same(notices_but(again, "unusable-files"), whole)
    time.sleep(0.2)  # a command would run beside us
    assert not marker.exists()


@pytest.mark.parametrize(
    ("value", "by"), [(None, ""), (-1, ""), (1 << 70, ""), ([["x"]], ""), ({}, ""), ("x", "kind")]
)
def test_a_piece_of_other_types_and_shapes_is_scored_again(tmp_path, value, by):
    """The sum of the file is right, and so it is looked at closely."""
    sides = [
        [
            replace(text, mentions=((start, start, 0), (start + 2, start + 2, 0)))
            for text in corpus(3)
        ]
        for start in (0, 1)
    ]
    key, response = (write(tmp_path, f"{n}", conll(texts)) for n, texts in enumerate(sides))
    folder = tmp_path / "kept"
    whole = corefeval.score(key, response, metrics="muc", by=by)
    assert [notice.kind for notice in whole.notices] == ["no-common-mentions"]
    options = {"metrics": "muc", "by": by, "piece_size": 300, "resume": folder}
    assert_same(corefeval.score(key, response, **options), whole)
    assert_same(corefeval.score(key, response, **options), whole)
    piece = folder / "000000.piece"
    content = piece.read_bytes()
    forgeries = [*replace_leaves(json.loads(content.partition(b"\n")[2]), value)]
    for forged in forgeries[:: 9 if by else 2]:
        piece.write_bytes(rewrite(forged, piece.name, (folder / "run.json").read_bytes()))
        result = corefeval.score(key, response, **options)
        if any(notice.kind == "unusable-files" for notice in result.notices):
            assert_same(notices_but(result, "unusable-files"), whole)


def test_a_piece_of_another_run_is_scored_again(tmp_path, paths):
    """All is as it should be, but for the response that it was made of."""
    whole = corefeval.score(*paths)
    corefeval.score(*paths, piece_size=300, resume=tmp_path / "one")
    corefeval.score(paths[0], paths[0], piece_size=300, resume=tmp_path / "other")
    shutil.copy(tmp_path / "other" / "000000.piece", tmp_path / "one")
    again = corefeval.score(*paths, piece_size=300, resume=tmp_path / "one")
    assert_same(notices_but(again, "unusable-files"), whole)
    assert "one: 1 file damaged, foreign or of another version" in again.notices[-1].message


@pytest.mark.parametrize(
    "forge",
    [
        lambda record: record["result"]["tables"].update(muc={"shape": "mean", "parts": ["b3"]}),
        lambda record: record.update(
            of_key=[{"kind": "overlapping-mentions", "text": "t", "count": 1, "items": []}]
        ),
        lambda record: record.update(
            of_key=[{"kind": "overlapping-mentions", "text": "t", "count": 1, "items": ["x"]}]
        ),
    ],
)
def test_forged_counts_and_notices_are_no_traceback(tmp_path, paths, forge):
    folder = tmp_path / "kept"
    whole = corefeval.score(*paths)
    corefeval.score(*paths, piece_size=300, resume=folder)
    piece = folder / "000001.piece"
    record = json.loads(piece.read_bytes().partition(b"\n")[2])
    forge(record)
    piece.write_bytes(rewrite(record, piece.name, (folder / "run.json").read_bytes()))
    again = corefeval.score(*paths, piece_size=300, resume=folder)
    assert again["conll"].f1 == pytest.approx(whole["conll"].f1)


def test_a_piece_in_the_place_of_another_is_scored_again(tmp_path, paths):
    folder = tmp_path / "kept"
    whole = corefeval.score(*paths)
    corefeval.score(*paths, piece_size=300, resume=folder)
    shutil.copy(folder / "000000.piece", folder / "000001.piece")
    again = corefeval.score(*paths, piece_size=300, resume=folder)
    assert_same(notices_but(again, "unusable-files"), whole)


def test_a_folder_in_the_place_of_a_piece_is_an_error(tmp_path, paths):
    folder = tmp_path / "kept"
    corefeval.score(*paths, piece_size=300, resume=folder)
    (folder / "000001.piece").unlink()
    (folder / "000001.piece").mkdir()
    with pytest.raises(UsageError, match="the pieces cannot be kept"):
        corefeval.score(*paths, piece_size=300, resume=folder)


def test_a_changed_tag_set_makes_another_run(tmp_path, paths):
    tagset = tmp_path / "tags.json"
    tagset.write_text('{"pronoun": ["PRP"], "name": ["NNP"], "noun": ["NN"]}')
    options = {"piece_size": 300, "resume": tmp_path / "kept", "tagset": str(tagset)}
    corefeval.score(*paths, **options)
    tagset.write_text('{"pronoun": ["PRP"], "name": ["NNX"], "noun": ["NN"]}')
    with pytest.raises(UsageError, match="differs in tag set"):
        corefeval.score(*paths, **options)


def test_pieces_are_not_written_through_links(tmp_path, paths):
    folder, precious = tmp_path / "kept", tmp_path / "precious"
    precious.write_text("precious")
    whole = corefeval.score(*paths)
    corefeval.score(*paths, piece_size=300, resume=folder)
    piece = folder / "000000.piece"
    for target in (precious, "/dev/stdout", tmp_path / "nowhere"):
        piece.unlink()
        piece.symlink_to(target)
        again = corefeval.score(*paths, piece_size=300, resume=folder)
        assert_same(notices_but(again, "unusable-files"), whole)
        assert not piece.is_symlink()
    assert precious.read_text() == "precious" and not (tmp_path / "nowhere").exists()
    run = folder / "run.json"
    shutil.move(run, tmp_path / "run.json")
    run.symlink_to(tmp_path / "run.json")
    with pytest.raises(UsageError, match="no ordinary file"):
        corefeval.score(*paths, piece_size=300, resume=folder)


def test_a_file_that_kept_its_size_and_time_is_another_one(tmp_path, paths):
    folder, response = tmp_path / "kept", paths[1]
    corefeval.score(*paths, piece_size=300, resume=folder)
    times = response.stat()
    response.write_text(response.read_text().replace("(1)", "(7)"))
    os.utime(response, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(UsageError, match="another run, which differs in response"):
        corefeval.score(*paths, piece_size=300, resume=folder)


@pytest.mark.parametrize("format", ["brat", "litbank"])
def test_the_text_of_an_annotation_is_part_of_the_input(tmp_path, paths, format):
    for name, path in zip(("key", "response"), paths, strict=True):
        corefeval.write(corefeval.read(path), tmp_path / name, format=format)
    options = {"piece_size": 10, "resume": tmp_path / "kept"}
    corefeval.score(tmp_path / "key", tmp_path / "response", **options)
    text = sorted((tmp_path / "response").glob("*.txt"))[0]
    text.write_text(text.read_text().swapcase())
    with pytest.raises(UsageError, match="another run, which differs in response"):
        corefeval.score(tmp_path / "key", tmp_path / "response", **options)


def test_nothing_to_resume_from_is_told(tmp_path, paths, capsys):
    folder = tmp_path / "kept"
    result = corefeval.score(*paths, resume=folder)
    assert [notice.kind for notice in result.notices] == ["nothing-kept"]
    assert str(folder) in result.notices[0].message
    corpora = [corefeval.read(path) for path in paths]
    assert corefeval.score(*corpora, resume=folder).notices == result.notices
    assert main(["score", *map(str, paths), "--resume", str(folder)]) == 0
    assert "--piece-size" in capsys.readouterr().err
    assert not folder.exists()

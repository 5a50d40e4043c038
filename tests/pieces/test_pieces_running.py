"""Pieces on executors, kept in folders, at addresses, and on the command line."""

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

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))


def processes(number: int):
    return ProcessPoolExecutor(number, mp_context=multiprocessing.get_context("spawn"))


@pytest.mark.parametrize("make", [ThreadPoolExecutor, processes])
def test_any_executor(in_pieces, paths, make):
    whole = corefeval.score(*paths, metrics="all", by="kind")
    with make(2) as executor:
        pieces = corefeval.score(
            *paths, metrics="all", by="kind", piece_size=300, executor=executor
        )
        assert_same(pieces, whole)
        with pytest.raises(InputError, match="cannot be read"):
            corefeval.score(paths[0], "not there", executor=executor)
    assert len(in_pieces) == 1


def test_a_feature_that_is_missing_ends_no_worker(tmp_path):
    """An error that could not be taken out of its parcel would break the pool."""
    text = "".join(
        json.dumps({"doc_key": f"d{n}", "sentences": [["a", "b"]], "clusters": [[[0, 0], [1, 1]]]})
        + "\n"
        for n in range(12)
    )
    path = write(tmp_path, "k.jsonl", text)
    with processes(1) as executor:
        with pytest.raises(UndefinedMetricError, match="kind needs tags") as caught:
            corefeval.score(path, path, by="kind", piece_size=300, executor=executor)
        assert executor.submit(len, "abc").result() == 3
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.feature) == (str(caught.value), "kind")


def test_errors_of_workers_are_errors_here(tmp_path, paths):
    broken = write(tmp_path, "b", conll(corpus(12)).replace("(1)", "(1").replace("(0)", "(0", 1))
    with processes(1) as executor, pytest.raises(InputError) as caught:
        corefeval.score(paths[0], broken, piece_size=300, executor=executor)
    assert (caught.value.file, caught.value.line) == (str(broken), 2)


def test_executors_that_do_not_work_any_more(paths):
    executor, ended = processes(1), ThreadPoolExecutor(1)
    executor.submit(os._exit, 1).exception()
    ended.shutdown()
    for one, error, words in ((executor, InputError, "gone"), (ended, UsageError, "shut down")):
        with pytest.raises(error, match=words):
            corefeval.score(*paths, piece_size=300, executor=one)
        with pytest.raises(error, match=words):
            list(corefeval.Scorer(paths[0]).map([paths[1]], executor=one))


@pytest.mark.parametrize("begin", ["list(map(time.sleep, (0.3, 0.3)))", "map(time.sleep, (0, 0))"])
@pytest.mark.parametrize("end", ["SIGKILL", "SIGINT"])
def test_workers_end_with_a_run(end, begin):
    script = f"""if __name__ == "__main__":
    import os, signal, sys, time
    from corefeval.cli.parsing import ParsedOptions
    from corefeval.cli.responses import open_cutting
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    try:
        with open_cutting(ParsedOptions(jobs=2, piece_size=None, quiet=True)) as cutting:
            map = cutting.executor.map
            {begin}  # workers are there, or on their way
            (os.kill if "{end}" == "SIGKILL" else os.killpg)(os.getpid(), signal.{end})
            time.sleep(20)
    except KeyboardInterrupt:
        sys.exit(-signal.SIGINT)"""
    # Workers have the output open too: it comes to an end with the last of them, or never.
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, timeout=60, start_new_session=True
    )
    assert done.returncode in (-signal.Signals[end], 256 - signal.Signals[end])
    assert b"Traceback" not in done.stderr


class Counting(ThreadPoolExecutor):
    """An executor that knows how much it was given at once, and begins when it has two tasks."""

    most = 0

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.futures: list[Future] = []
        self.has_two = threading.Event()

    def submit(self, function, *given):
        def begin():
            assert self.has_two.wait(60)
            return function(*given)

        self.futures.append(super().submit(begin))
        # Not told by the futures: who waits for one may go on before it calls anybody back.
        self.most = max(self.most, sum(not future.done() for future in self.futures))
        if len(self.futures) == 2:
            self.has_two.set()
        return self.futures[-1]


def test_an_error_of_the_key_does_not_wait_for_workers_that_are_busy(tmp_path, paths):
    end = tmp_path / "end"
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        busy = [pool.submit(wait_for, os.fspath(end)) for _ in range(4)]
        with pytest.raises(InputError, match="No such file"):
            corefeval.score(tmp_path / "none.conll", paths[1], piece_size="1KB", executor=pool)
        assert not any(one.done() for one in busy)
        end.touch()


def test_few_pieces_are_submitted_at_a_time(paths):
    with Counting(2) as executor:
        corefeval.score(*paths, piece_size=1, executor=executor)
        assert 1 < executor.most <= 4


def test_comparisons_in_pieces():
    responses = {"cautious": CAUTIOUS, "eager": EAGER}
    whole = corefeval.compare(KEY, responses, trials=50)
    with Counting(2) as executor:
        pieces = corefeval.compare(KEY, responses, trials=50, piece_size="5KB", executor=executor)
        assert executor.most > 1
    assert pieces.rows() == whole.rows()


def test_addresses(in_pieces, paths):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    for path, name in zip(paths, ("k", "r"), strict=True):
        memory.pipe(f"/pieces/{name}/a.conll", path.read_bytes())
    memory.pipe("/pieces/k.gz", gzip.compress(paths[0].read_bytes()))
    whole = corefeval.score(*paths)
    for key in ("k/a.conll", "k", "k/*.conll", "k.gz"):
        addresses = f"memory://pieces/{key}", "memory://pieces/r/a.conll"
        assert corefeval.score(*addresses)["conll"] == whole["conll"]
        pieces = corefeval.score(*addresses, piece_size=300)
        assert pieces.tables == whole.tables and pieces.key_digest == whole.key_digest
    assert len(in_pieces) == 4
    with pytest.raises(InputError, match="cannot be read"):
        corefeval.score("memory://pieces/none", "memory://pieces/r/a.conll")
    for target in ("memory://pieces/new.conll", "memory://pieces/k/a.conll"):
        with pytest.raises(InputError, match="cannot be written: it is an address"):
            corefeval.write(corefeval.read(paths[0]), target, format="conll")


def test_addresses_without_fsspec(monkeypatch, paths):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    for options in ({}, {"piece_size": 100}):
        with pytest.raises(UsageError, match=r"pip install fsspec"):
            corefeval.score("s3://bucket/key.conll", paths[1], **options)


def test_the_command_line(paths, capsys, tmp_path):
    arguments = ["score", *map(str, paths), "--metrics", "all", "--format", "json"]
    assert main(arguments) == 0
    whole = capsys.readouterr()
    for more in (["--piece-size", "300"], ["--piece-size", "300", "--resume", f"{tmp_path}/a"]):
        assert main([*arguments, *more]) == 0
        assert capsys.readouterr() == whole
    saved = tmp_path / "saved.json"
    assert main([*arguments[:3], "--piece-size", "300", "--save", str(saved), "--ci"]) == 0
    assert corefeval.load(saved)["muc"].counts == corefeval.score(*paths)["muc"].counts
    compared = ["compare", str(KEY), str(CAUTIOUS), str(EAGER), "--trials", "20"]
    capsys.readouterr()
    assert main(compared) == 0
    whole = capsys.readouterr()
    assert main([*compared, "--piece-size", "5KB", "--resume", f"{tmp_path}/b"]) == 0
    assert capsys.readouterr() == whole


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--piece-size", "many"], "a size such as"),
        (["--piece-size", "0"], "at least one byte"),
        (["--jobs", "0"], "1 or more"),
        (["--jobs", "2", "--scheduler", "tcp://127.0.0.1:1"], "use one"),
        (["--resume", "{folder}", "--piece-size", "99"], "other files"),
        (["--resume", "s3://bucket/kept", "--piece-size", "99"], "not an address"),
        (["--protocol", "corefud-1.2", "--piece-size", "1MB"], "cannot be made in pieces"),
    ],
)
def test_what_cannot_be_asked_for(paths, capsys, options, words):
    options = [option.replace("{folder}", str(paths[0].parent)) for option in options]
    assert main(["score", *map(str, paths), *options]) == 2
    assert words in capsys.readouterr().err


def test_a_folder_is_a_path(paths):
    with pytest.raises(UsageError, match="resume must be the path of a folder, not 3"):
        corefeval.score(*paths, piece_size=300, resume=3)


def test_statistics_in_pieces(paths, tmp_path, capsys):
    corpora = [str(paths[0]), str(KEY)]
    texts = corpus(9)
    texts[3] = replace(texts[3], mentions=())
    corpora.append(str(write(tmp_path, "k.conllu", corefud(texts))))
    corpora.append(str(write(tmp_path, "cut.conll", conll(texts, end=False))))
    for format in ("json", "text"):
        assert main(["stats", *corpora, "--format", format]) == 0
        whole = capsys.readouterr()
        assert main(["stats", *corpora, "--format", format, "--piece-size", "300"]) == 0
        assert capsys.readouterr() == whole


def test_what_is_packed_is_unpacked_to_a_limit(tmp_path, paths):
    packed = write(tmp_path, "k.gz", gzip.compress(paths[0].read_bytes()))
    assert_same(
        replace(corefeval.score(packed, paths[1], piece_size=300), key=str(paths[0])),
        corefeval.score(*paths),
    )
    damaged = write(tmp_path, "d.gz", packed.read_bytes()[:-30])
    with pytest.raises(InputError, match="damaged"):
        corefeval.score(damaged, paths[1], piece_size=300)
    with corefeval.unpack_limit(500), pytest.raises(InputError, match="more than 500 B"):
        corefeval.score(packed, paths[1], piece_size=300)


def test_checks_in_pieces(tmp_path, capsys):
    odd = corpus(9)
    odd[4] = replace(odd[4], mentions=((0, 1, 0), (1, 2, 0), (0, 1, 0)))
    odd[6] = replace(odd[6], words=("Ada",), empty=(False,), mentions=((0, 0, 3),))
    lines = conll(corpus(9)).splitlines()
    lines[60] = lines[60].rsplit(" ", 1)[0] + " (7"
    texts = [
        conll(odd, end=False),
        conll(odd).replace("#begin document", "#begin  document"),
        corefud(odd),
        corefud(odd).replace("d3_0", "d3_0\n1\tx").replace("d1_0", "d1_0\n1\ty"),
        "\n".join(lines),
        conll([replace(text, mentions=()) for text in odd]),
        conll(odd).replace("nw/d4", "nw/d5"),
    ]
    for number, text in enumerate(texts):
        path = str(write(tmp_path, f"{number}", text))
        arguments = ["check", path, "--all", "--format", "json"]
        status, whole = main(arguments), capsys.readouterr()
        assert main([*arguments, "--piece-size", "300"]) == status
        assert capsys.readouterr() == whole

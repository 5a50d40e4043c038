"""Pieces on Dask: the same result, though a worker is killed in the middle."""

from __future__ import annotations

import json
import os
import signal

import pytest

import corefeval
from corefeval.cli import main

distributed = pytest.importorskip("distributed", reason="distributed is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # of what a cluster says when workers die

KEY, EAGER = corefeval.example("key"), corefeval.example("eager")


@pytest.fixture(scope="module")
def cluster():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options, silence_logs=50) as cluster:
        yield cluster


def test_a_worker_killed_in_the_middle(cluster):
    whole = corefeval.score(KEY, EAGER, metrics="all", by="kind")
    killed = []
    with distributed.Client(cluster, set_as_default=False) as client:

        def kill(done: int, total: int, size: int) -> None:
            assert total > 4
            if not killed:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)

        pieces = corefeval.score(
            KEY,
            EAGER,
            metrics="all",
            by="kind",
            piece_size="5KB",
            executor=client.get_executor(),
            progress=kill,
        )
    assert killed
    assert pieces == whole


def test_a_scheduler_on_the_command_line(cluster, capsys):
    arguments = ["score", str(KEY), str(EAGER), "--format", "json"]
    assert main(arguments) == 0
    whole = json.loads(capsys.readouterr().out)
    address = cluster.scheduler_address
    assert main([*arguments, "--piece-size", "5KB", "--scheduler", address]) == 0
    assert json.loads(capsys.readouterr().out) == whole


def test_no_scheduler_answers(capsys, monkeypatch):
    monkeypatch.setattr("corefeval.cli.responses.PATIENCE", "200ms")
    arguments = ["score", str(KEY), str(EAGER), "--scheduler", "tcp://127.0.0.1:1"]
    assert main(arguments) == 2
    assert "there is no answer" in capsys.readouterr().err

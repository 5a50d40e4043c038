"""The recipes for CI and Codabench do what they say, on the example of a suite."""

from __future__ import annotations

import json
import os
import shlex
import shutil

import pytest

from conftest import ROOT

RECIPES = ROOT / "docs" / "suite"


def load(path):
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_the_workflow_gates_a_submission(folder, run, monkeypatch):
    monkeypatch.chdir(folder)
    workflow = load(RECIPES / "check-submissions.yml")
    commands = [step["run"] for step in workflow["jobs"]["check"]["steps"] if "run" in step]
    (folder / "temp").mkdir()
    monkeypatch.setenv("RUNNER_TEMP", str(folder / "temp"))
    commands = [os.path.expandvars(one) for one in commands]
    check, score, table = (one for one in commands if one.startswith("corefeval "))
    shutil.copy("cautious/fiction.jsonl", "eager/fiction.jsonl")  # the only one with a warning
    assert run(*shlex.split(check)[1:])[0] == 0
    assert run(*shlex.split(score.replace("--jobs 2", "--jobs 1"))[1:])[0] == 0
    # Who submits could put cells of any score into a cache beside the suite.
    assert not (folder / "suite.cache").exists() and (folder / "temp" / "suite.cache").is_dir()
    status, out, _ = run(*shlex.split(table.partition(">>")[0])[1:])
    assert (status, out.count("| steady")) == (0, 1)
    (folder / "eager" / "news.jsonl").write_text("{")
    assert run(*shlex.split(check)[1:])[0] == 1
    assert run(*shlex.split(score.replace("--jobs 2", "--jobs 1"))[1:])[0] == 3


def test_the_scoring_program_writes_what_the_leaderboard_shows(folder, run):
    bundle = RECIPES / "codabench"
    app = folder / "app"
    shutil.copytree(bundle / "reference_data", app / "input" / "ref")
    shutil.copytree(folder / "keys", app / "input" / "ref" / "keys")
    shutil.copytree(folder / "eager", app / "input" / "res")
    (app / "output").mkdir()
    command = load(bundle / "scoring_program" / "metadata.yaml")["command"]
    page = (ROOT / "docs" / "suite.md").read_text(encoding="utf-8")
    assert command in page
    arguments = shlex.split(command.replace("/app/", f"{app}/"))[1:]
    assert run(*arguments)[0] == 0
    scores = json.loads((app / "output" / "scores.json").read_text())
    columns = load(bundle / "competition.yaml")["leaderboards"][0]["columns"]
    assert {column["key"] for column in columns} == set(scores)
    assert scores["macro"] == pytest.approx(74.13, abs=0.005)
    (app / "input" / "res" / "talk.jsonl").unlink()
    status, _, err = run(*arguments)
    assert (status, "there is no such file" in err) == (0, True)
    assert json.loads((app / "output" / "scores.json").read_text())["talk"] == 0

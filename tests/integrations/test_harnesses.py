"""Folders that evaluation harnesses run as they are, in the harnesses themselves, offline."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys

import pytest

import corefeval
from corefeval.diagnostics import CorefEvalError, InputError, UsageError
from corefeval.integrations import lm_eval
from corefeval.integrations.harnesses import counts_of, sum_scores

KEY, TAGGED = corefeval.example("key"), corefeval.example("tagged")
LACK = "is not installed: pip install --group drop-ins"


def needs(module):
    lacks = importlib.util.find_spec(module) is None
    return pytest.mark.skipif(lacks, reason=f"{module} {LACK}")


@pytest.fixture
def folder(run, tmp_path):
    """Makes a folder for a harness."""

    def make(harness, *options):
        place = tmp_path / harness
        status, out, err = run("prompt", KEY, "--for", harness, "--output", place, *options)
        assert (status, out) == (0, "") and "Traceback" not in err
        return place

    return make


def records_of(folder):
    return [json.loads(line) for line in (folder / "prompts.jsonl").read_text().splitlines()]


def given_answers():
    with open(TAGGED, encoding="utf-8") as file:
        return {record["id"]: record["answer"] for record in map(json.loads, file)}


def expected_score():
    result = corefeval.score(KEY, given_answers(), response_format="llm-markdown", metrics="conll")
    return 100 * result["conll"].f1


def test_counts_add_up_to_the_score_of_the_corpus(folder):
    answers = given_answers()
    place = folder("lm-eval")
    items = [lm_eval.process_results(doc, [answers[doc["id"]]]) for doc in records_of(place)]
    counts = [item["conll"] for item in items]
    assert json.loads(json.dumps(counts)) == counts
    assert set(counts[0]) >= {"muc/recall_numerator", "ceafe/precision_denominator"}
    assert lm_eval.aggregate(counts) == pytest.approx(expected_score(), abs=1e-9)
    assert lm_eval.aggregate([]) == 0
    nothing = lm_eval.process_results(records_of(place)[0], [])
    assert lm_eval.aggregate([nothing["conll"]]) == 0
    mean = [{name: 0.5 * number for name, number in one.items()} for one in counts]
    assert lm_eval.aggregate(mean * 2) == pytest.approx(expected_score(), abs=1e-9)
    assert list(sum_scores(counts)) == ["conll", "muc", "b3", "ceafe"]


def test_what_does_not_add_up_is_refused():
    result = corefeval.score(KEY, TAGGED, metrics="muc", aggregate="macro")
    with pytest.raises(UsageError, match="aggregate"):
        counts_of(result)


@pytest.mark.parametrize("doc", [{}, {"id": "x"}, {"key": None}, {"key": []}, {"key": {"a": 1}}])
def test_a_sample_of_the_wrong_shape_is_one_error(doc):
    with pytest.raises(CorefEvalError) as caught:
        lm_eval.process_results(doc, ["[Ada](#1)"])
    if doc.get("key") is None:
        assert isinstance(caught.value, InputError)
        assert "--for inspect|lm-eval" in str(caught.value)


def execute(code, tmp_path, *arguments):
    """What a script says, in a process of its own, as harnesses have threads and warnings."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1",
                   "HF_HOME": str(tmp_path / "hf"), "PYTHONWARNINGS": "ignore",
                   "PYTHONPATH": os.pathsep.join(sys.path)}  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        input=json.dumps(given_answers()), text=True, capture_output=True, cwd=tmp_path,
        env=environment, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


INSPECT = """
import json, sys
from pathlib import Path
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model

folder, epochs = Path(sys.argv[1]), int(sys.argv[2])
answers = json.load(sys.stdin)
lines = (folder / "prompts.jsonl").read_text().splitlines()
asked = {record["user"]: record["id"] for record in map(json.loads, lines)}

def answer(input, tools, tool_choice, config):
    output = ModelOutput.from_content("mockllm/model", answers[asked[input[-1].text]])
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output

model = get_model("mockllm/model", custom_outputs=answer)
task = f"{folder.name}/task.py"  # Inspect looks for tasks below the working directory
log = eval(task, model=model, epochs=epochs, display="none", log_dir="logs")[0]
assert log.status == "success", log.error
[score] = log.results.scores
sample = log.samples[0].scores["coreference"]
print()
print(json.dumps({"values": {name: metric.value for name, metric in score.metrics.items()},
                  "state": sample.metadata["state"], "answers": sample.metadata["answers"],
                  "log": log.location}))
"""


@needs("inspect_ai")
@pytest.mark.slow
@pytest.mark.parametrize("epochs", [1, 2])
def test_inspect_runs_the_folder(epochs, folder, tmp_path):
    told = execute(INSPECT, tmp_path, folder("inspect"), epochs)
    assert told["values"]["conll"] == pytest.approx(expected_score(), abs=1e-9)
    assert set(told["values"]) == {"conll", "muc", "b3", "ceafe", "unread"}
    assert told["values"]["unread"] == 0
    assert told["answers"]["written"] >= told["answers"]["placed"] > 0 and told["state"] == "read"
    result = corefeval.score(KEY, told["log"], metrics="conll", choice=epochs)
    assert 100 * result["conll"].f1 == pytest.approx(expected_score(), abs=1e-9)


LM_EVAL = """
import json, sys
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

folder = sys.argv[1]
answers = json.load(sys.stdin)
records = [json.loads(line) for line in open(folder + "/prompts.jsonl")]

class Canned(LM):
    def generate_until(self, requests, disable_tqdm=False):
        ids = [next(r["id"] for r in records if q.args[0].endswith(r["user"])) for q in requests]
        return [answers[name] for name in ids]

    loglikelihood = loglikelihood_rolling = None

manager = TaskManager(include_path=folder, include_defaults=False)
results = simple_evaluate(Canned(), tasks=["corefeval"], task_manager=manager, log_samples=True)
with open("samples_corefeval.jsonl", "w") as file:
    for sample in results["samples"]["corefeval"]:
        print(json.dumps(sample), file=file)
print()
print(json.dumps(results["results"]["corefeval"]["conll,none"]))
"""


@needs("lm_eval")
@pytest.mark.slow
def test_lm_eval_runs_the_folder(folder, tmp_path):
    told = execute(LM_EVAL, tmp_path, folder("lm-eval"))
    assert told == pytest.approx(expected_score(), abs=1e-9)
    result = corefeval.score(KEY, tmp_path / "samples_corefeval.jsonl", metrics="conll")
    assert 100 * result["conll"].f1 == pytest.approx(expected_score(), abs=1e-9)

"""Drop-ins, each in the tool that it is for. Large tools are skipped by name: group `drop-ins`."""

from __future__ import annotations

import importlib.metadata
import json
import os
import pickle
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import corefeval
from conftest import ROOT
from corefeval.integrations.harnesses import number_documents

KEY, EAGER = corefeval.example("key"), corefeval.example("eager")
LACK = "is not installed: pip install --group drop-ins"


def clusters(path):
    """The documents of a file as lists of clusters of spans."""
    return [
        [[(m.start, m.end) for m in entity] for entity in document.entities]
        for document in corefeval.read(path)
    ]


def lines(path):
    """The documents of a CoNLL file as lists of lines."""
    documents = Path(path).read_text(encoding="utf-8").split("#end document")
    return [one.strip().splitlines()[1:] for one in documents if one.strip()]


# Hugging Face's evaluate --------------------------------------------------------------------------

EVALUATE = """
import json, sys
import evaluate
from corefeval.integrations import EVALUATE
given = json.load(sys.stdin)
metric = evaluate.load(EVALUATE)
answers = []
for one in given:
    try:
        answers.append(metric.compute(**one))
    except Exception as error:
        answers.append(f"{type(error).__name__}: {error}")
sys.stdout.write(json.dumps(answers))
"""


@pytest.mark.slow  # importing evaluate takes seconds; docs/integrations.md does it in any case
def test_evaluate_loads_the_metric_without_a_network(tmp_path):
    """Two perfect documents are perfect, whatever numbers their entities have.

    What evaluate has as coval takes them for one text, in which equal numbers are one entity, and
    gives 63.7.
    """
    pytest.importorskip("evaluate", reason="evaluate is not installed: pip install evaluate")
    first = ["d 0 0 Ada NNP (1)", "d 0 1 saw VBD -", "d 0 2 herself PRP (1)"]
    second = ["e 0 0 It PRP (1)", "e 0 1 fell VBD -", "e 0 2 . . -", "e 0 3 It PRP (1)"]
    other = [line.replace("(1)", "(2)") for line in second]
    spans = [[[[list(m) for m in cluster] for cluster in one] for one in clusters(path)]
             for path in (KEY, EAGER)]  # fmt: skip
    asked = [
        {"predictions": [first, other], "references": [first, second]},
        {"predictions": lines(EAGER), "references": lines(KEY)},
        {"predictions": spans[1], "references": spans[0], "metrics": "lea", "singletons": "drop"},
        {"predictions": [first], "references": [first], "metrics": "mcu"},
    ]
    home = {"HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", EVALUATE],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        env={**os.environ, **home},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    perfect, of_lines, of_clusters, misspelt = json.loads(done.stdout)
    assert perfect["conll_score"] == 100
    paths = tmp_path / "key.conll", tmp_path / "response.conll"
    for path, documents in zip(paths, ((first, second), (first, other)), strict=True):
        texts = [f"#begin document ({one[0][0]}); part 000\n" + "\n".join(one) for one in documents]
        path.write_text("\n\n#end document\n".join((*texts, "")))
    assert corefeval.score(*paths, protocol="hf-coval")["conll"].f1 == pytest.approx(
        0.637, abs=1e-4
    )
    assert {perfect[f"{metric}/f1"] for metric in ("muc", "b3", "ceafe", "lea")} == {1}
    expected = corefeval.score(KEY, EAGER)
    assert of_lines["muc/recall"] == pytest.approx(expected["muc"].recall)
    assert of_lines["conll_score"] == pytest.approx(100 * expected["conll"].f1)
    dropped = corefeval.score(KEY, EAGER, metrics="lea", singletons="drop")
    assert of_clusters["lea/f1"] == pytest.approx(dropped["lea"].f1)
    assert "singletons:drop" in of_clusters["signature"]
    assert misspelt.startswith("UsageError: there is no metric 'mcu'")


@pytest.mark.parametrize("documents", [["ab", [["a"]]], [3], [[3]], [["(1)"], [["a"]]]])
def test_documents_of_no_form(documents):
    with pytest.raises((corefeval.InputError, TypeError)):
        corefeval.score(number_documents(documents, "references"), {})


def test_lines_keep_their_documents_apart():
    corpus = number_documents(lines(KEY), "references")
    assert [one.id.name for one in corpus] == [str(n) for n in range(len(lines(KEY)))]
    assert corpus.n_mentions == corefeval.read(KEY).n_mentions


def test_lines_of_a_whole_file_are_its_documents():
    """Who has used coval in evaluate gives all lines of a file as one document."""
    key, response = (
        number_documents([Path(path).read_text(encoding="utf-8").splitlines()], name)
        for path, name in ((KEY, "references"), (EAGER, "predictions"))
    )
    assert [str(one.id) for one in key] == [f"0/{one.id}" for one in corefeval.read(KEY)]
    assert corefeval.score(key, response)["b3"] == corefeval.score(KEY, EAGER)["b3"]


# spaCy --------------------------------------------------------------------------------------------


def make_examples(prefix="coref_clusters_", respell=False):
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed: pip install spacy")
    from spacy.tokens import Doc
    from spacy.training import Example

    vocab = spacy.blank("en").vocab

    def make(document, split=False):
        words, spaces, shift = list(document.words), [True] * len(document.words), 0
        if split and len(words[0]) > 1:  # into two tokens
            words[:1], shift = [words[0][:1], words[0][1:]], 1
            spaces.insert(0, False)
        doc = Doc(vocab, words=words, spaces=spaces)
        for number, entity in enumerate(document.entities, start=1):
            doc.spans[f"{prefix}{number}"] = [
                doc[m.start + shift * (m.start > 0) : m.end + shift] for m in entity
            ]
        return doc

    examples = []
    for key, response in zip(corefeval.read(KEY), corefeval.read(EAGER), strict=True):
        examples.append(Example(make(response), make(key, split=respell)))
    return examples


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("prefix", ["coref_clusters_", "chains"])
def test_spacy_scores_examples_by_position(prefix):
    from corefeval.integrations.spacy import make_coref_scorer

    scores = make_coref_scorer(span_cluster_prefix=prefix)(make_examples(prefix), threshold=0.5)
    expected = corefeval.score(KEY, EAGER, metrics="conll, lea")
    assert scores["coref_f"] == pytest.approx(expected["conll"].f1)
    assert scores["coref_muc_r"] == pytest.approx(expected["muc"].recall)
    assert scores["coref_lea_p"] == pytest.approx(expected["lea"].precision)


@pytest.mark.filterwarnings("ignore")
def test_spacy_scores_documents_of_other_tokens():
    from corefeval.integrations.spacy import make_coref_scorer

    examples = make_examples(respell=True)
    assert any(len(one.reference) != len(one.predicted) for one in examples)
    scores = make_coref_scorer(main="lea")(examples)
    expected = corefeval.score(KEY, EAGER, metrics="lea")
    assert scores["coref_f"] == scores["coref_lea_f"] == pytest.approx(expected["lea"].f1)


@pytest.mark.filterwarnings("ignore")
def test_spacy_has_no_score_where_nobody_annotated():
    from corefeval.integrations.spacy import make_coref_scorer

    scores = make_coref_scorer()(make_examples("other_"))
    assert set(scores.values()) == {None}
    assert "coref_f" in scores


@pytest.mark.filterwarnings("ignore")
def test_spacy_finds_the_scorer_in_its_registry_and_evaluates_with_it():
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed: pip install spacy")
    from corefeval.integrations.spacy import make_coref_scorer

    name = "corefeval.coref_scorer.v1"
    entries = importlib.metadata.entry_points(group="spacy_scorers")
    if name not in entries.names:  # an installation from before there was a scorer
        spacy.registry.scorers.register(name, func=make_coref_scorer)

    @spacy.Language.factory("nothing_for_a_test", default_config={"scorer": {"@scorers": name}})
    def make(nlp, name, scorer):
        component = lambda doc: doc  # noqa: E731
        return type("C", (), {"__call__": staticmethod(component), "score": staticmethod(scorer)})()

    nlp = spacy.blank("en")
    nlp.add_pipe("nothing_for_a_test")
    scores = nlp.get_pipe("nothing_for_a_test").score(make_examples())
    assert scores["coref_f"] == pytest.approx(corefeval.score(KEY, EAGER)["conll"].f1)


# torchmetrics -------------------------------------------------------------------------------------


@pytest.fixture
def coref_metric():
    pytest.importorskip("torchmetrics", reason=f"torchmetrics {LACK}")
    from corefeval.integrations.torchmetrics import CorefMetric

    return CorefMetric


def expect(computed, **options):
    rates = corefeval.score(KEY, EAGER, **options).to_dict(flat=True)
    assert {name: float(value) for name, value in computed.items()} == pytest.approx(rates)


@pytest.mark.filterwarnings("ignore:The ``compute`` method")
def test_torchmetrics_adds_up_batches(coref_metric):
    key, response = clusters(KEY), clusters(EAGER)
    metric = coref_metric()
    for start in range(0, len(key), 2):
        batch = metric(response[start : start + 2], key[start : start + 2])
    assert "conll/f1" in batch
    expect(metric.compute())
    assert int(metric.documents) == len(key)
    metric.reset()
    assert float(metric.compute()["muc/f1"]) == 0
    metric.update([], [])
    lines_metric = coref_metric("lea", singletons="drop")
    lines_metric.update(lines(EAGER), lines(KEY))
    expect(lines_metric.compute(), metrics="lea", singletons="drop")


def test_torchmetrics_states_merge_and_pickle(coref_metric):
    import torch

    key, response = clusters(KEY), clusters(EAGER)
    parts = [coref_metric("standard") for _ in range(2)]
    for part, some in zip(parts, (slice(0, 4), slice(4, None)), strict=True):
        part.update(response[some], key[some])
    copy = pickle.loads(pickle.dumps(parts[0]))
    copy.merge_state(parts[1])
    expect(copy.compute())
    # What another process would send, put together as torchmetrics does it.
    states = [part.metric_state for part in parts]
    joint = coref_metric("standard")
    for name, reduce in joint._reductions.items():
        setattr(joint, name, reduce(torch.stack([state[name] for state in states])))
    joint._update_count = 1
    expect(joint.compute())


def _work(rank, folder, answers):
    """One of two processes, each with documents of its own."""
    import torch.distributed as distributed

    from corefeval.integrations.torchmetrics import CorefMetric

    distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2
    )
    metric = CorefMetric("conll")
    metric.update(clusters(EAGER)[rank::2], clusters(KEY)[rank::2])
    answers.put({name: float(value) for name, value in metric.compute().items()})
    distributed.destroy_process_group()


@pytest.mark.filterwarnings("ignore")
def test_torchmetrics_syncs_processes(coref_metric, tmp_path):
    import torch.multiprocessing as processes

    context = processes.get_context("fork")
    answers = context.SimpleQueue()
    workers = [context.Process(target=_work, args=(rank, tmp_path, answers)) for rank in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    for _ in workers:
        expect(answers.get(), metrics="conll")


def test_torchmetrics_refuses_what_does_not_add_up(coref_metric):
    with pytest.raises(corefeval.UsageError, match="aggregate:micro, not macro"):
        coref_metric(aggregate="macro")
    with pytest.raises(corefeval.UsageError, match="2 preds for 1 targets"):
        coref_metric("muc").update([[], []], [[]])


# pytest -------------------------------------------------------------------------------------------

GATED = """
import pytest

KEY, EAGER = {paths!r}

def test_good(coref_gate):
    result = coref_gate(KEY, EAGER, conll=70, at_least={{"muc.recall": 80, "p-link": 0}}, ci=0.9)
    assert result["conll"].f1 > 0.7 and result.ci == 0.9

def test_bad(coref_gate):
    coref_gate(KEY, EAGER, conll=75, lea=50, metrics="ceafm", singletons="drop")

@pytest.mark.parametrize("wrong", [{{}}, {{"conll": 0.7}}, {{"conll": "x"}}, {{"colnn": 70}},
                                   {{"at_least": {{"conll.recall": 3}}}}])
def test_wrong(coref_gate, wrong):
    import corefeval
    with pytest.raises(corefeval.UsageError):
        coref_gate(KEY, EAGER, **wrong)

def test_misspelt(coref_gate):
    import corefeval
    with pytest.raises(corefeval.UsageError, match="no metric 'conl': did you mean 'conll'"):
        coref_gate(KEY, EAGER, conl=70)
"""


def test_pytest_has_gates(tmp_path):
    (tmp_path / "test_gated.py").write_text(GATED.format(paths=(KEY, EAGER)))
    plugin = ["-p", "no:corefeval", "-p", "corefeval.integrations.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", "-q", *plugin, "-p", "no:cacheprovider", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "1 failed, 7 passed" in done.stdout, done.stdout
    score = 100 * corefeval.score(KEY, EAGER, singletons="drop")["conll"].f1
    assert f"conll of {EAGER} is {score:.2f}, under 75" in done.stdout
    assert "CEAFm" in done.stdout and "singletons:drop" in done.stdout
    assert "lea of" not in done.stdout
    assert "Traceback" not in done.stdout


def test_the_plugin_costs_others_nothing():
    code = (
        "import sys, pytest; before = set(sys.modules);"
        "import corefeval.integrations.pytest_plugin;"
        "print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "numpy" not in done.stdout
    assert len(done.stdout.split(",")) <= 6, done.stdout


def test_what_is_announced_is_there():
    """Entry points of the project, imported as others would."""
    path = ROOT / "pyproject.toml"
    if not path.exists():
        pytest.skip("the tests are not in the project's folder")
    groups = tomllib.loads(path.read_text(encoding="utf-8"))["project"]["entry-points"]
    assert set(groups) == {"pytest11", "spacy_scorers"}
    for entries in groups.values():
        for name, value in entries.items():
            assert importlib.metadata.EntryPoint(name, value, "x").load() is not None


# Loggers ------------------------------------------------------------------------------------------


def logged():
    asked = "muc, conll, b3(twinless=sys)"
    return corefeval.score(KEY, EAGER, metrics=asked, by="kind, size").to_dict(flat=True)


@pytest.mark.filterwarnings("ignore")
def test_mlflow_logs_a_result(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason=f"mlflow {LACK}")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run() as run:
        mlflow.log_metrics(logged(), step=1)
    assert mlflow.get_run(run.info.run_id).data.metrics == pytest.approx(logged())


@pytest.mark.filterwarnings("ignore")
def test_wandb_logs_a_result(tmp_path):
    wandb = pytest.importorskip("wandb", reason=f"wandb {LACK}")
    run = wandb.init(mode="offline", dir=str(tmp_path))
    run.log(logged())
    assert run.summary["conll/f1"] == pytest.approx(logged()["conll/f1"])
    run.finish()

"""Metrics of one's own: declared, named by place or by entry point, and used like any other."""

from __future__ import annotations

import inspect
import json
import linecache
import math
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import corefeval
from corefeval.cli import main
from corefeval.metrics import REGISTRY, Metric, parse_metrics, spell

KEY, EAGER, CAUTIOUS = (corefeval.example(name) for name in ("key", "eager", "cautious"))
MODULE = '''
import math
import corefeval

def exact(key, response):
    """How many entities are found as they are."""
    found = len(set(key) & set(response))
    return {"recall": (found, len(key)), "precision": (found, len(response))}

@corefeval.metric(name="sized", title="Sized", levels=("document", "entity", "mention"))
def find_sized(alignment, *, weight=1):
    def ratio(one):
        found, there = one.shares, one.key.group
        return one.sums(found.group, weight * found.count), one.sums(there, weight * (there >= 0))
    return {"recall": ratio(alignment), "precision": ratio(alignment.swapped)}

def fails(key, response):
    return len(key) / 0

def returns_nothing(key, response):
    len(key)

def returns_text(key, response):
    return "much"

def returns_much(key, response):
    return 1.5

def returns_f1(key, response):
    return {"f1": 0.5}

def returns_pieces(key, response):
    return {"recall": (1, 2, 3), "precision": 1}

def takes_three(key, response, text):
    return 1

def takes_text(key, response, *, mode="fast"):
    return 1

def lists_numbers(key, response, *, most=3):
    return len(range(most)) / 100

number = 3
'''


def forget(names):
    for name in names:
        del REGISTRY[name]


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of somebody's in the folder in which commands are given."""
    before = dict(REGISTRY)
    (tmp_path / "their_metrics.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "their_script.py").write_text("raise SystemExit(0)", encoding="utf-8")
    wrong = "import corefeval\n@corefeval.metric(name='wrong')\ndef f(a, b, c): return 1\n"
    (tmp_path / "wrong_metrics.py").write_text(wrong, encoding="utf-8")
    (tmp_path / "broken_metrics.py").write_text("def f(:\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield "their_metrics"
    for name in ("their_metrics", "broken_metrics"):
        sys.modules.pop(name, None)
    forget(REGISTRY.keys() - before)


@pytest.fixture
def declare():
    """The decorator, for one test."""
    before = dict(REGISTRY)
    yield corefeval.metric
    forget(REGISTRY.keys() - before)


def test_a_function_of_entities(declare):
    seen = []

    @declare(name="own", title="Own", reference="Somebody 2026")
    def count_exact(key, response):
        """How many entities are found as they are."""
        seen.append((key, response))
        found = len(set(key) & set(response))
        return {"recall": (found, len(key)), "precision": (found, len(response))}

    key = {"x": [["a", "b"], ["c"]], "y": [], "z": [["d"]]}
    response = {"x": [["b", "a"], ["c", "e"]], "y": [["f"]], "z": [["d"]]}
    result = corefeval.score(key, response, metrics="own")
    assert (result["own"].recall, result["own"].precision) == (2 / 3, 2 / 4)
    assert [one["own"].recall for one in result.documents] == [0.5, 0, 1]
    assert REGISTRY["own"].summary == "How many entities are found as they are."
    (x_key, x_response), (y_key, y_response), _ = seen
    assert x_key[0] == x_response[0]
    assert len(x_key[1] & x_response[1]) == 1
    assert len(x_response[1]) == 2
    assert (y_key, len(y_response)) == ([], 1)
    assert count_exact([], []) == {"recall": (0, 0), "precision": (0, 0)}


def test_a_function_of_an_alignment_counts_as_the_metric_itself_does(declare):
    @declare
    def own_muc(alignment):
        counts = Metric.parse("muc").count(alignment)
        return {
            rate: (counts[f"{rate}_numerator"], counts[f"{rate}_denominator"])
            for rate in ("recall", "precision")
        }

    result = corefeval.score(KEY, EAGER, metrics="muc, own_muc")
    assert result["own_muc"].rates == result["muc"].rates


@pytest.mark.parametrize("form", ["entities", "alignment"])
def test_rates_count_as_their_mean_over_documents(declare, form):
    rates = {"x": 0.25, "y": 0.75, "z": math.nan}
    left = iter(rates.values())
    if form == "entities":
        declare(name="own")(lambda key, response: next(left))
    else:
        declare(name="own")(lambda alignment: np.array([*rates.values()]))
    corpus = {name: [[name]] for name in rates}
    result = corefeval.score(corpus, corpus, metrics="own")
    assert result["own"].rates == {"recall": 0.5, "precision": 0.5, "f1": 0.5}


def test_parameters_are_what_has_a_number_as_default(module):
    result = corefeval.score(KEY, EAGER, metrics="their_metrics:exact, sized(weight=3), mentions")
    found = result["mentions"].counts["recall_numerator"]
    assert result["sized(weight=3)"].counts["recall_numerator"] == 3 * found
    numbers = corefeval.score(KEY, EAGER, metrics="their_metrics:lists_numbers(most=7)")
    assert numbers["their_metrics:lists_numbers(most=7)"].f1 == pytest.approx(0.07)
    with pytest.raises(corefeval.UsageError, match="weight is a number"):
        corefeval.score(KEY, EAGER, metrics="sized(weight=heavy)")


def test_documents_ask_for_no_signature_of_their_own(declare, monkeypatch):
    """What Python tells of a function costs more than calling it does."""
    declare(name="own")(lambda key, response, *, most=3: most / 10)
    asked, read = [], inspect.signature
    monkeypatch.setattr(inspect, "signature", lambda f, **how: asked.append(f) or read(f, **how))
    corpus = {str(number): [["a"]] for number in range(50)}
    assert corefeval.score(corpus, corpus, metrics="own")["own"].f1 == pytest.approx(0.3)
    assert len(asked) < 10


def test_a_metric_has_slices_where_it_says_so(module):
    asked = "their_metrics:exact, their_metrics:find_sized, mentions"
    result = corefeval.score(KEY, EAGER, metrics=asked, by="size, genre")
    for part in result.by("size").values():
        assert part["sized"].rates == part["mentions"].rates
    assert "their_metrics:exact" in result.by("size").undefined
    assert "their_metrics:exact" in next(iter(result.by("genre").values()))


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("their_metrics:fails", r"raised ZeroDivisionError: .* \(their_metrics.py, line \d+\)"),
        ("their_metrics:returns_nothing", "returns nothing: return counts or rates"),
        ("their_metrics:returns_text", "returns no number but str 'much'"),
        ("their_metrics:returns_much", r"not between 0 and 1, or a count below 0: recall 1\.5$"),
        ("their_metrics:returns_f1", "expected recall and precision, .* found f1, and none"),
        ("their_metrics:returns_pieces", r"returns no counts|of shape"),
        ("their_metrics:takes_three", r"takes_three\(key, response, text\) is no metric"),
        ("their_metrics:takes_text", "'mode' has no number as default"),
        ("their_metrics:number", "is 3, and no metric: a metric is a function"),
        ("their_metrics:nothing", "has no attribute 'nothing'"),
        ("their_metrics:", "write module:function, such as their_metrics:my_metric"),
        ("their_metrics.py:exact", "such as their_metrics:exact$"),
        ("x/their_metrics.py:exact", "such as their_metrics:exact, in the folder of their_metrics"),
        (":exact", "such as my_module:exact$"),
        ("builtins:max", "max is no metric. A metric is f"),
        ("their_script:f", "cannot be imported: SystemExit: 0"),
        ("no_such_module:f", "there is no module 'no_such_module'"),
        ("broken_metrics:f", r"SyntaxError: [^(]*\(broken_metrics.py, line 1\)$"),
        ("wrong_metrics:f", r"^wrong_metrics:f: f\(a, b, c\) is no metric.* a number as default$"),
        ("nothing-like-it", "there is no metric 'nothing-like-it'"),
    ],
)
def test_mistakes_are_one_clear_error(module, place, message, capsys):
    with pytest.raises(corefeval.UsageError, match=message):
        corefeval.score(KEY, EAGER, metrics=place)
    assert main(["score", KEY, EAGER, "--metrics", place]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert "Traceback" not in error


@pytest.mark.parametrize("wrong", [lambda: 1, lambda *sides: 1, lambda a, b, c: 1, 3, "muc"])
def test_what_is_no_metric(declare, wrong):
    with pytest.raises(corefeval.UsageError, match=r"A metric is f|a metric is a function"):
        declare(name="own")(wrong)


def test_a_cell_that_is_run_again_declares_again_and_no_other_function_does(declare):
    space = {"__name__": "a_notebook", "corefeval": corefeval}
    code = "@corefeval.metric(name='own')\ndef f(key, response): return {}"
    for value in ("0.5", "1.0"):
        exec(code.format(value), space)
    corpus = [["a"]]
    assert corefeval.score(corpus, corpus, metrics="own")["own"].f1 == 1.0
    with pytest.raises(corefeval.UsageError, match="already"):
        declare(name="own")(lambda key, response: 1)
    with pytest.raises(corefeval.UsageError, match="a level of other"):
        declare(name="other", levels="paragraph")(lambda alignment: 1)
    with pytest.raises(corefeval.UsageError, match="is not a name for a metric"):
        declare(name="a b")(lambda alignment: 1)
    with pytest.raises(corefeval.UsageError, match="divided by mention"):
        declare(name="other", levels=("document", "mention"))(lambda key, response: 1)


@pytest.mark.parametrize(
    "command",
    [
        ["score", KEY, EAGER],
        ["compare", KEY, EAGER, CAUTIOUS],
        ["errors", KEY, EAGER],
        ["agree", KEY, EAGER],
        ["lab", "splits", KEY],
        ["report", KEY, EAGER, "-o", "report.html"],
    ],
    ids=lambda command: command[0],
)
def test_every_command_takes_one(module, command, capsys):
    assert main([*command, "--metrics", "muc, their_metrics:exact, their_metrics:find_sized"]) == 0
    shown = capsys.readouterr()
    if command[0] != "report":
        assert "exact" in shown.out
        assert "ized" in shown.out


def test_the_command_line_and_python_agree(module, capsys):
    place = "their_metrics:exact"
    assert main(["score", KEY, EAGER, "--metrics", place, "-f", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    expected = corefeval.score(KEY, EAGER, metrics=place)[place].f1
    assert json.dumps(expected) in json.dumps(shown)
    assert main(["metrics", place]) == 0
    assert "How many entities are found as they are." in capsys.readouterr().out


def test_saved_results_need_no_function(module, tmp_path, capsys):
    place = "their_metrics:exact"
    result = corefeval.score(KEY, EAGER, metrics=f"muc, {place}")
    result.save("saved.json")
    forget([place])
    sys.modules.pop("their_metrics")
    (tmp_path / "their_metrics.py").unlink()
    again = corefeval.load("saved.json")
    assert again == result
    assert again[place].f1 == result[place].f1
    assert again[place].signature.startswith(f"{place}|")
    assert "exact" in corefeval.render(again)
    assert pickle.loads(pickle.dumps(again)) == result
    assert main(["compare", "saved.json", "saved.json", "--names", "a,b"]) in (0, 2)
    assert "Traceback" not in capsys.readouterr().err


def test_pieces_count_as_the_whole_does(module):
    asked = "their_metrics:exact, their_metrics:find_sized"
    whole = corefeval.score(KEY, EAGER, metrics=asked)
    assert corefeval.score(KEY, EAGER, metrics=asked, piece_size="1KB") == whole


def test_workers_that_know_nothing_import_the_function(module):
    """A new process has nothing in its registry but what a metric brings with it."""
    wanted = parse_metrics("their_metrics:exact, their_metrics:find_sized")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        result = corefeval.score(KEY, EAGER, metrics=wanted, piece_size="1KB", executor=pool)
    assert result == corefeval.score(KEY, EAGER, metrics=wanted)


def test_a_metric_of_another_process_that_cannot_be_imported(declare):
    declare(name="own")(lambda key, response: 1)
    copy = pickle.dumps(Metric.parse("own"))
    assert pickle.loads(copy) == Metric.parse("own")
    forget(["own"])
    lost = pickle.loads(copy)
    with pytest.raises(corefeval.UsageError, match="own is not known in this process"):
        corefeval.score(KEY, EAGER, metrics=[lost])


def test_entry_points_offer_metrics(module, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "their_package-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Name: their-package\nVersion: 1.0\n")
    entries = ["[corefeval.metrics]", "exactly = their_metrics:exact", "lost = no_such_module:f"]
    (folder / "entry_points.txt").write_text("\n".join(entries) + "\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    result = corefeval.score(KEY, EAGER, metrics="exactly")
    assert result["exactly"].counts["recall_numerator"] > 0
    with pytest.raises(corefeval.UsageError, match="there is no module 'no_such_module'"):
        corefeval.score(KEY, EAGER, metrics="lost")
    assert main(["metrics"]) == 0
    shown = capsys.readouterr()
    assert "exactly" in shown.out
    assert "no_such_module" in shown.err


@pytest.fixture
def evil(tmp_path, monkeypatch, module):
    """A module beside files of somebody's, which none of them may run."""
    (tmp_path / "evil.py").write_text("import pathlib; pathlib.Path('ran').touch()\nf = len\n")
    yield tmp_path / "ran"
    sys.modules.pop("evil", None)


def test_no_file_runs_code(evil, tmp_path, capsys):
    """Names of metrics in saved results are names, whatever they look like."""
    result = corefeval.score(KEY, EAGER, metrics="muc, their_metrics:exact")
    result.save("saved.json")
    text = Path("saved.json").read_text().replace("their_metrics:exact", "evil:f")
    Path("saved.json").write_text(text)
    again = corefeval.load("saved.json")
    assert again["evil:f"].f1 == result["their_metrics:exact"].f1
    assert "evil:g" not in again
    for command in (["score", "saved.json"], ["compare", "saved.json", "b=saved.json"]):
        assert main(command) == 0
    assert main(["score", "saved.json", "-f", "json", "--fail-under", "muc=1"]) == 0
    assert main(["explain", "--results", "saved.json", "b=saved.json"]) in (0, 1, 2)
    assert spell("evil:f") == "evil:f"
    assert not evil.exists()
    with pytest.raises(corefeval.UsageError):  # but whoever asks for it has it
        corefeval.score(KEY, EAGER, metrics="evil:f")
    assert evil.exists()


def test_a_place_is_another_spelling_of_a_declared_metric(module):
    result = corefeval.score(KEY, EAGER, metrics="their_metrics:find_sized(weight=2)")
    assert result["their_metrics:find_sized(weight=2)"] == result["sized(weight=2)"]
    limit = ["--fail-under", "their_metrics:find_sized=1"]
    assert main(["score", KEY, EAGER, "-m", "their_metrics:find_sized", *limit, "-q"]) == 0


def test_what_is_kept_does_not_outlive_a_change_of_the_function(module, tmp_path):
    asked = {"metrics": "their_metrics:exact", "piece_size": "1KB", "resume": tmp_path / "kept"}
    assert corefeval.score(KEY, EAGER, **asked)["their_metrics:exact"].f1 < 1
    changed = MODULE.replace("found = len(set(key) & set(response))", "found = 0")
    (tmp_path / "their_metrics.py").write_text(changed + "# another length\n", encoding="utf-8")
    sys.modules.pop("their_metrics")
    forget({"their_metrics:exact", "sized"} & REGISTRY.keys())
    linecache.checkcache()
    with pytest.raises(corefeval.CorefEvalError, match="differs in metrics"):
        corefeval.score(KEY, EAGER, **asked)

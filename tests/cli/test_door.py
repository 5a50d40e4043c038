"""One door: every result has rows, frames and a short repr, and can be rendered in every format."""

from __future__ import annotations

import csv
import inspect
import io
import json
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

import corefeval
from corefeval import InputError, UsageError, agree, analyse, compare, render
from corefeval.analysis.statistics import statistics
from corefeval.evaluation import SignificanceOptions
from corefeval.evaluation import compare as compare_responses
from corefeval.lab import EXPERIMENTS
from corefeval.output import DRAWINGS, Format
from corefeval.stats import compare as compare_results
from corefeval.suites.statistics import compare_suite
from leaderboards import make_outcome

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))
ITEM = {"id": "1", "text": "[A Ann] saw [B Bea] when [* she] left.", "gold": "A"}
SYSTEMS = {"cautious": CAUTIOUS, "eager": EAGER}


@pytest.fixture(scope="module")
def things():
    result = corefeval.score(KEY, EAGER, by="kind")
    compared = compare(KEY, SYSTEMS, by="genre", trials=99, samples=50)
    outcome = make_outcome(["ours", "theirs"], ["one", "two"], documents=3, slices=False)
    outcome = replace(outcome, statistics=compare_suite(outcome, trials=99))
    sheet = corefeval.sample(SYSTEMS, design="pairs", n=30).fill(lambda row: "y")
    return {
        "Estimates": corefeval.estimate(sheet, SYSTEMS),
        "Sheet": sheet,
        "Result": result,
        "Slices": result.by("kind"),
        "Comparison": compared,
        "ErrorAnalysis": analyse(KEY, EAGER),
        "Agreement": agree({"ann": KEY, "bob": EAGER}, {"ours": CAUTIOUS}),
        "Merged": corefeval.merge({"ann": KEY, "bob": EAGER}),
        "Audit": corefeval.audit(KEY, {"ours": CAUTIOUS, "theirs": EAGER}, plant=4),
        "Statistics": statistics(corefeval.read(KEY)),
        "ExperimentResult": EXPERIMENTS["splits"].run(metrics="muc, lea"),
        "Explanation": corefeval.explain(KEY, EAGER, to="e2e"),
        "Sensitivity": corefeval.explain(KEY, EAGER, CAUTIOUS),
        "Search": corefeval.explain(KEY, EAGER, to=70.2),
        "ResultDifference": corefeval.explain_results(result, corefeval.score(KEY, CAUTIOUS)),
        "Concordance": compared.agreement,
        "Differences": compared.differences()[0],
        "SuiteResult": outcome,
        "CorporaComparison": outcome.statistics,
        "ProbeResult": corefeval.probe([ITEM], {"1": "A"}),
    }


NAMES = ("Result", "Slices", "Comparison", "ErrorAnalysis", "Agreement", "Statistics",
         "ExperimentResult", "Explanation", "Sensitivity", "Search", "ResultDifference",
         "Concordance", "Differences", "SuiteResult", "CorporaComparison",
         "Merged", "Audit", "Estimates", "Sheet", "ProbeResult")  # fmt: skip

OF_NO_DOCUMENTS = {"ExperimentResult", "Concordance", "Explanation", "Sensitivity", "Search",
                   "ResultDifference", "SuiteResult", "CorporaComparison", "Merged",
                   "Audit", "Estimates", "Sheet", "ProbeResult"}  # fmt: skip


def test_every_drawing_is_tested(things):
    assert set(DRAWINGS) - {"Tabular"} <= set(NAMES) == set(things)


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_flat(things, name):
    rows = things[name].rows()
    assert rows
    for row in rows:
        for column, value in row.items():
            assert isinstance(column, str)
            several = isinstance(value, list) and name in (
                "Comparison", "Concordance", "CorporaComparison"
            )  # fmt: skip
            assert several or value is None or isinstance(value, str | int | float | bool)


@pytest.mark.parametrize("name", NAMES)
def test_frames_are_of_the_rows(things, name, monkeypatch):
    class Pandas:
        DataFrame = staticmethod(list)

    monkeypatch.setitem(sys.modules, "pandas", Pandas)
    assert things[name].to_frame() == things[name].rows()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match="need pandas"):
        things[name].to_frame()


@pytest.mark.parametrize("name", NAMES)
def test_a_repr_is_short(things, name):
    text = repr(things[name])
    assert text.startswith("<") and text.endswith(">")
    assert len(text) < 250 and "\n" not in text


@pytest.mark.parametrize("name", sorted(set(NAMES) - OF_NO_DOCUMENTS))
def test_documents_mean_the_same_everywhere(things, name):
    thing = things[name]
    ids = list(corefeval.score(KEY, EAGER).document_ids)
    assert list(thing.document_ids) == ids
    assert [document.id for document in thing.documents] == ids
    assert all(len(repr(document)) < 1500 for document in thing.documents)


def test_the_repr_of_what_is_prepared_is_short():
    prepared = corefeval.prepare([["a", "b"], ["c"]], [["a", "c"]])
    said = "<Prepared 'response' against 'key': 1 document, 3 and 2 mentions, 2 matched>"
    assert repr(prepared) == said


def test_single_documents_add_up(things):
    assert sum(one.mentions for one in things["Statistics"].documents) == 301
    errors = things["ErrorAnalysis"]
    for kind, counts in errors.counts.items():
        assert sum(one.counts[kind] for one in errors.documents) == counts.sum()
    compared, result = things["Comparison"], corefeval.score(KEY, EAGER, metrics="muc")
    for one, other in zip(compared.documents, result.documents, strict=True):
        assert one.scores["muc"]["eager"] == other["muc"].f1


@pytest.mark.parametrize("format", get_args(Format))
@pytest.mark.parametrize("name", NAMES)
def test_everything_is_rendered_in_every_format(things, name, format):
    thing = things[name]
    owners = {"codabench": "SuiteResult", **dict.fromkeys(("conll", "coval", "corefud"), "Result")}
    if owners.get(format, name) != name:
        with pytest.raises(UsageError, match=f"no output format '{format}' here"):
            render(thing, format=format)
        return
    text = render(thing, format=format)
    assert text.endswith("\n") and text == render([thing], format=format)
    assert render((thing, thing), format=format)  # several of them too
    if format == "json":
        json.loads(text)
    if format == "csv":
        rows = list(csv.DictReader(io.StringIO(text)))
        assert rows and None not in rows[0]
    if format == "latex":
        assert text.count("\\begin{tabular}") == text.count("\\end{tabular}") > 0


def test_rows_and_csv_are_the_same(things):
    rows = list(csv.DictReader(io.StringIO(render(things["Result"], format="csv"))))
    own = things["Result"].rows()
    assert len(rows) == len(own)
    assert [float(row["f1"]) for row in rows if row["f1"]] == [
        row["f1"] for row in own if row["f1"] is not None
    ]


def test_render_refuses_what_it_does_not_use(things):
    with pytest.raises(UsageError, match="no pairs for a Result"):
        render(things["Result"], pairs=True)
    with pytest.raises(UsageError, match="no by_document for a Comparison"):
        render(things["Comparison"], by_document=True)
    with pytest.raises(UsageError, match="results of one type"):
        render([things["Result"], things["Comparison"]])


# Comparisons -------------------------------------------------------------------------------------


def test_both_comparisons_take_the_same_keywords():
    mine = inspect.signature(compare_responses).parameters
    for name, parameter in inspect.signature(compare_results).parameters.items():
        if name in ("baseline", "by"):
            assert mine[name].default == parameter.default, name
        elif name not in ("results", "metrics"):
            annotation = SignificanceOptions.__annotations__[name]
            assert annotation.__forward_arg__ == parameter.annotation, name


def test_python_has_what_the_command_line_has(things, run):
    compared = things["Comparison"]
    command = ("compare", KEY, f"cautious={CAUTIOUS}", f"eager={EAGER}", "--by", "genre",
               "--trials", 99, "--samples", 50, "--differences", "--agreement", "--power", "-q",
               "-f", "json", "--sort", "given")  # fmt: skip
    printed = json.loads(run(*command)[1])
    shown = {"differences": True, "agreement": True, "power": True}
    mine = json.loads(render(compared, format="json", **shown))
    assert len(printed.pop("notices")) == len(mine.pop("notices"))  # of files by other names
    assert printed == mine
    assert set(compared.slices) == {"genre"}
    assert compared.slices["genre"] and set(printed["slices"]["genre"]) == {
        *compared.slices["genre"]
    }
    assert len(printed["where"]) == len(compared.differences()) == 1
    assert compared.agreement.systems == ("cautious", "eager")
    assert [one["needed"] for one in printed["power"]] == [one.needed for one in compared.power()]


def test_level_and_samples_count():
    key = {str(n): [["a", "b", "c"]] for n in range(12)}
    sides = {
        "x": {name: [["a", "b", "c"] if int(name) % 2 else ["a", "b"]] for name in key},
        "y": {name: [["a", "b", "c"] if int(name) % 3 else ["a", "c"]] for name in key},
    }
    wide, narrow = (compare(key, sides, metrics="muc", level=level) for level in (0.99, 0.5))
    low, high = wide.intervals["muc"]["x"]
    assert low < narrow.intervals["muc"]["x"].low < narrow.intervals["muc"]["x"].high < high
    assert "samples:77" in compare(key, sides, metrics="muc", samples=77).signature
    with pytest.raises(UsageError, match="leave out samples"):
        compare(key, sides, test="bootstrap", samples=10)
    with pytest.raises(UsageError, match="leave out trials"):
        compare(key, sides, test="exact", trials=10)


def test_results_leave_nothing_to_choose():
    results = [corefeval.score(KEY, path, metrics="muc, b3") for path in SYSTEMS.values()]
    assert compare(None, results, trials=9).metrics == ("muc", "b3")
    for option in ({"singletons": "drop"}, {"protocol": "default"}, {"segments": 9},
                   {"features": {"kind": len}}):  # fmt: skip
        with pytest.raises(UsageError, match="would change nothing"):
            compare(None, results, **option)
    with pytest.raises(UsageError, match="no slices by 'genre'"):
        compare(None, results, by="genre")
    with pytest.raises(UsageError, match="was not scored"):
        compare(None, results, metrics="lea")
    with pytest.raises(UsageError, match="no option 'sample'"):
        compare(KEY, SYSTEMS, sample=3)
    with pytest.raises(UsageError):
        compare_results(results[0])


def test_names_are_distinct_everywhere(tmp_path, run):
    """Two files of one name, in scores, comparisons, agreement and reports."""
    paths = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        paths.append(tmp_path / folder / "x.conll")
        shutil.copy(EAGER, paths[-1])
    out = run("score", KEY, *paths, "-f", "json", "-q")[1]
    names = [one["name"] for one in json.loads(out)["responses"]]
    assert names == [str(path) for path in paths]
    assert agree(paths, metrics="muc").annotators == tuple(names)
    results = [corefeval.score(KEY, EAGER, metrics="muc")] * 3
    systems = compare_results(results, trials=9).systems
    assert systems == (str(EAGER), f"{EAGER} (2)", f"{EAGER} (3)")


def test_a_result_is_a_mapping_and_equal_results_are_equal():
    one, again = (corefeval.score(KEY, EAGER, by="kind") for _ in range(2))
    assert isinstance(one, Mapping) and list(one) == list(one.metrics)
    assert dict(one.items())["muc"] == one["muc"] and len(one) == len(one.metrics)
    assert one == again and one.by("kind") == again.by("kind")
    assert one != corefeval.score(KEY, CAUTIOUS, by="kind")
    assert one != corefeval.score(KEY, EAGER)


# Writing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "format"),
    [("x.conll", "conll"), ("x.v4_gold_conll", "conll"), ("x", "conll"), ("x.CONLL.gz", "conll"),
     ("x.conllu", "corefud"), ("x.json", "e2e"), ("x.jsonl.gz", "e2e"), ("x.jsonlines", "e2e")],
)  # fmt: skip
def test_a_file_is_written_as_its_name_says(tmp_path, name, format):
    corpus = corefeval.read(KEY)
    corefeval.write(corpus, tmp_path / name)
    corefeval.write(corpus, tmp_path / "named", format=format)
    again, named = corefeval.read(tmp_path / name), corefeval.read(tmp_path / "named")
    assert corefeval.score(again, named, metrics="conll")["conll"].f1 == 1.0
    if not name.endswith(".gz"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "named").read_bytes()


@pytest.mark.parametrize("name", ["x.txt", "x.csv", "x.xml", "x.csv.gz"])
def test_a_name_that_does_not_say_is_refused(tmp_path, name):
    with pytest.raises(UsageError, match=r"does not show which format.*\.conllu \(corefud\)"):
        corefeval.write(corefeval.read(KEY), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_brat_is_written_as_its_name_says(tmp_path):
    corpus = corefeval.read(KEY)
    one = corpus.select_documents(np.array([0]))
    corefeval.write(one, tmp_path / "x.ann")
    assert {path.name for path in tmp_path.iterdir()} == {"x.ann", "x.txt"}
    assert (tmp_path / "x.ann").read_text(encoding="utf-8").startswith("T1\t")
    assert corefeval.read(tmp_path / "x.ann").n_mentions == one.n_mentions
    for several in (tmp_path / "y.ann", tmp_path / "y.ann.gz"):
        with pytest.raises(UsageError, match="files for each document"):
            corefeval.write(corpus, several)
    corefeval.write(corpus, tmp_path / "folder", format="brat")
    assert len(list((tmp_path / "folder").iterdir())) == 18
    with pytest.raises((UsageError, InputError)):
        corefeval.write(corpus, io.BytesIO(), format="brat")

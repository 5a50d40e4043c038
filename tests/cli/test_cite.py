"""What to cite: every metric has its papers, and a saved result leads to all of its own."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import corefeval
from conftest import ROOT
from corefeval import UsageError
from corefeval.metrics import REGISTRY, Metric
from corefeval.metrics.bibliography import keys_of, references
from corefeval.protocol import NAMED

KEY, EAGER = corefeval.example("key"), corefeval.example("eager")


def keys(text: str) -> list[str]:
    return re.findall(r"^@\w+\{(.+),$", text, re.MULTILINE)


def with_all_parameters(name: str) -> Metric:
    chosen = {one.name: one.choices[-1] for one in REGISTRY[name].parameters if one.choices}
    return Metric.of(name, **chosen)


@pytest.mark.parametrize("name", REGISTRY)
def test_every_metric_names_papers_that_are_known(name):
    assert keys_of(Metric.parse(name))
    assert {*keys_of(with_all_parameters(name))} <= {*references()}


def test_every_entry_is_well_formed():
    for key, entry in references().items():
        assert entry.count("{") == entry.count("}")
        fields = re.findall(r"^  (\w+) = \{.+\},$", entry, re.MULTILINE)
        assert {"author", "title", "year"} < {*fields} and {"pages", "url"} & {*fields}, key
        assert entry.count("\n") == len(fields) + 2  # nothing between fields
        assert f"year = {{{key[-4:]}}}" in entry
        assert entry.isascii()


def test_papers_come_once_and_those_of_parameters_where_they_are_used():
    assert keys(corefeval.cite()) == ["corefeval"]
    assert keys(corefeval.cite("conll, ceafm")) == [
        "corefeval", "vilain-etal-1995", "bagga-baldwin-1998", "luo-2005", "denis-baldridge-2009",
        "pradhan-etal-2011",
    ]  # fmt: skip
    assert "cai-strube-2010" in keys(corefeval.cite("b3-sys"))


def test_metrics_of_ones_own_are_comments(monkeypatch):
    for name, reference in (("mine", "Nobody 1066"), ("bare", ""), ("known", "after Luo 2005")):
        own = corefeval.Declaration(name, reference=reference, function=lambda alignment: {})
        monkeypatch.setitem(REGISTRY, name, own)
    text = corefeval.cite("mine, bare, known")
    assert "% mine: Nobody 1066\n" in text
    assert "% bare: no reference" in text
    assert keys(text) == ["corefeval", "luo-2005"]


def test_the_command(run, tmp_path):
    saved = tmp_path / "saved.json.gz"
    corefeval.score(KEY, EAGER, metrics="lea, p-link").save(saved)
    status, out, err = run("cite", saved, "-m", "muc")
    assert (status, err) == (0, "")
    assert keys(out) == [
        "corefeval", "vilain-etal-1995", "moosavi-strube-2016", "zeldes-simonson-2016",
    ]  # fmt: skip
    assert f"note = {{Version {corefeval.__version__}}}" in out


def test_nothing_that_a_saved_result_names_is_imported(run, tmp_path, monkeypatch):
    """The names are anybody's: a place is not looked up, and terminals show no codes of theirs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "trap.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
    result = corefeval.score(KEY, EAGER, metrics="lea")
    names = ("lea", "trap:spring", "mine", "red\x1b[31m\n@misc{x,")
    tables = dict.fromkeys(names, result.tables["lea"])
    replace(result, tables=tables).save("saved.json")
    status, out, err = run("cite", "saved.json")
    assert (status, err) == (0, "")
    assert keys(out) == ["corefeval", "moosavi-strube-2016"]
    assert "% trap:spring: a metric that is not known here\n% mine: " in out
    assert "\x1b" not in out and "\n@misc" not in out
    assert out == corefeval.cite(saved=corefeval.load("saved.json").metrics)


def test_the_command_refuses_what_is_no_saved_result(run):
    status, out, err = run("cite", KEY)
    assert (status, out) == (1, "")
    assert "--save" in err
    status, out, err = run("cite", "lea,b3")
    assert (status, out) == (1, "") and "--metrics lea,b3" in err
    assert run("cite", "--metrics", "nonsense")[0] == 2
    with pytest.raises(UsageError, match="nonsense"):
        corefeval.cite("nonsense")


def test_the_citation_file_says_the_same():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {corefeval.__version__}\n" in text
    (title,) = re.findall(r"^  title = \{(.+)\},$", corefeval.cite(), re.MULTILINE)
    assert f'title: "{title}"\n' in text
    (year,) = re.findall(r"^date-released: (\d{4})", text, re.MULTILINE)
    assert f"year = {{{year}}}" in corefeval.cite()


def test_a_program_and_its_paper_are_cited_with_its_protocol(run, tmp_path):
    keys = corefeval.cite("muc", protocols=["corefud-1.2"])
    assert "@misc{corefud-1.2," in keys and "@inproceedings{zabokrtsky-etal-2022," in keys
    assert "@misc" not in corefeval.cite("muc", protocols=["match:exact"]).partition("\n")[2]
    saved = tmp_path / "saved.json"
    key, response = corefeval.example("key"), corefeval.example("eager")
    run("score", key, response, "--protocol", "conll-8.01", "--save", saved, "-q")
    _, out, _ = run("cite", saved)
    assert "@misc{conll-8.01," in out and "@inproceedings{pradhan-etal-2014," in out


def test_entries_are_set_by_plain_bst():
    types = {"article", "inproceedings", "misc", "book", "incollection", "techreport"}
    every = corefeval.cite("all", protocols=list(NAMED))
    assert set(re.findall(r"^@(\w+)", every, re.MULTILINE)) <= types

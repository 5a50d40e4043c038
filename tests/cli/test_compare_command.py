"""`corefeval compare`: one table of systems by metrics, in every form."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys

import pytest

import corefeval
from corefeval.evaluation import compare, load, load_all
from corefeval.output import render
from corefeval.stats import compare as compare_results
from count_tables import systems_of, twin_of

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))
FEW = ("--trials", "999", "-q")
GUM = ("cort-latent", "cort-pair", "corefgraph", "baseline", "xrenner")


@pytest.fixture(scope="module")
def systems():
    systems = systems_of()
    return {**systems, "twin": twin_of(systems["good"])}


def test_two_responses(run):
    status, out, err = run("compare", KEY, f"old={CAUTIOUS}", f"new={EAGER}", *FEW)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["System", "MUC", "B³", "CEAFe", "CoNLL", "LEA"]
    assert lines[2].split()[:4] == ["a", "new", "76.17ᵇ", "1"]
    assert lines[3].split()[:4] == ["b", "old", "65.27", "2"]
    assert "new – old" in out
    assert "match:exact|singletons:keep" in out
    assert lines[-1].startswith("test:randomization|trials:999|")


def test_as_in_python(run):
    names = {"old": CAUTIOUS, "new": EAGER}
    compared = compare(KEY, names, trials=999, seed=4)
    paths = [f"{name}={path}" for name, path in names.items()]
    given = ("--seed", 4, "-f", "json", "--sort", "given")
    found = json.loads(run("compare", KEY, *paths, *FEW, *given)[1])
    assert found["scores"] == compared.rows()
    assert found["differences"] == compared.rows("differences")
    results = [corefeval.score(KEY, path, metrics="muc") for path in names.values()]
    again = compare(KEY, results, metrics="muc", trials=99)
    assert again.rows("differences") == compare_results(results, trials=99).rows("differences")


@pytest.mark.parametrize(
    "options",
    [
        ("--test", "bootstrap"),
        ("--test", "exact"),
        ("--correction", "bonferroni", "--alpha", ".01"),
        ("--correction", "none", "--pairs"),
        ("--rate", "recall"),
        ("--aggregate", "macro", "--singletons", "drop"),
        ("--metrics", "muc,lea", "--documents", "bc/*"),
        ("--baseline", "key.conll"),
        ("--by", "genre,kind", "--metrics", "muc,conll"),
        ("--differences", "--agreement", "--power", "--metric", "LEA"),
        ("--differences", "--by", "kind", "--metric", "muc"),
    ],
)
@pytest.mark.parametrize("format", ["text", "markdown", "latex", "csv", "json"])
def test_options_and_formats(run, options, format):
    few = ("-q",) if "exact" in options else FEW  # it has no trials
    command = ("compare", KEY, CAUTIOUS, EAGER, KEY, *few, *options, "-f", format)
    status, out, err = run(*command)
    assert (status, err) == (0, "")
    assert "cautious" in out
    assert "cautious.conll" not in out.partition('"notices"')[0]
    assert run(*command)[1] == out
    if format == "json":
        json.loads(out)
    elif format == "csv":
        assert len({len(row) for row in csv.reader(io.StringIO(out))}) == 1


def test_the_best_comes_first_and_names_have_no_extensions(run, tmp_path):
    order = {"score": ["key", "eager", "cautious"], "given": ["cautious", "eager", "key"]}
    for sort, names in order.items():
        command = ("compare", KEY, CAUTIOUS, EAGER, KEY, *FEW, "--sort", sort, "-f", "json")
        found = json.loads(run(*command)[1])
        assert found["systems"] == names
        assert [row["system"] for row in found["scores"]][:3] == names
        pairs = [(row["first"], row["second"]) for row in found["differences"]][:3]
        assert pairs == [(names[0], names[1]), (names[0], names[2]), (names[1], names[2])]
    by_ceaf = run("compare", KEY, CAUTIOUS, EAGER, *FEW, "--metric", "ceafe", "-f", "json")[1]
    assert json.loads(by_ceaf)["systems"] == ["cautious", "eager"]
    copy = tmp_path / "eager.jsonl"
    assert run("convert", EAGER, copy)[0] == 0
    given = json.loads(run("compare", KEY, f"mine.conll={CAUTIOUS}", EAGER, *FEW, "-f", "json")[1])
    assert given["systems"] == ["eager", "mine.conll"]
    both = json.loads(run("compare", KEY, EAGER, copy, *FEW, "-f", "json")[1])
    assert set(both["systems"]) == {"eager.conll", "eager.jsonl"}


def test_order_by_turns_pairs_and_nothing_else(systems):
    compared = compare_results(dict(reversed(systems.items())), trials=99)
    ordered = compared.order_by("muc")
    scores = list(ordered.scores["muc"].values())
    assert scores == sorted(scores, reverse=True) and ordered.systems == tuple(ordered.scores["b3"])
    for pair in ordered.pairs:
        assert pair == compared.difference(pair.metric, pair.first, pair.second)
        if pair.metric == "muc":
            assert pair.difference >= 0
    assert {m: ordered.ranks(m) for m in ordered.metrics} == {
        m: compared.ranks(m) for m in compared.metrics
    }
    baseline = compare_results(systems, trials=99, baseline="poor").order_by("muc")
    assert {pair.second for pair in baseline.pairs} == {"poor"}


def test_options_reach_the_test(run):
    out = run("compare", KEY, CAUTIOUS, EAGER, *FEW, "--test", "bootstrap", "--seed", 7)[1]
    assert "test:bootstrap|trials:999|seed:7|correction:holm|alpha:0.05" in out
    rates = json.loads(
        run("compare", KEY, CAUTIOUS, EAGER, *FEW, "--rate", "recall", "-f", "json")[1]
    )
    assert rates["metrics"] == ["muc", "b3", "ceafe", "lea"]  # conll has no recall


def test_ranks_letters_and_the_best(systems):
    text = render(compare_results(systems, trials=999))
    rows = {line.split()[1]: line.split() for line in text.splitlines()[2:6]}
    assert [rows[name][0] for name in ("good", "twin", "fair", "poor")] == list("abcd")
    assert rows["good"][2].endswith("ᶜᵈ") and rows["good"][3] == "1"
    assert rows["poor"][3] == "4"
    markdown = render(compare_results(systems, trials=999), format="markdown")
    assert "<sup>cd</sup>" in markdown
    best = max(systems.values(), key=lambda result: result["muc"].f1)
    assert f"**{100 * best['muc'].f1:.2f}**" in markdown


def test_a_baseline(systems):
    compared = compare_results(systems, trials=999, baseline="fair")
    assert {(pair.first, pair.second) for pair in compared.pairs} == {
        ("good", "fair"), ("twin", "fair"), ("poor", "fair"),
    }  # fmt: skip
    assert not compared.is_better("muc", "good", "poor")  # was not asked
    text = render(compared)
    lines = text.splitlines()
    assert "†" in lines[2] and "‡" in lines[5]
    assert "significantly worse than fair" in " ".join(text.split())


def test_where_they_differ(systems):
    compared = compare_results(systems, trials=999)
    best = compared.best("muc")[0]
    assert {one.systems for one in compared.differences("muc")} == {
        (best, other) for other in systems if other != best
    }
    unclear = {frozenset(power.systems) for power in compared.power("muc")}
    assert unclear == {frozenset(("good", "twin"))}
    text = render(compared, differences=True, agreement=True, power=True, metric="muc")
    assert "Documents won and lost, by muc" in text
    assert f"What drives {best} – poor" in text
    assert "Kendall's τ" in text
    assert "documents like these would be needed" in text
    rows = list(csv.DictReader(io.StringIO(render(compared, format="csv", differences=True))))
    assert len(rows) == 3 * 40


def test_nothing_is_unclear(systems):
    clear = {name: systems[name] for name in ("good", "poor")}
    text = render(compare_results(clear, trials=999), power=True)
    assert "Every difference by conll is significant" in text


def test_slices_in_which_the_order_turns(run):
    command = ("compare", KEY, CAUTIOUS, EAGER, *FEW, "--differences", "--metric", "ceafe")
    out = run(*command, "--by", "genre")[1]
    assert "in genre fi the order is reversed, 61.54 against 65.08." in out
    found = json.loads(run(*command, "--by", "genre", "-f", "json")[1])
    assert [part["value"] for part in found["where"][0]["slices"] if part["turned"]] == ["fi"]
    assert set(found["slices"]["genre"]) == {"nw", "bc", "fi"}


def test_the_same_response_twice(run):
    status, out, _ = run("compare", KEY, EAGER, EAGER, *FEW, "-m", "muc")
    assert status == 0
    assert out.count("76.17 1") == 2


# Saved results


def test_compared_years_later(run, tmp_path):
    first = run("compare", KEY, CAUTIOUS, EAGER, *FEW, "--save", tmp_path / "both.json.gz")[1]
    assert len(load_all(tmp_path / "both.json.gz")) == 2
    assert run("compare", tmp_path / "both.json.gz", *FEW)[1] == first
    for name, path in (("a", CAUTIOUS), ("b", EAGER)):
        run("score", KEY, path, "--save", tmp_path / f"{name}.json", "-m", "conll,lea", "--ci")
    a, b = (tmp_path / f"{name}.json" for name in "ab")
    assert run("compare", a, b, *FEW)[1] == first
    assert run("compare", KEY, CAUTIOUS, b, *FEW)[1] == first
    assert run("compare", KEY, a, EAGER, *FEW)[1] == first
    compared = compare_results([load(a), load(b)], trials=999)
    assert compared.is_better("conll", "eager.conll", "cautious.conll")


def test_results_that_do_not_fit(run, tmp_path):
    a, b, c = (tmp_path / f"{name}.json" for name in "abc")
    run("score", KEY, CAUTIOUS, "--save", a, "-m", "conll")
    run("score", KEY, EAGER, "--save", b, "-m", "conll", "--singletons", "drop")
    run("score", KEY, EAGER, "--save", c, "-m", "lea,muc", "--documents", "bc/*")
    status, _, err = run("compare", a, b)
    assert status == 2
    assert "singletons is keep for cautious and drop for eager" in err
    status, _, err = run("compare", a, c)
    assert status == 2
    assert "only results of the same documents can be compared" in err
    run("score", KEY, EAGER, "--save", c, "-m", "lea,muc")
    status, _, err = run("compare", a, c, "--trials", "99")
    assert status == 0
    assert "not compared, because not all responses were scored by it: b3, ceafe, conll, lea" in err
    status, _, err = run("compare", a, c, "-m", "lea")
    assert status == 2
    assert "was saved without lea: there are muc, b3, ceafe, conll" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((KEY,), "there is no RESPONSE"),
        ((KEY, EAGER), "at least two responses"),
        ((KEY, f"a={EAGER}", f"a={CAUTIOUS}"), "two responses are called 'a'"),
        ((KEY, EAGER, CAUTIOUS, "--trials", "0"), "from 1"),
        ((KEY, EAGER, CAUTIOUS, "--alpha", "5"), "between 0 and 1"),
        ((KEY, EAGER, CAUTIOUS, "--metric", "blanc"), "'blanc' was not scored"),
        ((KEY, EAGER, CAUTIOUS, "--documents", "nw/*1*1*"), ""),
        ((KEY, EAGER, CAUTIOUS, "--trails", "9"), "did you mean --trials?"),
        ((KEY, EAGER, CAUTIOUS, "-m", "conll", "--rate", "recall"), "conll has no recall"),
        ((KEY, EAGER, CAUTIOUS, "-o", EAGER), "would overwrite"),
    ],
)
def test_what_goes_wrong(run, arguments, message):
    status, out, err = run("compare", *arguments)
    assert status in (1, 2)
    assert message in err
    assert "Traceback" not in out + err


def test_help_needs_no_numpy():
    code = (
        "import sys\nfrom corefeval.cli import main\nmain(['compare', '--help'])\n"
        "sys.exit('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0


def test_plain_signs_where_a_terminal_has_no_others():
    command = (
        f"PYTHONIOENCODING=ascii {sys.executable} -m corefeval compare {KEY} {CAUTIOUS} {EAGER}"
    )
    done = subprocess.run(command, shell=True, capture_output=True, check=False)
    assert done.returncode == 0
    assert b"76.17b 1" in done.stdout
    assert b"\\u" not in done.stdout


def test_many_metrics_stand_below_each_other(run):
    out = run("compare", KEY, CAUTIOUS, EAGER, *FEW, "-m", "all")[1]
    heads = [line for line in out.splitlines() if line.lstrip().startswith("System ")]
    assert len(heads) > 2
    assert max(len(line) for line in out[: out.index("F1 on")].splitlines()) <= 125


# Real systems


@pytest.fixture(scope="module")
def real(shared):
    gum = shared / "gum"
    results = {
        name: corefeval.score(gum / "key.conll", gum / f"{name}.conll", metrics="conll, lea")
        for name in GUM
    }
    return compare_results(results)


def test_a_table_for_a_terminal(real):
    lines = render(real).splitlines()
    head = lines[: lines.index("")]
    assert len(head) == 2 + len(GUM)
    assert max(map(len, head)) <= 100
    assert "56.86ᵇᶜᵈᵉ 1" in head[2]


def test_latex_compiles(real, systems, set_latex):
    odd = {f"{name}_&%": one for name, one in systems.items()}
    others = compare_results(odd, trials=99, baseline="fair_&%")
    many = {
        name: corefeval.score(KEY, path, metrics="standard, lmuc, immediate, p-link")
        for name, path in (("cautious", CAUTIOUS), ("eager", EAGER), ("key", KEY))
    }
    shown = {"pairs": True, "differences": True, "agreement": True, "power": True}
    set_latex(
        render(real, format="latex", **shown),
        render(others, format="latex", pairs=True),
        render(compare_results(many, trials=99), format="latex", pairs=True),
    )


def test_tags_matter_only_where_they_were_looked_at(run, tmp_path):
    """One was saved with slices by kind, the other without; LEA is the same either way."""
    key, cautious, eager = (corefeval.example(name) for name in ("key", "cautious", "eager"))
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    assert run("score", key, cautious, "-m", "lea", "--by", "kind", "--save", first)[0] == 0
    assert run("score", key, eager, "-m", "lea", "--save", second)[0] == 0
    assert run("compare", first, second, "-m", "lea")[0] == 0

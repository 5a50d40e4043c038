"""A wrong choice is told before any file is read, and by the same words wherever it is made."""

from __future__ import annotations

import pytest

import corefeval
from corefeval import UsageError

KEY, RESPONSE = "no/such/key.conllu", "no/such/response.conllu"

SCORERS = {
    "score": lambda **options: corefeval.score(KEY, RESPONSE, **options),
    "Scorer": lambda **options: corefeval.Scorer(KEY, **options),
    "compare": lambda **options: corefeval.compare(KEY, [RESPONSE, RESPONSE], **options),
}
OTHERS = {
    "analyse": lambda **options: corefeval.analyse(KEY, RESPONSE, **options),
    "prepare": lambda **options: corefeval.prepare(KEY, RESPONSE, **options),
    "report": lambda **options: corefeval.report(KEY, [RESPONSE], **options),
    "explain": lambda **options: corefeval.explain(KEY, RESPONSE, **options),
    "agree": lambda **options: corefeval.agree([KEY, RESPONSE], **options),
}
READING = [
    {"response_format": "conl"},
    {"encoding": "utf-9"},
    {"response_encoding": "utf-9"},
    {"word_column": 0},
    {"word_column": "three"},
    {"tagset": "penm"},
    {"protocol": "tagset:penm"},
    {"match": "heads"},
]


def refuse(function, options):
    with pytest.raises(UsageError) as told:
        function(**options)
    return str(told.value)


@pytest.mark.parametrize(
    "options",
    [
        *READING,
        {"metrics": "muk"},
        {"metrics": 5},
        {"by": 5},
        {"segments": 1},
        {"features": 5},
        {"features": {"kind": 5}},
        {"protocol": "corefud-1.2", "metrics": "links"},
        {"protocol": "corefud-1.2", "match": "partial", "duplicates": "error"},
        {"protocol": "corefud-1.2", "by": "kind"},
        {"protocol": "corefud-1.2", "features": {"kind": {}}},
        {"protocol": "corefud-1.2", "key_format": "conll"},
        {"protocol": "corefud-1.2", "word_column": 3},
        {"protocol": "coval", "match": "head"},
        {"protocol": "coval", "layer": "deixis"},
        {"protocol": "coval", "metrics": "lmuc"},
        {"protocol": "coval", "by": "kind"},
        {"protocol": "ua-1", "match": "head"},
        {"protocol": "ua-1", "metrics": "links"},
        {"protocol": "ua-1", "layer": "deixis", "split": "off"},
    ],
    ids=str,
)
def test_all_who_score_refuse_by_the_same_words_before_they_read(options):
    told = {refuse(function, options) for function in SCORERS.values()}
    assert len(told) == 1


@pytest.mark.parametrize("options", READING, ids=str)
@pytest.mark.parametrize("name", OTHERS)
def test_others_refuse_so_too(name, options):
    if name == "agree" and {"response_format", "response_encoding"} & {*options}:
        pytest.skip("annotations are all of one format and encoding")
    assert refuse(OTHERS[name], options) == refuse(SCORERS["score"], options)


@pytest.mark.parametrize("options", [{"metrics": "muk"}, {"metrics": 5}], ids=str)
@pytest.mark.parametrize("name", sorted({*OTHERS} - {"prepare"}))
def test_metrics_that_there_are_not_are_told_before_reading(name, options):
    assert refuse(OTHERS[name], options) == refuse(SCORERS["score"], options)


@pytest.mark.parametrize("protocol", ["coval", "corefud-1.2", "ua-1"])
@pytest.mark.parametrize("name", ["agree", "prepare"])
def test_accidents_that_have_scores_alone_are_told_before_reading(name, protocol):
    assert "is only for scores, errors and reports" in refuse(OTHERS[name], {"protocol": protocol})


def test_what_cannot_be_explained_is_told_before_reading():
    explain = OTHERS["explain"]
    assert "takes no choices of other programs" in refuse(explain, {"protocol": "corefud-1.2"})
    assert "a percentage like 61.3" in refuse(explain, {"to": 500})
    assert "there is no metric 'muk'" in refuse(explain, {"to": 61.3, "metrics": "muk"})


@pytest.mark.parametrize(
    "wrong", [{"ci": 2}, {"ci": "high"}, {"samples": 0}, {"seed": -1}], ids=str
)
def test_what_is_wrong_with_intervals_is_told_before_reading(wrong):
    options = {"ci": 0.9, **wrong}
    told = {refuse(SCORERS[name], options) for name in ("score", "Scorer")}
    assert told == {refuse(OTHERS["report"], options)}


def test_what_an_analysis_goes_by_is_told_before_reading():
    assert "a feature is written as text" in refuse(OTHERS["analyse"], {"by": 5})


@pytest.mark.parametrize(
    "options",
    [
        {"test": "t"},
        {"trials": 0},
        {"seed": -1},
        {"correction": "none of them"},
        {"alpha": 5},
        {"alpha": "small"},
        {"level": 7},
        {"samples": 0},
    ],
    ids=str,
)
def test_what_is_wrong_with_a_comparison_is_told_before_reading(options):
    key = {"a": [["x", "y"]], "b": [["z", "w"]]}
    results = {name: corefeval.score(key, key, metrics="muc") for name in ("one", "two")}
    told = refuse(lambda **wrong: corefeval.compare(None, results, **wrong), options)
    assert refuse(SCORERS["compare"], options) == told


COMMANDS = ("score", "compare", "errors", "explain", "agree", "report")


@pytest.mark.parametrize(
    "option",
    ["--metrics muk", "--word-column 0", "--tagset penm", "--encoding utf-9", "--match heads"],
)
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_refuse_by_the_same_words_before_they_read(run, command, option):
    files = [KEY, RESPONSE, "no/such/other.conllu"] if command == "compare" else [KEY, RESPONSE]
    status, _, told = run(command, *files, *option.split())
    name, value = option.split()
    with pytest.raises(UsageError) as expected:
        wrong = int(value) if value.isdigit() else value
        corefeval.score(KEY, RESPONSE, **{name.strip("-").replace("-", "_"): wrong})
    assert (status, told) == (2, f"error: {expected.value}\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["score", KEY, RESPONSE, "--ci", "--level", "7"],
        ["score", KEY, RESPONSE, "--ci", "--samples", "0"],
        ["score", KEY, RESPONSE, "--response-format", "conl"],
        ["score", KEY, RESPONSE, "--protocol", "corefud-1.2", "--metrics", "links"],
        ["score", KEY, RESPONSE, "--protocol", "corefud-1.2", "--key-format", "conll"],
        ["compare", KEY, RESPONSE, KEY, "--alpha", "5"],
        ["compare", KEY, RESPONSE, KEY, "--trials", "0"],
        ["compare", KEY, RESPONSE, KEY, "--segments", "1"],
        ["agree", KEY, RESPONSE, "--distances", "euclid"],
        ["agree", KEY, RESPONSE, "--protocol", "coval"],
        ["report", KEY, RESPONSE, "--level", "7"],
        ["explain", KEY, RESPONSE, "--to", "500"],
    ],
    ids=" ".join,
)
def test_what_else_a_command_refuses_it_refuses_before_it_reads(run, arguments):
    status, _, told = run(*arguments)
    assert status == 2
    assert "no/such" not in told


def test_a_baseline_that_is_no_response_is_told_before_reading():
    with pytest.raises(UsageError, match="the baseline is one of a, b, not 'c'"):
        corefeval.compare(KEY, {"a": RESPONSE, "b": RESPONSE}, baseline="c")


def test_a_comparison_does_not_say_that_it_did_what_it_does_not():
    """Intervals of a comparison are its own."""
    key = {"a": [["x", "y"]], "b": [["z", "w"]]}
    protocol = corefeval.score(key, key, ci=0.9).signature
    compared = corefeval.compare(key, {"a": key, "b": key}, protocol=protocol)
    assert all("ci:" not in one.signature for one in compared.results.values())


@pytest.mark.parametrize(
    "line",
    ['key_format = "conl"', 'response_format = "conl"', 'encoding = "utf-9"'],
)
def test_a_suite_refuses_before_it_reads(tmp_path, line):
    path = tmp_path / "suite.toml"
    path.write_text(
        f'[[corpora]]\nname = "a"\nkey = "{KEY}"\n{line}\n'
        f'[[systems]]\nname = "b"\nresponses = "no/such/{{corpus}}.conll"\n'
    )
    with pytest.raises(corefeval.CorefEvalError) as told:
        corefeval.run_suite(corefeval.read_suite(path))
    name, value = line.replace('"', "").split(" = ")
    expected = refuse(SCORERS["score"], {name: value})
    assert "; ".join(map(str.strip, expected.splitlines())) in str(told.value)


def test_the_path_of_a_suite_is_no_suite(tmp_path):
    with pytest.raises(UsageError, match="a suite is what read_suite gives"):
        corefeval.run_suite(tmp_path)


PREPARED = corefeval.prepare([["Ada", "she"]], [["Ada", "she"]])
RESULT = corefeval.count(PREPARED)


@pytest.mark.parametrize("wrong", [3, b"x", [], {"a": 1}, object(), PREPARED.key])
@pytest.mark.parametrize(
    ("function", "text"),
    [
        (corefeval.count, "count takes a Prepared, not "),
        (lambda wrong: corefeval.count(PREPARED, sampling=wrong), "count takes a Sampling, not "),
        (lambda wrong: corefeval.explain_results(RESULT, wrong), "explain_results takes a Result"),
        (lambda wrong: corefeval.explain_results(wrong, RESULT), "explain_results takes a Result"),
        (corefeval.register, "register takes a Declaration, not "),
        (corefeval.load, "a file is named by its path, not by "),
        (corefeval.load_all, "a file is named by its path, not by "),
        (corefeval.load_suite, "a file is named by its path, not by "),
        (corefeval.read_suite, "a file is named by its path, not by "),
        (RESULT.save, "a file is named by its path, not by "),
    ],
)
def test_what_a_function_cannot_take(function, text, wrong):
    assert text in refuse(lambda: function(wrong), {})


def test_a_sample_without_a_design_is_told_what_to_choose(run):
    status, _, err = run("sample", RESPONSE)
    expected = "error: --design is missing: choose names, entities, pairs or sentences\n"
    assert (status, err) == (2, expected)

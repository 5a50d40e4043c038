"""The command line under fire: every command, option and format, hostile names and codecs."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from dataclasses import replace
from random import Random

import pytest

from corefeval.cli.commands import COMMANDS
from corefeval.features.declarations import FEATURES
from corefeval.formats import FORMATS
from corefeval.formats.registry import ANSWERS
from corefeval.lab import EXPERIMENTS
from corefeval.metrics import REGISTRY
from corefeval.protocol import NAMED, choices
from fuzzing import Case, Outcome, Problem, make_case, problems_of, run
from fuzzing.cases import SHARES, _Maker
from fuzzing.hostility import CODECS
from fuzzing.rules import RULES
from fuzzing.shrinking import shrink

RUNS, PARTS = 400, 8


@pytest.mark.parametrize("part", range(PARTS))
def test_runs_end_in_results_or_one_error(part):
    broken, ends = [], Counter()
    for number in range(part, RUNS, PARTS):
        case = make_case(f"suite-{number}")
        outcome = run(case)
        ends[outcome.status] += 1
        broken += [
            f"python -m fuzzing --case suite-{number}: {problem.rule}: {problem.what}"
            for problem in problems_of(case, outcome)
        ]
    assert not broken, "\n".join(broken)
    assert ends[0] > RUNS / PARTS / 5, "next to nothing was done, so next to nothing was tested"
    assert ends[1] and ends[2]


def test_every_command_has_its_share():
    assert set(SHARES) == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_argument_of_a_command_is_known(command):
    """One that takes text of a kind of its own is drawn from STRINGS: elsewhere it is an error."""
    maker = _Maker(Random(0), command)
    for _ in range(20):
        for argument in COMMANDS[command].arguments:
            assert all(isinstance(word, str) for word in maker.place(argument))
        for option in COMMANDS[command].options:
            assert all(isinstance(maker._value(option), str) for _ in option.values)


def test_everything_is_drawn():
    cases = [make_case(f"drawn-{number}") for number in range(17000)]
    assert {case.command for case in cases} > set(COMMANDS)
    assert {kind for case in cases for kind in case.kinds} >= {*FORMATS, "llm"}
    assert {case.option("--to") for case in cases} >= set(FORMATS)
    assert {case.option("--encoding") for case in cases} >= set(CODECS)
    drawn = {(case.command, group[0]) for case in cases for group in case.arguments[1:]}
    slow = {"lab", "report", "suite page"}
    for command in {*COMMANDS} - slow:
        options = [option.names for option in COMMANDS[command].options]
        missing = [
            names for names in options if not any((command, name) in drawn for name in names)
        ]
        assert not missing, (command, missing)
    values = defaultdict(set)
    for case in cases:
        for name, *given in (group for group in case.arguments[1:] if group[1:]):
            values[name].update(given)
    texts = {name: " ".join(given) for name, given in values.items()}
    assert all(name in texts["--metrics"] for name in REGISTRY)
    assert all(name in texts["--by"] for name in FEATURES)
    assert values["--protocol"] | values["--from"] | values["--to"] >= set(NAMED)
    assert values["--key-format"] | values["--response-format"] >= {*FORMATS, *ANSWERS}
    for name, choice in choices().items():
        option = f"--{name.replace('_', '-')}"
        drawn = texts.get(option, "")  # what has no option is drawn with protocols
        assert not drawn or all(value in drawn for value in choice.values or ()), name


def test_every_experiment_is_drawn():
    makers = (_Maker(Random(number), "lab") for number in range(2000))
    assert {maker.case().inputs[0] for maker in makers if not maker.bad} == {*EXPERIMENTS, "list"}


def test_a_seed_is_always_the_same_case():
    for number in range(50):
        assert make_case(f"same-{number}") == make_case(f"same-{number}")


DONE = Outcome(status=0, out=b"fine\n", err="", before={"a": b"1"}, files={"a": b"1"}, seconds=0.1)
SCORE = Case((("score",), ("a",), ("b",)), {})
JSON = Case((("score",), ("a",), ("b",), ("--format", "json")), {})
CSV = Case((("score",), ("a",), ("b",), ("-f", "csv")), {})
MARKDOWN = Case((("score",), ("a",), ("b",), ("-f", "markdown")), {})
LATEX = Case((("score",), ("a",), ("b",), ("-f", "latex")), {})
OUTPUT = Case((("score",), ("a",), ("b",), ("-o", "out")), {}, ("out",))
CONVERT = Case((("convert",), ("a",), ("out",), ("--to", "conll")), {}, ("out",))
REPORT = Case((("report",), ("a",), ("b",)), {}, ("report.html",))
FOLDER, TREE = Case((("score",), ("all",), ("b",)), {}), {"a": b"1", "all/in": b"2"}
BROKEN = [
    ("status", SCORE, {"status": 7}),
    ("status", SCORE, {"status": 1}),
    ("status", SCORE, {"status": 2, "err": "error: a is bad\nerror: so is b\n"}),
    ("status", SCORE, {"err": "error: a is bad enough\n"}),
    ("status", SCORE, {"status": 3}),
    ("lines", SCORE, {"err": "RuntimeWarning: divide by zero\n"}),
    ("lines", SCORE, {"status": 1, "err": "error: 'a'\n"}),
    ("blame", SCORE, {"status": 1, "err": "error: something is wrong\n"}),
    ("blame", FOLDER, {"status": 1, "err": "error: something is wrong\n", "before": TREE}),
    ("blame", FOLDER, {"status": 1, "err": "error: a: bad enough\n", "before": TREE}),
    ("controls", SCORE, {"out": b"\x1b[2J\n"}),
    ("controls", replace(SCORE, terminal=True), {"out": b"\x1b[2J\n"}),
    ("controls", SCORE, {"err": "note: \u202eevil\n"}),
    ("form", JSON, {"out": b"{"}),
    ("form", JSON, {"out": b'{"x": NaN}'}),
    ("form", JSON, {"out": b'{"x": [{"f1": 1.2}]}'}),
    ("form", CSV, {"out": b"x,y\n1\n"}),
    ("form", CSV, {"out": b"f1\n101\n"}),
    ("form", MARKDOWN, {"out": b"| a | b |\n| - | - |\n| a|b | c |\n"}),
    ("form", LATEX, {"out": b"\\textbf{a"}),
    ("form", OUTPUT, {}),
    ("files", SCORE, {"files": {"a": b"1", "a.tmp": b""}}),
    ("files", SCORE, {"files": {"a": b"2"}}),
    ("files", SCORE, {"files": {}}),
    ("files", OUTPUT, {"status": 1, "err": "error: a: bad\n", "files": {"a": b"1", "out": b""}}),
    ("written", CONVERT, {"files": {"a": b"1", "out": b"?"}}),
    ("pages", REPORT, {"files": {"a": b"1", "report.html": b"<html>"}}),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "case", "changes"), BROKEN)
def test_rules_can_be_broken(rule, case, changes):
    assert rule in {problem.rule for problem in problems_of(case, replace(DONE, **changes))}


@pytest.mark.parametrize(
    ("folder", "name"), [(".", "a"), (".", "all/in"), ("./", "all/in"), ("./all", "all/in")]
)
def test_a_file_of_a_folder_that_was_given_may_be_named(folder, name):
    case = Case((("score",), (folder,), ("b",)), {})
    told = f"error: {name}, line 1: this is not a line of LitBank\n"
    outcome = replace(DONE, status=1, err=told, before=TREE, files=TREE)
    assert problems_of(case, outcome) == []


def test_the_undefined_may_be_no_number_where_it_is_asked_to_be():
    asked = replace(CSV, arguments=(*CSV.arguments, ("--undefined", "nan-ceafe")))
    for value, kinds in (("nan", set()), ("101", {"form"})):
        outcome = replace(DONE, out=f"f1\n{value}\n".encode())
        assert {problem.rule for problem in problems_of(CSV, outcome)} == {"form"}
        assert {problem.rule for problem in problems_of(asked, outcome)} == kinds


@pytest.mark.parametrize("option", ["--help", "-h", "--version"])
def test_nothing_is_made_where_help_is_asked_for(option):
    for case in (REPORT, CONVERT, OUTPUT):
        assert problems_of(replace(case, arguments=(*case.arguments, (option,))), DONE) == []


def test_a_case_leaves_nothing_for_the_next():
    files = dict.fromkeys(("a", "b"), b"#begin document (d)\nd 0 0 x (1)\n#end document\n")
    known, places = dict(REGISTRY), sys.path[:]
    for _ in range(2):
        own = Case((*SCORE.arguments, ("--metrics", "operator:eq")), files)
        assert run(own).status == 0, "the second time as the first"
        assert (REGISTRY, sys.path) == (known, places)


def test_like_problems_have_like_signatures_but_for_which_control_it_is():
    seen = [Problem("form", "f1 is 1.2"), Problem("form", "f1 is 3.4")]
    assert len({one.signature for one in seen}) == 1
    seen = [Problem("controls", f"'\\x{code}b' in the output") for code in "01"]
    assert len({one.signature for one in seen}) == 2


@pytest.mark.parametrize("seed", ["2029-6098", "2029-7668", "2029-17997"])
def test_cases_that_broke_a_rule_once(seed):
    case = make_case(seed)
    assert problems_of(case, run(case)) == []


def test_all_rules_can_be_broken():
    assert {rule for rule, _, _ in BROKEN} == set(RULES)
    assert problems_of(SCORE, DONE) == []


def test_tracebacks_break_the_rules():
    try:
        [][0]
    except IndexError as error:
        (problem,) = problems_of(SCORE, replace(DONE, escaped=error))
    assert problem.rule == "traceback"
    assert "IndexError at project/test_fuzzing.py" in problem.signature[1]


def test_cases_are_made_small():
    files = {"a": b"one\ntwo X three\nfour\n", "b": b"more\n"}
    case = Case((("score",), ("a",), ("b",), ("--by", "size")), files)
    small = shrink(case, lambda case: b"X" in case.files.get("a", b""))
    assert small.arguments == (("score",),)
    assert small.files == {"a": b"X"}

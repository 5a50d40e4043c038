"""The tables of commands and options: what is understood, refused, completed and shown as help."""

from __future__ import annotations

import ast
import inspect
import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import corefeval
from corefeval.checks import import_place
from corefeval.cli import main
from corefeval.cli.commands import COMMANDS
from corefeval.cli.options import OPTIONS
from corefeval.cli.parsing import ParsedOptions
from corefeval.protocol import STEPS, choices

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["scroe"], "there is no command 'scroe': did you mean 'score'?"),
        (["suite", "rnu"], "there is no command 'rnu': did you mean 'run'?"),
        (["score"], "KEY is missing: corefeval score KEY [RESPONSE...] [OPTIONS]"),
        (["convert", "a"], "TARGET is missing: corefeval convert SOURCE TARGET [OPTIONS]"),
        (["score", "--metrics"], "--metrics needs a value: see corefeval score --help"),
        (["score", "a", "b", "-o", "-"], "-o needs a value: see corefeval score --help"),
        (["score", "a", "--save", "--ci"], "--save needs a value: see corefeval score --help"),
        (["explain", "--results", "a"], "--results needs 2 values: see corefeval explain --help"),
        (["explain", "--results=a"], "--results needs 2 values: see corefeval explain --help"),
        (["score", "a", "b", "--samples", "x"], "--samples is a whole number, not 'x'"),
        (["compare", "a", "b", "--level", "x"], "--level is a number, not 'x'"),
        (["stats", "a", "-f", "yaml"], "-f is one of text, json, csv, markdown, latex, not 'yaml'"),
        (["score", "a", "b", "--ci=maybe"], "--ci is yes or no, not 'maybe'"),
        (["score", "a", "b", "--seed", "1", "--seed", "2"], "--seed appears twice"),
        (["score", "a", "-m", "muc", "--metrics=b3"], "--metrics appears twice"),
        (["score", "a", "-qq"], "-q appears twice"),
        (["protocols", "--formt", "x"], "there is no option --formt: did you mean --format?"),
        (["score", "--hlep"], "there is no option --hlep: did you mean --help?"),
        (["score", "a", "--no-ci"], "there is no option --no-ci: did you mean --ci?"),
        (["metrics", "--nonsense"], "there is no option --nonsense: see corefeval metrics --help"),
        (["score", "--help=all"], "--help takes no value: see corefeval score --help"),
        (["example", "a", "b"], "'b' is one argument too many: see --help"),
        (["completion", "tcsh"], "SHELL is one of bash, zsh, fish, not 'tcsh'"),
        (["check", "a", "--fix", "--strict"],
         "--strict is where a file should be: is one missing before it?"),
        (["check", "a", "--fix", "-x"], "there is no option -x: see corefeval check --help"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_bad_usage_is_told_in_one_style(run, words, message):
    assert run(*words) == (2, "", f"error: {message}\n")


def scores(run, *words):
    status, out, err = run("score", "-f", "json", *words)
    assert status == 0, err
    return json.loads(out)["responses"]


@pytest.mark.parametrize(
    "words",
    [
        [KEY, EAGER, "--metrics", "muc", "--quiet"],
        ["--metrics=muc", KEY, "-q", EAGER],
        ["-m", "muc", KEY, EAGER, "-q"],
        [KEY, "-mmuc", EAGER, "-q"],
        [KEY, "-qm", "muc", EAGER],
        [KEY, "-qm=muc", EAGER],
        ["-q", "--metrics", "muc", "--", KEY, EAGER],
        [KEY, EAGER, "-m", "muc", "--quiet=true", "--by-document=no"],
    ],
    ids=lambda words: " ".join(word for word in words if "/" not in word),
)
def test_arguments_and_options_stand_in_any_order_and_form(run, words):
    assert scores(run, *words) == scores(run, KEY, EAGER, "-m", "muc", "-q")


def test_what_is_behind_two_hyphens_is_a_file(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("-x.conll").write_bytes(Path(EAGER).read_bytes())
    assert scores(run, "-m", "muc", KEY, "--", "-x.conll")[0]["name"] == "-x.conll"


def test_numbers_may_be_negative_and_zero_is_a_number(run):
    for option, value in (("--word-column", "0"), ("--word-column", "-1"), ("--top", "-1")):
        command = "errors" if option == "--top" else "score"
        status, _, err = run(command, KEY, EAGER, option, value)
        assert status == 2 and err.endswith(f"or more, not {value}\n")
    seeds = [scores(run, KEY, EAGER, "--ci", "-m", "muc", "--seed", seed) for seed in (0, 1)]
    assert seeds[0] == scores(run, KEY, EAGER, "--ci", "-m", "muc") != seeds[1]


def test_limits_may_be_given_one_by_one(run):
    limits = ("--fail-under", "muc=1", "--fail-under", "muc=99,b3=99")
    status, _, err = run("score", KEY, EAGER, *limits, "-q")
    assert status == 3 and err.startswith("failed: muc of ") and "; b3 of " in err


def test_results_are_two_files_whichever_way_they_are_written(run, tmp_path):
    paths = [tmp_path / name for name in ("a.json", "b.json")]
    for path, policy in zip(paths, ("keep", "drop"), strict=True):
        assert run("score", KEY, EAGER, "-q", "--singletons", policy, "--save", path)[0] == 0
    outputs = {run("explain", *words)[:2] for words in (("--results", *paths),
               (f"--results={paths[0]}", paths[1]))}  # fmt: skip
    assert len(outputs) == 1 and "drop" in outputs.pop()[1]


def test_every_choice_of_the_protocol_is_understood(run):
    """Also those that only other scorers make, which brief help does not list."""
    for name, choice in choices(STEPS).items():
        if choice.option and choice.values:
            option = f"--{name.replace('_', '-')}"
            assert scores(run, KEY, CAUTIOUS, "-m", "muc", "-q", option, choice.default)


def test_options_that_commands_use_are_in_the_table():
    """The options of a command are attributes, which no type checker knows."""
    declared = {*OPTIONS, *(a.name.lower() for c in COMMANDS.values() for a in c.arguments)}
    used: set[object] = set()
    for path in Path(inspect.getfile(corefeval.cli)).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Attribute(value=ast.Name("options"), attr=name):
                    used.add(name)
                case ast.Call(func=ast.Attribute(attr="given"), args=names):
                    used |= {name.value for name in names if isinstance(name, ast.Constant)}
    assert {"metrics", "results", "piece_size"} <= used - {*dir(ParsedOptions)} <= declared


def test_every_command_runs_a_function_and_uses_options_of_the_table():
    for command in COMMANDS.values():
        assert callable(import_place(command.run, "corefeval.cli"))
        assert len(command.spellings) == sum(len(option.names) for option in command.options)
        assert {option.attribute for option in command.options} <= {*OPTIONS}
    taken = {option.attribute for command in COMMANDS.values() for option in command.options}
    assert taken == {*OPTIONS}


# Help


def test_help_is_for_the_output_that_there_is_now(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    pages = []
    for stream, columns in ((Terminal(), "60"), (io.StringIO(), "100"), (io.StringIO(), "200")):
        monkeypatch.setattr(sys, "stdout", stream)
        monkeypatch.setenv("COLUMNS", columns)
        assert main(["stats", "--help"]) == 0
        pages.append(stream.getvalue())
    assert "\x1b[" in pages[0] and "\x1b" not in pages[1]
    assert max(map(len, pages[0].splitlines())) <= 60 + len("\x1b[1m\x1b[0m")
    assert 80 < max(map(len, pages[1].splitlines())) <= 100
    assert pages[2] == pages[1]
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "stdout", plain := Terminal())
    assert main(["stats", "--help"]) == 0 and "\x1b" not in plain.getvalue()


def test_help_fits_a_terminal_of_80_columns(run, monkeypatch):
    """Examples are copied: none is broken in two. What has no default shows none."""
    monkeypatch.setenv("COLUMNS", "80")
    for name, command in {"": None, "suite": None, **COMMANDS}.items():
        brief, full = (run(*name.split(), "--help", *words)[1] for words in ((), ("all",)))
        assert not [line for line in (brief + full).splitlines() if len(line) > 80], name
        assert "default: ]" not in full and "`" not in full
        if command is None:
            continue
        assert all(f"\n  {example}\n" in full for example in command.examples.splitlines())
        for option in command.options:
            spelled = re.escape(", ".join(option.names))
            assert re.search(rf"^  {spelled}( |$)", full, re.MULTILINE), (name, option.names)
            assert bool(re.search(rf"^  {spelled}( |$)", brief, re.MULTILINE)) != option.rare
    assert run("score", "--help")[1].count("\n") <= 45  # a screen


def test_brief_help_leaves_out_what_only_other_scorers_do(run):
    brief, full = run("score", "--help")[1], run("score", "--help", "all")[1]
    assert "keep, drop, drop-response]" in " ".join(brief.split())
    assert "double-response" in full and "double-response" not in brief
    assert "What other scorers do differently" in full and "--b3-singletons" not in brief
    assert "corefeval score --help all shows" in brief and "--help all" not in full


def test_help_comes_before_any_mistake(run):
    page = run("score", "--help")
    assert page[0] == 0
    assert page == run("score", "-h", "-x") == run("score", KEY, "--nonsense", "--help")
    assert run("suite")[:2] == run("suite", "--help")[:2] == run("suite", "-h")[:2]
    assert run() == run("--help")


# Completion


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes(run, tmp_path):
    script = tmp_path / "completion"
    script.write_text(run("completion", "bash")[1])
    expected = {
        ("sc",): ["score"],
        ("suite", "r"): ["run"],
        ("score", "--met"): ["--metrics"],
        ("score", "k", "--format", "la"): ["latex"],
        ("score", "k", "--format", "=", "la"): ["latex"],
        ("score", "k", "-f", "mark"): ["markdown"],
        ("compare", "--combi"): [],
        ("suite", "compare", "--combi"): ["--combination"],
        ("suite", "run", "--sort", ""): ["score", "file"],
        ("score", "--match", "over"): ["overlap(0.5)"],
        ("completion", "z"): ["zsh"],
        ("check", "--str"): ["--strict"],
        ("score", "k"): [],
        ("score", "--output", "k"): [],
    }
    calls = "\n".join(
        f"COMP_WORDS=(corefeval {' '.join(map(repr, words))}); COMP_CWORD={len(words)}; "
        'COMPREPLY=(); _corefeval; echo "${COMPREPLY[@]}"'
        for words in expected
    )
    command = f"source {script}\n{calls}\ncomplete -p corefeval"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    *lines, declared = done.stdout.splitlines()
    assert dict(zip(expected, map(str.split, lines), strict=True)) == expected
    assert declared == "complete -o default -F _corefeval corefeval"  # other words are files


def test_other_shells_complete_commands_and_options(run):
    scripts = {shell: run("completion", shell)[1] for shell in ("zsh", "fish")}
    for command in COMMANDS.values():
        for script in scripts.values():
            assert command.name.split()[-1] in script
    zsh, fish = scripts["zsh"], scripts["fish"]
    for option in OPTIONS.values():
        assert option.names[0] in zsh and f" -l {option.names[0][2:]} " in fish
    assert zsh.startswith("#compdef corefeval\n") and "'*:file:_files'" in zsh
    assert "(exact head partial min overlap\\(0.5\\))" in zsh
    assert "-a 'exact head partial min overlap\\\\(0.5\\\\)'" in fish  # no command in it


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_scripts_are_sound(run, tmp_path, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "completion"
    script.write_text(run("completion", shell)[1])
    subprocess.run([shell, "-n", script], check=True)


def test_fish_completes_options_and_their_values(run, tmp_path):
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    script = tmp_path / "completion.fish"
    script.write_text(run("completion", "fish")[1])
    for line, first in (("score --met", "--metrics"), ("score --format ma", "markdown")):
        command = f"source {script}; complete -C 'corefeval {line}'"
        done = subprocess.run(["fish", "-c", command], capture_output=True, text=True, check=True)
        assert done.stdout.split()[0] == first

"""README and docs run: every Python block, and every command with the output that it shows."""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import corefeval
from conftest import ROOT
from registries import kept_registries

PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
KNOWN = {"python", "console", "sh", "text", "conll", "json", "latex", "toml"}


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def run_console(text: str, folder: Path) -> None:
    """Run the lines that begin with `$`, and compare what they print; `...` stands for anything."""
    if os.name == "nt":
        pytest.skip("what consoles show is for a POSIX shell")
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
    }
    for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n?)*)", text, re.MULTILINE):
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        printed = done.stdout + done.stderr
        assert "Traceback" not in printed
        checker = doctest.OutputChecker()
        same = checker.check_output(expected, printed, doctest.ELLIPSIS)
        assert same, f"$ {command}\n{printed}"


def run_python(source: str, name: str, namespace: dict[str, object]) -> None:
    if ">>>" not in source:
        exec(compile(source, name, "exec"), namespace)
        return
    test = doctest.DocTestParser().get_doctest(source, namespace, name, name, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    output: list[str] = []
    runner.run(test, out=output.append, clear_globs=False)
    assert not runner.failures, "".join(output)
    namespace.update(test.globs)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
@kept_registries()  # a page may add a metric
def test_a_page_does_what_it_says(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    subprocess.run(
        [sys.executable, "-m", "corefeval", "example", str(tmp_path)],
        check=True,
        capture_output=True,
    )
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hugging-face"))
    namespace: dict[str, object] = {}
    for language, source in blocks(page):
        assert language in KNOWN, f"{language}: no language that is tested or known"
        if need := re.match(r"# needs (\w+)", source):
            if importlib.util.find_spec(need[1]) is None:
                continue
        elif file := re.match(r"# (\w+\.py)\n", source):
            (tmp_path / file[1]).write_text(source, encoding="utf-8")
            importlib.invalidate_caches()
            sys.modules.pop(file[1].removesuffix(".py"), None)  # of another page
            continue  # it is for the reader to import
        if language == "console":
            run_console(source, tmp_path)
        elif language == "python":
            run_python(source, page.name, namespace)
        elif language in ("conll", "json"):
            example = tmp_path / f"page.{language}"
            example.write_text(source, encoding="utf-8")
            assert corefeval.score(example, example)["mentions"].f1 == 1.0
        elif language == "toml":
            (tmp_path / "page.toml").write_text(source, encoding="utf-8")
            assert corefeval.read_suite("page.toml").corpora


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_the_metrics_page_is_up_to_date():
    """`make docs` writes it from the registry."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr

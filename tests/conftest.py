"""What the tests share: where things are, and how hard hypothesis tries."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from browsing import browser, example_page, report_folder, visit

ALL = 200  # examples in `make test-all`; `make test` tries fewer
settings.register_profile(
    "thorough",
    deadline=None,
    max_examples=ALL,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
# The same examples in every run of `make test`, which must tell changes apart from luck.
settings.register_profile(
    "quick", settings.get_profile("thorough"), max_examples=ALL // 2, derandomize=True
)
settings.load_profile("quick")


def examples(number: int) -> int:
    """All of a large number of examples, or a fifth of it where the profile is the quick one."""
    return number if settings.default.max_examples == ALL else max(1, number // 5)


# What is printed is what is printed where nobody asked for anything, wherever tests run: xdist's
# workers say 80 columns, some machines that tests run on ask for colours or have a dumb terminal.
for name in ("COLUMNS", "LINES", "TERM", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE",
             "TTY_INTERACTIVE", "COREFEVAL_UNPACK_LIMIT"):  # fmt: skip
    os.environ.pop(name, None)

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "conformance"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The conformance vectors, which are not part of the project: skip where they are not."""
    if not SHARED.parent.is_dir():
        pytest.skip("the conformance vectors are not here")
    assert SHARED.is_dir(), f"{SHARED} is missing, though there is a folder for it"
    return SHARED


@pytest.fixture
def conll(tmp_path: Path):
    """Write text to a file and give its path."""
    count = 0

    def write(text: str | bytes, name: str = "") -> str:
        nonlocal count
        count += 1
        path = tmp_path / (name or f"file{count}.conll")
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return str(path)

    return write


@pytest.fixture
def run(capsys):
    """Run a command line; gives exit status, output and errors."""

    def run(*arguments: object):
        from corefeval.cli import main

        status = main(list(map(str, arguments)))
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


@pytest.fixture
def set_latex(tmp_path: Path):
    """Set texts in a paper of two columns; nothing in it may stick out, or be missing a letter."""
    if shutil.which("pdflatex") is None:
        lack = pytest.fail if os.environ.get("COREFEVAL_NOTHING_MISSING") else pytest.skip
        lack("no pdflatex here: install texlive-latex-recommended")

    def set_texts(*texts: str) -> None:
        needed = re.findall(r"% needs (.*)", "\n".join(texts))
        lines = [r"\documentclass[twocolumn]{article}", r"\usepackage[margin=2.5cm]{geometry}"]
        lines += [*set(needed), r"\begin{document}", *texts]
        lines += [r"\end{document}"]
        (tmp_path / "paper.tex").write_text("\n".join(lines))
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        log = done.stdout.decode(errors="replace")
        assert done.returncode == 0, log[-2000:]
        for trouble in ("Overfull", "Missing character"):
            assert trouble not in log, log[log.index(trouble) - 1000 :][:2000]

    return set_texts


# Fixtures that several files use.
__all__ = ["browser", "example_page", "report_folder", "visit"]


@pytest.fixture
def folder(tmp_path, run):
    """The example of a suite, in a folder of its own."""
    assert run("example", "--suite", tmp_path)[0] == 0
    return tmp_path


@pytest.fixture
def suite(folder):
    """The same suite, by few metrics and without slices."""
    from corefeval.suites.definition import read_suite

    return replace(read_suite(folder / "suite.toml"), metrics="muc, b3, ceafe, conll", by="")

"""What is imported when: help is free, and scipy is for those who need it."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import corefeval
from conftest import ROOT

SOURCE = Path(corefeval.__file__).parent


def modules_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nimport json\nsys.stderr.write(json.dumps(list(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stderr.rpartition("[")[2].join(("[", ""))))


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["score", "--help"],
        ["agree", "--help"],
        ["metrics"],
        ["features"],
        ["lab", "list"],
        ["report", "--help"],
        ["--version"],
    ],
)
def test_help_needs_no_numpy(arguments):
    loaded = modules_after(f"from corefeval.cli import main; main({arguments!r})")
    assert "corefeval.cli" in loaded
    assert not loaded & {"numpy", "scipy", "pandas"}


def test_import_needs_no_numpy():
    assert not modules_after("import corefeval") & {"numpy", "scipy", "rich", "jinja2"}


def test_an_ordinary_score_needs_no_scipy():
    loaded = modules_after(
        "import corefeval\n"
        "for name in ('cautious', 'eager'):\n"
        "    corefeval.score(corefeval.example('key'), corefeval.example(name))"
    )
    assert "numpy" in loaded
    assert not loaded & {"scipy", "rich", "jinja2", "rapidfuzz", "corefeval.emulation"}


def test_a_plain_score_needs_nothing_but_numpy():
    """What the command line imports beside numpy takes less time than numpy itself."""
    paths = [corefeval.example(name) for name in ("key", "eager")]
    arguments = ["score", *paths, "--metrics", "standard", "--format", "text", "-q"]
    loaded = modules_after(f"from corefeval.cli import main; main({arguments!r})")
    dear = {"rich", "scipy", "json", "pathlib", "shutil", "gzip", "difflib"}
    own = {"concurrent", "threading", "logging"} | {
        f"corefeval.{name}"
        for name in ("live", "cli.help", "features.declarations", "model.builder",
                     "model.views", "pairing.zeros", "stats", "analysis", "emulation")
    }  # fmt: skip
    numpy = modules_after("import numpy")
    assert not loaded & (dear | own) - numpy


def test_every_public_name_is_there():
    for name in corefeval.__all__:
        assert getattr(corefeval, name) is not None
    assert set(dir(corefeval)) == set(corefeval.__all__)
    with pytest.raises(AttributeError):
        corefeval.nothing


ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def table_rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading of the page."""
    section = ARCHITECTURE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_rooms_import_only_what_they_may():
    rooms = {room.strip("`"): permitted for room, _, permitted in table_rows("Rooms")}
    everywhere = {"_version"} | {r for r, permitted in rooms.items() if "everywhere" in permitted}
    assert {*rooms} == {
        path.stem
        for path in SOURCE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    } - {"__init__", "__main__", "_version"}
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).with_suffix("").parts[0]
        permitted = rooms.get(room, "everything").partition(";")[0]
        if permitted == "everything" or room == "_version":
            continue
        allowed = everywhere | {room, *permitted.split(", ")}
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("corefeval."):
                assert node.module.split(".")[1] in allowed, f"{path} imports {node.module}"


def test_the_page_finds_what_it_names():
    rows = table_rows("Where to find what")
    assert len(rows) >= 20
    for _, look_here, and_then in rows:
        paths = re.findall(r"`([\w/]+(?:/|\.\w+))`", look_here)
        assert paths, look_here
        for path in paths:
            assert (SOURCE / path).exists(), path
        for path in re.findall(r"`((?:tests|docs)/[\w./-]+)`", and_then):
            assert (ROOT / path).exists(), path

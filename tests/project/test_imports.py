"""What is imported when: help is free, and scipy is for those who need it."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import corefeval

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
    assert not loaded & {"scipy", "rich", "jinja2", "corefeval.emulation"}


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


# Which rooms a room may import, besides itself and those of everybody; the picture is in
# docs/architecture.md.
ROOMS = {
    "diagnostics": set(),
    "display": set(),
    "_version": set(),
    "checks": set(),
    "files": set(),
    "protocol": {"_version"},
    "model": set(),
    "assignment": {"model"},
    "formats": {"model"},
    "live": {"model", "protocol"},
    "pairing": {"assignment", "live", "model", "protocol"},
    "linting": {"formats", "model", "pairing"},
    "features": {"model"},
    "matching": {"assignment", "features", "model", "protocol"},
    "beyond": {"features", "matching", "model"},
    "alignment": {"beyond", "matching", "model"},
    "metrics": {"_version", "alignment", "assignment", "beyond", "matching", "model"},
    "results": {"_version", "protocol"},
    "emulation": {
        "alignment", "formats", "live", "metrics", "model", "pairing", "protocol", "results",
    },
    "request": {"emulation", "features", "formats", "metrics", "pairing", "pieces", "protocol"},
    "preparation": {
        "alignment", "beyond", "features", "formats", "live", "matching", "model", "pairing",
        "pieces", "protocol", "request",
    },
    "slicing": {"alignment", "beyond", "features", "metrics", "model", "preparation", "results"},
    "stats": {"protocol", "results"},
    "evaluation": {
        "alignment", "beyond", "emulation", "features", "matching", "metrics", "model", "pairing",
        "pieces", "preparation", "protocol", "request", "results", "slicing", "stats",
    },
    "pieces": {
        "_version", "analysis", "evaluation", "features", "formats", "linting", "metrics", "model",
        "pairing", "preparation", "request", "results",
    },
    "scorer": {"evaluation", "metrics", "model", "pieces", "protocol", "request", "results"},
    "analysis": {
        "alignment", "emulation", "evaluation", "features", "formats", "live", "matching",
        "metrics", "model", "pairing", "preparation", "protocol", "request", "results", "slicing",
        "stats",
    },
    "lab": {
        "alignment", "evaluation", "features", "metrics", "model", "preparation", "protocol",
        "results",
    },
    "output": {"analysis", "results", "stats", "_version"},
    "figures": {"lab", "output"},
    "reports": {
        "_version", "alignment", "analysis", "beyond", "evaluation", "features", "formats", "live",
        "metrics", "model", "output", "pairing", "preparation", "protocol", "request", "results",
        "slicing", "stats", "suites",
    },
    "clustering": {"alignment", "metrics", "model", "results"},
    "integrations": {
        "cli", "evaluation", "formats", "live", "metrics", "model", "request", "results",
    },
    "suites": {
        "_version", "evaluation", "features", "formats", "linting", "metrics", "model", "output",
        "pieces", "protocol", "results", "scorer", "stats",
    },
    "examples": {"cli"},
    "cli": {
        "_version", "analysis", "emulation", "evaluation", "examples", "features", "figures",
        "formats", "lab", "linting", "metrics", "model", "output", "pieces", "preparation",
        "protocol", "reports", "request", "results", "slicing", "stats", "suites",
    },
}  # fmt: skip


EVERYWHERE = ("checks", "diagnostics", "display", "files")


def test_rooms_import_only_what_they_may():
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        if parts[0] in ("__init__", "__main__"):
            continue
        allowed = ROOMS[parts[0]] | {parts[0], *EVERYWHERE}
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("corefeval."):
                assert node.module.split(".")[1] in allowed, f"{path} imports {node.module}"

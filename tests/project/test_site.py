"""The documentation as a whole: no page is left out, notebooks run, and the site builds."""

from __future__ import annotations

import importlib.util
import os
import re
import runpy
import subprocess
import sys
from types import SimpleNamespace

import pytest

from conftest import ROOT

DOCS = ROOT / "docs"
PAGES = [
    str(page.relative_to(DOCS))
    for ending in ("md", "ipynb")
    for page in sorted(DOCS.rglob(f"*.{ending}"))
]
NOTEBOOKS = sorted(DOCS.rglob("*.ipynb"))


def navigation() -> str:
    return (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]


def test_no_page_is_left_out():
    hooks = runpy.run_path(str(DOCS / "site_hooks.py"))
    nav = [{"Metrics": ["metrics/"]}, {"Files": ["formats/README.md", "formats/"]}]
    config = SimpleNamespace(nav=nav)
    completed = str(hooks["on_config"](config).nav)
    assert sorted(re.findall(r"[\w./-]+\.(?:md|ipynb)\b", completed)) == sorted(PAGES)


def test_what_the_navigation_names_is_there_and_named_once():
    named = re.findall(r"[\w./-]+\.(?:md|ipynb)\b", navigation())
    assert {*named} <= {*PAGES}
    assert len(named) == len({*named})


def test_sessions_of_python_are_marked_so_that_only_input_is_copied():
    hooks = runpy.run_path(str(DOCS / "site_hooks.py"))
    page = SimpleNamespace(file=SimpleNamespace(src_uri="tutorials/any.md"))
    text = "```python\n>>> 1 + 1\n2\n```\n```python\nx = 1\n```\n"
    assert hooks["on_page_markdown"](text, page) == text.replace("python\n>>>", "pycon\n>>>")


def outputs(notebook) -> list[str]:
    """What each cell shows as text, which may come in any number of pieces."""
    return [
        "".join(out.get("text") or out["data"].get("text/plain", "") for out in cell.outputs)
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_show_what_they_do(path):
    """In a process of its own: what kernels leave behind is nothing of ours."""
    nbformat = pytest.importorskip("nbformat", reason="notebooks are run by nbclient")
    source = (
        "import runpy, sys, pathlib, nbformat\n"
        "execute = runpy.run_path(sys.argv[1])['execute']\n"
        "nbformat.write(execute(pathlib.Path(sys.argv[2])), sys.stdout)\n"
    )
    script = DOCS / "notebooks" / "execute.py"
    done = subprocess.run(
        [sys.executable, "-c", source, str(script), str(path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    again = nbformat.reads(done.stdout, as_version=4)
    assert outputs(again) == outputs(nbformat.read(path, as_version=4)), "run make docs"


def test_notebooks_name_no_place_of_the_machine_they_ran_on():
    assert len(NOTEBOOKS) == 2
    for path in NOTEBOOKS:
        text = path.read_text(encoding="utf-8")
        assert '"outputs": [\n' in text
        assert not re.search(r"/(tmp|home|root|Users)/", text)


@pytest.mark.slow
def test_the_site_builds_without_a_broken_link(tmp_path):
    for package in ("mkdocs", "material", "mkdocstrings", "mkdocs_jupyter"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install --group docs")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    reference = (tmp_path / "reference" / "index.html").read_text(encoding="utf-8")
    assert 'id="corefeval.score"' in reference
    assert (tmp_path / "search" / "search_index.json").exists()

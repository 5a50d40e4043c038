"""What is released: built, installed in a clean environment, and used there."""

from __future__ import annotations

import email
import os
import re
import runpy
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path, PurePosixPath

import pytest

import corefeval
from conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
URL = "https://repository.example/corefeval"


def run(*command: object, cwd: Path, **variables: str) -> str:
    environment = {name: os.environ[name] for name in os.environ if name != "PYTHONPATH"}
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, env={**environment, **variables},
        capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A folder with the wheel and the sdist, as a release workflow makes them."""
    pytest.importorskip("build", reason="build is not installed: pip install build")
    folder = tmp_path_factory.mktemp("dist")
    run(
        sys.executable, "-m", "build", "--outdir", folder, cwd=ROOT,
        REPOSITORY_URL=URL, REPOSITORY_REF="v1", PYTHONUTF8="1",
    )  # fmt: skip
    return folder


@pytest.mark.slow
def test_the_wheel_works_in_a_clean_environment(built, tmp_path):
    (wheel,) = built.glob("*.whl")
    venv.create(tmp_path / "clean", with_pip=True)
    bin = tmp_path / "clean" / ("Scripts" if os.name == "nt" else "bin")
    run(bin / "python", "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    listed = run(bin / "corefeval", "example", cwd=tmp_path, PYTHONUTF8="1")
    assert listed.split()[0] == "key.conll"
    score = ("score", "key.conll", "eager.conll", "--format", "csv", "--quiet")
    assert "0.7031" in run(bin / "corefeval", *score, cwd=tmp_path, PYTHONUTF8="1")
    assert "luo-2005" in run(bin / "corefeval", "cite", "-m", "ceafe", cwd=tmp_path)
    where = run(bin / "python", "-c", "import corefeval; print(corefeval.__file__)", cwd=tmp_path)
    assert "site-packages" in where
    code = "import corefeval as c; [getattr(c, name) for name in c.__all__]"
    run(bin / "python", "-W", "error", "-c", code, cwd=tmp_path)


@pytest.mark.slow
def test_the_metadata_lead_somewhere(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (name,) = [one for one in names if one.endswith(".dist-info/METADATA")]
        metadata = email.message_from_bytes(archive.read(name))
    assert "corefeval/py.typed" in names
    assert not [one for one in names if not one.startswith("corefeval")]
    assert metadata["Version"] == corefeval.__version__
    assert f"Repository, {URL}" in metadata.get_all("Project-URL")
    text = metadata.get_payload(decode=True).decode()
    assert f"]({URL}/raw/v1/docs/images/report.png)" in text
    assert not re.findall(r"\]\((?!https://|#)[^)]*\)", text)


@pytest.mark.slow
def test_the_sdist_has_what_its_own_tests_need(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {one.partition("/")[2] for one in archive.getnames()}
    assert {"README.md", "LICENSE", "CITATION.cff", "hatch_build.py", "mkdocs.yml"} <= names
    assert {"docs/README.md", "tests/conftest.py", "tests/data/metrics/papers.json"} <= names
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")]
    named = {place for text in texts for place in re.findall(r'\bROOT((?: / "[^"]+")+)', text)}
    needed = {"/".join(re.findall(r'"([^"]+)"', place)) for place in named}
    assert ".pre-commit-hooks.yaml" in needed
    assert needed <= names | {
        one.as_posix() for name in names for one in PurePosixPath(name).parents
    }


def test_a_readme_without_an_address_has_no_links_that_lead_nowhere():
    pytest.importorskip("hatchling", reason="hatchling is not installed: pip install hatchling")
    make_absolute = runpy.run_path(str(ROOT / "hatch_build.py"))["make_absolute"]
    text = "![a\npicture](docs/a.png) [b](docs/b.md#c) [d](https://d.example) [e](#f)"
    assert make_absolute(text, "", "main") == " b [d](https://d.example) [e](#f)"


def test_messages_say_what_to_install_whether_there_is_a_release_or_not():
    """They name the packages themselves, all of which an extra has too."""
    extras = PROJECT["optional-dependencies"].values()
    packages = {re.split(r"[<>=\[]", one)[0] for extra in extras for one in extra}
    advised = set()
    for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md")]:
        text = " ".join(path.read_text(encoding="utf-8").replace('"', " ").split())
        advised |= {*re.findall(r"pip install ([^\s`,;:)]+)", text)} - {
            ".",
            ".[charts]",
            "--group",
        }
    assert advised <= packages
    assert {"pandas", "pyarrow", "vl-convert-python"} <= advised


def test_classifiers_name_every_version_that_is_tested():
    versions = {one.rpartition(" ")[2] for one in PROJECT["classifiers"] if ":: 3." in one}
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    (tested,) = re.findall(r"python: \[(.*)\]", workflow)
    assert versions == {*tested.replace('"', "").split(", ")} == {f"3.{n}" for n in range(11, 15)}


def test_the_hook_for_commits_looks_at_coreference_files():
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    (entry,) = re.findall(r"^  entry: (.*)$", text, re.MULTILINE)
    (files,) = re.findall(r"^  files: (.*)$", text, re.MULTILINE)
    assert entry == "corefeval check"
    assert all(re.search(files, name) for name in ("a.conll", "a.conllu", "a.v4_gold_conll"))
    assert not any(re.search(files, name) for name in ("a.py", "conll.md", "a.conll.gz"))

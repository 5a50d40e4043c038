"""What the guide says about novels works with every format that it names."""

from __future__ import annotations

import re

import pytest

import corefeval
from conftest import ROOT
from corefeval.formats import FORMATS

WRITABLE = [name for name, format in FORMATS.items() if format.writer]
KEY, EAGER = corefeval.example("key"), corefeval.example("eager")
GUIDE = ROOT / "docs" / "which-metric.md"
OPTIONS = re.search(r"\| \[a novel to index\].*?`--metrics (\S+) --by (\S+)`", GUIDE.read_text())
TEXT = "Ada met the captain . She smiled .\n"
BRAT = """\
T1\tPROP_PER 0 3\tAda
T2\tNOM_PER 8 19\tthe captain
T3\tPRON_PER 22 25\tShe
*\tEquiv T1 T3
"""
LITBANK = """\
MENTION\tT1\t0\t0\t0\t0\tAda\tPER\tPROP
MENTION\tT2\t0\t2\t0\t3\tthe captain\tPER\tNOM
MENTION\tT3\t0\t5\t0\t5\tShe\tPER\tPRON
COREF\tT1\tAda-1
COREF\tT3\tAda-1
"""


def guided(run, key, response, *more):
    assert OPTIONS is not None
    metrics, by = OPTIONS.groups()
    options = ("--metrics", ",".join((metrics, *more)), "--by", by, "-q")
    return run("score", key, response, *options)


@pytest.mark.parametrize("format", WRITABLE)
def test_the_guides_command_works_with_every_format(run, tmp_path, format):
    paths = [tmp_path / "key", tmp_path / "response"]
    for source, path in zip((KEY, EAGER), paths, strict=True):
        assert run("convert", source, path, "--to", format, "-q")[0] == 0
    status, out, err = guided(run, *paths)
    assert (status, err) == (0, "")
    assert "LEA" in out and "By size" in out
    for command in (("errors", *paths, "-q"), ("stats", paths[0]), ("check", paths[1], "-q")):
        assert run(*command)[0] == 0


@pytest.mark.parametrize("named", ["conll", "corefud", "litbank", "brat", "bookcoref"])
def test_anchors_work_with_the_formats_that_the_guide_names(run, tmp_path, named):
    if named in ("litbank", "brat"):
        path = response = tmp_path / "novel.ann"
        path.write_text({"litbank": LITBANK, "brat": BRAT}[named])
        path.with_suffix(".txt").write_text(TEXT)
    else:
        path, response = tmp_path / "key", tmp_path / "response"
        assert run("convert", KEY, path, "--to", named, "-q")[0] == 0
        assert run("convert", EAGER, response, "--to", named, "-q")[0] == 0
    status, out, err = guided(run, path, response, "anchors")
    if named != "bookcoref":
        assert (status, err) == (0, "") and "Anchors" in out
        return
    assert status == 1 and "anchors: noun needs tags" in err  # which is said before
    assert "state the kind of each mention, with --features FILE" in err
    stated = tmp_path / "features.tsv"
    stated.write_text("document\tstart\tend\tkind\n")
    for one in (path, response):
        with open(stated, "a") as file:
            for document in corefeval.read(one):
                for mention in document.mentions:
                    span = f"{document.id}\t{mention.start}\t{mention.end}"
                    file.write(f"{span}\tname\n")
    lines = dict.fromkeys(stated.read_text().splitlines())
    stated.write_text("\n".join(lines) + "\n")
    done = run("score", path, response, "-m", "lea,links,anchors", "--features", stated, "-q")
    assert done[0] == 0 and "Anchors" in done[1]

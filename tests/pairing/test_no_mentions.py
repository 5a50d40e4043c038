"""Where there is nothing to count: every command ends in a result or one clear error."""

from __future__ import annotations

from itertools import product

import pytest

from corefeval.features import FEATURES
from corefeval.lab import EXPERIMENTS

CELLS = {
    "nothing": [],
    "none": ["-"] * 6,
    "singletons": ["(0)", "-", "(1)", "-", "-", "-"],
    "some": ["(0)", "-", "(0)", "(1)", "-", "(1)"],
}
PAIRS = [pair for pair in product(CELLS, repeat=2) if pair != ("some", "some")]
BY = ("size", "length", "distance", "document", "words")
FORMATS = ("text", "json", "csv", "markdown", "latex")


@pytest.fixture
def write(conll):
    """Write a file for each name; gives the paths."""

    def write(*names: str, documents: int = 2) -> list[str]:
        return [conll("".join(_document(name, n) for n in range(documents))) for name in names]

    return write


def _document(name: str, number: int) -> str:
    lines = (f"d\t0\t{index}\tw{index}\t{cell}\n" for index, cell in enumerate(CELLS[name]))
    return f"#begin document (d{number}); part 000\n{''.join(lines)}\n#end document\n"


@pytest.fixture
def ends_well(run):
    """Whether a command ends in a result; if not, in one error without a traceback."""

    def ends_well(*arguments: object) -> bool:
        status, out, err = run(*arguments)
        assert "nan" not in out.lower().split(), arguments
        assert err.count("error:") == (status != 0), arguments
        return status == 0

    return ends_well


@pytest.mark.parametrize(("key", "response"), PAIRS)
@pytest.mark.parametrize("singletons", ["keep", "drop"])
def test_scores_errors_and_agreement(ends_well, write, key, response, singletons):
    for documents in (1, 2):
        paths = *write(key, response, documents=documents), "--singletons", singletons
        commands = ["score", "errors"]
        results = [ends_well(one, *paths, "--by", by) for one, by in product(commands, BY)]
        results += [ends_well(one, *paths, "-f", form) for one, form in product(commands, FORMATS)]
        assert all(results) or "nothing" in (key, response)  # whose text is another one
        ends_well("score", *paths, "--ci", "--metrics", "all")
        for format in FORMATS:
            ends_well("agree", *paths, "-f", format)


@pytest.mark.parametrize(("key", "response"), PAIRS)
def test_other_commands(ends_well, run, write, tmp_path, key, response):
    paths, other = write(key, response), write("none")
    assert ends_well("stats", *paths)
    assert "Traceback" not in run("check", paths[1], "--against", paths[0])[2]
    ends_well("report", *paths, *other, "-o", tmp_path / "report.html")
    for format in FORMATS:
        ends_well("compare", *paths, *other, "-f", format, "--by", "size", "--trials", 99)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
@pytest.mark.parametrize("key", ["nothing", "none", "singletons"])
def test_experiments(ends_well, write, experiment, key):
    ends_well("lab", experiment, *write(key, "none"), "--metrics", "muc,b3")


@pytest.mark.parametrize("response", ["none", "singletons"])
def test_errors_by_every_feature(ends_well, write, response):
    paths = *write("none", response), "--singletons", "drop"
    results = [ends_well("errors", *paths, "--by", name) for name in FEATURES]
    assert sum(results) > len(BY)

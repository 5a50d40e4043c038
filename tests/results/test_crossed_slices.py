"""Scores by several features at once: `genre*kind`."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval.cli import main
from corefeval.features import shows_words
from corefeval.model.categories import Categories

KEY, EAGER, CAUTIOUS = (corefeval.example(name) for name in ("key", "eager", "cautious"))
METRICS = "mentions, muc, b3, lea, blanc"


def test_a_crossed_slice_is_that_slice_of_those_documents():
    crossed = corefeval.score(KEY, EAGER, metrics=METRICS, by=" Genre * kind ").by("genre*kind")
    assert crossed.level == "mention"
    assert list(crossed) == [
        f"{genre}*{kind}" for genre in ("bc", "fi", "nw") for kind in ("name", "nominal", "pronoun")
    ]
    for genre in ("bc", "fi", "nw"):
        alone = corefeval.score(KEY, EAGER, metrics=METRICS, by="kind", documents=f"{genre}/*")
        for kind, part in alone.by("kind").items():
            assert crossed.sizes[f"{genre}*{kind}"] == alone.by("kind").sizes[kind]
            for metric in part.metrics:
                here = crossed[f"{genre}*{kind}"][metric]
                assert here.rates == pytest.approx(part[metric].rates)
                assert here.counts == pytest.approx(part[metric].counts)


@pytest.mark.parametrize(
    ("by", "level", "undefined"),
    [
        ("genre*size", "entity", {"ceafe"}),
        ("size*kind*genre", "mention", {"ceafe"}),
    ],
)
def test_the_finest_feature_says_of_what_slices_are(by, level, undefined):
    slices = corefeval.score(KEY, EAGER, metrics="muc, ceafe", by=by).by(by)
    assert slices.level == level
    assert set(slices.undefined) == undefined


def test_documents_are_crossed_too():
    authors = [{"author": name} for name in ("A", "B", "A", "B", "A", "A", "B", "A", "A")]
    key = corefeval.read(KEY).with_details(metadata=authors)
    result = corefeval.score(key, EAGER, metrics="muc, ceafe", by="metadata(author)*genre")
    slices = result.by("metadata(author)*genre")
    assert (slices.level, slices.undefined) == ("document", {})
    assert list(slices) == ["A*bc", "A*fi", "A*nw", "B*bc", "B*fi", "B*nw"]
    found = [part["muc"].counts["recall_numerator"] for part in slices.values()]
    assert sum(found) == result["muc"].counts["recall_numerator"]


@settings(max_examples=30)
@given(
    st.lists(st.tuples(*(st.sampled_from((None, "a", "b", "c")) for _ in range(3))), max_size=12)
)
def test_values_are_crossed_one_by_one(things):
    parts = [Categories.of(column) for column in zip(*things, strict=True)]
    if parts:
        expected = [None if None in thing else "*".join(thing) for thing in things]
        assert Categories.cross(parts).values() == expected
        assert np.unique(Categories.cross(parts).codes).max() < 27


@pytest.mark.parametrize(
    ("by", "problem"),
    [
        ("genre*", "a feature is missing beside *"),
        ("*kind", "a feature is missing beside *"),
        ("genre**kind", "a feature is missing beside *"),
        ("kind*Kind", "not with itself"),
        ("kind*size*genre*tag", "at most 3 features are crossed, not 4"),
        ("kind*gnre", "did you mean 'genre'"),
        ("kind*size(x)", "size takes no argument 'x'"),
    ],
)
@pytest.mark.parametrize("command", ["score", "compare"])
def test_what_cannot_be_crossed(by, problem, command, capsys):
    responses = [EAGER] if command != "compare" else [EAGER, CAUTIOUS]
    assert main([command, KEY, *responses, "--by", by]) in (1, 2)
    error = capsys.readouterr().err
    assert problem in error
    assert "Traceback" not in error


def test_saved_results_keep_crossed_slices(tmp_path, capsys):
    result = corefeval.score(KEY, EAGER, metrics="muc", by="genre*kind")
    result.save(tmp_path / "r.json")
    assert corefeval.load(tmp_path / "r.json") == result
    path = str(tmp_path / "r.json")
    assert main(["score", path, "--by", "genre * kind", "-f", "json"]) == 0
    [shown] = json.loads(capsys.readouterr().out)["responses"]
    assert shown["slices"]["genre*kind"]["bc*name"]["muc"]["f1"] == pytest.approx(
        result.by("genre*kind")["bc*name"]["muc"].f1
    )
    assert result.to_dict(flat=True)["genre-kind/bc-name/muc/f1"]


def test_every_command_has_them(capsys, tmp_path):
    assert main(["compare", KEY, EAGER, CAUTIOUS, "-m", "muc", "--by", "genre*kind", "-q"]) == 0
    assert "bc*pronoun" in capsys.readouterr().out
    assert main(["errors", KEY, EAGER, "--by", "kind*genre", "-q"]) == 0
    assert "pronoun*bc → name*bc" in capsys.readouterr().out
    pytest.importorskip("vl_convert", reason="charts need vl-convert-python")
    path = tmp_path / "report.html"
    assert main(["report", KEY, EAGER, "--by", "genre*kind", "-o", str(path), "-q"]) == 0
    assert "bc*pronoun" in path.read_text(encoding="utf-8")


def test_pieces_have_them_in_the_same_order():
    asked = {"metrics": "muc", "by": "genre*kind, tag*size"}
    whole = corefeval.score(KEY, EAGER, **asked)
    pieces = corefeval.score(KEY, EAGER, **asked, piece_size="2KB")
    assert pieces == whole
    assert {name: list(s) for name, s in pieces.slices.items()} == {
        name: list(s) for name, s in whole.slices.items()
    }


def test_words_of_the_text_are_words_when_crossed():
    assert shows_words("genre*head")
    assert not shows_words("genre*kind")

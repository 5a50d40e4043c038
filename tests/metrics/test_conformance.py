"""Against the official scorer: on the example corpus, and on more where it is at hand."""

from __future__ import annotations

import json

import pytest

import corefeval
from conftest import ROOT

OFFICIAL_NAMES = {"bcub": "b3"}


def assert_official(result: corefeval.Result, expected: dict) -> None:
    """Each fraction to 1e-9; BLANC's rates too."""
    for metric in ("mentions", "muc", "bcub", "ceafm", "ceafe", "lea"):
        counts = result[OFFICIAL_NAMES.get(metric, metric)].counts
        assert list(counts.values()) == pytest.approx(expected[metric], rel=1e-9, abs=1e-9), metric
    blanc, counts = result["blanc"], result["blanc"].counts
    for kind in ("coreference", "non-coreference"):
        name = kind.replace("-", "_")
        common, key, response = (counts[f"{name}_{side}"] for side in ("common", "key", "response"))
        assert [common, key, common, response] == expected["blanc"][kind]
    rates = expected["blanc"]["blanc"]
    assert [blanc.recall, blanc.precision] == pytest.approx([rates[0], rates[2]], abs=1e-9)


@pytest.mark.parametrize("system", ["cautious", "eager"])
def test_the_example_corpus(system):
    """What the official scorer v8.01 (LEA: its branch) prints for the corpus that comes along."""
    figures = json.loads((ROOT / "tests" / "data" / "official" / "example.json").read_text())
    result = corefeval.score(corefeval.example("key"), corefeval.example(system))
    blanc = result["blanc"]
    assert [blanc.recall, blanc.precision] == pytest.approx(figures[system].pop("blanc"), abs=1e-9)
    for metric, expected in figures[system].items():
        assert list(result[metric].counts.values()) == pytest.approx(expected, rel=1e-9), metric


def test_official_cases(shared):
    """All 36 cases of the official scorer v8.01 (LEA: its branch), words ignored."""
    expected = json.loads((shared / "official" / "expected.json").read_text())
    assert len(expected) == 36
    for response, values in expected.items():
        result = corefeval.score(
            shared / "official" / values["key"],
            shared / "official" / response,
            ignore_tokens=True,
        )
        assert_official(result, values)


@pytest.mark.parametrize(
    "system", ["corefgraph", "cort-latent", "cort-pair", "xrenner", "baseline"]
)
def test_real_systems_on_gum(shared, system):
    """Five resolvers on 36 documents, as the official scorer counts them."""
    expected = json.loads((shared / "gum" / "expected.json").read_text())
    response = f"{system}.conll"
    result = corefeval.score(shared / "gum" / "key.conll", shared / "gum" / response)
    assert_official(result, expected[response])
    assert result.notices == ()


def test_real_counts_on_gum(shared):
    counts = {"key": (3935, 979), "cort-pair": (3444, 863), "baseline": (4549, 1201)}
    for name, (mentions, entities) in counts.items():
        corpus = corefeval.read(shared / "gum" / f"{name}.conll")
        assert (len(corpus), corpus.n_mentions, corpus.n_entities) == (36, mentions, entities)
    assert sum(document.n_tokens for document in corpus) == 32682


def test_raw_output_with_repeated_mentions_is_scored(shared):
    result = corefeval.score(shared / "gum" / "key.conll", shared / "gum" / "xrenner-raw.conll")
    assert [notice.kind for notice in result.notices] == ["repeated-mentions"]


def test_annotators_read(shared):
    for name in ("AK", "JA", "SH"):
        corpus = corefeval.read(shared / "annotators" / f"{name}.conll")
        assert corpus.n_mentions > 1000
        own = corefeval.score(corpus, corpus)
        assert all(own[metric].f1 == 1.0 for metric in own.metrics)

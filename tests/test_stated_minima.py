"""Stated minimum spans against the figures of the Universal Anaphora scorer on GUM."""

from __future__ import annotations

import json

import pytest

from corefeval import count, prepare

METRICS = ("muc", "b3", "ceafm", "ceafe", "lea")


@pytest.mark.parametrize("match", ["exact", "partial", "min"])
@pytest.mark.parametrize("name", ["key", "cautious", "eager"])
def test_figures_of_the_anaphora_scorer(shared, name, match):
    folder = shared / "anaphora" / "gum"
    [pair] = [
        p for p in json.loads((folder / "gum.json").read_text())["pairs"] if p["name"] == name
    ]
    files = (str(folder / file) for file in pair["corefud"])
    prepared = prepare(*files, match=match, split="score")
    expected = pair["modes"]["default"]["documents"] if match == "exact" else pair["min"]
    result = count(prepared, ", ".join(METRICS))
    for at, document in enumerate(prepared.document_ids):
        for metric in METRICS:
            found = list(result.tables[metric].values[at])
            assert found == pytest.approx(expected[document][metric], rel=0, abs=1e-9)
    others = [n.count for n in prepared.notices if n.kind == "other-spans"]
    assert bool(others) == (match != "exact" and name != "key")

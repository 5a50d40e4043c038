"""Stated minimum spans against the figures of the Universal Anaphora scorer on GUM."""

from __future__ import annotations

import json

import pytest

from corefeval import count, prepare, score

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


def conllu(*rows: str) -> str:
    """A document of one sentence: `id DEPS MISC` for each word and empty node."""
    lines = ["# newdoc id = d", "# global.Entity = eid-etype-head-minspan", "# sent_id = s"]
    for row in rows:
        number, deps, misc = row.split()
        lines.append(
            "\t".join((number, "w", *"____", "_" if "." in number else "0", "x", deps, misc))
        )
    return "\n".join([*lines, "", ""])


@pytest.mark.parametrize("match", ["partial", "min"])
@pytest.mark.parametrize(
    ("key", "response", "zeros"),
    [
        # The third token is the second one without the empty node.
        (
            ("1 _ Entity=(e-x-1-3", "1.1 3:a _", "2 _ _", "3 _ Entity=e)"),
            ("1 _ _", "2 _ Entity=(e-x-1)", "3 _ _"),
            "drop",
        ),
        # The second token is put before the first, to where it stands in the response.
        (
            ("1 _ Entity=(e-x-1-2", "1.1 2:a Entity=e)", "2 _ _"),
            ("0.1 2:a Entity=(e-x-1)", "1 _ _", "2 _ _"),
            "align",
        ),
    ],
)
def test_a_minimum_stays_on_its_tokens(tmp_path, match, zeros, key, response):
    """A minimum is stated by numbers in the mention, which change where empty nodes go or move."""
    paths = [tmp_path / "key.conllu", tmp_path / "response.conllu"]
    for path, rows in zip(paths, (key, response), strict=True):
        path.write_text(conllu(*rows))
    result = score(*paths, match=match, zeros=zeros, metrics="mentions")
    assert result["mentions"].f1 == 1
    assert not [n for n in result.notices if n.kind == "minimum-outside"]

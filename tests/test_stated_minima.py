"""Stated minimum spans against the figures of the Universal Anaphora scorer on GUM.

All documents there have split antecedents, so that the matches are counted by a reference for
these, which is held against the figures for exact matches, too.
"""

from __future__ import annotations

import json

import pytest

from corefeval.preparation import prepare
from reference_sets import METRICS, accommodate, count


def entities_of(prepared, at):
    """The entities of both sides of a document; matched mentions are the same."""
    rows = prepared.matches.rows(prepared.key.n_mentions)
    partner = dict(zip(rows[1].tolist(), rows[0].tolist(), strict=True))
    sides = []
    for corpus, is_key in ((prepared.key, True), (prepared.response, False)):
        numbers = {entity.index: n for n, entity in enumerate(corpus[at].entities)}
        split = {}
        for relation in corpus.relations:
            if relation.kind == "split-antecedent" and relation.anaphor[0] in numbers:
                antecedents = [numbers[entity] for entity, _ in relation.antecedents]
                split.setdefault(numbers[relation.anaphor[0]], []).extend(antecedents)
        mentions = [
            frozenset(
                mention.row if is_key else partner.get(mention.row, ("alone", mention.row))
                for mention in entity.mentions
            )
            for entity in corpus[at].entities
        ]
        sides.append(accommodate(mentions, split))
    return sides


@pytest.mark.parametrize("match", ["exact", "partial", "min"])
@pytest.mark.parametrize("name", ["key", "cautious", "eager"])
def test_figures_of_the_anaphora_scorer(shared, name, match):
    folder = shared / "anaphora" / "gum"
    [pair] = [
        p for p in json.loads((folder / "gum.json").read_text())["pairs"] if p["name"] == name
    ]
    prepared = prepare(*(str(folder / file) for file in pair["corefud"]), match=match)
    expected = pair["modes"]["default"]["documents"] if match == "exact" else pair["min"]
    for at, document in enumerate(prepared.document_ids):
        sides = entities_of(prepared, at)
        found = {metric: count(metric, *sides) for metric in METRICS}
        for metric in METRICS:
            assert found[metric] == pytest.approx(expected[document][metric], rel=0, abs=1e-9)
    others = [n.count for n in prepared.notices if n.kind == "other-spans"]
    assert bool(others) == (match != "exact" and name != "key")

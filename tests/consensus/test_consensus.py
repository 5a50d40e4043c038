"""The consensus: exact on vectors and against all partitions, whatever the order of inputs."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from annotations import (
    ANNOTATIONS,
    cases_of,
    cost_of,
    count_links,
    entities_of,
    make_sides,
    partitions_of,
)
from conftest import examples
from corefeval.consensus.decisions import make_table


@pytest.mark.parametrize("case", cases_of("merge"), ids=lambda case: case["name"])
def test_vectors(case):
    heads = {
        (d, start, end): head for d, rows in case["heads"].items() for start, end, head in rows
    }
    merged = corefeval.merge(
        make_sides(case["annotators"], heads),
        quorum=case["quorum"],
        match=case["match"],
        decisions=[tuple(decision) for decision in case["decisions"]],
    )
    for document in merged.as_dict()["documents"]:
        expected = case["expected"][document["id"]]
        slack = 1.01 if case["name"].startswith("medium") else 1
        assert document["bound"] <= document["cost"] <= expected["cost"] * slack
        assert expected["cost"] <= document["cost"]
        if expected["links"] is not None:
            assert count_links(document["entities"]) == expected["links"]
        votes = [[m["mention"], m["votes"]] for m in document["mentions"]]
        assert votes == sorted(expected["votes"])
        rows = [row for row in merged.votes if row["document"] == document["id"]]
        assert [[row["start"], row["end"]] for row in rows] == sorted(expected["kept"])
        assert case["lone"] or all(len(entity) > 1 for entity in document["entities"])


def merge_sides(sides, **options):
    return corefeval.merge({f"a{n}": entities_of(side) for n, side in enumerate(sides)}, **options)


def kept_of(sides, quorum):
    mentions = sorted({mention for side in sides for mention in side})
    return [m for m in mentions if sum(m in side for side in sides) >= quorum]


@settings(max_examples=examples(250))
@given(ANNOTATIONS)
def test_no_partition_is_better(sides):
    merged = merge_sides(sides)
    kept = kept_of(sides, merged.quorum)
    cut = [{m: label for m, label in side.items() if m in kept} for side in sides]
    best = min(cost_of(cut, partition) for partition in partitions_of(kept))
    assert merged.cost == merged.bound == best[0] and merged.exact
    assert count_links(merged.as_dict()["documents"][0]["entities"]) == best[1]


@settings(max_examples=examples(250))
@given(ANNOTATIONS, st.data())
def test_decisions_are_constraints_of_the_minimum(sides, data):
    sides = [side for side in sides if side] or [{(0, 1): 0, (1, 2): 0}]
    merged = merge_sides(sides)
    links = [row for row in merged.contested if row.kind == "link"]
    contested = [row for row in links if data.draw(st.booleans())]
    *mentions, _ = merged.units.mentions
    words = [data.draw(st.sampled_from(("same", "apart"))) for _ in contested]
    decisions = [
        (word, "", mentions[row.unit], mentions[row.partner])
        for word, row in zip(words, contested, strict=True)
    ]
    tuples = {m: tuple(side.get(m) for side in sides) for m in mentions}
    try:
        decided = merge_sides(sides, decisions=decisions)
    except corefeval.InputError as error:
        assert "cannot be apart and the same" in str(error)
        return
    kept = kept_of(sides, merged.quorum)
    cut = [{m: label for m, label in side.items() if m in kept} for side in sides]

    def obeys(partition):
        place = {tuples[m]: n for n, entity in enumerate(partition) for m in entity}
        alike = all(len({tuples[m] for m in kept if place[tuples[m]] == n}) for n in place.values())
        return alike and all(
            (place[tuples[a]] == place[tuples[b]]) == (word == "same")
            for word, _, a, b in decisions
        )

    def holds_groups_together(partition):
        return all(
            len({n for n, entity in enumerate(partition) for m in entity if tuples[m] == kind}) == 1
            for kind in {tuples[m] for m in kept}
        )

    allowed = filter(obeys, filter(holds_groups_together, partitions_of(kept)))
    assert decided.cost == min(cost_of(cut, partition) for partition in allowed)[0]
    pairs = {(row.unit, row.partner) for row in decided.contested}
    assert not pairs & {(row.unit, row.partner) for row in contested}


@settings(max_examples=examples(250))
@given(ANNOTATIONS, st.randoms())
def test_order_and_names_do_not_matter(sides, chance):
    merged = merge_sides(sides)
    shuffled = list(sides)
    chance.shuffle(shuffled)
    again = merge_sides(shuffled)
    first, second = (m.as_dict()["documents"] for m in (merged, again))
    assert first == second
    assert {tuple(sorted(f.items())) for f in merged.as_dict()["agreement"].values()} == {
        tuple(sorted(f.items())) for f in again.as_dict()["agreement"].values()
    }


SPAN = st.integers(0, 8).flatmap(
    lambda start: st.integers(1, 3).flatmap(
        lambda length: st.tuples(
            st.just((start, start + length)), st.integers(start, start + length - 1)
        )
    )
)
STATED = st.dictionaries(SPAN, st.tuples(st.integers(0, 3), st.sampled_from("ab")), max_size=9)


def make_stated(side: dict) -> corefeval.Corpus:
    """A corpus of spans with heads and classes."""
    rows = {span: (entity, head, etype) for (span, head), (entity, etype) in side.items()}
    return corefeval.corpus_from_arrays(
        entity=[entity for entity, _, _ in rows.values()],
        start=[start for start, _ in rows],
        end=[end for _, end in rows],
        head=[head for _, head, _ in rows.values()],
        features={"etype": [etype for _, _, etype in rows.values()]},
    )


@settings(max_examples=examples(150))
@given(
    st.lists(STATED, min_size=2, max_size=4),
    st.randoms(),
    st.sampled_from(("exact", "head", "partial", "overlap(0.4)")),
)
def test_order_does_not_matter_for_matches_and_statements(sides, chance, match):
    corpora = {f"a{number}": make_stated(side) for number, side in enumerate(sides)}
    shuffled = list(corpora)
    chance.shuffle(shuffled)
    merged = [
        corefeval.merge({name: corpora[name] for name in names}, match=match)
        for names in (corpora, shuffled)
    ]
    first, second = (
        [
            (mention.span, mention.head, mention.features, mention.entity.name)
            for mention in consensus.corpus[0].mentions
        ]
        for consensus in merged
    )
    assert first == second
    assert merged[0].rows() == merged[1].rows()
    assert merged[0].results == {name: merged[1].results[name] for name in merged[0].results}


def test_mentions_that_differ_by_their_gaps_alone():
    whole = corefeval.corpus_from_arrays(entity=[0, 0], start=[0, 6], end=[5, 7])
    ann, bob = (whole.with_details(gaps=np.array([[0, gap, gap + 1]])) for gap in (1, 2))
    merged = corefeval.merge({"ann": ann, "bob": bob})
    turned = corefeval.merge({"bob": bob, "ann": ann})
    assert merged.as_dict()["documents"] == turned.as_dict()["documents"]
    assert [row["start"] for row in merged.rows()][:2] == ["0,2", "0,3"]
    assert [(row["start"], row["end"]) for row in merged.votes] == [(0, 5), (6, 7)]
    dropped = corefeval.merge([ann, bob], decisions=[("drop", "", ((0, 1), (2, 5)))])
    assert dropped.as_dict()["documents"][0]["entities"] == [[[[0, 2], [3, 5]], [6, 7]]]


@settings(max_examples=examples(250))
@given(ANNOTATIONS)
def test_what_follows_from_the_objective(sides):
    merged = merge_sides(sides)
    kept = kept_of(sides, merged.quorum)
    cut = [{m: label for m, label in side.items() if m in kept} for side in sides]
    for side in cut:
        lone = [[m] for m in kept if m not in side]
        assert merged.cost <= cost_of(cut, [*entities_of(side), *lone])[0]
    equal = merge_sides([sides[0]] * 3, quorum=3)
    entities = [sorted(entity) for entity in entities_of(sides[0])]
    if any(len(entity) == 1 for entity in entities):
        shown = equal.as_dict()["documents"][0]["entities"]
        assert sorted(shown) == sorted(entities)
    assert equal.cost == 0


def test_large_novel_reaches_the_reference(shared):
    case = read_json(shared / "merge" / "large.json")[0]
    labels = np.array(case["labels"])
    merged = corefeval.merge(label_corpora(labels), metrics="muc")
    assert merged.bound <= merged.cost <= 1.01 * case["cost"]
    turned = corefeval.merge(label_corpora(labels[::-1]), metrics="muc")
    assert turned.as_dict()["documents"] == merged.as_dict()["documents"]


def test_three_people_on_a_play(shared):
    case = read_json(shared / "merge" / "annotators.json")
    merged = corefeval.merge([shared / "merge" / file for file in case["files"]])
    assert merged.cost <= 1.01 * case["cost"]
    assert 0.99 * case["bound"] <= merged.bound <= merged.cost


def read_json(path):
    return json.loads(path.read_text())


def label_corpora(labels) -> list:
    corpora = []
    for row in labels:
        marked = np.flatnonzero(row >= 0)
        corpora.append(corefeval.corpus_from_arrays(entity=row[marked], start=marked))
    return corpora


def draw_novel(size: int, seed: int, annotators: int = 3):
    """Labels of a made novel, a quarter of whose mentions are of one entity."""
    chance = np.random.default_rng(seed)
    weights = 1 / np.arange(1, size // 20 + 1)
    weights[0] = weights[1:].sum() / 3
    truth = chance.choice(weights.size, size, p=weights / weights.sum())
    rows = []
    for _ in range(annotators):
        noise = chance.choice(weights.size, size, p=weights / weights.sum())
        row = np.where(chance.random(size) < 0.1, noise, truth)
        rows.append(np.where(chance.random(size) < 0.1, -1, row))
    return np.array(rows)


@pytest.mark.slow
def test_an_entity_of_5000_mentions_among_20000_works():
    merged = corefeval.merge(label_corpora(draw_novel(20_000, 0)), metrics="muc")
    assert np.bincount(merged.shown[merged.shown >= 0]).max() > 4000
    assert any(notice.kind == "no-bound" for notice in merged.notices)
    assert len(merged.contested) <= 2 * np.unique(merged.group).size + merged.units.votes.size


def test_errors_of_decisions():
    sides = {"ann": [["a", "b", "c"], ["d"]], "bob": [["a", "b"], ["c", "d"]]}
    cases = {
        "in no annotation": [("keep", "", "x")],
        "its document is not in all of them": [("keep", "x", "a")],
        "decision 1: an unknown decision": [("keep", "", "a", "b")],
        "decision 1: an": [()],
        "decision 2: an unknown decision": [("drop", "", "a"), ("glue", "", "a", "b")],
        "decision 2: this contradicts decision 1: a mention cannot": [
            ("drop", "", "a"),
            ("same", "", "a", "c"),
        ],
        "decision 3: this contradicts decision 1: two mentions": [
            ("same", "", "a", "c"),
            ("keep", "", "d"),
            ("apart", "", "b", "c"),
        ],
        "all who marked both link them": [("apart", "", "a", "b")],
    }
    for text, decisions in cases.items():
        with pytest.raises(corefeval.InputError, match=text):
            corefeval.merge(sides, decisions=decisions)
    chain = [("same", "", "a", "c"), ("same", "", "c", "d"), ("apart", "", "a", "d")]
    random.Random(0).shuffle(chain)
    with pytest.raises(corefeval.InputError, match="cannot be apart and the same"):
        corefeval.merge(sides, decisions=chain)
    for wrong in ({"quorum": 3}, {"quorum": 0}, {"across": "all"}, {"singletons": "drop-response"}):
        with pytest.raises(corefeval.UsageError):
            corefeval.merge(sides, **wrong)
    assert corefeval.merge([sides["ann"]]).cost == 0


def list_by_hand(sides, merged):
    """Contested decisions as they are defined, mention by mention."""
    *mentions, _ = merged.units.mentions
    total, kind = len(sides), {m: tuple(side.get(m) for side in sides) for m in mentions}
    rows = []
    for m in mentions:
        votes = sum(m in side for side in sides)
        if votes < total:
            outcome = "keep" if votes >= merged.quorum else "drop"
            rows.append(("mention", m, None, votes, total, 1, outcome, min(votes, total - votes)))
    entities = {}
    for m, number in zip(mentions, merged.entity.tolist(), strict=True):
        if number >= 0:
            entities.setdefault(number, []).append(m)
    kept = [m for entity in entities.values() for m in entity]

    def vote(a, b):
        voters = [side for side in sides if a in side and b in side]
        return sum(side[a] == side[b] for side in voters), len(voters)

    seen = set()
    for a in sorted({min(n for n in kept if kind[n] == kind[m]) for m in kept}):
        group = [m for m in kept if kind[m] == kind[a]]
        links = []
        for entity in sorted(entities.values()):
            remaining = [m for m in entity if m not in group]
            votes = sum(vote(a, b)[0] for b in remaining)
            of = sum(vote(a, b)[1] for b in remaining)
            if 0 < votes < of:
                b = min(b for b in remaining if vote(a, b)[0])
                links.append((a in entity, 2 * votes - of, b, votes, of))
        own = [link for link in links if link[0]]
        rivals = sorted((link for link in links if not link[0]), key=lambda link: -link[1])
        for together, _, b, votes, of in (*own, *rivals[:1]):
            outcome = "same" if together else "apart"
            pair = frozenset((kind[a], kind[b])), outcome
            if pair not in seen:
                stakes = len(group) * min(votes, of - votes)
                rows.append(("link", a, b, votes, of, len(group), outcome, stakes))
            seen.add(pair)
    return sorted(rows, key=lambda row: (-row[-1], row[1], row[2] or ()))


@settings(max_examples=examples(250))
@given(ANNOTATIONS)
def test_contested_decisions_are_those_of_the_definition(sides):
    merged = merge_sides(sides)
    *mentions, _ = merged.units.mentions
    shown = [
        (
            row.kind,
            mentions[row.unit],
            None if row.partner < 0 else mentions[row.partner],
            *row[3:],
        )
        for row in merged.contested
    ]
    assert shown == list_by_hand(sides, merged)


def test_contests_go_by_the_first_mention_that_is_left_of_a_group():
    ann = {"d": [[(0, 1), (3, 4), (2, 3)], [(4, 5), (5, 6)]]}
    bob = {"d": [[(0, 1), (3, 4)], [(2, 3), (5, 6)]]}
    merged = corefeval.merge({"ann": ann, "bob": bob}, decisions=[("drop", "d", (0, 1))])
    links = [row for row in merged.as_dict()["documents"][0]["contested"] if row["kind"] == "link"]
    assert [(row["mention"], row["other"]) for row in links] == [((2, 3), (3, 4)), ((5, 6), (2, 3))]


@pytest.mark.parametrize("label", ["=x", "-", "'=x", " x ", "x\ny", '"x"', (0, 1, 4, 5), True, 2.5])
def test_plain_mentions_are_read_from_the_table_that_they_were_written_to(tmp_path, label):
    sides = {"ann": [["a", "b"]], "bob": [["a", "b", label]]}
    [row] = corefeval.merge(sides).rows()
    table = tmp_path / "decided.tsv"
    table.write_text(make_table([row | {"decision": "drop"}]), encoding="utf-8")
    merged = corefeval.merge(sides, decisions=table)
    assert merged.corpus.n_mentions == 2 and not merged.contested


def test_mentions_that_are_written_alike_cannot_be_decided():
    sides = {"ann": [["a", 1]], "bob": [["a", "1"]]}
    with pytest.raises(corefeval.InputError, match="written alike"):
        corefeval.merge(sides, decisions=[("drop", "", 1)])

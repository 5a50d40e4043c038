"""Bridging and mentions that refer to nothing: against brute force and the anaphora vectors."""

from __future__ import annotations

import json
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval.model import NON_REFERRING, CorpusBuilder
from reference_bridging import LEVELS, Side, bridging, refers_not

NAMES = ("", "poss", "element")
N = 8


@st.composite
def sides(draw):
    """Entities of tokens, some of which refer to nothing, and bridging between any of them."""
    owner = [draw(st.integers(-1, 3)) for _ in range(N)]  # 0 refers to nothing, −1 is no mention
    spans = [span for span in range(N) if owner[span] >= 0]
    entities = [[s for s in spans if owner[s] == e] for e in (1, 2, 3)]
    pairs = st.tuples(st.sampled_from(spans), st.sampled_from(spans), st.sampled_from(NAMES))
    found = draw(st.lists(pairs, max_size=5)) if spans else []
    return Side([e for e in entities if e], [s for s in spans if not owner[s]], found)


def corpus_of(documents):
    builder = CorpusBuilder(name="x")
    for number, side in enumerate(documents):
        document = builder.document(f"d{number}", words=list("abcdefgh"))
        rows = {s: document.mention(f"e{e}", s, s + 1) for e, entity in enumerate(side.entities)
                for s in entity}  # fmt: skip
        rows |= {
            s: document.mention(f"{s}-Pseudo", s, s + 1, layer=NON_REFERRING) for s in side.nothing
        }
        for anaphor, antecedent, name in side.bridging:
            document.relation("bridging", rows[anaphor], [rows[antecedent]], name)
    return builder.build()


def counted(result, metric):
    """True positives, false negatives and false positives of each document."""
    columns = result.per_document_counts(metric)
    rows = zip(*(columns[name].tolist() for name in columns), strict=True)
    found = []
    for hits, wanted, same, given_ in rows:
        assert hits == same
        found.append((hits, wanted - hits, given_ - hits))
    return found


@settings(max_examples=60)
@given(st.lists(st.tuples(sides(), sides()), min_size=1, max_size=3), st.booleans())
def test_agrees_with_brute_force(pairs, drops):
    key, response = (corpus_of([pair[side] for pair in pairs]) for side in (0, 1))
    metrics = [f"bridging(level={x}, typed={y})" for x in LEVELS for y in ("true", "false")]
    singletons = "drop" if drops else "keep"
    result = corefeval.score(
        key, response, metrics=[*metrics, "non-referring"], singletons=singletons
    )
    for index, (mine, theirs) in enumerate(pairs):
        scored = mine
        if drops:  # an antecedent that is dropped is right by itself alone
            scored = Side([e for e in mine.entities if len(e) > 1], mine.nothing, mine.bridging)
        for name, asked in zip(result.metrics, metrics, strict=False):
            level, typed = asked[15:].split(",")[0], "typed=true" in asked
            expected = bridging(scored, theirs, level, typed)
            assert counted(result, name)[index] == expected, asked
        assert counted(result, "non-referring")[index] == refers_not(mine, theirs)


@settings(max_examples=30)
@given(st.lists(sides(), min_size=1, max_size=2))
def test_a_key_against_itself_is_perfect(documents):
    corpus = corpus_of(documents)
    result = corefeval.score(corpus, corpus, metrics="bridging(typed=true), non-referring")
    for name in result.metrics:
        assert all(misses == extra == 0 for _, misses, extra in counted(result, name))


@settings(max_examples=30)
@given(st.tuples(sides(), sides()))
def test_slices_by_relation_add_up(pair):
    key, response = (corpus_of([side]) for side in pair)
    result = corefeval.score(key, response, metrics="bridging", by=["relation"])
    slices = result.slices["relation"]
    for count, whole in slices.whole["bridging"].counts.items():
        assert sum(part["bridging"].counts[count] for part in slices.values()) == whole


@settings(max_examples=30)
@given(st.lists(st.tuples(sides(), sides()), min_size=2, max_size=3))
def test_other_metrics_do_not_change_how_many_have_a_value(pairs):
    """What is beyond coreference has counts of its own, and is no part of a slice's size."""
    key, response = (corpus_of([pair[side] for pair in pairs]) for side in (0, 1))
    features = ["size", "length", "distance(sentences)"]
    of = partial(corefeval.score, key, response, by=features, singletons="drop")
    plain, with_more = of(metrics="muc"), of(metrics="muc, bridging, split, non-referring")
    for feature in features:
        shown, sizes = (one.slices[feature].sizes for one in (plain, with_more))
        assert {v: n for v, n in sizes.items() if n} == {v: n for v, n in shown.items() if n}
        for value, part in with_more.slices[feature].items():  # others have something to count
            assert value in shown or any(table.counted().any() for table in part.tables.values())


def test_of_several_antecedents_all_must_be_right():
    key = Side([[0], [1], [2], [3]], [], [(3, 0, ""), (3, 1, "")])
    for guess, hits in (([0], 1), ([1], 1), ([0, 1], 1), ([2], 0), ([0, 2], 0)):
        response = Side(key.entities, [], [(3, one, "") for one in guess])
        result = corefeval.score(corpus_of([key]), corpus_of([response]), metrics="bridging")
        assert counted(result, "bridging") == [(hits, 1 - hits, 1 - hits)]


@pytest.mark.parametrize("named", [True, False])
def test_an_antecedent_that_repeats_another_span_is_that_span(named):
    """Whether its mention is named or its entity, which has no mention left."""
    builder = CorpusBuilder(name="x")
    document = builder.document("d", words=list("abc"))
    document.mention("house", 0, 1)
    twin = document.mention("home", 0, 1)
    document.relation("bridging", document.mention("door", 1, 2), [twin if named else "home"])
    result = corefeval.score(*[builder.build()] * 2, metrics="bridging")
    assert counted(result, "bridging") == [(1, 0, 0)]


@st.composite
def spans_with_bridging(draw):
    """Overlapping spans with heads, some of which refer to nothing, one antecedent per anaphor."""
    places = st.tuples(st.integers(0, N - 1), st.integers(1, 3))
    spans = sorted(draw(st.sets(places, min_size=1, max_size=6)))
    builder = CorpusBuilder(name="x")
    document = builder.document("d", words=["w"] * (N + 3))
    mentions = []
    for number, (start, length) in enumerate(spans):
        owner = draw(st.integers(0, 3))
        head = start + draw(st.integers(0, length - 1))
        place = {"start": start, "end": start + length, "head": head}
        if owner:
            mentions.append(document.mention(f"e{owner}", **place))
        else:
            mentions.append(document.mention(f"{number}-Pseudo", layer=NON_REFERRING, **place))
    rows = st.integers(0, len(mentions) - 1)
    for anaphor, antecedent in draw(st.dictionaries(rows, rows, max_size=4)).items():
        document.relation("bridging", mentions[anaphor], [mentions[antecedent]])
    return builder.build()


@settings(max_examples=40)
@given(
    st.tuples(spans_with_bridging(), spans_with_bridging()),
    st.sampled_from(["exact", "head", "overlap(0.5)"]),
    st.sampled_from(["keep", "drop"]),
)
def test_exchanging_the_sides_exchanges_recall_and_precision(pair, match, singletons):
    """At the level of entities those of the key decide, so that it may be another number."""
    metrics = "bridging(level=anaphor), bridging(level=mention), non-referring"
    there, back = (
        corefeval.score(*both, metrics=metrics, match=match, singletons=singletons)
        for both in (pair, pair[::-1])
    )
    for name in there.metrics:
        swapped = [(hits, extra, missed) for hits, missed, extra in counted(back, name)]
        assert counted(there, name) == swapped


@pytest.mark.parametrize("level", ["mention", "entity"])
def test_several_antecedents_are_a_choice_in_the_key_and_a_guess_in_the_response(level):
    """Which is why sides cannot be exchanged where an anaphor has several."""
    entities = [[0], [1], [2]]
    one, two = (
        corpus_of([Side(entities, [], [(2, place, "") for place in antecedents])])
        for antecedents in ([0], [0, 1])
    )
    name = f"bridging(level={level})"
    found = [corefeval.score(*both, metrics=name)[name].f1 for both in ((two, one), (one, two))]
    assert found == [1, 0]


@pytest.mark.parametrize("antecedent", [0, 3])
def test_bridging_to_oneself_is_scored_and_noticed(antecedent):
    corpus = corpus_of([Side([[0, 3], [1]], [], [(3, antecedent, "poss"), (1, 0, "poss")])])
    result = corefeval.score(corpus, corpus, metrics="bridging")
    assert result["bridging"].f1 == 1
    [notice] = [one for one in result.notices if one.kind == "self-bridging"]
    assert "1 pair of bridging within one entity" in str(notice)
    assert not corefeval.score(corpus, corpus, metrics="muc").notices


def test_bridging_is_matched_as_mentions_are():
    """The anaphor and its antecedent are longer in the key, whose heads the response has."""
    corpora = []
    for longer in (1, 0):
        builder = CorpusBuilder(name="x")
        document = builder.document("d", words=list("abcdef"))
        rows = [document.mention(name, start - longer, start + 1, head=start)
                for name, start in (("house", 2), ("door", 5))]  # fmt: skip
        document.relation("bridging", rows[1], [rows[0]])
        corpora.append(builder.build())
    assert corefeval.score(*corpora, metrics="bridging")["bridging"].f1 == 0
    assert corefeval.score(*corpora, metrics="bridging", match="head")["bridging"].f1 == 1


def test_an_expletive_that_is_called_a_singleton_pays_in_coreference():
    key = corpus_of([Side([[0, 1]], [2])])
    for response, f1, b3 in (
        (Side([[0, 1]], [2]), 1.0, 1.0),
        (Side([[0, 1], [2]]), 0.0, 2 / 3),
        (Side([[0, 1]]), 0.0, 1.0),
    ):
        result = corefeval.score(key, corpus_of([response]), metrics="non-referring, b3")
        assert result["non-referring"].f1 == f1
        assert result["b3"].precision == pytest.approx(b3)


def test_an_expletive_on_the_tokens_of_a_mention_is_no_repetition():
    corpus = corpus_of([Side([[0, 1]], [0])])
    result = corefeval.score(corpus, corpus, metrics="non-referring, b3")
    assert counted(result, "non-referring") == [(1, 0, 0)]
    assert result["b3"].counts["recall_denominator"] == 2
    assert "repeated-mentions" not in {notice.kind for notice in result.notices}


@pytest.mark.parametrize("form", ["ua", "corefud"])
@pytest.mark.parametrize("name", ["key", "cautious", "eager"])
def test_figures_of_the_anaphora_scorer(shared, name, form):
    folder = shared / "anaphora" / "gum"
    pairs = json.loads((folder / "gum.json").read_text())["pairs"]
    [pair] = [one for one in pairs if one["name"] == name]
    metrics = {f"bridging(level={level})": level for level in LEVELS}
    result = corefeval.score(
        *(str(folder / file) for file in pair[form]),
        metrics=[*metrics, "non-referring"],
        split="score",
    )
    for metric, level in zip(result.metrics, LEVELS, strict=False):
        expected = [tuple(pair["bridging"][one][level]) for one in result.document_ids]
        assert counted(result, metric) == expected
    if form == "ua":  # CorefUD has no notation for the others
        expected = [tuple(pair["non_referring"][one]) for one in result.document_ids]
        assert counted(result, "non-referring") == expected

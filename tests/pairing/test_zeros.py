"""Empty nodes: mentions are sets of places, compared with brute force over such sets."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval.model import CorpusBuilder
from corefeval.pairing.zeros import settle_zeros
from corefeval.preparation import prepare

# A place is (sentence, word, number of the empty node after it; 0 for the word itself).


@st.composite
def texts(draw):
    """The words of each sentence of each document; a sentence may have none."""
    sentences = st.lists(st.integers(0, 4), min_size=1, max_size=4).filter(any)
    return draw(st.lists(sentences, min_size=1, max_size=3))


@st.composite
def sides(draw, documents):
    """For each document: the empty nodes, and mentions as (set of places, head, entity)."""
    result = []
    for sentences in documents:
        places = []
        for sentence, n_words in enumerate(sentences):
            for word in range(n_words + 1):
                places += [(sentence, word, 0)] if word else []
                if n_words:  # blocks of nothing but empty nodes have a test of their own
                    numbers = draw(st.sets(st.sampled_from([1, 2, 10]), max_size=2))
                    places += [(sentence, word, number) for number in sorted(numbers)]
        mentions = {}
        for _ in range(draw(st.integers(0, 5))):
            first = draw(st.integers(0, len(places) - 1))
            last = draw(st.integers(first, min(first + 4, len(places) - 1)))
            inside = places[first + 1 : last]
            held = draw(st.sets(st.sampled_from(inside))) if inside else set()
            members = frozenset({places[first], places[last], *held})
            head = draw(st.none() | st.sampled_from(sorted(members)))
            mentions[members] = (head, draw(st.sampled_from("abc")))
        result.append((places, mentions))
    return result


def built(documents, side, *, numbers=True):
    builder = CorpusBuilder(name="zeros")
    for index, (places, mentions) in enumerate(side):
        columns = {"empty": ["1" if number else "" for *_, number in places]}
        if numbers:
            columns["number"] = [f"{w}.{n}" if n else str(w) for _, w, n in places]
        sentences = [place[0] for place in places]
        starts = [0, *(i + 1 for i, (a, b) in enumerate(pairwise(sentences)) if a != b)]
        document = builder.document(
            f"d{index}",
            words=[f"{s}-{w}" if not n else f"node of {id(side)}" for s, w, n in places],
            sentence_starts=starts,
            columns=columns,
        )
        for number, (members, (head, entity)) in enumerate(mentions.items()):
            document.mention_at(
                entity,
                [places.index(member) for member in members],
                head=None if head is None else places.index(head),
                features={"number": f"{index}:{number}"},
            )
    return builder.build()


def mention_sets(side):
    return {
        f"{index}:{number}": (index, members, head)
        for index, (_, mentions) in enumerate(side)
        for number, (members, (head, _)) in enumerate(mentions.items())
    }


def matched_ids(prepared):
    rows = prepared.matches.rows(prepared.key.n_mentions)
    sides = (prepared.key, prepared.response)
    columns = [s.features.get("number", np.empty(0)) for s in sides]
    return set(zip(*(c[r].tolist() for c, r in zip(columns, rows, strict=True)), strict=True))


@settings(max_examples=80)
@given(st.data())
def test_mentions_match_as_sets_of_places(data):
    documents = data.draw(texts())
    key, response = data.draw(sides(documents)), data.draw(sides(documents))
    prepared = prepare(built(documents, key), built(documents, response))
    mine, theirs = mention_sets(key), mention_sets(response)
    expected = {
        (one, other)
        for one, (document, members, _) in mine.items()
        for other, (their_document, their_members, _) in theirs.items()
        if (document, members) == (their_document, their_members)
    }
    assert matched_ids(prepared) == expected
    assert prepared.key.n_mentions == len(mine)
    for corpus, side in ((prepared.key, key), (prepared.response, response)):
        assert_placed(corpus, side, (key, response))


def assert_placed(corpus, side, both):
    """Positions are those of the union of both sides' places; texts, heads and sentences too."""
    known = mention_sets(side)
    for index, document in enumerate(corpus):
        axis = sorted({place for one in both for place in one[index][0]})
        own = set(side[index][0])
        words = [
            (f"{s}-{w}" if not n else f"node of {id(side)}") if (s, w, n) in own else ""
            for s, w, n in axis
        ]
        assert document.words == words
        assert document.column("empty") == ["1" if number else "" for *_, number in axis]
        sentences = [place[0] for place in axis]
        starts = [0, *(i + 1 for i, (a, b) in enumerate(pairwise(sentences)) if a != b)]
        assert corpus.tokens.sentence_starts(index) == starts
        for mention in document.mentions:
            _, members, head = known[mention.features["number"]]
            assert {axis[position] for position in mention.positions} == members
            assert head == (None if mention.head is None else axis[mention.head])
    rows = corpus.gaps[:, 0]
    assert (np.diff(rows) >= 0).all()
    same = rows[1:] == rows[:-1]
    assert (corpus.gaps[1:, 1][same] > corpus.gaps[:-1, 2][same]).all()  # sorted, merged, disjoint
    chosen = corpus.select_documents(np.arange(len(corpus))[::-1])
    for index, document in enumerate(chosen):
        assert document.words == corpus[len(corpus) - 1 - index].words
        assert chosen.tokens.sentence_starts(index) == corpus.tokens.sentence_starts(
            len(corpus) - 1 - index
        )


@settings(max_examples=80)
@given(st.data())
def test_dropped_nodes_leave_spans_and_take_their_mentions_with_them(data):
    documents = data.draw(texts())
    key, response = data.draw(sides(documents)), data.draw(sides(documents))
    prepared = prepare(
        built(documents, key), built(documents, response), zeros="drop", duplicates="first"
    )
    for corpus, side in ((prepared.key, key), (prepared.response, response)):
        left = {}
        for number, (index, members, head) in mention_sets(side).items():
            words = frozenset(place for place in members if not place[2])
            if words and not (head and head[2]):
                left[number] = (index, words, head)
        seen = set()
        for index, document in enumerate(corpus):
            axis = [place for place in side[index][0] if not place[2]]
            assert document.words == [f"{s}-{w}" for s, w, _ in axis]
            starts = [mention.start for mention in document.mentions]
            assert starts == sorted(starts)
            for mention in document.mentions:
                _, words, head = left[mention.features["number"]]
                assert {axis[position] for position in mention.positions} == words
                assert head == (None if mention.head is None else axis[mention.head])
                seen.add((index, words))
        assert seen == {(index, words) for index, words, _ in left.values()}
        dropped = len(mention_sets(side)) - len(left)
        n_nodes = sum(bool(number) for places, _ in side for *_, number in places)
        told = [n for n in prepared.notices if n.kind in ("empty-nodes", "zero-mentions")]
        assert (n_nodes, "empty-nodes") in [(n.count, n.kind) for n in told] or not n_nodes
        assert (dropped, "zero-mentions") in [(n.count, n.kind) for n in told] or not dropped


@settings(max_examples=80)
@given(st.data())
def test_annotators_come_on_one_axis(data):
    documents = data.draw(texts())
    several = [data.draw(sides(documents)) for _ in range(3)]
    corpora, _ = settle_zeros([built(documents, side) for side in several], "place")
    for corpus, side in zip(corpora, several, strict=True):
        assert_placed(corpus, side, several)


@settings(max_examples=80)
@given(st.data())
def test_without_numbers_nodes_count_in_their_order(data):
    documents = data.draw(texts())
    side = data.draw(sides(documents))
    numbered, plain = built(documents, side), built(documents, side, numbers=False)
    assert corefeval.score(numbered, plain)["mentions"].counts["recall_numerator"] == sum(
        len(mentions) for _, mentions in side
    )

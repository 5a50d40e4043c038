"""Classes and places of mentions: named entities in every notation, and loops that agree."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corefeval.features import (
    Features,
)
from corefeval.features.brackets import find_named_spans, number_regions
from corefeval.features.kinds import find_classes
from corefeval.features.token_columns import TokenSpans
from corefeval.model import corpus_from_arrays, corpus_from_entities
from corefeval.model.categories import Categories
from feature_corpora import corpus_from_words, values


@pytest.mark.parametrize(
    "cells",
    [
        ["(PER*", "*)", "*", "(ORG)", "*"],
        ["(PER", "PER)", "-", "(ORG)", "-"],
        ["B-PER", "I-PER", "O", "B-ORG", "O"],
        ["B-PER", "E-PER", "O", "S-ORG", "O"],
        ["I-PER", "I-PER", "O", "I-ORG", "O"],
        ["PER", "PER", "-", "ORG", "-"],
    ],
)
def test_named_entities_are_written_in_many_ways(cells):
    mentions = [(0, 3), (0, 2), (3, 4), (4, 5)]
    tags = ["NNP", "NNP", "VBD", "NNP", "."]
    corpus = corpus_from_words(list("abcde"), mentions, tag=tags, named_entity=cells)
    assert values(corpus, "class") == ["PER", "PER", "ORG", None]


def test_named_entities_that_touch_are_two():
    cells = ["B-PER", "B-PER", "I-PER"]
    mentions, tags = [(0, 2), (0, 1), (1, 3)], ["NNP"] * 3
    corpus = corpus_from_words(list("abc"), mentions, named_entity=cells, tag=tags)
    assert values(corpus, "class") == [None, "PER", "PER"]


SPANS = st.lists(st.tuples(st.integers(0, 11), st.integers(1, 5)), max_size=6)


@st.composite
def nested_cells(draw):
    """Brackets that nest, as cells; and the spans that they mean."""
    size = 12
    spans: list[tuple[int, int, str]] = []
    for start, length in draw(SPANS):
        end = min(start + length, size)
        if all(e <= start or end <= s or (s <= start and end <= e) or (start <= s and e <= end)
               for s, e, _ in spans):  # fmt: skip
            spans.append((start, end, draw(st.sampled_from("XYZ"))))
    spans.sort(key=lambda span: (span[0], -span[1]))
    cells = ["*"] * size
    for start, _, label in reversed(spans):
        cells[start] = f"({label}{cells[start]}"
    for _, end, _ in spans:
        cells[end - 1] += ")"
    return cells, spans


@given(nested_cells(), st.lists(st.tuples(st.integers(0, 11), st.integers(1, 6)), min_size=1),
       st.data())  # fmt: skip
def test_classes_are_those_of_a_loop(brackets, mentions, data):
    cells, spans = brackets
    start = np.array([start for start, _ in mentions])
    end = np.minimum(start + [length for _, length in mentions], 12)
    heads = np.array([data.draw(st.integers(-1, 0)) or data.draw(st.integers(int(s), int(e) - 1))
                      for s, e in zip(start, end, strict=True)])  # fmt: skip
    where = TokenSpans(np.array([0, 12]), start * 0, start, end, np.empty((0, 3), dtype=np.int64))
    tokens = np.arange(12)
    named = find_named_spans(Categories.of(cells), tokens, number_regions(tokens))
    expected = []
    for s, e, head in zip(start.tolist(), end.tolist(), heads.tolist(), strict=True):
        equal = [label for a, b, label in spans if (a, b) == (s, e)]
        within = [
            (b - a, -n, label) for n, (a, b, label) in enumerate(spans)
            if s <= a <= head < b <= e
        ]  # fmt: skip
        expected.append(equal[0] if equal else max(within)[2] if within else None)
    assert find_classes(where, heads, named).values() == expected


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 9), st.integers(1, 4)),
        min_size=1,
        max_size=20,
    )
)
def test_places_of_mentions_are_those_of_a_loop(rows):
    corpus = corpus_from_arrays(
        document=[document for document, _, _, _ in rows],
        entity=[entity for _, entity, _, _ in rows],
        start=[start for _, _, start, _ in rows],
        end=[start + length for _, _, start, length in rows],
    )
    features = Features(corpus)
    positions, distances, nested = [], [], []
    for document in corpus:
        mentions = document.mentions
        for place, mention in enumerate(mentions):
            before = [
                n for n, other in enumerate(mentions[:place])
                if other.entity.index == mention.entity.index
            ]  # fmt: skip
            positions.append(len(before) + 1)
            distances.append(place - before[-1] if before else None)
            nested.append(
                any(
                    other.start <= mention.start
                    and mention.end <= other.end
                    and other.span != mention.span
                    for other in mentions
                )
            )
    top = "11+"
    assert features("chain_position").values() == [str(p) if p < 11 else top for p in positions]
    expected = [None if d is None else str(d) if d < 11 else top for d in distances]
    assert features("distance").values() == expected
    assert features("nested").values() == ["yes" if inside else "no" for inside in nested]
    sizes = Counter(corpus.mention_entity.tolist())
    assert features("size(1, 2, 3+)").values() == [
        f"{sizes[e]}" if sizes[e] < 3 else "3+" for e in corpus.mention_entity.tolist()
    ]


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["X", "Y", "Z", None]), st.booleans()),
                min_size=1, max_size=16))  # fmt: skip
def test_classes_of_entities_are_those_of_a_loop(rows):
    entities = [[(n, e) for n, (e, _, _) in enumerate(rows) if e == entity] for entity in range(4)]
    classes = {(n, e): label for n, (e, label, _) in enumerate(rows)}
    nouns = {(n, e): noun for n, (e, _, noun) in enumerate(rows)}
    corpus = corpus_from_entities([entity for entity in entities if entity])
    features = Features(corpus, given={"class": classes, "noun": nouns})
    by_anchor, by_vote = [], []
    for entity in filter(None, entities):
        known = [classes[mention] for mention in entity if classes[mention]]
        anchor = next((classes[mention] for mention in entity if nouns[mention]), None)
        chosen = anchor or (known[0] if len(set(known)) == 1 else None)
        votes = Counter(known).most_common()  # the first seen among equals
        by_anchor += [chosen] * len(entity)
        by_vote += [votes[0][0] if votes else None] * len(entity)
    assert features("entity_class").values() == by_anchor
    assert features("entity_class(vote)").values() == by_vote


def test_tokens_within_reach():
    """Gaps before, over and behind the reach; those of a mention that is not asked for."""
    start, end = np.array([0, 0, 0, 5]), np.array([10, 10, 4, 12])
    gaps = np.array([[0, 2, 4], [0, 7, 8], [1, 4, 8], [3, 6, 7]])
    where = TokenSpans(np.array([0, 12]), start * 0, start, end, gaps)
    rows = np.array([0, 1, 2])
    tokens, place, begin = where.tokens(rows, reach=5)
    assert tokens.tolist() == [0, 1, 4, 0, 1, 2, 3, 0, 1, 2, 3]
    assert place.tolist() == [0] * 3 + [1] * 4 + [2] * 4
    assert begin.tolist() == [0, 3, 7]
    assert where.tokens(rows)[0].tolist() == [0, 1, 4, 5, 6, 8, 9, 0, 1, 2, 3, 8, 9, 0, 1, 2, 3]

"""Corpora from arrays and from plain Python, and the views of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corefeval
from corefeval import InputError, corpus_from_arrays, corpus_from_entities
from corefeval.model.arrays import dense_ranks, ragged_arange
from corefeval.model.categories import Categories
from corefeval.model.identity import mention_codes


def test_arrays_in_any_order():
    corpus = corpus_from_arrays(
        document=[1, 0, 1, 0],
        entity=[7, 7, 7, 3],
        start=[4, 9, 0, 2],
        end=[6, 10, 1, 5],
        document_ids=["a", "b"],
    )
    assert [[(m.start, m.end) for m in d.mentions] for d in corpus] == [
        [(2, 5), (9, 10)],
        [(0, 1), (4, 6)],
    ]
    assert corpus.n_entities == 3
    assert [len(entity.mentions) for entity in corpus["b"].entities] == [2]


def test_heads_and_features_travel_with_their_mentions():
    corpus = corpus_from_arrays(
        entity=[0, 0],
        start=[5, 1],
        end=[7, 2],
        head=[6, -1],
        features={"kind": ["name", "pronoun"]},
    )
    first, second = corpus[0].mentions
    assert (first.head, first.features) == (None, {"kind": "pronoun"})
    assert (second.head, second.features) == (6, {"kind": "name"})


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"entity": [0], "start": [3], "end": [3]}, "spans no tokens"),
        ({"entity": [0], "start": [-1]}, "spans no tokens"),
        ({"entity": [0, 1], "start": [1]}, "differs in length"),
        ({"entity": [0.5], "start": [1]}, "whole numbers"),
        ({"entity": [[0]], "start": [1]}, "one value per mention"),
        ({"entity": [[0], 1], "start": [1]}, "one value per mention"),
        ({"entity": [0], "start": [1], "features": {"kind": ["a", "b"]}}, "‘kind’ is not a list"),
        ({"entity": [0], "start": [1], "document": [10**9]}, "give document_ids"),
        ({"entity": [0], "start": [1], "document_ids": 5}, "document_ids is no list"),
        ({"entity": [0], "start": [1], "document": [2], "document_ids": ["a"]}, "does not exist"),
        ({"entity": [0], "start": [1], "document": [-1]}, "document -1"),
        ({"entity": [0], "start": [1], "document_ids": ["a", "a"]}, "twice"),
    ],
)
def test_arrays_that_make_no_corpus(arguments, problem):
    with pytest.raises(InputError, match=problem):
        corpus_from_arrays(**arguments)


def test_plain_python():
    one = corpus_from_entities([["a", "b"], [("c", 1)]])
    assert (len(one), one.n_entities, one.n_mentions) == (1, 2, 3)
    two = corpus_from_entities({"x": [[1, 2]], "y": []})
    assert [str(d) for d in two.documents] == ["x", "y"]
    assert [m.label for m in two["x"].mentions] == [1, 2]
    with pytest.raises(InputError, match="labels, not token positions"):
        two["x"].mentions[0].start


def test_json_lists_and_numpy_values_are_mentions_too():
    key = [[[0, 1], [5, 5]], [[2, 2]]]
    response = [[(0, 1), (5, 5)], [tuple(np.array([2, 2]))]]
    result = corefeval.score(key, response, metrics="lea")
    assert result["lea"].f1 == 1.0
    generated = ((mention for mention in entity) for entity in key)
    assert corefeval.score(generated, key, metrics="lea")["lea"].f1 == 1.0


@pytest.mark.parametrize("value", [["ab"], [5], 7, None, [[{}]], {"d": 3}, [{"a": 1}], [[{1}]]])
def test_what_is_no_list_of_entities(value):
    with pytest.raises(InputError):
        corefeval.score(value, [["a"]])


def test_positions_and_labels_do_not_mix():
    spans = corpus_from_arrays(entity=[0], start=[0])
    with pytest.raises(InputError, match="positions, the other has plain Python"):
        corefeval.score(spans, [["a"]])


def test_gaps_make_other_mentions():
    """The same span with and without a gap is not the same mention."""
    whole = corpus_from_arrays(entity=[0, 0], start=[0, 8], end=[5, 9])
    gapped = corefeval.Corpus(
        documents=whole.documents,
        entity_document=whole.entity_document,
        mention_entity=whole.mention_entity,
        mention_start=whole.mention_start,
        mention_end=whole.mention_end,
        gaps=np.array([[0, 2, 3]]),
    )
    assert gapped[0].mentions[0].positions == (0, 1, 3, 4)
    assert corefeval.score(gapped, gapped)["mentions"].recall == 1.0
    assert corefeval.score(gapped, whole)["mentions"].recall == 0.5


def test_codes_when_numbers_are_too_large_for_one():
    """Positions whose combination overflows 62 bits are ranked instead."""
    far = 1 << 40
    key = corpus_from_arrays(entity=[0, 0, 1], start=[0, far, far], end=[far, far + 1, far + 2])
    response = corpus_from_arrays(entity=[0, 0], start=[0, far], end=[far, far + 2])
    left, right = mention_codes(key, response)
    assert np.intersect1d(left, right).size == 2
    assert corefeval.score(key, response)["mentions"].counts["recall_numerator"] == 2


@given(st.lists(st.integers(-50, 50) | st.integers(-(2**40), 2**40), max_size=40))
def test_dense_ranks(values):
    ranks, distinct = dense_ranks(np.array(values, dtype=np.int64))
    assert distinct.tolist() == sorted(set(values))
    assert [distinct[rank] for rank in ranks] == values


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), max_size=8))
def test_ragged_arange(pairs):
    starts, lengths = (np.array([p[i] for p in pairs], dtype=np.int64) for i in (0, 1))
    expected = [value for start, length in pairs for value in range(start, start + length)]
    assert ragged_arange(starts, lengths).tolist() == expected


VALUES = st.lists(st.tuples(*[st.sampled_from([None, "a", "b", "c"])] * 2, st.booleans()))


@given(VALUES)
def test_values_of_two_sides_under_common_names(rows):
    one, other, which = (list(column) for column in zip(*rows, strict=True)) if rows else [[]] * 3
    first, second = Categories.of(one), Categories.of(other)
    both = Categories.concatenate(first, second)
    assert both.values() == one + other
    assert both.names == tuple(dict.fromkeys(value for value in one + other if value is not None))
    mixed = first.replace_where(np.array(which, dtype=np.bool_), second)
    assert mixed.values() == [b if chosen else a for a, b, chosen in rows]
    assert mixed.sort_names().values() == mixed.values()

"""Plain (start, end) pairs are token spans where the other side has token positions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corefeval
from corefeval import InputError, UsageError

WORDS = ["Ada", "met", "Bob", ".", "She", "greeted", "the", "old", "captain", "."]
CELLS = ["(1)", "-", "(2)", "-", "(1)", "-", "(2", "-", "2)", "-"]
EXCLUSIVE = [[(0, 1), (4, 5)], [(2, 3), (6, 9)]]
INCLUSIVE = [[(start, end - 1) for start, end in spans] for spans in EXCLUSIVE]


def conll_text(name: str = "a") -> str:
    pairs = enumerate(zip(WORDS, CELLS, strict=True))
    rows = [f"{name} 0 {i} {word} NN {cell}" for i, (word, cell) in pairs]
    return "\n".join((f"#begin document ({name}); part 000", *rows, "#end document", ""))


@pytest.fixture
def key(conll):
    return conll(conll_text())


def assert_perfect(result: corefeval.Result, kinds: tuple[str, ...] = ()) -> None:
    assert result["conll"].f1 == 1.0
    assert result["mentions"].counts["recall_denominator"] == 4
    assert tuple(notice.kind for notice in result.notices) == kinds


@pytest.mark.parametrize(
    ("clusters", "reading"), [(EXCLUSIVE, "exclusive"), (INCLUSIVE, "inclusive")]
)
def test_plain_spans_against_positions(key, clusters, reading):
    guessed = corefeval.score(key, clusters)
    assert_perfect(guessed, ("spans",))
    assert f"{reading} ends" in guessed.notices[0].message
    assert f"spans:{reading}" in guessed.signature
    assert_perfect(corefeval.score(key, clusters, spans=reading))
    assert_perfect(corefeval.score(clusters, key, spans=reading))
    assert_perfect(corefeval.score({"a": clusters}, key, spans=reading))


def test_lists_and_numpy_count_as_spans(key):
    for make in (list, np.array, lambda span: tuple(map(np.int64, span))):
        clusters = [[make(span) for span in spans] for spans in INCLUSIVE]
        assert_perfect(corefeval.score(key, clusters), ("spans",))


def test_spans_against_a_live_object():
    record = {"tokens": WORDS, "clusters_token_offsets": INCLUSIVE}
    assert_perfect(corefeval.score({"x": record}, {"x": EXCLUSIVE}, spans="exclusive"))


def test_spans_against_a_corpus_without_tokens():
    key = corefeval.corpus_from_arrays(entity=[0, 0, 1, 1], start=[0, 4, 2, 6], end=[1, 5, 3, 9])
    assert_perfect(corefeval.score(key, EXCLUSIVE, spans="exclusive"))


def test_every_order_of_mentions_is_the_same(key):
    clusters = [list(reversed(spans)) for spans in reversed(EXCLUSIVE)]
    assert_perfect(corefeval.score(key, clusters, spans="exclusive"))


@given(st.lists(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4)), max_size=4), max_size=4))
def test_both_readings_say_the_same_as_arrays(clusters):
    exclusive = [[(start, start + length) for start, length in c] for c in clusters]
    inclusive = [[(start, end - 1) for start, end in c] for c in exclusive]
    rows = [(number, *span) for number, c in enumerate(exclusive) for span in c]
    entity, start, end = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    key = corefeval.corpus_from_arrays(entity=[0, 0, 1], start=[0, 4, 2], end=[1, 5, 4])
    response = corefeval.corpus_from_arrays(entity=entity, start=start, end=end)
    expected = corefeval.score(key, response)
    for spans, plain in (("exclusive", exclusive), ("inclusive", inclusive)):
        result = corefeval.score(key, plain, spans=spans)
        assert [result[name].f1 for name in expected.metrics] == [
            expected[name].f1 for name in expected.metrics
        ]


def test_documents_pair_by_id(conll):
    key = conll(conll_text("a") + conll_text("b"))
    documents = {"b": EXCLUSIVE, "c": [[(0, 99)]]}
    result = corefeval.score(key, documents, spans="exclusive")
    assert result["mentions"].recall == 0.5
    assert result["mentions"].precision == 1.0


@pytest.mark.parametrize(
    ("span", "spans", "hint"),
    [
        ((8, 11), "exclusive", "spans='inclusive'"),
        ((9, 10), "inclusive", "spans='exclusive'"),
        ((3, 3), "exclusive", "spans='inclusive'"),
        ((-1, 2), "exclusive", "exclusive"),
        ((5, 4), "inclusive", "inclusive"),
        ((0, 2**63 - 1), "inclusive", "exclusive"),
    ],
)
def test_spans_out_of_range(key, span, spans, hint):
    with pytest.raises(InputError, match="a span outside document ‘a; part 000’") as caught:
        corefeval.score(key, [[span]], spans=spans)
    assert hint in caught.value.fix


def test_numbers_beyond_any_text(key):
    with pytest.raises(InputError, match="too large for any text"):
        corefeval.score(key, [[(0, 2**70)]])


@pytest.mark.parametrize("mention", ["Ada", (0, 1, 2), (True, False), (0, "1"), 7])
def test_other_mentions_have_no_positions(key, mention):
    with pytest.raises(InputError, match="plain Python mentions") as caught:
        corefeval.score(key, [[(0, 1), mention]])
    assert "corpus_from_arrays" in caught.value.fix
    assert "(start, end)" in caught.value.fix


def test_nothing_found_is_a_response(key):
    result = corefeval.score(key, [])
    assert result["mentions"].recall == 0.0
    assert [notice.kind for notice in result.notices] == ["no-mentions"]


def test_plain_spans_on_both_sides_are_compared_as_they_are():
    assert_perfect(corefeval.score(INCLUSIVE, INCLUSIVE))


def test_readings_that_do_not_exist():
    with pytest.raises(UsageError, match="spans is one of auto, inclusive, exclusive"):
        corefeval.score([], [], spans="open")

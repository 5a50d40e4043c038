"""Two texts aligned by their characters: cases by hand, promises for any text, and the time."""

from __future__ import annotations

import json
from functools import cache
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corefeval.texts import align_tokens, fold_token

LEAST_SHARE = 0.5  # below which a document is another text

words = st.sampled_from(["sea", "seas", "the", "stone", "stones", "zu", "dem", "zum", ",", "."])
texts = st.lists(words, max_size=60)


def align(first, second):
    """Align tokens as they are written."""
    folded = (list(map(fold_token, tokens)) for tokens in (first, second))
    flags = ([token.startswith("##") for token in tokens] for tokens in (first, second))
    return align_tokens(*folded, *flags)


def pairs(first, second):
    """The aligned tokens of two texts, which are given with blanks between them."""
    first, second = first.split(), second.split()
    return [(first[row], second[column]) for row, column in align(first, second).pieces]


def words_of(document):
    return [word for sentence in document["sentences"] for word in sentence]


@cache
def cases(path):
    return json.loads(path.read_text(encoding="utf-8"))


# ------------------------------------------------------------------ cases by hand


def test_cases_by_hand(shared):
    told = 0
    for case in cases(shared / "tokens" / "cases.json"):
        alignment = align(words_of(case["key"]), words_of(case["response"]))
        assert (alignment.share >= LEAST_SHARE) == (case["expected"] is not None), case["name"]
        if "pieces" in case:
            assert alignment.pieces.tolist() == case["pieces"], case["name"]
            told += 1
    assert told > 50


def test_annotators_of_a_play_find_each_other(shared):
    folder = shared / "tokens" / "annotators"
    for pair in json.loads((folder / "expected.json").read_text()):
        sides = [json.loads((folder / pair[side]).read_text()) for side in ("key", "response")]
        alignment = align(*map(words_of, sides))
        unaligned = [
            len(words_of(side)) - len(set(alignment.pieces[:, column].tolist()))
            for column, side in enumerate(sides)
        ]
        assert alignment.share > 0.99
        assert unaligned == pair["unaligned_tokens"]


def test_other_tokens_of_a_text_cost_nothing(shared):
    data = cases(shared / "tokens" / "tokenisers.json")
    same_text = [case for case in data["cases"] if case["edits"] == "none"]
    assert same_text
    for case in same_text:
        alignment = align(words_of(data["keys"][case["key"]]), words_of(case["response"]))
        assert alignment.share == 1


@pytest.mark.parametrize(
    ("first", "second", "expect"),
    [
        ("ja ja komm", "ja ja ja komm", [("ja", "ja"), ("ja", "ja"), ("komm", "komm")]),
        ("a man", "man", [("man", "man")]),
        ("Hans left", "Peter left", [("Hans", "Peter"), ("left", "left")]),
        ("Hans left", ", left", [("left", "left")]),
        ("x [UNK] y", "x ! y", [("x", "x"), ("[UNK]", "!"), ("y", "y")]),
        ("gar ##den", "garten", [("gar", "garten"), ("##den", "garten")]),
    ],
)
def test_small_texts(first, second, expect):
    assert pairs(first, second) == expect
    assert pairs(second, first) == [pair[::-1] for pair in expect]


def test_words_cut_otherwise_are_found_between_changed_ones():
    first, second = "big so fast only low", "tiny sof as tonly high"
    pieces = align_tokens(first.split(), second.split()).pieces.tolist()
    assert pieces == [[0, 0], [1, 1], [2, 1], [2, 2], [2, 3], [3, 3], [4, 4]]


def test_a_stretch_is_cut_out_as_a_whole_sentence():
    came, went = ["He", "came", "."], ["He", "went", "."]
    pieces = align(went + came, [*went, "He", "left", ".", *came]).pieces
    assert pieces[:, 1].tolist() == [0, 1, 2, 6, 7, 8]


def test_few_words_in_common_are_no_copy():
    first = " ".join(f"alpha{number} the" for number in range(20))
    second = " ".join(f"{number}omega of" for number in range(20)) + " the"
    assert align(first.split(), second.split()).share < 0.1


def test_an_empty_text_is_found_whole():
    assert align([], ["a", "b"]).share == 1
    assert align([], []).pieces.shape == (0, 2)


# ------------------------------------------------------------------ whatever comes


@settings(max_examples=150)
@given(texts, texts)
@example(["zu", "dem"], ["zum"])
def test_pieces_are_in_order_and_do_not_depend_on_the_side(first, second):
    alignment, exchanged = align(first, second), align(second, first)
    steps = alignment.pieces[1:] - alignment.pieces[:-1]
    assert (steps >= 0).all() and (steps.sum(1) > 0).all()
    assert (alignment.pieces == exchanged.pieces[:, ::-1]).all()
    assert (alignment.is_alike == exchanged.is_alike).all()
    assert alignment.share == exchanged.share
    assert 0 <= alignment.share <= 1


@settings(max_examples=80)
@given(texts, st.lists(st.integers(1, 5), min_size=1, max_size=10))
def test_where_texts_are_equal_every_character_is_aligned(tokens, sizes):
    text, cut = "".join(tokens), []
    while text:
        size = sizes[len(cut) % len(sizes)]
        cut.append(text[:size])
        text = text[size:]
    alignment = align_tokens(tokens, cut)
    assert alignment.share == 1
    assert sorted(set(alignment.pieces[:, 0].tolist())) == list(range(len(tokens)))
    assert sorted(set(alignment.pieces[:, 1].tolist())) == list(range(len(cut)))


@settings(max_examples=50)
@given(st.lists(st.integers(0, 10**6), min_size=8, max_size=80, unique=True))
def test_a_copy_is_found_within_other_words(numbers):
    text = [f"w{number}" for number in numbers]
    alignment = align(["so", "here", *text, "done"], text)
    expect = [[place + 2, place] for place in range(len(text))]
    assert alignment.pieces.tolist() == expect


# ------------------------------------------------------------------ long texts


def edited(tokens, seed=0):
    """A copy in which 1.5 % of the words are changed, added or lost."""
    random = Random(seed)
    copy: list[str] = []
    for token in tokens:
        chance = random.random()
        copy += [] if chance < 0.005 else ["anew"] if chance < 0.01 else [token]
        copy += ["anew"] if chance > 0.995 else []
    return copy


def test_long_and_repeated_texts_are_aligned():
    random = Random(1)
    ordinary = [f"w{int(random.paretovariate(0.8)) % 20_000}" for _ in range(80_000)]
    for tokens in (ordinary, (ordinary[:40] * 2_000)[:80_000]):
        assert align(tokens, edited(tokens)).share > 0.98

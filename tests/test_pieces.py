"""Scores in pieces: the same as of the whole in memory, whatever the pieces are."""

from __future__ import annotations

import gzip
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval.pieces import scoring
from piece_corpora import conll, corefud, text_pairs

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))


def assert_same(one: corefeval.Result, other: corefeval.Result) -> None:
    for field in fields(one):
        if field.name not in ("spell", "titles", "notices"):
            assert getattr(one, field.name) == getattr(other, field.name), field.name
    assert [*map(str, one.notices)] == [*map(str, other.notices)], (one.notices, other.notices)
    for feature, slices in one.slices.items():
        assert list(slices) == list(other.slices[feature]), (feature, slices, other.slices[feature])
    assert one.signature == other.signature


@pytest.fixture(autouse=True)
def no_second_look(monkeypatch):
    """Pieces stand for themselves here: nothing is read again as a whole behind a mistake."""
    monkeypatch.setattr(scoring, "_READ_AGAIN", -1)


@pytest.fixture
def in_pieces(monkeypatch):
    """How many scores were made of pieces to the end."""
    made = []
    join = scoring._join
    monkeypatch.setattr(scoring, "_join", lambda *given: made.append(join(*given)) or made[-1])
    return made


@st.composite
def cases(draw):
    form = draw(st.sampled_from(("conll", "corefud")))
    texts = draw(text_pairs(zeros=form == "corefud"))
    if form == "conll":
        written = [conll(side, end=draw(st.booleans())) for side in texts]
    else:
        written = [corefud(side, draw(st.booleans())) for side in texts]
    ending = draw(st.sampled_from(("\n", "\n", "\r\n")))
    data = [side.replace("\n", ending).encode() for side in written]
    if draw(st.booleans()):
        data[draw(st.integers(0, 1))] += b"\n"
    packed = draw(st.sampled_from(((), (0,), (0, 1))))
    data = [gzip.compress(side) if n in packed else side for n, side in enumerate(data)]
    options = {
        "missing": draw(st.sampled_from(("empty", "skip"))),
        "extra": draw(st.sampled_from(("ignore", "count"))),
        "singletons": draw(st.sampled_from(("keep", "drop"))),
        "metrics": draw(st.sampled_from(("standard", "all", "muc, b3(twinless=sys), mor"))),
        "by": draw(st.sampled_from(("", "", "kind", "genre, size, tag", "distance"))),
        "match": draw(st.sampled_from(("exact", "exact", "head", "partial"))),
        "documents": draw(st.sampled_from(("*", "*", "nw/*0*"))),
    }
    return data, options, draw(st.integers(1, 400))


@settings(max_examples=120)
@given(case=cases())
def test_pieces_are_the_whole(tmp_path_factory, case):
    data, options, piece_size = case
    folder = tmp_path_factory.mktemp("pieces")
    paths = [folder / "key", folder / "response"]
    for path, content in zip(paths, data, strict=True):
        path.write_bytes(content)
    try:
        whole = corefeval.score(*paths, **options)
    except corefeval.CorefEvalError as error:
        with pytest.raises(type(error)):
            corefeval.score(*paths, piece_size=piece_size, **options)
        return
    assert_same(corefeval.score(*paths, piece_size=piece_size, **options), whole)

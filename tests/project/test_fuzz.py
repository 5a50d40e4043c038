"""Bad input never wins: whatever the bytes, scores or one clear error."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from conftest import examples
from corefeval import CorefEvalError

EXAMPLE = Path(corefeval.example("key")).read_bytes()
SMALL = b"\n".join(EXAMPLE.split(b"\n")[:60]) + b"\n#end document\n"
BIG_ENOUGH = examples(2000)

PIECES = st.sampled_from(
    [b"(1", b"1)", b"(1)", b"|", b"-", b"_", b"\n", b"\r\n", b"\t", b" ", b"#", b"\x00", b"\xff",
     b"#begin document (x); part 000\n", b"#begin document", b"#end document\n", b"(", b")",
     b"\xef\xbb\xbf", b"\x1f\x8b", b"(12345678901234567890)", b"x" * 100]
)  # fmt: skip
BYTES = st.binary(max_size=200) | st.lists(PIECES, max_size=40).map(b"".join)


@st.composite
def edited(draw):
    """A valid file with a few random edits: cuts, insertions, repetitions."""
    data = SMALL
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 80)))
        new = draw(st.just(b"") | PIECES | st.binary(max_size=5) | st.just(data[start:end] * 2))
        data = data[:start] + new + data[end:]
    return data


truncated = st.integers(0, len(SMALL)).map(lambda end: SMALL[:end])
packed = edited().map(lambda data: gzip.compress(data)[: len(data) // 2])
anything = BYTES | truncated | edited() | packed


def scored_or_refused(key: str, response: str, **options: object) -> corefeval.Result | None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return corefeval.score(key, response, **options)
        except CorefEvalError as error:
            assert str(error).strip()
            return None


@settings(max_examples=BIG_ENOUGH)
@given(data=anything)
def test_any_bytes_end_in_scores_or_one_error(tmp_path_factory, data):
    folder = tmp_path_factory.getbasetemp()
    broken, whole = folder / "broken.conll", folder / "whole.conll"
    broken.write_bytes(data)
    whole.write_bytes(SMALL)
    own = scored_or_refused(str(broken), str(broken))
    if own is not None:
        assert all(
            score.f1 in (0.0, pytest.approx(1.0))
            for name, score in own.scores.items()
            if name != "conll"
        )
    for ignore_tokens in (False, True):
        scored_or_refused(str(whole), str(broken), ignore_tokens=ignore_tokens)
        scored_or_refused(str(broken), str(whole), ignore_tokens=ignore_tokens)


ATOMS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.binary(max_size=3)
)
OBJECTS = st.recursive(
    ATOMS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=2) | st.integers(), inner, max_size=3)
        | st.tuples(inner, inner)
    ),
    max_leaves=12,
)


@given(key=OBJECTS, response=OBJECTS)
def test_any_python_objects_end_in_scores_or_one_error(key, response):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            corefeval.score(key, response)
        except CorefEvalError as error:
            assert str(error).strip()

"""Plain arguments of `score` mean what they mean to the parser of all commands."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corefeval.cli import app
from corefeval.cli.responses import ReadingOptions
from corefeval.cli.scoring import _plain_options, parse_plain, run_score

NAMES = sorted(_plain_options())
VALUES = [
    *("muc", "conll, lea", "text", "json", "yaml", "5", "0", "007", "-1", "1e3", "0.9", ".95", "2"),
    *("a=b", "", " ", "-", "--", "exact", "overlap(0.3)", "drop", "keep", "macro", "bc/*", "x\ny"),
    *("True", "none", "--help", "--no-ci", "--metric", "latin-1", "--ci=true", "-mmuc"),
]
words = st.one_of(
    st.sampled_from(NAMES),
    st.sampled_from(VALUES),
    st.builds("{}={}".format, st.sampled_from(NAMES), st.sampled_from(VALUES)),
)


def described(values: dict[str, object]) -> dict[str, object]:
    """The arguments of a score, with defaults, and what its reading comes to."""
    bound = inspect.signature(run_score).bind(**{**values, "reading": None})
    bound.apply_defaults()
    reading = values.get("reading") or ReadingOptions()
    found = {**bound.arguments, "response": list(bound.arguments["response"])}
    assert isinstance(reading, ReadingOptions)
    basic = (reading.quiet, reading.of_key, reading.of_response)
    return {**found, "reading": (reading.policies, basic)}


@given(st.lists(words, max_size=6))
@settings(max_examples=300, deadline=None)
@example(["k", "r", "--seed", "0", "--quiet", "--match=head", "-m", "muc"])
@example(["k", "--ignore-tokens", "a=r", "--singletons", "drop", "--level", "0.9", "--ci"])
def test_they_mean_the_same_to_both(words):
    plain = parse_plain(words)
    if plain is None:
        return
    _, bound, *_ = app.parse_args(["score", *words], exit_on_error=False, print_error=False)
    arguments = {"response": (), **bound.arguments}
    assert described(plain) == described(arguments)


@pytest.mark.parametrize(
    "words",
    [
        *(
            [],
            ["k", "--help"],
            ["k", "r", "--unpack-limit", "2GB"],
            ["k", "r", "--fail-under", "a=1"],
        ),
        *(["k", "-m", "muc", "-m", "b3"], ["k", "r", "--metrics"], ["k", "--", "-r"]),
        *(["k", "r", "--seed", "x"], ["k", "r", "--format", "yaml"], ["k", "r", "--quiet=yes"]),
    ],
    ids=" ".join,
)
def test_what_is_not_plain_is_left_to_the_parser(words):
    assert parse_plain(words) is None


def test_usual_scores_are_plain():
    parsed = parse_plain(
        ["k", "a=r", "s", "--metrics", "muc,b3", "--singletons=drop", "-q", "--ci"]
    )
    assert parsed is not None
    assert (parsed["key"], parsed["response"]) == ("k", ["a=r", "s"])
    assert parsed["reading"].policies == {"singletons": "drop", "encoding": "utf-8"}
    assert parsed["reading"].quiet
    known = {name for one in app["score"].assemble_argument_collection() for name in one.names}
    assert set(NAMES) <= known

"""The protocol: declared once, said in the signature, parsed back, and acting where it says."""

from __future__ import annotations

import ast
import pickle
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corefeval
from corefeval import UsageError, score
from corefeval.cli.commands import COMMANDS
from corefeval.preparation import prepare
from corefeval.protocol import NAMED, STEPS, Protocol, choices, fields

KEY = {"one": [["a", "b", "c"], ["d"]], "two": [["e", "f"]], "three": [["g", "h"]]}
RESPONSE = {"one": [["a", "b"], ["c"]], "two": [["e", "f"], ["x"]], "four": [["y", "z"]]}


def values_of(name: str):
    choice = choices()[name]
    if choice.values:
        return st.sampled_from(sorted(choice.spellings))
    texts = st.text(st.characters(codec="utf-8"), min_size=1)
    if choice.pattern != ".+":
        texts = st.from_regex(choice.pattern, fullmatch=True)
    texts = texts.map(re.escape) if choice.is_expression else texts
    return st.one_of(st.just(choice.default), texts)


protocols = st.fixed_dictionaries({}, optional={name: values_of(name) for name in choices()})


@given(protocols)
def test_the_text_parses_back(chosen):
    protocol = Protocol.of(**chosen)
    assert Protocol.parse(str(protocol)) == protocol
    assert Protocol.parse(protocol.signature) == protocol
    assert pickle.loads(pickle.dumps(protocol)) == protocol
    assert {name: getattr(protocol, name) for name in chosen} == chosen


def test_every_choice_is_an_option_with_its_help():
    for command, steps in (
        ("score", STEPS),
        ("compare", STEPS),
        ("errors", (*STEPS, "errors")),
        ("report", (*STEPS, "errors")),
        ("agree", (*STEPS, "agreement")),
    ):
        helps = {name: option.help for name, option in COMMANDS[command].spellings.items()}
        for name, choice in choices(steps).items():
            if choice.option:
                option = f"--{name.replace('_', '-')}"
                assert helps[option].startswith(choice.summary)


def test_a_published_number_is_repeated_from_its_signature():
    published = score(
        KEY, RESPONSE, singletons="drop", missing="skip", aggregate="macro", documents="t*"
    )
    again = score(KEY, RESPONSE, protocol=published.signature)
    assert again == published
    assert "missing:skip" in published.signature


def test_intervals_and_segments_are_repeated_too():
    key, response = corefeval.example("key"), corefeval.example("eager")
    first = score(key, response, metrics="muc", ci=0.9, samples=50, seed=3)
    assert score(key, response, metrics="muc", protocol=first.signature) == first
    first = score(key, response, metrics="muc", documents="*; part 000", as_segments=True)
    one = str(corefeval.read(key).documents[0])
    first = score(key, response, metrics="muc", documents=one, as_segments=True, segments=4)
    assert "segments:" in first.signature
    again = score(key, response, metrics="muc", protocol=first.signature)
    assert again.document_ids == first.document_ids


def test_keywords_override_a_protocol():
    result = score(KEY, RESPONSE, protocol="singletons:drop|missing:skip", singletons="keep")
    assert (result.protocol.singletons, result.protocol.missing) == ("keep", "skip")


def test_names_of_protocols():
    assert "default" in NAMED
    for name, named in NAMED.items():
        assert Protocol.parse(name) == Protocol.of(**named.choices)
        assert Protocol.parse(f"{name}|singletons:drop").singletons == "drop"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("match:exactly", "match is one of exact, head, partial, min, overlap"),
        ("mach:exact", "has no choice 'mach': did you mean 'match'"),
        ("match:exact|match:exact", "says match twice"),
        ("match", "there is no protocol 'match'"),
        ("singletons:keep|match:", "no value for 'match'"),
        ("match:exact|version:99.1", "version:99.1 is newer than"),
        ("match:exact|version:new", "version:new is not a version"),
        ('documents:"a', "is not part of a protocol"),
        ("slice:kind=name", "slice:kind=name, a part of a result"),
        ("features:kind", "features:kind: pass them"),
        ("ci:guessed", "cannot be repeated"),
        ("segments:many", "segments"),
        ("defualt", r"did you mean 'default'\? Or write choices as match:exact"),
        ("lea|match:exact", "before a signature is for --metrics / metrics=: leave out 'lea'"),
        (7, "not 7"),
    ],
)
def test_what_cannot_be_honoured_names_the_field(text, message):
    with pytest.raises(UsageError, match=message):
        score(KEY, RESPONSE, protocol=text)


def test_a_number_may_be_said_as_one():
    assert Protocol.of(undefined=1) == Protocol.of(undefined="1")
    for value in (True, 2, 1.0):
        with pytest.raises(
            UsageError, match="undefined is one of 0, 1, epsilon, nan-ceafe, error, not"
        ):
            Protocol.of(undefined=value)


def test_what_earlier_versions_wrote():
    assert Protocol.parse("tokens:ignored|version:0.0.1").tokens == "ignore"


def test_options_that_do_nothing_are_refused():
    with pytest.raises(UsageError, match="no option 'wrong_spans'"):
        score(KEY, RESPONSE, wrong_spans="head")
    with pytest.raises(UsageError, match="no option 'singleton' here: did you mean 'singletons'"):
        score(KEY, RESPONSE, singleton="drop")
    with pytest.raises(UsageError, match="no option 'metric' here: did you mean 'metrics'"):
        score(KEY, RESPONSE, metric="muc")
    results = [score(KEY, side, metrics="muc") for side in (KEY, RESPONSE)]
    with pytest.raises(UsageError, match="already scored: singletons"):
        corefeval.compare(None, results, singletons="drop")


@pytest.mark.parametrize(
    ("missing", "extra", "recall", "precision", "documents"),
    [
        ("empty", "ignore", 5 / 8, 5 / 6, ("one", "two", "three")),
        ("skip", "ignore", 5 / 6, 5 / 6, ("one", "two")),
        ("empty", "count", 5 / 8, 5 / 8, ("one", "two", "three", "four")),
        ("skip", "count", 5 / 6, 5 / 8, ("one", "two", "four")),
    ],
)
def test_documents_that_one_side_lacks(missing, extra, recall, precision, documents):
    result = score(KEY, RESPONSE, metrics="mentions", missing=missing, extra=extra)
    found = result["mentions"]
    assert (found.recall, found.precision) == pytest.approx((recall, precision))
    assert result.document_ids == documents
    assert {notice.kind for notice in result.notices} == {"missing-documents", "extra-documents"}


@pytest.mark.parametrize("choice", ["missing", "extra"])
def test_documents_that_one_side_lacks_may_be_an_error(choice):
    with pytest.raises(corefeval.PairingError, match="document not in the"):
        score(KEY, RESPONSE, **{choice: "error"})


def test_a_rate_of_nothing():
    key, response = {"a": [["x"]], "b": [["y", "z"]]}, {"a": [["x"]], "b": [["y"], ["z"]]}
    assert score(key, response, metrics="muc")["muc"].precision == 0
    one = score(key, response, metrics="muc", undefined="1")
    assert (one["muc"].recall, one["muc"].precision, one["muc"].f1) == (0, 1, 0)
    assert one.document("a")["muc"].f1 == 1
    assert "undefined:1" in one.signature
    macro = score(key, response, metrics="muc", undefined="1", aggregate="macro")
    assert macro["muc"].f1 == 0  # only documents with something to count are in the mean


def test_prepared_is_what_score_counts_on():
    prepared = prepare(KEY, RESPONSE, "singletons:drop")
    assert corefeval.count(prepared, "muc, b3") == score(
        KEY, RESPONSE, metrics="muc, b3", singletons="drop"
    )


def test_nobody_else_pairs_or_matches():
    """Documents are paired and mentions matched in preparation alone (and agreement's pairing)."""
    source = Path(corefeval.__file__).parent
    doors = {
        "pair", "apply_policies", "without_duplicates", "without_singletons", "segment",
        "match_exactly", "matcher", "resolve", "pair_annotations", "prepare_corpora",
    }  # fmt: skip
    allowed = {
        "pairing": doors,
        "matching": doors,
        "preparation.py": doors,
        "evaluation/counting.py": {"segment"},
        "emulation/documents.py": {"pair"},
        "emulation/policies.py": {"without_duplicates"},
        "analysis/agreement.py": {"pair_annotations", "prepare_corpora"},
        "analysis/auditing.py": {"pair_annotations", "prepare_corpora", "match_exactly"},
        "consensus/__init__.py": {"pair_annotations", "prepare_corpora"},
        "analysis/errors": {"resolve"},
        "full_sides.py": {"matcher"},
        "pieces/scoring.py": {"prepare_corpora"},
        "sampling/frame.py": {"apply_policies"},
    }
    for path in source.rglob("*.py"):
        name = path.relative_to(source).as_posix()
        mine = {d for room, known in allowed.items() if name.startswith(room) for d in known}
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and "corefeval" in node.module:
                names = {alias.name for alias in node.names} & doors
                assert names <= mine, f"{name} imports {names - mine}"


def test_every_field_says_what_it_is():
    for name, choice in fields().items():
        assert choice.summary.endswith("."), name
        assert choice.default in (choice.values or {choice.default: ""})


def test_the_command_repeats_a_number(run):
    key, response = corefeval.example("key"), corefeval.example("eager")
    published = score(key, response, singletons="drop", metrics="lea")
    status, out, _ = run("score", key, response, "-m", "lea", "--protocol", published.signature)
    assert status == 0
    assert f"{100 * published['lea'].f1:.2f}" in out
    assert published.signature in out
    status, _, err = run("score", key, response, "--protocol", "match:fuzzy")
    assert status == 2
    assert "match is one of" in err


def test_protocols_are_listed(run):
    status, out, _ = run("protocols")
    assert status == 0
    for name in (*NAMED, *choices()):
        assert name in out
    status, out, _ = run("protocols", "singletons")
    assert "drop" in out
    assert "duplicates" not in out
    assert run("protocols", "nonsense")[0] == 2
    status, out, _ = run("protocols", "--format", "json")
    assert '"choices"' in out

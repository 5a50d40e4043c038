"""JSON that is broken: each mistake is answered with one clear error."""

from __future__ import annotations

import io
import json
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
import json_records
from corefeval import CorefEvalError, InputError
from json_records import (
    KINDS,
    RECORDS,
    SENTENCES,
    WHOLE,
    changed,
)

file = json_records.file


BAD_SPANS = [
    ([0], "no span of the document"),
    ([0, 1, 2], "no span of the document"),
    (["0", "1"], "no span of the document"),
    ([0.0, 1.0], "no span of the document"),
    ([True, True], "no span of the document"),
    ([None, 1], "no span of the document"),
    (None, "no span of the document"),
    (7, "no span of the document"),
    ([[0, 1], 2], "no span of the document"),
    ([-2, 1], "no span of the document"),
    ([0, 10**30], "no span of the document"),
    ([99, 99], "no span of the document"),
]


@pytest.mark.parametrize("span, problem", [*BAD_SPANS, ([3, 2], "no span of the document")])
@pytest.mark.parametrize("kind", ["e2e", "bookcoref", "crac-json", "maverick"])
def test_mentions_that_are_none(file, kind, span, problem):
    key = "clusters" if "clusters" in RECORDS[kind] else "clusters_token_offsets"
    path = file(
        changed(kind, doc_key="first", doc_id="first"), "", changed(kind, **{key: [[span]]})
    )
    with pytest.raises(InputError, match=problem) as caught:
        corefeval.read(path, format=kind)
    assert caught.value.line == 3
    assert caught.value.file == path
    assert f"cluster 0 of ‘{key}’" in caught.value.problem


@pytest.mark.parametrize("span, problem", [*BAD_SPANS, ([3, 3], "no span of the document")])
def test_character_spans_that_are_none(file, span, problem):
    with pytest.raises(InputError, match=problem):
        corefeval.read(file(changed("fastcoref", clusters=[[span]])))


def test_exclusive_ends_are_suspected(file):
    with pytest.raises(InputError) as caught:
        corefeval.read(file(changed("e2e", clusters=[[[5, 6]]])))
    assert "inclusive here" in caught.value.fix
    assert "a text of 6 tokens" in caught.value.expected


@pytest.mark.parametrize(
    "mention, problem",
    [
        ([0, 1], "no span of the document"),
        ([0, 0, 1.0], "no span of the document"),
        ([2, 0, 1], "no span of the document(.|\\n)*of 2 sentences"),
        ([-1, 0, 1], "no span of the document"),
        ([0, 2, 2], "no span of the document"),
        ([0, -1, 2], "no span of the document"),
        ([1, 0, 3], "no span of the document(.|\\n)*of 2 tokens"),
        (None, "no span of the document"),
    ],
)
def test_preco_mentions_that_are_none(file, mention, problem):
    with pytest.raises(InputError, match=problem):
        corefeval.read(file(changed("preco", mention_clusters=[[mention]])))


@pytest.mark.parametrize(
    "record, problem",
    [
        ({}, "no known kind"),
        ({"doc_key": "s", "sentences": SENTENCES}, "no known kind"),
        ({"doc_key": "s", "clusters": []}, "no known kind"),
        ({"text": "x", "tokens": ["x"], "clusters": []}, "no known kind"),
        (changed("e2e", clusters=None), "‘clusters’ is not a list"),
        (changed("e2e", clusters={}), "‘clusters’ is not a list"),
        (changed("e2e", clusters=[3]), "cluster 0 of ‘clusters’ is not a list"),
        (changed("e2e", clusters=["ab"]), "cluster 0 of ‘clusters’ is not a list"),
        (changed("e2e", sentences="Ada"), "‘sentences’ does not hold words"),
        (changed("e2e", sentences=["Ada met"]), "‘sentences’ does not hold words"),
        (changed("e2e", sentences=[["Ada", 3]]), "‘sentences’ does not hold words"),
        (changed("maverick", tokens=["Ada", 3]), "‘tokens’ does not hold words"),
        (changed("maverick", tokens=["Ada", ["x"]]), "‘tokens’ does not hold words"),
        (changed("maverick", tokens=None), "‘tokens’ does not hold words"),
        (changed("maverick", "tokens"), "there is no ‘tokens’"),
        (changed("fastcoref", text=3), "‘text’ is not a string"),
        (changed("preco", "sentences"), "there is no ‘sentences’"),
        (changed("e2e", doc_key=["s"]), "‘doc_key’ is not an id"),
        (changed("e2e", doc_key=True), "‘doc_key’ is not an id"),
        (changed("e2e", doc_key="\ud800"), "‘doc_key’ is not an id"),
    ],
)
def test_records_that_are_no_documents(file, record, problem):
    with pytest.raises(InputError, match=problem) as caught:
        corefeval.read(file("\n", json.dumps(record)))
    assert caught.value.line == 3


def test_a_kind_that_was_named_says_what_is_missing(file):
    with pytest.raises(
        InputError, match="there is no ‘clusters’ or ‘predicted_clusters’"
    ) as caught:
        corefeval.read(file(RECORDS["preco"]), format="e2e")
    assert "‘mention_clusters’" in caught.value.found


def test_unknown_keys_are_listed_with_the_kinds(file):
    with pytest.raises(InputError) as caught:
        corefeval.read(file({"mentions": [], "words": []}))
    assert caught.value.found == "the keys ‘mentions’, ‘words’"
    assert "preco (" in caught.value.expected


@pytest.mark.parametrize(
    "text, problem, line",
    [
        (WHOLE + "\n" + WHOLE[:-5], "not JSON", 2),
        (WHOLE + ",\n" + WHOLE, "not JSON", 1),
        (WHOLE + "\nnonsense", "not JSON", 2),
        (WHOLE[:-3] + "\n" + WHOLE, "not JSON", 2),
        (WHOLE.replace('"s"', "'s'"), "not JSON", 1),
        (WHOLE + '\n{"a": "cut short\n', "not JSON: a string does not end on its line", 2),
        (WHOLE + '\n{"a": "cut short', r"not JSON: unterminated string\n", 2),
        (WHOLE + "\n3", "a record is not an object", 2),
        ("[]", "no record", None),
        ("[3]", "record 1: a record is not an object", None),
        (f"[{WHOLE}, null]", "record 2: a record is not an object", None),
        ('{"a": ' + "[" * 100_000, "nested too deeply", 1),
        ('{"a": ' + "9" * 5000 + "}", "cannot be read", 1),
        (WHOLE.replace("[[0, 0]", "[[NaN, 0]"), "no span of the document", 1),
        (WHOLE.replace("{", '{"clusters": [], '), "a key twice", 1),
        (WHOLE + "\n" + WHOLE, "‘s’ appears twice", 2),
        (f"[{WHOLE}, {WHOLE}]", "record 2: document ‘s’ appears twice", None),
    ],
)
def test_broken_files(file, text, problem, line):
    with pytest.raises(InputError, match=problem) as caught:
        corefeval.read(file(text), format="json")
    assert caught.value.line == line


@pytest.mark.parametrize("kind", ["json", *KINDS])
def test_files_without_anything(file, kind):
    for text in ("", " \n"):
        with pytest.raises(InputError):
            corefeval.read(file(text), format=kind)


LINES = "\n".join(json.dumps(RECORDS[kind] | {"doc_key": kind}) for kind in KINDS).encode()
PIECES = st.sampled_from(
    [b"[", b"]", b"{", b"}", b",", b":", b'"', b"-1", b"1e9", b"NaN", b"null", b"true", b"99999",
     b"9" * 5000, b"\n", b"\x00", b"\xff", b"\\ud800", b'"clusters"', b'"text"', b'"tokens"', b'""',
     b'"doc_id"', b"[[0, 0]]", b"[" * 2000]
)  # fmt: skip


@st.composite
def edited(draw):
    data = LINES
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 40)))
        new = draw(st.just(b"") | PIECES | st.binary(max_size=4) | st.just(data[start:end] * 2))
        data = data[:start] + new + data[end:]
    return data


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 30) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=6,
)


@st.composite
def mutated(draw):
    """Records with one value replaced, somewhere at any depth."""
    record = json.loads(json.dumps(RECORDS[draw(st.sampled_from(KINDS))]))
    place, key = record, draw(st.sampled_from(sorted(record)))
    while isinstance(place[key], list | dict) and place[key] and draw(st.booleans()):
        place = place[key]
        key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
    place[key] = draw(VALUES)
    return json.dumps(record).encode()


def scored_or_refused(key, response, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            corefeval.score(key, response, metrics="muc", **options)
        except CorefEvalError as error:
            assert str(error).strip()


@settings(max_examples=300)
@given(data=edited() | mutated(), kind=st.none() | st.sampled_from(KINDS))
def test_any_json_ends_in_scores_or_one_error(tmp_path_factory, data, kind):
    folder = tmp_path_factory.getbasetemp()
    broken, whole, text = folder / "broken.json", folder / "whole.json", folder / "text.json"
    broken.write_bytes(data)
    whole.write_bytes(WHOLE.encode())
    text.write_text(json.dumps(RECORDS["fastcoref"]))
    scored_or_refused(str(broken), str(broken), key_format=kind, response_format=kind)
    for other in (str(whole), str(text)):
        for ignore_tokens in (False, True):
            options = {"ignore_tokens": ignore_tokens}
            scored_or_refused(other, str(broken), response_format=kind, **options)
            scored_or_refused(str(broken), other, key_format=kind, **options)
    for target in KINDS:
        try:
            corefeval.write(corefeval.read(broken, format=kind), io.BytesIO(), format=target)
        except CorefEvalError as error:
            assert str(error).strip()

"""What `check` says of what matching stumbles over: heads, minimum spans, parts, empty nodes."""

from __future__ import annotations

import pytest

import corefeval
from conftest import ROOT
from corefeval.linting import KINDS, check_corpus, inspect


def conllu(*rows: str, header: str = "eid-etype-head-minspan") -> str:
    """Lines of number, DEPS and (maybe) Entity; an empty one ends a sentence."""
    lines = ["# newdoc id = d", f"# global.Entity = {header}"]
    for row in rows:
        number, deps, *mark = row.split() if row else ("", "")
        misc = f"Entity={mark[0]}" if mark else "_"
        word = "_" if "." in number else f"w{number}"
        lines.append("\t".join((number, word, *"______", deps, misc)) if row else "")
    return "\n".join((*lines, "", ""))


@pytest.fixture
def findings(conll):
    """The findings of one kind in a text: line, message and words."""

    def findings(kind: str, text: str):
        (inspection,) = inspect(conll(text, "x.conllu"))
        for finding in inspection.findings:
            assert finding.effect
            assert finding.advice
            assert finding.file == inspection.file
        return [(f.line, f.message, f.text) for f in inspection.findings if f.kind == kind]

    return findings


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ("(e-x-1-", None),
        ("(e-x-2-1", None),
        ("(e-x-3-", "the head is ‘3’ of 2 tokens"),
        ("(e-x-0-", "the head is ‘0’ of 2 tokens"),
        ("(e-x-two-", "the head is ‘two’ of 2 tokens"),
        ("(e-x-²-", "the head is ‘²’ of 2 tokens"),
        (f"(e-x-{'9' * 30}-", f"the head is ‘{'9' * 19}…’ of 2 tokens"),
        ("(e-x--", "there is no head of 2 tokens"),
        ("(e-x", "there is no head of 2 tokens"),
    ],
)
def test_heads_outside_of_mentions_or_missing(findings, mark, message):
    text = conllu(f"1 _ {mark}", "2 _ e)")
    expected = [] if message is None else [(3, message, "w1 w2")]
    assert findings("unusable-head", text) == expected


def test_heads_of_discontinuous_mentions_count_through_their_parts(findings):
    text = conllu("1 _ (e[1/2]-x-2-)", "2 _", "3 _ (e[2/2]-x-2-)")
    assert findings("unusable-head", text) == []
    (finding,) = findings("unusable-head", text.replace("x-2", "x-3"))
    assert finding == (3, "the head is ‘3’ of 2 tokens", "w1 w3")


def test_heads_beyond_one_word(findings):
    (finding,) = findings("unusable-head", conllu("1 _ (e-x-2-)"))
    assert finding == (3, "the head is ‘2’ of 1 token", "w1")


def test_files_that_state_no_heads_have_none_to_find(findings):
    assert findings("unusable-head", conllu("1 _ (e-x)", header="eid-etype")) == []


@pytest.mark.parametrize(
    ("minimum", "wrong"),
    [("1", False), ("1,2", False), ("2;1", False), ("3", True), ("0", True), ("1,x", True)],
)
def test_minimum_spans_outside_of_mentions(findings, minimum, wrong):
    text = conllu(f"1 _ (e-x-1-{minimum}", "2 _ e)")
    message = f"the minimum span is ‘{minimum}’ of 2 tokens"
    expected = [(3, message, "w1 w2")] if wrong else []
    assert findings("unusable-minimum", text) == expected


def test_empty_nodes_without_dependencies(findings):
    text = conllu("1 _ (e-x-1-)", "1.1 1:nsubj", "1.2 _", "", "1 _", "1.1 _")
    assert [line for line, *_ in findings("node-without-dependencies", text)] == [5, 8]


@pytest.mark.parametrize(
    ("dependencies", "message"),
    [
        ("0:root|1:a|2:b|1.1:c|1.10:d", None),
        ("3:a", "‘3:a’: the sentence has no ‘3’"),
        ("1:a|1.2:b", "‘1.2:b’: the sentence has no ‘1.2’"),
        ("nsubj", "‘nsubj’ is not of the form parent:relation"),
        ("1:", "‘1:’ is not of the form parent:relation"),
        ("x:a", "‘x:a’ is not of the form parent:relation"),
    ],
)
def test_parents_that_are_not_there(findings, dependencies, message):
    text = conllu("1 _", "1.1 1:a", f"1.10 {dependencies}", "2 _", "", "1 _", "2 _", "3 _")
    expected = [] if message is None else [(5, message, None)]
    assert findings("unknown-parent", text) == expected


def test_parts_that_never_complete(findings):
    never = conllu("1 _", "2 _ (e[1/2]-x-1-)")
    lacking = "a mention of entity ‘e’ lacks a part: found 1 of 2 parts, expected [1/2] to [2/2]"
    assert findings("incomplete-mention", never) == [(4, lacking, None)]
    ((line, message, _),) = findings("incomplete-mention", conllu("1 _ (e[2/2]-x-1-)"))
    assert line == 3
    assert message.startswith("part 2 of a mention whose other parts are missing")


def test_mentions_across_sentences(findings):
    ((line, message, words),) = findings(
        "cross-sentence-mention", conllu("1 _ (e-x-1-", "2 _", "", "1 _ e)")
    )
    assert (line, message, words) == (3, "from sentence 1 into sentence 2", "w1 w2 w1")


def test_corpora_are_checked_as_files_are(conll):
    corpus = corefeval.read(conll(conllu("1 _ (e-x-7-9)", "1.1 8:a"), "x.conllu"))
    kinds = {finding.kind for finding in check_corpus(corpus)}
    assert {"unusable-head", "unusable-minimum", "unknown-parent"} <= kinds


def test_every_kind_is_documented():
    page = (ROOT / "docs" / "check.md").read_text()
    for kind in KINDS.values():
        assert f"| `{kind.name}` | {kind.severity} | {kind.summary} |" in page


def test_elements_that_nobody_mentions_are_named_up_to_three(conll):
    marks = [f"{number} _ (e{number}-x-1-1)" for number in range(1, 6)]
    text = conllu(*marks, "6 _ (e6-x-1-1)", "").replace(
        "(e6-x-1-1)", "(e6-x-1-1)|SplitAnte=" + ",".join(f"e{n}<e6" for n in range(1, 6))
    )
    corpus = corefeval.read(conll(text, "x.conllu"))
    alone = corpus.keep_mentions(corpus.mention_start == 5)
    [message] = [f.message for f in check_corpus(alone) if f.kind == "unmentioned-entity"]
    assert message == "no mention of ‘e1’, ‘e2’, ‘e3’ and 2 more"

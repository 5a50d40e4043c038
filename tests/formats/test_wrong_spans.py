"""Wrong spans: what tells them, one rule for responses side by side, and crowds of them."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import corefeval
from corefeval import corpus_from_arrays
from corefeval.analysis.errors import analyse, judge_alike
from corefeval.analysis.errors.classification import match_wrong_spans
from corefeval.cli import main
from corefeval.preparation import prepare
from corefeval.reports import report

WORDS = ("the", "man", "with", "him", "left")
TAGS = ("DT", "NN", "IN", "PRP", "VBD")
WHOLE = "(0", "-", "-", "0)", "-"
NEAR = "(0", "0)", "-", "-", "-"
FAR = "-", "-", "-", "(0)", "-"


def text(cells, *, tags=TAGS) -> str:
    """A document of five words; without tags the columns end behind the words."""
    rows = [
        "\t".join(("d", "0", str(number), word, *([tag, *"*----*"] if tags else []), cell))
        for number, (word, tag, cell) in enumerate(zip(WORDS, tags or WORDS, cells, strict=True))
    ]
    return "\n".join(("#begin document (d); part 000", *rows, "", "#end document", ""))


@pytest.fixture
def files(conll):
    """A key without tags; a response with tags, and the same without, with one wrong word span."""
    return [
        conll(text(WHOLE, tags=None), "key.conll"),
        conll(text(FAR), "tagged.conll"),
        conll(text(FAR, tags=None), "plain.conll"),
    ]


def n_wrong(analysis) -> int:
    return int(analysis.counts["span"].sum())


def told(analysis) -> list[str]:
    return [notice.message for notice in analysis.notices if notice.kind == "wrong-spans"]


def test_the_signature_says_what_told_wrong_spans(files):
    key, tagged, plain = files
    by_head, by_overlap = analyse(key, tagged), analyse(key, plain)
    assert (n_wrong(by_head), n_wrong(by_overlap)) == (0, 1)
    assert "|wrong-spans:head|" in by_head.result.signature
    assert "|wrong-spans:overlap|" in by_overlap.result.signature
    assert told(by_head) == []
    assert told(by_overlap) == [
        "the heads of 1 mention are not known, so any overlap counts as a wrong span; "
        "with heads there may be fewer"
    ]
    assert told(analyse(key, plain, wrong_spans="overlap")) == []  # as was wished
    assert "wrong-spans" not in analyse([["a"]], [["b"]]).result.signature  # there are no spans


def test_heads_that_are_asked_for_must_be_known(files, capsys):
    key, _, plain = files
    with pytest.raises(corefeval.UndefinedMetricError, match='wrong_spans="head" needs tags'):
        analyse(key, plain, wrong_spans="head")
    assert main(["errors", key, plain, "--wrong-spans", "head"]) == 1
    error = capsys.readouterr().err
    assert "plain.conll has no tag column" in error
    assert "add tags, or use a format that states heads" in error


def test_mentions_without_a_head_are_counted():
    spans = {"entity": [0, 0], "start": [0, 5], "end": [3, 8]}
    key = corpus_from_arrays(**spans, head=[1, -1])
    response = corpus_from_arrays(entity=[0, 0], start=[1, 5], end=[3, 7], head=[1, -1])
    analysis = analyse(key, response, wrong_spans="head")
    assert n_wrong(analysis) == 1
    assert told(analysis) == ["2 mentions without a known head, which never count as wrong spans"]
    assert n_wrong(analyse(key, response)) == 2


def test_tags_that_nobody_knows_do_not_stop_the_analysis(conll):
    odd = tuple("abcde")
    key, response = conll(text(WHOLE, tags=odd)), conll(text(NEAR, tags=odd))
    analysis = analyse(key, response)
    assert n_wrong(analysis) == 1
    assert "needs known tags" in told(analysis)[0]
    with pytest.raises(corefeval.UndefinedMetricError, match="needs known tags"):
        analyse(key, response, wrong_spans="head")


def test_responses_side_by_side_are_judged_by_one_rule(files, capsys):
    key, tagged, plain = files
    apart = [analyse(key, one) for one in (tagged, plain)]
    alike = judge_alike(apart)
    assert [n_wrong(one) for one in apart] == [0, 1]
    assert [n_wrong(one) for one in alike] == [1, 1]
    assert len({one.result.signature for one in alike}) == 1
    assert "not all heads of " in told(alike[0])[0]
    assert "plain.conll are known" in told(alike[0])[0]
    assert judge_alike(apart[:1]) == apart[:1]
    assert main(["errors", key, tagged, plain, "--format", "csv"]) == 0
    output = capsys.readouterr()
    assert "wrong-spans:head" not in output.out
    assert "any overlap counts as a wrong span" in output.err
    made = report(key, [tagged, plain])
    systems = made.payload["systems"]
    assert all("|wrong-spans:overlap|" in one["signature"] for one in systems)
    assert any(notice.kind == "wrong-spans" for notice in made.notices)


# Crowds


def nested(n: int, *, shift: int = 0):
    """Mentions inside each other; all have one head, which makes the largest group there can be."""
    rows = np.arange(n)
    heads = np.full(n, n)
    return corpus_from_arrays(entity=rows, start=rows, end=2 * n + 1 - rows + shift, head=heads)


def crossing(n: int, *, shift: int = 0):
    """Mentions of which each crosses all others."""
    rows = np.arange(n)
    return corpus_from_arrays(entity=rows, start=rows, end=rows + n + shift, head=np.full(n, n - 1))


@pytest.mark.parametrize("shape", [nested, crossing])
def test_every_wrong_span_of_a_crowd_is_found(shape):
    assert n_wrong(analyse(shape(500), shape(500, shift=1))) >= 499


@pytest.mark.parametrize("shape", [nested, crossing])
@pytest.mark.parametrize("rule", ["head", "overlap"])
def test_memory_grows_with_mentions_not_with_their_pairs(shape, rule):
    def peak(n: int) -> int:
        prepared = prepare(shape(n), shape(n, shift=1))
        rows = np.arange(n)
        for side in (prepared.key_features, prepared.response_features):
            assert (side.head_positions >= 0).all()
        tracemalloc.start()
        match_wrong_spans(prepared, rows, rows, rule)
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    assert peak(4000) < 2.5 * peak(2000)


def test_a_chain_in_which_each_pair_waits_for_the_next():
    """Every mention overlaps the next one a little more: the heaviest pairs in all are taken."""
    starts = np.concatenate(([0], np.cumsum(np.arange(99, 19, -1))))
    key, response = (
        corpus_from_arrays(entity=np.arange(some.size), start=some, end=some + 100)
        for some in (starts[::2], starts[1::2])
    )
    common = np.maximum(100 - np.abs(starts[::2, None] - starts[None, 1::2]), 0)
    best = common[linear_sum_assignment(common, maximize=True)].sum()
    rows = np.arange(key.n_mentions), np.arange(response.n_mentions)
    wrong = match_wrong_spans(prepare(key, response), *rows, "overlap")
    assert common[wrong.key, wrong.response].sum() == best
    assert wrong.weight.sum() == pytest.approx(best / 100)

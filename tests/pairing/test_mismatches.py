"""Not one mention in common, and input that is something else than it looks like."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given

import corefeval
from corefeval import InputError
from corefeval.pairing.mismatches import MISMATCHES
from strategies import corpora

CLUSTERS = [((0, 1), (3, 4)), ((6, 6), (8, 9), (12, 12))]  # as e2e-coref holds them in memory
KEY = {"a": CLUSTERS, "b": [((2, 2), (5, 7)), ((9, 9), (11, 14))]}
FLAT = "put the spans of each entity into a list"


def told(key, response, **options) -> list[tuple[str, str]]:
    """The kinds and messages of what was noticed about mentions that do not match."""
    notices = corefeval.score(key, response, **options).notices
    return [(one.kind, one.message) for one in notices if one.kind in MISMATCHES]


def moved(documents, start: int, end: int):
    return {
        name: [[(*rest, s + start, e + end) for *rest, s, e in entity] for entity in entities]
        for name, entities in documents.items()
    }


def test_clusters_of_one_document_may_be_tuples():
    assert corefeval.score(CLUSTERS, CLUSTERS)["mentions"].counts["recall_denominator"] == 5
    assert corefeval.score(KEY, KEY)["mentions"].counts["recall_denominator"] == 9


@pytest.mark.parametrize("kind", [tuple, list, frozenset])
def test_a_list_of_documents_is_refused(kind):
    documents = [[kind(cluster) for cluster in entities] for entities in KEY.values()]
    with pytest.raises(InputError, match="make it a mapping from document ids to entities"):
        corefeval.score(documents, documents)


def test_a_mention_may_have_a_tuple_in_it():
    key = [[("text", (0, 1)), ("text", (4, 4))]]
    assert corefeval.score(key, key)["muc"].f1 == 1


@pytest.mark.parametrize(
    "flat", [[(0, 1), (3, 4)], [(0, 0, 1)], [(0, 1)], {"1": [(0, 1), (3, 4)], "2": [(6, 6)]}]
)
def test_a_flat_list_of_spans_is_refused(flat):
    with pytest.raises(InputError, match=FLAT):
        corefeval.score(flat, flat)


@pytest.mark.parametrize(
    "entities", [[[0, 1], [3, 4]], np.array([[0, 1], [3, 4]]), [np.array([0, 1]), np.array([2, 3])]]
)
def test_lists_of_two_numbers_are_entities_with_a_notice(entities):
    notices = corefeval.score(entities, [[0, 1, 3]]).notices
    assert [one.kind for one in notices] == ["flat-spans"]
    assert FLAT in notices[0].message


@pytest.mark.parametrize(
    "entities",
    [[[0, 1]], [[1, 0], [2, 3]], [[0, 1], [2, 3, 4]], [(0, 1), [2, 3]], [(0, 1), (2,)],
     [[True, False], [True, True]], [[0, 1], iter([2, 3])]],
)  # fmt: skip
def test_other_numbers_are_mentions(entities):
    assert not corefeval.corpus_from_entities(entities).notices


class Nameless:
    """Equal to itself alone."""


@dataclass(frozen=True)
class Span:
    start: int
    end: int


def test_mentions_that_equal_only_themselves():
    with pytest.raises(InputError, match="mentions of type Nameless equal only themselves"):
        corefeval.score([[Nameless(), Nameless()]], [[Nameless(), Nameless()]])
    with pytest.raises(InputError, match="give Nameless an __eq__ and a __hash__"):
        corefeval.agree([[["a", Nameless()]], [["a", Nameless()]]])
    one, two = Nameless(), Nameless()
    assert corefeval.score([[one, two]], [[one, two]])["muc"].f1 == 1
    assert corefeval.score([[one, two]], [[one, two, Nameless()]])["muc"].recall == 1
    spans = [[[Span(0, 1), Span(3, 4)]] for _ in range(2)]
    assert corefeval.score(*spans)["muc"].f1 == 1
    assert corefeval.score([[None, "a"]], [["b", None]])["mentions"].recall == 0.5


SHIFTS = {
    (1, 1): ("starts and ends one lower", "counts from 0"),
    (-1, -1): ("starts and ends one higher", "counts from 0"),
    (0, 1): ("ends one lower", "inclusive"),
    (0, -1): ("ends one higher", "inclusive"),
}


@pytest.mark.parametrize(("shift", "words"), SHIFTS.items())
@pytest.mark.parametrize("sentence", [(), (7,)])
def test_spans_off_by_one(shift, words, sentence):
    key = {
        name: [[(*sentence, 10 * start, 10 * end + 5) for start, end in entity] for entity in one]
        for name, one in KEY.items()
    }
    response = moved(key, *shift)
    response["b"] = response["b"][:1]
    ((kind, message),) = told(key, response)
    assert kind == "shifted-spans"
    assert "no mention in common between its 7 mentions and the key's 9" in message
    assert "off by one: 7 of 7 would be" in message
    assert all(word in message for word in words)


def test_numbers_from_zero_and_from_one():
    ((kind, message),) = told([[0, 10, 20], [30]], [[1, 11], [21, 31]])
    assert kind == "shifted-spans"
    assert "starts and ends one lower (one side counts from 0" in message


def arrays(starts, ends, *, name, n_documents=1):
    size = len(starts)
    return corefeval.corpus_from_arrays(
        entity=np.arange(size) % max(size // 3, 1),
        start=starts,
        end=ends,
        document=np.arange(size) * n_documents // size,
        document_ids=[f"d{number}" for number in range(n_documents)],
        name=name,
    )


def test_a_few_matches_by_chance_do_not_hide_a_shift():
    numbers = np.random.default_rng(3)
    starts = np.sort(numbers.choice(3000, 600, replace=False))
    ends = starts + numbers.integers(1, 5, 600)
    key, response = arrays(starts, ends, name="k"), arrays(starts, ends + 1, name="r")
    # Spans of one start are there in two lengths, so that some longer ones are the key's.
    both = arrays(np.append(starts, starts[:60]), np.append(ends, ends[:60] + 1), name="k")
    ((kind, message),) = told(both, response)
    assert kind == "shifted-spans"
    assert "r: only 60 of 600 mentions in common with the key" in message
    assert "600 of 600 would be, with ends one lower" in message
    assert not told(key, key)


def test_only_some_documents():
    numbers = np.random.default_rng(5)
    starts = np.concatenate([np.sort(numbers.choice(500, 20, replace=False)) for _ in range(4)])
    ends = starts + 2
    third = np.arange(80) // 20 == 2
    key = arrays(starts, ends, name="k", n_documents=4)
    response = arrays(starts + third, ends + third, name="r", n_documents=4)
    notices = corefeval.score(key, response).notices
    assert [(one.kind, one.count, one.items) for one in notices] == [("shifted-spans", 1, ("d2",))]
    assert "in 1 of 4 documents (‘d2’)" in notices[0].message
    elsewhere = arrays(starts + 997 * third, ends + 999 * third, name="r", n_documents=4)
    ((kind, message),) = told(key, elsewhere)
    assert kind == "no-common-mentions"
    assert "only 0 of 20 mentions in common with the key in 1 of 4 documents" in message
    # In a document of few mentions that may happen to anybody.
    assert not told({"x": [["a", "b"]], "y": [["c", "d"]]}, {"x": [["a", "b"]], "y": [["e", "f"]]})


@pytest.mark.parametrize(
    ("key", "response", "cause"),
    [
        ([[1, 2], [3]], [["1", "2"], ["3"]], "different types: str here, int in the key"),
        ([[(0, 1), (2, 3)]], [[("0", "1"), ("2", "3")]], "tuple (str, str) here, tuple (int, int)"),
        ([["Ada", "she"]], [["Bob", "he"]], "first mentions are ‘'Bob'’ here and ‘'Ada'’ in"),
        ([[(0, 1), (7, 8)]], [[(0, 5), (31, 40)]], "mentions are ‘(0, 5)’ here and ‘(0, 1)’ in"),
        ({"a": [[]], "b": [["x"]]}, {"a": [["x"]], "b": []}, "the cause is unclear"),
    ],
)
def test_other_causes(key, response, cause):
    ((kind, message),) = told(key, response)
    assert kind == "no-common-mentions"
    assert cause in message
    assert message.startswith("response: no mention in common")


def test_exchanged_documents():
    random.seed(2)
    spans = random.sample(range(0, 3000, 3), 80)
    documents = {
        str(number): [[(start, start + 1) for start in spans[20 * number : 20 * number + 20]]]
        for number in range(4)
    }
    turned = dict(zip("1230", documents.values(), strict=True))
    ((kind, message),) = told(documents, turned)
    assert kind == "no-common-mentions"
    assert "documents are mixed up: what is ‘0’ in the key seems to be ‘1’ here" in message


def e2e(words, clusters) -> str:
    return json.dumps({"doc_key": "x", "sentences": [words], "clusters": clusters}) + "\n"


def test_files(tmp_path, run):
    words = [f"w{number}" for number in range(40)]
    clusters = [[[0, 2], [10, 11], [20, 24]], [[4, 6], [30, 30], [35, 36]]]
    texts = {
        "key": e2e(words, clusters),
        "long": e2e(words, [[[s, e + 1] for s, e in cluster] for cluster in clusters]),
        "halves": e2e([half for word in words for half in (word, "x")],
                      [[[2 * s, 2 * e] for s, e in cluster] for cluster in clusters[1:]]),
    }  # fmt: skip
    for name, text in texts.items():
        (tmp_path / f"{name}.jsonl").write_text(text)
    key, long, halves = (tmp_path / f"{name}.jsonl" for name in texts)
    status, _, err = run("score", key, long)
    assert status == 0
    assert "note: long.jsonl: no mention in common between its 6 mentions and the" in err
    assert "6 of 6 would be, with ends one lower (ends are inclusive on one side" in err
    assert "another tokenisation" in run("score", key, halves, "--ignore-tokens")[2]
    status, out, _ = run("check", long, "--against", key, "-f", "json")
    assert status == 1
    (finding,) = (
        one for file in json.loads(out)["files"] for one in file["findings"]
        if one["kind"] in MISMATCHES
    )  # fmt: skip
    assert finding["kind"] == "shifted-spans"
    assert (
        "0 of 6 mentions in common with the key: spans are off by one: 6 of 6"
        in (finding["message"])
    )
    assert not {*MISMATCHES} & set(run("check", key, "--against", key)[1].split())
    # Of other tokens it is known why nothing matches.
    assert not {*MISMATCHES} & set(run("check", halves, "--against", key)[1].split())


@given(corpora)
def test_nothing_in_common_is_always_noticed(documents):
    sides = [dict(enumerate(side)) for side in zip(*documents, strict=True)]
    result = corefeval.score(*sides, metrics="mentions")
    counts = result["mentions"].counts
    sizes = counts["recall_denominator"], counts["precision_denominator"]
    notices = [one for one in result.notices if one.kind in MISMATCHES]
    assert len(notices) <= 1
    if min(sizes) and not counts["recall_numerator"]:
        assert len(notices) == 1

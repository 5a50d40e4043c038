"""Not one mention in common, and input that is something else than it looks like."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given

import corefeval
from corefeval import InputError
from strategies import corpora

CLUSTERS = [((0, 1), (3, 4)), ((6, 6), (8, 9), (12, 12))]  # as e2e-coref holds them in memory
KEY = {"a": CLUSTERS, "b": [((2, 2), (5, 7)), ((9, 9), (11, 14))]}
MISMATCH = "no-common-mentions"
FLAT = "put the spans of each entity into a list"


def told(key, response, **options) -> list[str]:
    """What was noticed about mentions that do not match."""
    notices = corefeval.score(key, response, **options).notices
    return [one.message for one in notices if one.kind == MISMATCH]


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


@pytest.mark.parametrize("shift", [(1, 1), (-1, -1), (0, 1), (0, -1)])
@pytest.mark.parametrize("sentence", [(), (7,)])
def test_spans_off_by_one(shift, sentence):
    """The first mentions of both sides, side by side, show how spans were counted."""
    key = {
        name: [[(*sentence, 10 * start, 10 * end + 5) for start, end in entity] for entity in one]
        for name, one in KEY.items()
    }
    response = moved(key, *shift)
    response["b"] = response["b"][:1]
    (message,) = told(key, response)
    assert "no mention is in the key, of 7 here and 9 there" in message
    response_first, key_first = (*sentence, shift[0], 15 + shift[1]), (*sentence, 0, 15)
    assert f"mentions are ‘{response_first}’ here and ‘{key_first}’ in the key; check" in message


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
    both = arrays(np.append(starts, starts[:40]), np.append(ends, ends[:40] + 1), name="k")
    (message,) = told(both, response)
    assert "only 40 of 600 mentions are in the key" in message
    assert not told(key, key)


def test_only_some_documents():
    numbers = np.random.default_rng(5)
    starts = np.concatenate([np.sort(numbers.choice(500, 20, replace=False)) for _ in range(4)])
    ends = starts + 2
    third = np.arange(80) // 20 == 2
    key = arrays(starts, ends, name="k", n_documents=4)
    elsewhere = arrays(starts + 997 * third, ends + 999 * third, name="r", n_documents=4)
    notices = corefeval.score(key, elsewhere).notices
    assert [(one.kind, one.count, one.items) for one in notices] == [(MISMATCH, 1, ("d2",))]
    expected = "in 1 of 4 documents (‘d2’) only 0 of 20 mentions are in the key"
    assert expected in notices[0].message
    # In a document of few mentions that may happen to anybody.
    assert not told({"x": [["a", "b"]], "y": [["c", "d"]]}, {"x": [["a", "b"]], "y": [["e", "f"]]})


@pytest.mark.parametrize(
    ("key", "response", "first"),
    [
        ([[1, 2], [3]], [["1", "2"], ["3"]], "‘'1'’ here and ‘1’ in"),
        ([["Ada", "she"]], [["Bob", "he"]], "‘'Bob'’ here and ‘'Ada'’ in"),
        ([[(0, 1), (7, 8)]], [[(0, 5), (31, 40)]], "‘(0, 5)’ here and ‘(0, 1)’ in"),
        ({"a": [[]], "b": [["x"]]}, {"a": [["x"]], "b": []}, "‘'x'’ here and ‘'x'’ in"),
    ],
)
def test_other_mentions(key, response, first):
    (message,) = told(key, response)
    assert message.startswith("response: no mention is in the key")
    assert f"the first mentions are {first} the key; check" in message


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
    assert "note: long.jsonl: no mention is in the key, of 6 here and" in err
    assert "the first mentions are 0:4 here and 0:3 in the key" in " ".join(err.split())
    status, out, _ = run("check", long, "--against", key, "-f", "json")
    assert status == 0
    (finding,) = (
        one for file in json.loads(out)["files"] for one in file["findings"]
        if one["kind"] == MISMATCH
    )  # fmt: skip
    assert finding["message"].startswith("0 of 6 mentions in common with the key: the first")
    assert MISMATCH not in run("check", key, "--against", key)[1]
    # Of other tokens it is known why nothing matches.
    assert MISMATCH not in run("check", halves, "--against", key)[1]


@given(corpora)
def test_nothing_in_common_is_always_noticed(documents):
    sides = [dict(enumerate(side)) for side in zip(*documents, strict=True)]
    result = corefeval.score(*sides, metrics="mentions")
    counts = result["mentions"].counts
    sizes = counts["recall_denominator"], counts["precision_denominator"]
    notices = [one for one in result.notices if one.kind == MISMATCH]
    assert len(notices) <= 1
    if min(sizes) and not counts["recall_numerator"]:
        assert len(notices) == 1

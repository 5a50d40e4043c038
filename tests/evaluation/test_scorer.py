"""A scorer gives what `score` gives, however often, wherever and in whatever pieces."""

from __future__ import annotations

import gc
import multiprocessing
import pickle
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings

import corefeval
from corefeval import InputError, Result, Scorer, UsageError, read, score
from corefeval.alignment import Alignment
from corefeval.metrics import REGISTRY
from corefeval.model import Corpus
from remote_work import add_documents
from strategies import corpora

EXAMPLES = [corefeval.example(name) for name in ("cautious", "eager", "key")]
KEY = corefeval.example("key")
EAGER = corefeval.example("eager")
CONLLU = """# newdoc id = {name}
# global.Entity = eid-etype-head-minspan
1	The	the	DET	DT	_	2	det	_	Entity=(e1-person-2-2
2	captain	captain	NOUN	NN	_	3	nsubj	_	Entity=e1)
2.1	_	_	PRON	_	_	_	_	3:nsubj	{zero}
3	saw	see	VERB	VBD	_	0	root	_	_
4	her	she	PRON	PRP	_	5	nmod	_	Entity={her}
5	ship	ship	NOUN	NN	_	3	obj	_	Entity={ship}

"""
KEY_MARKS = {"zero": "Entity=(e2-x-1)", "her": "(e2-x-2(e1-x-1-1)", "ship": "e2)"}
RESPONSE_MARKS = (
    {"zero": "Entity=(e1-x-1)", "her": "(e2-x-1)", "ship": "(e1-x-1)"},
    {"zero": "_", "her": "(e2-x-2(e2-x-1)", "ship": "e2)"},
)


@pytest.fixture(scope="module")
def corefud(tmp_path_factory):
    """A key and two responses of two documents with zeros, heads and minimum spans."""
    folder = tmp_path_factory.mktemp("corefud")
    paths = []
    for number, marks in enumerate((KEY_MARKS, *RESPONSE_MARKS)):
        text = "".join(CONLLU.format(name=name, **marks) for name in ("a", "b")[: 2 - number // 2])
        paths.append(folder / f"{number}.conllu")
        paths[-1].write_text(text)
    return paths


def assert_same(one: Result, other: Result) -> None:
    assert one == other
    assert one.signature == other.signature
    assert one.key_digest == other.key_digest
    assert one.notices == other.notices


@pytest.mark.parametrize("match", ["exact", "head", "partial", "min", "overlap(0.5)"])
@pytest.mark.parametrize("files", ["conll", "corefud"])
def test_every_metric_and_match(match, files, corefud):
    key, *responses = (KEY, *EXAMPLES) if files == "conll" else corefud
    scorer = Scorer(key, metrics="all", by="kind, size", match=match)
    for response in (*responses, *map(read, responses), responses[0]):
        expected = score(key, response, metrics="all", by="kind, size", match=match)
        if files == "conll":
            assert len(expected.metrics) >= sum(not one.beyond for one in REGISTRY.values())
        assert_same(scorer(response), expected)


@pytest.mark.parametrize(
    "choices",
    [
        {"singletons": "drop"},
        {"duplicates": "last"},
        {"documents": "a"},
        {"aggregate": "macro"},
        {"missing": "skip", "extra": "count"},
        {"zeros": "drop"},
        {"protocol": "match:head|singletons:drop"},
        {"protocol": "corefud-1.2"},
        {"protocol": "emulate:corefud-1.2|match:partial"},
    ],
    ids=str,
)
def test_every_choice(choices, corefud):
    key, *responses = corefud
    if "corefud" in choices.get("protocol", ""):  # which refuses a response that lacks a document
        responses = responses[:1]
    scorer = Scorer(key, **choices)
    for response in (*responses, *responses):
        assert_same(scorer(response), score(key, response, **choices))


def test_responses_of_different_lengths():
    """What is kept of the key does not depend on the response that came first."""
    key = corefeval.corpus_from_arrays(entity=[0, 0, 1, 1], start=[0, 5, 9, 30], end=[2, 6, 10, 31])
    scorer = Scorer(key, metrics="all", match="exact")
    for end in (31, 500, 40, 10**6, 31):
        response = corefeval.corpus_from_arrays(
            entity=[0, 1, 0, 1], start=[0, 5, 9, 30], end=[2, 6, 10, end]
        )
        assert_same(scorer(response), score(key, response, metrics="all"))


def test_plain_python():
    key = {"a": [["Ada", "she"], ["it"]], "b": [["x", "y", "x"]]}
    scorer = Scorer(key, singletons="drop")
    for response in ({"a": [["Ada", "it", "she"]]}, {"b": [["y", "x"]], "c": [["z"]]}):
        assert_same(scorer(response), score(key, response, singletons="drop"))


def test_map_keeps_the_order():
    scorer = Scorer(KEY)
    expected = [score(KEY, response) for response in EXAMPLES]
    assert list(scorer.map(EXAMPLES)) == expected
    with ThreadPoolExecutor(2) as pool:
        assert list(scorer.map(iter(EXAMPLES), executor=pool)) == expected


def test_other_processes():
    scorer = Scorer(KEY, metrics="all", match="head")
    expected = [score(KEY, response, metrics="all", match="head") for response in EXAMPLES]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        for result, one in zip(scorer.map(EXAMPLES, executor=pool), expected, strict=True):
            assert_same(result, one)
        keys, responses = ([[["a", "b", "c"]], [["a", "b"], ["c"]]] for _ in range(2))
        done = pool.submit(add_documents, Scorer(metrics="muc, lea"), keys, responses[::-1])
        mine = add_documents(Scorer(metrics="muc, lea"), keys, responses)
        mine.merge(done.result())
    total = mine.compute()
    assert total["muc"].recall == pytest.approx(5 / 6)
    assert total.document_ids == ("0", "1", "0 (2)", "1 (2)")


class Counting(Executor):
    """Does work at once, and remembers how much was asked for at most."""

    def __init__(self):
        self.submitted = 0

    def submit(self, function, /, *values):
        self.submitted += 1
        future = Future()
        future.set_result(function(*values))
        return future


def test_map_submits_no_more_than_a_few_at_once():
    pool, asked = Counting(), []

    def responses():
        for number in range(10_000):
            asked.append(number)
            yield [["a", "b"]]

    results = Scorer([["a", "b"]], metrics="muc").map(responses(), executor=pool)
    next(results)
    assert 1 <= pool.submitted == len(asked) < 1000
    results.close()
    assert len(asked) < 1000


@given(corpora)
@settings(max_examples=20)
def test_updates_are_a_score_of_all(pairs):
    scorer = Scorer(metrics="all")
    for key, response in pairs:
        scorer.update(key, response)
    key, response = ({str(n): pair[side] for n, pair in enumerate(pairs)} for side in (0, 1))
    expected = score(key, response, metrics="all")
    assert_same(scorer.compute(), expected)
    assert_same(pickle.loads(pickle.dumps(scorer)).compute(), expected)
    scorer.update([["a", "b"]], [["a", "b"]], document="more")
    assert scorer.compute().document_ids == (*expected.document_ids, "more")


def test_updates_may_be_anything():
    scorer = Scorer(metrics="muc")
    scorer.update([["a", "b"]], [["a", "b"]])
    scorer.update(KEY, EXAMPLES[0])
    scorer.update({"x": [["a", "b"]], "y": [["c", "d"]]}, {"x": [["a", "b"]]})
    parts = [
        score({"0": [["a", "b"]]}, {"0": [["a", "b"]]}, metrics="muc"),
        score(KEY, EXAMPLES[0], metrics="muc"),
        score({"x": [["a", "b"]], "y": [["c", "d"]]}, {"x": [["a", "b"]]}, metrics="muc"),
    ]
    assert_same(scorer.compute(), Result.total(parts))


def test_what_is_changed_after_an_update_changes_nothing():
    scorer, entities = Scorer(metrics="muc"), [["a", "b"]]
    scorer.update(entities, [["a", "b"]])
    entities[0].append("c")
    assert scorer.compute()["muc"].recall == 1.0
    scorer.reset()
    with pytest.raises(UsageError, match="nothing to compute"):
        scorer.compute()


def test_scorers_add_up():
    one, other = Scorer(metrics="muc"), Scorer(metrics=["MUC"])
    one.update([["a", "b"]], [["a", "b"]])
    other.update([["a", "b"]], [["a"], ["b"]])
    both = sum(pickle.loads(pickle.dumps(each)) for each in (one, Scorer(metrics="muc"), other))
    assert both.compute()["muc"].recall == 0.5
    assert one.compute()["muc"].recall == 1.0
    with pytest.raises(UsageError, match="cannot merge"):
        one.merge(Scorer(metrics="b3"))
    with pytest.raises(UsageError, match="can only merge with scorers"):
        one.merge(1)
    with pytest.raises(TypeError):
        one + 1


def test_intervals_are_of_all_documents():
    scorer = Scorer(metrics="muc", protocol='ci:"level=0.9,samples=50,seed=3"')
    for end in ("b", "c", "d"):
        scorer.update([["a", end]], [["a", "b"]])
    result = scorer.compute()
    assert result.ci == 0.9
    assert result["muc"].intervals["f1"]


def test_intervals_of_responses():
    options = {"metrics": "muc", "ci": 0.9, "samples": 50, "seed": 3}
    assert Scorer(KEY, **options)(EAGER) == corefeval.score(KEY, EAGER, **options)


def test_an_error_loses_no_documents():
    scorer = Scorer(metrics="muc", duplicates="error")
    scorer.update([["a", "b"]], [["a", "b"]])
    scorer.update([["a", "a"]], [["a", "b"]])
    for _ in range(2):
        with pytest.raises(InputError, match="repeated in document ‘1’"):
            scorer.compute()


@pytest.mark.parametrize("names", [(5, "5"), ("a; part 1", "a; part 001"), ("0", None)])
def test_documents_of_one_id_are_told_apart(names):
    scorer = Scorer(metrics="muc")
    if names[1] is None:
        names = names[::-1]
    for name in names:
        scorer.update([["a", "b"]], [["a", "b"]], document=name)
    first, second = scorer.compute().document_ids
    assert second == f"{first} (2)"


def test_no_number_makes_an_id_that_is_there_already():
    scorer = Scorer(metrics="muc")
    for name in ("x", "x (2)", "x"):
        scorer.update([["a", "b"]], [["a", "b"]], document=name)
    assert len(set(scorer.compute().document_ids)) == 3


def test_wrong_use_of_map_and_update():
    scorer = Scorer([["a", "b"]])
    with pytest.raises(UsageError, match="an executor has a method submit"):
        list(scorer.map([], executor=3))
    for wrong in (None, 5, "a.conll"):
        with pytest.raises(UsageError, match="responses must be a list"):
            list(scorer.map(wrong))
    stated = Scorer(KEY, metrics="muc", by="x", features={"x": lambda mention: "y"})
    with pytest.raises(UsageError, match="cannot be sent to other processes"):
        list(stated.map([EAGER], executor=ProcessPoolExecutor(1)))
    with pytest.raises(UsageError, match="have their own ids"):
        scorer.update(KEY, EAGER, document="a")


def test_mistakes_are_told_early():
    with pytest.raises(UsageError, match="did you mean 'muc'"):
        Scorer(metrics="mcu")
    with pytest.raises(UsageError, match="has no key"):
        Scorer()([["a"]])
    with pytest.raises(InputError, match="cannot be read"):
        Scorer("nowhere.conll")
    scorer = Scorer(metrics="muc")
    scorer.update([["a", "b"]], [["a", "b"]])
    with pytest.raises(InputError, match="document '1' cannot be compared"):
        scorer.update([[{}]], [["a"]])
    with pytest.raises(UsageError, match="segments"):
        Scorer(protocol="segments:20").update([["a"]], [["a"]])
    assert len(scorer.compute().document_ids) == 1
    assert "muc" in repr(scorer)
    assert "key" in repr(Scorer(KEY))


@pytest.mark.parametrize("metrics", ["standard", "all"])
def test_nothing_of_a_score_stays_behind(metrics):
    def scored_things():
        return {id(one) for one in gc.get_objects() if isinstance(one, Alignment | Corpus)}

    score(KEY, EAGER, metrics=metrics, by="kind")
    gc.collect()
    before = scored_things()
    gc.disable()
    try:
        score(KEY, EAGER, metrics=metrics, by="kind")
        assert scored_things() <= before
    finally:
        gc.enable()


def test_arrays_are_plain_entities():
    """As models give them: numbered or named like lists, and counted together with them."""
    spans = [[(0, 1), (3, 4)], [(6, 6)]]
    results = []
    for make in (np.array, list):
        scorer = Scorer(metrics="muc, b3")
        scorer.update([make(one) for one in spans], [make(spans[0] + spans[1])])
        scorer.update([make(one) for one in spans], [make(one) for one in spans], document="x")
        results.append(scorer.compute())
    assert results[0] == results[1]
    assert results[0].document_ids == ("0", "x")

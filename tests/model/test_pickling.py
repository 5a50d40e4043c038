"""Everything pickles: what was made here can be worked with in another process."""

from __future__ import annotations

import multiprocessing
import pickle
import re
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import corefeval
from corefeval import agree, compare, read, write
from corefeval.features.tagsets import PENN
from corefeval.formats.registry import FORMATS
from corefeval.model import join
from corefeval.preparation import prepare
from remote_work import alpha, counted, described, error_table, is_name, kinds, rows, scores, told

WRITABLE = [name for name, format in FORMATS.items() if format.writer]
KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))

COREFUD = """# newdoc id = d
# global.Entity = eid-etype-head
# s_type = decl
1	Ada	Ada	PROPN	NNP	_	2	nsubj	_	Entity=(e1-person-1)
1.1	_	_	PRON	_	_	_	_	_	Entity=(e1-person-1)
2	saw	see	VERB	VBD	_	0	root	_	_
3	her	she	PRON	PRP	_	4	nmod	_	Entity=(e2-place-2(e1-person-1)
4	house	house	NOUN	NN	_	2	obj	_	Entity=e2)|Bridge=e1<e2:part

"""


@pytest.fixture(scope="module")
def elsewhere():
    """Run a function in a process that shares nothing with this one."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        yield lambda function, *values: pool.submit(function, *values).result()


@pytest.mark.parametrize("format", WRITABLE)
def test_a_corpus_of_any_format(elsewhere, tmp_path, format):
    (tmp_path / "d.conllu").write_text(COREFUD)
    write(read(tmp_path / "d.conllu"), tmp_path / "out", format=format)
    path = tmp_path / "out"
    if path.is_dir():
        [path] = [one for one in path.iterdir() if one.suffix != ".txt"]
    corpus = read(path, format=format)
    assert corpus.n_mentions
    made_here = elsewhere(described, pickle.loads(pickle.dumps(corpus)))
    assert made_here == described(corpus)
    chosen = corpus.select_documents(np.array([0])).keep_mentions(np.ones(corpus.n_mentions, bool))
    assert elsewhere(described, chosen) == described(chosen)
    assert elsewhere(scores, corpus) == scores(corpus)


def test_joined_corpora_and_views(elsewhere, tmp_path):
    (tmp_path / "d.conllu").write_text(COREFUD)
    joined = join([read(tmp_path / "d.conllu"), read(KEY)], name="both")
    assert elsewhere(described, joined) == described(joined)
    without = "".join(line for line in COREFUD.splitlines(True) if not line.startswith("1.1"))
    (tmp_path / "r.conllu").write_text(without)
    for zeros in ("place", "drop"):
        prepared = prepare(tmp_path / "d.conllu", tmp_path / "r.conllu", zeros=zeros)
        for corpus in (prepared.key, prepared.response):
            assert elsewhere(described, corpus) == described(corpus)


def test_plain_python(elsewhere):
    corpus = corefeval.corpus_from_entities({"d": [["Ada", ("she", 3)], ["it"]]})
    assert elsewhere(scores, corpus) == scores(corpus)


def test_what_is_prepared(elsewhere):
    prepared = prepare(KEY, EAGER, features=None, tagset="penn")
    here = kinds(prepared)  # features that were asked for before do not come in the way
    assert len(set(here)) > 1
    assert elsewhere(kinds, prepared) == here
    assert elsewhere(counted, prepared) == counted(prepared)


def test_results(elsewhere):
    result = corefeval.score(KEY, EAGER, by=["kind"], ci=0.95, samples=50)
    here = told(result)
    assert elsewhere(told, result) == here
    assert here[-1]
    assert elsewhere(corefeval.Result.total, [result, result])["muc"] == (result + result)["muc"]


def test_comparisons(elsewhere):
    comparison = compare(KEY, {"cautious": CAUTIOUS, "eager": EAGER}, trials=50)
    assert elsewhere(rows, comparison) == rows(comparison)


def test_error_analyses(elsewhere):
    analysis = corefeval.analyse(KEY, EAGER)
    here = error_table(analysis)
    assert elsewhere(error_table, analysis) == here


def test_agreements(elsewhere):
    agreement = agree([KEY, CAUTIOUS, EAGER])
    assert elsewhere(alpha, agreement) == alpha(agreement)


def test_tag_sets(elsewhere):
    assert PENN.is_name("NNP")  # which makes a function that would not pickle
    assert elsewhere(is_name, PENN, "NNP")
    assert pickle.loads(pickle.dumps(PENN)) == PENN


def test_no_file_is_unpickled():
    """Only what a scorer sent to a worker is: files are somebody's, and pickles are programs."""
    folder = Path(corefeval.__file__).parent
    importing = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if re.search(
            r"^\s*(import|from) (pickle|marshal|shelve|joblib|dill)", path.read_text(), re.M
        )
        or "allow_pickle=True" in path.read_text()
    }
    assert importing == {"scorer.py"}

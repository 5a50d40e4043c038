"""Saved results that are called alike are told apart by their files."""

from __future__ import annotations

import numpy as np

import corefeval


def test_equal_names_become_those_of_files(run, tmp_path):
    result = corefeval.score(corefeval.example("key"), corefeval.example("eager"))
    paths = [tmp_path / f"seed1-step{step}.json{ending}" for step, ending in ((0, ""), (2, ".gz"))]
    for path in paths:
        result.save(path)
    _, out, _ = run("compare", *paths)
    assert "seed1-step0 " in out and "seed1-step2 " in out and "(2)" not in out


def test_documents_in_another_order_are_named_as_such(run, tmp_path):
    key, eager = (corefeval.read(corefeval.example(name)) for name in ("key", "eager"))
    order = np.arange(len(key.documents))[::-1]
    corefeval.score(key, eager).save(tmp_path / "a.json")
    turned = key.select_documents(order), eager.select_documents(order)
    corefeval.score(*turned).save(tmp_path / "b.json")
    status, _, err = run("compare", tmp_path / "a.json", tmp_path / "b.json")
    assert status != 0 and "a and b have the same documents in another order" in err
    assert "score them in the order of one key" in err

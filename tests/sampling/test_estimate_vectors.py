"""Estimates are those of the reference implementation, to 1e-9."""

from __future__ import annotations

import json

import pytest

import corefeval
from conftest import ROOT

DATA = ROOT / "tests" / "data" / "estimate"
CASES = json.loads((DATA / "expected.json").read_text(encoding="utf-8"))["cases"]


def is_close(value, expected) -> bool:
    if value is None or expected is None:
        return value is expected
    return abs(value - expected) <= 1e-9


def check_case(folder, case) -> None:
    sheets = [corefeval.read_sheet(folder / name) for name in case["sheets"]]
    responses = {name: folder / path for name, path in case["responses"].items()}
    candidates = case["candidates"] and folder / case["candidates"]
    estimates = corefeval.estimate(sheets, responses, candidates=candidates)
    record, expected = estimates.as_dict(case["width"]), case["expected"]
    assert record["n"] == expected["n"]
    assert set(record["refused"]) == set(expected["refused"])
    for system, metrics in expected["scores"].items():
        for metric, rates in metrics.items():
            assert set(record["scores"][system][metric]) == set(rates)
            for rate, numbers in rates.items():
                for name, number in numbers.items():
                    value = record["scores"][system][metric][rate][name]
                    assert is_close(value, number), (system, metric, rate, name, value, number)
    assert len(record["differences"]) == len(expected["differences"])
    for entry in expected["differences"]:
        names = (entry[name] for name in ("metric", "rate", "first", "second"))
        difference = estimates.difference(*names)
        for name in ("value", "error", "low", "high", "p"):
            assert is_close(getattr(difference, name), entry[name]), (entry, name)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_estimates_are_those_of_the_reference(case):
    check_case(DATA, case)


def test_all_shared_estimates_are_those_of_the_reference(shared):
    folder = shared / "estimate"
    for case in json.loads((folder / "expected.json").read_text(encoding="utf-8"))["cases"]:
        check_case(folder, case)

"""Empty nodes aligned by dependencies score as in corefud-scorer 1.2, but for its accidents."""

from __future__ import annotations

import json
from collections import Counter

import pytest

import corefeval
from conftest import ROOT
from corefeval import read
from corefeval.diagnostics import CorefEvalError

# What corefud-scorer 1.2 does and we do not, in exact match with zeros aligned. The names are
# those of the smallest examples, in `quirks`.
SPAN_IN_TWO_ENTITIES = "the last of several entities owns a span"
ACCIDENTS = {
    "zero-three-cycle": "the table of pairs is overwritten",
    "zero-phantom-match": "a zero without a pair borrows that of another",
    "zero-exact-span-ignored": "zeros match whatever else their mentions have",
    "zero-twin-lost": "zeros match whatever else their mentions have",
    "zero-deeper-parent": "a parent that is an empty node is compared by its id",
    "sentence-of-empty-nodes": "a sentence without words is forgotten",
    "empty-node-ten": "5.10 is read as 5.1",
    "TC-ZF-5": "among equal zeros the same id is no better than another",
    "027 (seed 10033)": "zeros match whatever else their mentions have",
}
AGREEMENT = {
    "random": {
        "the same": 34,
        "refused": 8,
        SPAN_IN_TWO_ENTITIES: 117,
        ACCIDENTS["027 (seed 10033)"]: 1,
    },
    "quirks": {
        "the same": 57,
        "refused": 40,  # by one of the two, or both
        SPAN_IN_TWO_ENTITIES: 9,
        ACCIDENTS["zero-three-cycle"]: 2,
        ACCIDENTS["zero-phantom-match"]: 2,
        ACCIDENTS["zero-exact-span-ignored"]: 4,
        ACCIDENTS["zero-deeper-parent"]: 2,
        ACCIDENTS["sentence-of-empty-nodes"]: 2,
        ACCIDENTS["empty-node-ten"]: 2,
    },
    "scorer-tests": {"the same": 176, "refused": 18, ACCIDENTS["TC-ZF-5"]: 2},
}


@pytest.mark.parametrize("folder", AGREEMENT)
def test_agreement_with_the_corefud_scorer(request, folder):
    """Counts of MUC, B³ and CEAFe are the program's but for its accidents, each of them known."""
    base = ROOT / "tests" / "data" / "corefud" / folder
    if not base.exists():
        base = request.getfixturevalue("shared") / "corefud" / folder
    vectors = json.loads((base / "expected.json").read_text())
    base /= vectors.get("base", ".")
    tally: Counter[str] = Counter()
    for case in vectors["cases"]:
        results = case["expected"]
        if isinstance(results, list):
            results = {setting: one for one in results for setting in one["settings"]}
        for setting, singletons in (("singletons", "keep"), ("no-singletons", "drop")):
            expected = results[f"exact/{setting}/dependent"]
            tally[outcome(base, case, expected.get("counts"), singletons)] += 1
    assert tally == AGREEMENT[folder]


def outcome(base, case, expected, singletons):
    """Whether counts are the program's, or the reason why not."""
    if expected is None:
        return "refused"
    try:
        key, response = (read(base / case[side]) for side in ("key", "response"))
        if len(key) == len(response):  # documents without names
            response = response.with_details(documents=key.documents)
        metrics = ("muc", "b3", "ceafe")
        result = corefeval.score(key, response, metrics=metrics, singletons=singletons)
    except CorefEvalError:
        return "refused"
    same = all(
        list(result[metric].counts.values()) == pytest.approx(expected[metric], abs=1e-9)
        for metric in metrics
    )
    if same:
        return "the same"
    if any(notice.kind == "repeated-mentions" for notice in result.notices):
        return SPAN_IN_TWO_ENTITIES
    return ACCIDENTS.get(case["name"], f"unknown: {case['name']}")

"""Grids of models and prompts: effects of levels, and which of them are firm."""

from __future__ import annotations

import json
from itertools import product

import pytest

import corefeval
from corefeval.diagnostics import UsageError

FACTORS = ("model", "prompt")


def documents(*wholes):
    """A response that has the whole entity in some of eight documents, and half of it elsewhere."""
    return {str(n): [["a", "b", "c"]] if n in wholes else [["a", "b"]] for n in range(8)}


KEY = documents(*range(8))
GRID = {
    "x@json": documents(*range(8)),
    "x@xml": documents(0, 1, 2, 3, 4, 5),
    "y@json": documents(0, 1, 2),
    "y@xml": documents(3),
}


def brute_force(key, cells, place, first, second):
    """Difference and p of two levels, from scores of responses that are really swapped."""

    def effect(swapped):
        gaps = []
        for name in cells:
            levels = name.split("@")
            if levels[place] == first:
                levels[place] = second
                sides = cells[name], cells["@".join(levels)]
                mixed = [
                    {d: sides[(d in swapped) ^ side][d] for d in key} for side in (False, True)
                ]
                scores = [corefeval.score(key, one, metrics="conll")["conll"].f1 for one in mixed]
                gaps.append(scores[0] - scores[1])
        return sum(gaps) / len(gaps)

    observed = effect(())
    ways = [
        {d for d, flag in zip(key, flags, strict=True) if flag}
        for flags in product((0, 1), repeat=len(key))
    ]
    hits = sum(abs(effect(way)) >= abs(observed) - 1e-12 for way in ways)
    return observed, hits / len(ways)


def test_effects_are_those_of_swapped_documents():
    key = {name: KEY[name] for name in "0123"}
    cells = {name: {d: response[d] for d in key} for name, response in GRID.items()}
    compared = corefeval.compare(key, cells, factors=FACTORS, test="exact", metrics="conll")
    for place, (factor, levels) in enumerate((("model", ("x", "y")), ("prompt", ("json", "xml")))):
        [row] = compared.effects[factor]
        assert (row.first, row.second) == levels
        difference, p = brute_force(key, cells, place, *levels)
        assert row.difference == pytest.approx(difference, abs=1e-12)
        assert row.p == row.adjusted == pytest.approx(p, abs=1e-12)


def test_vectors(shared):
    for line in (shared / "answers2" / "effects.jsonl").read_text().splitlines():
        vector = json.loads(line)
        grid = vector["responses"]
        compared = corefeval.compare(vector["key"], grid, factors=FACTORS, test="exact")
        for factor, numbers in vector["effects"].items():
            [row] = compared.effects[factor]
            assert [row.difference, row.p] == pytest.approx(numbers, abs=1e-9)


def test_three_levels_are_corrected_within_a_factor():
    grid = {**GRID, "z@json": documents(4, 5), "z@xml": documents()}
    compared = corefeval.compare(KEY, grid, factors=FACTORS, metrics="muc", trials=999)
    assert len(compared.effects["model"]) == 3 and len(compared.effects["prompt"]) == 1
    raw = [row.p for row in compared.effects["model"]]
    adjusted = [row.adjusted for row in compared.effects["model"]]
    assert adjusted == corefeval.stats.adjust(raw).tolist()
    assert all(row.firm == row.significant for row in compared.effects["model"])
    assert compared.effects["model"][0].significant


def test_with_one_prompt_the_effect_is_the_paired_test():
    grid = {"x@json": GRID["x@json"], "y@json": GRID["y@json"]}
    compared = corefeval.compare(KEY, grid, factors=FACTORS, test="exact", metrics="conll")
    [row], pair = compared.effects["model"], compared.difference("conll", "x@json", "y@json")
    assert (row.difference, row.p) == (pytest.approx(pair.difference), pytest.approx(pair.p))
    assert compared.effects["prompt"] == []


def test_missing_cells_and_wrong_names_are_refused():
    with pytest.raises(UsageError, match="no response for y@json"):
        corefeval.compare(KEY, {n: GRID[n] for n in ("x@json", "x@xml", "y@xml")}, factors=FACTORS)
    for name in ("y", "y@", "y@json@1"):
        with pytest.raises(UsageError, match="model@prompt"):
            corefeval.compare(KEY, {"x@json": GRID["x@json"], name: KEY}, factors=FACTORS)


@pytest.fixture
def answers(tmp_path):
    """A key of eight documents, and answers that find all or half, with invented mentions or not.

    What is invented costs nothing where lost mentions are left out, and a lot where they are kept.
    """
    text = "[Ada](#1) met [Bo](#2) and [she](#1) greeted [him](#2) ."
    half = text.replace("[him](#2)", "him").replace("[Bo](#2)", "Bo")
    builder = corefeval.model.CorpusBuilder(name="key")
    for number in range(8):
        words = ["Ada", "met", "Bo", "and", "she", "greeted", "him", "."]
        document = builder.document(f"d{number}", words=words)
        for entity, place in (("1", 0), ("2", 2), ("1", 4), ("2", 6)):
            document.mention(entity, place, place + 1)
    corefeval.write(builder.build(), tmp_path / "key.conll")
    invented = " ".join(f"[nobody {n} came](#{n % 2 + 1})" for n in range(9))
    names = [str(document.id) for document in corefeval.read(tmp_path / "key.conll")]
    for name, answer in {"good": text, "liar": f"{text} {invented}", "half": half}.items():
        records = [json.dumps({"id": one, "answer": answer}) for one in names]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(records))
    return tmp_path


def test_only_firm_differences_are_marked(answers, run):
    key = answers / "key.conll"
    good, half, liar = (answers / f"{name}.jsonl" for name in ("good", "half", "liar"))
    options = ("--test", "exact", "-m", "conll")
    cells = (f"a@json={good}", f"a@xml={good}", f"b@json={half}", f"b@xml={half}")
    status, out, err = run("compare", key, *cells, *options)
    assert status == 0 and "only if lost" not in err
    [line] = [line for line in out.splitlines() if line.startswith("model    a – b")]
    assert "‡" in line and "unread" in out and "strict" in out
    cells = (f"a@json={liar}", f"a@xml={liar}", f"b@json={half}", f"b@xml={half}")
    status, out, err = run("compare", key, *cells, *options, "--format", "json")
    [row] = json.loads(out)["effects"]["model"]
    assert status == 0 and row["significant"] and not row["firm"]
    cell = json.loads(out)["cells"]["a@json"]
    assert cell["strict"] < cell["score"] == 1 and cell["unread"] == 0
    assert "1 difference significant only if lost mentions are left out" in err and "a – b" in err
    grid = {"a@json": liar, "a@xml": liar, "b@json": half, "b@xml": half}
    compared = corefeval.compare(key, grid, factors=FACTORS, test="exact", metrics="conll")
    assert [row["p"], False] == [compared.effects["model"][0].p, compared.effects["model"][0].firm]
    assert compared.strict["a@json"]["conll"].f1 < compared.scores["conll"]["b@json"]
    status, _, err = run("compare", key, *cells[:3])
    assert status == 2 and "b@xml" in err


def test_strict_scores_are_those_of_their_cells_in_any_order(answers, run):
    levels = {"a@json": "half", "a@xml": "liar", "b@json": "good", "b@xml": "half"}
    cells = [f"{cell}={answers / name}.jsonl" for cell, name in levels.items()]
    out = run("compare", answers / "key.conll", *cells, "-m", "conll", "--format", "json")[1]
    shown = {cell: numbers["strict"] for cell, numbers in json.loads(out)["cells"].items()}
    for cell, name in levels.items():
        answer = answers / f"{name}.jsonl"
        alone = corefeval.score(answers / "key.conll", answer, metrics="conll", lost="strict")
        assert shown[cell] == pytest.approx(alone["conll"].f1), cell


def test_saved_results_cannot_be_firm_if_mentions_are_lost(answers, run):
    key = answers / "key.conll"
    for name in ("liar", "half"):
        saved = answers / f"{name}.json"
        assert run("score", key, answers / f"{name}.jsonl", "--save", saved)[0] == 0
    cells = (f"a@x={answers / 'liar.json'}", f"b@x={answers / 'half.json'}")
    status, out, err = run("compare", key, *cells, "--test", "exact")
    assert status == 0 and "‡ firm" in out and "only if lost" in err
    assert "‡" not in next(line for line in out.splitlines() if line.startswith("model    a – b"))

"""Probes: items, decisions and figures, against vectors that were made with the real programs."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corefeval
from conftest import ROOT
from corefeval.cli import main
from corefeval.diagnostics import InputError, PairingError, UsageError

DATA = ROOT / "tests" / "data" / "probes"
SHARED = ROOT.parent / "shared" / "conformance" / "probes"
HOMES = [home for home in (DATA, SHARED) if home.exists()]
CASES = [
    pytest.param(home, case, id=f"{Path(case['response']).name}-{number}")
    for home in HOMES
    for number, case in enumerate(json.loads((home / "expected.json").read_text())["cases"])
]
PLAIN = {"id": "1", "text": "[A Ann] saw [B Bea] when [* she] left.", "gold": "A"}


def load(name):
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def check_figures(result, expected):
    shown = result.as_dict()
    for name in ("items", "scored", "right", "outcomes", "choices"):
        assert shown[name] == expected[name], name
    for name in ("accuracy", "low", "high", "human"):
        assert shown[name] == pytest.approx(expected[name], abs=1e-9), name
    names = ("tp", "fp", "fn", "tn", *(("recall", "precision", "f1") if result.scored else ()))
    for name in names:
        assert shown["links"][name] == pytest.approx(expected["links"][name], abs=1e-9), name


def check_contrast(contrast, expected):
    names = ("group", "first", "second", "of", "items", "rates", "difference", "ratio")
    shown = {name: getattr(contrast, name) for name in names}
    shown |= dict(zip(("low", "high"), contrast.interval, strict=True))
    for name, value in shown.items():
        value = list(value) if isinstance(value, tuple) else value
        same = value == expected[name] or value == pytest.approx(expected[name], abs=1e-9)
        assert same, name
    assert (contrast.paired is None) == (expected["paired"] is None)
    if contrast.paired is not None:
        paired = contrast.paired.as_dict()
        assert paired.pop("cells") == tuple(expected["paired"]["cells"])
        for name, value in paired.items():
            assert value == pytest.approx(expected["paired"][name], abs=1e-9), name


@pytest.mark.parametrize(("home", "case"), CASES)
def test_vectors(home, case):
    paths = [str(home / path) for path in case["probes"]]
    result = corefeval.probe(paths, str(home / case["response"]), **case["options"])
    expected = case["expected"]
    check_figures(result, expected)
    for group, values in expected["groups"].items():
        for value, figures in values.items():
            check_figures(result.by(group)[value], figures)
    check_contrast(result.contrast, expected["contrast"])
    assert result.consistency.as_dict() == expected["consistency"]
    assert {d.id: d.choice for d in result.decisions} == expected["decisions"]
    held = sum(n.count for n in result.notices if n.kind == "mentions-of-several")
    assert held == expected["held"]
    again = corefeval.probe(paths, str(home / case["response"]), protocol=result.signature)
    assert again.decisions == result.decisions
    assert again.signature == result.signature


@pytest.mark.skipif(not SHARED.exists(), reason="the vectors are not here")
def test_comparisons():
    for case in json.loads((SHARED / "expected.json").read_text())["comparisons"]:
        sides = [
            corefeval.probe(SHARED / case["probe"], SHARED / case[n]) for n in ("first", "second")
        ]
        compared, expected = sides[0].compare(sides[1], trials=50), case["expected"]
        assert compared.cells == tuple(expected["cells"])
        found = (compared.difference, *compared.interval, compared.p)
        names = ("difference", "low", "high", "p")
        assert found == pytest.approx([expected[name] for name in names], abs=1e-9)


@pytest.mark.parametrize("case", load("answers.json"), ids=lambda case: case["answer"][:30])
def test_answers(case):
    (decision,) = corefeval.probe(
        [{"id": "x", "text": case["text"]}], {"x": case["answer"]}
    ).decisions
    assert (None if decision.choice == "unclear" else list(decision.chosen)) == case["chosen"]


@pytest.mark.parametrize("case", load("decisions.json"), ids=lambda case: case["name"])
def test_rules(case):
    clusters = [[[start, end - 1] for start, end in spans] for spans in case["clusters"]]
    response = [{"doc_key": "x", "tokens": case["tokens"], "clusters_token_offsets": clusters}]
    for rule, choice in case["choice"].items():
        options = (
            {"candidate": "exact", "names": "string"} if rule == "string" else {"candidate": rule}
        )
        result = corefeval.probe([{"id": "x", "text": case["text"]}], response, **options)
        assert result.decisions[0].choice == choice, rule


def test_responses_of_every_kind():
    probe = DATA / "probes" / "gap.tsv"
    rows = corefeval.probe(probe, DATA / "responses" / "rows.tsv")
    assert [d.choice for d in rows.decisions] == ["A", "A", "none", "missing"]
    assert [n.kind for n in rows.notices] == ["repeated-answers", "missing-items"]
    answers = corefeval.probe(probe, DATA / "responses" / "answers.jsonl")
    assert [d.choice for d in answers.decisions] == ["A", "B", "none", "unclear"]
    assert [n.kind for n in answers.notices] == ["unclear-answers", "extra-documents"]
    entities = corefeval.probe(probe, DATA / "responses" / "gap.jsonl")
    assert [d.choice for d in entities.decisions] == ["A", "none", "unmarked", "B"]
    assert [n.kind for n in entities.notices] == ["widened-spans", "mentions-of-several"]
    table = corefeval.probe(probe, DATA / "responses" / "answers.tsv")
    assert [d.choice for d in table.decisions] == ["A", "B", "none", "unclear"]
    pronouns, generations = DATA / "probes" / "winopron.tsv", DATA / "responses" / "generations.tsv"
    assert corefeval.probe(pronouns, generations).outcomes == {"right": 4, "wrong": 2, "unclear": 2}
    with pytest.raises(PairingError, match="g-4"):
        corefeval.probe(probe, DATA / "responses" / "rows.tsv", missing="error")


def test_spans_inside_of_tokens_widen():
    item = {**PLAIN, "text": "[A Ann]'s dog saw [B Bea] when [* she] left."}
    tokens = ["Ann's", "dog", "saw", "Bea", "when", "she", "left."]
    response = [{"doc_key": "1", "tokens": tokens, "clusters_token_offsets": [[[0, 0], [5, 5]]]}]
    result = corefeval.probe([item], response, candidate="exact")
    assert result.decisions[0].choice == "A"
    (notice,) = result.notices
    assert (notice.kind, notice.count) == ("widened-spans", 1)


def test_tokens_that_differ_are_aligned_if_asked_for():
    tokens = ["Ann", "saw", "Mia", "when", "she", "left", "."]
    response = [{"doc_key": "1", "tokens": tokens, "clusters_token_offsets": [[[0, 0], [4, 4]]]}]
    with pytest.raises(PairingError, match="another text"):
        corefeval.probe([PLAIN], response)
    assert corefeval.probe([PLAIN], response, tokens="align").decisions[0].choice == "A"


def test_an_id_may_have_a_part():
    tokens = ["Ann", "saw", "Bea", "when", "she", "left", "."]
    response = [
        {"doc_key": "d; part 001", "tokens": tokens, "clusters_token_offsets": [[[0, 0], [4, 4]]]}
    ]
    assert corefeval.probe([{**PLAIN, "id": "d; part 1"}], response).decisions[0].choice == "A"


def test_items_are_documents_of_their_own():
    for options in ({"documents": "2*"}, {"across": "documents"}):
        with pytest.raises(UsageError):
            corefeval.probe([PLAIN], {"1": "A"}, **options)


def test_tagged_answers_need_their_format():
    tagged = {"1": "[Ann](#cluster_1) saw Bea when [she](#cluster_1) left."}
    result = corefeval.probe([PLAIN], tagged, response_format="llm")
    assert result.decisions[0].choice == "A"


def test_results_add_up_save_and_compare(tmp_path):
    probe = corefeval.read_probe(DATA / "probes" / "own.tsv")
    path = DATA / "responses" / "own-tsv.jsonl"
    whole = corefeval.probe(probe, path)
    halves = [replace(probe, items=probe.items[:30]), replace(probe, items=probe.items[30:])]
    parts = [corefeval.probe(half, path) for half in halves]
    assert sum(parts).as_dict() == whole.as_dict()
    with pytest.raises(UsageError, match="t0"):
        whole + parts[0]
    whole.save(tmp_path / "kept.json.gz")
    loaded = corefeval.load(tmp_path / "kept.json.gz")
    assert loaded == whole
    assert loaded.rows(by_item=True) == whole.rows(by_item=True)
    answers = corefeval.probe(probe, DATA / "responses" / "own-tsv-answers.jsonl")
    assert 0 < whole.compare(answers, trials=99).f1_p <= 1
    with pytest.raises(UsageError):
        whole.compare(parts[0])
    frame = whole.rows()
    assert frame[0]["items"] == 60


def test_groups_and_contrasts_that_are_not_there():
    probe, path = DATA / "probes" / "own.tsv", DATA / "responses" / "own-tsv.jsonl"
    for options in ({"by": "x"}, {"contrast": "x=a,b"}, {"pair": "x"}):
        with pytest.raises(UsageError, match="kind"):
            corefeval.probe(probe, path, **options)
    with pytest.raises(UsageError, match="plain"):
        corefeval.probe(probe, path, contrast="kind=plain,other")
    with pytest.raises(UsageError, match="GROUP=FIRST,SECOND"):
        corefeval.probe(probe, path, contrast="kind")


def test_a_signature_repeats_the_level():
    result = corefeval.probe([PLAIN], {"1": "A"}, level=0.5)
    assert (
        corefeval.probe([PLAIN], {"1": "A"}, protocol=result.signature).interval == result.interval
    )


def test_open_items_only():
    result = corefeval.probe([{**PLAIN, "gold": None}], {"1": "A"})
    assert (result.accuracy, result.interval, result.outcomes) == (None, None, {})
    assert not result.links.has_counted


def test_silence_has_full_precision_if_undefined_is_1():
    assert corefeval.probe([PLAIN], {"1": "?"}, undefined="1").links.precision == 1


@pytest.mark.parametrize("style", ["letter", "name", "yesno"])
def test_prompts(style):
    probe = corefeval.read_probe([PLAIN])
    records = list(probe.prompts(style))
    assert [record["id"] for record in records] == (["1#A", "1#B"] if style == "yesno" else ["1"])
    assert all("when **she** left" in record["user"] for record in records)
    if style != "yesno":
        assert "A) Ann\nB) Bea\nC) neither" in records[0]["user"]
    changed = corefeval.read_probe([{**PLAIN, "gold": "B", "groups": {"a": "b"}, "pair": "p"}])
    assert list(changed.prompts(style)) == records


def run(*arguments):
    return main([os.fspath(argument) for argument in arguments])


def test_command(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    probe, responses = DATA / "probes" / "gap.tsv", DATA / "responses"
    both = (f"rows={responses / 'rows.tsv'}", responses / "gap.jsonl", "--trials", "20")
    assert run("probe", probe, *both, "-f", "json", "--by-item", "--save", "kept.json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert [result["response"] for result in shown["results"]] == ["rows", "gap.jsonl"]
    assert list(shown["results"][0]["groups"]) == ["gender"]
    assert shown["results"][0]["decisions"][0]["choice"] == "A"
    assert {"low", "high", "adjusted_p", "f1_p"} <= {*shown["comparisons"][0]}
    assert run("probe", "kept.json", "-q", "--trials", "20", "--by", "gold") == 0
    assert "gold neither" in capsys.readouterr().out
    assert run("score", "kept.json", "--ci", "-q") == 0
    assert run("probe", probe, responses / "rows.tsv", "--fail-under", "accuracy=99", "-q") == 3
    assert run("probe", "kept.json", "--candidate", "exact") == 2
    assert run("probe", "kept.json", "--write", "items.jsonl") == 2  # which has no texts
    assert run("probe", "kept.json", responses / "rows.tsv") == 2  # there is no probe for it
    assert run("probe", probe, "--write", "items.jsonl") == 0
    assert corefeval.read_probe("items.jsonl").items == corefeval.read_probe(probe).items
    assert run("probe", probe) == 2
    for option in ("--output", "--save"):  # which would be left out
        assert run("probe", probe, "--write", "again.jsonl", option, "x.json") == 2
        assert not (tmp_path / "again.jsonl").exists()


@pytest.mark.parametrize("format", ["text", "csv", "markdown", "latex"])
def test_drawings(format):
    result = corefeval.probe(DATA / "probes" / "own.tsv", DATA / "responses" / "own-tsv.jsonl")
    for by_document in (False, True):
        assert corefeval.render(result, format=format, by_document=by_document)


def test_prompt_command_tells_a_probe_from_a_key(tmp_path, capsys):
    probe, key = DATA / "probes" / "gap.tsv", DATA / "probes" / "dev_type1.conll"
    for arguments, words in (
        ((probe,), "A) Ann Lee"),
        ((key,), "annotate coreference"),
        ((key, "--style", "name"), "A) The carpenter"),
    ):
        assert run("prompt", *arguments) == 0
        assert words in capsys.readouterr().out
    for options in (["--mentions"], ["--ideal", tmp_path / "x"], ["--for", "inspect"]):
        assert run("prompt", probe, *options, "--output", tmp_path / "out") == 2


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=12))
def test_mcnemar_is_exact(pairs):
    """The p-value is the share of all ways to swap that are at least as far apart."""
    items = [{**PLAIN, "id": str(number)} for number in range(len(pairs))]
    sides = (
        corefeval.probe(items, {str(n): "A" if right else "B" for n, right in enumerate(side)})
        for side in zip(*pairs, strict=True)
    )
    first, second = sides
    gaps = [left - right for left, right in pairs if left != right]
    sums = [abs(sum(signs)) for signs in product((1, -1), repeat=len(gaps))]
    expected = sum(total >= abs(sum(gaps)) for total in sums) / len(sums)
    assert first.compare(second, trials=1).p == pytest.approx(expected)


@pytest.mark.parametrize(
    "change",
    [
        {"text": ["Ann", "saw", "her"], "target": [2, 3], "candidates": [[0, 1]]},
        {"tokens": "Ann saw her", "target": [8, 11], "candidates": [[0, 3]]},
        {"text": "Ann saw her", "target": [True, 3], "candidates": [[0, 3]]},
        {"id": None},
    ],
)
def test_values_of_a_wrong_kind_are_no_items(change):
    with pytest.raises(InputError, match=r"an item must have|a span has no words"):
        corefeval.read_probe([{**PLAIN, **change}])


@pytest.mark.parametrize("noise", ["<think>", "</think>", "*\n", "\n", "answer\n"])
def test_long_answers_come_to_an_end(noise):
    answer = f"{noise * 20_000}\nAnswer: Ann"
    assert corefeval.probe([PLAIN], {"1": answer}).accuracy == 1


def test_thoughts_without_a_beginning_do_not_count():
    assert corefeval.probe([PLAIN], {"1": "Ann or Bea?</think>\n\nAnn"}).accuracy == 1


TABLE = "id\ttext\tgold\tkind\n1\t[A Ann] saw, [B Bea] when [* she] left.\tA\tx\n"
COMMAS = [
    ('id,answer\n1,"Ann, I think"\n', "A"),
    ('"id","answer"\r\n"1","It is\nAnn."\r\n', "A"),
    ("1,False,True\n", "B"),
    ("ID,A,B\n1,False,True\n", "B"),
]


@pytest.mark.parametrize(("text", "choice"), COMMAS)
def test_tables_may_have_commas(text, choice, tmp_path):
    (tmp_path / "p.tsv").write_text(TABLE)
    (tmp_path / "p.csv").write_text(
        '"id",text,gold,kind\n1,"[A Ann] saw, [B Bea] when [* she] left.",A,x\n'
    )
    (tmp_path / "r.csv").write_text(text, newline="")
    table, commas = (corefeval.read_probe(tmp_path / f"p.{ending}") for ending in ("tsv", "csv"))
    assert commas.items == table.items
    assert corefeval.probe(commas, tmp_path / "r.csv").decisions[0].choice == choice
    (tmp_path / "r.csv").write_text(f"{text}2,A,B,C\n", newline="")
    with pytest.raises(InputError, match="a line of 4 columns") as raised:
        corefeval.probe(commas, tmp_path / "r.csv")
    assert raised.value.line == len(text.splitlines()) + 1


def test_a_cell_may_be_long(tmp_path):
    (tmp_path / "p.tsv").write_text(TABLE)
    (tmp_path / "r.tsv").write_text(f"id\tanswer\n1\t{'word ' * 50_000} Ann\n")
    assert corefeval.probe(tmp_path / "p.tsv", tmp_path / "r.tsv").accuracy == 1


def test_errors_say_what_was_found(tmp_path):
    header = "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL\n"
    row = "g-1\tAnn saw Bea when she left.\tshe\t17\tAnn\t0\tTRUE\tBea\t9\tFALSE\tu\n"
    (tmp_path / "g.tsv").write_text(header + row)
    with pytest.raises(InputError, match=r"g\.tsv, line 2: .* Bea is not at 9, but at 8"):
        corefeval.read_probe(tmp_path / "g.tsv")
    for gold in ("a", ["a"]):
        with pytest.raises(InputError, match=r"gold names no candidate of AB: .'a'"):
            corefeval.read_probe([{**PLAIN, "gold": gold}])


def test_the_first_item_may_be_long(tmp_path):
    words = "word " * 20_000
    (tmp_path / "p.jsonl").write_text(json.dumps({**PLAIN, "text": words + PLAIN["text"]}) + "\n")
    assert corefeval.read_probe(tmp_path / "p.jsonl").format == "probe"


def test_items_are_called_items(tmp_path, capsys):
    items = [
        {**PLAIN, "id": str(number), "groups": {"kind": "xy"[number % 2]}} for number in (1, 2)
    ]
    with pytest.raises(UsageError, match="no item has kind 'z': there are x, y"):
        corefeval.probe(items, {"1": "A", "2": "A"}, contrast="kind=x,z")
    for name in ("a", "b"):
        corefeval.probe(items, {"1": "A", "2": "B"}).save(tmp_path / f"{name}.json")
    assert run("compare", tmp_path / "a.json", tmp_path / "b.json") == 0
    told = capsys.readouterr()
    assert "F1 on 2 items" in told.out and "document" not in told.out + told.err


def test_sentences_on_pairs_can_be_read():
    items = [{**PLAIN, "id": name, "pair": "p", "groups": {"gender": name}} for name in ("x", "y")]
    first, second = (
        corefeval.probe(items, {"x": "A", "y": y}, contrast="gender=y,x") for y in "AB"
    )
    shown = " ".join(corefeval.render(second, format="text").split())
    assert "1 pair: all items have the same choice in 0; all are right in 0 of 1 scored" in shown
    assert "a difference of −100.00 (−" in shown
    pairs = [first.compare(second, trials=20)]
    shown = corefeval.render([first, second], format="text", comparisons=pairs)
    assert "Differences" in shown and "adjusted" in shown and "+50.00" in shown

"""Sheets that people changed by accident, or would lose."""

from __future__ import annotations

import pytest

import corefeval
from corefeval import InputError
from corefeval.cli import main
from sheet_makers import Person, rows_of, write_rows

RESPONSES = {name: corefeval.example(name) for name in ("cautious", "eager")}
PERSON = Person(corefeval.read(corefeval.example("key")))
PLAIN = [["Ada", "she"], ["it", "her"]]


def test_ids_that_a_sentence_does_not_have_are_refused(tmp_path):
    sheet = corefeval.sample(RESPONSES, design="sentences", n=30).fill(lambda row: ([], 0))
    rows = rows_of(sheet)
    rows[0]["mentions"] = rows[0]["answer"] = "900..901"
    path = write_rows(tmp_path / "sheet.csv", sheet, rows)
    with pytest.raises(InputError, match="that the sentence does not have"):
        corefeval.estimate(path, RESPONSES)


def test_a_filled_sheet_with_a_mistake_is_not_replaced(tmp_path, capsys):
    path = tmp_path / "sheet.csv"
    corefeval.sample(RESPONSES, design="pairs", n=9).fill(lambda row: "y").write(path)
    lines = path.read_bytes().decode("utf-8-sig").splitlines()
    lines[-1] = lines[-1].removesuffix("y") + "maybe"
    path.write_text("\n".join(lines), encoding="utf-8-sig")
    arguments = [*map(str, RESPONSES.values()), "--design", "pairs", "--n", "9", "-o", str(path)]
    assert main(["sample", *arguments]) == 1
    assert "maybe" in capsys.readouterr().err and "maybe" in path.read_text(encoding="utf-8-sig")


def test_an_answer_is_not_lost_where_a_mention_is_asked_about_twice():
    for seed in range(20):
        sheet = corefeval.sample(RESPONSES, design="names", n=60, seed=seed)
        asked = {}
        for row in sheet:
            asked.setdefault((row.document, row.mention), []).append(row.row)
        twice = next((numbers for numbers in asked.values() if numbers[1:]), None)
        if twice:
            filled = sheet.fill(lambda row, first=twice[0]: "Ada" if row.row == first else "")
            again = corefeval.sample(RESPONSES, n=60, answers=filled)
            assert any(row.answer == "Ada" for row in again)
            return
    pytest.fail("no mention is asked about twice")


def test_members_that_no_response_has_are_counted_in_plain_python_too():
    sheet = corefeval.sample(PLAIN, design="names", n=4).fill(lambda row: row.mention)
    estimates = corefeval.estimate(sheet.complete(lambda row: ["Zoe"]), PLAIN)
    assert next(n.count for n in estimates.notices if n.kind == "outside") == 4

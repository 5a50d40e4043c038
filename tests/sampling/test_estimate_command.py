"""Sampling and estimating on the command line, and what is printed."""

from __future__ import annotations

import csv
import io
import json

import pytest

import corefeval
from corefeval import UsageError
from corefeval.cli import main
from sheet_makers import Person

RESPONSES = {name: corefeval.example(name) for name in ("cautious", "eager")}
KEY = corefeval.example("key")
PERSON = Person(corefeval.read(KEY))


def test_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["example"]) == 0
    arguments = ["cautious.conll", "b=eager.conll", "--design", "names", "--n", "40"]
    assert main(["sample", *arguments, "--output", "sheet.csv"]) == 0
    assert "40 draws" in capsys.readouterr().out
    sheet = corefeval.read_sheet("sheet.csv")
    assert sheet.signature.responses == ("b", "cautious")
    PERSON.fill(sheet).write("sheet.csv")
    assert main(["sample", *arguments]) == 2  # which would replace sheet.csv
    assert "has answers, which would be lost" in capsys.readouterr().err
    more = ["cautious.conll", "b=eager.conll", "--n", "60", "--answers", "sheet.csv"]
    assert main(["sample", *more, "--output", "more.csv"]) == 0
    PERSON.fill(corefeval.read_sheet("more.csv")).write("more.csv")
    capsys.readouterr()
    command = ["estimate", "more.csv", "cautious.conll", "b=eager.conll", "--margin", "2"]
    assert main([*command, "--format", "json", "--annotator", "more.csv"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["design"] == "names" and record["n"] == 60
    entry = record["scores"]["b"]["lea"]["f1"]
    assert {*entry} == {"value", "error", "low", "high", "counted", "needed"}
    assert entry["needed"] > 60
    names = {"metric", "rate", "first", "second", "value", "error", "low", "high", "p"}
    assert {*record["differences"][0]} == names
    assert {"signature", "frame", "refused", "notices"} <= {*record}
    for format in ("text", "markdown", "latex", "csv"):
        assert main([*command, "--format", format]) == 0
        out = capsys.readouterr().out
        assert "LEA" in out or format == "csv"
        if format == "csv":
            rows = [*csv.DictReader(io.StringIO(out))]
            assert rows[0]["system"] == "cautious" and rows[0]["needed"]
        else:
            assert "not about others of their kind" in out
    assert main(["estimate", "more.csv", "b=eager.conll"]) == 1
    assert "NAME=PATH" in capsys.readouterr().err
    assert main([*command[:-1], "0"]) == 2
    assert main(["sample", "eager.conll", "--design", "names", "-o", "new.csv"]) == 2
    assert "--n, the number of draws" in capsys.readouterr().err


@pytest.mark.parametrize("design", ["names", "entities", "pairs", "sentences"])
def test_the_command_counts_draws_not_rows(design, tmp_path, capsys):
    path = tmp_path / "sheet.csv"
    arguments = [RESPONSES["cautious"], f"b={RESPONSES['eager']}", "--design", design, "--n", "20"]
    assert main(["sample", *map(str, arguments), "--output", str(path)]) == 0
    rows = len(corefeval.read_sheet(path))
    last = capsys.readouterr().out
    assert f"20 draws of {corefeval.read_sheet(path).signature.frame}, {rows} rows" in last


def test_render_draws_sheets_too():
    sheet = corefeval.sample(RESPONSES, design="pairs", n=3)
    assert "partner_mention" in corefeval.render(sheet, format="csv")
    assert "y" in corefeval.render(sheet, format="text")


@pytest.mark.parametrize(
    ("metrics", "words"),
    [
        ("conll", "conll cannot be estimated from names: it needs the best one-to-one pairing"),
        ("ceafm", "ceafm cannot be estimated from names: it needs the best one-to-one pairing"),
        ("muc", "it needs the number of response entities that share a key entity"),
        ("blanc", "a few large entities decide it"),
        ("lmuc", "there are b3, lea, mentions"),
    ],
)
def test_the_reason_is_that_of_the_metric_that_was_asked_for(metrics, words):
    sheet = corefeval.sample(RESPONSES, design="names", n=9)
    with pytest.raises(UsageError, match=words):
        corefeval.estimate(sheet, RESPONSES, metrics=metrics)


def test_the_agreement_of_people_is_told_in_words(tmp_path, capsys):
    command = [f"{name}={path}" for name, path in RESPONSES.items()]
    for design, words in (
        (
            "names",
            ["rows answered by all of them", "on what is no mention", "B³ F1 of their names"],
        ),
        ("pairs", ["answered alike", "α = 1.000"]),
    ):
        PERSON.fill(corefeval.sample(RESPONSES, design=design, n=30)).write(tmp_path / "a.csv")
        sheets = [str(tmp_path / "a.csv"), *command, "--annotator", str(tmp_path / "a.csv")]
        assert main(["estimate", *sheets]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert "2 people:" in shown
        for text in words:
            assert text in shown, shown


def test_differences_have_the_signs_of_compare():
    sheet = PERSON.fill(corefeval.sample(RESPONSES, design="names", n=30))
    shown = corefeval.render(corefeval.estimate(sheet, RESPONSES), format="text")
    signs = shown.partition("Differences")[2].partition("answered draws")[0]
    assert "−" in signs and "+" in signs and " -" not in signs

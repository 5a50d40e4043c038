"""The largest entities, one by one: in a corpus, and as a response has them."""

from __future__ import annotations

import csv
import io
import json

import pytest

import corefeval

KEY, EAGER = corefeval.example("key"), corefeval.example("eager")


def test_entities_are_listed_with_their_places():
    rows = corefeval.statistics(KEY, documents="nw/*").entity_table(3)
    assert [(row.name, row.mentions) for row in rows] == [
        ("Tomas Reyl , 58", 9),
        ("The old ferry Marigold", 7),
        ("Nadia Okoro , 11", 6),
    ]
    assert rows[0].document == "nw/bakery_01; part 000"
    assert (rows[0].first, rows[0].last, rows[0].first_sentence, rows[0].last_sentence) == (
        0, 122, 1, 8,
    )  # fmt: skip
    assert rows[0].recall is None and rows[0].split == ()


def test_a_response_merges_and_splits():
    key = [["Ada", "she", "her"], ["Bo", "he"], ["it", "that"]]
    response = [["Ada", "she", "Bo"], ["her", "x"], ["he"]]
    rows = {row.name: row for row in corefeval.analyse(key, response).entity_table()}
    assert list(rows) == ["Ada", "Bo", "it"]
    assert rows["Ada"].recall == 1.0 and rows["Ada"].together == pytest.approx(2 / 3)
    assert rows["Ada"].merged == (("Bo", 1),)
    assert rows["Ada"].split == (("Ada", 2), ("her", 1))
    assert rows["it"].recall == 0.0 and rows["it"].together == 0.0 and rows["it"].merged == ()


@pytest.mark.parametrize("format", ["text", "json", "csv", "markdown", "latex"])
@pytest.mark.parametrize("command", [("stats", KEY), ("errors", KEY, EAGER)])
def test_commands_show_them(run, command, format):
    _, output, _ = run(*command, "--entities", "4", "-f", format)
    assert output.count("Tomas Reyl") >= 1
    if format == "csv":
        rows = list(csv.DictReader(io.StringIO(output)))
        assert [int(row["mentions"]) for row in rows] == [9, 9, 9, 7]
    if format == "json":
        record = json.loads(output)
        record = record["responses"][0] if command[0] == "errors" else record[0]
        assert [row["mentions"] for row in record["largest_entities"]] == [9, 9, 9, 7]


def test_statistics_take_what_score_takes(tmp_path):
    plain = corefeval.statistics([["Ada", "she"], ["it"]])
    assert (plain.mentions, plain.entities) == (3, 2)
    assert [row.name for row in plain.entity_table(1)] == ["Ada"]
    assert corefeval.statistics(corefeval.read(KEY)) == corefeval.statistics(KEY)
    with pytest.raises(corefeval.InputError):
        corefeval.statistics(tmp_path / "nothing.conll")

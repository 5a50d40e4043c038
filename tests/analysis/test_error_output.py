"""Error analysis for people: every form of output, and the command."""

from __future__ import annotations

import csv
import io
import json

import pytest

import corefeval
from corefeval import corpus_from_entities
from corefeval.analysis.errors import KINDS, analyse
from corefeval.cli import main
from corefeval.output import render

FORMATS = ("text", "json", "csv", "markdown", "latex")
AWKWARD = r"a|b_c & [bold]d[/] <e> {f} 50% #1 ~^ \g *h* ³"


@pytest.fixture(scope="module")
def analyses():
    key = corefeval.read(corefeval.example("key"), name="key")
    return [
        analyse(key, corefeval.read(corefeval.example(name), name=name))
        for name in ("cautious", "eager")
    ]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kinds", [(), KINDS])
def test_everything_renders(analyses, format, kinds):
    key = {AWKWARD: [[AWKWARD, "b"], ["c"]]}
    response = corpus_from_entities({AWKWARD: [[AWKWARD, "b", "c"]]}, name=AWKWARD)
    nothing = analyse(key, key, metrics="ceafe")
    for some in (analyses, analyses[:1], [analyse(key, response)], [nothing]):
        text = render(some, format=format, kinds=kinds)
        assert text.endswith("\n")
        assert "nan" not in text.replace("finance", "")


def test_lists_show_what_a_mention_is_matched_with():
    """Under a match that is not exact, a mention of other tokens than the key's is no error."""
    spans = corefeval.corpus_from_arrays
    key = spans(entity=[0, 0, 1, 1], start=[0, 4, 6, 8], end=[3, 5, 7, 9], head=[1, 4, 6, 8])
    response = spans(entity=[0, 0, 1, 0], start=[0, 4, 6, 8], end=[2, 5, 7, 9], head=[1, 4, 6, 8])
    analysis = analyse(key, response, match="head", metrics="b3")
    for format in ("text", "markdown", "latex"):
        text = render(analysis, format=format, kinds=["conflated"])
        assert "(matched with 0–2)" in text.replace("--", "–")
    rows = csv.DictReader(io.StringIO(render(analysis, format="csv", kinds=["conflated"])))
    assert [(row["instead_match_start"], row["instead_match_end"]) for row in rows] == [("0", "3")]
    assert {row["match_start"] for row in analysis.error_rows()} == {None}
    assert "matched with" not in render(analyse(key, response), kinds=KINDS)


def test_unknown_formats(analyses):
    with pytest.raises(corefeval.UsageError, match="no output format 'pdf'"):
        render(analyses, format="pdf")


def test_text_fits_a_terminal(analyses):
    lines = render(analyses[1:]).splitlines()
    assert max(map(len, lines[:-1])) <= 100
    (whole,) = (line.split() for line in lines if line.startswith("all "))
    (f1,) = (line.split() for line in lines if line.startswith("F1 "))
    for points, score in zip(whole[2:], f1[1:], strict=True):
        assert float(points) + float(score) == pytest.approx(100, abs=0.011)


def test_json_and_csv_say_the_same(analyses):
    report = json.loads(render(analyses, format="json"))
    _, eager = report["responses"]
    rows = list(csv.DictReader(io.StringIO(render(analyses, format="csv"))))
    for kind in eager["kinds"]:
        (count,) = (
            row
            for row in rows
            if row["response"] == "eager"
            and row["row"] == kind["kind"]
            and row["measure"] == "count"
        )
        assert int(count["value"]) == kind["count"]
    gains = [row for row in rows if row["measure"] == "in_turn" and row["metric"] == "b3"]
    assert sum(float(row["value"]) for row in gains if row["response"] == "eager") == (
        pytest.approx(1 - eager["scores"]["b3"])
    )
    assert sum(document["errors"]["span"] for document in eager["documents"]) == 4


def test_listed_csv_has_every_mention(analyses):
    text = render(analyses[1:], format="csv", kinds=["extra entity"])
    rows = list(csv.DictReader(io.StringIO(text)))
    errors = analyses[1].listed("extra entity")
    assert len(rows) == sum(len(one.mentions) for one in errors)
    assert len({row["error"] for row in rows}) == len(errors)
    assert {row["key_entity"] for row in rows} == {""}


def test_command(tmp_path, capsys):
    key, cautious, eager = (str(corefeval.example(n)) for n in ("key", "cautious", "eager"))
    assert main(["errors", key, cautious, f"mine={eager}", "-m", "b3", "--top", "1"]) == 0
    shown = capsys.readouterr()
    assert "The most expensive mentions of mine" in shown.out
    assert "1 repeated mention dropped" in shown.err
    output = tmp_path / "errors.csv"
    arguments = ["errors", key, eager, "--quiet"]
    assert main([*arguments, "--list", "all", "-f", "csv", "-o", str(output)]) == 0
    assert capsys.readouterr() == ("", "")
    kinds = {row["kind"] for row in csv.DictReader(io.StringIO(output.read_text(encoding="utf-8")))}
    assert kinds == set(KINDS) - {"missing entity"}
    assert main([*arguments, "--list", "spurious mention"]) == 0
    assert capsys.readouterr().out.startswith("extra mention: 22\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--list", "nonsense"), "no kind of error"),
        (("--output", "KEY"), "overwrite an input"),
        (("--metrics", "nonsense"), "no metric"),
    ],
)
def test_bad_usage(conll, run, options, message):
    key = conll("#begin document (d); part 000\nd 0 0 a - (0)\n\n#end document\n")
    options = [key if word == "KEY" else word for word in options]
    status, _, err = run("errors", key, key, *options)
    assert status == 2 and message in err
    assert "only once" in run("errors", "-", "-")[2]
    assert "two responses are called 'a'" in run("errors", key, f"a={key}", f"a={key}")[2]

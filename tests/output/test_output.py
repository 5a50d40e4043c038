"""Every form of output, from the same results."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import get_args

import pytest

import corefeval
from corefeval.output import Format, render

AWKWARD = r"a|b_c & [bold]d[/] <e> {f} 50% #1 ~^ \g *h* ³"


@pytest.fixture(scope="module")
def results():
    key = corefeval.read(corefeval.example("key"), name="key")
    return [
        corefeval.score(key, corefeval.read(corefeval.example(name), name=name))
        for name in ("cautious", "eager")
    ]


@pytest.fixture(scope="module")
def awkward():
    key = {AWKWARD: [["a", "b"], ["c"]]}
    corpus = corefeval.corpus_from_entities({AWKWARD: [["a", "b", "c"]]}, name=AWKWARD)
    return [corefeval.score(key, corpus), corefeval.score(key, key)]


@pytest.mark.parametrize("format", [one for one in get_args(Format) if one != "codabench"])
@pytest.mark.parametrize("by_document", [False, True])
def test_everything_renders(results, awkward, format, by_document):
    for some in (results, results[:1], awkward):
        text = render(some, format=format, by_document=by_document)
        assert text.endswith("\n")
        assert "nan" not in text


def test_unknown_formats(results):
    with pytest.raises(corefeval.UsageError, match="no output format 'pdf'"):
        render(results, format="pdf")


@pytest.mark.parametrize("format", ["text", "json", "csv", "markdown", "latex"])
def test_whatever_there_is_can_be_rendered(results, format):
    assert render(results[0], format=format) == render(results[:1], format=format)
    assert render(iter(results), format=format) == render(results, format=format)
    key, response = corefeval.example("key"), corefeval.example("eager")
    compared = corefeval.compare(key, [key, response], trials=99)
    agreement = corefeval.agree([key, response])
    analysis = corefeval.analyse(key, response)
    for one, sign in ((compared, "eager"), (agreement, "0."), (analysis, "eager")):
        assert sign in render(one, format=format)
    assert render([analysis], format=format) == render(analysis, format=format)
    assert render([compared], format=format) == render(compared, format=format)
    assert len(render(agreement, by_document=True)) > len(render(agreement))
    with pytest.raises(corefeval.UsageError, match="no by_document for a Comparison"):
        render(compared, by_document=True)


@pytest.mark.parametrize("wrong", [[], None, "scores.json", {}, [None], 3])
def test_what_cannot_be_rendered(results, wrong):
    with pytest.raises(corefeval.UsageError, match="only results can be rendered"):
        render(wrong)
    with pytest.raises(corefeval.UsageError, match="only results can be rendered"):
        render([*results, wrong])


def test_json_has_the_agreed_shape(results):
    report = json.loads(render(results, format="json"))
    assert set(report) == {"corefeval", "key", "responses"}
    assert report["corefeval"] == corefeval.__version__
    assert report["key"] == "key"
    cautious, eager = report["responses"]
    assert set(eager) == {"name", "signature", "scores", "documents", "notices"}
    assert (cautious["name"], eager["name"]) == ("cautious", "eager")
    assert eager["signature"] == results[1].signature
    assert eager["scores"]["conll"] == {"f1": results[1]["conll"].f1}
    b3 = eager["scores"]["b3"]
    assert set(b3) == {"recall", "precision", "f1", "counts"}
    assert b3["recall"] == results[1]["b3"].recall
    assert b3["counts"] == dict(results[1]["b3"].counts)
    assert len(eager["documents"]) == 9
    first = eager["documents"][0]
    assert first["id"] == results[1].document_ids[0]
    assert first["scores"]["muc"]["f1"] == results[1].documents[0]["muc"].f1
    assert [notice["kind"] for notice in eager["notices"]] == ["repeated-mentions"]


def test_csv_is_unrounded(results):
    rows = list(csv.DictReader(io.StringIO(render(results, format="csv", by_document=True))))
    assert len(rows) == 2 * 8 * (1 + 9)
    total = next(row for row in rows if row["metric"] == "b3" and not row["document"])
    assert total["response"] == "cautious"
    assert float(total["recall"]) == results[0]["b3"].recall
    conll = next(row for row in rows if row["metric"] == "conll")
    assert (conll["recall"], conll["precision"]) == ("", "")


def test_text_is_made_for_reading():
    """Rounded, not truncated: 2/3 is 66.67."""
    result = corefeval.score([["a", "b", "c"]], [["a", "b"], ["c"]], metrics="muc,conll")
    text = render([result])
    assert text.splitlines()[:6] == [
        "Metric       R        P      F1",
        "───────────────────────────────",
        "MUC      50.00   100.00   66.67",
        "B³       55.56   100.00   71.43",
        "CEAFe    80.00    40.00   53.33",
        "CoNLL                     63.81",
    ]
    assert "\x1b" not in text


def test_text_shows_names_as_they_are(awkward):
    text = render(awkward, by_document=True)
    assert AWKWARD in text


def test_the_best_is_bold(results):
    markdown = render(results, format="markdown")
    assert f"**{100 * results[1]['conll'].f1:.2f}**" in markdown
    assert f"**{100 * results[0]['ceafe'].f1:.2f}**" in markdown
    assert "**" not in render(results[:1], format="markdown")
    assert r"\textbf{" in render(results, format="latex")


def test_markdown_rows_have_one_cell_per_column(awkward):
    for some, cells in ((awkward, 1 + 7 * 3 + 1), (awkward[:1], 4)):
        for line in render(some, format="markdown").splitlines():
            if line.startswith("|"):
                assert len(re.findall(r"(?<!\\)\|", line)) == cells + 1


def test_latex_compiles(results, awkward, set_latex):
    set_latex(render(results, format="latex", by_document=True), render(awkward, format="latex"))


def test_the_official_scorers_form():
    """Its habits too: cut instead of rounded, 15 digits, no trailing zeros."""
    result = corefeval.score(
        [["a", "b", "c"], ["d", "e"]], [["a", "b"], ["c", "d", "e"]], metrics="standard"
    )
    text = render([result], format="conll")
    rule = "-" * 74
    assert text.startswith(
        "METRIC muc:\n\n====== TOTALS =======\n"
        "Identification of Mentions: Recall: (5 / 5) 100%\tPrecision: (5 / 5) 100%\tF1: 100%\n"
        f"{rule}\n"
        "Coreference: Recall: (2 / 3) 66.66%\tPrecision: (2 / 3) 66.66%\tF1: 66.66%\n"
        f"{rule}\n\nMETRIC bcub:\n"
    )
    assert "(3.66666666666667 / 5) 73.33%" in text
    assert "BLANC: Recall: (0.583333333333333 / 1) 58.33%" in text
    assert [line for line in text.splitlines() if line.startswith("METRIC")] == [
        "METRIC muc:", "METRIC bcub:", "METRIC ceafm:", "METRIC ceafe:", "METRIC blanc:",
        "METRIC lea:",
    ]  # fmt: skip


def test_the_official_form_needs_its_metrics():
    result = corefeval.score([["a", "b"]], [["a", "b"]], metrics="mentions")
    with pytest.raises(corefeval.UsageError, match="prints only muc"):
        render([result], format="conll")
    result = corefeval.score([["a", "b"]], [["a", "b"]], metrics="muc")
    with pytest.raises(corefeval.UsageError, match="prints mentions too"):
        render([result], format="conll")


def test_official_percentages(shared):
    """The percentages that v8.01 prints follow from its fractions the same way."""
    gum = shared / "gum"
    result = corefeval.score(gum / "key.conll", gum / "cort-pair.conll")
    text = render([result], format="conll")
    assert "Coreference: Recall: (1783 / 2956) 60.31%\tPrecision: (1783 / 2581) 69.08%" in text
    assert "(1809.03018566784 / 3935) 45.97%" in text


def test_documents_that_print_the_same_id_are_both_shown():
    ids = [corefeval.DocumentId("a; part 001"), corefeval.DocumentId("a", 1)]
    corpus = corefeval.corpus_from_arrays(
        document=[0, 0, 1], entity=[0, 0, 1], start=[0, 1, 0], document_ids=ids
    )
    rows = render([corefeval.score(corpus, corpus, metrics="b3")], format="csv", by_document=True)
    assert rows.count("a; part 001") == 2


@pytest.mark.parametrize("format", ["csv", "markdown", "latex"])
def test_names_of_several_lines_stay_on_one(format):
    corpus = corefeval.corpus_from_entities({"a\rb\nc": [["x"]]}, name="d\re")
    plain = corefeval.corpus_from_entities({"a b c": [["x"]]}, name="d e")
    lines = [
        len(render([corefeval.score(c, c)] * 2, format=format, by_document=True).splitlines())
        for c in (corpus, plain)
    ]
    assert lines[0] == lines[1]


def test_the_official_scorer_has_no_macro_average():
    result = corefeval.score([["a", "b"]], [["a", "b"]], aggregate="macro")
    with pytest.raises(corefeval.UsageError, match="no macro average"):
        render([result], format="conll")

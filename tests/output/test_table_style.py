"""Tables for papers: digits, rates and their order, captions, labels, and widths that fit."""

from __future__ import annotations

import re

import pytest

import corefeval
from corefeval.analysis.statistics import statistics
from corefeval.diagnostics import UsageError
from corefeval.output import render
from corefeval.output.tables import STYLE

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))


@pytest.fixture(scope="module")
def results():
    return [
        corefeval.score(KEY, path, metrics="standard").rename(name)
        for name, path in (("cautious", CAUTIOUS), ("eager", EAGER))
    ]


@pytest.fixture(scope="module")
def comparison():
    paths = {"a first system": CAUTIOUS, "the second one": EAGER, "third": KEY}
    return corefeval.compare(KEY, paths, trials=99)


def cells(line: str) -> list[str]:
    return [cell.strip(" *") for cell in line.strip("|").split("|")]


@pytest.mark.parametrize("digits", [0, 1, 4])
def test_digits(results, comparison, digits):
    f1 = 100 * results[0]["muc"].f1
    for format in ("text", "markdown", "latex"):
        assert f"{f1:.{digits}f}" in render(results[0], format=format, digits=digits)
        shown = render(comparison, format=format, digits=digits, pairs=True)
        pair = abs(100 * comparison.pairs[0].difference)
        assert re.search(rf"(?<![\d.]){pair:.{digits}f}(?![\d.])", shown)
    intervals = render(corefeval.score(KEY, EAGER, metrics="muc", ci=0.95, samples=50), digits=3)
    assert re.search(r"\d\.\d{3}–\d\d\.\d{3}", intervals)
    assert STYLE.get().digits is None


def test_digits_cut_off_where_a_protocol_does():
    result = corefeval.score(KEY, EAGER, metrics="muc", protocol="rounding:truncate(2)")
    f1 = 100 * result["muc"].f1
    assert f"{int(10 * f1) / 10:.1f}" in render(result, digits=1)


def test_rates_in_any_order(results):
    lines = render(results[0], rates="p, Recall, F1", format="markdown").splitlines()
    muc = results[0]["muc"]
    assert cells(lines[0]) == ["Metric", "P", "R", "F1"]
    row = next(cells(line) for line in lines if "MUC" in line)
    assert row[1:] == [f"{100 * rate:.2f}" for rate in (muc.precision, muc.recall, muc.f1)]
    only = render(results, rates=["recall"], format="markdown").splitlines()
    assert cells(only[0])[:3] == ["Response", "Mentions R", "MUC R"]


def test_rates_and_significance_in_one_table(comparison):
    lines = render(comparison, rates="R,P,F1", format="markdown").splitlines()
    heads, row = cells(lines[0]), cells(lines[4])
    assert heads[2:6] == ["MUC R", "MUC P", "MUC F1", "MUC #"]
    score = comparison.results["third"]["muc"]
    assert row[2:4] == [f"{100 * score.recall:.2f}", f"{100 * score.precision:.2f}"]
    assert row[4].startswith("100.00") and "<sup>ab</sup>" in row[4]
    assert "CoNLL F1" in heads and "CoNLL R" not in heads  # which has no recall
    text = render(comparison, rates="R,P,F1")
    assert "ᵃᵇ" in text and "R, P and F1 on 9 documents, the best F1 in bold" in text


def test_recall_of_a_single_document_is_the_documents():
    name = corefeval.score(KEY, KEY).document_ids[0]
    paths = {"x": CAUTIOUS, "y": EAGER}
    compared = corefeval.compare(KEY, paths, trials=99, documents=name)
    alone = corefeval.score(KEY, CAUTIOUS, documents=name)["muc"]
    table = render(compared, rates="R,F1", format="markdown")
    assert compared.unit == "segment" and f"| {100 * alone.recall:.2f} |" in table


def test_captions(results, comparison):
    assert render(results[0], caption="Main results").startswith("Main results\n")
    assert render(results, caption="50 % *all*", format="markdown").startswith(r"**50 % \*all\***")
    latex = render(results, caption="50 % & all", format="latex")
    assert r"\caption{50 \% \& all.}" in latex and r"\begin{table*}" in latex
    assert r"\caption{Ours. F1 on 9 documents" in render(comparison, caption="Ours", format="latex")


def test_labels(results, comparison):
    assert r"\label{tab:main}" in render(results, label="main", format="latex")
    assert r"\label{app:main}" in render(comparison, label="app:main", format="latex")
    assert r"\label{" not in render(results, format="latex")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"digits": -1}, "digits must be from 0 to 10, not -1"),
        ({"digits": True}, "digits must be"),
        ({"rates": "P,X"}, "there is no rate 'X'"),
        ({"rates": "P,p"}, "precision appears twice"),
        ({"rates": ","}, "rates are any of"),
        ({"width": "wide", "format": "latex"}, "width is one of column, page, not 'wide'"),
        ({"width": "page"}, "width is for LaTeX, not for text"),
        ({"label": "a}b", "format": "latex"}, "a label has letters"),
        ({"digits": 1, "format": "csv"}, "digits is for tables"),
        ({"caption": "x", "format": "conll"}, "caption is for tables"),
    ],
)
def test_what_cannot_be_had(results, options, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        render(results[0], **options)


def test_only_scores_have_rates(comparison):
    with pytest.raises(UsageError, match="no rates for a Statistics"):
        render(statistics(corefeval.read(KEY)), rates="P")
    with pytest.raises(UsageError, match="must include f1"):
        render(comparison, rates="P,R")


@pytest.mark.parametrize("width", ["column", "page"])
def test_tables_fit(width, set_latex):
    """Whatever they show: one tabular for each table, which is set smaller where it is too wide."""
    paths = {f"A System of LONG-Words {n}": path for n, path in enumerate((CAUTIOUS, EAGER, KEY))}
    compared = corefeval.compare(KEY, paths, trials=99, by="genre")
    scored = [corefeval.score(KEY, path, by="kind").rename(name) for name, path in paths.items()]
    shown = [
        render(compared, format="latex", width=width, pairs=True),
        render(compared, format="latex", width=width, rates="P,R,F1"),
        render(scored, format="latex", width=width, by_document=True),
    ]
    assert all(f"{100 * one['lea'].recall:.2f}" in shown[1] for one in compared.results.values())
    set_latex(*shown)


def test_narrow_tables_are_not_enlarged(results, comparison):
    """The width of a table is the smaller of its own and that of its place."""
    for text in (render(results, format="latex"), render(comparison, format="latex")):
        fit = r"\resizebox{\ifdim\width>\linewidth \linewidth\else\width\fi}{!}{%"
        assert text.count(f"{fit}\n\\begin{{tabular}}") == text.count(r"\begin{tabular}") > 0
        assert r"% needs \usepackage{booktabs,graphicx}" in text


def test_the_command_has_them(run, tmp_path):
    table = tmp_path / "table.tex"
    options = ("-f", "latex", "--digits", 1, "--rates", "P,R,F1", "--label", "x", "-o", table)
    assert run("score", KEY, CAUTIOUS, EAGER, *options, "--width", "page", "-q")[0] == 0
    assert r"\label{tab:x}" in table.read_text()
    status, _, err = run("compare", KEY, CAUTIOUS, EAGER, "--rates", "P,R", "--trials", 99)
    assert (status, err) == (2, "error: --rates must include f1, which is compared\n")
    status, _, err = run("score", KEY, CAUTIOUS, "--digits", 2, "-f", "json")
    assert status == 2 and "digits is for tables" in err


def test_decimals_align_beside_superscripts_in_latex():
    """Behind each number of a column there is the same room, for a deviation and a mark."""
    from corefeval.output.forms import tabular
    from corefeval.output.tables import Cell, Column, Table

    cells = (Cell("80.7 ±0.7", True, "bc"), Cell("74.1", mark="c"), Cell("7.2"), Cell("–"))
    table = Table((Column("F1", numeric=True),), (tuple((cell,) for cell in cells),))
    rows = tabular(table).split("\\midrule\n")[1].split(" \\\\\n")[:4]
    superscript, phantom = r"\textsuperscript{bc}", r"\phantom{~$\pm$0.7\textsuperscript{bc}}"
    assert rows[0] == rf"\textbf{{80.7 $\pm$0.7}}\rlap{{{superscript}}}\phantom{{{superscript}}}"
    assert rows[1] == rf"74.1\rlap{{\textsuperscript{{c}}}}{phantom}"
    assert rows[2:] == [rf"7.2{phantom}", "--"]


def test_an_explanation_fits_a_column(run, set_latex):
    command = ("explain", KEY, EAGER, "--from", "conll-8.01", "--to", "e2e", "-q", "-f", "latex")
    status, out, _ = run(*command, "--width", "column", "--label", "why", "--digits", "1")
    assert status == 0 and r"\begin{table}" in out and r"\label{tab:why}" in out
    set_latex(out)
    assert "width is for LaTeX" in run(*command[:-1], "text", "--width", "page")[2]


def test_a_wide_suite_fits_the_page_in_one_piece(folder, run, set_latex):
    run("suite", "run", folder / "suite.toml", "--save", folder / "r.json", "--trials", "99", "-q")
    for options in ((), ("--rates", "p,r,f1"), ("--rows", "corpora", "--width", "column")):
        _, out, _ = run("suite", "table", folder / "r.json", "-q", "-f", "latex", *options)
        assert out.count(r"\begin{tabular}") == 1
        set_latex(out)

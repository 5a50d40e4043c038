"""Figures and tables of experiments: what they show, and that their files are what they say."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from conftest import ROOT
from corefeval import UsageError
from corefeval.figures import FORMATS, Figure, can_draw, figures, tables
from corefeval.figures.charts import STYLES, choose_styles
from corefeval.lab import EXPERIMENTS, Chart, Encoding, ExperimentResult
from corefeval.output import render

NEEDS_CHARTS = pytest.mark.skipif(not can_draw(), reason="the extra `charts` is not installed")
SIX = "muc, b3, ceafm, ceafe, blanc, lea"


@pytest.fixture(scope="module")
def results():
    """Every experiment, and the scorecard of few metrics."""
    few = {"trust": "muc, lea, conll, links"}
    return {name: one.run(metrics=few.get(name)) for name, one in EXPERIMENTS.items()}


def values(figure: Figure) -> list[dict[str, object]]:
    return figure.spec["data"]["values"]


def by_name(made: list[Figure]) -> dict[str, Figure]:
    return {figure.name: figure for figure in made}


# What is drawn ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_chart_is_a_figure(results, name):
    made = figures(results[name], everything=False)
    assert [figure.title for figure in made] == [chart.title for chart in results[name].charts]
    for figure in figures(results[name]):
        json.dumps(figure.spec)
        assert re.fullmatch(r"[a-z0-9-]+", figure.name)
        assert values(figure)


def test_all_metrics_have_a_figure_of_their_own(results):
    made = by_name(figures(results["splits"]))
    assert set(made) == {"splits", "splits-all"}
    few, many = ({row["series"] for row in values(made[name])} for name in made)
    assert few == {"MUC", "B³", "CEAFm", "CEAFe", "BLANC", "LEA"}
    assert many > few
    assert {"Links", "CoNLL"} <= many


def test_metrics_that_were_named_are_all_there():
    result = EXPERIMENTS["correct-links"].run(metrics="links, lea, b3-sys")
    for figure in figures(result):
        assert {row["series"] for row in values(figure)} == {"Links", "LEA", "B³-sys"}
        assert not figure.name.endswith("-all")


def test_curves_on_each_other_are_one(results):
    figure = by_name(figures(results["correct-entities"]))["correct-entities"]
    names = {row["series"] for row in values(figure)}
    assert names == {"MUC", "B³ = CEAFm = LEA", "CEAFe", "BLANC"}
    points = [(row["series"], row["panel"], row["x"]) for row in values(figure)]
    assert len(set(points)) == len(points)


def test_shares_are_in_percent(results):
    figure = by_name(figures(results["mention-identification"]))["mention-identification-1"]
    assert {row["x"] for row in values(figure)} == set(range(0, 101, 10))
    assert max(row["y"] for row in values(figure)) > 1
    assert figure.spec["encoding"]["x"]["title"].endswith("(%)")
    assert figure.spec["encoding"]["y"]["title"] == "F1 (%)"


def test_values_are_those_of_the_experiment(results):
    result = results["splits"]
    (figure, *_) = figures(result)
    for row in values(figure):
        expected = result.value("f1", title=row["series"], split=row["x"])
        assert row["y"] == pytest.approx(100 * expected, abs=1e-4)


def test_the_scorecard_says_how_often(results):
    (figure, *_) = figures(results["trust"])
    cells = {(row["row"], row["column"]): row for row in values(figure)}
    nothing = "0 where nothing is correct"
    assert cells[nothing, "LEA"]["number"] == "✓"
    assert re.fullmatch(r"\d+%", cells[nothing, "CoNLL"]["number"])
    recall = next(row for row, _ in cells if row.startswith("recall becomes"))
    assert cells[recall, "CoNLL"]["number"] == "–"
    assert cells["1 where everything is correct", "MUC"]["key"] == "{a}"


def test_no_row_is_no_figure():
    chart = Chart("t", Encoding("x", "x"), Encoding("f1", "F1"))
    assert figures(ExperimentResult("e", "E", (), (), charts=(chart,))) == []


def test_one_equal_score_can_be_drawn():
    """All points in one place still need an axis."""
    rows = tuple(
        {"metric": "muc", "title": "MUC", "case": case, "f1": 1.0} for case in ("one", "other")
    )
    chart = Chart("t", Encoding("case", "case", "nominal"), Encoding("f1", "F1"), mark="point")
    (figure,) = figures(ExperimentResult("e", "E", (), rows, charts=(chart,)))
    low, high = figure.spec["spec"]["encoding"]["x"]["scale"]["domain"]
    assert low < 100 < high


def test_styles_differ_in_all_that_a_reader_may_see():
    assert len({style.color for style in STYLES}) == len(STYLES)
    assert len({style.shape for style in STYLES}) == len(STYLES)
    assert choose_styles(["lea"]) == choose_styles(["muc", "x", "lea"])[2:]
    chosen = choose_styles(["a", "muc", "b", "lea", "c"])
    assert len(set(chosen)) == 5


def test_the_same_run_is_the_same_figure():
    one, other = (figures(EXPERIMENTS["boundary"].run(metrics=SIX))[0] for _ in range(2))
    changed = figures(EXPERIMENTS["boundary"].run(metrics=SIX, seed=1))[0]
    assert one.fingerprint == other.fingerprint != changed.fingerprint


def test_notebooks_show_figures(results):
    (figure, *_) = figures(results["splits"])
    bundle = figure._repr_mimebundle_()
    assert bundle["application/vnd.vegalite.v5+json"]["data"] == figure.spec["data"]


# Files --------------------------------------------------------------------------------------------


@NEEDS_CHARTS
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_svg_is_svg(results, name):
    for figure in figures(results[name], everything=False):
        text = figure.svg()
        root = ET.fromstring(text)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        shown = "".join(root.itertext())
        assert figure.title in shown
        assert figure.fingerprint in text
        assert "NaN" not in text


@NEEDS_CHARTS
def test_png_is_fine_enough_for_print(results):
    (figure, *_) = figures(results["splits"])
    content = figure.png()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert int.from_bytes(content[16:20]) > 1000


@NEEDS_CHARTS
def test_html_needs_no_network(results):
    (figure, *_) = figures(results["boundary"])
    page = figure.html()
    assert f"<title>{figure.title}</title>" in page
    assert not re.search(r"<(script|link|iframe)[^>]*\b(src|href)\s*=", page)
    assert not re.search(r"src\s*=\s*[\"']?(https?:)?//|import\s*\(\s*[\"']https?:", page)
    assert "as resolved" in page


def test_there_is_no_other_format(results):
    (figure, *_) = figures(results["boundary"])
    with pytest.raises(UsageError, match="svg, png, html"):
        figure.render("gif")  # type: ignore[arg-type]
    assert FORMATS == ("svg", "png", "html")


def test_without_the_extra_one_is_told(results, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    (figure, *_) = figures(results["boundary"])
    with pytest.raises(UsageError, match=r"pip install vl-convert-python"):
        figure.svg()


@pytest.mark.slow
def test_the_figures_of_the_page_are_up_to_date():
    """`make docs` draws them; the page shows all of them."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "lab_figures.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    page = (ROOT / "docs" / "lab.md").read_text(encoding="utf-8")
    for path in (ROOT / "docs" / "lab").iterdir():
        assert f"(lab/{path.name})" in page


# Tables -------------------------------------------------------------------------------------------


def test_tables_have_a_panel_each(results):
    captions = [table.caption for table in tables(results["correct-links"])]
    assert captions[:2] == [
        "Resolved links, all entities together, without wrong links: F1",
        "Resolved links, all entities together, with wrong links: F1",
    ]
    assert len(captions) == 4
    (table, *_) = tables(results["correct-links"])
    assert [row[0].text for row in table.sections[0]][:2] == ["0 %", "10 %"]
    assert len(table.columns) == 7
    (table, *_) = tables(results["correct-links"], everything=True)
    assert len(table.columns) > 7


def test_text_is_about_well_known_metrics(results):
    text = render(results["mention-identification"])
    assert "  LEA: F1 is 0" in text
    assert "B³-sys:" not in text
    assert "statements are about other metrics" in text
    everything = render(results["mention-identification"], everything=True)
    assert "  B³-sys: F1" in everything
    assert "other metrics" not in everything
    for finding in results["mention-identification"].statements:
        assert finding.text in everything

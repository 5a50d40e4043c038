"""The report in a real browser: every view, clicks, links, filters and search."""

from __future__ import annotations

import pytest

import corefeval
from browsing import CAUTIOUS, EAGER, KEY, VIEWS, click_unit, open_text
from corefeval.analysis.errors import analyse
from corefeval.reports import report


def test_every_view_is_a_click_away(visit, example_page):
    page = visit(example_page)
    titles = page.locator("#views a").all_inner_texts()
    assert titles == ["Overview", "Charts", "Documents", "Text", "Entities", "Compare"]
    for title, view in zip(titles, VIEWS, strict=True):
        page.click(f"#views a:has-text('{title}')")
        page.wait_for_selector(f"section.{view} h1")
        assert page.locator("#views a[aria-current=page]").inner_text() == title


def test_the_overview_has_scores_errors_and_notices(visit, example_page):
    page = visit(example_page)
    text = page.inner_text("main")
    result = corefeval.score(KEY, EAGER)
    assert f"{100 * result['conll'].f1:.2f}" in text
    assert "singletons:keep" in text
    rows = analyse(KEY, CAUTIOUS).kinds
    counts = [
        int(cell) for cell in page.locator("table.kinds tbody td:nth-child(2)").all_inner_texts()
    ]
    assert counts == [*(row.count for row in rows), sum(row.count for row in rows)]
    assert "left out" in text


def test_the_overview_says_how_much_depends_on_the_scorer(visit, report_folder, example_page):
    path = report_folder / "explained.html"
    systems = {"cautious": CAUTIOUS, "eager": EAGER}
    report(KEY, systems, metrics="conll", ci=None, by=(), explain=True).save(path)
    page = visit(path.as_uri())
    rows = page.locator("#scorer-choices tbody tr").all_inner_texts()
    assert any(row.startswith("singletons drop\t0.00\t") for row in rows)
    assert "Without effect here: " in page.locator("#scorer-choices").inner_text()
    assert not visit(example_page).locator("#scorer-choices").count()


def test_choosing_a_response_and_a_metric_changes_the_page(visit, example_page):
    page = visit(example_page)
    before = page.inner_text("table.kinds")
    page.select_option("#system-choice", label="eager")
    page.wait_for_function(
        "text => document.querySelector('table.kinds').innerText !== text", arg=before
    )
    assert "system=eager" in page.url
    page.select_option("#metric-choice", label="LEA")
    page.wait_for_selector("text=eager, LEA")


def test_charts_are_drawn_and_say_numbers_on_hover(visit, example_page):
    page = visit(example_page + "#view=charts")
    page.wait_for_selector("figure:last-child .chart svg")
    figures = page.locator("figure").count()
    assert figures >= 9
    assert page.locator("figure .chart svg").count() == figures
    page.locator(
        "figure:has-text('Errors and the points') .chart path[aria-roledescription=bar]"
    ).first.hover()
    page.wait_for_selector("#vg-tooltip-element.visible")
    assert "points in turn" in page.inner_text("#vg-tooltip-element")
    page.locator("figure summary").first.click()
    assert "73.96" in page.inner_text("figure details[open] table")


def test_a_bar_leads_to_the_errors_that_it_stands_for(visit, example_page):
    page = visit(example_page + "#view=charts")
    page.wait_for_selector("figure:last-child .chart svg")
    page.locator(
        "figure:has-text('Errors and the points') .chart path[aria-roledescription=bar]"
    ).first.click()
    page.wait_for_selector("section.text .chip[aria-pressed=true]")


def test_hovering_lights_up_the_chain_on_both_sides(visit, example_page):
    page = visit(example_page)
    open_text(page)
    page.keyboard.press("m")
    page.wait_for_selector(".reading.columns")
    page.hover("[data-column=key] .unit[data-entity='0'] >> nth=0")
    lit = "document.querySelectorAll('[data-column={}] .lit-key').length"
    assert page.evaluate(lit.format("key")) == 7
    assert page.evaluate(lit.format("response")) == 2
    assert page.locator("[data-column=response] .lit-response").count() == 2


def test_jumping_goes_through_all_errors(visit, example_page):
    page = visit(example_page)
    open_text(page)
    total = len(analyse(KEY, CAUTIOUS).listed("missing mention"))
    page.click(".chip:has-text('missing mention')")
    page.wait_for_selector(".unit.chosen")
    seen = set()
    for _ in range(total + 1):
        seen.add(page.evaluate("location.hash"))
        page.keyboard.press("n")
    assert len(seen) == total
    page.click("#previous-error")
    assert page.evaluate("location.hash") in seen


def test_filters_fade_what_they_leave_out(visit, example_page):
    page = visit(example_page)
    open_text(page, "nw/harbour_01; part 000")
    assert page.locator(".unit.faded").count() == 0
    page.click(".chip:has-text('span')")
    page.wait_for_selector(".unit.faded")
    assert page.locator(".unit.wrong:not(.faded)").count() == 1
    assert page.inner_text("#jump-status") == "1 of 1"
    page.keyboard.press("Escape")
    page.wait_for_selector(".unit.faded", state="detached")
    page.click("#tab-entities")
    page.click(".entities .entity >> nth=0")
    page.wait_for_selector(".unit.faded")
    assert "entity=" in page.url
    kept = page.locator(".unit:not(.faded)").evaluate_all(
        "all => [...new Set(all.map(u => u.dataset.entity))]"
    )
    assert len(kept) == 1


def test_a_link_leads_to_a_document_and_a_mention(visit, example_page):
    page = visit(example_page + "#doc=fi%2Flighthouse_01%3B%20part%20001&mention=k9&system=eager")
    page.wait_for_selector(".unit.chosen")
    chosen = page.locator(".unit.chosen").first
    mention = corefeval.read(KEY)["fi/lighthouse_01; part 001"].mentions[9]
    assert chosen.get_attribute("data-key") == "9"
    assert page.inner_text(".panel h2").replace(" ", "") == mention.text.replace(" ", "")
    assert page.input_value("#system-choice") == "1"
    box = chosen.bounding_box()
    assert 0 < box["y"] < 900


def test_the_link_of_a_mention_leads_back_to_it(visit, example_page):
    page = visit(example_page)
    open_text(page)
    click_unit(page, ".unit.wrong >> nth=2")
    text = page.inner_text(".panel h2")
    link = page.get_attribute("#mention-link", "href")
    other = visit(example_page + link)
    other.wait_for_selector(".unit.chosen")
    assert other.inner_text(".panel h2") == text


def test_back_goes_back(visit, example_page):
    page = visit(example_page)
    open_text(page)
    page.keyboard.press("]")
    page.wait_for_selector("h1:has-text('bakery')")
    page.go_back()
    page.wait_for_selector("h1:has-text('harbour')")
    page.go_back()
    page.wait_for_selector("section.overview")


@pytest.mark.parametrize(
    "address",
    [
        "#doc=nowhere",
        "#view=nothing&mention=k99999",
        "#doc=nw%2Fharbour_01%3B%20part%20000&mention=r999&entity=k777&kinds=x",
        "#doc=nw%2Fharbour_01%3B%20part%20000&mention=o5&mode=both&system=eager&other=eager",
        "#%%%",
    ],
)
def test_links_that_lead_nowhere_do_no_harm(visit, example_page, address):
    page = visit(example_page + address)
    assert page.locator("main h1").count() == 1


def test_search_marks_words_and_goes_on_to_other_documents(visit, example_page):
    page = visit(example_page)
    open_text(page)
    page.keyboard.press("/")
    page.keyboard.type("the mayor")
    page.wait_for_selector("mark")
    assert page.inner_text("#hits") == "1 hit"
    assert page.locator("mark").all_inner_texts() == ["the", "mayor"]
    page.fill("#search", "lighthouse")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('lighthouse')")
    page.wait_for_selector("mark")

"""The leaderboard in a real browser: sorting, choices, profiles, pairs, links, phones."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from browsing import EVIL
from corefeval import Notice
from corefeval.reports.leaderboard import make_leaderboard
from corefeval.suites.outcome import SuiteCell
from leaderboards import make_outcome

SYSTEMS = ["ours", "theirs", "twin", "base"]
CORPORA = ["gum", "litbank", "preco", "onto"]


@pytest.fixture(scope="module")
def board(browser, report_folder):
    outcome = make_outcome(SYSTEMS, CORPORA, documents=20)
    cells = dict(outcome.cells)
    cells["preco", "base", None] = SuiteCell(None, "there is no file base.conll", "response")
    data = json.dumps({"systems": [{"name": name} for name in SYSTEMS]})
    (report_folder / "gum.html").write_text(
        f'<h1>a report</h1><script type="application/json" id="data">{data}</script>'
    )
    path = report_folder / "board.html"
    options = {"trials": 1000, "reports": report_folder, "beside": path}
    made = make_leaderboard(replace(outcome, cells=cells), **options)
    made.save(path)
    return made, path.as_uri()


def names(page):
    return page.locator("#board tbody th a").all_inner_texts()


def test_sorted_by_any_column(visit, board):
    made, address = board
    page = visit(address)
    scores = dict(
        zip(SYSTEMS, made.payload["standings"][made.payload["headline"]][0]["scores"], strict=True)
    )
    assert names(page) == sorted(SYSTEMS, key=lambda name: -scores[name])
    page.click("#board thead button:has-text('System')")
    assert names(page) == sorted(SYSTEMS)
    page.click("#board thead button:has-text('litbank')")
    column = [
        float(text)
        for text in page.locator("#board tbody tr td:nth-child(4) span").all_inner_texts()
    ]
    assert column == sorted(column, reverse=True) and len(column) == 4
    page.keyboard.press("Enter")  # the heading keeps the focus
    assert page.get_attribute("#board th:has-text('litbank')", "aria-sort") == "ascending"
    assert names(page)[0] == "base"


def test_ranks_intervals_and_what_is_missing(visit, board):
    made, address = board
    page = visit(address)
    standing = made.payload["standings"][made.payload["headline"]][0]
    ranks = page.locator("#board .rank").all_inner_texts()
    assert [text.rstrip("=") for text in ranks] == sorted(str(one) for one in standing["ranks"])
    assert page.locator("#board .whisker").count() == 4
    assert page.get_attribute("#board td.absent", "title") == "there is no file base.conll"
    assert "base on preco: there is no file base.conll" in page.inner_text("#problems")
    assert page.get_attribute("#board a.report >> nth=0", "href").startswith("gum.html#system=")


def test_metric_group_and_system_are_chosen_and_linked(visit, board):
    _, address = board
    page = visit(address)
    before = page.inner_text("#board-body")
    page.select_option("#metric-choice", label="muc")
    assert page.inner_text("#board-body") != before
    page.select_option("#group-choice", label="de")
    heads = page.locator("#board thead button").all_inner_texts()
    assert [text.split(" ")[0] for text in heads] == ["System", "Average", "litbank", "onto"]
    page.click("#board tbody a:has-text('twin')")
    assert page.input_value("#system-choice") == str(SYSTEMS.index("twin"))
    again = visit(page.url)
    assert again.inner_text("#board-body") == page.inner_text("#board-body")
    assert again.inner_text("#profile-body") == page.inner_text("#profile-body")


def test_profiles_show_corpora_and_slices(visit, board):
    made, address = board
    page = visit(address)
    titles = page.locator("#profile h3").all_inner_texts()
    assert titles == ["By corpus", "By kind", "By size"]
    page.select_option("#system-choice", label="theirs")
    place = made.payload["headline"]
    expected = made.payload["slices"][0]["scores"][place][0][1]
    shown = page.locator(
        "#profile div:has(> h3:has-text('By kind')) td:nth-child(2)"
    ).all_inner_texts()
    assert shown == [f"{100 * one:.2f}" for one in expected]


def test_profiles_say_why_there_are_no_slices(visit, report_folder):
    bare = make_outcome(["ours", "theirs"], ["gum"], slices=False)
    told = Notice("skipped-slices", "gum: no slices by kind: another program's numbers have none")
    for notices, reason in (((), 'by = "kind, size" in the suite adds'), ((told,), told.message)):
        path = report_folder / "bare.html"
        make_leaderboard(replace(bare, notices=notices), trials=20).save(path)
        assert reason in visit(path.as_uri()).inner_text("#profile .hint")


def test_pairs_say_what_is_significant(visit, board):
    made, address = board
    page = visit(address)
    pairs = made.payload["standings"][made.payload["headline"]][0]["pairs"]
    significant = sum(pair[6] for pair in pairs)
    assert page.locator("#pairs .up").count() == page.locator("#pairs .down").count() == significant
    page.click("#pairs button[aria-label^='base and ours']")
    assert page.locator("#told").inner_text().startswith("base – ours: −")
    assert "ours is significantly better than base on " in page.inner_text("#told")
    assert page.locator("#pairs [aria-pressed=true]").count() == 1
    assert "at least the row is significantly better" in page.inner_text("#pairs-body")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_the_first_column_stays(visit, board, scheme):
    _, address = board
    page = visit(address, width=390, height=844, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    left = "document.querySelector('#board tbody th').getBoundingClientRect().left"
    start = page.evaluate(left)
    page.evaluate("document.querySelector('#board .scroller').scrollLeft = 200")
    moved = page.evaluate("document.querySelector('#board .scroller').scrollLeft")
    assert moved > 100 and page.evaluate(left) == start
    assert (
        page.evaluate("getComputedStyle(document.querySelector('#board tbody th')).backgroundColor")
        != "rgba(0, 0, 0, 0)"
    )


def test_names_do_not_act(visit, report_folder):
    names = [EVIL, "__proto__", "constructor", "</script><script>window.pwned=1</script>"]
    outcome = make_outcome(names, [EVIL, "toString"], groups=(EVIL, "__proto__"), documents=3)
    path = report_folder / "evil.html"
    make_leaderboard(replace(outcome, title=EVIL), trials=20).save(path)
    page = visit(path.as_uri())
    assert set(page.locator("#board tbody th a").all_inner_texts()) == set(names)
    page.select_option("#group-choice", label="__proto__")
    page.select_option("#system-choice", label="constructor")
    assert page.evaluate("window.pwned") is None


def test_twenty_by_twenty_is_drawn_within_a_second(visit, report_folder):
    outcome = make_outcome(
        [f"system {n}" for n in range(20)],
        [f"corpus {n}" for n in range(20)],
        documents=2,
        slices=False,
    )
    path = report_folder / "large.html"
    make_leaderboard(replace(outcome, metrics=("conll",)), trials=20).save(path)
    page = visit(path.as_uri())
    # The page's own processor time: others may have the processor in between.
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.reload()
    page.wait_for_selector("#board tbody tr")
    assert page.locator("#board tbody tr").count() == 20
    metrics = session.send("Performance.getMetrics")["metrics"]
    assert 0 < {one["name"]: one["value"] for one in metrics}["TaskDuration"] < 1

"""The page of decisions in a real browser: decided by keyboard, saved, read back, and obeyed."""

from __future__ import annotations

import re
from itertools import count

import pytest

import corefeval
from browsing import CAUTIOUS, EAGER, EVIL, KEY
from corefeval.reports.decisions import make_decision_page

SIDES = {"ann": KEY, "bob": CAUTIOUS, "cleo": EAGER}


@pytest.fixture(scope="module")
def merged():
    return corefeval.merge(SIDES)


@pytest.fixture(scope="module")
def address(merged, tmp_path_factory):
    path = tmp_path_factory.mktemp("decisions") / "page.html"
    make_decision_page(merged).save(path)
    return path.as_uri()


def opposite(outcome: str) -> int:
    """The key that decides against the consensus."""
    return {"keep": 2, "same": 2, "drop": 1, "apart": 1}[outcome]


def test_ten_decisions_by_keyboard_are_obeyed(visit, merged, address, tmp_path):
    page = visit(address)
    rows = merged.rows()
    decided = []
    for row in rows:  # against the consensus, in ways that do not contradict each other
        if row["kind"] == "mention" and len(decided) < 10:
            decided.append(row)
    numbers = [rows.index(row) for row in decided]
    links = [row for row in rows if row["kind"] == "link"][:1]
    numbers[-1] = rows.index(links[0])
    decided[-1] = links[0]
    assert len(decided) == 10
    at = 0
    for number in sorted(numbers):
        for _ in range((number - at) % len(rows)):
            page.keyboard.press("ArrowRight")
        assert f"Case {number + 1} of {len(rows)}" in page.inner_text("#case")
        page.keyboard.press(str(opposite(rows[number]["outcome"])))
        at = int(re.search(r"Case (\d+)", page.inner_text("#case"))[1]) - 1
    assert page.inner_text("#progress") == f"10 of {len(rows)} decided"
    page.reload()
    page.wait_for_selector("main h1")
    assert page.inner_text("#progress") == f"10 of {len(rows)} decided", "kept in the browser"
    with page.expect_download() as download:
        page.keyboard.press("s")
    path = tmp_path / "decisions.tsv"
    download.value.save_as(path)
    again = corefeval.merge(SIDES, decisions=path)
    placed = {(row["document"], row["start"], row["end"]): row for row in again.votes}
    for row in decided:
        a, b = ((row["document"], row[f"{o}start"], row[f"{o}end"]) for o in ("", "other_"))
        if row["kind"] == "mention":
            assert (a in placed) == (row["outcome"] == "drop")
        else:
            entities = entity_of(again)
            assert (entities[a] == entities[b]) == (row["outcome"] == "apart")
    left = [{**row, "votes": 0, "of": 0, "stakes": 0, "outcome": ""} for row in again.rows()]
    assert not [
        row for row in decided if {**row, "votes": 0, "of": 0, "stakes": 0, "outcome": ""} in left
    ]


def entity_of(merged):
    entities, number = {}, count()
    for document in merged.as_dict()["documents"]:
        for entity in document["entities"]:
            place = next(number)
            entities |= {(document["id"], *mention): place for mention in entity}
    return entities


def test_search_buttons_undo_and_phones(visit, merged, address):
    page = visit(address, width=390, height=844)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    rows = merged.rows()
    page.click("#case .answer >> nth=1")
    assert page.inner_text("#progress").startswith("1 of")
    page.click("#previous")
    assert page.get_attribute("#case .answer >> nth=1", "aria-pressed") == "true"
    page.click("#clear")
    assert page.inner_text("#progress").startswith("0 of")
    word = next(row["text"] for row in rows if len(row["text"]) > 8)
    page.fill("#search", word)
    number = sum(word.lower() in f"{r['text']} {r['other_text']}".lower() for r in rows)
    assert page.inner_text("#list h2") == f"{number} of {len(rows)} cases"
    page.click("#list button >> nth=0")
    assert page.locator("#reading mark").count() >= 1
    page.select_option("#filter", "decided")
    assert page.inner_text("#list h2").startswith("0 of")


def test_no_text_becomes_html_and_no_address_is_in_the_page(visit, conll, tmp_path):
    line = "d 0 {} " + EVIL.replace(" ", "") + " {}\n"
    text = "#begin document (d); part 000\n{}#end document\n"
    sides = [
        conll(text.format("".join(line.format(n, mark) for n, mark in enumerate(marks))))
        for marks in (("(0)", "(0)", "-"), ("(0)", "-", "(0)"))
    ]
    page = make_decision_page(corefeval.merge(sides))
    assert not re.search(r"https?://|url\(|@import|<link|<img", page.html)
    path = tmp_path / "evil.html"
    page.save(path)
    shown = visit(path.as_uri())
    assert shown.evaluate("window.pwned") is None
    assert "onerror" in shown.inner_text("#reading")

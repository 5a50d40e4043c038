"""The report of a long text: chapters, who is in it, search by what is displayed, zeros."""

from __future__ import annotations

import random

import pytest

from browsing import open_text
from corefeval.reports import report

PEOPLE = ("Lady Catherine", "Mr. Darcy", "Miss Lucas", "Sir William")


def novel(chapters: int, wrong: float) -> str:
    """Chapters of forty sentences in CorefUD, with a zero in each; some mentions go astray."""
    text, errors = random.Random(3), random.Random(4)
    lines = ["# newdoc id = novel", "# global.Entity = eid"]

    def add(words: list[tuple[str, str]]) -> None:
        lines.append("# sent_id = x")
        for number, (word, mark) in enumerate(words, 1):
            lines.append(
                f"{number}\t{word}\t_\tX\t_\t_\t0\tdep\t_\t{f'Entity={mark}' * bool(mark) or '_'}"
            )
            if word == "and":
                lines.append(f"{number}.1\tella\t_\tPRON\t_\t_\t_\t_\t{number}:nsubj\tEntity=(e9)")
        lines.append("")

    for chapter in range(chapters):
        add([("CHAPTER", ""), ("X" * (chapter + 1), ""), (".", "")])
        for sentence in range(40):
            who = min(int(text.expovariate(0.9)), 3)
            entity = f"e{errors.randrange(1, 5) if errors.random() < wrong else who + 1}"
            title, name = PEOPLE[who].split()
            minor = f"m{chapter * 40 + sentence}"
            words = [
                (title, f"({entity}"),
                (name, ""),
                ("’s", f"{entity})"),
                ("house", f"({minor})"),
            ]
            words += [
                (",", ""),
                ("and", ""),
                ("the", f"({minor}"),
                ("hall", f"{minor})"),
                (".", ""),
            ]
            add(words)
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def novel_address(browser, report_folder) -> str:
    key, response = report_folder / "chapters.conllu", report_folder / "astray.conllu"
    key.write_text(novel(12, 0.0))
    response.write_text(novel(12, 0.3))
    path = report_folder / "chapters.html"
    report(key, {"astray": response}, metrics="muc", ci=None, by=()).save(path)
    return path.as_uri()


def chosen_sentence(page) -> int:
    return int(page.locator(".sentence:has(.chosen)").first.get_attribute("data-sentence"))


@pytest.mark.parametrize("width", [1400, 390])
def test_the_next_wrong_mention_is_the_next_one_from_the_reader(visit, novel_address, width):
    page = visit(novel_address, width=width)
    open_text(page)
    page.keyboard.press("n")
    page.wait_for_selector(".unit.chosen")
    assert chosen_sentence(page) < 20
    page.select_option("#section-choice", index=8)  # to the eighth chapter
    page.wait_for_function("() => scrollY > 3000")
    page.keyboard.press("n")
    page.wait_for_selector(".unit.chosen")
    first = chosen_sentence(page)
    assert 7 * 41 <= first < 7 * 41 + 20
    page.keyboard.press("n")
    page.wait_for_function(
        "n => document.querySelector('.sentence:has(.chosen)').dataset.sentence > n", arg=first
    )
    page.keyboard.press("p")
    page.wait_for_function(
        "n => document.querySelector('.sentence:has(.chosen)').dataset.sentence == n", arg=first
    )


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("CHAPTER XXX.", 1),
        ("chapter XXX .", 1),
        ("Darcy’s house,", None),
        ("darcy's house", None),
        ("House, and", 480),
        ("ouse", 0),
        ("and ella the", 480),
        ("(.*", 0),
    ],
)
def test_search_finds_what_is_displayed(visit, novel_address, query, hits):
    page = visit(novel_address)
    open_text(page)
    page.fill("#search", query)
    page.wait_for_function("() => document.getElementById('hits').textContent")
    count = int(page.inner_text("#hits").split()[0])
    assert count == hits if hits is not None else count > 50


def test_escape_ends_a_search_altogether(visit, novel_address):
    page = visit(novel_address)
    open_text(page)
    page.fill("#search", "Lady Catherine’s")
    page.wait_for_selector("mark")
    assert page.locator("mark").all_inner_texts()[:3] == ["Lady", "Catherine", "’s"]
    assert "query" in page.url
    page.focus("#search")
    page.keyboard.press("Escape")
    page.wait_for_function("() => !document.querySelector('mark')")
    assert page.input_value("#search") == "" == page.inner_text("#hits")
    assert "query" not in page.url
    assert page.evaluate("document.activeElement.id") != "search"


def test_chapters_lead_through_the_text(visit, novel_address):
    page = visit(novel_address)
    open_text(page)
    titles = page.locator("#section-choice option").all_inner_texts()
    assert len(titles) == 13 and titles[2].startswith("CHAPTER XX. · ")
    box = page.locator("#strip").bounding_box()
    assert page.locator("#strip rect").count() == 160
    page.mouse.click(box["x"] + 0.77 * box["width"], box["y"] + 5)
    page.wait_for_function("() => document.getElementById('section-choice').selectedIndex === 10")
    page.select_option("#section-choice", index=5)  # which stays chosen, at its very beginning
    page.wait_for_function("() => scrollY > 3000")
    page.wait_for_timeout(200)
    assert page.evaluate("document.getElementById('section-choice').selectedIndex") == 5


def test_the_flow_of_many_entities_fits_the_window(visit, novel_address):
    page = visit(novel_address, height=900)
    open_text(page)
    page.click("#tab-flow")
    page.check("text=also entities that are right")
    page.wait_for_selector(".flow svg")
    assert page.locator(".flow .node").count() in range(70, 90)
    assert page.locator(".flow svg").bounding_box()["height"] < 700
    assert "smaller entities" in page.locator(".flow svg").text_content()
    page.click("text=show 40 more by themselves")
    assert page.locator(".flow .node").count() > 140


def test_entities_are_a_table_that_leads_to_the_text(visit, novel_address):
    page = visit(novel_address, width=390)
    page.keyboard.press("w")
    page.wait_for_selector("table.characters")
    rows = page.locator("table.characters tbody tr")
    assert rows.count() == 100
    box = page.locator("table.characters").bounding_box()
    assert box["x"] + box["width"] <= 390  # nothing is beyond the edge
    cells = rows.first.locator("th, td").all_inner_texts()
    assert "ella" in cells[0] and cells[1] == "480" and "CHAPTER X." in cells[2]
    second = rows.nth(1).locator("th, td").all_inner_texts()
    assert "Lady Catherine" in second[0] and float(second[4]) == 100.0 > float(second[5])
    assert "Darcy" in second[6] and "(" in second[7]
    page.click("table.characters thead button:has-text('Together')")
    page.click("table.characters thead button:has-text('Together')")
    values = [float(text) for text in rows.locator("td:nth-child(6)").all_inner_texts()]
    assert values == sorted(values)
    page.click("#more-entities")
    assert rows.count() == 200
    page.click("table.characters a >> nth=0")
    page.wait_for_selector("section.text .unit.chosen")
    assert "entity=k" in page.url


def test_zeros_are_signs_with_their_reading(visit, novel_address):
    page = visit(novel_address)
    open_text(page)
    zero = page.locator(".zero").first
    assert zero.inner_text() == "∅ella" and "read as" in zero.get_attribute("title")

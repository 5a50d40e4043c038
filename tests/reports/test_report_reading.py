"""The report as people read with it: long texts, phones, many responses."""

from __future__ import annotations

import json
import random

import pytest

import corefeval
from browsing import CAUTIOUS, EAGER, KEY, click_unit, open_text
from corefeval.reports import report

WORDS = [
    "The",
    "old",
    "captain",
    "of",
    "the",
    "ship",
    "told",
    "his",
    "sister",
    "about",
    "it",
    "and",
    "she",
    "laughed",
    ".",
]
COME_TO_REST = """async () => {
  for (let before = -1; before !== scrollY;) {
    before = scrollY;
    for (let frame = 0; frame < 10; frame++) await new Promise(requestAnimationFrame);
  }
}"""
FIRST = """() => [...document.querySelectorAll(".sentence")].find((one) =>
    one.getBoundingClientRect().bottom
    > document.querySelector(".errors-bar").getBoundingClientRect().bottom + 8).dataset.sentence"""
EDGES = """(selector) => {
    const node = document.querySelector(selector);
    const style = getComputedStyle(node);
    const { left, right } = node.getBoundingClientRect();
    return [left, right, parseFloat(style.outlineWidth) + parseFloat(style.outlineOffset)];
}"""
GAP = """(number) => {
    const [one, next] = [number - 1, number].map((n) =>
        document.querySelector(`[data-sentence="${n}"]`).getBoundingClientRect());
    return next.top - one.bottom;
}"""


def novel(*, wrong: bool) -> str:
    """A long document in CorefUD, with paragraphs and nested mentions."""
    chance = random.Random(1)
    lines = ["# newdoc id = novel", "# global.Entity = eid"]
    for sentence in range(400):
        lines += [f"# newpar id = p{sentence // 7}"] if sentence % 7 == 0 else []
        lines += [f"# sent_id = s{sentence}"]
        she = "(e3)" if not wrong or chance.random() < 0.7 else "(e1)"
        marks = {0: "(e1", 4: "(e2", 5: "e2)e1)", 7: "(e3(e1)", 8: "e3)", 12: she}
        for number, word in enumerate(WORDS):
            misc = f"Entity={marks[number]}" if number in marks else "_"
            lines.append(f"{number + 1}\t{word}\t_\tX\t_\t_\t0\tdep\t_\t{misc}")
        lines.append("")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def novel_page(browser, report_folder) -> str:
    key, a, b = (report_folder / f"{name}.conllu" for name in ("key", "a", "b"))
    key.write_text(novel(wrong=False))
    a.write_text(novel(wrong=True))
    b.write_text(novel(wrong=True).replace("(e3(e1)", "(e3(e4)"))
    path = report_folder / "novel.html"
    report(key, {"a": a, "b": b}, metrics="muc, lea", ci=None, by=()).save(path)
    return path.as_uri()


@pytest.fixture(scope="module")
def crowded_page(browser, report_folder) -> str:
    """Seven responses: the key with fewer and fewer of its entities."""
    chance, systems = random.Random(0), {}
    documents = list(corefeval.read(KEY))
    for number in range(7):
        path = report_folder / f"system{number}.jsonl"
        with open(path, "w") as file:
            for one in documents:
                entities = [
                    [[mention.start, mention.end - 1] for mention in entity.mentions]
                    for entity in one.entities
                    if chance.random() > 0.1 * number
                ]
                record = {"doc_key": str(one.id), "sentences": [one.words], "clusters": entities}
                file.write(json.dumps(record) + "\n")
        systems[f"system {number}"] = path
    path = report_folder / "crowded.html"
    report(KEY, systems, metrics="muc, b3, lea", ci=None, by=("kind",)).save(path)
    return path.as_uri()


@pytest.mark.parametrize("width", [1400, 390])
def test_the_place_in_a_long_text_is_kept(visit, novel_page, width):
    page = visit(novel_page, width=width)
    open_text(page)
    page.mouse.move(100, 500)
    page.mouse.wheel(0, 6000)
    page.wait_for_function("() => scrollY > 5000")
    page.evaluate(COME_TO_REST)
    place = page.evaluate(FIRST)
    assert int(place) > 50

    def stays():
        page.wait_for_selector("#reading .unit")
        page.wait_for_function(f"place => ({FIRST})() === place", arg=place)

    page.keyboard.press("s")  # another response
    assert page.input_value("#text-system-choice") == "1"
    stays()
    for view in "ogt":  # other views, and back
        page.keyboard.press(view)
    stays()
    for _ in range(3):  # side by side, with the other response, and one text again
        page.keyboard.press("m")
        stays()
    page.select_option("#text-system-choice", label="a")
    stays()
    page.keyboard.press("d")
    page.wait_for_function("() => scrollY === 0")


def test_a_mention_of_the_key_stays_chosen_with_another_response(visit, novel_page):
    page = visit(novel_page + "#doc=novel&mention=k100")
    page.wait_for_selector(".unit.chosen")
    page.keyboard.press("s")
    page.wait_for_selector(".unit.chosen")
    assert "mention=k100" in page.url and "system=b" in page.url


def test_views_are_always_a_tap_away_on_a_phone(visit, novel_page):
    page = visit(novel_page, width=390, height=800)
    open_text(page)
    page.mouse.move(100, 500)
    page.mouse.wheel(0, 4000)
    page.wait_for_function("() => scrollY > 3000")
    box = page.locator("#views").bounding_box()
    assert box["y"] + box["height"] == pytest.approx(800, abs=1) and box["width"] <= 390
    click_unit(page, ".unit >> nth=40")
    panel = page.locator(".panel.open").bounding_box()
    assert panel["y"] + panel["height"] <= box["y"] + 1  # above the views, which it does not hide
    page.click("#views a:has-text('Overview')")
    page.wait_for_selector("section.overview h1")


def test_paragraphs_stand_apart(visit, novel_page, tmp_path):
    page = visit(novel_page)
    open_text(page)
    starts = page.locator(".sentence.paragraph").evaluate_all(
        "all => all.map(s => s.dataset.sentence)"
    )
    assert starts[:3] == ["0", "7", "14"]
    assert page.evaluate(GAP, 7) > 12 > 4 > page.evaluate(GAP, 8)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("One. Two.\nThree.\n\nFour.\n", [2]), ("One.\nTwo.\nThree.", [1, 2]), ("One two.", None)],
)
def test_texts_have_paragraphs_too(tmp_path, text, expected):
    path = tmp_path / "text.jsonl"
    path.write_text(json.dumps({"text": text, "clusters": [[[0, 3], [4, 7]]]}))
    key = corefeval.read(path)
    [[document]] = report(key, key, metrics="muc").payload["texts"]
    assert document.get("paragraphs") == expected


def test_scores_are_sorted_by_any_column(visit, crowded_page):
    page = visit(crowded_page)
    names = "table.scores tbody th"
    assert page.locator(names).all_inner_texts()[0] == "system 0"
    page.click("table.scores thead button:has-text('LEA')")
    page.click("table.scores thead button:has-text('LEA')")
    assert page.locator("table.scores th[aria-sort=ascending]").inner_text().startswith("LEA")
    ordered = page.locator(names).all_inner_texts()
    scores = page.locator("table.scores tbody td:nth-child(4) .stack > :first-child")
    values = [float(text.split()[0]) for text in scores.all_inner_texts()]
    assert values == sorted(values) and set(ordered) == {f"system {n}" for n in range(7)}
    page.select_option("#metric-choice", label="LEA")  # which draws the page anew
    page.wait_for_selector("text=system 0, LEA")
    assert page.locator(names).all_inner_texts() == ordered
    page.click("table.scores thead button:has-text('Response')")
    assert page.locator(names).all_inner_texts() == sorted(ordered)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_names_of_scores_stay_where_they_are(visit, crowded_page, example_page, scheme):
    """However far one scrolls, one sees whose scores these are."""
    for address, view, of in (
        (crowded_page, "overview", "scores"),
        (example_page, "overview", "scores"),
        (crowded_page, "documents", "documents"),
    ):
        page = visit(f"{address}#view={view}", width=390, height=844, color_scheme=scheme)
        first = page.locator(f"table.{of} tbody th").first
        before = first.bounding_box()["x"]
        scroller = page.locator(f".scroller:has(> table.{of})").first
        assert scroller.evaluate("s => { s.scrollLeft = 150; return s.scrollLeft; }") > 50
        box = first.bounding_box()
        assert box["x"] == before and box["width"] < 0.45 * 390
        back = first.evaluate("th => getComputedStyle(th).backgroundColor")
        assert back not in ("rgba(0, 0, 0, 0)", "transparent")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_names_of_equal_ranks_do_not_overprint(visit, report_folder):
    path = report_folder / "equal.html"
    report(KEY, {f"the same {n}": EAGER for n in range(3)} | {"x": CAUTIOUS, "y": KEY}).save(path)
    for width in (1400, 390):
        page = visit(f"{path.as_uri()}#view=charts", width=width)
        page.wait_for_selector("figure >> nth=0 >> .chart svg")
        labels = page.locator("figure >> nth=0 >> .chart text").filter(has_text="the same")
        boxes = [one.bounding_box() for one in labels.all()]
        assert len(boxes) == (6 if width > 1000 else 3)
        for place, box in enumerate(boxes):
            for other in boxes[place + 1 :]:
                beside = abs(box["x"] - other["x"]) >= min(box["width"], other["width"])
                assert beside or abs(box["y"] - other["y"]) >= 0.7 * box["height"]


@pytest.mark.parametrize("width", [1400, 390])
def test_many_responses_are_ranks_and_fields_instead_of_bars(visit, crowded_page, width):
    page = visit(crowded_page + "#view=charts", width=width)
    page.wait_for_selector("figure:last-child .chart svg")
    first = page.locator("figure").first
    assert "Ranks by F1" in first.inner_text()
    assert first.locator("path[aria-roledescription='line mark']").count() == 7
    names = first.locator(".chart text").all_text_contents()
    assert names.count("system 3") == (2 if width > 1000 else 1)
    assert not page.locator("figure:has-text('By kind') path[aria-roledescription=bar]").count()
    errors = page.locator("figure:has-text('Errors and the points')")
    assert errors.locator(".chart svg").bounding_box()["width"] <= width
    errors.locator("text[aria-roledescription='text mark']").nth(40).click()
    page.wait_for_selector("section.text")


def test_the_keyboard_help_is_in_the_middle(visit, novel_page):
    for width in (1400, 390):
        page = visit(novel_page, width=width, height=900)
        page.keyboard.press("?")
        box = page.locator("dialog").bounding_box()
        assert box["x"] + box["width"] / 2 == pytest.approx(width / 2, abs=2)
        assert box["y"] + box["height"] / 2 == pytest.approx(450, abs=2)


def test_a_chosen_mention_inside_another_hides_neither(visit, novel_page):
    page = visit(novel_page)
    open_text(page)
    click_unit(page, ".unit .unit >> nth=0")
    page.wait_for_selector(".unit .unit.chosen")
    inner = page.evaluate(EDGES, ".unit .chosen")
    outer = page.evaluate(EDGES, ".unit:has(> .chosen) > .tag")
    assert inner[1] + inner[2] <= outer[0] + 1.5  # the frame ends where the outer number begins

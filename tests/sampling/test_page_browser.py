"""The page for labelling in a real browser: by keyboard alone, on a phone, nothing is lost."""

from __future__ import annotations

import pytest

import corefeval
from html_pages import HOSTILE
from sheet_makers import Person, rows_of, write_rows

RESPONSES = {name: corefeval.example(name) for name in ("cautious", "eager")}
PERSON = Person(corefeval.read(corefeval.example("key")))


@pytest.fixture
def open_sheet(visit, tmp_path):
    def open_page(sheet, **options):
        path = tmp_path / "sheet.html"
        sheet.write(path)
        return visit(path.as_uri(), **options)

    return open_page


def download(page, path):
    with page.expect_download() as waiting:
        page.keyboard.press("Control+Home")
        page.focus("#save")
        page.keyboard.press("Enter")
    waiting.value.save_as(path)
    return path.read_bytes()


def written(sheet, path):
    sheet.write(path)
    return path.read_bytes()


def type_names(page, sheet, person=PERSON):
    """Answer all questions about names, then the lists of members, with keys alone."""
    rows = {row.row: row for row in sheet}
    for row in sheet:
        assert page.inner_text("#where").startswith(f"Question {row.row}:")
        assert page.inner_text("mark") == row.text
        name = person.name(row)
        page.keyboard.type(name)
        if name != "-":
            page.keyboard.press("Enter")
        if sheet.design == "entities":
            tick_members(page, rows[row.row], person)
    if sheet.design == "names":
        for _ in sheet:
            if "All questions" in page.inner_text("#message"):
                break
            number = int(page.inner_text("#where").split()[1].rstrip(":"))
            tick_members(page, rows[number], person)


def tick_members(page, row, person):
    """Tick the other mentions of the row's entity, if the page asks for them."""
    if not page.locator("#members").is_visible():
        return
    assert page.evaluate("document.activeElement.id") == "filter"
    wanted = {f"{start}..{end}" for start, end in person.members(row)}
    if page.locator("#members >> text=Show more").is_visible():
        page.click("#members >> text=Show more")
    for box in page.query_selector_all("#mentions input"):
        if box.is_checked() != (box.get_attribute("value") in wanted):
            box.focus()
            page.keyboard.press("Space")
    page.focus("#filter")
    page.keyboard.press("Enter")


@pytest.mark.parametrize("design", ["names", "entities"])
def test_names_by_keyboard(open_sheet, tmp_path, design):
    sheet = corefeval.sample(RESPONSES, design=design, n=3, seed=1)
    page = open_sheet(sheet)
    type_names(page, sheet)
    assert "All questions are answered" in page.inner_text("#message")
    filled = corefeval.read_sheet(_save(page, tmp_path))
    expected = sheet.fill(PERSON.name).complete(PERSON.members)
    assert not filled.incomplete
    assert [row.answer for row in filled] == [row.answer for row in expected]
    ours = corefeval.estimate(filled, RESPONSES)
    theirs = corefeval.estimate(expected, RESPONSES)
    assert ours.as_dict()["scores"] == theirs.as_dict()["scores"]
    assert download(page, tmp_path / "a.csv") == written(filled, tmp_path / "b.csv")


def _save(page, tmp_path):
    path = tmp_path / "saved.csv"
    download(page, path)
    return path


def test_pairs_by_keyboard_and_the_csv_to_the_byte(open_sheet, tmp_path):
    sheet = corefeval.sample(RESPONSES, design="pairs", n=8)
    page = open_sheet(sheet)
    empty = download(page, tmp_path / "page.csv")
    assert empty == written(sheet, tmp_path / "python.csv")
    for row in sheet:
        page.keyboard.press(PERSON.pair(row))
    filled = sheet.fill(PERSON.pair)
    assert download(page, tmp_path / "page.csv") == written(filled, tmp_path / "python.csv")


def test_sentences_by_keyboard(open_sheet, tmp_path):
    sheet = corefeval.sample(RESPONSES, design="sentences", n=4)
    page = open_sheet(sheet)
    page.keyboard.press("?")
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    first = page.query_selector("#form input[type=checkbox]")
    first.focus()
    page.keyboard.press("Space")
    page.focus("#missed")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")

    def answer(row):
        wrong = row.mentions[:1] if row.row == 3 else ()
        return "?" if row.row == 1 else (wrong, 20 if row.row == 2 else 0)

    filled = corefeval.read_sheet(_save(page, tmp_path))
    assert [row.answer for row in filled][2:] == [answer(row) for row in sheet][2:]
    assert filled[0].answer == "?" and filled[1].answer[0] == ()
    assert filled[1].answer[1] in (2, 20)


def test_a_label_is_never_lost_on_reload(open_sheet, tmp_path):
    sheet = corefeval.sample(RESPONSES, design="names", n=6)
    page = open_sheet(sheet)
    page.keyboard.type('  Wrén = x, "y"  ')
    page.keyboard.press("Enter")
    page.keyboard.press("?")
    page.keyboard.press("-")
    before = download(page, tmp_path / "before.csv")
    page.reload()
    page.wait_for_selector("main h1")
    assert page.inner_text("#where").startswith("Question 4:")
    assert download(page, tmp_path / "after.csv") == before
    answers = [row.answer for row in corefeval.read_sheet(tmp_path / "after.csv")]
    assert answers[:3] == ['Wrén = x, "y"', "?", "-"] and not any(answers[3:])
    page.keyboard.press("PageUp")
    page.focus("#clear")
    page.keyboard.press("Enter")
    page.reload()
    assert corefeval.read_sheet(_save(page, tmp_path))[2].answer == ""


def test_a_larger_sheet_finds_the_labels_of_a_smaller_one(open_sheet, tmp_path):
    page = open_sheet(corefeval.sample(RESPONSES, design="pairs", n=3))
    page.keyboard.press("n")
    corefeval.sample(RESPONSES, design="pairs", n=9).write(tmp_path / "sheet.html")
    page.reload()
    assert page.inner_text("#progress").startswith("2 of")


def test_open_takes_a_sheet_and_refuses_others(open_sheet, tmp_path):
    sheet = corefeval.sample(RESPONSES, design="names", n=6)
    filled = sheet.fill(lambda row: "=x" if row.row == 1 else "?").complete(lambda row: [])
    filled.write(tmp_path / "filled.csv")
    semicolons = tmp_path / "semicolons.csv"
    write_rows(semicolons, filled, reversed(rows_of(filled)), delimiter=";")
    page = open_sheet(sheet)
    for path in (tmp_path / "filled.csv", semicolons):
        page.set_input_files("#open", path)
        page.wait_for_selector(f"#message:has-text('taken from {path.name}')")
        assert download(page, tmp_path / "again.csv") == written(filled, tmp_path / "python.csv")
    elsewhere = corefeval.sample(RESPONSES["eager"], design="names", n=6)
    elsewhere.write(tmp_path / "other.csv")
    (tmp_path / "text.csv").write_text("Hello", encoding="utf-8")
    (tmp_path / "latin.csv").write_bytes("é".encode("latin-1"))
    for name, words in (("other", "other responses"), ("text", "not a sheet"), ("latin", "UTF-8")):
        page.set_input_files("#open", tmp_path / f"{name}.csv")
        page.wait_for_selector(f"#message:has-text('{words}')")
    assert download(page, tmp_path / "again.csv") == written(filled, tmp_path / "python.csv")


def test_names_are_chosen_from_the_list(open_sheet, tmp_path):
    response = {"d": [["a1", "a2", "a3", "a4"], ["b1", "b2"]]}
    page = open_sheet(corefeval.sample(response, design="names", n=6))
    page.keyboard.type("Ada Lovelace")
    page.keyboard.press("Enter")
    page.keyboard.type("Bo")
    page.keyboard.press("Enter")
    page.keyboard.type("ada")
    assert page.locator("#names li").all_inner_texts() == ["Ada Lovelace"]
    page.keyboard.press("ArrowDown")
    assert page.get_attribute("#answer", "aria-activedescendant") == "name-0"
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.type("ada")
    page.keyboard.press("Enter")  # what is typed counts, where nothing is chosen
    answers = [row.answer for row in corefeval.read_sheet(_save(page, tmp_path))]
    assert answers[:5] == ["Ada Lovelace", "Bo", "Ada Lovelace", "Bo", "ada"]
    page.focus("#answer")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#where").startswith("Question 5:")
    assert page.input_value("#answer") == "ada"
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#where").startswith("Question 6:")


@pytest.mark.parametrize("design", ["names", "entities", "pairs", "sentences"])
def test_a_phone_shows_all_of_it(open_sheet, design):
    sheet = corefeval.sample(RESPONSES, design=design, n=6)
    page = open_sheet(sheet, width=360, height=740, has_touch=True)
    if design in ("names", "entities"):
        page.fill("#answer", "Wren of the lighthouse, granddaughter of the captain")
        page.click("text=Accept")
    for step in range(2):
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        for selector in ("#save", "#open", "#back", "#forth", "#next"):
            box = page.locator(selector).bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= 360, (step, selector)
        page.click("#forth")


def test_a_screen_reader_can_tell_what_is_what(open_sheet):
    for design in ("names", "entities", "pairs", "sentences"):
        page = open_sheet(corefeval.sample(RESPONSES, design=design, n=3))
        assert page.locator("h1").count() == 1
        for field in page.query_selector_all("input, button"):
            name = field.evaluate(
                "e => e.getAttribute('aria-label') || e.textContent.trim() || "
                "[...(e.labels ?? [])].map(l => l.textContent).join('').trim()"
            )
            assert name, field.evaluate("e => e.outerHTML")
        assert page.get_attribute("#progress", "role") == "status"
        assert page.get_attribute("#message", "role") == "alert"


def test_hostile_texts_are_only_shown(open_sheet, tmp_path):
    response = {"<img src=x onerror=window.pwned=1>": [[*HOSTILE], ["=1+1", "x"]]}
    sheet = corefeval.sample(response, design="names", n=99)
    page = open_sheet(sheet)
    page.keyboard.type("<b onload=1>&amp;</script>")
    page.keyboard.press("Enter")
    assert page.evaluate("window.pwned") is None
    saved = corefeval.read_sheet(_save(page, tmp_path))
    assert saved[0].answer == "<b onload=1>&amp;</script>"
    assert [row.cells["id"] for row in saved] == [row.cells["id"] for row in sheet]

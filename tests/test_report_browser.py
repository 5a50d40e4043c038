"""The report in a real browser: clicks, keys, links, filters, and that texts stay texts."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import corefeval
from corefeval.analysis.errors import analyse
from corefeval.reports import report

pytest.importorskip("vl_convert", reason="charts need vl-convert-python: corefeval[charts]")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
VIEWS = ("overview", "charts", "documents", "text", "comparison")
KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))
EVIL = '<img/src=x/onerror="window.pwned=1">'


@pytest.fixture(scope="module")
def browser():
    path = os.environ.get("COREFEVAL_BROWSER") or next(
        filter(None, map(shutil.which, BROWSERS)), ""
    )
    if not path:
        pytest.skip(f"no browser here: install one of {', '.join(BROWSERS)}")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--headless=new", "--disable-gpu"]
        )
        yield running
        running.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def example(folder) -> str:
    path = folder / "example.html"
    report(KEY, {"cautious": CAUTIOUS, "eager": EAGER}, title="Example").save(path)
    return path.as_uri()


@pytest.fixture
def visit(browser):
    """Open a page; at the end it must have logged no error and asked for nothing elsewhere."""
    contexts, complaints = [], []

    def open_page(address: str, *, width: int = 1400, height: int = 900, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        page.on(
            "request",
            lambda r: (
                None if r.url.startswith(("file:", "data:", "blob:")) else complaints.append(r.url)
            ),
        )
        page.goto(address)
        page.wait_for_selector("main h1")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints


def open_text(page, document: str | None = None):
    page.keyboard.press("t")
    if document is not None:
        page.select_option("#document-choice", label=document)
    page.wait_for_selector("#reading .unit")


def test_every_view_is_a_click_away(visit, example):
    page = visit(example)
    titles = page.locator("#views a").all_inner_texts()
    assert titles == ["Overview", "Charts", "Documents", "Text", "Compare"]
    for title, view in zip(titles, VIEWS, strict=True):
        page.click(f"#views a:has-text('{title}')")
        page.wait_for_selector(f"section.{view} h1")
        assert page.locator("#views a[aria-current=page]").inner_text() == title


def test_the_overview_has_scores_errors_and_notices(visit, example):
    page = visit(example)
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


def test_choosing_a_response_and_a_metric_changes_the_page(visit, example):
    page = visit(example)
    before = page.inner_text("table.kinds")
    page.select_option("#system-choice", label="eager")
    page.wait_for_function(
        "text => document.querySelector('table.kinds').innerText !== text", arg=before
    )
    assert "system=eager" in page.url
    page.select_option("#metric-choice", label="LEA")
    page.wait_for_selector("text=eager, LEA")


def test_charts_are_drawn_and_say_numbers_on_hover(visit, example):
    page = visit(example + "#view=charts")
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


def test_a_bar_leads_to_the_errors_that_it_stands_for(visit, example):
    page = visit(example + "#view=charts")
    page.wait_for_selector("figure:last-child .chart svg")
    page.locator(
        "figure:has-text('Errors and the points') .chart path[aria-roledescription=bar]"
    ).first.click()
    page.wait_for_selector("section.text .chip[aria-pressed=true]")


def test_hovering_lights_up_the_chain_on_both_sides(visit, example):
    page = visit(example)
    open_text(page)
    page.keyboard.press("m")
    page.wait_for_selector(".reading.columns")
    page.hover("[data-column=key] .unit[data-entity='0'] >> nth=0")
    lit = "document.querySelectorAll('[data-column={}] .lit-key').length"
    assert page.evaluate(lit.format("key")) == 7
    assert page.evaluate(lit.format("response")) == 2
    assert page.locator("[data-column=response] .lit-response").count() == 2


def test_jumping_goes_through_all_errors(visit, example):
    page = visit(example)
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


def test_filters_fade_what_they_leave_out(visit, example):
    page = visit(example)
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


def test_a_link_leads_to_a_document_and_a_mention(visit, example):
    page = visit(example + "#doc=fi%2Flighthouse_01%3B%20part%20001&mention=k9&system=eager")
    page.wait_for_selector(".unit.chosen")
    chosen = page.locator(".unit.chosen").first
    mention = corefeval.read(KEY)["fi/lighthouse_01; part 001"].mentions[9]
    assert chosen.get_attribute("data-key") == "9"
    assert page.inner_text(".panel h2").replace(" ", "") == mention.text.replace(" ", "")
    assert page.input_value("#system-choice") == "1"
    box = chosen.bounding_box()
    assert 0 < box["y"] < 900


def test_the_link_of_a_mention_leads_back_to_it(visit, example):
    page = visit(example)
    open_text(page)
    page.click(".unit.wrong >> nth=2", position={"x": 4, "y": 8})
    text = page.inner_text(".panel h2")
    link = page.get_attribute("#mention-link", "href")
    other = visit(example + link)
    other.wait_for_selector(".unit.chosen")
    assert other.inner_text(".panel h2") == text


def test_back_goes_back(visit, example):
    page = visit(example)
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
def test_links_that_lead_nowhere_do_no_harm(visit, example, address):
    page = visit(example + address)
    assert page.locator("main h1").count() == 1


def test_search_marks_words_and_goes_on_to_other_documents(visit, example):
    page = visit(example)
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


def test_documents_are_sorted_by_any_score(visit, example):
    page = visit(example + "#view=documents")

    def column(place: int) -> list[float]:
        cells = page.locator(f"table.documents tbody td:nth-child({place})").all_inner_texts()
        return [float(cell) for cell in cells]

    lost = column(5)
    assert lost == sorted(lost, reverse=True) and len(lost) == 9
    page.click("[data-column=muc]")
    assert column(7) == sorted(column(7), reverse=True)
    page.click("[data-column=muc]")
    assert column(7) == sorted(column(7))
    assert page.locator("th[aria-sort=ascending]").inner_text().startswith("MUC")
    page.fill("input[placeholder='part of a name']", "light")
    assert page.locator("table.documents tbody tr").count() == 2
    page.click("table.documents tbody a >> nth=0")
    page.wait_for_selector("section.text h1:has-text('lighthouse')")


def test_two_responses_are_compared_mention_by_mention(visit, example):
    page = visit(example + "#view=comparison")
    cells = (
        page.locator("section.comparison table >> nth=0").locator("tbody tr").first.locator("td")
    )
    numbers = [int(text) for text in cells.all_inner_texts()]
    key = [one.classification for one in (analyse(KEY, CAUTIOUS), analyse(KEY, EAGER))]
    extra = [int((one.items.meaning < 0).sum()) for one in key]
    assert sum(numbers) >= key[0].key.n_mentions + max(extra)
    assert page.locator("ol.mentions li").count() == min(numbers[0], 100)
    page.click("button:has-text('only eager right')")
    assert page.locator("ol.mentions li").count() == min(numbers[1], 100)
    assert "eager: ✓" in page.inner_text("ol.mentions li >> nth=0")
    page.click("ol.mentions a >> nth=0")
    page.wait_for_selector("[data-column=other] .unit")
    assert page.locator(".heads div").all_inner_texts() == ["Key", "cautious", "eager"]
    page.wait_for_selector(".unit.chosen")


def test_the_flow_shows_splits_and_merges(visit, example):
    page = visit(example)
    open_text(page)
    page.click("#tab-flow")
    ribbons = page.locator("path.ribbon").count()
    assert ribbons >= 5
    page.click(".flow summary")
    assert page.locator(".flow tbody tr").count() == ribbons
    page.locator("g.node").first.click()
    page.wait_for_selector(".unit.chosen")
    assert "entity=" in page.url


def test_it_works_without_a_mouse(visit, example):
    page = visit(example)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.keyboard.press("n")
    page.wait_for_selector(".unit.chosen")
    said = page.inner_text("#announcement")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "text => document.getElementById('announcement').textContent !== text", arg=said
    )
    page.keyboard.press("c")
    page.keyboard.press("e")
    page.wait_for_selector(".unit.faded")
    page.keyboard.press("1")
    page.wait_for_selector(".chip[aria-pressed=true]")
    for key, view in (("d", "documents"), ("g", "charts"), ("v", "comparison"), ("o", "overview")):
        page.keyboard.press(key)
        page.wait_for_selector(f"section.{view}")


NAMELESS = """() => {
  const things = 'button, a, input, select, [role=img], [role=button]';
  const named = (one) => one.getAttribute('aria-label') || one.innerText?.trim() || one.labels?.length;
  return [...document.querySelectorAll(things)].filter((one) => !named(one)).map((one) => one.outerHTML);
}"""  # noqa: E501


def test_everything_has_a_name_for_screen_readers(visit, example):
    page = visit(example)
    for view in VIEWS:
        page.click(f"#views a >> nth={VIEWS.index(view)}")
        page.wait_for_selector(f"section.{view} h1")
        nameless = page.evaluate(NAMELESS)
        assert not nameless
        assert page.locator("main h1").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(visit, example, scheme):
    page = visit(example, width=390, height=844, color_scheme=scheme, has_touch=True)
    for place, view in enumerate(VIEWS):
        page.click(f"#views a >> nth={place}")
        page.wait_for_selector(f"section.{view} h1")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, view
    page.keyboard.press("t")
    assert not page.locator(".panel").is_visible()
    page.locator(".unit.wrong .tag").first.tap()
    page.wait_for_selector(".panel.open h2")
    page.click(".panel [aria-label=close]")
    assert not page.locator(".panel").is_visible()


def test_dark_and_light_differ(visit, example):
    back = "getComputedStyle(document.body).backgroundColor"
    colours = {visit(example, color_scheme=scheme).evaluate(back) for scheme in ("light", "dark")}
    assert len(colours) == 2


EVIL_TEXT = f"""#begin document ({EVIL}</script><script>window.pwned=2</script>); part 000
x 0 0 {EVIL} NNP * - - - {EVIL} * (1)
x 0 1 </script><script>window.pwned=3</script> NNP * - - - {EVIL} * (1
x 0 2 &lt;b&gt; NNP * - - - {EVIL} * 1)|(2)
x 0 3 <!--<script> NNP * - - - {EVIL} * (2)

#end document
"""


def test_a_script_in_the_data_does_not_run(visit, folder):
    source, path = folder / "evil.conll", folder / "evil.html"
    source.write_text(EVIL_TEXT, encoding="utf-8")
    name = f"{EVIL}</script><script>window.pwned=4</script>"
    empty = EVIL_TEXT.replace("(1)", "-").replace("(1", "-").replace("1)|", "")
    (folder / "empty.conll").write_text(empty, encoding="utf-8")
    responses = {name: source, "other": folder / "empty.conll"}
    report(
        source,
        responses,
        title=name,
        by=["note"],
        features={"note": lambda m: EVIL},
        metrics="standard",
    ).save(path)
    page = visit(path.as_uri())
    assert EVIL in page.inner_text("h1")
    for place, view in enumerate(VIEWS):
        page.click(f"#views a >> nth={place}")
        page.wait_for_selector(f"section.{view} h1")
        page.wait_for_timeout(300)
    page.keyboard.press("t")
    for key in ("m", "m", "n", "s", "ArrowRight"):
        page.keyboard.press(key)
    for tab in ("entities", "flow", "mention"):
        page.click(f"#tab-{tab}")
    assert EVIL in page.inner_text("#reading")
    assert "</script><script>window.pwned=3</script>" in page.inner_text("#reading")
    assert page.evaluate("window.pwned") is None
    assert page.locator("img").count() == 0


def test_names_that_every_object_has_are_names(visit, folder):
    """`constructor` is a word, and may be the name of a response."""
    cells = "The:(1 constructor:1) calls:- toString:(2) and:- valueOf:(2) of:- __proto__:(1)"
    pairs = [pair.split(":") for pair in cells.split()]
    words = [word for word, _ in pairs]
    lines = [f"d 0 {n} {word} NN * - - - - * {cell}" for n, (word, cell) in enumerate(pairs)]
    path = folder / "names.conll"
    path.write_text(
        "\n".join(("#begin document (constructor); part 000", *lines, "#end document\n"))
    )
    page_path = folder / "names.html"
    report(path, {"toString": path, "constructor": path}, by="head").save(page_path)
    page = visit(page_path.as_uri())
    page.keyboard.press("g")
    page.wait_for_selector("figure:last-child .chart svg")
    open_text(page)
    shown = page.inner_text("#reading")
    assert all(word in shown for word in words)
    assert "native code" not in shown
    page.fill("#search", "valueof")
    page.wait_for_selector("mark")


def test_without_text_the_shape_stays(visit, folder):
    path = folder / "no_text.html"
    report(KEY, {"eager": EAGER}, text=False, title="T").save(path)
    page = visit(path.as_uri())
    open_text(page)
    assert page.locator("#search").count() == 0
    assert set(page.inner_text("#reading")) <= set("· \n\u2060→xbcdefgh.0123456789↔⋃+⊞−⊟÷")
    page.keyboard.press("n")
    page.wait_for_selector(".unit.chosen")
    assert page.inner_text(".panel h2").startswith("token")


def test_a_long_text_is_drawn_where_somebody_looks(visit, folder):
    lines = []
    for n in range(40_000):
        end = "\n\n" if n % 20 == 19 else "\n"
        lines.append(f"x 0 {n % 20} word{n} NN {'(1)' if n % 50 == 0 else '-'}{end}")
    text = f"#begin document (x); part 000\n{''.join(lines)}\n#end document\n"
    (folder / "long.conll").write_text(text)
    (folder / "few.conll").write_text(text.replace("(1)", "-", 3))
    path = folder / "long.html"
    report(folder / "long.conll", {"few": folder / "few.conll"}, metrics="b3", by=(), ci=None).save(
        path
    )
    page = visit(path.as_uri())
    open_text(page)
    assert page.locator(".chunk").count() > 100
    assert page.locator(".sentence").count() < 400
    page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
    page.wait_for_selector("[data-sentence='1999']", state="attached")
    assert page.locator("[data-sentence='0']").count() == 0
    assert page.locator(".sentence").count() < 400
    page.keyboard.press("p")
    page.wait_for_selector(".unit.chosen")
    box = page.locator(".unit.chosen").bounding_box()
    assert 0 < box["y"] < 900
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".sentence").count() == 2000


def test_paper_has_the_text_and_no_tools(visit, example):
    page = visit(example)
    open_text(page)
    page.emulate_media(media="print")
    assert not page.locator(".toolbar").is_visible() and not page.locator(".top").is_visible()
    assert page.locator("#reading .unit").first.is_visible()


def test_a_notebook_shows_the_report_in_a_frame(visit, folder, example):
    made = report(KEY, {"eager": EAGER}, metrics="b3", by=(), ci=None, title="Framed")
    path = folder / "notebook.html"
    path.write_text(f"<!DOCTYPE html><main><h1>x</h1></main>{made._repr_html_()}", encoding="utf-8")
    page = visit(path.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("#views a:has-text('Text')").click()
    frame.locator("#next-error").click()
    assert frame.locator(".unit.chosen").count() == 1


def test_real_responses_show_their_dearest_errors_at_once(visit, folder, shared):
    gum = shared / "gum"
    path = folder / "gum.html"
    report(gum / "key.conll", {"pair": gum / "cort-pair.conll"}).save(path)
    page = visit(path.as_uri())
    dearest = analyse(gum / "key.conll", gum / "cort-pair.conll").entities(3)
    shown = page.locator(".dear >> nth=0").locator("li").all_inner_texts()[:3]
    for text, expected in zip(shown, dearest, strict=True):
        assert expected.document in text and f"{expected.size} mention" in text
    page.locator(".dear a").first.click()
    page.wait_for_selector(".unit.chosen")

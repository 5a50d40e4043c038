"""The report in a real browser: tables, keys, phones, paper, and that texts stay texts."""

from __future__ import annotations

import pytest

from browsing import CAUTIOUS, EAGER, EVIL, KEY, VIEWS, open_text
from corefeval import prepare
from corefeval.analysis.errors import analyse
from corefeval.reports import report


def test_documents_are_sorted_by_any_score(visit, example_page):
    page = visit(example_page + "#view=documents")

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


def test_two_responses_are_compared_mention_by_mention(visit, example_page):
    page = visit(example_page + "#view=comparison")
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


def test_the_flow_shows_splits_and_merges(visit, example_page):
    page = visit(example_page)
    open_text(page)
    page.click("#tab-flow")
    ribbons = page.locator("path.ribbon").count()
    assert ribbons >= 5
    page.click(".flow summary")
    assert page.locator(".flow tbody tr").count() == ribbons
    page.locator("g.node").first.click()
    page.wait_for_selector(".unit.chosen")
    assert "entity=" in page.url


def test_it_works_without_a_mouse(visit, example_page):
    page = visit(example_page)
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


def test_everything_has_a_name_for_screen_readers(visit, example_page):
    page = visit(example_page)
    for view in VIEWS:
        page.click(f"#views a >> nth={VIEWS.index(view)}")
        page.wait_for_selector(f"section.{view} h1")
        nameless = page.evaluate(NAMELESS)
        assert not nameless
        assert page.locator("main h1").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(visit, example_page, scheme):
    page = visit(example_page, width=390, height=844, color_scheme=scheme, has_touch=True)
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


def test_dark_and_light_differ(visit, example_page):
    back = "getComputedStyle(document.body).backgroundColor"
    colours = {
        visit(example_page, color_scheme=scheme).evaluate(back) for scheme in ("light", "dark")
    }
    assert len(colours) == 2


EVIL_TEXT = f"""#begin document ({EVIL}</script><script>window.pwned=2</script>); part 000
x 0 0 {EVIL} NNP * - - - {EVIL} * (1)
x 0 1 </script><script>window.pwned=3</script> NNP * - - - {EVIL} * (1
x 0 2 &lt;b&gt; NNP * - - - {EVIL} * 1)|(2)
x 0 3 <!--<script> NNP * - - - {EVIL} * (2)

#end document
"""


def test_a_script_in_the_data_does_not_run(visit, report_folder):
    source, path = report_folder / "evil.conll", report_folder / "evil.html"
    source.write_text(EVIL_TEXT, encoding="utf-8")
    name = f"{EVIL}</script><script>window.pwned=4</script>"
    empty = EVIL_TEXT.replace("(1)", "-").replace("(1", "-").replace("1)|", "")
    (report_folder / "empty.conll").write_text(empty, encoding="utf-8")
    responses = {name: source, "other": report_folder / "empty.conll"}
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


def test_names_that_every_object_has_are_names(visit, report_folder):
    """`constructor` is a word, and may be the name of a response."""
    cells = "The:(1 constructor:1) calls:- toString:(2) and:- valueOf:(2) of:- __proto__:(1)"
    pairs = [pair.split(":") for pair in cells.split()]
    words = [word for word, _ in pairs]
    lines = [f"d 0 {n} {word} NN * - - - - * {cell}" for n, (word, cell) in enumerate(pairs)]
    path = report_folder / "names.conll"
    path.write_text(
        "\n".join(("#begin document (constructor); part 000", *lines, "#end document\n"))
    )
    page_path = report_folder / "names.html"
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


def test_without_text_the_shape_stays(visit, report_folder):
    path = report_folder / "no_text.html"
    report(KEY, {"eager": EAGER}, text=False, title="T").save(path)
    page = visit(path.as_uri())
    open_text(page)
    assert page.locator("#search").count() == 0
    assert set(page.inner_text("#reading")) <= set("· \n\u2060→xbcdefgh.0123456789↔⋃+⊞−⊟÷")
    page.keyboard.press("n")
    page.wait_for_selector(".unit.chosen")
    assert page.inner_text(".panel h2").startswith("token")


def test_a_long_text_is_drawn_where_somebody_looks(visit, report_folder):
    lines = []
    for n in range(40_000):
        end = "\n\n" if n % 20 == 19 else "\n"
        lines.append(f"x 0 {n % 20} word{n} NN {'(1)' if n % 50 == 0 else '-'}{end}")
    text = f"#begin document (x); part 000\n{''.join(lines)}\n#end document\n"
    (report_folder / "long.conll").write_text(text)
    (report_folder / "few.conll").write_text(text.replace("(1)", "-", 3))
    path = report_folder / "long.html"
    responses = {"few": report_folder / "few.conll"}
    report(report_folder / "long.conll", responses, metrics="b3", by=(), ci=None).save(path)
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


def test_paper_has_the_text_and_no_tools(visit, example_page):
    page = visit(example_page)
    open_text(page)
    page.emulate_media(media="print")
    assert not page.locator(".toolbar").is_visible() and not page.locator(".top").is_visible()
    assert page.locator("#reading .unit").first.is_visible()


def test_a_notebook_shows_the_report_in_a_frame(visit, report_folder, example_page):
    made = report(KEY, {"eager": EAGER}, metrics="b3", by=(), ci=None, title="Framed")
    path = report_folder / "notebook.html"
    path.write_text(f"<!DOCTYPE html><main><h1>x</h1></main>{made._repr_html_()}", encoding="utf-8")
    page = visit(path.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("#views a:has-text('Text')").click()
    frame.locator("#next-error").click()
    assert frame.locator(".unit.chosen").count() == 1


def test_real_responses_show_their_dearest_errors_at_once(visit, report_folder, shared):
    gum = shared / "gum"
    path = report_folder / "gum.html"
    report(gum / "key.conll", {"pair": gum / "cort-pair.conll"}).save(path)
    page = visit(path.as_uri())
    dearest = analyse(gum / "key.conll", gum / "cort-pair.conll").entities(3)
    shown = page.locator(".dear >> nth=0").locator("li").all_inner_texts()[:3]
    for text, expected in zip(shown, dearest, strict=True):
        assert expected.document in text and f"{expected.size} mention" in text
    page.locator(".dear a").first.click()
    page.wait_for_selector(".unit.chosen")


@pytest.mark.parametrize("width", [1280, 390])
def test_names_of_points_neither_overlap_nor_leave_the_chart(visit, example_page, width):
    page = visit(example_page + "#view=charts", width=width)
    figure = page.locator("figure:has(h2:text-is('Precision and recall'))")
    figure.locator("svg .points_labels text").first.wait_for()
    labels = [one for one in figure.locator("svg .points_labels text").all() if one.is_visible()]
    assert len(labels) == 2 * 7  # of all metrics but the CoNLL average, which has no recall
    boxes = [one.bounding_box() for one in labels]
    chart = figure.locator("svg").bounding_box()
    for place, box in enumerate(boxes):
        assert chart["x"] <= box["x"] and box["x"] + box["width"] <= chart["x"] + chart["width"]
        for other in boxes[:place]:
            apart = any(
                abs(box[edge] + box[size] / 2 - other[edge] - other[size] / 2)
                >= (box[size] + other[size]) / 2 - 3  # boxes are higher than letters
                for edge, size in (("x", "width"), ("y", "height"))
            )
            assert apart, (box, other)


@pytest.mark.parametrize("match", ["exact", "head"])
def test_mentions_matched_with_other_tokens_have_a_sign(visit, report_folder, match):
    path = report_folder / f"{match}.html"
    report(KEY, {"eager": EAGER}, match=match, metrics="conll").save(path)
    prepared = prepare(KEY, EAGER, match=match)
    rows = prepared.matches.rows(prepared.key.n_mentions)
    sides = zip((prepared.key, prepared.response), rows, strict=True)
    spans = [[*zip(one.mention_start[at], one.mention_end[at], strict=True)] for one, at in sides]
    loose = [place for place, both in enumerate(zip(*spans, strict=True)) if len({*both}) > 1]
    assert bool(loose) == (match == "head")
    page = visit(path.as_uri())
    documents = prepared.key.mention_document[rows[0][loose]].tolist()
    for document in {0, *documents}:
        open_text(page, str(prepared.key.documents[document]))
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")  # draws all
        signs = page.locator("#reading .tag:has(.loose)")
        assert signs.count() == documents.count(document)
        legend = page.locator(".legend li:has-text('≈')").count()
        assert legend == (document in documents)
        if signs.count():
            assert "; matched with “" in signs.first.get_attribute("title")

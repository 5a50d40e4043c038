"""A browser for tests of the report, and the pages that they open."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import corefeval
from corefeval.reports import report

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
VIEWS = ("overview", "charts", "documents", "text", "entities", "comparison")
KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))
EVIL = '<img/src=x/onerror="window.pwned=1">'


@pytest.fixture(scope="module")
def browser():
    """A running browser; tests are skipped where there is none, or nothing to drive it with."""
    pytest.importorskip("vl_convert", reason="charts need vl-convert-python")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = os.environ.get("COREFEVAL_BROWSER") or next(
        filter(None, map(shutil.which, BROWSERS)), ""
    )
    if not path:
        lack = pytest.fail if os.environ.get("COREFEVAL_NOTHING_MISSING") else pytest.skip
        lack(f"no browser here: install one of {', '.join(BROWSERS)}")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--headless=new", "--disable-gpu"]
        )
        yield running
        running.close()


@pytest.fixture(scope="module")
def report_folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def example_page(browser, report_folder) -> str:
    path = report_folder / "example.html"
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
        page.set_default_timeout(60_000)
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


def click_unit(page, selector: str) -> None:
    """Click on the beginning of a mention, wherever lines break: its box may begin elsewhere."""
    x, y = page.locator(selector).evaluate(
        """unit => {
          unit.scrollIntoView({block: "center", behavior: "instant"});
          const box = [...unit.getClientRects()].find(box => box.width > 4);
          return [box.x + 4, box.y + box.height / 2];
        }"""
    )
    page.mouse.click(x, y)

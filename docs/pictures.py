"""Photograph the pages that the documentation shows: `docs/pictures.py`; needs a browser.

To be run when the look or the words of the report or the leaderboard have changed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parent / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
COMMANDS = (
    "example",
    "report key.conll eager.conll cautious.conll --output report.html",
    "example --suite shared",
    "suite run shared/suite.toml --save results.json.gz",
    "suite page results.json.gz --output leaderboard.html",
    "sample cautious.conll eager.conll --design names --n 60 --output sheet.html",
)
# The page, what its address says, the height in pixels, and where to click.
SHOTS = {
    "report": ("report", f"doc={quote('fi/lighthouse_01; part 001')}", 780, ("wrong ›", "flow")),
    "report-overview": ("report", "", 780, ()),
    "report-comparison": ("report", "system=cautious&view=comparison", 780, ()),
    "leaderboard": ("leaderboard", "", 1020, ()),
    "sheet": ("sheet", "", 560, ()),
}


def main() -> int:
    """Take all of them."""
    path = os.environ.get("COREFEVAL_BROWSER") or next(
        filter(None, map(shutil.which, BROWSERS)), ""
    )
    if not path:
        sys.exit(f"no browser here: install one of {', '.join(BROWSERS)}")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        for command in COMMANDS:
            call = [sys.executable, "-m", "corefeval", *command.split()]
            subprocess.run(call, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name, (made, address, height, clicks) in SHOTS.items():
            page = browser.new_page(viewport={"width": 1400, "height": height})
            page.goto(f"{Path(folder, made).as_uri()}.html#{address}")
            for text in clicks:
                page.locator("#main").get_by_text(text, exact=True).locator("visible=true").click()
            page.mouse.move(0, 0)
            page.screenshot(path=IMAGES / f"{name}.png")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())

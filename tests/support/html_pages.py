"""Pages taken apart, without a browser."""

from __future__ import annotations

from html.parser import HTMLParser

HOSTILE = (
    "</script><b>", "</SCRIPT ", "<!--<script>", "-->", "<b onload=1>", "&lt;b&gt;", "&amp;",
    "\"'`", "\u2028\u2029", "]]>", "</title><b>", "</style>", "{{7*7}}", "\\u003c",
)  # fmt: skip


class Page(HTMLParser):
    """The elements of a page: [tag, attributes, text]."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), []))

    def handle_data(self, data):
        if self.elements:
            self.elements[-1][2].append(data)

    def text_of(self, identifier: str) -> str:
        return next("".join(t) for _, a, t in self.elements if a.get("id") == identifier)


def shape(page: Page) -> list[tuple[str, tuple[str, ...]]]:
    """The tags of a page with the names of their attributes."""
    return [(tag, tuple(attributes)) for tag, attributes, _ in page.elements]

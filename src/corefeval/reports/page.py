"""The page of a report in one HTML file, with its data, scripts, styles and library of charts."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from dataclasses import dataclass, field
from functools import cache, cached_property
from html import escape
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

from corefeval.diagnostics import Notice, UsageError, plural
from corefeval.files import write_file

if TYPE_CHECKING:
    from jinja2 import Template


# In the order in which they are put together: each one uses only what stands before it when the
# page is loaded.
SCRIPTS = (
    "data",
    "elements",
    "state",
    "documents_model",
    "relations",
    "overview",
    "charts",
    "documents",
    "layout",
    "text",
    "details",
    "search",
    "sections",
    "characters",
    "comparison",
    "main",
)
BOARD_SCRIPTS = ("data", "elements", "board", "profile", "pairs", "leaderboard")
STYLES = ("theme", "page", "text", "print")
BOARD_STYLES = ("theme", "page", "board", "print")

# Headings, and rows with what each is of.
PlainTable = tuple[list[str], list[tuple[str, list[str]]]]

_IMPORT = re.compile(r"^import .*\n", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


def _read(*path: str) -> str:
    return files(__package__).joinpath(*path).read_text(encoding="utf-8")


@cache
def bundle(scripts: tuple[str, ...] = SCRIPTS) -> str:
    """Scripts as one: modules in one scope, without their imports and exports."""
    parts = [_read("scripts", f"{name}.js") for name in scripts]
    script = "\n".join(_EXPORT.sub("", _IMPORT.sub("", part)) for part in parts)
    return f'"use strict";\n(() => {{\n{script}\n}})();\n'


@cache
def style(styles: tuple[str, ...] = STYLES) -> str:
    """Styles as one."""
    return "\n".join(_read("styles", f"{name}.css") for name in styles)


def check_library() -> None:
    """Complain where the library of charts is not installed, before any work is done."""
    if find_spec("vl_convert") is None:
        raise UsageError(
            "the report draws its charts with Vega-Lite, which is not installed: "
            "pip install vl-convert-python"
        )


@cache
def charts_library() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that needs no network.

    It runs in a function of its own, as its names would clash with those of other scripts.
    """
    check_library()
    import vl_convert

    library: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    # The end of a script, in a string of it, would end the element.
    library = re.sub(r"</(?=script)", r"<\\/", library, flags=re.IGNORECASE).replace(
        "<!--", r"<\!--"
    )
    return f"(() => {{\n{library}\n}})();\n"


def fingerprint(script: str) -> str:
    """The hash by which a content security policy knows a script."""
    digest = hashlib.sha256(script.encode("utf-8", "backslashreplace")).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def template(name: str) -> Template:
    """A template whose values are escaped unless it says otherwise."""
    return make_template(_read(name))


def make_template(text: str) -> Template:
    """The template of a text, whose values are escaped unless it says otherwise."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.from_string(text)


@dataclass(frozen=True, eq=False, repr=False)
class Page:
    """A page: `.save(path)` writes it, `.html` is the text of it.

    It needs nothing but itself: no network, no server. Notebooks show it in a frame.
    """

    payload: dict[str, Any] = field(repr=False)
    notices: tuple[Notice, ...] = ()

    noun: ClassVar[str] = "report"
    scripts: ClassVar[tuple[str, ...]] = SCRIPTS
    styles: ClassVar[tuple[str, ...]] = STYLES
    has_charts: ClassVar[bool] = True

    @cached_property
    def html(self) -> str:
        """The whole page."""
        script = bundle(self.scripts)
        library = charts_library() if self.has_charts else ""
        head, rows = self.plain_table
        return template("page.html.jinja").render(
            title=self.payload["title"],
            noun=self.noun,
            data=embed(self.payload),
            script=script,
            library=library,
            style=style(self.styles),
            policy=make_policy(script, library),
            version=self.payload["version"],
            head=head,
            rows=rows,
        )

    @property
    def plain_table(self) -> PlainTable:
        """The numbers for browsers without scripts."""
        raise NotImplementedError

    @property
    def summary(self) -> str:
        """What the page is on, in a few words."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all."""
        write_file(path, self.html, problem=f"the {self.noun} cannot be written")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.summary}>"

    def _repr_html_(self) -> str:
        return frame(self.html)


class Report(Page):
    """A report: `.save(path)` writes it, `.html` is the text of the page."""

    @property
    def plain_table(self) -> PlainTable:
        """F1 of each metric and response."""
        scores = self.payload["scores"]
        rows = [
            (metric["title"], [f"{100 * score['f1']:.2f}" for score in scores[metric["name"]]])
            for metric in self.payload["metrics"]
        ]
        return ["F1", *(system["name"] for system in self.payload["systems"])], rows

    @property
    def summary(self) -> str:
        """What the report is on: how many documents and responses."""
        documents = plural(len(self.payload["documents"]), "document")
        return f"{documents}, {plural(len(self.payload['systems']), 'response')}"


def embed(payload: dict[str, Any]) -> str:
    """JSON that can stand in an HTML page: nothing in it ends the element or opens a comment."""
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def make_policy(script: str, library: str) -> str:
    """What the page may do: run its own scripts, known by their hashes, and nothing else.

    Even if a text of the corpus found its way into the page as HTML, it would not run.
    """
    sources = " ".join(fingerprint(text) for text in (script, library) if text)
    return (
        f"default-src 'none'; script-src {sources}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def frame(page: str, height: int = 720) -> str:
    """A whole page in a frame."""
    return (
        f'<iframe title="corefeval report" style="width:100%;height:{height}px;border:0" '
        f'srcdoc="{escape(page)}"></iframe>'
    )

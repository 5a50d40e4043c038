"""HTML: the page of a report in one file, and what notebooks show of any result or document.

A page holds its data, scripts, styles and the library of charts.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from html import escape
from importlib.resources import files
from importlib.util import find_spec
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar

from corefeval.diagnostics import Notice, UsageError, plural
from corefeval.display import visible
from corefeval.files import write_file
from corefeval.output import make_sheet

if TYPE_CHECKING:
    from jinja2 import Template

    from corefeval.display import Tabular
    from corefeval.model.views import Document, Entity, Mention
    from corefeval.output.tables import Cell, Column, Table

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
    "comparison",
    "main",
)
BOARD_SCRIPTS = ("data", "elements", "board", "profile", "pairs", "leaderboard")
STYLES = ("theme", "page", "text", "print")
BOARD_STYLES = ("theme", "page", "board", "print")

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
    def plain_table(self) -> tuple[list[str], list[tuple[str, list[str]]]]:
        """The numbers for browsers without scripts: headings, and rows with what each is of."""
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
    def plain_table(self) -> tuple[list[str], list[tuple[str, list[str]]]]:
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


MOST_TOKENS = 1500
MOST_ENTITIES = 200
MOST_ROWS = 200
# The hues of the report; with the numbers beside mentions, colour is not the only sign.
HUES = ("#0072b2", "#d55e00", "#009e73", "#c1609c", "#c98a00",
        "#3a9fd8", "#7a4fb5", "#8a7d00", "#8c4a2f", "#12808c")  # fmt: skip
_TEXT = "padding:.15em .7em;text-align:left"
_NUMBER = "padding:.15em .7em;text-align:right;font-variant-numeric:tabular-nums"


def result_html(result: Tabular) -> str:
    """Any result as it is printed: tables, what they are of, signatures, and notices."""
    sheet = make_sheet(result)
    parts = [
        f"<p>{_isolate(part)}</p>" if isinstance(part, str) else _table_html(part)
        for part in sheet.parts
    ]
    notices = dict.fromkeys(str(notice) for notice in getattr(result, "notices", ()))
    small = [*map(_isolate, (*sheet.about, *sheet.signatures))]
    small += [f"note: {_isolate(notice)}" for notice in notices]
    return (
        f"<div>{''.join(parts)}{''.join(f'<p><small>{line}</small></p>' for line in small)}</div>"
    )


def _table_html(table: Table) -> str:
    """A table with its groups of columns above their headings; long ones are cut short."""
    groups = [
        (name, len([*members]))
        for name, members in groupby(column.group for column in table.columns)
    ]
    above = "".join(
        f'<th scope="colgroup" colspan="{width}" style="text-align:center">{_isolate(name)}</th>'
        for name, width in groups
    )
    heads = "".join(
        f'<th scope="col" style="{_style(column)}">{_isolate(column.heading)}</th>'
        for column in table.columns
    )
    rows = [row for section in table.sections for row in section]
    body = "".join(
        f"<tr>{''.join(map(_cell_html, row, table.columns))}</tr>" for row in rows[:MOST_ROWS]
    )
    remark = _count_hidden(len(rows) - MOST_ROWS, "rows")
    caption = f"<caption>{_isolate(table.caption)}</caption>" if table.caption else ""
    head = (f"<tr>{above}</tr>" if any(name for name, _ in groups) else "") + f"<tr>{heads}</tr>"
    return f"<table>{caption}<thead>{head}</thead><tbody>{body}</tbody></table>{remark}"


def _cell_html(cell: Cell, column: Column) -> str:
    text = _isolate(cell.text) if cell.text else ""
    text = f"<strong>{text}</strong>" if text and (cell.bold or cell.label) else text
    mark = f"<sup>{escape(visible(cell.mark))}</sup>" if cell.mark else ""
    return f'<td style="{_style(column)}">{text}{mark}</td>'


def _style(column: Column) -> str:
    return _NUMBER if column.numeric else _TEXT


def document_html(document: Document) -> str:
    """A document's text with its chains coloured and numbered; long ones are cut short."""
    entities = sorted(document.entities, key=lambda entity: entity.mentions[0].row)
    numbers = {entity.index: number for number, entity in enumerate(entities, start=1)}
    title = f"<p><strong>{_isolate(str(document.id))}</strong></p>"
    if document.corpus.labels is not None or "word" not in document.columns:
        return f"<div>{title}{_list_entities(entities)}</div>"
    return f"<div>{title}{_show_text(document, numbers)}</div>"


def frame(page: str, height: int = 720) -> str:
    """A whole page in a frame."""
    return (
        f'<iframe title="corefeval report" style="width:100%;height:{height}px;border:0" '
        f'srcdoc="{escape(page)}"></iframe>'
    )


def _show_text(document: Document, numbers: dict[int, int]) -> str:
    """The text, sentence by sentence. A mention opens and closes marks, so none need nest."""
    limit = min(document.n_tokens, MOST_TOKENS)
    opening: dict[int, list[Mention]] = {}
    closing: dict[int, list[Mention]] = {}
    for mention in document.mentions:
        if mention.start < limit:
            opening.setdefault(mention.start, []).append(mention)
            closing.setdefault(min(mention.end, limit), []).append(mention)
    lines = []
    place = 0
    for sentence in document.sentences:
        parts = []
        for word in sentence[: max(limit - place, 0)]:
            before = "".join(_open(mention, numbers) for mention in opening.get(place, ()))
            place += 1
            after = "".join(_close(m, numbers) for m in reversed(closing.get(place, ())))
            parts.append(f"{before}{escape(visible(word))}{after}")
        if parts:
            lines.append(f'<p style="margin:.3em 0;line-height:1.7">{" ".join(parts)}</p>')
    return "".join(lines) + _count_hidden(len(document.words) - limit, "tokens")


def _hue(number: int, size: int) -> str:
    return HUES[(number - 1) % len(HUES)] if size > 1 else "#8a8f98"


def _open(mention: Mention, numbers: dict[int, int]) -> str:
    hue = _hue(numbers[mention.entity.index], len(mention.entity))
    return f'<b style="color:{hue}" aria-hidden="true">[</b>'


def _close(mention: Mention, numbers: dict[int, int]) -> str:
    number = numbers[mention.entity.index]
    hue = _hue(number, len(mention.entity))
    title = escape(visible(f"entity {mention.entity.name}: {mention.text}"))
    return (
        f'<b style="color:{hue}" aria-hidden="true">]</b>'
        f'<sub style="color:{hue};font-weight:600" title="{title}">{number}</sub>'
    )


def _list_entities(entities: Sequence[Entity]) -> str:
    """Entities one by one, where there is no text to show them in."""
    items = []
    for number, entity in enumerate(entities[:MOST_ENTITIES], start=1):
        places = (
            f"{mention.start}–{mention.end - 1}" if mention.label is None else str(mention.label)
            for mention in entity
        )
        hue, texts = _hue(number, len(entity)), ", ".join(map(_isolate, places))
        items.append(f'<li value="{number}" style="color:{hue}">{texts}</li>')
    return f"<ol>{''.join(items)}</ol>{_count_hidden(len(entities) - MOST_ENTITIES, 'entities')}"


def _count_hidden(number: int, noun: str) -> str:
    return f"<p><small>… {number:,} more {noun}</small></p>" if number > 0 else ""


def _isolate(text: str) -> str:
    """Text of any origin by itself, so that its direction does not spread."""
    return f"<bdi>{escape(visible(text))}</bdi>"

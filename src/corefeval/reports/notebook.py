"""What notebooks show of any result or document, as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from corefeval.display import visible
from corefeval.output import make_sheet

if TYPE_CHECKING:
    from corefeval.display import Tabular
    from corefeval.model.views import Document, Entity, Mention
    from corefeval.output.tables import Cell, Column, Table

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

"""What notebooks show: results as tables, documents with their chains, reports in a frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from corefeval.display import visible

if TYPE_CHECKING:
    from corefeval.model.views import Document, Entity, Mention
    from corefeval.results import Result, Score

MOST_TOKENS = 1500
MOST_ENTITIES = 200
# The hues of the report; with the numbers beside mentions, colour is not the only sign.
HUES = ("#0072b2", "#d55e00", "#009e73", "#c1609c", "#c98a00",
        "#3a9fd8", "#7a4fb5", "#8a7d00", "#8c4a2f", "#12808c")  # fmt: skip
_CELL = "padding:.15em .7em;text-align:right;font-variant-numeric:tabular-nums"


def result_html(result: Result) -> str:
    """A result as a small table: recall, precision and F1 of each metric, and the signature."""
    titles = result.titles or {}
    rows = [
        (
            titles.get(name, name),
            *(_percent(score.rates.get(rate)) for rate in ("recall", "precision", "f1")),
            *_interval(score),
        )
        for name, score in result.scores.items()
    ]
    heads = ["R", "P", "F1"]
    if result.ci is not None:
        of = "F1 of segments, " if result.segment_rates else ""
        heads.append(f"{of}{100 * result.ci:g}%")
    width = len(heads)
    head = "".join(f'<th scope="col" style="{_CELL}">{text}</th>' for text in heads[:width])
    body = "".join(
        f'<tr><th scope="row" style="text-align:left">{escape(title)}</th>'
        + "".join(f'<td style="{_CELL}">{cell}</td>' for cell in cells[:width])
        + "</tr>"
        for title, *cells in rows
    )
    name = _isolate(result.response or "response")
    count = len(result.document_ids)
    return (
        f"<table><caption>{name}, {count:,} document{'s' if count != 1 else ''}</caption>"
        f"<thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"<p><small>{_isolate(result.signature)}</small></p>"
    )


def document_html(document: Document) -> str:
    """A document's text with its chains coloured and numbered; long ones are cut short."""
    entities = document.entities
    numbers = {entity.index: number for number, entity in enumerate(_by_text(entities), start=1)}
    title = f"<p><strong>{_isolate(str(document.id))}</strong></p>"
    if document.corpus.labels is not None or "word" not in document.columns:
        return f"<div>{title}{_list_entities(entities, numbers)}</div>"
    return f"<div>{title}{_show_text(document, numbers)}</div>"


def frame(page: str, height: int = 720) -> str:
    """A whole page in a frame."""
    return (
        f'<iframe title="corefeval report" style="width:100%;height:{height}px;border:0" '
        f'srcdoc="{escape(page)}"></iframe>'
    )


def _by_text(entities: Sequence[Entity]) -> list[Entity]:
    return sorted(entities, key=lambda entity: entity.mentions[0].row)


def _show_text(document: Document, numbers: dict[int, int]) -> str:
    """The text, sentence by sentence. A mention opens and closes marks, so none need nest."""
    words, limit = document.words, min(document.n_tokens, MOST_TOKENS)
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
    more = len(words) - limit
    rest = f"<p><small>… {more:,} more tokens</small></p>" if more > 0 else ""
    return "".join(lines) + rest


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


def _list_entities(entities: Sequence[Entity], numbers: dict[int, int]) -> str:
    """Entities one by one, where there is no text to show them in."""

    def items() -> Iterator[str]:
        for entity in _by_text(entities)[:MOST_ENTITIES]:
            hue = _hue(numbers[entity.index], len(entity))
            texts = ", ".join(_isolate(_place(mention)) for mention in entity)
            yield f'<li value="{numbers[entity.index]}" style="color:{hue}">{texts}</li>'

    more = len(entities) - MOST_ENTITIES
    rest = f"<p><small>… {more:,} more entities</small></p>" if more > 0 else ""
    return f"<ol>{''.join(items())}</ol>{rest}"


def _isolate(text: str) -> str:
    """Text of any origin by itself, so that its direction does not spread."""
    return f"<bdi>{escape(visible(text))}</bdi>"


def _place(mention: Mention) -> str:
    return str(mention.label) if mention.label is not None else f"{mention.start}–{mention.end - 1}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f}"


def _interval(score: Score) -> list[str]:
    """The interval of F1; that of segments stands behind their own F1."""
    rates = score.segments or score
    if "f1" not in rates.intervals:
        return [""]
    low, high = rates.intervals["f1"]
    own = f"{_percent(rates.f1)}, " if score.segments else ""
    return [f"{own}{100 * low:.2f}–{100 * high:.2f}"]

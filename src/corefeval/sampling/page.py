"""The page for labelling: a sheet with the texts that it needs, in one file without a network."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from corefeval._version import __version__
from corefeval.display import csv_cell
from corefeval.model.text_tokens import text_of
from corefeval.reports.page import embed, make_policy, make_template
from corefeval.sampling.frame import Frame
from corefeval.sampling.sheets import MARK, Sheet


def make_page(frame: Frame, sheet: Sheet) -> str:
    """The page of a sheet: its rows, and words and mentions of their documents."""
    template, script, style = (
        files(__package__).joinpath(f"page.{ending}").read_text(encoding="utf-8")
        for ending in ("html.jinja", "js", "css")
    )
    rows = [{name: csv_cell(cell) for name, cell in row.items()} for row in sheet.rows()]
    signature = sheet.signature
    data: dict[str, Any] = {
        "mark": MARK,
        "signature": str(signature),
        "digest": signature.digest,
        "design": sheet.design,
        "instructions": sheet.instructions,
        "columns": [*rows[0]],
        "rows": rows,
        "documents": {} if sheet.design == "pairs" else _list_texts(frame, sheet),
    }
    return make_template(template).render(
        policy=make_policy(script, ""), design=sheet.design, title="Questions", version=__version__,
        instructions=sheet.instructions, style=style, script=script, data=embed(data),
    )  # fmt: skip


def _list_texts(frame: Frame, sheet: Sheet) -> dict[str, dict[str, Any]]:
    """The text of each document of a sheet (words, or one text), and its mentions with places."""
    texts: dict[str, dict[str, Any]] = {}
    corpus = frame.mentions
    for name in dict.fromkeys(row.document for row in sheet):
        document = frame.documents.index(name)
        tokens, mentions = frame.find_tokens(document), []
        text: Any = text_of(tokens, document)
        if tokens is not None and tokens.has_column(document, "word"):
            text = tokens.column(document, "word")
        for mention in corpus[document].mentions:
            place = mention.span if mention.label is None else (str(mention.label), "")
            mentions.append([frame.ids[mention.row], *place])
        texts[str(csv_cell(name))] = {"text": text, "mentions": mentions}
    return texts

"""Sheets for tests of estimates: a full key plays the person, and CSV is put together by hand."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import corefeval

Entities = list[list[str]]


class Person:
    """Somebody who knows the key: entities of plain Python, or a corpus by document."""

    def __init__(self, key: Any) -> None:
        corpus = key if isinstance(key, corefeval.Corpus) else corefeval.corpus_from_entities(key)
        self.entities: dict[tuple[str, Any], list[Any]] = {}
        self.names: dict[tuple[str, Any], str] = {}
        for document in corpus:
            for entity in document.entities:
                mentions = [m.span if m.label is None else m.label for m in entity]
                for mention in mentions:
                    self.entities[str(document.id), mention] = mentions
                    self.names[str(document.id), mention] = f"entity {entity.index}"

    def name(self, row: Any) -> str:
        return self.names.get((row.document, row.mention), "-")

    def members(self, row: Any) -> list[Any]:
        mentions = self.entities[row.document, row.mention]
        return [mention for mention in mentions if mention != row.mention]

    def pair(self, row: Any) -> str:
        mentions = self.entities.get((row.document, row.mention), [])
        if not mentions:
            return "-"
        return "ny"[len(mentions) == 1 if row.partner is None else row.partner in mentions]

    def fill(self, sheet: corefeval.Sheet) -> corefeval.Sheet:
        if sheet.design == "pairs":
            return sheet.fill(self.pair)
        return sheet.fill(self.name).complete(self.members)


def rows_of(sheet: corefeval.Sheet) -> list[dict[str, str]]:
    """The rows of a sheet as dictionaries, to be changed."""
    return [dict(row) for row in sheet.rows()]


def write_rows(
    path: Path, sheet: corefeval.Sheet, rows: Iterable[dict[str, str]], *, delimiter: str = ","
) -> Path:
    """A sheet with other rows, as CSV."""
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\r\n")
    writer.writerow(["# corefeval sheet", str(sheet.signature)])
    listed = [dict(row) for row in rows]
    writer.writerow(listed[0])
    writer.writerows(row.values() for row in listed)
    path.write_bytes(stream.getvalue().encode("utf-8"))
    return path

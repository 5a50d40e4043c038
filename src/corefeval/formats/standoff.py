"""What annotation files with their text beside them have in common."""

from __future__ import annotations

import re

from corefeval.diagnostics import CorefEvalError, InputError
from corefeval.formats.source import Source
from corefeval.model import Document

_LINE_END = re.compile(r"\r\n|\n|\r")
_SAFE_ID = re.compile(r"T[^\s:;]*[0-9]")
_UNSAFE = re.compile(r"[\t\r\n]+")


def companion_text(source: Source) -> Source:
    """The text that an annotation file is about: the file of its name that ends in `.txt`."""
    try:
        return source.sibling(".txt")
    except (CorefEvalError, ValueError) as error:
        raise InputError(
            "the text of this annotation cannot be read",
            file=source.file,
            found=getattr(error, "problem", None),
            expected="a file of the same name with .txt beside it",
            fix="put the .txt file into the same folder",
        ) from None


def lines_of(text: str) -> list[str]:
    """The lines of a text; an empty one after the last line end does not count."""
    lines = _LINE_END.split(text)
    return lines[:-1] if lines and not lines[-1] else lines


def feature_values(document: Document, name: str) -> list[str]:
    """A feature of each mention of a document, on one line; nothing where it is not known."""
    values, rows = document.corpus.features.get(name), document.rows
    if values is None:
        return [""] * len(rows)
    return [_UNSAFE.sub(" ", str(values[row])) for row in rows]


def mention_ids(document: Document, *, shared: bool = False) -> list[str]:
    """An id for each mention of a document: the corpus' own where they will do, or numbered.

    With `shared` mentions of several entities may have one id, if they are the same tokens.
    """
    known = feature_values(document, "mention_id")
    pairs = list(zip(known, document.mentions, strict=True))
    distinct = {(value, m.entity.index) if shared else value for value, m in pairs}
    places = {(value, mention.span) for value, mention in pairs}
    unambiguous = len(distinct) == len(known) and len(places) == len(set(known))
    if unambiguous and all(_SAFE_ID.fullmatch(value) for value in known):
        return known
    return [f"T{number}" for number in range(1, len(known) + 1)]

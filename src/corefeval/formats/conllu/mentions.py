"""Brackets of `Entity` attributes joined into mentions, discontinuous ones included."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

import numpy as np

from corefeval.diagnostics import InputError, Notice, excerpt, note
from corefeval.formats.conll.cells import match_brackets
from corefeval.formats.conllu.scan import Documents, Header, Scan, attributes
from corefeval.formats.source import Source
from corefeval.model.arrays import IntArray, integers
from corefeval.model.corpus import NO_GAPS

_BRACKET = re.compile(r"\(([^()\n]+)(\))?|([^()\n]+)\)|(\n)|(.)", re.DOTALL)
_PART = re.compile(r"(.*)\[(\d{1,6})/(\d{1,6})\]", re.DOTALL)
_PLAIN_ID = re.compile(r"e?\d+")


@dataclass(frozen=True, slots=True)
class Mentions:
    """Mentions in the order in which they open; positions count through the whole file."""

    document: IntArray
    entity: IntArray
    start: IntArray
    end: IntArray
    text: list[str]
    names: list[str]
    gaps: IntArray


@dataclass(slots=True)
class _Brackets:
    """Every bracket of the file: its token, its key, whether it opens and closes, its text.

    A key is a document, an entity, and the part and number of parts of a discontinuous mention.
    """

    source: Source
    scan: Scan
    documents: Documents
    token: list[int] = field(default_factory=list)
    key: list[int] = field(default_factory=list)
    opens: list[bool] = field(default_factory=list)
    closes: list[bool] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    keys: list[tuple[int, str, int, int]] = field(default_factory=list)

    def error(self, problem: str, token: int, **details: str) -> InputError:
        """An error about a token."""
        line = self.source.line(self.scan.token_line[token])
        return self.source.error(problem, line, **details)


def find_mentions(
    source: Source, scan: Scan, documents: Documents, notices: list[Notice]
) -> Mentions:
    """The mentions that the brackets of a file make; `notices` get what seems odd."""
    tokens, values = attributes(scan, b"Entity=")
    owners = (np.searchsorted(documents.first, tokens, side="right") - 1).tolist()
    brackets = _Brackets(source, scan, documents)
    _read_brackets(brackets, (tokens.tolist(), values, owners), notices)
    token = integers(brackets.token)
    opens = np.array(brackets.opens, dtype=np.bool_)
    closes = np.array(brackets.closes, dtype=np.bool_)
    key = integers(brackets.key)
    closing, unmatched = match_brackets(key, opens, closes)
    if unmatched.size:
        row = int(unmatched.min())
        line, entity = scan.token_line[token[row]], brackets.keys[brackets.key[row]][1]
        raise source.bracket_error(source.line(line), entity, brackets.opens[row])
    opening = np.flatnonzero(opens)
    key, start, end = key[opening], token[opening], token[closing[opening]] + 1
    anonymous = any(h is not None and h.id_index is None for h in documents.headers)
    if not anonymous and all(parts == 1 for _, _, _, parts in brackets.keys):
        # As nearly always: a bracket that opens is a mention, and a key is an entity.
        owners_of_keys = integers([document for document, _, _, _ in brackets.keys])
        texts = [brackets.text[row] for row in opening.tolist()]
        names = [entity for _, entity, _, _ in brackets.keys]
        return Mentions(owners_of_keys[key], key, start, end, texts, names, NO_GAPS)
    columns = (key.tolist(), start.tolist(), end.tolist(), opening.tolist())
    return _join_parts(brackets, list(zip(*columns, strict=True)))


def _read_brackets(
    result: _Brackets, marks: tuple[list[int], list[bytes], list[int]], notices: list[Notice]
) -> None:
    tokens, values, owners = marks
    numbers: dict[tuple[int, str], int] = {}
    id_index = [(header or Header()).id_index for header in result.documents.headers]
    text = result.source.decode(b"\n".join(values))
    foreign: list[int] = []
    at = 0
    for opened, single, closed, newline, odd in _BRACKET.findall(text):
        if newline:
            at += 1
            continue
        if odd:
            foreign.append(at)
            continue
        owner = owners[at]
        index = id_index[owner] or 0
        chosen = closed
        if opened and index:
            fields = opened.split("-", index + 1)
            chosen = fields[index] if index < len(fields) else fields[0]
        elif opened:
            chosen = opened.partition("-")[0]
        result.token.append(tokens[at])
        result.key.append(numbers.setdefault((owner, chosen), len(numbers)))
        result.opens.append(bool(opened))
        result.closes.append(bool(single or closed))
        result.text.append(opened)
    result.keys = [(owner, *_parse_identity(text)) for owner, text in numbers]
    _check_attributes(result, marks, foreign, notices)


def _parse_identity(text: str) -> tuple[str, int, int]:
    """An id, and the number of a discontinuous mention's part, and of all its parts.

    >>> _parse_identity("e7[1/2]")
    ('e7', 1, 2)
    """
    match = _PART.fullmatch(text) if "[" in text else None
    if match is None:
        return (unquote(text) if "%" in text else text), 1, 1
    return unquote(match[1]), int(match[2]), int(match[3])


def _check_attributes(
    brackets: _Brackets,
    marks: tuple[list[int], list[bytes], list[int]],
    foreign: Sequence[int],
    notices: list[Notice],
) -> None:
    """Raise InputError for attributes that cannot be read, and note those that seem odd."""
    tokens, values, owners = marks
    file, headers = brackets.source.file, brackets.documents.headers
    for at in foreign:
        if headers[owners[at]] is not None:
            raise brackets.error(
                "an Entity attribute that is not a row of brackets",
                tokens[at],
                found=excerpt(values[at].decode("utf-8", "replace")),
                expected="brackets such as ‘(e1-person-2’, ‘e1)’ or ‘(e1-person-1)’",
                fix="percent-encode brackets in values, or fix the attribute",
            )
    count, description = len(set(foreign)), "of another kind, ignored"
    notices += note("foreign-entities", count, "Entity attribute", description, whose=file)
    without_header = [key for key in brackets.keys if headers[key[0]] is None]
    for key in without_header:
        if not _PLAIN_ID.fullmatch(key[1]):
            row = brackets.key.index(brackets.keys.index(key))
            raise brackets.error(
                "an Entity attribute without ‘# global.Entity’, so its fields are unknown",
                brackets.token[row],
                found=excerpt(f"({brackets.text[row]}"),
                expected="‘# global.Entity = eid-etype-head’ before the first document",
                fix="add such a line, with the fields in the order of this file",
            )
    if without_header:
        message = f"{file}: no ‘# global.Entity’; first fields are taken as entity ids"
        notices.append(Notice("no-entity-header", message))
    if any(header is not None and header.id_index is None for header in headers):
        message = f"{file}: ‘# global.Entity’ names no eid; mentions are their own entities"
        notices.append(Notice("no-entity-ids", message))


def _join_parts(brackets: _Brackets, spans: Sequence[tuple[int, int, int, int]]) -> Mentions:
    """The mentions, with the parts of discontinuous ones joined and the entities numbered."""
    headers = brackets.documents.headers
    anonymous = [header is not None and header.id_index is None for header in headers]
    numbers: dict[tuple[int, str], int] = {}
    rows: list[tuple[int, int, int, int, str]] = []
    gaps: list[tuple[int, int, int]] = []
    unfinished: dict[tuple[int, str, int], list[tuple[int, int]]] = {}
    for key, start, end, row in spans:
        document, entity, part, parts = brackets.keys[key]
        if part > 1:
            mention = _find_continued(brackets, unfinished, key, row)
            gaps += [(mention, rows[mention][3], start)] if start > rows[mention][3] else []
            # The head is that of the last part's bracket, counted over all parts.
            text = max(
                brackets.text[row],
                rows[mention][4],
                key=lambda text_of_part: text_of_part.count("-"),
            )
            rows[mention] = (*rows[mention][:3], max(end, rows[mention][3]), text)
            continue
        name = f"m{len(rows) + 1}" if anonymous[document] else entity
        number = numbers.setdefault((document, name), len(numbers))
        if parts > 1:
            unfinished.setdefault((document, entity, parts), []).append((len(rows), 1))
        rows.append((document, number, start, end, brackets.text[row]))
    _check_complete(brackets, unfinished, [row[2] for row in rows])
    table = integers([row[:4] for row in rows]).reshape(-1, 4)
    names = [name for _, name in sorted(numbers, key=lambda key: (key[0], numbers[key]))]
    return Mentions(
        document=table[:, 0],
        entity=table[:, 1],
        start=table[:, 2],
        end=table[:, 3],
        text=[row[4] for row in rows],
        names=names,
        gaps=integers(gaps) if gaps else NO_GAPS,
    )


def _check_complete(
    brackets: _Brackets,
    unfinished: dict[tuple[int, str, int], list[tuple[int, int]]],
    starts: Sequence[int],
) -> None:
    """Raise InputError for a discontinuous mention that lacks a part; `starts` are of mentions."""
    for (_, entity, parts), waiting in unfinished.items():
        for mention, count in waiting:
            if count < parts:
                raise brackets.error(
                    f"a mention of entity {excerpt(entity)} lacks a part",
                    starts[mention],
                    found=f"{count} of {parts} parts",
                    expected=f"[1/{parts}] to [{parts}/{parts}]",
                    fix="add the part that is missing, or mark the mention as one span",
                    kind="incomplete-mention",
                )


def _find_continued(
    brackets: _Brackets,
    unfinished: dict[tuple[int, str, int], list[tuple[int, int]]],
    key: int,
    row: int,
) -> int:
    """The mention that a further part belongs to: the last one that waits for it."""
    document, entity, part, parts = brackets.keys[key]
    waiting = unfinished.get((document, entity, parts), [])
    for place in range(len(waiting) - 1, -1, -1):
        mention, count = waiting[place]
        if count == part - 1:
            waiting[place] = (mention, part)
            return mention
    raise brackets.error(
        f"part {part} of a mention whose other parts are missing",
        brackets.token[row],
        found=excerpt(f"({entity}[{part}/{parts}]"),
        expected=excerpt(f"({entity}[{part - 1}/{parts}]") + " before it",
        fix="number the parts of a mention from 1 in the order of the text",
        kind="incomplete-mention",
    )

"""The comments of a CoNLL-U file: documents with their names and fields, and notes on sentences."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import unquote

import numpy as np

from corefeval.diagnostics import InputError, excerpt
from corefeval.formats.conll.columns import BLANK_BYTE, coded_cells
from corefeval.formats.conll.lines import HASH_BYTE
from corefeval.formats.conllu.scan import Scan
from corefeval.formats.source import Source
from corefeval.model import DocumentId
from corefeval.model.arrays import BoolArray, IntArray
from corefeval.model.categories import Categories

TELLING = (b"# newdoc", b"# global.Entity", b"# meta::")
_OF_DOCUMENTS = ("newdoc", "global.", "meta::")
_DEFAULT_FIELDS = ("eid", "etype", "head", "minspan", "infstat", "link", "identity")
_ID_FIELDS = ("eid", "GRP")
_PATIENCE = 16
_ASCII = 128


def read_comment(comment: str) -> tuple[str, str]:
    """The key and value of a comment.

    >>> read_comment("# s_type = decl")
    ('s_type', 'decl')
    """
    key, _, value = comment.lstrip("# ").partition("=")
    return key.strip(), value.strip()


def read_sentence_comment(comment: str) -> tuple[str, str] | None:
    """The key and value of a comment about a sentence; None for comments about a document."""
    return None if comment.lstrip("# ").startswith(_OF_DOCUMENTS) else read_comment(comment)


@dataclass(frozen=True, slots=True)
class Header:
    """The order of the fields of an opening bracket, from `# global.Entity`."""

    fields: tuple[str, ...] = _DEFAULT_FIELDS

    @staticmethod
    def parse(text: str) -> Header:
        """The header that a text such as `eid-etype-head` states."""
        return Header(tuple(field.strip() for field in text.strip().split("-")))

    @property
    def id_index(self) -> int | None:
        """The index of the entity's id; None where no field is."""
        return next((self.fields.index(name) for name in _ID_FIELDS if name in self.fields), None)

    @property
    def head_index(self) -> int | None:
        """The index of the head word's number; None where no field is."""
        return self.fields.index("head") if "head" in self.fields else None

    def values(self, text: str) -> dict[str, str]:
        """The values in an opening bracket by field, without id and head.

        Hyphens beyond the last field belong to it.
        """
        parts = text.split("-", len(self.fields) - 1)
        return {
            name: unquote(value) if "%" in value else value
            for name, value in zip(self.fields, parts, strict=False)
            if value and value != "_" and name not in (*_ID_FIELDS, "head")
        }


@dataclass(slots=True)
class Documents:
    """One entry for each document; `header` is None where no order of fields was declared."""

    identifiers: list[DocumentId] = field(default_factory=list)
    metadata: list[dict[str, str]] = field(default_factory=list)
    headers: list[Header | None] = field(default_factory=list)
    first: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    counts: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))


def find_documents(source: Source, scan: Scan) -> Documents:
    """The documents that comments declare; tokens before the first one make one without a name."""
    documents = Documents()
    begin: list[int] = []
    seen: dict[DocumentId, int] = {}
    telling = [
        (line, *read_comment(source.decode(scan.text(line), line)))
        for line in _document_comments(scan)
    ]
    named = [line for line, key, _ in telling if key in ("newdoc", "newdoc id")]
    if scan.token_line.size and (not named or scan.token_line[0] < named[0]):
        telling.insert(0, (0, "newdoc", ""))
    taken = {
        DocumentId.parse(value) for _, key, value in telling if value and key.startswith("newdoc")
    }
    header: Header | None = None
    metadata: dict[str, str] = {}
    for line, key, value in telling:
        if key in ("newdoc", "newdoc id"):
            number = len(documents.identifiers) + 1
            if value:
                identifier = DocumentId.parse(value)
            else:
                identifier = source.name_document(number if number > 1 else None, taken)
                taken.add(identifier)
            if identifier in seen:
                raise repetition_error(source, identifier, seen[identifier], line)
            seen[identifier] = line
            metadata = {}
            documents.identifiers.append(identifier)
            documents.metadata.append(metadata)
            documents.headers.append(header)
            begin.append(line)
        elif key == "global.Entity":
            header = Header.parse(value)
            documents.headers[-1:] = [header] if documents.headers else []
        else:
            metadata[key.removeprefix("meta::")] = value
    documents.first = np.searchsorted(scan.token_line, begin)
    documents.counts = np.diff(np.append(documents.first, scan.token_line.size))
    return documents


def _document_comments(scan: Scan) -> list[int]:
    """The comment lines about documents; their third byte rules out most lines."""
    start = np.minimum(scan.line_start[scan.comments] + 2, scan.data.size - 1)
    third = scan.data[start]
    candidates = scan.comments[np.isin(third, np.frombuffer(b"ngm", dtype=np.uint8))]
    return [line for line in candidates.tolist() if scan.text(line).startswith(TELLING)]


def repetition_error(source: Source, identifier: DocumentId, first: int, again: int) -> InputError:
    """An error about two documents with one id; their first lines are counted from 0."""
    return source.error(
        f"document {excerpt(str(identifier))} appears twice",
        source.line(again),
        found=f"a second ‘# newdoc id’ for it (the first is on line {source.line(first)})",
        expected="one document for each id",
        fix="rename or remove one of the two",
    )


def comment_lines(scan: Scan, rows: IntArray) -> tuple[IntArray, IntArray]:
    """The first comment above each row, which begins a sentence, and the end (exclusive).

    The numbers count in `scan.comments`. Lines of multi-word tokens may stand between the comments
    and the token.
    """
    above = scan.token_line[rows] - 1
    range_run = _first_of_run(scan.ranges)
    place = np.searchsorted(scan.ranges, above)
    below_range = np.flatnonzero(_are_listed(scan.ranges, place, above))
    above[below_range] = scan.ranges[range_run[place[below_range]]] - 1
    last = np.searchsorted(scan.comments, above)
    has_comment = _are_listed(scan.comments, last, above)
    first, after = np.zeros_like(last), np.zeros_like(last)
    first[has_comment] = _first_of_run(scan.comments)[last[has_comment]]
    after[has_comment] = last[has_comment] + 1
    return first, after


def _are_listed(lines: IntArray, place: IntArray, line: IntArray) -> BoolArray:
    is_listed = np.zeros(line.size, dtype=np.bool_)
    inside = np.flatnonzero(place < lines.size)
    is_listed[inside] = lines[place[inside]] == line[inside]
    return is_listed


def _first_of_run(lines: IntArray) -> IntArray:
    """For each of the ascending lines, the index of the first line of its run without gaps."""
    begins = np.diff(lines, prepend=-2) != 1
    first: IntArray = np.flatnonzero(begins)[np.cumsum(begins) - 1]
    return first


def coded_comments(origin: Source, scan: Scan, rows: IntArray, key: str) -> Categories:
    """The value of a key for each sentence, which begin at `rows` (ascending); code −1 for none.

    Where a sentence has the key twice, the last one counts.
    """
    lines, start = _lines_with_key(origin, scan, key)
    end = scan.line_end[lines]
    texts = coded_cells(
        scan.data,
        lines.size,
        lambda numbers: (start[numbers], end[numbers]),
        lambda texts_of_cells, cells: origin.decode_all(
            texts_of_cells, lambda number: lines[cells[number]]
        ),
    )

    def value(text: str) -> str | None:
        pair = read_sentence_comment(text)
        return pair[1] if pair is not None and pair[0] == key else None

    values = texts.renamed(value)
    first, after = comment_lines(scan, rows)
    commented = np.flatnonzero(after > first)
    number = np.searchsorted(scan.comments, lines)
    share = np.searchsorted(after[commented], number, side="right")
    stated = np.flatnonzero(values.codes >= 0)
    stated = stated[share[stated] < commented.size]
    sentence = commented[share[stated]]
    inside = number[stated] >= first[sentence]
    codes = np.full(rows.size, -1, dtype=np.int64)
    codes[sentence[inside]] = values.codes[stated[inside]]
    return Categories(codes, values.names)


def _lines_with_key(origin: Source, scan: Scan, key: str) -> tuple[IntArray, IntArray]:
    """Comment lines that may have a key, and the positions at which they start.

    Only lines whose text begins with the key have it. A first character beyond ASCII may be white
    space, so such lines are kept.
    """
    data, lines = scan.data, scan.comments
    start, end = scan.line_start[lines], scan.line_end[lines]
    if not (key[:1].isascii() and key[:1].isprintable() and key.strip("# ") == key != ""):
        return lines, start
    try:
        key_bytes = key.encode(origin.encoding)
    except UnicodeError:
        return lines[:0], start[:0]
    text = start.copy()
    active = np.arange(lines.size)
    for _ in range(_PATIENCE):
        byte = data[text[active]]
        active = active[((byte == HASH_BYTE) | (byte <= BLANK_BYTE)) & (text[active] < end[active])]
        text[active] += 1
    odd = np.zeros(lines.size, dtype=np.bool_)
    odd[active] = True
    odd |= data[text] >= _ASCII
    even = np.flatnonzero(~odd)
    for place, letter in enumerate(key_bytes):
        even = even[data[np.minimum(text[even] + place, end[even])] == letter]
    chosen = np.union1d(even, np.flatnonzero(odd))
    return lines[chosen], start[chosen]

"""The comments of a CoNLL-U file: documents with their names and fields, and notes on sentences."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from corefeval.diagnostics import InputError, excerpt
from corefeval.formats.conll.bitmaps import BLANK_BYTE
from corefeval.formats.conll.columns import coded_cells
from corefeval.formats.conll.lines import HASH_BYTE
from corefeval.formats.conllu.entity_attribute import Header
from corefeval.formats.conllu.scan import Scan
from corefeval.formats.source import Source
from corefeval.model import DocumentId
from corefeval.model.arrays import BoolArray, IntArray
from corefeval.model.categories import Categories

TELLING = (b"# newdoc", b"# global.Entity", b"# meta::")
_OF_DOCUMENTS = ("newdoc", "global.", "meta::")
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
    """The same; None for comments that speak of a document."""
    return None if comment.lstrip("# ").startswith(_OF_DOCUMENTS) else read_comment(comment)


@dataclass(slots=True)
class Documents:
    """One entry for each document; `header` is None where no order of fields was declared."""

    identifiers: list[DocumentId] = field(default_factory=list)
    metadata: list[dict[str, str]] = field(default_factory=list)
    headers: list[Header | None] = field(default_factory=list)
    first: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    counts: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))


def find_documents(source: Source, found: Scan) -> Documents:
    """Read the comments that speak of documents; tokens before them make one without a name."""
    documents = Documents()
    begin: list[int] = []
    seen: dict[DocumentId, int] = {}
    telling = [
        (line, *read_comment(source.decode(found.text(line), line)))
        for line in _telling_comments(found)
    ]
    named = [line for line, key, _ in telling if key in ("newdoc", "newdoc id")]
    if found.token_line.size and (not named or found.token_line[0] < named[0]):
        telling.insert(0, (0, "newdoc", ""))
    header: Header | None = None
    metadata: dict[str, str] = {}
    for line, key, value in telling:
        if key in ("newdoc", "newdoc id"):
            number = len(documents.identifiers)
            fallback = source.stem + (f"_{number + 1}" if number else "")
            identifier = DocumentId.parse(value) if value else DocumentId(fallback)
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
    documents.first = np.searchsorted(found.token_line, begin)
    documents.counts = np.diff(np.append(documents.first, found.token_line.size))
    return documents


def _telling_comments(found: Scan) -> list[int]:
    """The comment lines that speak of documents, found by their third byte first."""
    start = np.minimum(found.line_start[found.comments] + 2, found.data.size - 1)
    third = found.data[start]
    some = found.comments[np.isin(third, np.frombuffer(b"ngm", dtype=np.uint8))]
    return [line for line in some.tolist() if found.text(line).startswith(TELLING)]


def repetition_error(source: Source, identifier: DocumentId, first: int, again: int) -> InputError:
    """Two documents of one id, by the lines (counted from 0) on which they begin."""
    return source.error(
        f"document {excerpt(str(identifier))} appears twice",
        source.line(again),
        found=f"a second ‘# newdoc id’ for it (the first is on line {source.line(first)})",
        expected="one document for each id",
        fix="rename or remove one of the two",
    )


def comment_lines(scan: Scan, rows: IntArray) -> tuple[IntArray, IntArray]:
    """The comments above tokens with which sentences begin: from which to which.

    The numbers count in `scan.comments`; the second is exclusive. Lines of multi-word tokens may
    stand between the comments and the token.
    """
    above = scan.token_line[rows] - 1
    range_run = _first_of_run(scan.ranges)
    place = np.searchsorted(scan.ranges, above)
    below_range = np.flatnonzero(_has(scan.ranges, place, above))
    above[below_range] = scan.ranges[range_run[place[below_range]]] - 1
    last = np.searchsorted(scan.comments, above)
    there = _has(scan.comments, last, above)
    first, after = np.zeros_like(last), np.zeros_like(last)
    first[there] = _first_of_run(scan.comments)[last[there]]
    after[there] = last[there] + 1
    return first, after


def _has(lines: IntArray, place: IntArray, line: IntArray) -> BoolArray:
    found = np.zeros(line.size, dtype=np.bool_)
    inside = np.flatnonzero(place < lines.size)
    found[inside] = lines[place[inside]] == line[inside]
    return found


def _first_of_run(lines: IntArray) -> IntArray:
    """For each of some ascending lines, the first of those that lead to it without a gap."""
    begins = np.diff(lines, prepend=-2) != 1
    first: IntArray = np.flatnonzero(begins)[np.cumsum(begins) - 1]
    return first


def coded_comments(origin: Source, scan: Scan, rows: IntArray, key: str) -> Categories:
    """The value of one key for sentences that begin at some rows, which ascend; −1 for none.

    Where a sentence has the key twice, the last one counts.
    """
    lines, start = _candidates(origin, scan, key)
    end = scan.line_end[lines]
    texts = coded_cells(
        scan.data,
        lines.size,
        lambda some: (start[some], end[some]),
        lambda found, cells: origin.decode_all(found, lambda number: lines[cells[number]]),
    )

    def value(text: str) -> str | None:
        pair = read_sentence_comment(text)
        return pair[1] if pair is not None and pair[0] == key else None

    values = texts.renamed(value)
    first, after = comment_lines(scan, rows)
    commented = np.flatnonzero(after > first)
    number = np.searchsorted(scan.comments, lines)
    share = np.searchsorted(after[commented], number, side="right")
    known = np.flatnonzero(values.codes >= 0)
    known = known[share[known] < commented.size]
    sentence = commented[share[known]]
    inside = number[known] >= first[sentence]
    codes = np.full(rows.size, -1, dtype=np.int64)
    codes[sentence[inside]] = values.codes[known[inside]]
    return Categories(codes, values.names)


def _candidates(origin: Source, scan: Scan, key: str) -> tuple[IntArray, IntArray]:
    """Comment lines that may have a key, and where they begin.

    Only lines whose text begins with the key have it. What begins with a character beyond ASCII
    may be white space of some kind, so that it is looked at.
    """
    data, lines = scan.data, scan.comments
    start, end = scan.line_start[lines], scan.line_end[lines]
    if not (key[:1].isascii() and key[:1].isprintable() and key.strip("# ") == key != ""):
        return lines, start
    try:
        wanted = key.encode(origin.encoding)
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
    for place, letter in enumerate(wanted):
        even = even[data[np.minimum(text[even] + place, end[even])] == letter]
    chosen = np.union1d(even, np.flatnonzero(odd))
    return lines[chosen], start[chosen]

"""The comments before the sentences of a CoNLL-U file: of one sentence, or one key of all."""

from __future__ import annotations

import numpy as np

from corefeval.formats.conll.bitmaps import BLANK_BYTE
from corefeval.formats.conll.columns import coded_cells
from corefeval.formats.conll.lines import HASH_BYTE
from corefeval.formats.conllu.scan import Scan
from corefeval.formats.source import Source
from corefeval.model.arrays import BoolArray, IntArray
from corefeval.model.categories import Categories

_OF_DOCUMENTS = ("newdoc", "global.", "meta::")
_PATIENCE = 16
_ASCII = 128


def parsed(comment: str) -> tuple[str, str] | None:
    """The key and value of a comment; None for those that speak of a document.

    >>> parsed("# s_type = decl")
    ('s_type', 'decl')
    """
    key, _, value = comment.lstrip("# ").partition("=")
    return None if key.startswith(_OF_DOCUMENTS) else (key.strip(), value.strip())


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
        pair = parsed(text)
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

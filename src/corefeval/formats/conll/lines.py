"""The lines of a CoNLL file: where they are, which carry coreference, which begin documents."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from corefeval.diagnostics import InputError
from corefeval.formats.source import Source
from corefeval.model import DocumentId
from corefeval.model.arrays import BoolArray, ByteArray, IntArray, unset

TAB, NEWLINE, RETURN, BLANK_BYTE, HASH_BYTE = 9, 10, 13, 32, ord("#")

# What a line is, judged by its last cell. SPACED lines end in a blank and are looked at again.
BLANK, COMMENT, UNMARKED, MARKED, SPACED = range(5)

# What the official scorer takes for the first line of a document.
OFFICIAL_DOCUMENT = re.compile(rb"(?m)^#[^\S\n]*begin document ")

_CHUNK = 1 << 23  # bytes; of smaller pieces two threads would wait for each other too often
BLANKS = bytes(range(BLANK_BYTE + 1))
_TO_BLANKS = b" " * len(BLANKS) + bytes(range(len(BLANKS), 256))
_PATIENCE = 16
_WINDOW = 32  # longer cells are looked at one by one
_CUTS = np.array([64 - 8 * min(size or 1, 8) for size in range(_WINDOW + 1)], dtype=np.uint64)
Cells = tuple[IntArray, NDArray[np.uint64]]  # where cells start, and their last eight bytes


def windows(data: ByteArray, dtype: DTypeLike) -> NDArray[Any]:
    """A view of bytes in which item i is the value that begins at byte i; items overlap.

    >>> windows(np.frombuffer(b"abcd", np.uint8), "S2").tolist()
    [b'ab', b'bc', b'cd']
    """
    width = np.dtype(dtype).itemsize
    return np.ndarray((max(data.size - width + 1, 0),), dtype=dtype, buffer=data, strides=(1,))


def bytes_at(data: ByteArray, start: IntArray, width: int) -> ByteArray:
    """The `width` bytes at each position, one after the other."""
    return windows(data, f"V{width}")[start].view(np.uint8)


def lowest_place(values: NDArray[Any]) -> NDArray[np.uint8]:
    """The number of the lowest set bit of each integer; its width where none is set."""
    number: NDArray[np.uint8] = np.bitwise_count((values - values.dtype.type(1)) & ~values)
    return number


@dataclass(slots=True)
class Lines:
    """Where lines start and end (trailing blanks left out), their kinds, and their last cells.

    `before` is the newline in front of each line, −1 for the first. `cell` is where the last cell
    starts, of lines that are MARKED at first sight, and `text` the last eight bytes of these cells.
    A file is plain if no line of a token ends in blanks, and no MARKED line begins with blanks.
    `underscores` says whether any line ends in `_`.
    """

    before: IntArray
    end: IntArray
    kind: NDArray[np.uint8]
    cell: IntArray
    text: NDArray[np.uint64]
    is_plain: bool
    underscores: bool

    def read_line(self, data: ByteArray, line: int) -> bytes:
        """The bytes of a line."""
        return data[self.before[line] + 1 : self.end[line]].tobytes()

    def change(self, lines: Any, end: Any, kind: Any) -> None:
        """Set new ends and kinds of some lines."""
        if np.may_share_memory(self.before, self.end):  # so far a line ends where the next starts
            self.end = self.end.copy()
        self.is_plain = False
        self.end[lines], self.kind[lines] = end, kind


def split_lines(data: ByteArray) -> tuple[ByteArray, Lines]:
    """Find the lines of a file; the bytes come back with a final newline, and no lone returns."""
    if data.size and (data[-1] != NEWLINE or data.size == 1):
        data = np.append(data, np.uint8(NEWLINE))
    lines = _find_lines(data)
    if lines.kind.size == 1 and (data == RETURN).any():  # an old Mac wrote returns alone
        data = np.where(data == RETURN, np.uint8(NEWLINE), data)
        lines = _find_lines(data)
    spaced = np.flatnonzero(lines.kind == SPACED)
    if spaced.size:
        start = lines.before[spaced] + 1
        end = _trim(data, start, lines.end[spaced])
        kind, underscores = _kinds(data, start, end)
        lines.change(spaced, end, kind)
        lines.underscores |= underscores
    return data, lines


def first_control(data: ByteArray) -> int:
    """The position of the first control character (a byte below the tab), −1 for none.

    Inside a word it would be taken for a blank, and shift the columns behind it.
    """
    for offset in range(0, data.size, _CHUNK):
        piece = data[offset : offset + _CHUNK]
        if int(piece.min()) < TAB:
            return offset + int(np.argmax(piece < TAB))
    return -1


def _find_lines(data: ByteArray) -> Lines:
    """All lines as they seem at first sight, in pieces that stay in the processor's cache."""
    newline, kind = [unset(1)], [np.empty(0, dtype=np.uint8)]
    cells: list[Cells] = [(unset(0), np.empty(0, dtype=np.uint64))]
    is_plain, underscores = True, False
    for end in newlines(data):
        if not end.size:
            continue
        start = np.concatenate((newline[-1][-1:], end[:-1])) + 1
        piece_kind, has_underscores = _kinds(data, start, end)
        underscores |= has_underscores
        (marked,) = (piece_kind == MARKED).nonzero()
        start = start[marked]
        is_plain = is_plain and not (data[start] <= BLANK_BYTE).any()
        cells.append(find_cells(data, start, end[marked]))
        newline.append(end)
        kind.append(piece_kind)
    newlines_of_file = np.concatenate(newline)
    before, end = newlines_of_file[:-1], newlines_of_file[1:]
    cell, text = map(np.concatenate, zip(*cells, strict=True))
    return Lines(before, end, np.concatenate(kind), cell, text, is_plain, underscores)


def _kinds(data: ByteArray, start: IntArray, end: IntArray) -> tuple[NDArray[np.uint8], bool]:
    """What lines are by their first byte and their last two; and whether any ends in `_`."""
    last = data[end - 1]
    dash, underscore = last == ord("-"), last == ord("_")
    underscores = bool(underscore.any())
    if underscores:
        dash |= underscore
    (glued,) = (dash & (data[end - 2] > BLANK_BYTE)).nonzero()
    kind: NDArray[np.uint8] = MARKED - dash.view(np.uint8)
    kind[glued[end[glued] - start[glued] > 1]] = MARKED
    (spaced,) = (last <= BLANK_BYTE).nonzero()
    kind[spaced] = np.where(end[spaced] == start[spaced], BLANK, SPACED)
    kind[(data[start] == HASH_BYTE).nonzero()[0]] = COMMENT
    return kind, underscores


def find_cells(data: ByteArray, start: IntArray, end: IntArray) -> Cells:
    """Where the last cell of each line starts, and its last eight bytes as an integer.

    Lines end at `end`, which is not blank. A window that ends where the line ends shows the last
    blank before it. The first byte of a text is the lowest; what is before the cell is cut off.
    """
    first = unset(end.size)
    text = np.zeros(end.size, dtype=np.uint64)
    if data.size >= _WINDOW:
        window = bytes_at(data, np.maximum(end - _WINDOW, 0), _WINDOW)
        # The bits of the bytes in each window, the last byte in the lowest bit.
        blank = np.packbits(window <= BLANK_BYTE).view(">u4").astype(np.uint32)
        width = lowest_place(blank)
        first = np.where((width < _WINDOW) & (end >= _WINDOW), end - width, -1)
        text = window.view("<u8")[_WINDOW // 8 - 1 :: _WINDOW // 8] >> _CUTS[width]
    for line in (first < 0).nonzero()[0].tolist():
        last = split_cells(data[start[line] : end[line]].tobytes())[-1]
        first[line] = end[line] - len(last)
        text[line] = int.from_bytes(last[-8:], "little")
    return first, text


def split_cells(line: bytes) -> list[bytes]:
    """The cells of one line: whatever is between blanks, and control characters are blanks."""
    return line.translate(_TO_BLANKS).split()


def newlines(data: ByteArray) -> Iterator[IntArray]:
    """The positions of newlines, piece by piece: `flatnonzero(data == 10)` at twice the speed."""
    for offset in range(0, data.size, _CHUNK):
        positions = places_of(data[offset : offset + _CHUNK] == NEWLINE)
        positions += offset
        yield positions


_GROUP = 16  # places that are looked at as one integer; few lines are shorter
_ONE = np.uint16(1)


def places_of(mask: BoolArray) -> IntArray:
    """`np.flatnonzero(mask)`, faster for masks in which few items are true.

    The mask is packed into bits: few groups of sixteen have a set bit, and most of these just one.
    """
    packed = np.zeros(-(-mask.size // _GROUP) * 2, dtype=np.uint8)
    packed[: (mask.size + 7) // 8] = np.packbits(mask, bitorder="little")
    groups = packed.view("<u2")
    positions: IntArray = (groups != 0).nonzero()[0]
    bits = groups[positions]
    positions *= _GROUP
    (several,) = (bits & (bits - _ONE) != 0).nonzero()
    begin = positions[several]
    positions += lowest_place(bits)
    if not several.size:
        return positions
    number = np.bitwise_count(bits)
    positions = positions.repeat(number)
    bits, number = bits[several], number[several] - np.uint8(1)
    place = several + np.cumsum(number, dtype=np.int64) - number
    while place.size:
        bits &= bits - _ONE  # takes away the lowest
        place += 1
        positions[place] = begin + lowest_place(bits)
        (several,) = (bits & (bits - _ONE) != 0).nonzero()
        bits, begin, place = bits[several], begin[several], place[several]
    return positions


def _trim(data: ByteArray, start: IntArray, end: IntArray) -> IntArray:
    """Move each end back over trailing blanks."""
    end = end.copy()
    active = np.flatnonzero((end > start) & (data[end - 1] <= BLANK_BYTE))
    for _ in range(_PATIENCE):
        if not active.size:
            return end
        end[active] -= 1
        still = (end[active] > start[active]) & (data[end[active] - 1] <= BLANK_BYTE)
        active = active[still]
    for line in active.tolist():  # a long run of blanks: let one line at a time be stripped
        text = data[start[line] : end[line]].tobytes()
        stripped = text.rstrip(BLANKS)
        end[line] = start[line] + len(stripped)
    return end


# Possessive (`++`), so that no text makes the pattern try again and again.
_COREFERENCE = re.compile(rb"[-_]|\|*+(?:\([^()|]++\)?+\|*+|[^()|]++\)\|*+)++")


def find_hash_tokens(
    source: Source, lines: Lines, candidates: list[int], begin: Sequence[int], end: Sequence[int]
) -> None:
    """Change the kind of `#` lines that are tokens.

    A comment may be anything, so a token is a line whose last cell could be coreference and which
    has as many columns as the token line next to it in its document. Where a document has nothing
    but such lines, they are tokens if they all have the same number of columns.
    """
    promising = [
        (line, cells)
        for line in candidates
        if len(cells := split_cells(lines.read_line(source.data, line))) > 1
        and is_coreference(cells[-1])
    ]
    if not promising:
        return
    token_lines = np.flatnonzero(lines.kind > COMMENT)
    tokens: list[tuple[int, list[bytes]]] = []
    alone: dict[int, list[tuple[int, list[bytes]]]] = {}
    for line, cells in promising:
        document = int(np.searchsorted(begin, line)) - 1
        if document < 0 or line >= end[document]:
            continue
        place = int(np.searchsorted(token_lines, line))
        neighbours = [
            int(token_lines[index])
            for index in (place - 1, place)
            if 0 <= index < token_lines.size
            and begin[document] < token_lines[index] < end[document]
        ]
        if not neighbours:
            alone.setdefault(document, []).append((line, cells))
        elif len(cells) in {
            len(split_cells(lines.read_line(source.data, neighbour))) for neighbour in neighbours
        }:
            tokens.append((line, cells))
    for members in alone.values():
        tokens += members if len({len(cells) for _, cells in members}) == 1 else []
    for line, cells in tokens:
        text = lines.read_line(source.data, line).rstrip(BLANKS)
        end_of_text = lines.before[line] + 1 + len(text)
        lines.change(line, end_of_text, UNMARKED if cells[-1] in (b"-", b"_") else MARKED)


def is_coreference(cell: bytes) -> bool:
    """Whether a cell could be the last one of a token's line."""
    return _COREFERENCE.fullmatch(cell) is not None


# Nearly all files write it just so; the looser patterns below are for the few that do not.
_USUAL = re.compile(rb"#begin document \(([^()\n]+)\); part (\d{1,18})")
_USUAL_END = b"#end document"
_END = DocumentId("#end document")  # compared by identity
_DOCUMENT_LINE = re.compile(rb"#\s*(begin|end)\s+document\b\s*(.*)", re.IGNORECASE | re.DOTALL)
_PART = re.compile(r"[0-9]{1,18}")


@dataclass(slots=True)
class Outline:
    """The documents of a file, and the lines between which each stands.

    `unfinished` documents end where the next one begins; `cut_short`: the last one does not end.
    `plain_comments` are lines that begin with `#`, and neither begin nor end a document.
    """

    identifiers: list[DocumentId] = field(default_factory=list)
    begin: array[int] = field(default_factory=partial(array, "q"))
    end: array[int] = field(default_factory=partial(array, "q"))
    unfinished: int = 0
    cut_short: bool = False
    plain_comments: list[int] = field(default_factory=list)


def outline_of(
    source: Source,
    marks: Iterable[tuple[int, bytes]],
    size: int,
    repeated: list[tuple[int, InputError]] | None = None,
) -> Outline:
    """The documents that lines beginning with `#` declare; `marks` has places and texts, in order.

    Places are line numbers counted from 0, or whatever `source.line` translates to lines. An id
    that appears twice raises InputError, unless there is a list `repeated` for such errors.
    """
    outline = Outline()
    seen: dict[DocumentId, int] = {}
    is_open = False
    for line, text in marks:
        identifier = _read_document_line(source, text, line)
        if identifier is None:
            outline.plain_comments.append(line)
        elif identifier is _END:
            if is_open:
                outline.end[-1] = line
            is_open = False
        else:
            if seen.setdefault(identifier, line) != line:
                error = source.repetition_error(identifier, seen[identifier], line)
                if repeated is None:
                    raise error
                repeated.append((len(outline.identifiers), error))
            if is_open:
                outline.unfinished += 1
                outline.end[-1] = line
            outline.identifiers.append(identifier)
            outline.begin.append(line)
            outline.end.append(size)
            is_open = True
    outline.cut_short = is_open
    return outline


def _read_document_line(source: Source, text: bytes, line: int) -> DocumentId | None:
    """The id of the document that a line begins, `_END` if it ends a document, else None."""
    if text == _USUAL_END:
        return _END
    usual = _USUAL.fullmatch(text)
    if usual is not None:
        name = source.decode(usual[1], line).strip() or source.stem
        return DocumentId(name, int(usual[2]))
    match = _DOCUMENT_LINE.match(text)
    if match is None:
        return None
    return _END if match[1][0] in b"eE" else _parse_identifier(source, match[2], line)


def _parse_identifier(source: Source, text: bytes, line: int) -> DocumentId:
    """The id that `(name); part 000` states; the part may be missing."""
    name = source.decode(text, line).strip()
    part = None
    words = name.rsplit(None, 1)
    if len(words) == 2 and _PART.fullmatch(words[1]) and words[0].lower().endswith("part"):
        before = words[0][: -len("part")].rstrip()
        if before.endswith((";", ")")):
            name, part = before, int(words[1])
    name = name.removesuffix(";").rstrip()
    if name.startswith("(") and name.endswith(")"):
        name = name[1:-1].strip()
    return DocumentId(name or source.stem, part)

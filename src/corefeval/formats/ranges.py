"""Documents as ranges of bytes: where each stands in a file, and some of them read alone.

Files are looked through block by block, so that none needs to fit into the memory.
"""

from __future__ import annotations

import codecs
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import IO, Any

import numpy as np

from corefeval.diagnostics import Notices, memory_for
from corefeval.files import open_file
from corefeval.formats.conll.lines import NEWLINE
from corefeval.formats.json.records import Record, parse_object
from corefeval.formats.registry import find_format
from corefeval.formats.source import WIDE_MARKS, Source, check_encoding, is_ascii_compatible
from corefeval.model import Corpus, DocumentId
from corefeval.model.arrays import ByteArray, IntArray

_BLOCK = 1 << 20  # bytes, which stay in the processor's cache
_HEAD = 1 << 20  # bytes of documents that tell the columns of a file
_BLANKS = bytes(range(33))
_NOTHING = np.empty(0, dtype=np.uint8)

Part = tuple[int, int] | bytes


@dataclass(frozen=True, slots=True, eq=False)
class Ranges:
    """The documents of a file, each from `bounds[d]` up to `bounds[d + 1]` in bytes.

    `file` is how the file is called and `path` where its bytes are. `inherited` is what a document
    takes over from those before it: a line, and the offset at which it is put in. `options` are
    decided by the beginning of the file, for a reader that sees parts of it; `notices` are on all
    of it.
    """

    path: str
    file: str
    format: str
    encoding: str
    documents: tuple[DocumentId, ...]
    bounds: IntArray
    inherited: tuple[tuple[int, bytes], ...] = ()
    options: tuple[tuple[str, Any], ...] = ()
    notices: Notices = ()

    def only(self, chosen: Sequence[int]) -> Excerpt:
        """Some of the documents, to be read anywhere."""
        parts: list[Part] = []
        for index in sorted(chosen):
            start, stop = self.bounds[index : index + 2].tolist()
            behind, line = self.inherited[index] if self.inherited else (start, b"")
            last = parts[-1] if parts else b""
            if not line and isinstance(last, tuple) and last[1] == start:
                parts[-1] = (last[0], stop)
            elif not line:
                parts.append((start, stop))
            else:
                if behind > stop:  # the last line of the file has no end
                    behind, line = stop, b"\n" + line
                parts += [(start, behind), line, (behind, stop)]
        return Excerpt(
            replace(self, documents=(), bounds=self.bounds[:0], inherited=(), notices=()),
            tuple(parts),
        )


@dataclass(frozen=True)
class Excerpt:
    """Parts of a file, ranges of its bytes and lines that are not its own, one after the other."""

    origin: Ranges
    parts: tuple[Part, ...]

    def read(self, name: str = "") -> Corpus:
        """The documents in it; errors have the lines of the file."""
        origin = self.origin
        with memory_for(origin.file):
            return find_format(origin.format).read(self.source(), name=name, **dict(origin.options))

    def source(self) -> Source:
        """Its bytes, which know where they stand in the file."""
        return Source(self._bytes(), self.origin.file, self.origin.encoding, places=self)

    def _bytes(self) -> ByteArray:
        sizes = [len(p) if isinstance(p, bytes) else p[1] - p[0] for p in self.parts]
        data = np.empty(sum(sizes), dtype=np.uint8)
        buffer = data.data
        with open_file(self.origin.path) as stream:
            for part, (start, stop) in zip(
                self.parts, pairwise(accumulate(sizes, initial=0)), strict=True
            ):
                if isinstance(part, bytes):
                    data[start:stop] = np.frombuffer(part, dtype=np.uint8)
                    continue
                stream.seek(part[0])
                while start < stop and (size := stream.readinto(buffer[start:stop])):  # type: ignore[attr-defined]
                    start += size
                data[start:stop] = ord("\n")  # the file was cut short since: documents are missing
        return data

    def line(self, place: int) -> int:
        """The line of the file, counted from 1, of a line of the excerpt, counted from 0."""
        in_excerpt, in_file = self._lines_before
        part = bisect_right(in_excerpt, place) - 1
        return in_file[part] + place - in_excerpt[part] + 1

    @cached_property
    def _lines_before(self) -> tuple[list[int], list[int]]:
        """How many lines come before each range of bytes: in the excerpt, and in the file."""
        in_excerpt, in_file, place = [0], [0], 0
        with open_file(self.origin.path) as stream:
            for part in self.parts:
                if isinstance(part, bytes):
                    in_excerpt[-1] += 1
                    continue
                in_file[-1] += _count_lines(stream, place, part[0])
                n_lines = _count_lines(stream, *part)
                in_excerpt.append(in_excerpt[-1] + n_lines)
                in_file.append(in_file[-1] + n_lines)
                place = part[1]
        return in_excerpt, in_file


@dataclass(frozen=True)
class _Offsets:
    """The lines of a file by offsets in bytes."""

    path: str

    def line(self, place: int) -> int:
        with open_file(self.path) as stream:
            return _count_lines(stream, 0, place) + 1


def _count_lines(stream: IO[bytes], start: int, stop: int) -> int:
    stream.seek(start)
    count = 0
    while start < stop and (block := stream.read(min(stop - start, _BLOCK))):
        count += block.count(b"\n")
        start += len(block)
    return count


def find_ranges(
    path: str,
    file: str,
    format: str,
    *,
    size: int,
    encoding: str = "utf-8",
    word_column: int | None = None,
    to_cut: bool = True,
) -> Ranges | None:
    """Where the documents of a file of `size` bytes are; None where it can only be read whole.

    `format` is empty where nobody knows it. Where the file is `to_cut`, columns that hold for all
    documents are found, too.
    """
    codec = check_encoding(encoding)
    if not format:
        return None
    declared = find_format(format)
    with open_file(path) as stream:
        head = stream.read(_BLOCK)
        old_lines = b"\r" in head and b"\n" not in head
        if head.startswith(WIDE_MARKS) or not is_ascii_compatible(codec) or old_lines:
            return None
        stream.seek(0)
        begin = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0
        source = Source(_NOTHING, file, codec.name, places=_Offsets(path))
        file_range = Ranges(path, file, format, codec.name, (), np.array([begin, size]))
        ranges: Ranges | None = declared.find_documents(file_range, source, stream)
    if ranges is None or not ranges.documents:
        return None
    return _with_layout(ranges, word_column) if declared.has_columns and to_cut else ranges


def _comments(stream: IO[bytes], begin: int) -> Iterator[tuple[int, int, bytes]]:
    """The lines that begin with `#`: where each starts, where the next line starts, and its text.

    Behind a last line that does not end, the next one would start after the file.
    """
    stream.seek(begin)
    base, tail = begin - 1, b"\n"  # as if a line ended before the first
    while block := stream.read(max(_BLOCK, len(tail))):
        text = tail + block
        last = text.rfind(b"\n")
        place = text.find(b"#", 0, last)
        while place >= 0:
            end = place
            if text[place - 1] == NEWLINE:
                end = text.find(b"\n", place)
                yield base + place, base + end + 1, text[place:end].rstrip(_BLANKS)
            place = text.find(b"#", end + 1, last)
        base, tail = base + last, text[last:]
    if tail.startswith(b"\n#"):
        yield base + 1, base + len(tail) + 1, tail[1:].rstrip(_BLANKS)


def find_conll(file_range: Ranges, source: Source, stream: IO[bytes]) -> Ranges:
    """The documents of CoNLL, which begin with `#begin document`."""
    from corefeval.formats.conll.lines import outline_of
    from corefeval.formats.conll.reader import unfinished_notices

    begin, size = file_range.bounds.tolist()
    marks = ((at, text) for at, _, text in _comments(stream, begin))
    outline = outline_of(source, marks, size)
    return replace(
        file_range,
        documents=tuple(outline.identifiers),
        bounds=np.concatenate(([begin], outline.begin[1:], [size])).astype(np.int64, copy=False),
        notices=tuple(unfinished_notices(file_range.file, outline)),
    )


def _with_layout(ranges: Ranges, word_column: int | None) -> Ranges:
    """Ranges whose documents are read with the columns that the first of them tell."""
    from corefeval.formats.conll.tokens import ConllLines

    number = 1
    while number < len(ranges.documents) and ranges.bounds[number] < _HEAD:
        number += 1
    head = replace(ranges, options=(("word_column", word_column),)).only(range(number))
    tokens = head.read().tokens
    lines = None if tokens is None else tokens.lines
    if not isinstance(lines, ConllLines):
        return ranges
    layout = lines.layout._replace(width=lines.n_columns)
    return replace(ranges, options=(("word_column", word_column), ("layout", layout)))


def find_conllu(
    file_range: Ranges, source: Source, stream: IO[bytes], *, is_plus: bool = False
) -> Ranges | None:
    """The documents of CoNLL-U, each from the comments that have `# newdoc`; all must have a name.

    `# global.Entity`, or in CoNLL-U Plus `# global.columns`, holds until the next such line, so
    that documents inherit it.
    """
    from corefeval.formats.conllu.scan import NEW_DOCUMENT, TELLING, read_comment

    begin, size = file_range.bounds.tolist()
    seen: dict[DocumentId, int] = {}
    starts: list[int] = []
    inherited: list[tuple[int, bytes]] = []
    header, block, behind, has_keys = b"", begin, begin, False
    for at, after, text in _comments(stream, begin):
        if at != behind:
            block, has_keys = at, False
        behind = after
        if not text.lstrip(b"# ").startswith(TELLING):
            continue
        key, value = read_comment(source.decode(text, at))
        if key in NEW_DOCUMENT:
            # What a document has from the one before it, or that one from it, is not for pieces.
            if not value or block in starts[-1:] or (has_keys if starts else block != begin):
                return None
            identifier = DocumentId.parse(value)
            if identifier in seen:
                raise source.repetition_error(identifier, seen[identifier], at)
            seen[identifier] = at
            starts.append(block)
            inherited.append((after, header if starts[1:] else b""))
        elif key == "global.columns" and is_plus:
            header = text + b"\n"
            continue  # it holds for what follows, even where it stands above its document
        elif key == "global.Entity" and not is_plus:
            header = text + b"\n"
            inherited[-1:] = [(after, b"")] if inherited else []
        has_keys = True
    return replace(
        file_range,
        documents=tuple(seen),
        bounds=np.array([*starts, size]),
        inherited=tuple(inherited),
    )


def find_conllua(file_range: Ranges, source: Source, stream: IO[bytes]) -> Ranges | None:
    """The documents of CoNLL-U Plus, which inherit `# global.columns`."""
    ranges = find_conllu(file_range, source, stream, is_plus=True)
    return ranges and replace(ranges, options=(("all_columns", True),))


def find_json_lines(file_range: Ranges, source: Source, stream: IO[bytes]) -> Ranges | None:
    """The documents of JSON lines: a line is a document, if it is an object with an id.

    None where any line is not, or where only some have speakers.
    """
    begin, size = file_range.bounds.tolist()
    seen: dict[DocumentId, None] = {}
    bounds, has_speakers = [begin], set()
    for at, line in _all_lines(stream, begin):
        text = line.decode(file_range.encoding, "replace").strip(" \t\r\n")
        if not text:
            continue
        values = parse_object(text)
        stated = None if values is None else Record(values, source, len(seen), at).stated_id()
        if not values or stated is None or DocumentId.parse(stated) in seen or "\ufffd" in text:
            return None  # whatever is wrong with it, reading says so
        seen[DocumentId.parse(stated)] = None
        has_speakers.add("speakers" in values)
        bounds += [at] if len(seen) > 1 else []
    if len(has_speakers) != 1:  # a column of some documents is one of all
        return None
    return replace(file_range, documents=tuple(seen), bounds=np.array([*bounds, size]))


def _all_lines(stream: IO[bytes], begin: int) -> Iterator[tuple[int, bytes]]:
    """The lines of a file, each with the offset at which it starts."""
    stream.seek(begin)
    tail, base = b"", begin
    while block := stream.read(_BLOCK):
        lines = (tail + block).split(b"\n")
        for line in lines[:-1]:
            yield base, line
            base += len(line) + 1
        tail = lines[-1]
    yield base, tail

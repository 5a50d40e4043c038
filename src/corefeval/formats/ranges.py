"""Documents as ranges of bytes: where each stands in a file, and some read without the rest.

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

from corefeval.diagnostics import Notice, memory_for
from corefeval.files import open_file
from corefeval.formats.conll.lines import HASH_BYTE, NEWLINE, places_of
from corefeval.formats.registry import find_format, load
from corefeval.formats.source import WIDE_MARKS, Source, check_encoding, is_ascii_compatible
from corefeval.model import Corpus, DocumentId
from corefeval.model.arrays import ByteArray, IntArray

_BLOCK = 1 << 20  # bytes, which stay in the processor's cache
_HEAD = 1 << 20  # bytes of documents that tell the columns of a file
_BLANKS = bytes(range(33))
_NOTHING = np.empty(0, dtype=np.uint8)
_JSON = ("json", "e2e", "bookcoref", "preco", "crac-json", "maverick", "fastcoref")

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
    notices: tuple[Notice, ...] = ()

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
        return Excerpt(self.path, self.file, self.format, self.encoding, tuple(parts), self.options)


@dataclass(frozen=True)
class Excerpt:
    """Parts of a file, ranges of its bytes and lines that are not its own, one after the other."""

    path: str
    file: str
    format: str
    encoding: str
    parts: tuple[Part, ...]
    options: tuple[tuple[str, Any], ...] = ()

    def read(self, name: str = "") -> Corpus:
        """The documents in it; errors have the lines of the file."""
        with memory_for(self.file):
            source = self.source()
            corpus: Corpus = load(find_format(self.format).reader)(
                source, name=name, **dict(self.options)
            )
        return corpus

    def source(self) -> Source:
        """Its bytes, which know where they stand in the file."""
        return Source(self._bytes(), self.file, self.encoding, places=self)

    def _bytes(self) -> ByteArray:
        sizes = [len(p) if isinstance(p, bytes) else p[1] - p[0] for p in self.parts]
        data = np.empty(sum(sizes), dtype=np.uint8)
        room = data.data
        with open_file(self.path) as stream:
            for part, (start, stop) in zip(
                self.parts, pairwise(accumulate(sizes, initial=0)), strict=True
            ):
                if isinstance(part, bytes):
                    data[start:stop] = np.frombuffer(part, dtype=np.uint8)
                    continue
                stream.seek(part[0])
                while start < stop and (size := stream.readinto(room[start:stop])):  # type: ignore[attr-defined]
                    start += size
                data[start:stop] = ord("\n")  # the file was cut short since: documents are missing
        return data

    def line(self, place: int) -> int:
        """The line of the file, counted from 1, of a line of the excerpt, counted from 0."""
        own, before = self._lines
        part = bisect_right(own, place) - 1
        return before[part] + place - own[part] + 1

    @cached_property
    def _lines(self) -> tuple[list[int], list[int]]:
        """The lines before each part: in the excerpt, and in the file."""
        own, before, place = [0], [0], 0
        with open_file(self.path) as stream:
            for part in self.parts:
                if isinstance(part, bytes):
                    own[-1] += 1
                    continue
                before[-1] += _count_lines(stream, place, part[0])
                inside = _count_lines(stream, *part)
                own.append(own[-1] + inside)
                before.append(before[-1] + inside)
                place = part[1]
        return own, before


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

    What documents that are read alone have to know is looked for only where it is `to_cut`.
    """
    codec = check_encoding(encoding)
    with open_file(path) as stream:
        head = stream.read(_BLOCK)
        old_lines = b"\r" in head and b"\n" not in head
        if head.startswith(WIDE_MARKS) or not is_ascii_compatible(codec) or old_lines:
            return None
        stream.seek(0)
        begin = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0
        source = Source(_NOTHING, file, codec.name, places=_Offsets(path))
        found = Ranges(path, file, format, codec.name, (), np.array([begin, size]))
        find = {"conll": _of_conll, "corefud": _of_conllu, "conllua": _of_conllua}
        find |= dict.fromkeys(_JSON, _of_json)
        ranges = find[format](found, source, stream) if format in find else None
    if ranges is None or not ranges.documents:
        return None
    return _with_layout(ranges, word_column) if format == "conll" and to_cut else ranges


def _comments(stream: IO[bytes], begin: int) -> Iterator[tuple[int, int, bytes]]:
    """The lines that begin with `#`: where each starts and the next one, and its text.

    Behind a last line that does not end, the next one would start after the file.
    Memory is used again, for fresh one costs more than all of this.
    """
    stream.seek(begin)
    buffer, masks = bytearray(_BLOCK), np.empty((2, _BLOCK), np.bool_)
    kept, base = 1, begin - 1
    buffer[0] = NEWLINE  # as if a line ended before the first
    while read := stream.readinto(memoryview(buffer)[kept:]):  # type: ignore[attr-defined]
        size = kept + read
        last = buffer.rfind(b"\n", 0, size)
        view = np.frombuffer(buffer, dtype=np.uint8)
        hashes, newlines = masks[:, : max(last - 1, 0)]
        np.equal(view[1:last], HASH_BYTE, out=hashes)
        np.equal(view[: max(last - 1, 0)], NEWLINE, out=newlines)
        hashes &= newlines
        for place in (places_of(hashes) + 1).tolist():
            end = buffer.find(b"\n", place)
            yield base + place, base + end + 1, bytes(buffer[place:end]).rstrip(_BLANKS)
        rest, kept, base = bytes(buffer[last:size]), size - last, base + last
        if 2 * kept > len(buffer):  # a very long line
            buffer, masks = bytearray(2 * len(buffer)), np.empty((2, 2 * len(buffer)), np.bool_)
        buffer[:kept] = rest
    if kept > 1 and buffer[1] == HASH_BYTE:
        yield base + 1, base + kept + 1, bytes(buffer[1:kept]).rstrip(_BLANKS)


def _of_conll(found: Ranges, source: Source, stream: IO[bytes]) -> Ranges:
    from corefeval.formats.conll.reader import unfinished_notices
    from corefeval.formats.conll.repair import outline_of

    begin, size = found.bounds.tolist()
    marks = ((at, text) for at, _, text in _comments(stream, begin))
    outline = outline_of(source, marks, size)
    return replace(
        found,
        documents=tuple(outline.identifiers),
        bounds=np.concatenate(([begin], outline.begin[1:], [size])).astype(np.int64, copy=False),
        notices=tuple(unfinished_notices(found.file, outline)),
    )


def _with_layout(found: Ranges, word_column: int | None) -> Ranges:
    """The same with the columns that the first documents tell."""
    from corefeval.formats.conll.tokens import ConllLines

    number = 1
    while number < len(found.documents) and found.bounds[number] < _HEAD:
        number += 1
    head = replace(found, options=(("word_column", word_column),)).only(range(number))
    tokens = head.read().tokens
    lines = None if tokens is None else tokens.lines
    if not isinstance(lines, ConllLines):
        return found
    layout = lines.layout._replace(width=lines.n_columns)
    return replace(found, options=(("word_column", word_column), ("layout", layout)))


def _of_conllu(found: Ranges, source: Source, stream: IO[bytes]) -> Ranges | None:
    """Documents begin with the comments among which `# newdoc` is; all must have a name.

    `# global.Entity` holds until there is another one, so that documents inherit it.
    """
    from corefeval.formats.conllu.comments import TELLING, read_comment, repetition_error

    begin, size = found.bounds.tolist()
    seen: dict[DocumentId, int] = {}
    starts: list[int] = []
    inherited: list[tuple[int, bytes]] = []
    header, block, behind, told = b"", begin, begin, False
    for at, after, text in _comments(stream, begin):
        if at != behind:
            block, told = at, False
        behind = after
        if not text.startswith(TELLING):
            continue
        key, value = read_comment(source.decode(text, at))
        if key in ("newdoc", "newdoc id"):
            # What a document has from the one before it, or that one from it, is not for pieces.
            if not value or block in starts[-1:] or (told if starts else block != begin):
                return None
            identifier = DocumentId.parse(value)
            if identifier in seen:
                raise repetition_error(source, identifier, seen[identifier], at)
            seen[identifier] = at
            starts.append(block)
            inherited.append((after, header if starts[1:] else b""))
        elif key == "global.Entity":
            header = text + b"\n"
            inherited[-1:] = [(after, b"")] if inherited else []
        told = True
    return replace(
        found, documents=tuple(seen), bounds=np.array([*starts, size]), inherited=tuple(inherited)
    )


def _of_conllua(found: Ranges, source: Source, stream: IO[bytes]) -> Ranges | None:
    """Documents begin with `# newdoc`, and inherit `# global.columns` from those before them."""
    from corefeval.formats.conllu.comments import read_comment

    begin, size = found.bounds.tolist()
    starts: dict[DocumentId, int] = {}
    inherited: list[tuple[int, bytes]] = []
    header, behind, at_top = b"", begin, True
    for at, after, text in _comments(stream, begin):
        at_top, behind = at_top and at == behind, after
        if b"newdoc" not in text and b"global.columns" not in text:
            continue
        key, value = read_comment(source.decode(text, at))
        if key == "global.columns":
            header = text + b"\n"
        elif key in ("newdoc", "newdoc id"):
            identifier = DocumentId.parse(value)
            if not value or identifier in starts or not (starts or at_top):
                return None  # a document without a name, or something that reading tells of
            inherited.append((after, header if starts else b""))
            starts[identifier] = at if starts else begin
    return replace(
        found,
        documents=tuple(starts),
        bounds=np.array([*starts.values(), size]),
        inherited=tuple(inherited),
        options=(("all_columns", True),),
    )


def _of_json(found: Ranges, source: Source, stream: IO[bytes]) -> Ranges | None:
    """A line is a document, if it is an object that names itself; all must be alike."""
    from corefeval.formats.json.documents import id_text
    from corefeval.formats.json.parsing import Record, parse_object

    begin, size = found.bounds.tolist()
    seen: dict[DocumentId, None] = {}
    bounds, has_speakers = [begin], set()
    for at, line in _all_lines(stream, begin):
        text = line.decode(found.encoding, "replace").strip(" \t\r\n")
        if not text:
            continue
        values = parse_object(text)
        stated = None if values is None else id_text(Record(values, source, len(seen), at))
        if not values or stated is None or DocumentId.parse(stated) in seen or "\ufffd" in text:
            return None  # whatever is wrong with it, reading says so
        seen[DocumentId.parse(stated)] = None
        has_speakers.add("speakers" in values)
        bounds += [at] if len(seen) > 1 else []
    if len(has_speakers) != 1:  # a column of some documents is one of all
        return None
    return replace(found, documents=tuple(seen), bounds=np.array([*bounds, size]))


def _all_lines(stream: IO[bytes], begin: int) -> Iterator[tuple[int, bytes]]:
    stream.seek(begin)
    rest, base = b"", begin
    while block := stream.read(_BLOCK):
        lines = (rest + block).split(b"\n")
        for line in lines[:-1]:
            yield base, line
            base += len(line) + 1
        rest = lines[-1]
    yield base, rest

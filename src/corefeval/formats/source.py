"""From a path to bytes: plain files, gzip, standard input, byte order marks, encodings."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from encodings.aliases import aliases
from functools import cache
from itertools import chain, count
from typing import NamedTuple, Protocol

import numpy as np

from corefeval.checks import did_you_mean
from corefeval.diagnostics import InputError, UsageError, excerpt
from corefeval.files import (
    GZIP_MAGIC,
    PACKING_START,
    PathLike,
    is_remote,
    open_file,
    refuse_packing,
    unpack,
)
from corefeval.model import DocumentId, FileName
from corefeval.model.arrays import ByteArray


class Places(Protocol):
    """Which line of a file a place in its bytes is on."""

    def line(self, place: int) -> int:
        """The line of the file, counted from 1."""
        ...


class Oddity(NamedTuple):
    """Something that a reader left out or mended: the kind of finding, its line, what it is."""

    kind: str
    line: int
    message: str


BOM_UTF8 = codecs.BOM_UTF8
WIDE_MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of a file, ASCII-compatible and without a byte order mark, and the file's name.

    `places` knows the lines of the file where the bytes are only a part of it.
    """

    data: ByteArray
    file: str
    encoding: str = "utf-8"
    places: Places | None = None

    def line(self, place: int) -> int:
        """The line of the file, counted from 1, of a line of these bytes, counted from 0."""
        return int(place) + 1 if self.places is None else self.places.line(int(place))

    def error(self, problem: str, line: int | None = None, **details: str | None) -> InputError:
        """A mistake in this file, on a line counted from 1, for the caller to raise.

        `details` are `found`, `expected`, `fix` and `kind` of an `InputError`.
        """
        return InputError(problem, file=self.file, line=line, **details)

    def repetition_error(self, identifier: DocumentId, first: int, again: int) -> InputError:
        """The error of two documents with one id; their first lines are counted from 0."""
        return self.error(
            f"document {excerpt(str(identifier))} appears twice",
            self.line(again),
            found=f"a second beginning of it (the first is on line {self.line(first)})",
            expected="one document for each id and part",
            fix="rename or remove one of the two, or number them with ‘part’",
        )

    def bracket_error(
        self,
        line: int,
        entity: str,
        opens: bool,
        where: str = "",
        further: str = "",
        *,
        marks: str = "()",
    ) -> InputError:
        """The error of a bracket without partner, on a line counted from 1.

        `where` and `further` are what else the message says, `marks` the two brackets.
        """
        problem, place = ("closes", "after") if opens else ("opens", "before")
        brackets = f"{marks[0]}{entity}", f"{entity}{marks[1]}"
        return self.error(
            f"a mention of entity {excerpt(entity)} {where}never {problem}{further}",
            line,
            found=excerpt(brackets[not opens]),
            expected=f"{excerpt(brackets[opens])} {place} it, in the same document",
            fix="add the missing bracket, or remove this one",
        )

    @property
    def stem(self) -> FileName:
        """The file's name without folder and endings, to name a nameless document by.

        What is no UTF-8 in it is escaped, so that every format can carry it.
        """
        name = os.path.basename(self.file).encode(errors="backslashreplace").decode()
        return FileName(name.removesuffix(".gz").rsplit(".", 1)[0] or name)

    def name_document(self, number: int | None, taken: set[DocumentId]) -> DocumentId:
        """An id for a nameless document, `taken` from now on: the file's name and a number.

        The number is the one that is passed (none for None), or the next one that is free.
        """
        endings = chain(["" if number is None else f"_{number}"], map("_{}".format, count(2)))
        identifiers = (DocumentId(self.stem + ending) for ending in endings)
        chosen = next(identifier for identifier in identifiers if identifier not in taken)
        taken.add(chosen)
        return chosen

    def sibling(self, suffix: str) -> Source:
        """The file that differs from this one in its ending, such as the text of an annotation."""
        return read_source(find_sibling(self.file, suffix), encoding=self.encoding)

    @property
    def text(self) -> str:
        """All bytes as text."""
        return self.decode(self.data.tobytes())

    def decode_all(self, texts: list[bytes], place_of: Callable[[int], int]) -> list[str]:
        """Many texts without line ends, at one go where they are sound; places as in `decode`."""
        if self.encoding.lower() in ("utf-8", "utf8"):
            try:
                decoded = b"\n".join(texts).decode().split("\n")
            except UnicodeError:
                decoded = []
            if len(decoded) == len(texts):
                return decoded
        return [self.decode(text, place_of(number)) for number, text in enumerate(texts)]

    def decode(self, data: bytes, place: int | None = None) -> str:
        """Text from bytes of this file, or a clear error; `place` is their line, counted from 0."""
        try:
            return data.decode(self.encoding)
        except UnicodeError as error:
            start = getattr(error, "start", 0)
            if place is None:
                place = data[:start].decode(self.encoding, "replace").count("\n")
            raise self.error(
                f"the text is not {self.encoding}",
                self.line(place),
                found=f"byte 0x{data[start]:02x} in {data[max(start - 20, 0) : start + 20]!r}",
                expected=self.encoding,
                fix="name the file's encoding with --encoding",
            ) from None


def find_sibling(file: str, suffix: str) -> str:
    """The path of the file of the same name with another ending; of packed files, packed or not."""
    path = os.path.splitext(file.removesuffix(".gz") or file)[0] + suffix
    return f"{path}.gz" if file.endswith(".gz") and not os.path.exists(path) else path


def read_source(path: PathLike, *, encoding: str = "utf-8") -> Source:
    """Read a file (`-` is standard input), unpack gzip, drop a byte order mark.

    What cannot be read, or unpacks to more than the limit, is an InputError; what is no encoding of
    text is a UsageError before any file is opened.
    """
    codec = check_encoding(encoding)
    file = "standard input" if os.fspath(path) == "-" else os.fspath(path)
    data = _read_standard_input() if os.fspath(path) == "-" else _read_file(file)
    if data[:2].tobytes() == GZIP_MAGIC:
        data = np.frombuffer(unpack(data.data, file), dtype=np.uint8)
    refuse_packing(data[:PACKING_START].tobytes(), file)
    head = data[:4].tobytes()
    if head.startswith(codecs.BOM_UTF8):
        data = data[3:]
    elif head.startswith(WIDE_MARKS):
        wide = "utf-32" if head.startswith(WIDE_MARKS[:2]) else "utf-16"
        return _transcode(data, file, wide)
    if not is_ascii_compatible(codec):
        return _transcode(data, file, codec.name)
    return Source(data, file, codec.name)


def _read_file(file: str) -> ByteArray:
    with open_file(file) as stream:
        has_size = not is_remote(file) and not isinstance(stream, io.BytesIO)
        size = os.fstat(stream.fileno()).st_size if has_size else 0
        data = np.empty(size, dtype=np.uint8)
        read = stream.readinto(data.data) if size else 0  # type: ignore[attr-defined]
        tail = stream.read()  # pipes have no size, and a large read may come in pieces
    return np.concatenate((data[:read], np.frombuffer(tail, np.uint8))) if tail else data[:read]


def _read_standard_input() -> ByteArray:
    try:
        return np.frombuffer(sys.stdin.buffer.read(), dtype=np.uint8)
    except (OSError, ValueError, AttributeError):  # closed, or never there
        raise InputError("there is no standard input to read") from None


def _transcode(data: ByteArray, file: str, encoding: str) -> Source:
    text = Source(data, file, encoding).decode(data.tobytes())
    return source_of(text.removeprefix("\ufeff"), file)


def source_of(text: str, file: str) -> Source:
    """A text as the content of a file."""
    return Source(np.frombuffer(text.encode(), dtype=np.uint8), file)


def check_encoding(encoding: str) -> codecs.CodecInfo:
    """The codec of an encoding of text; anything else is a UsageError."""
    codec = _text_codec(encoding)
    if codec is None:
        encodings = filter(_text_codec, sorted({*aliases.values()}))
        advice = did_you_mean(str(encoding), encodings, (*_USUAL, "and others"))
        raise UsageError(f"there is no encoding {encoding!r:.60} of text: {advice}")
    return codec


_USUAL = ("utf-8", "utf-16", "latin-1", "cp1252", "gb18030", "shift_jis")
# Encodings of names of hosts and literals of programs, which Python counts among those of text.
_NO_TEXT = {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"}


def _text_codec(encoding: str) -> codecs.CodecInfo | None:
    """The codec of an encoding; None where there is none, or none of text."""
    try:
        codec = codecs.lookup(encoding)
    except (LookupError, ValueError, TypeError):
        return None
    if codec.name in _NO_TEXT or not getattr(codec, "_is_text_encoding", True):
        return None
    # A mark at the start is dropped whatever the encoding.
    return codecs.lookup("utf-8") if codec.name == "utf-8-sig" else codec


@cache
def is_ascii_compatible(codec: codecs.CodecInfo) -> bool:
    """Whether every ASCII byte means itself, wherever it stands: then bytes can be looked at."""
    if codec.name == "utf-8":
        return True
    try:
        if any(codec.decode(bytes([byte]))[0] != chr(byte) for byte in range(128)):
            return False
        for first in range(128, 256):  # which may take an ASCII byte for a part of its character
            pairs = b"".join(bytes((first, byte)) for byte in range(128))
            text = codec.decode(pairs, "replace")[0]
            if "".join(filter(str.isascii, text)).encode() != bytes(range(128)):
                return False
    except (UnicodeError, AssertionError):
        return False
    return True

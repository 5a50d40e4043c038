"""The documents of both sides by file and bytes, and pieces: those that are scored together."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate

import numpy as np

from corefeval.diagnostics import Notices
from corefeval.files import GZIP_MAGIC, PathLike, file_size, open_file, unpack_file
from corefeval.formats import files_of, read_file, skipped_files, unknown_files
from corefeval.formats.ranges import Excerpt, Ranges, find_ranges
from corefeval.formats.registry import HEAD, UnknownFormatError, detect_format, find_format
from corefeval.formats.source import BOM_UTF8
from corefeval.model import Corpus, DocumentId, join
from corefeval.model.arrays import IntArray, all_zero, distinct, integers, mark_rows, set_rows
from corefeval.model.joining import check_repetition
from corefeval.pairing import DocumentPairs
from corefeval.request import Reading


@dataclass(frozen=True, slots=True)
class WholeFile:
    """A file that is read whole; without notices where it is `quiet`."""

    file: str
    reading: Reading
    quiet: bool = False

    def read(self, name: str = "") -> Corpus:
        """The documents in it."""
        fields = ("format", "encoding", "word_column", "layer")
        options = {field: getattr(self.reading, field) for field in fields}
        corpus = read_file(self.file, name=name, **options)
        return replace(corpus, notices=()) if self.quiet else corpus


@dataclass(frozen=True, slots=True)
class File:
    """A file, its documents, and where they are if it is to be cut.

    `size` is that of its bytes, unpacked.
    """

    file: str
    documents: tuple[DocumentId, ...]
    ranges: Ranges | None
    size: int
    reading: Reading

    def only(self, chosen: Sequence[int]) -> WholeFile | Excerpt:
        """Some of its documents; all where it is not cut."""
        return (
            WholeFile(self.file, self.reading) if self.ranges is None else self.ranges.only(chosen)
        )


@dataclass(frozen=True, slots=True)
class Notes:
    """The files of a side, and notices on them."""

    files: tuple[str, ...]
    notices: Notices


@dataclass(frozen=True)
class Side:
    """The files of a key or a response; documents are numbered through all of them."""

    name: str
    files: tuple[File, ...]
    several: bool = False
    notices: Notices = field(default=())

    @cached_property
    def documents(self) -> tuple[DocumentId, ...]:
        """The ids of all documents."""
        return tuple(document for file in self.files for document in file.documents)

    @cached_property
    def _first(self) -> list[int]:
        return list(accumulate((len(file.documents) for file in self.files), initial=0))

    @cached_property
    def file_of(self) -> IntArray:
        """The file of each document."""
        return np.repeat(np.arange(len(self.files)), [len(file.documents) for file in self.files])

    @cached_property
    def sizes(self) -> IntArray:
        """The bytes of each document; a file that is not cut has all of them at its first."""
        sizes = all_zero(len(self.documents))
        for file, first in zip(self.files, self._first, strict=False):
            if file.ranges is not None:
                sizes[first : first + len(file.documents)] = np.diff(file.ranges.bounds)
            elif file.documents:
                sizes[first] = file.size
        return sizes

    def only(self, chosen: IntArray) -> Portion:
        """Some of the documents, to be read anywhere."""
        rows = distinct(chosen)
        files = self.file_of[rows]
        reads = [
            self.files[number].only((rows[files == number] - self._first[number]).tolist())
            for number in distinct(files).tolist()
        ]
        return Portion(tuple(reads), self.name, self.several)

    def sharing(self, documents: Sequence[DocumentId]) -> Side:
        """The side with the objects of `documents` for ids that are equal, which saves memory."""
        identifiers = {identifier: identifier for identifier in documents}
        files = []
        for file in self.files:
            shared_ids = tuple(identifiers.get(document, document) for document in file.documents)
            ranges = None if file.ranges is None else replace(file.ranges, documents=shared_ids)
            files.append(replace(file, documents=shared_ids, ranges=ranges))
        return replace(self, files=tuple(files))

    @property
    def notes(self) -> Notes:
        """The files, and the notices on those that are cut or were left out."""
        cut = (file.ranges.notices for file in self.files if file.ranges is not None)
        all_notices = (*(notice for notices in cut for notice in notices), *self.notices)
        return Notes(tuple(file.file for file in self.files), all_notices)


@dataclass(frozen=True, slots=True)
class Portion:
    """Documents of one side, in one file or several."""

    reads: tuple[WholeFile | Excerpt, ...]
    name: str
    several: bool

    def read(self) -> Corpus:
        """The corpus of these documents, with the name of the side."""
        if not self.several:
            return self.reads[0].read(self.name)
        corpora = [reader.read() for reader in self.reads]
        corpus = join(corpora, name=self.name)
        return replace(corpus, notices=tuple(n for part in corpora for n in part.notices))


def index_side(
    path: PathLike, reading: Reading, *, piece_size: int, folder: str, name: str = ""
) -> Side:
    """The documents behind a path: a file, a folder, a pattern or an address.

    A file of more than `piece_size` bytes is cut, if its format can be. What is packed is unpacked
    into `folder` for that. What cannot be read is an InputError.
    """
    paths, several = files_of(path)
    files: list[File] = []
    skipped: list[str] = []
    for number, file in enumerate(paths):
        try:
            files.append(_index_file(file, reading, piece_size, os.path.join(folder, f"{number}")))
        except UnknownFormatError:
            if not several:
                raise
            skipped.append(file)
    if not files:
        raise unknown_files(os.fspath(path))
    check_repetition((file.file, file.documents) for file in files)
    notices = skipped_files(os.fspath(path), skipped)
    side = name or (os.fspath(path) if several else files[0].file)
    return Side(side, tuple(files), several, notices)


def _index_file(file: str, reading: Reading, piece_size: int, target: str) -> File:
    """A file with its documents, and where they are in it if it is to be cut."""
    size = file_size(file)
    path = file
    with open_file(file) as stream:
        head = stream.read(HEAD + len(BOM_UTF8))
    if head.startswith(GZIP_MAGIC):
        size, path = unpack_file(file, target), target
        with open_file(path) as stream:
            head = stream.read(HEAD + len(BOM_UTF8))
    ranges = None
    if head:
        head = head.removeprefix(BOM_UTF8)[:HEAD]
        try:
            format = (
                find_format(reading.format) if reading.format else detect_format(head, file)
            ).name
        except UnknownFormatError:  # which may be a matter of the encoding
            format = ""
        ranges = find_ranges(
            path,
            file,
            format,
            size=size,
            encoding=reading.encoding,
            word_column=reading.word_column,
            to_cut=size > piece_size,
        )
    documents = None if ranges is None else ranges.documents
    if ranges is not None and size <= piece_size:
        ranges = None
    if ranges is None and path != file and os.path.exists(path):
        os.unlink(path)
    if documents is None:
        documents = WholeFile(file, reading).read().documents
    return File(file, documents, ranges, size, reading)


Ids = tuple[DocumentId | None, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """Documents that are read together, and those of them that are scored, by id on either side.

    None is a document that a side lacks. Documents that take no part are read all the same: those
    of the key are in its digest, and there may be something to tell of any. A side of which a
    piece has no document (`has_key`, `has_response`) lends one, of which only the columns count.
    """

    key: Portion
    response: Portion
    size: int
    identifiers: tuple[DocumentId, ...] = ()
    key_ids: Ids = ()
    response_ids: Ids = ()
    has_key: bool = True
    has_response: bool = True
    notices: Notices = field(default=())


def make_pieces(key: Side, response: Side, pairs: DocumentPairs, piece_size: int) -> list[Piece]:
    """Pieces of about the same size, by the bytes of the key, in its order.

    What only the response has comes last. Notices on pairs are those of the first piece.
    """
    with_key_document = np.flatnonzero(pairs.key >= 0)
    # Among the documents that are scored.
    place = set_rows(pairs.key[with_key_document], with_key_document, len(key.documents))
    pieces = [
        _piece(key, response, pairs, rows, place[rows][place[rows] >= 0])
        for rows in cut_side(key, np.arange(len(key.documents)), piece_size)
    ]
    scored = set_rows(
        pairs.response[pairs.response >= 0],
        np.flatnonzero(pairs.response >= 0),
        len(response.documents),
    )
    with_key = mark_rows(pairs.response[pairs.both], len(response.documents))
    pieces += [
        _piece(key, response, pairs, rows[:0], scored[rows][scored[rows] >= 0], rows)
        for rows in cut_side(response, np.flatnonzero(~with_key), piece_size)
    ]
    first = next(number for number, piece in enumerate(pieces) if piece.identifiers)
    pieces[first] = replace(pieces[first], notices=pairs.notices)
    return _report_files_once(pieces)


def _report_files_once(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces, with files that several of them read whole quiet in all but the first."""
    seen: set[tuple[str, str]] = set()

    def report_once(portion: Portion, side: str) -> Portion:
        whole_files = [(side, read.file) for read in portion.reads if isinstance(read, WholeFile)]
        if seen.isdisjoint(whole_files):
            seen.update(whole_files)
            return portion
        reads = tuple(
            replace(read, quiet=(side, read.file) in seen) if isinstance(read, WholeFile) else read
            for read in portion.reads
        )
        seen.update(whole_files)
        return replace(portion, reads=reads)

    return [
        replace(
            piece,
            key=report_once(piece.key, "key") if piece.has_key else piece.key,
            response=report_once(piece.response, "response")
            if piece.has_response
            else piece.response,
        )
        for piece in pieces
    ]


def make_specimen(key: Side, response: Side, pairs: DocumentPairs, size: int) -> Piece:
    """Documents spread over all that are scored, of about `size` bytes together."""
    rows = pairs.key[pairs.both]
    step = -(-int(key.sizes[rows].sum()) // size)
    scored = pairs.both[:: max(step, 1)]
    if step <= 1:
        scored = np.arange(len(pairs.identifiers))
    key_rows = pairs.key[scored]
    return _piece(key, response, pairs, key_rows[key_rows >= 0], scored)


def cut_side(side: Side, rows: IntArray, piece_size: int) -> Iterator[IntArray]:
    """Runs of documents of about the same size; files that are not cut stay together."""
    if not rows.size:
        return
    sizes, files = side.sizes[rows], side.file_of[rows]
    total = int(sizes.sum())
    number = max(1, -(-total // piece_size))
    middle = np.cumsum(sizes) - sizes / 2
    piece = np.minimum(integers(middle * (number / max(total, 1))), number - 1)
    is_uncut = np.array([file.ranges is None for file in side.files])[files]
    starts = np.append(True, (np.diff(piece) > 0) & ~(is_uncut[1:] & (np.diff(files) == 0)))
    yield from np.split(rows, np.flatnonzero(starts)[1:])


def _piece(
    key: Side,
    response: Side,
    pairs: DocumentPairs,
    rows: IntArray,
    scored: IntArray,
    response_rows: IntArray | None = None,
) -> Piece:
    """The piece of documents `rows` of the key and `response_rows` of the response.

    `scored` are pairs of documents; without `response_rows` the response has those of the pairs.
    """
    scored_key, scored_response = pairs.key[scored], pairs.response[scored]
    read_rows = scored_response[scored_response >= 0] if response_rows is None else response_rows
    of_key = rows if rows.size else np.array([int(np.argmin(key.sizes))])
    of_response = read_rows if read_rows.size else np.array([int(np.argmin(response.sizes))])
    return Piece(
        key.only(of_key),
        response.only(of_response),
        int(key.sizes[rows].sum() + response.sizes[read_rows].sum()),
        tuple(pairs.identifiers[index] for index in scored.tolist()),
        tuple(key.documents[index] if index >= 0 else None for index in scored_key.tolist()),
        tuple(
            response.documents[index] if index >= 0 else None for index in scored_response.tolist()
        ),
        has_key=bool(rows.size),
        has_response=bool(read_rows.size),
    )

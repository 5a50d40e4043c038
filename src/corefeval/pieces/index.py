"""The documents of one side, file by file: which there are, and where their bytes are."""

from __future__ import annotations

import os
from collections.abc import Sequence
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
from corefeval.model.arrays import IntArray, all_zero, distinct
from corefeval.model.joining import check_repetition
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

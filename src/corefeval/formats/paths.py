"""The files of an input, and names of documents as names of files."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote_to_bytes

from corefeval.diagnostics import InputError, Notice, UsageError
from corefeval.files import is_remote, remote_files
from corefeval.model import DocumentId

# Text that belongs to an annotation file beside it, and is read with it.
_COMPANIONS = {".txt": ".ann"}


def files_of(path: str | os.PathLike[str]) -> tuple[list[str], bool]:
    """The files behind a path, and whether the path names several.

    A folder stands for all files below it, a pattern with `*`, `?` or `[` for those that match,
    in the order of their names. Hidden files and the texts of annotation files are left out.
    """
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"a file is named by its path, not by {path!r:.60}")
    text = os.fspath(path)
    if not text:
        raise UsageError("a path is empty: name a file, a folder or a pattern")
    if is_remote(text):
        return _remote_files_of(text)
    if os.path.isdir(text):
        below = sorted(str(file) for file in Path(text).rglob("*") if file.is_file())
        found = [file for file in below if _is_content(Path(file).relative_to(text), Path(text))]
        if not found:
            raise InputError("there is no file in the folder", file=text, fix="check the path")
        return found, True
    if glob.has_magic(text) and not os.path.exists(text):
        found = sorted(file for file in glob.glob(text, recursive=True) if os.path.isfile(file))
        found = [file for file in found if _is_content(Path(file), Path())]
        if not found:
            raise InputError("no file matches the pattern", file=text, fix="check the pattern")
        return found, True
    return [text], False


def _remote_files_of(address: str) -> tuple[list[str], bool]:
    """The same for an address."""
    system, place = remote_files(address)
    several = True
    try:
        if glob.has_magic(place) and not system.exists(place):
            found = [path for path in system.glob(place) if system.isfile(path)]
        elif system.isdir(place):
            found = system.find(place)
        else:
            found, several = [place], False
    except OSError as error:
        raise InputError(f"the address cannot be read: {error}", file=address) from None
    if several:
        found = [path for path in sorted(found) if _is_content(Path(path), Path("/"))]
    if not found:
        raise InputError("there is no file at the address", file=address, fix="check the address")
    return ([system.unstrip_protocol(path) for path in found] if several else [address]), several


def _is_content(file: Path, folder: Path) -> bool:
    if any(part.startswith(".") for part in file.parts if part not in (".", "..")):
        return False
    partner = _COMPANIONS.get(file.suffix)
    return partner is None or not (folder / file.with_suffix(partner)).exists()


_EMPTY = "%"  # no escaped name looks like this
_LONGEST = 200  # bytes; file systems take 255, and there is an ending to come
# Names that some systems keep for devices, whatever their ending.
_RESERVED = {
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{port}{n}" for port in ("com", "lpt") for n in range(10)),
}


def file_stems(documents: Sequence[DocumentId]) -> tuple[list[str], int]:
    """A file name without ending for each document, and how many do not give the id back.

    Part 0 of `bc/x` becomes `bc%2Fx_0`: what is no letter, digit, `-`, `_` or dot is escaped as in
    web addresses. Names differ even where capitals do not count. Only very long ids, and ids that
    spell the same, are changed.

    >>> file_stems([DocumentId("bc/x", 0), DocumentId("a"), DocumentId("A")])
    (['bc%2Fx_0', 'a', '%41'], 0)
    """
    taken = set(_RESERVED)
    given_back: set[DocumentId] = set()
    stems = [""] * len(documents)
    # Ids without a part have only one spelling, so they choose first.
    for index in sorted(range(len(documents)), key=lambda d: documents[d].part is not None):
        stem = next(
            stem
            for stem in _candidates(documents[index])
            if stem.casefold() not in taken and document_id(stem) not in given_back
        )
        taken.add(stem.casefold())
        given_back.add(document_id(stem))
        stems[index] = stem
    spelled = zip(stems, documents, strict=True)
    return stems, sum(not _gives_back(stem, identifier) for stem, identifier in spelled)


def document_id(stem: str) -> DocumentId:
    """The id of the document in a file, from the file's name without its ending.

    >>> document_id("bc%2Fx_0")
    DocumentId(name='bc/x_0', part=None)
    """
    if stem == _EMPTY:
        return DocumentId("")
    try:
        return DocumentId.parse(unquote_to_bytes(stem).decode("utf-8", "surrogatepass"))
    except UnicodeError:  # somebody else's percent signs
        return DocumentId.parse(stem)


def renamed_documents(count: int) -> list[Notice]:
    """What to say about documents whose files do not give their ids back."""
    text = "{n} whose id cannot be the name of a file as it is"
    return [Notice("document-names", text, count, noun="document")] if count else []


def _candidates(identifier: DocumentId) -> Iterator[str]:
    """Names for a document, the best first, without end."""
    for text in dict.fromkeys((_with_part(identifier), str(identifier))):
        yield from _escapes(text)
    import hashlib  # few names need it, and it takes its time

    whole = _escape(_with_part(identifier)).encode()
    shortened = whole[: _LONGEST - 40].decode(errors="ignore")
    number = 1
    while True:
        digest = hashlib.sha256(f"{number} {identifier!r}".encode(errors="replace")).hexdigest()
        yield f"{shortened}_{digest[:16]}"
        number += 1


def _escapes(text: str) -> Iterator[str]:
    """The ways to escape a text, from as little as is needed to all of it."""
    for length in (0, 1, len(text)):
        stem = _escape(text, length) or _EMPTY
        if len(stem.encode()) <= _LONGEST:
            yield stem


def _escape(text: str, length: int = 0) -> str:
    """The text with everything unsafe escaped, and everything before a place."""
    return _escape_all(text[:length]) + re.sub(
        r"^\.|[^\w.-]|\.$", lambda unsafe: _escape_all(unsafe[0]), text[length:]
    )


def _escape_all(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode("utf-8", "surrogatepass"))


def _with_part(identifier: DocumentId) -> str:
    name, part = identifier
    return str(name) if part is None else f"{name}_{part}"


def _gives_back(stem: str, identifier: DocumentId) -> bool:
    again = document_id(stem)
    return again == identifier or again == DocumentId(_with_part(identifier))
